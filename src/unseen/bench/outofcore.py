"""Graphs larger than memory: `unseen bench outofcore`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unseen.bench.isolated import measure
from unseen.bench.report import Table
from unseen.errors import logger

SIZES = (1_000_000, 10_000_000)
COLUMNS = 64


def run(*, sizes: Sequence[int] = SIZES, epochs: int = 3) -> list[Table]:
    """Return time and memory of RECT-N on random graphs of n nodes and 2n edges, identity features, 64 columns."""
    from unseen.scale.estimate import Sizes, estimate

    rows = []
    for n in sizes:
        foreseen = estimate("rect-n", Sizes(n, 4 * n, COLUMNS, epochs, source="identity"))
        assert foreseen is not None
        for on_disk in (False, True) if n <= SIZES[0] else (True,):
            found = measure("unseen.bench.outofcore", "fit", n=n, epochs=epochs, on_disk=on_disk)
            needed = foreseen.n_bytes - (foreseen.movable if on_disk else 0.0)
            what = "moments on disk" if on_disk else "all in memory"
            cells = (found.seconds, found.seconds / epochs, found.megabytes, needed / 1e6)
            rows.append(
                (
                    f"{n:,}",
                    what,
                    *(f"{cell:.1f}" for cell in cells[:2]),
                    *(f"{cell:.0f}" for cell in cells[2:]),
                )
            )
            logger.info("%d nodes, %s: %.1f s, peak %.0f MB", n, what, found.seconds, found.megabytes)
    header = ("nodes", "arrays", "seconds", "of it an epoch", "peak MB", "estimated MB")
    return [Table(f"RECT-N, {COLUMNS} columns, {epochs} epochs", header, rows)]


def fit(n: int, epochs: int, on_disk: bool) -> Callable[[], Any]:
    """Prepare RECT-N on a random graph, with Adam's moments in memory or on disk."""
    import unseen
    from unseen.linalg.scratch import scratch

    graph = unseen.random_graph(n, random_state=0)
    method = unseen.RECTN(n_components=COLUMNS, features="identity", epochs=epochs, random_state=0)

    def work() -> int:
        with scratch(Path(tempfile.gettempdir()) if on_disk else None):
            return int(method.fit(graph).embedding_.vectors.shape[1])

    return work


def cut(path: str, memory: int, parts: int = 4) -> Callable[[], int]:
    """Prepare the partition of an edge file with so much memory."""
    from unseen.scale.partition import partition

    def work() -> int:
        with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
            return partition(path, Path(folder) / "parts", parts=parts, memory=memory).n_nodes

    return work
