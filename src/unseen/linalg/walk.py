"""The walk matrix M = (Abar + Abar^2) / 2 of DeepWalk's factorisation, as an operator.

Abar^2 has up to sum_i degree(i)^2 entries, which a single hub makes n^2, so it is not formed: a product
costs two passes over the edges. Only where the degrees guarantee that the explicit matrix is no dearer
(paths, rings, matchings) is it built.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.comm.halo import HaloMatrix, comm_of
from unseen.linalg.blocks import map_blocks, row_cuts
from unseen.linalg.normalize import column_normalized, row_normalized
from unseen.linalg.products import spmm

Dense = npt.NDArray[Any]
Product = Callable[[Dense], Dense]

CHEAP_FACTOR = 200
"""||M||_F^2 counts as cheap up to this many operations an edge: about one product with 200 columns."""
BLOCK_ENTRIES = 2_000_000
"""Rows of Abar^2 are looked at in blocks of at most about this many entries."""


class WalkMatrix:
    """M = (Abar + Abar^2) / 2, Abar the row-normalised adjacency; rows of isolated nodes are zero.

    Parameters
    ----------
    adjacency : scipy CSR array, shape (n, n), or HaloMatrix
        Symmetric, not negative; self-loops and weights allowed. Its index arrays are shared, not copied.
        Spread over processes, all of them call every method, with their own rows.

    Attributes
    ----------
    shape : tuple of int
        (n, n).
    comm : Comm
        The processes over which the rows are spread.
    explicit : bool
        Whether M itself is stored; decided from the degrees before anything is formed.

    Notes
    -----
    Products keep the floating type of their argument, float32 or float64.

    Examples
    --------
    >>> walk = WalkMatrix(sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> walk.matmat(np.eye(3)).tolist()
    [[0.25, 0.5, 0.25], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]
    >>> round(walk.frobenius_squared(), 3)
    1.125
    """

    def __init__(self, adjacency: sp.csr_array | HaloMatrix) -> None:
        self.comm = comm_of(adjacency)
        self.shape: tuple[int, int] = (int(adjacency.shape[1]), int(adjacency.shape[1]))
        spread = isinstance(adjacency, HaloMatrix)
        indptr = adjacency.local.indptr if isinstance(adjacency, HaloMatrix) else adjacency.indptr
        counts = np.diff(indptr).astype(np.float64)
        n, nnz = self.shape[0], self.comm.total(adjacency.nnz)
        # sum of squared degrees = multiplications of Abar^2 = bound on its entries; a float cannot overflow.
        self._squared_degrees = self.comm.total(float(counts @ counts))
        self._entries = nnz
        # Operator: two passes over nnz entries and two n-row results. Explicit: one pass, one result.
        self.explicit: bool = self._squared_degrees <= nnz + 2 * n and not spread
        self._forward, self._backward = _normalised_pair(adjacency)
        if self.explicit:
            self._forward = _half_sum(self._forward)
            self._backward = sp.csr_array(self._forward.T.tocsr())
            self._backward.sort_indices()
        self._cast: dict[tuple[str, Any], sp.csr_array] = {}

    def __repr__(self) -> str:
        kind = "explicit" if self.explicit else "operator"
        return f"WalkMatrix({self.shape[0]} nodes, {kind})"

    def matmat(self, V: Dense, *, out: Dense | None = None, scratch: Dense | None = None) -> Dense:
        """Return M V, in `out`; getting memory for it, and for a step between, is dear where V is large."""
        return self._apply("forward", V, out, scratch)

    def rmatmat(self, V: Dense, *, out: Dense | None = None, scratch: Dense | None = None) -> Dense:
        """Return M' V, in `out`, like :meth:`matmat`."""
        return self._apply("backward", V, out, scratch)

    def alternating(self, V: Dense) -> tuple[Product, Product]:
        """Return products with M and M' that write into V and a second array in turn, for iterations from V on.

        What one of them returned is gone after the next but one.
        """
        first, second, between = V, np.empty_like(V), np.empty_like(V)

        def product(side: str, X: Dense) -> Dense:
            if (X.shape, X.dtype) != (V.shape, V.dtype):
                return self._apply(side, X, None, None)
            return self._apply(side, X, second if X is first else first, between)

        return partial(product, "forward"), partial(product, "backward")

    def symmetric(self, V: Dense) -> Dense:
        """Return (M + M') V / 2."""
        result = self.matmat(V)
        result += self.rmatmat(V)
        result *= 0.5
        return result

    def frobenius_squared(self, *, cheap_only: bool = True) -> float | None:
        """Return ||M||_F^2, or None where it would cost far more than a product and `cheap_only` is set.

        The rows of Abar^2 are made in blocks and forgotten, so memory stays bounded either way.
        """
        if self.explicit:
            return float(self._forward.data @ self._forward.data)
        if cheap_only and self._squared_degrees > CHEAP_FACTOR * (self._entries + self.shape[0]):
            return None
        abar = self._forward
        if isinstance(abar, HaloMatrix):
            return _spread_frobenius(abar)
        counts = np.diff(abar.indptr)
        pattern = sp.csr_array((np.ones(abar.nnz), abar.indices, abar.indptr), shape=self.shape)
        work = np.asarray(pattern @ counts)
        ends = np.searchsorted(
            np.cumsum(work), np.arange(BLOCK_ENTRIES, work.sum() + 1, BLOCK_ENTRIES), "right"
        )
        edges = np.unique(np.r_[0, ends, self.shape[0]])
        total = 0.0
        for start, stop in pairwise(edges):
            rows = abar[start:stop]
            block = rows + rows @ abar
            total += float(block.data @ block.data)
        return total / 4

    def _apply(self, side: str, V: Dense, out: Dense | None, scratch: Dense | None) -> Dense:
        if V.dtype not in (np.float32, np.float64):
            V = V.astype(np.float64)
        matrix = self._as(side, V.dtype)
        if self.explicit:
            return spmm(matrix, V, out=out)
        between = spmm(matrix, V, out=scratch)

        def mean(start: int, stop: int) -> None:
            block = between[start:stop]
            block += V[start:stop]
            block *= 0.5

        map_blocks(mean, row_cuts(len(V)))
        return spmm(matrix, between, out=out)  # (Abar + Abar^2) V = Abar (V + Abar V)

    def _as(self, side: str, dtype: np.dtype[Any]) -> sp.csr_array:
        matrix = self._forward if side == "forward" else self._backward
        if dtype == np.float64:
            return matrix
        key = (side, dtype)
        if key not in self._cast:
            self._cast[key] = _with_type(matrix, dtype)
        return self._cast[key]


def _normalised_pair(adjacency: Any) -> tuple[Any, Any]:
    """Return Abar and its transpose; A is symmetric, so all three share one pattern."""
    if isinstance(adjacency, HaloMatrix):
        return row_normalized(adjacency), column_normalized(adjacency)
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64)
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree != 0)
    forward = adjacency.data * np.repeat(inverse, np.diff(adjacency.indptr))
    return (
        sp.csr_array((forward, adjacency.indices, adjacency.indptr), shape=adjacency.shape),
        column_normalized(adjacency),
    )


def _with_type(matrix: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(matrix, HaloMatrix):
        return matrix.astype(dtype)
    return sp.csr_array((matrix.data.astype(dtype), matrix.indices, matrix.indptr), shape=matrix.shape)


def _spread_frobenius(abar: HaloMatrix) -> float:
    """Return ||M||^2 of own rows, added up over the processes: for blocks of rows, fetch the rows they lead to."""
    comm, halo, local = abar.comm, abar.halo, abar.local
    own, n = abar.shape
    columns = abar.columns()
    counts = halo.extended(np.diff(local.indptr).astype(np.int64))
    # the work of a row is the entries of all the rows its own entries lead to
    work = np.concatenate([[0], np.cumsum(np.asarray(counts)[local.indices])])[local.indptr]
    turns = int(comm.sum_(np.array([1 + int(work[-1]) // BLOCK_ENTRIES]))[0])  # enough for any of them
    cuts = np.searchsorted(work, np.linspace(0, work[-1], turns + 1)[1:-1])
    total = 0.0
    for start, stop in pairwise([0, *cuts.tolist(), own]):
        first, last = local.indptr[start], local.indptr[stop]
        rows = sp.csr_array(
            (local.data[first:last], columns[first:last], local.indptr[start : stop + 1] - first),
            shape=(stop - start, n),
        )
        middle = np.unique(rows.indices)
        reached = _fetched(abar, columns, middle)
        steps = sp.csr_array(
            (rows.data, np.searchsorted(middle, rows.indices), rows.indptr), shape=(stop - start, len(middle))
        )
        block = rows + steps @ reached
        total += float(block.data @ block.data)
    return comm.total(total) / 4


def _fetched(abar: HaloMatrix, columns: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> sp.csr_array:
    """Return the named rows of a spread matrix, wherever they are; all processes ask together."""
    comm, layout, local = abar.comm, abar.halo.layout, abar.local
    asked, given = comm.exchange_arrays(wanted, layout.counts(wanted))
    rows = asked - layout.first
    sizes = np.diff(local.indptr).astype(np.int64)[rows]
    place = np.repeat(local.indptr[rows] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(
        sizes.sum()
    )
    ends = np.cumsum([0, *given])
    entries = [int(sizes[a:b].sum()) for a, b in pairwise(ends)]
    came = [
        comm.exchange_arrays(array, counts)[0]
        for array, counts in ((sizes, given), (columns[place], entries), (local.data[place], entries))
    ]
    return sp.csr_array(
        (came[2], came[1], np.concatenate([[0], np.cumsum(came[0])])), shape=(len(wanted), layout.n)
    )


def _half_sum(abar: sp.csr_array) -> sp.csr_array:
    walk = sp.csr_array(abar + abar @ abar) * 0.5
    walk.sort_indices()
    return sp.csr_array(walk)
