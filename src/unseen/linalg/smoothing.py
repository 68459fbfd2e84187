"""Vectors smoothed over a graph: means over neighbours, and personalised propagation as a Chebyshev polynomial.

One matrix in float32 serves all of it, P = D^-1 A with D the degrees of the adjacency with self-loops. The symmetric
normalisation is D^1/2 (P + loops) D^-1/2, so its polynomials are those of P + loops between two scales of rows. The
mean over neighbours without the node itself is P times a scale of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unseen.engine.sparse import Matrix, inverse
from unseen.ids import Singles

NEGLIGIBLE = 0.005
"""How far an eigenvalue of a smoothing may be from its definition; they are between -1 and 1."""


def smoothing_filter(teleports: Sequence[float], steps: int, negligible: float = NEGLIGIBLE) -> Singles:
    """Return Chebyshev coefficients of the mean over teleport rates of `steps` rounds of smoothing.

    A power of twenty is nearly a polynomial of half that degree on [-1, 1]: coefficients that together change no
    eigenvalue of the result by more than `negligible` are left out, and with them their products.

    Examples
    --------
    >>> smoothing_filter([1.0], 20).tolist()
    [1.0]
    >>> len(smoothing_filter([0.02, 0.05, 0.1], 20)), len(smoothing_filter([0.7], 20))
    (12, 4)
    """
    # `steps` rounds of Z <- (1 - rate) Ahat Z + rate Z_0 as powers of Ahat
    rate = np.asarray(teleports, dtype=np.float64)[:, None]
    powers = rate * (1 - rate) ** np.arange(steps + 1, dtype=np.float64)
    powers[:, steps:] = (1 - rate) ** steps
    coefficients = np.polynomial.chebyshev.poly2cheb(powers.mean(axis=0))
    left_out = np.cumsum(np.abs(coefficients[::-1]))[::-1]
    return np.asarray(coefficients[: max(int((left_out > negligible).sum()), 1)], dtype=np.float32)


class GraphSmoother:
    """Means over the neighbours of a graph, and sums of Chebyshev polynomials of its normalised adjacency.

    Ahat = D^-1/2 (A with self-loops) D^-1/2: a node that has a self-loop keeps its weight, every other gets one of
    weight 1; D is the degree of that matrix.

    Parameters
    ----------
    adjacency : Matrix, shape (n, n)
        Symmetric, in one piece or spread over processes; then all of them call every method.

    Examples
    --------
    >>> from unseen.engine.run import Run
    >>> from scipy.sparse import csr_array
    >>> pair = GraphSmoother(Run().matrix(csr_array([[0.0, 1.0], [1.0, 0.0]])))
    >>> Z = np.eye(2, dtype=np.float32)
    >>> pair.mean(Z).tolist(), pair.smooth(Z, {"near": smoothing_filter([0.5], 2)})["near"].round(3).tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[0.75, 0.25], [0.25, 0.75]])
    """

    def __init__(self, adjacency: Matrix) -> None:
        degree, loops = adjacency.row_sums(), adjacency.local.diagonal() == 0
        with_loops = degree + loops
        data = adjacency.local.data * np.repeat(1 / with_loops, np.diff(adjacency.local.indptr))
        self._walk = adjacency.with_values(data.astype(np.float32))
        self._root, self._loop = (
            column.astype(np.float32)[:, None] for column in (np.sqrt(with_loops), loops / with_loops)
        )
        self._without_loop = (with_loops * inverse(degree)).astype(np.float32)[:, None]

    def step(self, V: Singles) -> Singles:
        """Return Ahat V."""
        scaled: Singles = V / self._root
        product: Singles = self._walk @ scaled
        product += self._loop * scaled
        product *= self._root
        return product

    def mean(self, V: Singles) -> Singles:
        """Return the means over the neighbours of each node, without the node itself; zeros where it has none."""
        result = np.empty_like(V)

        def keep(start: int, stop: int, product: Singles) -> None:
            np.multiply(product, self._without_loop[start:stop], out=result[start:stop])

        self._walk.map_products(V, keep)
        return result

    def smooth(
        self, Z: Singles, filters: Mapping[Any, Singles], rows: Any = slice(None)
    ) -> dict[Any, Singles]:
        """Return for every filter some rows of the sum of its Chebyshev polynomials in Ahat, times Z.

        All filters share the products: as many as the longest of them has coefficients, less one. Three arrays of the
        shape of Z are in memory if there is one filter of all rows.

        Parameters
        ----------
        Z : ndarray of float32, shape (n, d)
            Where to start.
        filters : mapping to ndarray
            Coefficients, see :func:`smoothing_filter`.
        rows : slice(None) or ndarray of int
            Which rows of the sums are wanted; all by default.
        """
        now = Z / self._root
        sums = {name: c[0] * now[rows] for name, c in filters.items()}
        before, is_whole = np.empty_like(now), isinstance(rows, slice)

        def advance(start: int, stop: int, product: Singles) -> None:
            """Write the next polynomial over the one before the last, and add multiples of it to sums of all rows."""
            product += self._loop[start:stop] * now[start:stop]
            if step > 1:
                product *= 2
                product -= before[start:stop]
            before[start:stop] = product
            for total, factor in terms if is_whole else []:
                total[start:stop] += factor * product

        for step in range(1, max(map(len, filters.values()))):
            terms = [(sums[name], c[step]) for name, c in filters.items() if step < len(c)]
            self._walk.map_products(now, advance)
            before, now = now, before
            for total, factor in [] if is_whole else terms:
                total += factor * now[rows]
        for total in sums.values():
            total *= self._root[rows]
        return sums
