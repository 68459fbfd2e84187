"""Features to dimensions: columns weighted, rows scaled to length 1, projected on right singular vectors.

Features are read in blocks of rows, and dimensions are made some columns at a time: nothing else of the height of the
features is in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import inverse
from unseen.graph import Features
from unseen.ids import Array, Floats, Singles
from unseen.linalg.normalize import describe_columns, l2_rows, wide_cuts
from unseen.linalg.svd import column_signs, eigh, gram, truncated_svd

STREAMED_ROWS = 30_000
"""Features of more rows are decomposed in blocks of rows."""
GRAM_COLUMNS = 2000
"""Up to so many columns that is exact, through X'X."""
ROUNDS, OVERSAMPLING = 2, 50
"""For more columns: how often random directions are multiplied with X'X, and how many are drawn beyond those needed."""


def column_weights(features: Features, run: Run | None = None) -> Floats:
    """Return factors that make all columns count: inverse document frequencies of words, of others 1 / deviation.

    A column is taken as a word where none of it is negative and most are zero, however they are stored.

    Examples
    --------
    >>> column_weights(sp.csr_array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])).round(3).tolist()
    [1.288, 1.693]
    >>> column_weights(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [1.0, 0.0]
    """
    run = run or Run()
    used, dense, negative, n = describe_columns(features, run)
    weights: Floats = np.log((1 + n) / (1 + used)) + 1
    measured = dense | negative
    if measured.any():

        def moments(start: int, stop: int) -> Floats:
            rows = features[start:stop].astype(np.float64)
            return np.array([np.asarray(each.sum(axis=0)).ravel() for each in (rows, rows * rows)])

        sums = run.sum_blocks(moments, wide_cuts(features.shape[0]), np.zeros((2, features.shape[1])))
        mean, squares = sums / n
        deviation = np.sqrt(np.maximum(squares - mean**2, 0.0))
        weights[measured] = inverse(deviation)[measured]
    return weights


def weighted(features: Features, weights: Floats | None, *, unit: bool) -> Features:
    """Return features with their columns weighted and, if `unit`, their rows scaled to length 1."""
    if isinstance(features, np.ndarray):
        table = features if weights is None else features * weights
        return l2_rows(np.asarray(table, dtype=np.float64)) if unit else table
    values = features.data.astype(np.float64)
    if weights is not None:
        values *= weights[features.indices]
    scaled = sp.csr_array((values, features.indices, features.indptr), shape=features.shape)
    return l2_rows(scaled) if unit else scaled


@dataclass(frozen=True)
class Reduction:
    """Features to dimensions: columns weighted, rows scaled to length 1 if `unit`, then projected on axes.

    Parameters
    ----------
    weights : ndarray, shape (m,), or None
        Factors of the feature columns.
    axes : ndarray, shape (k, m)
        Right singular vectors.
    unit : bool
        Whether rows are scaled to length 1 before the projection.
    """

    weights: Floats | None
    axes: Singles
    unit: bool

    @classmethod
    def learn(cls, features: Features, weights: Floats | None, k: int, seed: int, run: Run) -> Reduction:
        """Return the reduction to `k` dimensions; rows are scaled to length 1 where columns are weighted."""
        unit, rng = weights is not None, np.random.default_rng(seed)
        if run.count(features.shape[0]) <= STREAMED_ROWS:
            axes = truncated_svd(weighted(features, weights, unit=unit), k, rng, run)[1]
        else:
            axes = leading_axes(features, lambda rows: weighted(rows, weights, unit=unit), k, rng, run)
        return cls(weights, axes, unit)

    def apply(self, features: Features, run: Run) -> Singles:
        """Return the reduced features of any nodes, new ones included."""
        reduced = np.empty((features.shape[0], len(self.axes)), dtype=np.float32)

        def fill(start: int, stop: int) -> None:
            reduced[start:stop] = weighted(features[start:stop], self.weights, unit=self.unit) @ self.axes.T

        run.map_blocks(fill, wide_cuts(len(reduced)))
        return reduced

    def inverse_lengths(self, features: Features, run: Run) -> Singles:
        """Return 1 / length of the rows of all reduced features, without the scale of rows; 0 for rows of zeros."""
        lengths = np.empty((features.shape[0], 1), dtype=np.float32)
        loadings = self._loadings(slice(None))

        def measure(start: int, stop: int) -> None:
            lengths[start:stop] = np.linalg.norm(features[start:stop] @ loadings, axis=1, keepdims=True)

        run.map_blocks(measure, len(lengths))
        return inverse(lengths)

    def unit_columns(self, features: Features, columns: slice, inverse_lengths: Singles, run: Run) -> Singles:
        """Return some columns of the reduced features, whose rows have length 1 together with all other columns."""
        loadings = self._loadings(columns)
        base = np.empty((features.shape[0], loadings.shape[1]), dtype=np.float32)

        def fill(start: int, stop: int) -> None:
            base[start:stop] = (features[start:stop] @ loadings) * inverse_lengths[start:stop]

        run.map_blocks(fill, len(base))
        return base

    def _loadings(self, columns: slice) -> Array:
        """Return axes by which features as they are become dimensions, but for the scale of rows."""
        axes = self.axes[columns] if self.weights is None else self.axes[columns] * self.weights
        return np.ascontiguousarray(axes.T, dtype=np.float32)


def leading_axes(
    features: Features,
    prepare: Callable[[Features], Features],
    k: int,
    rng: np.random.Generator,
    run: Run,
) -> Singles:
    """Return the `k` first right singular vectors of features that are read in blocks of rows.

    Parameters
    ----------
    features : scipy CSR array or ndarray, shape (n, m)
        The rows of this process.
    prepare : callable
        What is to be decomposed, given some rows of the features.
    k : int
        At most ``min(n, m)``.
    rng : Generator
        Gives the random directions, the same in all processes.
    run : Run
        Does the work; its processes have some rows each.

    Examples
    --------
    >>> X = np.diag([3.0, 2.0, 1.0])
    >>> np.abs(leading_axes(X, lambda rows: rows, 2, np.random.default_rng(0), Run())).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    (n, m), width = features.shape, k + OVERSAMPLING
    cuts = wide_cuts(n)

    def squares_of(start: int, stop: int) -> Array:
        rows = prepare(features[start:stop])
        products: Any = rows.T @ rows
        return np.asarray(products.toarray() if sp.issparse(products) else products)

    if m <= max(GRAM_COLUMNS, width):
        squares, sides = eigh(run.sum_blocks(squares_of, cuts, np.zeros((m, m))))
    else:
        basis = rng.standard_normal((m, width), dtype=np.float32)

        def times_squares(start: int, stop: int) -> Array:
            rows = prepare(features[start:stop]).astype(np.float32)
            return np.asarray(rows.T @ (rows @ basis))

        for _ in range(ROUNDS):
            basis = np.linalg.qr(run.sum_blocks(times_squares, cuts, np.zeros((m, width))))[0].astype(
                np.float32
            )

        def small_squares_of(start: int, stop: int) -> Array:
            return gram(np.asarray(prepare(features[start:stop]) @ basis, dtype=np.float32), run.solo)

        squares, inside = eigh(run.sum_blocks(small_squares_of, cuts, np.zeros((width, width))))
        sides = basis @ inside
    axes = sides[:, np.argsort(squares)[::-1][:k]]
    return np.ascontiguousarray((axes * column_signs(axes, run.solo)).T, dtype=np.float32)
