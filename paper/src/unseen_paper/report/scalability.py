"""Draws training time against the number of nodes: :mod:`unseen_paper.experiments.scalability`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unseen_paper.experiments.catalog import Choice
from unseen_paper.experiments.paper import TITLES
from unseen_paper.experiments.scalability import scalability_rows
from unseen_paper.report.figures import COLOURS, MARKERS, pyplot, save_figure
from unseen_paper.report.tables import render

Row = dict[str, Any]


def write_scalability(
    choice: Choice,
    out: Path,
    *,
    sizes: Sequence[float] | None = None,
    style: str = "text",
    on_progress: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> tuple[list[Row], str]:
    """Measure, draw and tabulate; return the rows and their table."""
    path = out / "scalability.csv"
    rows = scalability_rows(path, methods=choice.methods, sizes=sizes, on_progress=on_progress)
    timed = [row for row in rows if not row["error"]]
    if timed:
        draw_times(timed, path.with_suffix(""))
    header = ["nodes", "method", "device", "seconds", "peak MB"]
    cells = [
        [str(row["n_nodes"]), row["method"], row["device"], f"{row['seconds']:.2f}", str(row["megabytes"])]
        for row in timed
    ]
    return rows, render(header, cells, style=style, left=3)


def draw_times(rows: Sequence[Row], path: Path) -> None:
    """Draw seconds against nodes, both on logarithmic axes, one line per method and device, as .svg and .png."""
    plt = pyplot()
    figure, axis = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
    names = {**TITLES, "rect-dw": "RECT(DW)"}
    series = list(dict.fromkeys((row["method"], row["device"]) for row in rows))
    for k, (method, device) in enumerate(series):
        points = sorted(
            (row["n_nodes"], row["seconds"])
            for row in rows
            if (row["method"], row["device"]) == (method, device)
        )
        name = f"{names.get(method, method)}{', GPU' if device == 'cuda' else ''}"
        label = name if len(points) < 2 else f"{name} (grows as n^{_exponent(points):.2f})"
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        axis.plot(*zip(*points, strict=True), label=label, color=colour, marker=marker)
    axis.set(xscale="log", yscale="log", xlabel="nodes", ylabel="seconds of training")
    steps = {str(names.get(row["method"], row["method"])): row["steps"] for row in rows}
    counts: dict[int, list[str]] = {}
    for title, count in steps.items():
        counts.setdefault(count, []).append(title)
    subtitle = "; ".join(f"{count} steps of {', '.join(group)}" for count, group in counts.items())
    axis.set_title(f"n nodes, 2n edges, identity features, one label\n{subtitle}", fontsize="medium")
    axis.grid(alpha=0.3, which="both")
    axis.legend(fontsize="small")
    save_figure(figure, path)


def _exponent(points: Sequence[tuple[int, float]]) -> float:
    (n, seconds), (last_n, last_seconds) = points[0], points[-1]
    return math.log(last_seconds / seconds) / math.log(last_n / n)
