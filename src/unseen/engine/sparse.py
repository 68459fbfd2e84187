"""Sparse matrices in one piece, or with their rows spread over processes: products and normalisations.

Process p holds the rows ``starts[p]`` to ``starts[p + 1]`` of every tall matrix. To multiply its rows of a square
matrix it needs the rows of V that their entries name: its own, and the halo, which other processes send. A matrix in
one piece is the case of one process, whose halo is empty.

Products are scipy's on blocks of rows, which are written to memory that is there already. Every row is summed by one
thread in the order of its entries, so the number of threads changes no bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.engine.comm import SOLO, Comm, Halo, Layout
from unseen.engine.run import Cut, Run
from unseen.graph import Features, Graph
from unseen.ids import Array, Floats, IdArray, Ints, as_ids
from unseen.labels import Labels

BLOCK_WORK = 16_384
"""Entries and rows of a block, together: enough to be worth a call, few enough to stay in the cache."""
LEAST_COLUMNS = 32
"""Columns of the vectors that processes send each other at a time, at least."""


@dataclass(frozen=True)
class Operator:
    """What is known by its products alone, ``X @ V`` and ``X.T @ V``.

    Examples
    --------
    >>> double = Operator(lambda V: V * 2, lambda V: V * 3)
    >>> (double.T @ np.ones((1, 1))).tolist()
    [[3.0]]
    """

    forward: Callable[[Array], Array]
    backward: Callable[[Array], Array]

    def __matmul__(self, V: Array) -> Array:
        return self.forward(V)

    @property
    def T(self) -> Operator:  # noqa: N802  # as in numpy
        """The transpose."""
        return Operator(self.backward, self.forward)


class Matrix:
    """A sparse matrix whose rows may be spread over processes, with its products ``A @ V`` and ``A.T @ V``.

    Products keep the floating type of V, float32 or float64. The entries of a row stand in the order of their true
    columns, so that its sum is the same bits on any number of processes.

    Parameters
    ----------
    local : scipy CSR array
        The own rows. Column k is column k of the matrix; of a square matrix that is spread it is own row k, or row
        k - own of the halo.
    run : Run
        Makes the products.
    halo : Halo, optional
        Where the columns of a square matrix that is spread come from. Without it, rows that are spread have columns
        that all processes know (features).
    symmetric : bool
        Whether the matrix is its own transpose.

    Examples
    --------
    >>> A = Matrix(sp.csr_array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]), Run())
    >>> (A @ np.array([[1.0, 1.0], [3.0, 4.0]])).tolist(), (A.T @ np.ones((3, 1))).tolist()
    ([[6.0, 8.0], [1.0, 1.0], [0.0, 0.0]], [[1.0], [2.0]])
    """

    def __init__(
        self, local: sp.csr_array, run: Run, halo: Halo | None = None, *, symmetric: bool = False
    ) -> None:
        self.local, self.run, self.halo, self.symmetric = local, run, halo, symmetric
        self._blocks: dict[Any, sp.csr_array] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Own rows, and all columns."""
        return int(self.local.shape[0]), self.halo.layout.n if self.halo else int(self.local.shape[1])

    @property
    def comm(self) -> Comm:
        """The processes over which the rows are spread."""
        return self.halo.layout.comm if self.halo else self.run.comm

    @property
    def layout(self) -> Layout:
        """Who has which rows of a square matrix."""
        return self.halo.layout if self.halo else Layout((0, self.shape[0]), SOLO)

    @property
    def nnz(self) -> int:
        """Entries of the own rows."""
        return int(self.local.nnz)

    @property
    def T(self) -> Matrix | Operator:  # noqa: N802  # as in numpy
        """The transpose; of features that are spread its products are added up over the processes."""
        if self.symmetric:
            return self

        def multiply(V: Array) -> Array:
            product = self.transposed @ V
            return self.collect_rows(product) if self.halo else self.run.sum(product)

        return Operator(multiply, self.times)

    @cached_property
    def transposed(self) -> Matrix:
        """The transpose of `local`."""
        return Matrix(sp.csr_array(self.local.T.tocsr()), self.run.solo)

    @cached_property
    def cuts(self) -> list[Cut]:
        """Blocks of rows of equal work: of so many entries and rows together, so that hubs leave no thread waiting."""
        work = self.local.indptr + np.arange(self.shape[0] + 1, dtype=np.int64)
        ends = np.searchsorted(work, np.arange(BLOCK_WORK, int(work[-1]), BLOCK_WORK))
        return list(pairwise(np.unique(np.concatenate(([0], ends, [self.shape[0]]))).tolist()))

    def __matmul__(self, V: Array) -> Array:
        return self.times(V)

    def times(self, V: Array, *, out: Array | None = None, add: bool = False) -> Array:
        """Return ``A @ V``, in `out` where it is given (not V itself); `add` adds to what is there.

        All processes call it at once, each with its own rows of V.
        """
        V = np.ascontiguousarray(V, dtype=np.float32 if V.dtype == np.float32 else np.float64)
        if self.shape[1 if self.halo is None else 0] != V.shape[0]:
            msg = f"cannot multiply a sparse matrix of shape {self.shape} with vectors of shape {V.shape}"
            raise ValueError(msg)
        n, columns = len(self.local.indptr) - 1, V.shape[1]
        if out is None:
            if self.halo is None and self.run.n_threads == 1:
                return self.multiply_rows(V, 0, n)
            out, add = np.empty((n, columns), dtype=V.dtype), False
        # some columns at a time, so that the rows of others do not fill the memory
        width = columns if self.halo is None else columns_at_a_time(columns, self.halo.turns)
        for first in range(0, columns, max(1, width)):
            some = slice(first, first + width)
            self.map_products(V[:, some], partial(_write, out[:, some], add))
        return out

    def map_products(self, V: Array, work: Callable[[int, int, Array], None]) -> None:
        """Call ``work(start, stop, product)`` with blocks of rows of ``A @ V``; nothing of its height is allocated.

        All processes call it at once, each with its own rows of V. `work` may write to the product.
        """
        V = self.extend_rows(V)
        self.run.map_blocks(
            lambda start, stop: work(start, stop, self.multiply_rows(V, start, stop)), self.cuts
        )

    def multiply_rows(self, V: Array, start: int, stop: int) -> Array:
        """Return some rows of the product, given a row of V for each column of `local`."""
        key = V.dtype, start, stop
        if key not in self._blocks:
            A = self.local
            ends = A.indptr[start : stop + 1]
            inside = slice(ends[0], ends[-1])
            data = A.data[inside].astype(V.dtype, copy=False)
            self._blocks[key] = _csr(data, A.indices[inside], ends - ends[0], A.shape[1])
        return np.asarray(self._blocks[key] @ V)

    def extend_rows(self, V: Array) -> Array:
        """Return a row of V for each column of `local`, given the own rows."""
        return V if self.halo is None else self.halo.extend_rows(V)

    def collect_rows(self, V: Array) -> Array:
        """Return the own rows of V plus what other processes hold for them; V has a row for each column of `local`."""
        return V if self.halo is None else self.halo.collect_rows(V)

    def own_rows(self) -> sp.csr_array:
        """Return the own rows with true columns."""
        if self.halo is None:
            return self.local
        layout = self.halo.layout
        names = np.concatenate([layout.first + np.arange(layout.n_rows, dtype=np.int64), self.halo.ids])
        return sp.csr_array((self.local.data, names[self.local.indices], self.local.indptr), shape=self.shape)

    def with_values(self, data: Array, *, symmetric: bool = False) -> Matrix:
        """Return a matrix of the same pattern."""
        local = sp.csr_array((data, self.local.indices, self.local.indptr), shape=self.local.shape)
        return Matrix(local, self.run, self.halo, symmetric=symmetric)

    def row_sums(self) -> Floats:
        """Return the sums of the own rows."""
        return np.asarray(self.local.sum(axis=1), dtype=np.float64)

    def row_normalized(self) -> Matrix:
        """Return Abar: rows sum to 1, rows without entries are zero."""
        factor = np.repeat(inverse(self.row_sums()), np.diff(self.local.indptr))
        return self.with_values(self.local.data * factor)

    def column_normalized(self) -> Matrix:
        """Return the transpose of Abar of a symmetric matrix: columns sum to 1."""
        return self.with_values(
            self.local.data * self.extend_rows(inverse(self.row_sums()))[self.local.indices]
        )

    def gcn_normalized(self) -> Matrix:
        """Return Ahat = D^-1/2 (A with self-loops) D^-1/2 of a symmetric matrix.

        A node that has a self-loop keeps its weight, every other gets one of weight 1 (PyTorch Geometric's rule); D is
        the degree of that matrix.
        """
        own = self.own_rows()
        lonely = np.flatnonzero(self.local.diagonal() == 0).astype(own.indices.dtype)
        ones = np.ones(len(lonely), dtype=self.local.dtype)
        loops = sp.csr_array((ones, (lonely, lonely + self.layout.first)), shape=self.shape)
        whole = sp.csr_array(own + loops)
        looped = Matrix(whole, self.run)
        if self.halo is not None:
            looped = spread_matrix(self.layout, self.run, whole.indptr, whole.indices, whole.data)
        scale = self.extend_rows(np.sqrt(inverse(looped.row_sums())))
        rows = np.repeat(scale[: looped.local.shape[0]], np.diff(looped.local.indptr))
        return looped.with_values(looped.local.data * rows * scale[looped.local.indices], symmetric=True)

    def times_rows(self, rows: sp.csr_array) -> sp.csr_array:
        """Return ``rows @ A`` for sparse rows, wherever the rows of A are that they name; all processes call it."""
        if self.halo is None:
            return sp.csr_array(rows @ self.local)
        middle = np.unique(rows.indices)
        entries = (rows.data, np.searchsorted(middle, rows.indices), rows.indptr)
        renumbered = sp.csr_array(entries, shape=(rows.shape[0], len(middle)))
        comm, layout = self.comm, self.layout
        wanted, given = comm.exchange_arrays(middle.astype(np.int64), layout.counts(middle))
        own = self.own_rows()[wanted - layout.first]
        counts = np.diff(own.indptr[np.cumsum([0, *given])]).tolist()
        sent = (np.diff(own.indptr), given), (own.indices, counts), (own.data, counts)
        lengths, columns, data = (comm.exchange_arrays(array, send)[0] for array, send in sent)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return sp.csr_array(renumbered @ sp.csr_array((data, columns, indptr), shape=(len(middle), layout.n)))


@dataclass(frozen=True, eq=False)
class GraphPart:
    """What a process knows of a graph that is spread over several; methods take it where they take a graph.

    Attributes
    ----------
    adjacency : Matrix
        The own rows.
    features : scipy CSR array, ndarray or None
        Of the own rows.
    node_ids : ndarray
        Of the own rows.
    """

    adjacency: Matrix
    features: Features | None
    node_ids: IdArray
    feature_names: None = None

    def with_features(self, features: Features | None, feature_names: None = None) -> GraphPart:  # noqa: ARG002
        """Return the same rows with other features, as :meth:`unseen.Graph.with_features`."""
        return replace(self, features=features)

    @property
    def n_nodes(self) -> int:
        """Nodes of the whole graph."""
        return self.adjacency.shape[1]

    @property
    def comm(self) -> Comm:
        """The processes."""
        return self.adjacency.comm


def spread_matrix(layout: Layout, run: Run, indptr: Array, columns: Ints, data: Array) -> Matrix:
    """Return a symmetric matrix from the own rows with true columns, sorted within a row; all processes call it.

    Examples
    --------
    >>> matrix = spread_matrix(Layout((0, 2), SOLO), Run(), np.array([0, 1, 2]), np.array([1, 0]), np.ones(2))
    >>> matrix.local.toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    own = (columns >= layout.first) & (columns < layout.first + layout.n_rows)
    ids = np.unique(columns[~own])
    local = np.where(own, columns - layout.first, layout.n_rows + np.searchsorted(ids, columns))
    halo = Halo(layout, ids) if layout.comm.size > 1 else None
    return Matrix(_csr(data, local, indptr, layout.n_rows + len(ids)), run, halo, symmetric=True)


def gather_rows(rows: sp.csr_array, run: Run) -> sp.csr_array:
    """Return the sparse rows of all processes, one after the other, to each of them; columns mean the same to all.

    Examples
    --------
    >>> gather_rows(sp.csr_array([[0.0, 2.0]]), Run()).toarray().tolist()
    [[0.0, 2.0]]
    """
    if run.processes == 1:
        return rows
    counts, columns = (run.gather(part.astype(np.int64)) for part in (np.diff(rows.indptr), rows.indices))
    is_mask = rows.dtype == bool  # which processes do not send
    data = run.gather(rows.data.astype(np.uint8) if is_mask else rows.data).astype(rows.dtype)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((data, columns, indptr), shape=(len(counts), rows.shape[1]))


def gather_graph(part: GraphPart, labels: Labels, run: Run) -> tuple[Graph, Labels]:
    """Return the whole graph and all labels to each process, for graphs that are small."""
    features = part.features
    if features is not None:
        features = run.gather(features) if isinstance(features, np.ndarray) else gather_rows(features, run)
    ids = part.node_ids
    if ids.dtype == object:
        texts = [str(name).encode("utf-8", "surrogatepass") for name in ids]
        letters = run.gather(np.frombuffer(b"".join(texts), dtype=np.uint8)).tobytes()
        ends = np.cumsum(run.gather(np.array([len(text) for text in texts], dtype=np.int64))).tolist()
        names = [letters[i:j].decode("utf-8", "surrogatepass") for i, j in pairwise([0, *ends])]
        ids = as_ids(names)
    else:
        ids = run.gather(ids)
    graph = Graph(gather_rows(part.adjacency.own_rows(), run), features, ids, _checked=True)
    return graph, Labels(gather_rows(labels.indicator, run), labels.classes, graph.node_ids)


def columns_at_a_time(columns: int, turns: int) -> int:
    """Return how many columns processes exchange at a time, to do it in so many turns or fewer.

    Examples
    --------
    >>> columns_at_a_time(64, 1), columns_at_a_time(64, 2), columns_at_a_time(64, 9)
    (64, 32, 32)
    """
    return -(-columns // max(1, min(turns, columns // LEAST_COLUMNS)))


def inverse(values: Array) -> Array:
    """Return 1 / values, 0 where they are 0.

    Examples
    --------
    >>> inverse(np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    return np.asarray(np.divide(1.0, values, out=np.zeros_like(values), where=values != 0))


def _write(out: Array, add: bool, start: int, stop: int, product: Array) -> None:
    if add:
        out[start:stop] += product
    else:
        out[start:stop] = product


def _csr(data: Array, indices: Array, indptr: Array, columns: int) -> sp.csr_array:
    shape = (len(indptr) - 1, columns)
    kind = np.int32 if max(*shape, len(indices)) < 2**31 else np.int64
    indices, indptr = (part.astype(kind, copy=False) for part in (indices, indptr))
    rows = sp.csr_array((data, indices, indptr), shape=shape)
    rows.has_sorted_indices = False  # they stand in the order of the true columns, which must stay
    return rows
