"""Products of tall matrices with small ones, in blocks of rows: the same bits for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.comm.group import SOLO, Comm
from unseen.linalg.blocks import map_blocks, row_cuts

Dense = npt.NDArray[Any]

CACHED_ROWS = 512
"""Rows multiplied at a time: with some hundred columns they stay in the cache, which is a fifth faster."""


def gram(V: Dense, comm: Comm = SOLO) -> npt.NDArray[np.float64]:
    """Return V'V, the sum over blocks of rows taken in float64, and over the processes that have rows of V.

    Examples
    --------
    >>> gram(np.array([[1.0, 2.0], [0.0, 1.0]], dtype=np.float32)).tolist()
    [[1.0, 2.0], [2.0, 5.0]]
    """
    width = V.shape[1]
    half = width // 2
    total = np.zeros((width, width))

    def squared(start: int, stop: int) -> tuple[Dense, Dense]:
        v = V[start:stop]
        return product(v[:, :half].T, v), product(v[:, half:].T, v[:, half:])

    for upper, lower in map_blocks(squared, row_cuts(len(V), of=comm.rows(len(V)))):
        total[:half] += upper
        total[half:, half:] += lower
    total[half:, :half] = total[:half, half:].T  # the quarter that is there already
    return comm.sum_(total)


def times(V: Dense, small: Dense, *, out: Dense | None = None) -> Dense:
    """Return V times a small matrix, in the floating type of V; `out` may be V itself.

    Examples
    --------
    >>> times(np.ones((2, 2), dtype=np.float32), np.eye(2)).dtype
    dtype('float32')
    """
    small = np.ascontiguousarray(small, dtype=V.dtype)
    result = np.empty((len(V), small.shape[1]), dtype=V.dtype) if out is None else out

    def multiply(start: int, stop: int) -> None:
        for first in range(start, stop, CACHED_ROWS):
            last = min(first + CACHED_ROWS, stop)
            result[first:last] = product(V[first:last], small)

    map_blocks(multiply, row_cuts(len(V)))
    return result


def eigh(matrix: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return eigenvalues, rising, and eigenvectors of a small symmetric matrix, computed on one thread.

    More threads do not help with a few hundred rows, and harm much where they have to share the cores.

    Examples
    --------
    >>> eigh(np.diag([2.0, 1.0]))[0].tolist()
    [1.0, 2.0]
    """
    import torch

    [(values, axes)] = map_blocks(lambda *_: torch.linalg.eigh(torch.from_numpy(matrix)), [(0, 1)])
    return np.asarray(values.numpy()), np.asarray(axes.numpy())


def dot(a: Dense, b: Dense, comm: Comm = SOLO) -> float:
    """Return the sum of the products of the entries; blocks are added in float64, and so are processes.

    Examples
    --------
    >>> dot(np.ones((3, 2), dtype=np.float32), np.full((3, 2), 2.0, dtype=np.float32))
    12.0
    """
    cuts = row_cuts(len(a), of=comm.rows(len(a)))
    return comm.total(float(sum(map_blocks(lambda i, j: float(np.sum(a[i:j] * b[i:j])), cuts))))


def column_dots(a: Dense, b: Dense, comm: Comm = SOLO) -> npt.NDArray[np.float64]:
    """Return the dot product of each column of `a` with the same column of `b`.

    Examples
    --------
    >>> column_dots(np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2))).tolist()
    [4.0, 6.0]
    """
    total = np.zeros(a.shape[1])
    for start in range(0, len(a), 4096):
        total += np.einsum("ij,ij->j", a[start : start + 4096], b[start : start + 4096])
    return comm.sum_(total)


def product(a: Dense, b: Dense) -> Dense:
    """Return the product of two matrices, on one thread inside a block of :func:`map_blocks`.

    numpy's product would start threads of its own in each block; torch's knows where it is.

    Examples
    --------
    >>> product(np.eye(2), np.ones((2, 1))).tolist()
    [[1.0], [1.0]]
    """
    import torch

    return np.asarray(torch.mm(torch.from_numpy(a), torch.from_numpy(b)).numpy())
