"""Products of tall matrices with small ones, in blocks of rows: the same bits for any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unseen.engine.run import Run
from unseen.errors import UnseenError
from unseen.ids import Array, Floats

CACHED_ROWS = 512
"""Rows multiplied at a time: with some hundred columns they stay in the cache, which is a fifth faster."""


def gram(V: Array, run: Run, other: Array | None = None) -> Floats:
    """Return V'V, or V' times another tall matrix: blocks of rows are added in float64, and over the processes.

    Examples
    --------
    >>> gram(np.array([[1.0, 2.0], [0.0, 1.0]], dtype=np.float32), Run()).tolist()
    [[1.0, 2.0], [2.0, 5.0]]
    """
    right = V if other is None else other

    def product(start: int, stop: int) -> Array:
        v = V[start:stop]  # of v'v numpy computes one half only
        return np.asarray(v.T @ (v if other is None else right[start:stop]))

    nothing = np.zeros((V.shape[1], right.shape[1]))
    total: Floats = run.total([nothing, *run.each(product, len(V))])
    return total


def times(V: Array, small: Array, run: Run, *, out: Array | None = None) -> Array:
    """Return V times a small matrix, in the floating type of V; `out` may be V itself.

    Examples
    --------
    >>> times(np.ones((2, 2), dtype=np.float32), np.eye(2), Run()).dtype
    dtype('float32')
    """
    small = np.ascontiguousarray(small, dtype=V.dtype)
    result = np.empty((len(V), small.shape[1]), dtype=V.dtype) if out is None else out

    def multiply(start: int, stop: int) -> None:
        for first in range(start, stop, CACHED_ROWS):
            last = min(first + CACHED_ROWS, stop)
            result[first:last] = V[first:last] @ small

    run.each(multiply, len(V))
    return result


def eigh(matrix: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues, rising, and eigenvectors of a small symmetric matrix.

    Examples
    --------
    >>> eigh(np.diag([2.0, 1.0]))[0].tolist()
    [1.0, 2.0]
    """
    try:
        values, axes = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        raise UnseenError(OUT_OF_RANGE) from None
    if not np.isfinite(values).all():
        raise UnseenError(OUT_OF_RANGE)
    return np.asarray(values), np.asarray(axes)


OUT_OF_RANGE = (
    "numbers have left the range of floating point on the way to the vectors; "
    "bring the edge weights and the features to a usual scale, such as 0 to 1"
)


def dot(a: Array, b: Array, run: Run) -> float:
    """Return the sum of the products of the entries; blocks are added in float64, and so are processes.

    Examples
    --------
    >>> dot(np.ones((3, 2), dtype=np.float32), np.full((3, 2), 2.0, dtype=np.float32), Run())
    12.0
    """
    return float(run.total([0.0, *run.each(lambda i, j: float(np.sum(a[i:j] * b[i:j])), len(a))]))


@dataclass(frozen=True)
class Operator:
    """What is known by its products alone, ``X @ V`` and ``X.T @ V``.

    Examples
    --------
    >>> double = Operator(lambda V: V * 2, lambda V: V * 2)
    >>> (double.T @ np.ones((1, 1))).tolist()
    [[2.0]]
    """

    forward: Callable[[Array], Array]
    backward: Callable[[Array], Array]

    def __matmul__(self, V: Array) -> Array:
        return self.forward(V)

    @property
    def T(self) -> Operator:  # noqa: N802  # as in numpy
        """The transpose."""
        return Operator(self.backward, self.forward)
