"""How many classes are among the new nodes: compared with the labelled classes, one, two, three, ... taken together.

Nobody knows what makes a class but those who made the labels, so the labelled classes are the yardstick. Unions of
them are described as the new nodes are: by how widely they are spread, once by the vectors' directions in the metric of
the classes and once by the vectors themselves. The mean spread of unions of k classes, drawn towards a line over log k
(which also reaches beyond the numbers there are), and what lies around it give a likelihood for every k (Student's t,
because new nodes are no pure union); with a prior for few, 1 / k, that is the posterior: the curve. One spread alone is
wrong by 1.4 and 1.7 classes on debian and wiki, the two by .9 and .7 (16 draws each).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.discovery.groups import Rows
from unseen.discovery.result import ClassCount
from unseen.discovery.space import Floats, Matrix, Space

MAX_CLASSES = 12
"""Largest number of new classes considered."""
MIN_NODES = 5
"""Fewer nodes are no class."""


def count_classes(
    space: Space, metric: Matrix, new: Rows, likely: npt.NDArray[np.int64], rng: np.random.Generator
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
    sizes = range(1, min(len(classes), 6) + 1)
    unions = [union for number in sizes for union in _unions(len(classes), number, rng)]
    spreads = np.array([_spread(sum(classes[k] for k in union), metric.shape[1]) for union in unions])
    numbers = np.array([len(union) for union in unions])
    spread = _spread(_sums(views, new), metric.shape[1])
    return ClassCount.of_posterior(_posterior(numbers, spreads, spread))


def _sums(views: list[Matrix], rows: Rows) -> Any:
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


def _unions(n: int, number: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return all unions of so many classes, or fifty of them."""
    if math.comb(n, number) <= 50:
        return list(itertools.combinations(range(n), number))
    return [tuple(rng.choice(n, number, replace=False).tolist()) for _ in range(50)]


def _posterior(numbers: npt.NDArray[np.int64], spreads: Floats, new: Floats) -> Floats:
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


def _means(numbers: npt.NDArray[np.int64], spreads: Floats, k: npt.NDArray[np.int64]) -> Floats:
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
