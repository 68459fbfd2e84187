"""Draws the maps of :mod:`unseen_paper.experiments.layouts`: hidden classes strong, seen ones pale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unseen_paper.experiments.catalog import Choice
from unseen_paper.experiments.layouts import LABEL_RATE, METHODS, Panel, layout_files, layout_panels
from unseen_paper.experiments.paper import TITLES
from unseen_paper.report.figures import pyplot, save_figure
from unseen_paper.report.tables import render

Row = dict[str, Any]

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
    n_jobs: int = 1,
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> tuple[list[Row], str]:
    """Make, draw and tabulate the maps of every data set and label rate; return the rows of numbers and their table."""
    rows: list[Row] = []
    for dataset in choice.datasets or ["citeseer"]:
        for rate in choice.rates or [LABEL_RATE]:
            panels = layout_panels(
                dataset, out, methods=choice.methods, label_rate=rate, n_jobs=n_jobs, on_progress=on_progress
            )
            drawn = [panel for panel in panels.values() if panel.points]
            if drawn:
                draw_layouts(drawn, layout_files(dataset, rate, out)[0].with_suffix(""))
            names = choice.methods or METHODS
            rows += [panels[name].numbers for name in names if name in panels]
    return rows, _table([row for row in rows if not row["error"]], style)


def draw_layouts(panels: Sequence[Panel], path: Path) -> None:
    """Draw all panels with one legend, as ``path.svg`` and ``path.png``."""
    plt = pyplot()
    across = min(5, len(panels))
    down = -(-len(panels) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(3.1 * across, 3.35 * down + 0.7), squeeze=False, layout="constrained"
    )
    hidden = panels[0].numbers["unseen"].split("|")
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
    about = panels[0].numbers
    figure.suptitle(
        f"{about['dataset']}, {about['label_rate']:.0%} labels, hidden: {', '.join(hidden)}. Under each map: of the 10"
        " nearest neighbours of hidden nodes, in all columns,\nhow many share their class, and how many are of another"
        " hidden class",
        fontsize="medium",
    )
    save_figure(figure, path)


def _draw_panel(axis: Any, panel: Panel, hidden: Sequence[str]) -> None:
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in panel.points:
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
    numbers = panel.numbers
    axis.set_title(TITLES.get(numbers["method"], numbers["method"]), fontsize="medium", pad=2)
    text = f"own class {numbers['unseen_purity']:.0%}, other hidden class {numbers['unseen_mixed']:.0%}"
    axis.text(0.5, -0.02, text, transform=axis.transAxes, ha="center", va="top", fontsize="small")


def _scatter(axis: Any, places: Sequence[tuple[float, float]], **style: Any) -> None:
    x, y = zip(*places, strict=True)
    axis.scatter(x, y, linewidths=0, rasterized=True, **style)


def _table(rows: Sequence[Row], style: str) -> str:
    header = [
        "data set",
        "labels",
        "method",
        "hidden: own class",
        "hidden: other hidden",
        "seen: own class",
        "micro F1",
    ]
    keys = ("unseen_purity", "unseen_mixed", "seen_purity", "micro_f1")
    cells = [
        [row["dataset"], f"{row['label_rate']:.0%}", row["method"], *(f"{row[key]:.4f}" for key in keys)]
        for row in rows
    ]
    return render(header, cells, style=style, left=3)
