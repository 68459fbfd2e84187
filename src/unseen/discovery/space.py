"""The vectors that discovery works in, factorised once so that every question about them is cheap.

Hiding each labelled class in turn asks the same questions many times with other labels. The eigenvectors of the
vectors' covariance and a few clusterings do not depend on labels: they are computed once, and a further set of
labels costs a few products of n x d.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.embedding import Embedding
from unseen.engine.run import Run, libraries_on_one_thread
from unseen.engine.sparse import inverse
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Singles
from unseen.linalg.normalize import l2_rows
from unseen.linalg.smoothing import GraphSmoother
from unseen.linalg.svd import times, truncated_svd
from unseen.methods.smoothfeats import SmoothFeats
from unseen.randomness import child_seed

MAX_COLUMNS = 200
"""Wider vectors are reduced to as many, so that the cost stays linear in the nodes alone."""
HUGE, HUGE_COLUMNS = 2_000_000, 64
"""On graphs of more nodes, vectors have fewer columns, so that ten million nodes fit into 20 GB."""
GRAINS = (10, 16, 25, 40)
"""Numbers of clusters, fine to coarse: classes have different sizes, and nobody knows which."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Vectors of all nodes along their principal axes.

    Parameters
    ----------
    centred : ndarray, shape (n, d)
        The vectors minus their mean, in the basis of their principal axes.
    variances : ndarray, shape (d,)
        Sums of squares along the axes.
    """

    centred: Singles
    variances: Floats

    @cached_property
    def inverse_lengths(self) -> Singles:
        """One over the length of each row, shape (n, 1)."""
        lengths = [np.linalg.norm(self.centred[rows], axis=1) for rows in blocks(len(self.centred))]
        return inverse(np.concatenate(lengths))[:, None]

    def cosines(self, means: Singles) -> Singles:
        """Return the cosine of every node to each of some unit means."""
        return np.vstack(
            [
                (self.centred[rows] * self.inverse_lengths[rows]) @ means.T
                for rows in blocks(len(self.centred))
            ]
        )


@dataclass(frozen=True, eq=False)
class Space(Axes):
    """Unit vectors of all nodes along their principal axes, and clusterings of them.

    Parameters
    ----------
    clusters : tuple of ndarray
        Cluster numbers of every node, one array per clustering.
    """

    clusters: tuple[Ints, ...]


def make_space(embedding: Embedding, rng: np.random.Generator) -> Space:
    """Return the space of an embedding, whatever the length and number of its columns."""
    axes = principal_axes(unit_vectors(embedding.vectors, rng))
    clusters = _clusterings(np.ascontiguousarray(axes.centred[:, :50]), rng)
    return Space(axes.centred, axes.variances, clusters)


def make_surroundings(graph: Graph, rng: np.random.Generator) -> Axes:
    """Return every node's features, its neighbours' and its second neighbours', side by side: what is linked to what.

    Unlike a smoothed space it does not take for granted that neighbours are alike. The number of features and of
    neighbours is added, which rows of length 1 do not show.
    """
    features = graph.adjacency if graph.features is None else graph.features
    columns = HUGE_COLUMNS // 2 if graph.n_nodes > HUGE else 100
    method = SmoothFeats(n_components=min(columns, *features.shape), steps=0, random_state=child_seed(rng))
    own = method.fit_transform(graph).vectors
    n, width = own.shape
    counts = [np.diff(graph.adjacency.indptr), np.asarray((features != 0).sum(axis=1)).ravel()]
    sizes = np.log1p(np.column_stack(counts), dtype=np.float64)
    sizes = (sizes - sizes.mean(axis=0)) / np.maximum(sizes.std(axis=0), 1e-9)
    table = np.empty((n, 3 * width + 2), dtype=np.float32)
    smoother, block = GraphSmoother(Run().matrix(graph.adjacency)), own
    for first in range(0, 3 * width, width):  # the own ones, and means over neighbours once and twice
        block = smoother.mean(block) if first else own
        np.divide(l2_rows(block), np.sqrt(np.float32(3)), out=table[:, first : first + width])
    table[:, -2:] = 0.3 * sizes
    return principal_axes(table)


def principal_axes(vectors: Singles) -> Axes:
    """Return the vectors minus their mean along their principal axes, the strongest first; writes over `vectors`."""
    vectors -= vectors.mean(axis=0)
    squares, axes = np.linalg.eigh((vectors.T @ vectors).astype(np.float64))
    return Axes(times(vectors, axes[:, ::-1], Run(), out=vectors), np.maximum(squares[::-1], 0.0))


def blocks(n: int, n_rows: int = 1 << 16) -> list[slice]:
    """Return slices that cover `n` rows, so that what is as tall as the graph is held once."""
    return [slice(first, first + n_rows) for first in range(0, n, n_rows)]


def unit_vectors(vectors: Singles | sp.csr_array, rng: np.random.Generator) -> Singles:
    """Return vectors of length 1 and at most `MAX_COLUMNS` columns.

    Examples
    --------
    >>> unit_vectors(sp.csr_array(np.diag([3.0, 4.0])), np.random.default_rng(0)).round(3).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if vectors.shape[1] > MAX_COLUMNS or sp.issparse(vectors):
        vectors = truncated_svd(vectors, min(MAX_COLUMNS, *vectors.shape), rng)[0]
    return l2_rows(np.asarray(vectors, dtype=np.float32))


def _clusterings(vectors: Singles, rng: np.random.Generator) -> tuple[Ints, ...]:
    """Return four clusterings of each grain; centres are learned from at most 10,000 nodes."""
    n, most = len(vectors), 10_000
    distinct = len(np.unique(vectors[:most], axis=0)) if n else 0
    clusterings = []
    for grain in (g for g in GRAINS for _ in range(4)):
        k = min(grain, max(1, n // 10), distinct)
        rows = rng.choice(n, most, replace=False) if n > most else np.arange(n)
        machine = k_means(vectors[rows], k, child_seed(rng), init="random", n_init=1, max_iter=50)
        clusterings.append(machine.predict(vectors).astype(np.uint8))
    return tuple(clusterings)


def k_means(vectors: Singles, k: int, seed: int, weights: Floats | None = None, **options: Any) -> Any:
    """Return scikit-learn's k-means, fitted; fewer different vectors than clusters make fewer clusters."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(), libraries_on_one_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, random_state=seed, **options).fit(vectors, sample_weight=weights)
