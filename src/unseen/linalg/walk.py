"""The walk matrix M = (Abar + Abar^2) / 2 of DeepWalk's factorisation, as an operator.

Abar^2 has up to sum_i degree(i)^2 entries, which a single hub makes n^2, so it is not formed: a product
costs two passes over the edges. Only where the degrees guarantee that the explicit matrix is no dearer
(paths, rings, matchings) is it built.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.linalg.products import spmm

Dense = npt.NDArray[Any]

CHEAP_FACTOR = 200
"""||M||_F^2 counts as cheap up to this many operations an edge: about one product with 200 columns."""
BLOCK_ENTRIES = 2_000_000
"""Rows of Abar^2 are looked at in blocks of at most about this many entries."""


class WalkMatrix:
    """M = (Abar + Abar^2) / 2, Abar the row-normalised adjacency; rows of isolated nodes are zero.

    Parameters
    ----------
    adjacency : scipy CSR array, shape (n, n)
        Symmetric, not negative; self-loops and weights allowed. Its index arrays are shared, not copied.

    Attributes
    ----------
    shape : tuple of int
        (n, n).
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

    def __init__(self, adjacency: sp.csr_array) -> None:
        self.shape: tuple[int, int] = (int(adjacency.shape[0]), int(adjacency.shape[0]))
        counts = np.diff(adjacency.indptr).astype(np.float64)
        n, nnz = adjacency.shape[0], adjacency.nnz
        # sum of squared degrees = multiplications of Abar^2 = bound on its entries; a float cannot overflow.
        self._squared_degrees = float(counts @ counts)
        # Operator: two passes over nnz entries and two n-row results. Explicit: one pass, one result.
        self.explicit: bool = self._squared_degrees <= nnz + 2 * n
        self._forward, self._backward = _normalised_pair(adjacency)
        if self.explicit:
            self._forward = _half_sum(self._forward)
            self._backward = sp.csr_array(self._forward.T.tocsr())
            self._backward.sort_indices()
        self._cast: dict[tuple[str, Any], sp.csr_array] = {}

    def __repr__(self) -> str:
        kind = "explicit" if self.explicit else "operator"
        return f"WalkMatrix({self.shape[0]} nodes, {kind})"

    def matmat(self, V: Dense) -> Dense:
        """Return M V."""
        return self._apply("forward", V)

    def rmatmat(self, V: Dense) -> Dense:
        """Return M' V."""
        return self._apply("backward", V)

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
        if cheap_only and self._squared_degrees > CHEAP_FACTOR * (self._forward.nnz + self.shape[0]):
            return None
        abar = self._forward
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

    def _apply(self, side: str, V: Dense) -> Dense:
        if V.dtype not in (np.float32, np.float64):
            V = V.astype(np.float64)
        matrix = self._as(side, V.dtype)
        result = spmm(matrix, V)
        if not self.explicit:
            # (Abar + Abar^2) V = Abar (V + Abar V): one temporary of the size of V.
            result += V
            result = spmm(matrix, result)
            result *= 0.5
        return result

    def _as(self, side: str, dtype: np.dtype[Any]) -> sp.csr_array:
        matrix = self._forward if side == "forward" else self._backward
        if dtype == np.float64:
            return matrix
        key = (side, dtype)
        if key not in self._cast:
            self._cast[key] = sp.csr_array(
                (matrix.data.astype(dtype), matrix.indices, matrix.indptr), shape=self.shape
            )
        return self._cast[key]


def _normalised_pair(adjacency: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return Abar and its transpose; A is symmetric, so all three share one pattern."""
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64)
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree != 0)
    indices, indptr = adjacency.indices, adjacency.indptr
    forward = adjacency.data * np.repeat(inverse, np.diff(indptr))
    backward = adjacency.data * inverse[indices]
    return (
        sp.csr_array((forward, indices, indptr), shape=adjacency.shape),
        sp.csr_array((backward, indices, indptr), shape=adjacency.shape),
    )


def _half_sum(abar: sp.csr_array) -> sp.csr_array:
    walk = sp.csr_array(abar + abar @ abar) * 0.5
    walk.sort_indices()
    return sp.csr_array(walk)
