"""Files for tests to read, and what was read in a form that can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

import unseen
from unseen.data.features import FeatureReader
from unseen.data.pieces import read_whole


def write(path: Path, content: Any) -> Path:
    """Write a text, bytes, the columns of a table, named arrays or one array to a file, and return its path."""
    if isinstance(content, str | bytes):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    elif path.suffix == ".parquet":
        pq.write_table(content if isinstance(content, pa.Table) else pa.table(content), path)
    elif path.suffix == ".npz":
        np.savez(path, **{key: np.array(value) for key, value in content.items()})
    else:
        np.save(path, np.array(content))
    return path


def read_features(source: Any) -> tuple[Any, Any, tuple[str, ...] | None]:
    """Return the ids of the rows (None: row i is node number i), the matrix, and the names of its columns."""
    rows = read_whole(FeatureReader(source))
    return rows.node_ids, rows.values, rows.names


def dense(matrix: Any) -> Any:
    """Return a matrix of either kind as a dense array."""
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def edges_of(graph: unseen.Graph) -> dict[frozenset[str], float]:
    """Return the weight of each pair of linked nodes."""
    coo, ids = graph.adjacency.tocoo(), list(map(str, graph.node_ids))
    return {frozenset((ids[i], ids[j])): w for i, j, w in zip(coo.row, coo.col, coo.data, strict=True)}


def labels_of(labels: unseen.Labels) -> dict[str, set[str]]:
    """Return the classes of each labelled node."""
    return {str(node): set(names) for node, names in labels.to_lists().items()}
