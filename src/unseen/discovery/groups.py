"""The found classes: likely new nodes sorted into groups, each with a caption and what it is near to."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.discovery.captions import caption
from unseen.discovery.result import FoundClass
from unseen.discovery.space import Space, blocks, k_means
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Singles
from unseen.linalg.normalize import l2_rows


def class_metric(space: Space, likely: Ints) -> Singles:
    """Return directions in which labelled classes are round: what varies inside them should not make new groups.

    The fifty strongest axes are scaled by the covariance inside the labelled classes, mixed half and half with its mean
    eigenvalue.

    Parameters
    ----------
    space : Space
        The vectors.
    likely : ndarray, shape (n,)
        Column of each node's most likely labelled class, -1 for new nodes.
    """
    vectors = space.centred[:, :50]
    rows = np.flatnonzero(likely >= 0)
    directions = np.eye(vectors.shape[1])
    if len(rows):
        parts = [rows[part] for part in blocks(len(rows))]
        sizes = np.maximum(np.bincount(likely[rows]), 1)
        means, products = np.zeros((len(sizes), vectors.shape[1])), np.zeros((vectors.shape[1],) * 2)
        for part in parts:
            belongs = sp.csr_array(
                (np.ones(len(part)), (likely[part], np.arange(len(part)))), shape=(len(sizes), len(part))
            )
            means += belongs @ vectors[part].astype(np.float64)
        means /= sizes[:, None]
        for part in parts:
            inside = vectors[part].astype(np.float64) - means[likely[part]]
            products += inside.T @ inside
        values, axes = np.linalg.eigh(products / len(rows))
        mixed = np.maximum(values, 0) / 2 + max(float(values.mean()), 1e-12) / 2
        directions = axes / np.sqrt(mixed)
    metric = np.empty(vectors.shape, dtype=np.float32)
    for block in blocks(len(vectors)):
        metric[block] = l2_rows(vectors[block].astype(np.float64) @ directions)
    return metric


def sort_into_groups(
    vectors: Singles, rows: Ints, weights: Floats, k: int, seed: int, *, over: int = 3
) -> list[Ints]:
    """Return `k` groups of the given nodes, or as many as differ, the largest first.

    k-means, in which likely members count more, makes `over` times as many clusters. Those below 4 % of the nodes go
    into the most similar one; then the two most similar are merged, by the cosine of their centres, until `k` are left:
    classes are of any shape, k-means' clusters are round and of one size.

    Examples
    --------
    >>> vectors = np.repeat(np.eye(2), [6, 4], axis=0)
    >>> [len(group) for group in sort_into_groups(vectors, np.arange(10), np.ones(10), 2, 0)]
    [6, 4]
    """
    if not len(rows) or k < 1:
        return []
    number = min(over * k if k > 1 else 1, len(rows))
    place = k_means(vectors[rows], number, seed, weights, n_init=10).labels_
    groups = merge_clusters(vectors[rows], place, weights, k)
    return sorted((rows[members] for members in groups), key=lambda g: (-len(g), int(g[0])))


def merge_clusters(vectors: Singles, place: Ints, weights: Floats, k: int) -> list[Ints]:
    """Return `k` groups of rows that come from merging clusters: small ones first, then the most similar pairs."""
    clusters = [np.flatnonzero(place == number) for number in np.unique(place)]
    sums = [weights[members] @ vectors[members] for members in clusters]
    while len(clusters) > k:
        centres = l2_rows(np.array(sums))
        likeness = centres @ centres.T
        np.fill_diagonal(likeness, -np.inf)
        sizes = np.array([len(members) for members in clusters])
        if sizes.min() < 0.04 * len(vectors):
            one = int(sizes.argmin())
            other = int(likeness[one].argmax())
        else:
            one, other = (int(k) for k in np.unravel_index(likeness.argmax(), likeness.shape))
        keep, gone = sorted((one, other))
        clusters[keep] = np.sort(np.r_[clusters[keep], clusters.pop(gone)])
        sums[keep] = sums[keep] + sums.pop(gone)
    return clusters


def describe(
    graph: Graph,
    space: Space,
    groups: list[Ints],
    p: Floats,
    means: Singles,
    classes: tuple[str, ...],
    names: npt.NDArray[np.object_],
    fdr: float | None,
) -> tuple[FoundClass, ...]:
    """Return the found classes with size, caption, typical members and nearest labelled class.

    Parameters
    ----------
    groups : list of ndarray
        The rows of each.
    p : ndarray, shape (n,)
        Probabilities of belonging to a missing class.
    means, classes
        Unit means and names of the labelled classes.
    names : ndarray, shape (n,)
        The class known by name that each node is of, or None; a group has the name of most of its nodes.
    fdr : float or None
        False discovery rate of the nodes of the groups.
    """
    new_classes = []
    for number, rows in enumerate(groups, start=1):
        mean = l2_rows((p[rows] @ space.centred[rows])[None, :])[0]
        typical = rows[np.argsort(-(l2_rows(space.centred[rows]) @ mean) * p[rows], kind="stable")]
        near = means @ mean
        words, kind = caption(graph, rows)
        edges = graph.adjacency[rows]
        total = float(edges.sum())
        counts = Counter(name for name in names[rows] if name is not None)
        name, count = counts.most_common(1)[0] if counts else ("", 0)
        is_named = count / len(rows) > 0.5
        new_classes.append(
            FoundClass(
                name=name if is_named else f"new-{number}",
                size=len(rows),
                caption=words,
                caption_kind=kind,
                members=tuple(graph.node_ids[typical].tolist()),
                nearest_seen=classes[int(near.argmax())] if len(near) else None,
                nearest_similarity=float(near.max()) if len(near) else None,
                edge_ratio=float(edges[:, rows].sum()) / total if total else None,
                probability=float(p[rows].mean()),
                group=f"new-{number}",
                name_confidence=count / len(rows) if is_named else None,
                fdr=fdr,
            )
        )
    return tuple(new_classes)
