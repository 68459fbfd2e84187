"""Maps of the vectors that methods learn when classes are hidden from them (the paper's figure of layouts).

A map is for the eye, and t-SNE shows groups where there are none. So each panel has numbers that are taken from the
vectors themselves: of the nearest neighbours of a node whose class was hidden, how many share its class, and how many
belong to another hidden class, with which it would be mixed up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.files import atomic_paths
from unseen.errors import logger
from unseen.explorer.layout import lay_out
from unseen.labels import Labels
from unseen_paper.csv_files import csv_text, read_csv
from unseen_paper.experiments.catalog import ROWS, able
from unseen_paper.experiments.plan import RULE, Run, f1_runs
from unseen_paper.experiments.runner import DIED, embed_and_score, load_once, surviving

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


@dataclass(frozen=True)
class Panel:
    """One method's map: one row per node, none if it failed, and the row of numbers that goes with it."""

    points: list[Row]
    numbers: Row


def layout_panels(
    dataset: str,
    out: Path,
    *,
    methods: Sequence[str] | None = None,
    label_rate: float = LABEL_RATE,
    n_jobs: int = 1,
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> dict[str, Panel]:
    """Return the panels of a data set by method; those that `out` holds from an earlier start are not made again.

    The split is the first of Tables 3 and 4 (on Citeseer it hides Agents and IR). Every panel is written as soon as
    it is there, to the two csv files of :func:`layout_files`; of one that failed, the reason is.

    Parameters
    ----------
    dataset : str
        Registry name.
    out : Path
        Folder of results.
    methods : sequence of str, optional
        Which panels to make, the paper's if not given; others that `out` holds are returned too.
    label_rate : float
        Share of labelled nodes.
    n_jobs : int
        Number of processes.
    on_progress : callable
        Told how many panels are done, and of how many.
    """
    labels = load_once(dataset).labels
    names = able(methods or list(METHODS), labels)
    runs = f1_runs(dataset, labels, names, [label_rate], 1)
    if not runs:
        return {}
    points, numbers = layout_files(dataset, label_rate, out)
    panels = _kept(runs[0], points, numbers)
    todo = [run for run in runs if run.method not in panels]
    for run, panel in surviving(_tried, todo, out / "vectors", n_jobs):
        panels[run.method] = panel or Panel([], _about(run, {}, DIED))
        if error := panels[run.method].numbers["error"]:
            logger.warning("%s on %s failed: %s", run.method, dataset, error)
        panels = {name: panels[name] for name in sorted(panels, key=ROWS.index)}
        with atomic_paths(points, numbers) as (first, second):
            placed = (row for each in panels.values() for row in each.points)
            first.write_text(csv_text(POINTS, placed), encoding="utf-8", newline="")
            about = (each.numbers for each in panels.values())
            second.write_text(csv_text(ABOUT, about), encoding="utf-8", newline="")
        on_progress(sum(run.method in panels for run in runs), len(runs))
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
    return {
        "seen_purity": _mean(same[is_test]),
        "unseen_purity": _mean(same[is_hidden]),
        "unseen_mixed": _mean(other[is_hidden]),
    }


def _mean(values: Any) -> float:
    return round(float(values.mean()), 4) if values.size else float("nan")


def _tried(run: Run, vectors: Path) -> Panel:
    try:
        return _panel(run, vectors)
    except Exception as error:  # noqa: BLE001  # a panel that fails does not stop the others
        return Panel([], _about(run, {}, " ".join(f"{type(error).__name__}: {error}".split())))


def _about(run: Run, numbers: Mapping[str, float | None], error: str = "") -> Row:
    """Return the row of numbers of a panel; those of one that failed are empty."""
    return {
        "dataset": run.dataset,
        "label_rate": run.label_rate,
        "method": run.method,
        "unseen": "|".join(run.unseen),
        **{name: numbers.get(name) for name in NUMBERS},
        "rule": RULE,
        "error": error,
    }


def _panel(run: Run, vectors: Path) -> Panel:
    labels = load_once(run.dataset).labels
    split = run.split(labels)
    embedding, score, seconds = embed_and_score(run, vectors)
    places = lay_out(embedding.vectors, random_state=0)
    kept = [[labels.classes[c] for c in labels.indicator[[row]].indices] for row in range(labels.n_nodes)]
    names = ["|".join(row) for row in kept]
    hidden = [not set(run.unseen).isdisjoint(row) for row in kept]
    points = [
        {
            "method": run.method,
            "node": node,
            "class": name,
            "hidden": int(away),
            "x": f"{x:.3f}",
            "y": f"{y:.3f}",
        }
        for node, name, away, (x, y) in zip(embedding.node_ids.tolist(), names, hidden, places, strict=True)
    ]
    numbers = _about(
        run,
        {
            **neighbour_shares(embedding.vectors, labels, run.unseen, split.seen_labels.labelled),
            "micro_f1": round(score.micro_f1, 6),
            "unseen_f1": None if score.unseen_f1 is None else round(score.unseen_f1, 6),
            "seconds": round(seconds, 3),
        },
    )
    return Panel(points, numbers)


def _kept(run: Run, points: Path, numbers: Path) -> dict[str, Panel]:
    """Return the panels of an earlier start, by method: of the present rule, the label rate and the hidden classes."""
    if not (points.exists() and numbers.exists()):
        return {}
    wanted = (run.label_rate, "|".join(run.unseen), RULE)
    about = {
        row["method"]: _numbers(row)
        for row in read_csv(numbers, ABOUT)
        if (float(row["label_rate"]), row["unseen"], row["rule"]) == wanted and row["method"] in ROWS
    }
    rows: dict[str, list[Row]] = {}
    for row in read_csv(points, POINTS):
        rows.setdefault(row["method"], []).append(row)
    return {name: Panel(rows[name], numbers) for name, numbers in about.items() if name in rows}


def _numbers(row: dict[str, str]) -> Row:
    texts = ("dataset", "method", "unseen", "rule", "error")
    return {key: value if key in texts else float(value) if value else None for key, value in row.items()}
