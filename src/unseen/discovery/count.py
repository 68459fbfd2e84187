"""How many classes are among the new nodes: compared with the labelled classes, one, two, three, ... taken together.

Nobody knows what makes a class but those who made the labels, so the labelled classes are the yardstick. Unions of
them are described as the new nodes are: by how widely their directions are spread in the metric of the classes. A line
of the log spread over log k, and what lies around it, give a likelihood for every k (Student's t, because new nodes are
no pure union); with a prior for few, 1 / k, that is the posterior: the curve.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

from unseen.discovery.groups import Rows
from unseen.discovery.result import ClassCount
from unseen.discovery.space import Floats, Matrix

MAX_CLASSES = 12
"""Largest number of new classes considered."""
MIN_NODES = 5
"""Fewer nodes are no class."""


def count_classes(
    metric: Matrix, new: Rows, likely: npt.NDArray[np.int64], rng: np.random.Generator
) -> ClassCount:
    """Return how many classes the nodes `new` are, by the measure of the labelled classes.

    Parameters
    ----------
    metric : ndarray, shape (n, d)
        Directions of all nodes as `class_metric` gives them.
    new : ndarray of int64
        Rows of the nodes that belong to no labelled class.
    likely : ndarray, shape (n,)
        Column of the most likely labelled class of every node, -1 for the new ones.
    rng : Generator
        Draws unions.
    """
    if len(new) < MIN_NODES:  # nothing can be told; a class may be missing all the same
        return ClassCount(0, 0, MAX_CLASSES)
    rows = [np.flatnonzero(likely == k) for k in range(int(likely.max(initial=-1)) + 1)]
    rows = [members for members in rows if len(members) >= MIN_NODES]
    if not rows:
        return ClassCount(1, 1, MAX_CLASSES)
    sums = np.array([metric[members].sum(axis=0, dtype=np.float64) for members in rows])
    sizes = np.array([len(members) for members in rows])
    unions = [
        list(union) for number in range(1, min(len(rows), 6) + 1) for union in _unions(len(rows), number, rng)
    ]
    spreads = np.array([_spread(sums[union].sum(axis=0), sizes[union].sum()) for union in unions])
    k = np.log([len(union) for union in unions])
    slope = (
        np.polyfit(k, spreads, 1)[0] if len(rows) > 1 else 0.25
    )  # about what graphs with more classes show
    around = spreads - slope * k
    variance = around.var() + (0.05 if len(rows) > 1 else 0.15) ** 2
    numbers = np.log(np.arange(1, MAX_CLASSES + 1))
    distance = (
        np.square(_spread(metric[new].sum(axis=0), len(new)) - around.mean() - slope * numbers) / variance
    )
    posterior = np.exp(-numbers) * (1 + distance / 4) ** -2.5
    return ClassCount.of_posterior(posterior / posterior.sum())


def _spread(total: Floats, n: int) -> float:
    """Return the log of the mean squared distance of unit vectors to their mean, by their sum and number."""
    return float(np.log(max(1 - np.square(total / n).sum(), 1e-9)))


def _unions(n: int, number: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return all unions of so many classes, or fifty of them."""
    if math.comb(n, number) <= 50:
        return list(itertools.combinations(range(n), number))
    return [tuple(rng.choice(n, number, replace=False).tolist()) for _ in range(50)]
