"""The found classes: likely new nodes sorted into groups, each with a caption and what it is near to."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.discovery.captions import caption
from unseen.discovery.evidence import Mask
from unseen.discovery.result import FoundClass
from unseen.discovery.space import Floats, Matrix, Space
from unseen.graph import Graph
from unseen.linalg.normalize import l2_rows

Rows = npt.NDArray[np.int64]

METRIC_AXES = 50
"""Groups are sought along the strongest axes."""
ROUND = 0.5
"""Share of the mean eigenvalue in the covariance inside classes."""


def class_metric(space: Space, likely: npt.NDArray[np.int64]) -> Matrix:
    """Return directions in which labelled classes are round: what varies inside them should not make new groups.

    The strongest axes are scaled by the covariance inside the labelled classes, mixed half and half with its mean
    eigenvalue.

    Parameters
    ----------
    space : Space
        The vectors.
    likely : ndarray, shape (n,)
        Column of each node's most likely labelled class, -1 for new nodes.
    """
    vectors = space.centred[:, :METRIC_AXES].astype(np.float64)
    rows = np.flatnonzero(likely >= 0)
    if not len(rows):
        return l2_rows(vectors).astype(np.float32)
    column = likely[rows]
    sizes = np.maximum(np.bincount(column), 1)
    belongs = sp.csr_array((np.ones(len(rows)), (column, np.arange(len(rows)))))
    means = (belongs @ vectors[rows]) / sizes[:, None]
    inside = vectors[rows] - means[column]
    values, axes = np.linalg.eigh(inside.T @ inside / len(rows))
    mixed = (1 - ROUND) * np.maximum(values, 0) + ROUND * max(float(values.mean()), 1e-12)
    rounded: npt.NDArray[np.float64] = vectors @ (axes / np.sqrt(mixed))
    return l2_rows(rounded).astype(np.float32)


def sort_into_groups(vectors: Matrix, rows: Rows, weights: Floats, k: int, seed: int) -> list[Rows]:
    """Return `k` groups of the given nodes, or as many as differ, the largest first.

    k-means in which likely members count more.

    Examples
    --------
    >>> vectors = np.repeat(np.eye(2), [6, 4], axis=0)
    >>> [len(group) for group in sort_into_groups(vectors, np.arange(10), np.ones(10), 2, 0)]
    [6, 4]
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if not len(rows) or k < 1:
        return []
    with warnings.catch_warnings():
        # fewer different vectors than groups: fewer groups
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = KMeans(min(k, len(rows)), n_init=10, random_state=seed)
        place = machine.fit_predict(vectors[rows], sample_weight=weights)
    groups = [rows[place == g] for g in range(place.max() + 1)]
    return sorted((g for g in groups if len(g)), key=lambda g: (-len(g), int(g[0])))


def describe(
    graph: Graph, space: Space, groups: list[Rows], p: Floats, indicator: Mask, classes: tuple[str, ...]
) -> tuple[FoundClass, ...]:
    """Return the found classes with size, caption, typical members and nearest labelled class."""
    centres = l2_rows(indicator.T.astype(np.float32) @ space.centred)
    new_classes = []
    for number, rows in enumerate(groups, start=1):
        mean = l2_rows((p[rows] @ space.centred[rows])[None, :])[0]
        typical = rows[np.argsort(-(l2_rows(space.centred[rows]) @ mean) * p[rows], kind="stable")]
        near = centres @ mean
        words, kind = caption(graph, rows)
        edges = graph.adjacency[rows]
        total = float(edges.sum())
        new_classes.append(
            FoundClass(
                name=f"new-{number}",
                size=len(rows),
                caption=words,
                caption_kind=kind,
                members=tuple(graph.node_ids[typical].tolist()),
                nearest_seen=classes[int(near.argmax())] if len(near) else None,
                nearest_similarity=float(near.max()) if len(near) else None,
                edge_ratio=float(edges[:, rows].sum()) / total if total else None,
                probability=float(p[rows].mean()),
            )
        )
    return tuple(new_classes)
