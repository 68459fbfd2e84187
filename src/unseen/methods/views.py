"""Views of a graph: ways to turn its features or its structure into vectors, all without labels.

Features after SVD, weighted in two ways and smoothed over the graph at three depths, and a factorisation of the
logarithm of the walk matrix. Which of them serve a graph differs from graph to graph; :mod:`unseen.methods.selection`
chooses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.graph import Features, Graph
from unseen.linalg.keyed import node_keys
from unseen.linalg.logwalk import log_walk_vectors
from unseen.linalg.normalize import l2_rows, smoothed
from unseen.linalg.svd import project, truncated_svd

DEPTHS = {"far": (0.02, 0.05, 0.1), "middle": (0.05, 0.1, 0.2), "near": (0.2, 0.4, 0.7)}
"""Teleport rates that a depth of smoothing averages over."""
STEPS = 20
WIDE, NARROW, WALK = 400, 200, 256
"""Columns of the views: all weighted features, half of them or the plain features, and the walk."""
WALKS = {"walk": 0.2, "sharp-walk": 1.0}
"""Views of the walk matrix, and their negatives: the fewer, the more of the small entries is kept."""
DEFAULT = {True: ("weighted-wide/middle",), False: ("walk/near",)}
"""Views where no label helps to choose, with features and without."""


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

    weights: npt.NDArray[np.float64] | None
    axes: npt.NDArray[np.float32]
    unit: bool

    def apply(self, features: Features, run: Run) -> npt.NDArray[np.float32]:
        """Return the reduced features of any nodes, new ones included."""
        return project(weighted(features, self.weights, unit=self.unit), self.axes, run)


def column_weights(features: Features) -> npt.NDArray[np.float64]:
    """Return factors that make all columns count: inverse document frequencies of words, else 1 / deviation.

    Features are taken as words where none is negative and most are zero, however they are stored.

    Examples
    --------
    >>> column_weights(sp.csr_array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])).round(3).tolist()
    [1.288, 1.693]
    >>> column_weights(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [1.0, 0.0]
    """
    n, m = features.shape
    values = features if isinstance(features, np.ndarray) else features.data
    if np.count_nonzero(values) > n * m / 2 or (values.size and values.min() < 0):
        deviation = np.sqrt(np.maximum(_mean(features**2) - _mean(features) ** 2, 0.0))
        inverse: npt.NDArray[np.float64] = np.zeros_like(deviation)
        np.divide(1.0, deviation, out=inverse, where=deviation > 0)
        return inverse
    used = np.asarray((features != 0).sum(axis=0)).ravel()
    return np.asarray(np.log((1 + n) / (1 + used)) + 1, dtype=np.float64)


def _mean(features: Features) -> npt.NDArray[np.float64]:
    total: npt.NDArray[np.float64] = np.asarray(features.sum(axis=0, dtype=np.float64)).ravel()
    return np.asarray(total / features.shape[0], dtype=np.float64)


def weighted(features: Features, weights: npt.NDArray[np.float64] | None, *, unit: bool) -> Features:
    """Return features with their columns weighted and, if `unit`, their rows scaled to length 1."""
    if isinstance(features, np.ndarray):
        table = features if weights is None else features * weights
        return l2_rows(np.asarray(table, dtype=np.float64)) if unit else table
    values = features.data.astype(np.float64)
    if weights is not None:
        values *= weights[features.indices]
    scaled = sp.csr_array((values, features.indices, features.indptr), shape=features.shape)
    return l2_rows(scaled) if unit else scaled


def source_of(graph: Graph) -> Features:
    """Return the features, or rows of the adjacency where there are none."""
    return graph.adjacency if graph.features is None else graph.features


def reductions(graph: Graph, seed: int, run: Run) -> dict[str, Reduction]:
    """Learn how features become dimensions, in each of the ways that views start from."""
    features = source_of(graph)
    weights = None if graph.features is None else column_weights(graph.features)
    plan = [("weighted-wide", weights, True, WIDE), ("plain", None, False, NARROW)]
    if graph.features is None:
        plan = [("rows", None, True, NARROW)]
    ways = {}
    for name, factors, unit, most in plan:
        k = min(most, *features.shape)
        matrix = weighted(features, factors, unit=unit)
        axes = truncated_svd(matrix, k, np.random.default_rng(seed), run)[1]
        ways[name] = Reduction(factors, axes, unit)
    first = ways.get("weighted-wide")
    if first is not None and first.axes.shape[0] > NARROW:
        ways["weighted"] = Reduction(first.weights, first.axes[:NARROW], True)
    return ways


def smoothed_views(
    graph: Graph, ways: dict[str, Reduction], run: Run, depths: Iterable[str] = DEPTHS
) -> dict[str, npt.NDArray[np.float32]]:
    """Return the views made of features; their names are "reduction/depth"."""
    ahat = run.matrix(graph.adjacency, symmetric=True).gcn_normalized()
    wanted = {depth: DEPTHS[depth] for depth in depths}
    features = source_of(graph)
    return {
        f"{name}/{depth}": vectors
        for name, way in ways.items()
        for depth, vectors in smoothed(ahat, way.apply(features, run), wanted, STEPS).items()
    }


def walk_views(graph: Graph, seed: int, run: Run) -> dict[str, npt.NDArray[np.float32]]:
    """Return the views made of the structure alone, or none where there is no edge."""
    if not graph.adjacency.nnz or graph.n_nodes < 3:
        return {}
    k = min(WALK, graph.n_nodes - 1)
    keys = node_keys(graph.node_ids, seed)
    negatives = tuple(WALKS.values())
    adjacency = run.matrix(graph.adjacency, symmetric=True)
    walks = log_walk_vectors(adjacency, k, keys, np.random.default_rng(seed), negatives=negatives)
    ahat = adjacency.gcn_normalized()
    views = {}
    for name, vectors in zip(WALKS, walks, strict=True):
        views[name] = l2_rows(vectors).astype(np.float32)
        views[f"{name}/near"] = smoothed(ahat, vectors, {"near": DEPTHS["near"]}, STEPS)["near"]
    return views


def is_walk(name: str) -> bool:
    """Return whether a view is of the structure alone.

    Examples
    --------
    >>> is_walk("sharp-walk/near"), is_walk("plain/near")
    (True, False)
    """
    return name.split("/")[0] in WALKS


def all_views(
    graph: Graph, seed: int, run: Run
) -> tuple[dict[str, Reduction], dict[str, npt.NDArray[np.float32]]]:
    """Return the reductions and all views of a graph."""
    ways = reductions(graph, seed, run)
    return ways, {**smoothed_views(graph, ways, run), **walk_views(graph, seed, run)}
