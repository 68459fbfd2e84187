"""RECT and RECT(DW) on a GPU beside the processor: `unseen bench gpu --out paper/docs/results`.

It fills the two curves of the figure of scalability that need a GPU, on the graphs and with the settings of
`unseen reproduce scalability`. Rows go to scalability.csv in the folder `--out` names; fits that are there, of this
version, are not repeated. Then `paper/tools/results_page.py` draws the figure again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unseen.errors import InputError
from unseen_paper.bench.report import Table
from unseen_paper.experiments.scalability import SIZES, devices, scalability_rows

METHODS = ("rect", "rect-dw")


def run(
    *, sizes: Sequence[int] = SIZES, methods: Sequence[str] = METHODS, out: str = "reproduction"
) -> list[Table]:
    """Time fits on the processor and on the GPU; an error where torch finds no GPU."""
    if "cuda" not in devices(METHODS[0]):
        msg = "torch finds no GPU here; `unseen reproduce scalability` times the processor"
        raise InputError(msg)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    rows = scalability_rows(folder / "scalability.csv", methods=methods, sizes=sizes)
    seconds = {(row["method"], row["n_nodes"], row["device"]): row["seconds"] for row in rows}
    lines = []
    for method in methods:
        for n in sorted(set(sizes)):
            here, there = (seconds.get((method, n, device)) for device in ("cpu", "cuda"))
            ratio = f"{here / there:.1f}" if here and there else ""
            lines.append((method, f"{n:,}", *("" if s is None else f"{s:.1f}" for s in (here, there)), ratio))
    header = ("method", "nodes", "processor s", "GPU s", "times faster")
    note = "Seconds of all threads on the processor, of the clock on the GPU; an empty cell is a fit that failed."
    return [Table("Training time of 100 epochs, identity features", header, lines, (note,))]
