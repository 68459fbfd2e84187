"""Maps of the vectors that methods learn when classes are hidden from them (the paper's figure of layouts).

A map is for the eye, and t-SNE shows groups where there are none. So each panel has numbers that are taken from the
vectors themselves: of the nearest neighbours of a node whose class was hidden, how many share its class, and how many
belong to another hidden class, with which it would be mixed up. Hidden classes are strong in the figure, seen ones
pale.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.files import atomic_paths
from unseen.errors import logger
from unseen.explorer.layout import lay_out
from unseen.labels import Labels
from unseen_paper.csv_files import csv_text, read_csv
from unseen_paper.experiments.catalog import ROWS, Choice, able
from unseen_paper.experiments.paper import TITLES
from unseen_paper.experiments.plan import RULE, Run, f1_runs
from unseen_paper.experiments.runner import embed_and_score, load_once
from unseen_paper.report.figures import pyplot, save_figure
from unseen_paper.report.tables import render

METHODS = (
    "lshm", "lde", "mmdw", "gcn", "appnp", "rsdne", "rsdne-light", "rect-n", "rect-l", "rect",
)  # fmt: skip
"""The panels of the paper, in its order."""
LABEL_RATE = 0.5
NEIGHBOURS = 10
NUMBERS = ("seen_purity", "unseen_purity", "unseen_mixed", "micro_f1", "unseen_f1", "seconds")
POINTS = ("method", "node", "class", "hidden", "x", "y")
ABOUT = ("dataset", "label_rate", "method", "unseen", *NUMBERS, "rule", "error")
Row = dict[str, Any]
Panel = tuple[list[Row], Row]
"""One method's map: one row per node, none if it failed, and the row of numbers that goes with it."""

STRONG = ("#D55E00", "#0072B2", "#000000", "#CC79A7", "#009E73")
"""For hidden classes, each with a marker of its own: told apart by colour-blind readers, and in black and white."""
MARKERS = "o^sDv"
PALE = ("#F0E442", "#B7DDF3", "#9FDCC7", "#D9D9D9")
"""For seen classes; where there are more of them, all are grey."""
UNLABELLED = "#EEEEEE"


def write_layouts(
    choice: Choice,
    out: Path,
    *,
    style: str = "text",
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> tuple[list[Row], str]:
    """Make, draw and tabulate the maps of every data set and label rate; return the rows of numbers and their table."""
    rows: list[Row] = []
    names = choice.methods or METHODS
    for dataset, rate in itertools.product(choice.datasets or ["citeseer"], choice.rates or [LABEL_RATE]):
        panels = make_panels(dataset, rate, names, out, on_progress)
        drawn = [panel for panel in panels.values() if panel[0]]
        if drawn:
            draw_layouts(drawn, layout_files(dataset, rate, out)[0].with_suffix(""))
        rows += [panels[name][1] for name in names if name in panels]
    words = ("data set", "labels", "method")
    header = (*words, "hidden: own class", "hidden: other hidden", "seen: own class", "micro F1")
    keys = ("unseen_purity", "unseen_mixed", "seen_purity", "micro_f1")
    cells = [
        [row["dataset"], f"{row['label_rate']:.0%}", row["method"], *(f"{row[key]:.4f}" for key in keys)]
        for row in rows
        if not row["error"]
    ]
    return rows, render(header, cells, style=style, left=3)


def make_panels(
    dataset: str, rate: float, methods: Sequence[str], out: Path, on_progress: Callable[[int, int], None]
) -> dict[str, Panel]:
    """Return the panels of a data set by method; those that `out` holds from an earlier start are not made again.

    The split is the first of Tables 3 and 4 (on Citeseer it hides Agents and IR). Every panel is written as soon as
    it is there, to the two csv files of :func:`layout_files`; of one that failed, the reason is.
    """
    labels = load_once(dataset).labels
    runs = f1_runs(dataset, labels, able(methods, labels), [rate], 1)
    points, numbers = layout_files(dataset, rate, out)
    panels: dict[str, Panel] = {}
    if runs and points.exists() and numbers.exists():
        places: dict[str, list[Row]] = {}
        for row in read_csv(points, POINTS):
            places.setdefault(row["method"], []).append(dict(row))
        wanted = (str(rate), "|".join(runs[0].unseen), RULE)
        for row in read_csv(numbers, ABOUT):
            figures = {name: float(row[name]) if row[name] else None for name in ("label_rate", *NUMBERS)}
            if (row["label_rate"], row["unseen"], row["rule"]) == wanted and row["method"] in places:
                panels[row["method"]] = places[row["method"]], {**row, **figures}
    for k, run in enumerate(runs, start=1):
        if run.method not in panels:
            panels[run.method] = _panel(run, out / "vectors")
            panels = {name: panels[name] for name in sorted(panels, key=ROWS.index)}
            with atomic_paths(points, numbers) as (first, second):
                placed = (row for own, _ in panels.values() for row in own)
                first.write_text(csv_text(POINTS, placed), encoding="utf-8", newline="")
                about = (row for _, row in panels.values())
                second.write_text(csv_text(ABOUT, about), encoding="utf-8", newline="")
        on_progress(k, len(runs))
    return panels


def layout_files(dataset: str, label_rate: float, out: Path) -> tuple[Path, Path]:
    """Return where the coordinates and the numbers of a data set's panels go.

    Examples
    --------
    >>> [path.name for path in layout_files("cora", 0.1, Path("results"))]
    ['layouts-cora-10.csv', 'layouts-cora-10_numbers.csv']
    """
    name = "layouts" if dataset == "citeseer" else f"layouts-{dataset}"
    name += "" if label_rate == LABEL_RATE else f"-{100 * label_rate:g}"
    return out / f"{name}.csv", out / f"{name}_numbers.csv"


def _panel(run: Run, vectors: Path) -> Panel:
    about: Row = {
        "dataset": run.dataset,
        "label_rate": run.label_rate,
        "method": run.method,
        "unseen": "|".join(run.unseen),
        **dict.fromkeys(NUMBERS),
        "rule": RULE,
        "error": "",
    }
    labels = load_once(run.dataset).labels
    try:
        embedding, score, seconds = embed_and_score(run, vectors)
        places = lay_out(embedding.vectors, random_state=0)
    except Exception as error:  # noqa: BLE001  # a panel that fails does not stop the others
        about["error"] = " ".join(f"{type(error).__name__}: {error}".split())
        logger.warning("%s on %s failed: %s", run.method, run.dataset, about["error"])
        return [], about
    seen = run.split(labels).seen_labels.labelled
    about |= neighbour_shares(embedding.vectors, labels, run.unseen, seen)
    unseen_f1 = None if score.unseen_f1 is None else round(score.unseen_f1, 6)
    about |= {"micro_f1": round(score.micro_f1, 6), "unseen_f1": unseen_f1, "seconds": round(seconds, 3)}
    points = []
    for row, (node, (x, y)) in enumerate(zip(embedding.node_ids.tolist(), places, strict=True)):
        names = [labels.classes[c] for c in labels.indicator[[row]].indices]
        hidden = int(not set(run.unseen).isdisjoint(names))
        values = (run.method, node, "|".join(names), hidden, f"{x:.3f}", f"{y:.3f}")
        points.append(dict(zip(POINTS, values, strict=True)))
    return points, about


def neighbour_shares(
    vectors: Any, labels: Labels, hidden: Sequence[str], train: Any = (), k: int = NEIGHBOURS
) -> dict[str, float]:
    """Return what the nearest neighbours of nodes have in common with them, by Euclidean distance in all columns.

    Parameters
    ----------
    vectors : ndarray or scipy sparse array
        One row for each row of `labels`; rows without a label are left out.
    labels : Labels
        All labels, the hidden ones included.
    hidden : sequence of str
        Classes that the method did not see.
    train : sequence of int
        Rows whose labels the method has seen: they count as neighbours, but not for their own.
    k : int
        Number of neighbours.

    Returns
    -------
    dict
        ``seen_purity`` and ``unseen_purity``: mean share of neighbours that share a class, over nodes of seen and of
        hidden classes; ``unseen_mixed``: over the latter, the share that has another hidden class and no common one.

    Examples
    --------
    >>> labels = Labels.from_values(["a", "a", "b", "b", "c", "c"])
    >>> places = np.array([[0.0], [0.1], [5.0], [9.0], [5.1], [9.1]])
    >>> neighbour_shares(places, labels, ["b", "c"], k=1)
    {'seen_purity': 1.0, 'unseen_purity': 0.0, 'unseen_mixed': 1.0}
    """
    from sklearn.neighbors import NearestNeighbors

    rows = labels.labelled
    has = labels.indicator[rows].toarray()
    points = vectors[rows] if sp.issparse(vectors) else np.asarray(vectors, dtype=np.float64)[rows]
    near = NearestNeighbors(n_neighbors=min(k, len(rows) - 1), algorithm="brute").fit(points)
    neighbours = near.kneighbors(return_distance=False)
    unseen = np.isin(np.array(labels.classes), list(hidden))
    same = (has[:, None, :] & has[neighbours]).any(axis=2)
    other = has[neighbours][:, :, unseen].any(axis=2) & ~same
    is_hidden = has[:, unseen].any(axis=1)
    is_test = ~is_hidden & ~np.isin(rows, train)
    parts = {"seen_purity": same[is_test], "unseen_purity": same[is_hidden], "unseen_mixed": other[is_hidden]}
    return {name: round(float(p.mean()), 4) if p.size else float("nan") for name, p in parts.items()}


def draw_layouts(panels: Sequence[Panel], path: Path) -> None:
    """Draw all panels with one legend, as ``path.svg`` and ``path.png``."""
    plt = pyplot()
    across = min(5, len(panels))
    down = -(-len(panels) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(3.1 * across, 3.35 * down + 0.7), squeeze=False, layout="constrained"
    )
    hidden = panels[0][1]["unseen"].split("|")
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, panel in zip(axes.flat, panels, strict=False):
        _draw_panel(axis, panel, hidden)
    handles: dict[str, Any] = {}
    for axis in axes.flat:
        handles |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    legend = figure.legend(
        handles.values(), handles, loc="outside lower center", ncols=min(8, len(handles)), frameon=False
    )
    for handle in legend.legend_handles:
        handle.set_sizes([40])
        handle.set_alpha(1)
    about = panels[0][1]
    figure.suptitle(
        f"{about['dataset']}, {about['label_rate']:.0%} labels, hidden: {', '.join(hidden)}. Under each map: of the 10"
        " nearest neighbours of hidden nodes, in all columns,\nhow many share their class, and how many are of another"
        " hidden class",
        fontsize="medium",
    )
    save_figure(figure, path)


def _draw_panel(axis: Any, panel: Panel, hidden: Sequence[str]) -> None:
    points, numbers = panel
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in points:
        away = [name for name in row["class"].split("|") if name in hidden]
        groups.setdefault(away[0] if away else row["class"], []).append((float(row["x"]), float(row["y"])))
    seen = sorted(name for name in groups if name not in hidden)
    few = len(seen) <= len(PALE)
    for k, name in enumerate(seen):
        label = name if few and name else "seen classes" if name else "no label"
        colour = UNLABELLED if not name else PALE[k] if few else PALE[-1]
        _scatter(axis, groups[name], label=f"{label} (seen)" if few and name else label, s=5, c=colour)
    for k, name in enumerate(name for name in hidden if name in groups):
        style = {"marker": MARKERS[k % len(MARKERS)], "c": STRONG[k % len(STRONG)]}
        _scatter(axis, groups[name], label=f"{name} (hidden)", s=7, alpha=0.75, **style)
    axis.set_title(TITLES.get(numbers["method"], numbers["method"]), fontsize="medium", pad=2)
    text = f"own class {numbers['unseen_purity']:.0%}, other hidden class {numbers['unseen_mixed']:.0%}"
    axis.text(0.5, -0.02, text, transform=axis.transAxes, ha="center", va="top", fontsize="small")


def _scatter(axis: Any, places: Sequence[tuple[float, float]], **style: Any) -> None:
    x, y = zip(*places, strict=True)
    axis.scatter(x, y, linewidths=0, rasterized=True, **style)
