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
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import gammaln

from unseen.discovery.vectors import Space, blocks, k_means
from unseen.discovery.words import caption
from unseen.errors import counted
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Singles, as_ids, match_ids
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows
from unseen.notebook import as_html

MAX_CLASSES = 12
"""Largest number of new classes considered."""
FEW_LABELS = 5
"""A class with fewer labelled nodes gets a warning."""
MIN_NODES = 5
"""Fewer nodes are no class."""


@dataclass(frozen=True)
class FoundClass:
    """One candidate for a missing class.

    Parameters
    ----------
    name : str
        The class known by name that most of its nodes are of; `group` where none was given or none fits.
    size : int
        Number of nodes.
    caption : tuple of str
        What it is about, strongest first: names of features, or ids of its most central nodes.
    caption_kind : str
        What the caption consists of: ``words``, ``features`` or ``central nodes``.
    members : tuple
        Ids of all its nodes, the most typical first.
    nearest_seen : str or None
        The labelled class that it resembles most.
    nearest_similarity : float or None
        Cosine of the mean vectors of the two.
    edge_ratio : float or None
        Share of its nodes' edges that stay inside; None where they have no edges.
    probability : float
        Mean of its nodes' probabilities of belonging to no labelled class.
    group : str
        ``new-1``, ``new-2``, ...: what `Discovery.nodes` calls it in the column ``group``.
    name_confidence : float or None
        Share of its nodes that the name fits; None where it has no name.
    fdr : float or None
        False discovery rate of the list that its nodes come from; None where they have no error rate.

    Examples
    --------
    >>> result = FoundClass("new-1", 2, ("mail", "smtp"), "words", ("exim", "mutt"), "net", 0.4, 0.75, 0.9, "new-1")
    >>> result.to_dict()["typical"]
    ['exim', 'mutt']
    """

    name: str
    size: int
    caption: tuple[str, ...]
    caption_kind: str
    members: tuple[str | int, ...]
    nearest_seen: str | None
    nearest_similarity: float | None
    edge_ratio: float | None
    probability: float
    group: str
    name_confidence: float | None = None
    fdr: float | None = None

    _repr_html_ = as_html

    def __repr__(self) -> str:
        return f"FoundClass({self.name}: {counted(self.size, 'node')}, {', '.join(self.caption[:5])})"

    def to_dict(self, *, every_member: bool = False) -> dict[str, Any]:
        """Return it for JSON; with the most typical members, or with `every_member`."""
        report = {k: v for k, v in asdict(self).items() if k != "members"}
        report["caption"] = list(self.caption)
        if every_member:
            return {**report, "members": list(self.members)}
        return {**report, "typical": list(self.members[:10])}


@dataclass(frozen=True)
class ClassCount:
    """How many classes are missing: the best guess, an interval, and the curve they come from.

    Parameters
    ----------
    best, low, high : int
        The guess, and the smallest and largest number that the data does not speak against.
    curve : tuple of (int, float)
        Numbers of new classes and their probabilities; the guess is the median.
    proven : int
        New classes that answers have named, of fewer than five labels each.

    Examples
    --------
    >>> ClassCount(2, 1, 3, ((1, 0.2), (2, 0.5), (3, 0.4))).to_dict()["best"]
    2
    """

    best: int
    low: int
    high: int
    curve: tuple[tuple[int, float], ...] = ()
    proven: int = 0

    @classmethod
    def of_posterior(cls, posterior: Any, *, proven: int = 0) -> ClassCount:
        """Return the count of which one, two, ... classes have these probabilities; its best guess is the median."""
        below, outside = (
            np.cumsum(posterior),
            0.05,
        )  # with 5 % on each side, the truth is inside in 80 % of draws
        best = int((below < 0.5).sum()) + 1
        low, high = int((below <= outside).sum()) + 1, int((below < 1 - outside).sum()) + 1
        curve = tuple((k, float(value)) for k, value in enumerate(posterior, start=1))
        return cls(best, min(low, best), min(max(high, best), len(curve)), curve, proven)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {**asdict(self), "curve": [list(point) for point in self.curve]}


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

    `means` and `classes` are the unit means and names of the labelled classes. A group has the name of most of its
    nodes: `names` has the class known by name that each node is of, or None.
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
