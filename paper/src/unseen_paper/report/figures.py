"""Figures as SVG and PNG, each with the numbers it shows as csv beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unseen.data.files import atomic_paths
from unseen.errors import need_library
from unseen_paper.experiments.paper import TITLES

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe and Ito's colours, told apart by colour-blind readers too."""
MARKERS = "osD^vP*X"


def pyplot() -> Any:
    """Return matplotlib's pyplot without a screen, or say how to install it."""
    need_library("matplotlib", "a figure", "viz").use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "unseen"  # the same figure is the same file
    return plt


def save_lines(
    rows: Sequence[Mapping[str, Any]],
    lines: Sequence[str],
    *,
    x: str,
    x_label: str,
    title: str,
    path: Path,
    log_x: bool = False,
) -> None:
    """Draw micro and macro F1 side by side, one line for each name in `lines` with its deviation, as .svg and .png.

    Parameters
    ----------
    rows : sequence of mapping
        What to draw.
    lines : sequence of str
        The name of each row's line.
    x, x_label : str
        Key of the horizontal axis, and what is written there.
    title : str
        Stands above both.
    path : Path
        Without suffix.
    log_x : bool
        Whether the horizontal axis is logarithmic.
    """
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, score, label in zip(axes, ("micro_f1", "macro_f1"), ("micro F1", "macro F1"), strict=True):
        for k, name in enumerate(dict.fromkeys(lines)):
            points = sorted(
                (row for row, line in zip(rows, lines, strict=True) if line == name), key=lambda row: row[x]
            )
            axis.errorbar(
                [row[x] for row in points],
                [row[score] for row in points],
                yerr=[row[f"{score}_std"] for row in points],
                label=name,
                color=COLOURS[k % len(COLOURS)],
                marker=MARKERS[k % len(MARKERS)],
                capsize=2,
            )
        axis.set_xlabel(x_label)
        axis.set_ylabel(label)
        if log_x:
            axis.set_xscale("log")
        else:
            axis.set_xticks(sorted({row[x] for row in rows}))
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize="small")
    figure.suptitle(title)
    save_figure(figure, path)


def save_bars(
    rows: Sequence[Mapping[str, Any]], *, groups: str, series: str, score: str, title: str, path: Path
) -> None:
    """Draw one group of bars for each value of `groups`, one bar a series, as .svg and .png."""
    plt = pyplot()
    names = list(dict.fromkeys(str(row[groups]) for row in rows))
    order = list(TITLES)
    kinds = sorted(
        dict.fromkeys(str(row[series]) for row in rows),
        key=lambda kind: order.index(kind) if kind in order else len(order),
    )
    figure, axis = plt.subplots(figsize=(max(8.0, 2.4 * len(names)), 4), layout="constrained")
    colours = plt.get_cmap("tab20").colors
    width = 0.85 / max(len(kinds), 1)
    for k, kind in enumerate(kinds):
        heights = {str(row[groups]): row[score] for row in rows if str(row[series]) == kind}
        places = [i + (k - len(kinds) / 2 + 0.5) * width for i, name in enumerate(names) if name in heights]
        axis.bar(
            places,
            [heights[n] for n in names if n in heights],
            width,
            label=TITLES.get(kind, kind),
            color=colours[k % 20],
        )
    axis.set_xticks(range(len(names)), names)
    axis.set_ylabel(score.replace("_f1", " F1"))
    axis.legend(fontsize="x-small", ncols=2, loc="upper left", bbox_to_anchor=(1, 1))
    axis.set_title(title)
    save_figure(figure, path)


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure as ``path.svg`` and ``path.png``, both or neither, and close it."""
    plt = pyplot()
    with atomic_paths(path.with_suffix(".svg"), path.with_suffix(".png")) as (svg, png):
        figure.savefig(svg, format="svg", metadata={"Date": None})
        figure.savefig(png, format="png", dpi=150)
    plt.close(figure)
