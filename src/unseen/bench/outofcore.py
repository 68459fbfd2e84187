"""Graphs larger than memory: `unseen bench outofcore`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path


def cut(path: str, memory: int, parts: int = 4) -> Callable[[], int]:
    """Prepare the partition of an edge file with so much memory."""
    from unseen.scale.partition import partition

    def work() -> int:
        with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
            return partition(path, Path(folder) / "parts", parts=parts, memory=memory).n_nodes

    return work
