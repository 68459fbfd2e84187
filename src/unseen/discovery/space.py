"""The vectors that discovery works in, factorised once so that every question about them is cheap.

Hiding each labelled class in turn asks the same questions many times with other labels. The eigenvectors of the
vectors' covariance and a few clusterings do not depend on labels: they are computed once, and a further set of
labels costs a few products of n x d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.embedding import Embedding
from unseen.linalg.normalize import l2_rows
from unseen.linalg.svd import truncated_svd
from unseen.randomness import child_seed

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]

MAX_COLUMNS = 200
"""Wider vectors are reduced to as many, so that the cost stays linear in the nodes alone."""
GRAINS = (10, 16, 25, 40)
"""Numbers of clusters, fine to coarse: classes have different sizes, and nobody knows which."""
RUNS = 4
"""Clusterings of each grain; their mean is less of an accident than any of them."""
CLUSTER_AXES = 50
"""Clusters are sought along the strongest axes."""
CLUSTER_ROWS = 10_000
"""k-means learns its centres from at most this many nodes and sorts in all the others."""


@dataclass(frozen=True, eq=False)
class Space:
    """Unit vectors of all nodes, their principal axes, and clusterings of them.

    Parameters
    ----------
    vectors : ndarray, shape (n, d)
        Rows of length 1 (0 where a node has nothing).
    centred : ndarray, shape (n, d)
        The vectors minus their mean, in the basis of their principal axes.
    variances : ndarray, shape (d,)
        Sums of squares along the axes.
    clusters : tuple of ndarray
        Cluster numbers of every node, one array per clustering.
    """

    vectors: Matrix
    centred: Matrix
    variances: Floats
    clusters: tuple[npt.NDArray[np.int64], ...]


def make_space(embedding: Embedding, rng: np.random.Generator) -> Space:
    """Return the space of an embedding, whatever the length and number of its columns."""
    vectors = unit_vectors(embedding.vectors, rng)
    centred = vectors - vectors.mean(axis=0)
    squares, axes = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    rotated = centred @ axes[:, ::-1].astype(np.float32)
    clusters = _clusterings(np.ascontiguousarray(rotated[:, :CLUSTER_AXES]), rng)
    return Space(vectors, rotated, np.maximum(squares[::-1], 0.0), clusters)


def unit_vectors(vectors: Matrix | sp.csr_array, rng: np.random.Generator) -> Matrix:
    """Return vectors of length 1 and at most `MAX_COLUMNS` columns.

    Examples
    --------
    >>> unit_vectors(sp.csr_array(np.diag([3.0, 4.0])), np.random.default_rng(0)).round(3).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if vectors.shape[1] > MAX_COLUMNS or sp.issparse(vectors):
        vectors = truncated_svd(vectors, min(MAX_COLUMNS, *vectors.shape), rng)[0]
    return l2_rows(np.asarray(vectors, dtype=np.float32))


def _clusterings(vectors: Matrix, rng: np.random.Generator) -> tuple[npt.NDArray[np.int64], ...]:
    from sklearn.cluster import KMeans

    n = len(vectors)
    distinct = len(np.unique(vectors[:CLUSTER_ROWS], axis=0)) if n else 0
    clusterings = []
    for grain in (g for g in GRAINS for _ in range(RUNS)):
        k = min(grain, max(1, n // 10), distinct)
        rows = rng.choice(n, CLUSTER_ROWS, replace=False) if n > CLUSTER_ROWS else np.arange(n)
        machine = KMeans(k, init="random", n_init=1, max_iter=50, random_state=child_seed(rng)).fit(
            vectors[rows]
        )
        clusterings.append(machine.predict(vectors).astype(np.int64))
    return tuple(clusterings)
