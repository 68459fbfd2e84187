"""The walk matrices that DeepWalk factorises: M = (Abar + Abar^2) / 2 as an operator, and the logarithm of long walks.

Abar^2 has up to sum_i degree(i)^2 entries, which a single hub makes n^2, so it is not formed: a product
costs two passes over the edges.

DeepWalk itself factorises log(vol / (b T) (P + ... + P^T) D^-1) without ever writing it down (Qiu et al., WSDM 2018);
P is Abar, T the window, b the number of negatives. Formed in full that is n x n. Its left singular vectors are well
determined by a few thousand of its columns, those of nodes drawn by degree (landmarks), which take T sparse products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from unseen.engine.sparse import Matrix, Operator, inverse
from unseen.ids import Array, Floats, Ints, Keys, Singles
from unseen.linalg.svd import truncated_svd
from unseen.randomness import keyed_uniform

CHEAP_FACTOR = 200
"""||M||_F^2 counts as cheap up to this many operations per edge: about one product with 200 columns."""
BLOCK_ENTRIES = 2_000_000
"""Rows of Abar^2 are looked at in blocks of at most about this many entries."""
LANDMARKS = 2048
"""Columns of the matrix that are taken, at most."""
ENTRIES = 1 << 28
"""Numbers that these columns may have together (a gigabyte): larger graphs get fewer landmarks, but at least 256."""
STEP = 256
"""Landmarks whose walks are followed at a time."""
ROUNDS = 4


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

    def frobenius_squared(self) -> float | None:
        """Return ||M||_F^2, or None where it would cost far more than a product.

        The rows of Abar^2 are made in blocks and forgotten, so memory stays bounded.
        """
        abar = self._forward
        if self._squared_degrees > CHEAP_FACTOR * (self._entries + self.shape[0]):
            return None
        # the work of a row is the entries of all the rows its own entries lead to
        counts = abar.extend_rows(np.diff(abar.local.indptr).astype(np.int64))
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
        between = matrix.times(V, out=scratch)

        def mean(start: int, stop: int) -> None:
            block = between[start:stop]
            block += V[start:stop]
            block *= 0.5

        self.run.map_blocks(mean, len(V))
        return matrix.times(between, out=out)  # (Abar + Abar^2) V = Abar (V + Abar V)


def log_walk_vectors(
    adjacency: Matrix,
    k: int,
    keys: Keys,
    rng: np.random.Generator,
    *,
    window: int = 10,
    negatives: Sequence[float] = (0.2,),
    landmarks: int | None = None,
) -> list[Singles]:
    """Return U S of the `k` largest singular values of log-walk matrices, from the columns of the landmarks.

    Parameters
    ----------
    adjacency : Matrix, shape (n, n)
        Symmetric, without negative weights.
    k : int
        At most the number of landmarks.
    keys : ndarray of uint64, shape (n,)
        Keys of the nodes, so that the order of the nodes does not matter for the draw.
    rng : Generator
        For the start of the SVD.
    window : int
        T, the longest walk that is looked at.
    negatives : sequence of float
        b of each matrix, growing; entries below 1 before the logarithm count as 1, so a smaller number keeps more of
        them. The walks are followed once for all.
    landmarks : int, optional
        Number of columns; all of them give the matrix in full. By default 2048, fewer on very large graphs.

    Returns
    -------
    list of ndarray, shape (n, k)
        One for each number of negatives.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from unseen.engine.run import Run
    >>> ring = Run().matrix(csr_array(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)))
    >>> [vectors] = log_walk_vectors(ring, 2, np.arange(6, dtype=np.uint64), np.random.default_rng(0))
    >>> vectors.shape
    (6, 2)
    """
    n, run = adjacency.shape[0], adjacency.run
    most = max(256, min(LANDMARKS, ENTRIES // n)) if landmarks is None else landmarks
    columns = draw_landmarks(adjacency.row_sums(), min(most, n), keys)
    logs = log_walk_columns(adjacency, columns, window=window, negatives=negatives[0])
    k = min(k, len(columns))
    vectors = [truncated_svd(logs, k, rng, run, n_iter=ROUNDS)[0]]

    def lower(start: int, stop: int) -> None:
        """Turn log max(1, x) into log max(1, x / more), in place."""
        part = logs[start:stop]
        np.subtract(part, float(np.log(more)), out=part)
        np.maximum(part, 0, out=part)

    for before, after in pairwise(negatives):
        more = after / before
        run.map_blocks(lower, len(logs))
        vectors.append(truncated_svd(logs, k, rng, run, n_iter=ROUNDS)[0])
    return vectors


def draw_landmarks(degree: Floats, count: int, keys: Keys) -> Ints:
    """Draw nodes without replacement, in proportion to their degrees, in the order of their draws.

    The smallest of exponential waiting times, one per node at the rate of its degree, are such a draw.
    """
    waiting = -np.log1p(-keyed_uniform(keys, 1, stream=7)[:, 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(degree > 0, waiting / degree, np.inf)
    order = np.argsort(times, kind="stable")[:count]
    return np.asarray(order, dtype=np.int64)


def log_walk_columns(
    adjacency: Matrix, columns: Ints, *, window: int = 10, negatives: float = 0.2
) -> Singles:
    """Return some columns of log max(1, vol / (b T) (P + ... + P^T) D^-1)."""
    degree, walk = adjacency.row_sums(), adjacency.row_normalized()
    logs = np.empty((adjacency.shape[0], len(columns)), dtype=np.float32)

    def take_logarithms(start: int, stop: int) -> None:
        part = total[start:stop]
        np.multiply(part, scale.astype(np.float32), out=part)
        np.maximum(part, 1, out=part)
        np.log(part, out=part)

    for first in range(0, len(columns), STEP):
        some = columns[first : first + STEP]
        scale = inverse(degree[some]) * (degree.sum() / (negatives * window))  # zero where there is no edge
        scale = np.minimum(scale, np.finfo(np.float32).max / window)  # edge weights may be far apart
        at = np.zeros((walk.shape[0], len(some)), dtype=np.float32)
        at[some, np.arange(len(some))] = 1
        total, after = np.zeros_like(at), np.empty_like(at)
        for _ in range(window):
            at, after = walk.times(at, out=after), at
            total += at
        walk.run.map_blocks(take_logarithms, len(total))
        logs[:, first : first + STEP] = total
    return logs
