"""How many classes are among the new nodes: compared with the labelled classes, one, two, three, ... taken together.

Nobody knows what makes a class but those who made the labels, so the labelled classes are the yardstick. Unions of
them are described as the new nodes are: by how widely they are spread, once by the vectors' directions in the metric of
the classes and once by the vectors themselves. The mean spread of unions of k classes, drawn towards a line over log k
(which also reaches beyond the numbers there are), and what lies around it give a likelihood for every k (Student's t,
because new nodes are no pure union); with a prior for few, 1 / k, that is the posterior: the curve. One spread alone is
wrong by 1.4 and 1.7 classes on debian and wiki, the two by .9 and .7 (16 draws each).

A class with fewer than five labels, all of them answers (`Labels.answers`), is set aside until it has five: its nodes
stay new, and the answers say how many new classes there are at least, and how likely there are more.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy.special import gammaln

from unseen.discovery.result import ClassCount
from unseen.discovery.sampling import FEW_LABELS
from unseen.discovery.space import Space
from unseen.ids import Floats, Ints, Singles, as_ids, match_ids
from unseen.labels import Labels

MAX_CLASSES = 12
"""Largest number of new classes considered."""
MIN_NODES = 5
"""Fewer nodes are no class."""


def begun_classes(labels: Labels) -> list[str]:
    """Return the classes with fewer than five labels, all of them answers, where there are others to learn from.

    Examples
    --------
    >>> from dataclasses import replace
    >>> labels = Labels.from_values(["red"] * 5 + ["blue", "green"])
    >>> begun_classes(replace(labels, answers={5: "confirmed"}))
    ['blue']
    """
    if not (labels.counts >= FEW_LABELS).any():
        return []
    answered = match_ids(as_ids(list(labels.answers)), labels.node_ids)
    is_given = np.ones(labels.n_nodes, dtype=bool)
    is_given[answered[answered >= 0]] = False
    n_given = labels.indicator[is_given].sum(axis=0)
    few = (labels.counts > 0) & (labels.counts < FEW_LABELS) & (n_given == 0)
    return [name for name, is_few in zip(labels.classes, few, strict=True) if is_few]


def count_classes(
    space: Space, metric: Singles, new: Ints, likely: Ints, rng: np.random.Generator
) -> ClassCount:
    """Return how many classes the nodes `new` are, by the measure of the labelled classes.

    Parameters
    ----------
    space : Space
        The vectors.
    metric : ndarray, shape (n, d)
        Their directions as `class_metric` gives them.
    new : ndarray of int64
        Rows of the nodes that belong to no labelled class.
    likely : ndarray, shape (n,)
        Column of the most likely labelled class of every node, -1 for the new ones.
    rng : Generator
        Draws unions.
    """
    if len(new) < MIN_NODES:  # nothing can be told; a class may be missing all the same
        return ClassCount(0, 0, MAX_CLASSES)
    views = [metric, space.centred[:, : metric.shape[1]]]
    rows = [np.flatnonzero(likely == k) for k in range(int(likely.max(initial=-1)) + 1)]
    classes = [_sums(views, members) for members in rows if len(members) >= MIN_NODES]
    if not classes:
        return ClassCount(1, 1, MAX_CLASSES)
    n, unions = len(classes), list[tuple[int, ...]]()
    for number in range(1, min(n, 6) + 1):  # all unions of so many classes, or fifty of them
        if math.comb(n, number) <= 50:
            unions += itertools.combinations(range(n), number)
        else:
            unions += [tuple(rng.choice(n, number, replace=False).tolist()) for _ in range(50)]
    spreads = np.array([_spread(sum(classes[k] for k in union), metric.shape[1]) for union in unions])
    numbers = np.array([len(union) for union in unions])
    spread = _spread(_sums(views, new), metric.shape[1])
    return ClassCount.of_posterior(_posterior(numbers, spreads, spread))


def _sums(views: list[Singles], rows: Ints) -> Any:
    """Return the number of nodes, their squared lengths and the sums of their vectors in both views: unions add up."""
    parts = [view[rows].astype(np.float64) for view in views]
    return np.concatenate(
        [[len(rows)], [np.square(part).sum() for part in parts], *(p.sum(axis=0) for p in parts)]
    )


def _spread(sums: Any, width: int) -> Floats:
    """Return the log of the mean squared distance to the mean, in both views."""
    n, squares, totals = sums[0], sums[1:3], np.square(sums[3:])
    spread = squares / n - np.array([totals[:width].sum(), totals[width:].sum()]) / n**2
    return np.asarray(np.log(np.maximum(spread, 1e-9)))


def _posterior(numbers: Ints, spreads: Floats, new: Floats) -> Floats:
    k = np.arange(1, MAX_CLASSES + 1)
    means = _means(numbers, spreads, k)
    around = spreads - means[numbers - 1]
    covariance = around.T @ around / max(len(around) - 2, 1)
    covariance = 0.7 * covariance + 0.3 * np.diag(np.diag(covariance))  # against accidents with few unions
    covariance += (0.05 if len(around) > 1 else 0.15) ** 2 * np.eye(2)
    miss = new - means
    distance = np.einsum("ij,jk,ik->i", miss, np.linalg.inv(covariance), miss)
    log_posterior = -3.0 * np.log1p(distance / 4) - np.log(k)  # Student's t with four degrees of freedom
    posterior = np.exp(log_posterior - log_posterior.max())
    return np.asarray(posterior / posterior.sum())


def _means(numbers: Ints, spreads: Floats, k: Ints) -> Floats:
    """Return the expected spreads of k classes: a line over log k, drawn towards the means of the unions there are."""
    if len(np.unique(numbers)) > 1:
        line = np.column_stack([np.ones(len(numbers)), np.log(numbers)])
        offset, slopes = np.linalg.lstsq(line, spreads, rcond=None)[0]
    else:
        offset, slopes = spreads.mean(axis=0), 0.25  # about what graphs with more classes show
    means = offset + np.log(k)[:, None] * slopes
    for number in np.unique(numbers):
        own = spreads[numbers == number]
        means[number - 1] += len(own) / (len(own) + 3) * (own.mean(axis=0) - means[number - 1])
    return np.asarray(means)


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
