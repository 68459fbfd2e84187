"""The found classes: how many there are, which of the new nodes are in each, and what each is about.

Nobody knows what makes a class but those who made the labels, so the labelled classes are the yardstick of their
number. Unions of them are described as the new nodes are: by how widely they are spread, once by the vectors'
directions in the metric of the classes and once by the vectors themselves. The mean spread of unions of k classes,
drawn towards a line over log k (which also reaches beyond the numbers there are), and what lies around it give a
likelihood for every k (Student's t, because new nodes are no pure union); with a prior for few, 1 / k, that is the
posterior: the curve. One spread alone is wrong by 1.4 and 1.7 classes on debian and wiki, the two by .9 and .7 (16
draws each).

A class with fewer than five labels, all of them answers (`Labels.answers`), is set aside until it has five: its nodes
stay new, and the answers say how many new classes there are at least, and how likely there are more.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import gammaln
from scipy.stats import norm

from unseen.discovery.coverage import FEW_LABELS
from unseen.discovery.result import ClassCount, FoundClass
from unseen.discovery.vectors import Space, blocks, k_means
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Mask, Singles, as_ids, match_ids
from unseen.labels import Labels
from unseen.linalg.normalize import are_measured, l2_rows

MAX_CLASSES = 12
"""Largest number of new classes considered."""
MIN_NODES = 5
"""Fewer nodes are no class."""
NO_NAME = re.compile(r"(encoder|feature) \d+")
"""Names that were made for columns without one."""


def begun_classes(labels: Labels) -> list[str]:
    """Return the classes with fewer than five labels, all of them answers, where there are others to learn from."""
    if not (labels.counts >= FEW_LABELS).any():
        return []
    answered = match_ids(as_ids(list(labels.answers)), labels.node_ids)
    is_given = np.ones(labels.n_nodes, dtype=bool)
    is_given[answered[answered >= 0]] = False
    n_given = labels.indicator[is_given].sum(axis=0)
    few = (labels.counts > 0) & (labels.counts < FEW_LABELS) & (n_given == 0)
    return [name for name, is_few in zip(labels.classes, few, strict=True) if is_few]


def class_metric(space: Space, likely: Ints) -> Singles:
    """Return directions in which labelled classes are round: what varies inside them should not make new groups.

    The fifty strongest axes are scaled by the covariance inside the labelled classes, mixed half and half with its mean
    eigenvalue. `likely` is the column of each node's most likely labelled class, -1 for new nodes.
    """
    vectors = space.centred[:, :50]
    rows = np.flatnonzero(likely >= 0)
    directions = np.eye(vectors.shape[1])
    if len(rows):
        parts = [rows[part] for part in blocks(len(rows))]
        sizes = np.maximum(np.bincount(likely[rows]), 1)
        means, products = np.zeros((len(sizes), vectors.shape[1])), np.zeros((vectors.shape[1],) * 2)
        for part in parts:
            places = (likely[part], np.arange(len(part)))
            belongs = sp.csr_array((np.ones(len(part)), places), shape=(len(sizes), len(part)))
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


def count_classes(
    space: Space, metric: Singles, new: Ints, likely: Ints, rng: np.random.Generator
) -> ClassCount:
    """Return how many classes the nodes `new` are, by the measure of unions of the labelled classes.

    `metric` and `likely` are those of :func:`class_metric`.
    """
    if len(new) < MIN_NODES:  # nothing can be told; a class may be missing all the same
        return ClassCount(0, 0, MAX_CLASSES)
    width = metric.shape[1]

    def add_up(rows: Ints) -> Any:  # number of nodes, squared lengths and sums of vectors: unions add up
        parts = [view[rows].astype(np.float64) for view in (metric, space.centred[:, :width])]
        squares = [np.square(part).sum() for part in parts]
        return np.concatenate([[len(rows)], squares, *(part.sum(axis=0) for part in parts)])

    def spread_of(sums: Any) -> Floats:  # the log of the mean squared distance to the mean
        n, squares, totals = sums[0], sums[1:3], np.square(sums[3:])
        spread = squares / n - np.array([totals[:width].sum(), totals[width:].sum()]) / n**2
        return np.asarray(np.log(np.maximum(spread, 1e-9)))

    members = [np.flatnonzero(likely == k) for k in range(int(likely.max(initial=-1)) + 1)]
    classes = [add_up(rows) for rows in members if len(rows) >= MIN_NODES]
    if not classes:
        return ClassCount(1, 1, MAX_CLASSES)
    n, unions = len(classes), list[tuple[int, ...]]()
    for number in range(1, min(n, 6) + 1):  # all unions of so many classes, or fifty of them
        if math.comb(n, number) <= 50:
            unions += itertools.combinations(range(n), number)
        else:
            unions += [tuple(rng.choice(n, number, replace=False).tolist()) for _ in range(50)]
    spreads = np.array([spread_of(sum(classes[k] for k in union)) for union in unions])
    numbers = np.array([len(union) for union in unions])
    return ClassCount.of_posterior(_compare_spreads(numbers, spreads, spread_of(add_up(new))))


def _compare_spreads(numbers: Ints, spreads: Floats, new: Floats) -> Floats:
    """Return how likely the new nodes are one, two, ... classes; `spreads` are those of unions of `numbers` classes."""
    k = np.arange(1, MAX_CLASSES + 1)
    offset, slopes = spreads.mean(axis=0), np.float64(0.25)  # about what graphs with more classes show
    if len(np.unique(numbers)) > 1:
        line = np.column_stack([np.ones(len(numbers)), np.log(numbers)])
        offset, slopes = np.linalg.lstsq(line, spreads, rcond=None)[0]
    means = offset + np.log(k)[:, None] * slopes
    for number in np.unique(numbers):
        own = spreads[numbers == number]
        means[number - 1] += len(own) / (len(own) + 3) * (own.mean(axis=0) - means[number - 1])
    around = spreads - means[numbers - 1]
    covariance = around.T @ around / max(len(around) - 2, 1)
    covariance = 0.7 * covariance + 0.3 * np.diag(np.diag(covariance))  # against accidents with few unions
    covariance += (0.05 if len(around) > 1 else 0.15) ** 2 * np.eye(2)
    miss = new - means
    distance = np.einsum("ij,jk,ik->i", miss, np.linalg.inv(covariance), miss)
    log_posterior = -3.0 * np.log1p(distance / 4) - np.log(k)  # Student's t with four degrees of freedom
    posterior = np.exp(log_posterior - log_posterior.max())
    return np.asarray(posterior / posterior.sum())


def with_answers(count: ClassCount, n_classes: int, n_answers: int) -> ClassCount:
    """Return the number of new classes given that `n_answers` answers named `n_classes` of them.

    Each number k is as likely as before, times the probability that so many answers out of k equally large classes
    name just `n_classes` of them. An answer counts twice, because it comes from a fine group of its own.
    """
    if not n_classes:
        return count
    before = np.array([value for _, value in count.curve] or 1 / np.arange(1.0, MAX_CLASSES + 1))
    k = np.arange(1.0, len(before) + 1)
    missed = np.where(k > n_classes, 2 * n_answers * np.log(np.minimum(n_classes / k, 1.0)), 0.0)
    ways = gammaln(k + 1) - gammaln(n_classes + 1) - gammaln(np.maximum(k - n_classes, 0) + 1)
    posterior = np.where(k < n_classes, 0.0, before * np.exp(missed + ways))
    if not posterior.sum():
        return ClassCount(n_classes, n_classes, n_classes, proven=n_classes)
    return ClassCount.of_posterior(posterior / posterior.sum(), proven=n_classes)


def sort_into_groups(
    vectors: Singles, rows: Ints, weights: Floats, k: int, seed: int, *, over: int = 3
) -> list[Ints]:
    """Return `k` groups of the given nodes, or as many as differ, the largest first.

    k-means, in which likely members count more, makes `over` times as many clusters. Those below 4 % of the nodes go
    into the most similar one; then the two most similar are merged, by the cosine of their centres, until `k` are left:
    classes are of any shape, k-means' clusters are round and of one size.
    """
    if not len(rows) or k < 1:
        return []
    vectors, number = vectors[rows], min(over * k if k > 1 else 1, len(rows))
    place = k_means(vectors, number, seed, weights, n_init=10).labels_
    clusters = [np.flatnonzero(place == number) for number in np.unique(place)]
    sums = [weights[members] @ vectors[members] for members in clusters]
    while len(clusters) > k:
        centres = l2_rows(np.array(sums))
        similarity = centres @ centres.T
        np.fill_diagonal(similarity, -np.inf)
        sizes = np.array([len(members) for members in clusters])
        one, other = map(int, np.unravel_index(similarity.argmax(), similarity.shape))
        if sizes.min() < 0.04 * len(vectors):
            one = int(sizes.argmin())
            other = int(similarity[one].argmax())
        keep, gone = sorted((one, other))
        clusters[keep] = np.sort(np.r_[clusters[keep], clusters.pop(gone)])
        sums[keep] = sums[keep] + sums.pop(gone)
    return sorted((rows[members] for members in clusters), key=lambda g: (-len(g), int(g[0])))


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


def caption(graph: Graph, rows: Ints) -> tuple[tuple[str, ...], str]:
    """Return what sets the nodes of `rows` apart from all others, and whether that are words, features or nodes.

    Words, categories and numbers are compared in the same way: by the difference of the means inside and outside of the
    group in standard deviations, if it is significant given the number of columns. A word or a category has to be more
    frequent in the group than elsewhere, a number higher or lower. Numbers come with the means inside and outside,
    categories with percentages. Words are ordered by their frequency in the group times the log ratio to that outside.
    Where no column differs, the ids of the nodes with most edges inside the group are given.

    Examples
    --------
    >>> import unseen
    >>> features = np.array([[0.4, 7.0], [0.5, 3.0], [0.6, 5.0], [0.1, 4.0], [0.1, 6.0], [0.2, 5.0]] * 4)
    >>> graph = unseen.Graph(sp.csr_array((24, 24)), features, feature_names=["night_share", "age"])
    >>> caption(graph, np.flatnonzero(features[:, 0] > 0.3))
    (('night_share 0.50 (others 0.13)',), 'features')
    """
    if not len(rows):
        return (), "words"
    entries: tuple[str, ...] = ()
    kind = "features"
    if graph.features is not None and len(rows) < graph.n_nodes:
        features: Any = graph.features
        values = features.data if sp.issparse(features) else features
        names = graph.feature_names or tuple(f"feature {k}" for k in range(features.shape[1]))
        stored = sp.coo_array(features)
        is_number = np.bincount(stored.col[(stored.data != 0) & (stored.data != 1)], minlength=len(names)) > 0
        is_category = ~is_number & np.array(["=" in name for name in names])
        # the columns of a dense matrix that is mostly not zero are numbers, not words
        is_word = ~are_measured(features) & ~is_category
        is_word &= sp.issparse(features) or (values == 0).mean() > 0.5
        largest = float(np.abs(values).max(initial=0))
        scale = 2.0 ** np.frexp(largest)[1] if largest > 1e100 else 1.0  # squares and sums would overflow
        features = features if scale == 1 else features / scale
        inside, outside, effect = _differences(features, rows, names, is_word | is_category)
        order = np.argsort(-np.abs(effect), kind="stable")
        order = order[np.abs(effect[order]) > 0]
        if words := [k for k in order if is_word[k]]:
            strength = _contrast(features, rows)
            best = sorted(words, key=lambda k: -strength[k])
            typical = iter([k for k in best if strength[k] > 0.01 * strength[best[0]]])
            order = np.array([k for k in (next(typical, -1) if is_word[k] else k for k in order) if k >= 0])
        first = order[:8].tolist()
        means = zip(first, (scale * inside[first]).tolist(), (scale * outside[first]).tolist(), strict=True)
        entries = tuple(
            names[k] if is_word[k] else f"{names[k]} {_compare(own, other, not is_number[k])}"
            for k, own, other in means
        )
        kind = "words" if graph.feature_names and is_word[first].all() else "features"
    if entries:
        return entries, kind
    degree = np.asarray(graph.adjacency[rows][:, rows].sum(axis=1)).ravel()
    return tuple(
        str(graph.node_ids[k]) for k in rows[np.argsort(-degree, kind="stable")[:8]]
    ), "central nodes"


def _differences(
    features: Any, rows: Ints, names: Sequence[str], counts_only: Mask
) -> tuple[Floats, Floats, Floats]:
    """Return each column's mean inside and outside, and their difference in standard deviations, 0 for noise.

    Of words and categories (`counts_only`) it is counted how many nodes have them. The test is that of a random sample
    of all nodes, at 1 % over all columns (Bonferroni). Differences below a fifth of a standard deviation are left out,
    significant or not: 38 % against 34 % describes nothing.
    """
    n, size = features.shape[0], len(rows)
    mean, inside = (
        np.where(counts_only, _mean(matrix != 0), _mean(matrix)) for matrix in (features, features[rows])
    )
    outside = (n * mean - size * inside) / (n - size)
    if sp.issparse(features):  # only entries that are stored are looked at
        stored = sp.coo_array(features)
        squares = np.bincount(stored.col, np.square(stored.data - mean[stored.col]), minlength=len(mean))
        variance = (squares + (n - np.bincount(stored.col, minlength=len(mean))) * mean**2) / n
    else:
        variance = np.square(features - mean).mean(axis=0)
    spread = np.sqrt(np.where(counts_only, np.maximum(mean * (1 - mean), 0), variance))
    difference = inside - outside
    effect = np.divide(difference, spread, out=np.zeros(len(mean)), where=spread > 1e-9 * np.abs(mean))
    chance = 2 * norm.sf(np.abs(effect) / np.sqrt(1 / size + 1 / (n - size))) * len(mean)
    carriers = np.where(counts_only, size * inside, size)
    noise = (chance > 0.01) | (np.abs(effect) < 0.2) | (carriers < 1.5) | (counts_only & (difference < 0))
    meaningless = np.array([NO_NAME.fullmatch(name) is not None for name in names])
    if not meaningless.all():
        noise |= meaningless
    return inside, outside, np.where(noise, 0.0, effect)


def _contrast(features: Any, rows: Ints) -> Floats:
    """Return the share of the group in each column's weight, times the log ratio to that outside."""
    n = features.shape[0]
    share = _mean(features[rows])
    elsewhere = np.maximum(_mean(features) * n - share * len(rows), 0) / (n - len(rows))
    floor = 0.5 / n * max(float(share.max()), 1e-12)
    return np.asarray(share * np.log((np.maximum(share, 0) + floor) / (elsewhere + floor)))


def _compare(inside: float, outside: float, is_binary: bool) -> str:
    """Return the means inside and outside, in percent for a column of zeros and ones.

    The means have as many decimals as two digits of their difference need; very large ones have an exponent.
    """
    if is_binary:
        return f"{100 * inside:.0f} % (others {100 * outside:.0f} %)"
    if max(abs(inside), abs(outside)) > 1e9:
        return f"{inside:.3g} (others {outside:.3g})"
    decimals = int(np.clip(1 - np.floor(np.log10(abs(inside - outside))), 0, 9))
    return f"{inside:.{decimals}f} (others {outside:.{decimals}f})"


def _mean(features: Any) -> Floats:
    return np.asarray(features.mean(axis=0, dtype=np.float64)).ravel()
