"""The logarithm of a walk matrix, factorised through its columns of some landmark nodes, in linear time.

DeepWalk factorises log(vol / (b T) (P + ... + P^T) D^-1) without ever writing it down (Qiu et al., WSDM 2018); P is
the walk matrix, T the window, b the number of negatives. Formed in full that is n x n. Its left singular vectors are
well determined by a few thousand of its columns, those of nodes drawn by degree, which take T sparse products.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix, inverse
from unseen.ids import Array, Floats, Ints, Keys, Singles
from unseen.linalg.keyed import keyed_uniform
from unseen.linalg.svd import truncated_svd

LANDMARKS = 2048
"""Columns of the matrix that are taken, at most."""
ENTRIES = 1 << 28
"""Numbers that these columns may have together (a gigabyte): larger graphs get fewer landmarks, but at least 256."""
STEP = 256
"""Landmarks whose walks are followed at a time."""
ROUNDS = 4


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
    for before, after in pairwise(negatives):
        _raise_floor(logs, float(np.log(after / before)), run)
        vectors.append(truncated_svd(logs, k, rng, run, n_iter=ROUNDS)[0])
    return vectors


def _raise_floor(logs: Singles, by: float, run: Run) -> None:
    """Turn log max(1, x) into log max(1, x / e^by), in place."""

    def lower(start: int, stop: int) -> None:
        part = logs[start:stop]
        np.subtract(part, by, out=part)
        np.maximum(part, 0, out=part)

    run.each(lower, len(logs))


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
    for first in range(0, len(columns), STEP):
        some = columns[first : first + STEP]
        scale = inverse(degree[some]) * (degree.sum() / (negatives * window))  # zero where there is no edge
        scale = np.minimum(scale, np.finfo(np.float32).max / window)  # edge weights may be far apart
        logs[:, first : first + STEP] = _logs(walk, some, window, scale.astype(np.float32))
    return logs


def _logs(walk: Matrix, columns: Ints, window: int, scale: Singles) -> Array:
    at = np.zeros((walk.shape[0], len(columns)), dtype=np.float32)
    at[columns, np.arange(len(columns))] = 1
    total, after = np.zeros_like(at), np.empty_like(at)
    for _ in range(window):
        at, after = walk.times(at, out=after), at
        total += at

    def logarithm(start: int, stop: int) -> None:
        part = total[start:stop]
        np.multiply(part, scale, out=part)
        np.maximum(part, 1, out=part)
        np.log(part, out=part)

    walk.run.each(logarithm, len(total))
    return total
