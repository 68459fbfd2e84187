"""One source read by itself, for tests of what a file holds."""

from __future__ import annotations

from typing import Any

from unseen.data.features import FeatureReader
from unseen.data.pieces import read_whole


def read_features(source: Any) -> tuple[Any, Any, tuple[str, ...] | None]:
    """Return the ids of the rows (None: row i is node number i), the matrix, and the names of its columns."""
    rows = read_whole(FeatureReader(source))
    return rows.node_ids, rows.values, rows.names
