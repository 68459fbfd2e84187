"""Rows and numbers of a usual scale; vectors smoothed over a graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix, inverse

Dense = npt.NDArray[np.floating[Any]]
Rows = TypeVar("Rows", sp.csr_array, Dense)
LEAST = 2.0**-40
"""Entries between this and its inverse are taken as they are: float32 holds their squares."""


def l2_rows(matrix: Rows) -> Rows:
    """Return `matrix`, dense or sparse, with rows of length 1; zero rows stay zero.

    Examples
    --------
    >>> l2_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if isinstance(matrix, np.ndarray):
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        scaled: Dense = matrix * inverse(norms).astype(matrix.dtype)
        return scaled
    squares = sp.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
    return _divided(matrix, np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64)))


def l1_rows(matrix: Rows) -> Rows:
    """Return `matrix` with the absolute values of every row summing to 1; zero rows stay zero.

    Examples
    --------
    >>> l1_rows(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    sums = np.asarray(abs(matrix).sum(axis=1), dtype=np.float64).ravel()
    if isinstance(matrix, np.ndarray):
        scaled: Dense = matrix * inverse(sums)[:, None]
        return scaled
    return _divided(matrix, sums)


def scale_exponent(values: npt.NDArray[Any], run: Run, low: float = LEAST, high: float = 1 / LEAST) -> int:
    """Return the power of two that brings the largest magnitude to about 1; 0 where that is between `low` and `high`.

    Examples
    --------
    >>> scale_exponent(np.array([3.0]), Run()), scale_exponent(np.array([2.0**60]), Run())
    (0, -60)
    """
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if run.processes > 1:
        largest = float(run.gather(np.array([largest])).max())
    if largest == 0 or low <= largest <= high:
        return 0
    return -math.frexp(largest)[1] + 1


def scaled(values: Any, exponent: int) -> Any:
    """Return numbers, or a sparse matrix, times a power of two; no digit changes.

    Examples
    --------
    >>> scaled(np.array([3.0]), -1).tolist()
    [1.5]
    """
    if not exponent:
        return values
    if isinstance(values, np.ndarray):
        return np.ldexp(values, exponent)
    if isinstance(values, Matrix):
        return values.with_values(np.ldexp(values.local.data, exponent), symmetric=values.symmetric)
    return sp.csr_array((np.ldexp(values.data, exponent), values.indices, values.indptr), shape=values.shape)


def _divided(matrix: sp.csr_array, sizes: npt.NDArray[np.float64]) -> sp.csr_array:
    data = matrix.data * np.repeat(inverse(sizes), np.diff(matrix.indptr))
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def teleport_weights(teleport: float, steps: int) -> npt.NDArray[np.float64]:
    """Return c with sum_s c_s Ahat^s Z = `steps` rounds of Z <- (1 - teleport) Ahat Z + teleport Z_0."""
    weights: npt.NDArray[np.float64] = teleport * (1 - teleport) ** np.arange(steps + 1, dtype=np.float64)
    weights[steps] = (1 - teleport) ** steps
    return weights


def smoothed(
    ahat: Matrix, Z: Dense, depths: Mapping[str, Sequence[float]], steps: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Smooth l2-normalised rows at several depths; a depth is the mean over some teleport rates.

    All depths are combinations of the same powers Ahat^s Z, so they cost `steps` products together. The rows of
    every result have length 1.

    Parameters
    ----------
    ahat : Matrix, shape (n, n)
        The normalised adjacency.
    Z : ndarray, shape (n, d)
        Where to start.
    depths : mapping of str to sequence of float
        Teleport rates to average over: small ones reach far.
    steps : int
        Number of products.

    Examples
    --------
    >>> from unseen.engine.run import Run
    >>> from scipy.sparse import csr_array
    >>> ahat = Run().matrix(csr_array(np.full((2, 2), 0.5)))
    >>> depths = smoothed(ahat, np.eye(2, dtype=np.float32), {"far": [0.0], "near": [1.0]}, 3)
    >>> (depths["far"] ** 2).round(4).tolist(), depths["near"].tolist()
    ([[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    """
    weights = {
        name: np.mean([teleport_weights(rate, steps) for rate in rates], axis=0).astype(np.float32)
        for name, rates in depths.items()
    }
    power = l2_rows(np.asarray(Z, dtype=np.float32)).astype(np.float32)
    sums = {name: c[0] * power for name, c in weights.items()}
    for step in range(1, steps + 1):
        power = ahat @ power
        for name, c in weights.items():
            sums[name] += c[step] * power
    return {name: l2_rows(total).astype(np.float32) for name, total in sums.items()}
