"""The graph value: a symmetric weighted adjacency, optional features, and an id for every row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, logger
from unseen.ids import IdArray, row_ids

Symmetrize = Literal["max", "sum", "error"]
Features: TypeAlias = "sp.csr_array | npt.NDArray[Any]"


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected weighted graph; everything is checked once, here, and read-only afterwards.

    Parameters
    ----------
    adjacency : scipy sparse array, shape (n, n)
        Symmetric, finite, not negative. Self-loops are kept. Use :meth:`from_scipy` or
        :meth:`from_edges` for directed input.
    features : scipy sparse array or ndarray, shape (n, m), optional
        Finite numbers, at least one column; None where nodes have no features. Sparse features stay sparse.
    node_ids : sequence of str or int, optional
        One unique id per row; 0 ... n - 1 when not given.
    feature_names : sequence of str, optional
        One name a feature column.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.Graph.from_edges(["a", "b"], ["b", "c"], nodes=["a", "b", "c", "alone"])
    >>> graph
    Graph(4 nodes, 2 edges, no features)
    >>> graph.node_ids.tolist()
    ['a', 'b', 'c', 'alone']
    """

    adjacency: sp.csr_array
    features: Features | None = None
    node_ids: IdArray = None  # type: ignore[assignment]  # filled in by __post_init__
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        adjacency = _checked_adjacency(self.adjacency)
        n = adjacency.shape[0]
        ids = row_ids(self.node_ids, n, f"the adjacency has {n} rows")
        features = None if self.features is None else _checked_features(self.features, n)
        lock(adjacency, features)
        names = _checked_names(self.feature_names, features)
        self.__dict__.update(adjacency=adjacency, features=features, node_ids=ids, feature_names=names)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        lock(self.adjacency, self.features, self.node_ids)  # pickled arrays come back unlocked

    def __repr__(self) -> str:
        width = "no features" if self.features is None else f"{self.features.shape[1]} features"
        return f"Graph({self.n_nodes} nodes, {self.n_edges} edges, {width})"

    @property
    def n_nodes(self) -> int:
        """Number of nodes, isolated ones included."""
        return int(self.adjacency.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges, a self-loop counting once."""
        return int(self.adjacency.nnz + self.n_self_loops) // 2

    @property
    def n_self_loops(self) -> int:
        """Number of nodes that have an edge to themselves."""
        return int(np.count_nonzero(self.adjacency.diagonal()))

    @property
    def isolated(self) -> npt.NDArray[np.bool_]:
        """Mask of the nodes that have no edge to another node."""
        degree = np.diff(self.adjacency.indptr) - (self.adjacency.diagonal() != 0)
        return np.asarray(degree == 0)

    def subgraph(self, rows: npt.NDArray[np.int64]) -> Graph:
        """Return the graph of these rows, in their order, and the edges between them; itself where that is all of it.

        Examples
        --------
        >>> import unseen
        >>> unseen.Graph.from_edges(["a", "b"], ["b", "c"]).subgraph([2, 1]).node_ids.tolist()
        ['c', 'b']
        """
        if np.array_equal(rows, np.arange(self.n_nodes)):
            return self
        features = None if self.features is None else self.features[rows]
        return Graph(self.adjacency[rows][:, rows], features, self.node_ids[rows], self.feature_names)

    @staticmethod
    def from_edges(
        src: Iterable[Any],
        dst: Iterable[Any],
        weight: npt.ArrayLike | None = None,
        *,
        nodes: Iterable[Any] | None = None,
        features: Any = None,
        feature_names: Sequence[str] | None = None,
        symmetrize: Symmetrize = "max",
        drop_negative: bool = False,
    ) -> Graph:
        """Make a graph from two columns of ids; `nodes` can name isolated nodes and fixes the order.

        Parameters
        ----------
        src, dst : iterable of str or int
            The two ends of each edge.
        weight : array-like, optional
            One weight an edge; 1 when not given.
        nodes : iterable of str or int, optional
            Ids that come first, in this order, whether or not they have edges.
        features, feature_names : optional
            Rows in the order of the resulting nodes.
        symmetrize : {"max", "sum", "error"}
            What becomes of a pair that is listed more than once, in either direction.
        drop_negative : bool
            Leave out edges of negative weight instead of refusing them.

        Examples
        --------
        >>> import unseen
        >>> unseen.Graph.from_edges([1, 2, 2], [2, 1, 3], [1.0, 5.0, 1.0]).adjacency.max()
        np.float64(5.0)
        """
        from unseen.data.build import edge_matrix

        adjacency, ids = edge_matrix(src, dst, weight, nodes, symmetrize, drop_negative=drop_negative)
        return Graph(adjacency, features, ids, feature_names)  # type: ignore[arg-type]

    @staticmethod
    def from_scipy(
        adjacency: Any,
        *,
        symmetrize: Symmetrize = "max",
        drop_negative: bool = False,
        node_ids: Iterable[Any] | None = None,
        features: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Graph:
        """Make a graph from a square matrix; a directed one is made symmetric as `symmetrize` says.

        Parameters
        ----------
        adjacency : scipy sparse array or ndarray, shape (n, n)
            Weights; a symmetric matrix is taken as it is.
        features, node_ids, feature_names : optional
            As for :class:`Graph`.
        symmetrize : {"max", "sum", "error"}
            Of a directed matrix, ``"max"`` keeps the larger of the two weights of a pair, ``"sum"`` adds
            them, ``"error"`` refuses.
        drop_negative : bool
            Leave out entries of negative weight instead of refusing them.

        Examples
        --------
        >>> import scipy.sparse as sp, unseen
        >>> unseen.Graph.from_scipy(sp.csr_array([[0, 1], [0, 0]])).n_edges
        1
        """
        matrix = _as_csr(adjacency)
        _check_weights(matrix, drop_negative=drop_negative)
        matrix = symmetric(matrix, symmetrize)
        return Graph(matrix, features, node_ids, feature_names)  # type: ignore[arg-type]

    @staticmethod
    def from_networkx(
        graph: Any,
        *,
        weight: str | None = "weight",
        features: Any = None,
        symmetrize: Symmetrize = "max",
    ) -> Graph:
        """Make a graph from a networkx graph; nodes keep their order and, as strings or int64, their names.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Any networkx graph.
        weight : str or None
            Edge attribute that holds the weight; edges without it weigh 1.
        features : str or array, optional
            Node attribute that holds a number or a vector, or a matrix in node order.
        symmetrize : {"max", "sum", "error"}
            What becomes of parallel and opposite edges.

        Examples
        --------
        >>> import networkx, unseen
        >>> unseen.Graph.from_networkx(networkx.path_graph(3))
        Graph(3 nodes, 2 edges, no features)
        """
        from unseen.data.objects import graph_from_networkx

        return graph_from_networkx(graph, weight=weight, features=features, symmetrize=symmetrize)

    @staticmethod
    def from_pyg(data: Any, *, symmetrize: Symmetrize = "max") -> Graph:
        """Make a graph from a PyTorch Geometric ``Data``: ``edge_index``, ``edge_weight`` and ``x``.

        Examples
        --------
        >>> import torch, unseen
        >>> from torch_geometric.data import Data
        >>> unseen.Graph.from_pyg(Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=4))
        Graph(4 nodes, 2 edges, no features)
        """
        from unseen.data.objects_pyg import graph_from_pyg

        return graph_from_pyg(data, symmetrize=symmetrize)


def check_symmetrize(symmetrize: str) -> None:
    """Raise an `InputError` unless `symmetrize` is one of the three policies."""
    if symmetrize not in ("max", "sum", "error"):
        msg = f"`symmetrize` must be 'max', 'sum' or 'error', got {symmetrize!r}"
        raise InputError(msg)


def symmetric(matrix: sp.csr_array, symmetrize: Symmetrize) -> sp.csr_array:
    """Return `matrix` if it is symmetric, else what `symmetrize` makes of the two directions."""
    check_symmetrize(symmetrize)
    transposed = matrix.T.tocsr()
    if _same(matrix, transposed):
        return matrix
    if symmetrize == "error":
        msg = "the adjacency is not symmetric; pass symmetrize='max' or 'sum' to make it so"
        raise InputError(msg)
    _check_weights(matrix)  # the larger of two weights, or their sum, would hide a negative one
    if symmetrize == "max":
        logger.info("directed edges made undirected: the larger of the two weights of a pair")
        return matrix.maximum(transposed).tocsr()
    logger.info("directed edges made undirected: the sum of the two weights of a pair")
    with np.errstate(over="ignore"):  # refused in the next lines
        total = (matrix + sp.triu(transposed, 1) + sp.tril(transposed, -1)).tocsr()
    if not np.isfinite(total.data).all():
        msg = "two weights of a pair add up to more than a 64-bit float holds; take symmetrize='max' or smaller weights"
        raise InputError(msg)
    return total


def _as_csr(matrix: Any) -> sp.csr_array:
    try:
        csr = sp.csr_array(matrix)
    except (TypeError, ValueError):
        msg = f"the adjacency must be a matrix of real numbers, got {type(matrix).__name__}"
        raise InputError(msg) from None
    if csr.ndim != 2 or csr.shape[0] != csr.shape[1]:
        msg = f"the adjacency must be square, got shape {csr.shape}"
        raise InputError(msg)
    if csr.dtype.kind not in "fiub":
        msg = f"the adjacency must hold real numbers, got dtype {csr.dtype}"
        raise InputError(msg)
    csr = csr.astype(np.float64)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def _same(a: sp.csr_array, b: sp.csr_array) -> bool:
    b.sort_indices()
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("indptr", "indices", "data"))


def _checked_adjacency(matrix: Any) -> sp.csr_array:
    csr = _as_csr(matrix)
    _check_weights(csr)
    if not _same(csr, csr.T.tocsr()):
        msg = "the adjacency must be symmetric; Graph.from_scipy makes a directed one so (symmetrize='max' or 'sum')"
        raise InputError(msg)
    return csr


def _check_weights(csr: sp.csr_array, *, drop_negative: bool = False) -> None:
    """Raise an `InputError` at a weight that is not finite, or negative; `drop_negative` removes these instead."""

    def where(k: int) -> str:
        row = np.searchsorted(csr.indptr, k, side="right") - 1
        return f"the adjacency, row {row}, column {csr.indices[k]}: the weight is"

    negative = int(np.count_nonzero(csr.data < 0))
    csr.data[:] = checked_weights(csr.data, where, drop_negative=drop_negative)
    if negative:
        logger.info("%d entries of negative weight left out", negative)
        csr.eliminate_zeros()


def checked_weights(
    weights: npt.NDArray[np.float64], where: Callable[[int], str], *, drop_negative: bool
) -> npt.NDArray[np.float64]:
    """Return finite weights with 0 for negative ones, which are refused unless they are dropped.

    `where` begins the sentence about an entry: "line 3: the weight is".
    """
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        msg = f"{where(int(bad[0]))} {weights[bad[0]]:g}; edge weights must be finite numbers"
        raise InputError(msg)
    negative = np.flatnonzero(weights < 0)
    if len(negative) and not drop_negative:
        msg = (
            f"{where(int(negative[0]))} {weights[negative[0]]:g}; negative weights are not supported yet, "
            "leave such edges out with drop_negative=True of from_scipy, from_edges or read (--drop-negative)"
        )
        raise InputError(msg)
    return np.maximum(weights, 0.0) if len(negative) else weights


def real_matrix(values: Any, name: str, dtype: Callable[[np.dtype[Any]], type[np.floating[Any]]]) -> Features:
    """Return a copy of `values`, in CSR where they are sparse, of the type that `dtype` makes of theirs."""
    try:
        matrix = sp.csr_array(values) if sp.issparse(values) else np.asarray(values)
    except ValueError:
        msg = f"`{name}` must be a matrix, its rows have different lengths"
        raise InputError(msg) from None
    kind = dtype(matrix.dtype)
    if matrix.ndim != 2:
        msg = f"`{name}` must have two dimensions, got shape {matrix.shape}"
        raise InputError(msg)
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused as such
        if isinstance(matrix, np.ndarray):
            return np.array(matrix, dtype=kind, order="C")
        matrix = matrix.astype(kind)
        matrix.sum_duplicates()
    return matrix


def is_finite(matrix: Features) -> bool:
    """Return whether there is no NaN and no infinity in the matrix."""
    return bool(np.isfinite(matrix if isinstance(matrix, np.ndarray) else matrix.data).all())


def _checked_features(features: Any, n: int) -> Features:
    matrix = real_matrix(features, "features", _feature_dtype)
    if matrix.shape[0] != n:
        msg = f"`features` has {matrix.shape[0]} rows but the graph has {n} nodes"
        raise InputError(msg)
    if n and not matrix.shape[1]:
        msg = "`features` has no columns; pass features=None where nodes have no features"
        raise InputError(msg)
    if not is_finite(matrix):
        msg = "features must be finite, found NaN or infinity"
        raise InputError(msg)
    return matrix


def _feature_dtype(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    if dtype.kind not in "fiub":
        msg = f"features must be numbers, got dtype {dtype}"
        raise InputError(msg)
    exact_in_float32 = dtype.kind == "b" or dtype.itemsize <= 2 or dtype == np.float32
    return np.float32 if exact_in_float32 else np.float64


def _checked_names(names: Iterable[Any] | None, features: Features | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    named = tuple(str(name) for name in names)
    columns = 0 if features is None else features.shape[1]
    if len(named) != columns:
        msg = f"`feature_names` has {len(named)} entries but there are {columns} feature columns"
        raise InputError(msg)
    return named


def lock(*arrays: sp.csr_array | npt.NDArray[Any] | None) -> None:
    """Lock arrays, and the three arrays of sparse ones, against writing."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
        elif array is not None:
            lock(array.data, array.indices, array.indptr)
