"""Graphs larger than memory: `unseen bench outofcore`."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unseen.errors import logger
from unseen_paper.bench.isolated import measure
from unseen_paper.bench.report import Table

SIZES = (1_000_000, 10_000_000)
COLUMNS = 64
LARGE = 2_000_000
"""Nodes from which on arrays are measured on disk only."""


def run(*, sizes: Sequence[int] = SIZES, epochs: int = 3) -> list[Table]:
    """Return time and memory of RECT-N on random graphs of n nodes and 2n edges, identity features, 64 columns."""
    import unseen
    from unseen.engine.memory import Job, estimate_peak

    rows = []
    for n in sizes:
        for on_disk in (False, True) if n < LARGE else (True,):
            cost = measure("unseen_paper.bench.outofcore", "fit", n=n, epochs=epochs, on_disk=on_disk)
            needed = estimate_peak(
                unseen.RECTN, Job(n, 4 * n, COLUMNS, source="identity", scratch=on_disk, loaded=False)
            )
            times = cost.seconds, cost.processor
            sizes_in_mb = cost.result["own"], cost.megabytes, needed / 1e6
            what = "half on disk" if on_disk else "in memory"
            cells = *(f"{cell:.1f}" for cell in times), *(f"{cell:.0f}" for cell in sizes_in_mb)
            rows.append((f"{n:,}", what, *cells))
            logger.info("%d nodes, %s: %.1f s, peak %.0f MB", n, what, cost.seconds, cost.megabytes)
    header = ("nodes", "arrays", "seconds", "processor s", "own MB", "peak MB", "estimated MB")
    note = (
        "Own memory is the process's alone; the peak has pages of files on disk too, which the system takes back "
        "when it needs them."
    )
    return [Table(f"RECT-N, identity features, {COLUMNS} columns, {epochs} epochs", header, rows, (note,))]


def fit(n: int, epochs: int, on_disk: bool) -> Callable[[], Any]:
    """Prepare RECT-N on a random graph, with the arrays that may lie on disk there or in memory."""
    import unseen
    from unseen.engine.run import Run

    graph = unseen.random_graph(n, random_state=0)
    method = unseen.RECTN(n_components=COLUMNS, features="identity", epochs=epochs, random_state=0)

    def work() -> dict[str, Any]:
        run = Run(scratch=Path(tempfile.gettempdir()) if on_disk else None)
        with watched() as most:
            columns = int(method._fit_run(graph, None, run).embedding_.vectors.shape[1])
        return {"columns": columns, "own": most[0]}

    return work


@contextmanager
def watched(every: float = 0.1) -> Iterator[list[float]]:
    """Give a list whose one number is the most memory, in MB and without pages of files, held inside the block (Linux).

    Examples
    --------
    >>> with watched(0.001) as most:
    ...     block = b"x" * 50_000_000
    >>> most[0] > 50
    True
    """
    most, over = [_own_megabytes()], threading.Event()

    def look() -> None:
        while not over.wait(every):
            most[0] = max(most[0], _own_megabytes())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()
        most[0] = max(most[0], _own_megabytes())


def _own_megabytes() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) * 1024 / 1e6
