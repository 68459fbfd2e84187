"""Conversions from and to the objects of other libraries: networkx, PyTorch Geometric, scipy, Arrow, pandas.

Nothing is renumbered: row i stays row i, and ids travel with the graph. The way in for Arrow tables,
pandas and polars is :func:`unseen.read_graph`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.errors import InputError, UnsupportedError
from unseen.graph import Graph
from unseen.io.convert_networkx import graph_from_networkx, to_networkx
from unseen.io.convert_pyg import graph_from_pyg, labels_from_pyg, to_pyg
from unseen.io.edges import id_column
from unseen.labels import Labels

__all__ = [
    "features_to_arrow",
    "graph_from_networkx",
    "graph_from_pyg",
    "labels_from_pyg",
    "labels_to_arrow",
    "to_arrow",
    "to_networkx",
    "to_pandas",
    "to_pyg",
    "to_scipy",
]


def to_scipy(graph: Graph) -> sp.csr_array:
    """Return a copy of the adjacency that may be written to.

    Examples
    --------
    >>> import unseen
    >>> to_scipy(unseen.Graph.from_edges([0], [1])).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return graph.adjacency.copy()


def to_arrow(graph: Graph) -> pa.Table:
    """Return the edges as an Arrow table ``src, dst, weight``, each edge once.

    Isolated nodes have no row: hand ``graph.node_ids`` on beside it.

    Examples
    --------
    >>> import unseen
    >>> to_arrow(unseen.Graph.from_edges(["a"], ["b"])).to_pylist()
    [{'src': 'a', 'dst': 'b', 'weight': 1.0}]
    """
    ids = id_column(graph.node_ids, "node_ids")
    upper = sp.triu(graph.adjacency, format="coo")
    ends = [ids.take(pa.array(numbers.astype(np.int64))) for numbers in (upper.row, upper.col)]
    return pa.table({"src": ends[0], "dst": ends[1], "weight": upper.data})


def to_pandas(graph: Graph) -> Any:
    """Return the edges as a pandas data frame ``src, dst, weight``, each edge once.

    Examples
    --------
    >>> import unseen
    >>> to_pandas(unseen.Graph.from_edges(["a"], ["b"])).columns.tolist()
    ['src', 'dst', 'weight']
    """
    try:
        import pandas  # noqa: F401  # Arrow's own message would not say what to do
    except ImportError:
        msg = "to_pandas needs pandas; install it with: pip install pandas"
        raise UnsupportedError(msg) from None
    return to_arrow(graph).to_pandas()


def features_to_arrow(graph: Graph) -> pa.Table:
    """Return the features as an Arrow table: ``node`` and named columns, or without names ``node`` and a list.

    The table is dense; for wide sparse features a scipy ``.npz`` is the better home.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.Graph.from_edges(["a"], ["b"], features=[[1.0], [0.5]], feature_names=["tall"])
    >>> features_to_arrow(graph).to_pylist()
    [{'node': 'a', 'tall': 1.0}, {'node': 'b', 'tall': 0.5}]
    """
    if graph.features is None:
        msg = "the graph has no features to convert"
        raise InputError(msg)
    ids = id_column(graph.node_ids, "node_ids")
    dense = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    names = graph.feature_names
    if names is None or len({"node", *names}) <= len(names):  # columns need names of their own
        flat = pa.array(dense.ravel())
        return pa.table({"node": ids, "features": pa.FixedSizeListArray.from_arrays(flat, dense.shape[1])})
    return pa.table({"node": ids, **{name: dense[:, k] for k, name in enumerate(names)}})


def labels_to_arrow(labels: Labels) -> pa.Table:
    """Return the labels as an Arrow table ``node, label``: a row a label, one with null for an unlabelled node.

    Examples
    --------
    >>> import unseen
    >>> labels_to_arrow(unseen.Labels.from_values(["x", None], ["a", "b"])).to_pylist()
    [{'node': 'a', 'label': 'x'}, {'node': 'b', 'label': None}]
    """
    counts = np.diff(labels.indicator.indptr)
    rows = np.repeat(np.arange(labels.n_nodes), np.maximum(counts, 1))
    codes = np.full(len(rows), -1, dtype=np.int64)
    codes[counts[rows] > 0] = labels.indicator.indices
    names = pa.array([*labels.classes, None], type=pa.large_string())
    taken = names.take(pa.array(np.where(codes < 0, len(labels.classes), codes)))
    return pa.table({"node": id_column(labels.node_ids, "node_ids").take(pa.array(rows)), "label": taken})
