"""Rows and numbers of a usual scale."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix, inverse
from unseen.graph import Features
from unseen.ids import Array, Floats, Mask, Singles

Rows = TypeVar("Rows", sp.csr_array, Array)
LEAST = 2.0**-40
"""Entries between this and its inverse are taken as they are: float32 holds their squares."""
WIDE_ROWS = 65_536
"""Rows of the blocks of :func:`wide_cuts`."""


def l2_rows(matrix: Rows) -> Rows:
    """Return `matrix`, dense or sparse, with rows of length 1; zero rows stay zero.

    Examples
    --------
    >>> l2_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if isinstance(matrix, np.ndarray):
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        scaled: Array = matrix * inverse(norms).astype(matrix.dtype)
        return scaled
    squares = sp.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
    return _divide_rows(matrix, np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64)))


def to_unit_rows(vectors: Singles, run: Run) -> Singles:
    """Scale the rows of a dense float32 matrix to length 1, in place, and return it; zero rows stay zero.

    Examples
    --------
    >>> to_unit_rows(np.array([[3.0, 4.0]], dtype=np.float32), Run()).round(6).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """

    def scale(start: int, stop: int) -> None:
        part = vectors[start:stop]
        part *= inverse(np.linalg.norm(part, axis=1, keepdims=True))

    run.map_blocks(scale, len(vectors))
    return vectors


def l1_rows(matrix: Rows) -> Rows:
    """Return `matrix` with the absolute values of every row summing to 1; zero rows stay zero.

    Examples
    --------
    >>> l1_rows(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    sums = np.asarray(abs(matrix).sum(axis=1), dtype=np.float64).ravel()
    if isinstance(matrix, np.ndarray):
        scaled: Array = matrix * inverse(sums)[:, None]
        return scaled
    return _divide_rows(matrix, sums)


def scale_exponent(values: Array, run: Run, low: float = LEAST, high: float = 1 / LEAST) -> int:
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


def scale_by_exponent(values: Any, exponent: int) -> Any:
    """Return numbers, or a sparse matrix, times a power of two; no digit changes.

    Examples
    --------
    >>> scale_by_exponent(np.array([3.0]), -1).tolist()
    [1.5]
    """
    if not exponent:
        return values
    if isinstance(values, np.ndarray):
        return np.ldexp(values, exponent)
    if isinstance(values, Matrix):
        return values.with_values(np.ldexp(values.local.data, exponent), symmetric=values.symmetric)
    return sp.csr_array((np.ldexp(values.data, exponent), values.indices, values.indptr), shape=values.shape)


def are_measured(features: Features, run: Run | None = None) -> Mask:
    """Return which columns are measurements, not counts of words: dense ones and negative ones.

    A column is dense where most of its entries are not zero, and not all of them 0 or 1.

    Examples
    --------
    >>> are_measured(np.array([[1e4, 0.0, 0.0], [3e4, 0.0, -1.0], [2e4, 1.0, 0.0]])).tolist()
    [True, False, True]
    """
    _, dense, negative, _ = describe_columns(features, run or Run())
    return dense | negative


def describe_columns(features: Features, run: Run) -> tuple[Floats, Mask, Mask, int]:
    """Return of each column the number of entries, whether it is dense and whether one is negative; and all rows."""
    width = features.shape[1]

    def count(start: int, stop: int) -> Array:
        part = features[start:stop]
        values = part if isinstance(part, np.ndarray) else part.data
        marks = values != 0, values < 0, (values != 0) & (values != 1)
        if isinstance(part, np.ndarray):
            return np.array([np.count_nonzero(mark, axis=0) for mark in marks])
        return np.array([np.bincount(part.indices[mark], minlength=width) for mark in marks])

    cuts, n = wide_cuts(features.shape[0]), run.count(features.shape[0])
    used, negative, other = run.sum_blocks(count, cuts, np.zeros((3, width)))
    return used, (used > n / 2) & (other > 0), negative > 0, n


def wide_cuts(n: int) -> list[tuple[int, int]]:
    """Return blocks of many rows, for work whose result is as large for few rows as for many.

    Examples
    --------
    >>> wide_cuts(100_000)
    [(0, 65536), (65536, 100000)]
    """
    return [(start, min(start + WIDE_ROWS, n)) for start in range(0, n, WIDE_ROWS)]


def column_scale(features: Features, run: Run) -> Floats | None:
    """Return mean and deviation of each column that is dense or negative, 0 and 1 of others; None where all have these.

    A negative column that is not dense deviates from 0, so that its zeros stay zeros.

    Examples
    --------
    >>> column_scale(np.array([[1e4, 0.0], [3e4, 0.0], [2e4, 1.0]]), Run()).round(1).tolist()
    [[20000.0, 0.0], [8165.0, 1.0]]
    >>> column_scale(np.eye(3), Run())
    """
    _, dense, negative, n = describe_columns(features, run)
    if not (dense | negative).any():
        return None
    mean = np.where(dense, run.total([np.asarray(features.sum(axis=0, dtype=np.float64)).ravel()]) / n, 0.0)
    if isinstance(features, np.ndarray):
        squares = np.square(features - mean).sum(axis=0)
    else:  # entries that are not stored are 0, and mean^2 away from the mean
        entries = np.square(features.data - mean[features.indices]) - np.square(mean)[features.indices]
        squares = np.bincount(features.indices, entries, len(mean)) + features.shape[0] * np.square(mean)
    deviation = np.sqrt(np.maximum(run.total([squares]) / n, 0.0))
    touched = (dense | negative) & (deviation > 0)
    scale = np.array([mean, np.where(touched, deviation, 1.0)])
    return None if np.allclose(scale, [[0.0], [1.0]], atol=1e-6) else scale


def standardize(features: Any, scale: Floats | None) -> Any:
    """Return features less the means and divided by the deviations of :func:`column_scale`, sparse if they were."""
    if scale is None:
        return features
    mean, deviation = scale
    if isinstance(features, np.ndarray):
        return ((features - mean) / deviation).astype(features.dtype)
    n, columns = features.shape[0], np.flatnonzero(mean)
    rows, shifts = np.repeat(np.arange(n), len(columns)), np.tile(mean[columns], n)
    shift = sp.csr_array((shifts, (rows, np.tile(columns, n))), shape=features.shape)
    less = sp.csr_array(features - shift)
    data = (less.data / deviation[less.indices]).astype(features.dtype)
    return sp.csr_array((data, less.indices, less.indptr), shape=features.shape)


def encode_numbers(features: Features, knots: int = 9) -> Features:
    """Return features with every measured column spread over its quantiles.

    Such a column becomes up to `knots` columns, one for each quantile. A value is shared between the two quantiles
    next to it, so that every row sums to 1 there. Rows then differ by direction alone, whatever the scale and the tails
    of a column are, and a linear model can follow any piecewise linear function of it. Other columns stay.

    Examples
    --------
    >>> encode_numbers(np.array([[1.0], [2.0], [300.0], [1.5], [151.0]]), knots=3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    """
    measured = are_measured(features)
    if not measured.any():
        return features
    table: Array = features if isinstance(features, np.ndarray) else features.toarray()
    blocks: list[Array] = [table[:, ~measured]]
    for values in table[:, measured].T:
        places = np.unique(np.quantile(values, np.linspace(0, 1, knots)))
        position = np.interp(values, places, np.arange(len(places)))
        blocks.append(np.maximum(1 - np.abs(position[:, None] - np.arange(len(places))), 0))
    return np.hstack(blocks)


def _divide_rows(matrix: sp.csr_array, sizes: Floats) -> sp.csr_array:
    data = matrix.data * np.repeat(inverse(sizes), np.diff(matrix.indptr))
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
