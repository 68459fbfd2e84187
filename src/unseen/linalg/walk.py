"""The walk matrix M = (Abar + Abar^2) / 2 of DeepWalk's factorisation, as an operator.

Abar^2 has up to sum_i degree(i)^2 entries, which a single hub makes n^2, so it is not formed: a product
costs two passes over the edges.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from unseen.engine.sparse import Matrix
from unseen.ids import Array
from unseen.linalg.dense import Operator

CHEAP_FACTOR = 200
"""||M||_F^2 counts as cheap up to this many operations per edge: about one product with 200 columns."""
BLOCK_ENTRIES = 2_000_000
"""Rows of Abar^2 are looked at in blocks of at most about this many entries."""


class WalkMatrix:
    """M = (Abar + Abar^2) / 2, Abar the row-normalised adjacency; rows of isolated nodes are zero.

    Parameters
    ----------
    adjacency : Matrix, shape (n, n)
        Symmetric, not negative; self-loops and weights allowed. Its index arrays are shared, not copied.
        Spread over processes, all of them call every method, with their own rows.

    Attributes
    ----------
    shape : tuple of int
        (n, n).
    run, layout : Run, Layout
        What makes the products, and who has which rows.

    Notes
    -----
    Products keep the floating type of their argument, float32 or float64.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from unseen.engine.run import Run
    >>> walk = WalkMatrix(Run().matrix(sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])))
    >>> walk.matmat(np.eye(3)).tolist()
    [[0.25, 0.5, 0.25], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]
    >>> round(walk.frobenius_squared(), 3)
    1.125
    """

    def __init__(self, adjacency: Matrix) -> None:
        self.run, self.layout = adjacency.run, adjacency.layout
        self.shape: tuple[int, int] = (adjacency.shape[1], adjacency.shape[1])
        counts = np.diff(adjacency.local.indptr).astype(np.float64)
        # sum of squared degrees = multiplications of Abar^2 = bound on its entries; a float cannot overflow.
        self._entries, self._squared_degrees = self.run.total([[adjacency.nnz, float(counts @ counts)]])
        self._forward, self._backward = adjacency.row_normalized(), adjacency.column_normalized()

    def __repr__(self) -> str:
        return f"WalkMatrix({self.shape[0]} nodes)"

    def matmat(self, V: Array, *, out: Array | None = None, scratch: Array | None = None) -> Array:
        """Return M V, in `out`; getting memory for it, and for a step between, is expensive where V is large."""
        return self._apply(self._forward, V, out, scratch)

    def rmatmat(self, V: Array, *, out: Array | None = None, scratch: Array | None = None) -> Array:
        """Return M' V, in `out`, like :meth:`matmat`."""
        return self._apply(self._backward, V, out, scratch)

    def alternating(self, V: Array) -> Operator:
        """Return M with products that write into V and a second array in turn, for iterations from V on.

        What a product returned is gone after the next but one.
        """
        second, between = np.empty_like(V), np.empty_like(V)

        def in_turn(product: Callable[..., Array]) -> Callable[[Array], Array]:
            def multiply(X: Array) -> Array:
                if (X.shape, X.dtype) != (V.shape, V.dtype):
                    return product(X)
                return product(X, out=second if X is V else V, scratch=between)

            return multiply

        return Operator(in_turn(self.matmat), in_turn(self.rmatmat))

    def symmetric(self, V: Array) -> Array:
        """Return (M + M') V / 2."""
        result = self.matmat(V)
        result += self.rmatmat(V)
        result *= 0.5
        return result

    def frobenius_squared(self, *, cheap_only: bool = True) -> float | None:
        """Return ||M||_F^2, or None where it would cost far more than a product and `cheap_only` is set.

        The rows of Abar^2 are made in blocks and forgotten, so memory stays bounded either way.
        """
        abar = self._forward
        if cheap_only and self._squared_degrees > CHEAP_FACTOR * (self._entries + self.shape[0]):
            return None
        # the work of a row is the entries of all the rows its own entries lead to
        counts = abar.extended(np.diff(abar.local.indptr).astype(np.int64))
        work = np.concatenate([[0], np.cumsum(counts[abar.local.indices])])[abar.local.indptr]
        turns = self.run.count(1 + int(work[-1]) // BLOCK_ENTRIES)  # enough for any process
        cuts = np.searchsorted(work, np.linspace(0, work[-1], turns + 1)[1:-1])
        parts, own = [0.0], abar.own_rows()
        for start, stop in pairwise([0, *cuts.tolist(), abar.shape[0]]):
            rows = own[start:stop]
            block = rows + abar.times_rows(rows)
            parts.append(float(block.data @ block.data))
        return float(self.run.total(parts)) / 4

    def _apply(self, matrix: Matrix, V: Array, out: Array | None, scratch: Array | None) -> Array:
        if V.dtype not in (np.float32, np.float64):
            V = V.astype(np.float64)
        between = matrix.times(V, out=scratch)

        def mean(start: int, stop: int) -> None:
            block = between[start:stop]
            block += V[start:stop]
            block *= 0.5

        self.run.each(mean, len(V))
        return matrix.times(between, out=out)  # (Abar + Abar^2) V = Abar (V + Abar V)
