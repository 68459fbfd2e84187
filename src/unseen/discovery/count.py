"""How many classes are among the new nodes: compared with the labelled classes, one, two, three, ... taken together.

Nobody knows what makes a class but those who made the labels, so the labelled classes are the yardstick. Unions of
them are described as the new nodes are: by their size (in mean class sizes), by how far apart the centres of a few
clusters in them are, and by how clear-cut those clusters are. How these change with the number of classes in a union is
a line over its logarithm, by least squares; what lies around the line gives a likelihood for every number of classes
(Student's t, because the new nodes are no pure union), and, with a prior for few (1 / k), the posterior: the curve.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

from unseen.discovery.groups import Rows
from unseen.discovery.result import ClassCount
from unseen.discovery.space import Floats, Space
from unseen.linalg.normalize import l2_rows
from unseen.randomness import child_seed

MAX_CLASSES = 12
"""Largest number of new classes considered."""
MAX_UNION = 6
"""Unions of at most so many labelled classes are looked at."""
PER_SIZE = 12
"""Unions of each number of classes."""
MIN_NODES = 5
"""Fewer new nodes are no class."""
CLUSTERS = 5
AXES = 50
SAMPLE = 1000
"""Clusters are sought along the strongest axes and among so many nodes at most, which is enough for a mean."""
FLOOR = np.array([0.1, 0.05, 0.05])
"""Standard deviations below which the descriptions are not trusted, however well the line fits."""
FREEDOM = 4.0
"""Degrees of freedom of the likelihood."""
INSIDE = 0.8
"""Posterior probability of the interval."""


def count_classes(
    space: Space, new: Rows, likely: npt.NDArray[np.int64], rng: np.random.Generator
) -> ClassCount:
    """Return how many classes the nodes `new` are, by the measure of the labelled classes.

    Parameters
    ----------
    space : Space
        The vectors.
    new : ndarray of int64
        Rows of the nodes that belong to no labelled class.
    likely : ndarray, shape (n,)
        Column of the most likely labelled class of every node, -1 for the new ones.
    rng : Generator
        Draws unions and starts of k-means.

    Examples
    --------
    >>> import unseen
    >>> from unseen.discovery.space import make_space
    >>> vectors = np.repeat(np.eye(6), 30, axis=0) + np.random.default_rng(0).normal(0, 0.1, (180, 6))
    >>> space = make_space(unseen.Embedding(vectors), np.random.default_rng(0))
    >>> likely = np.repeat([0, 1, 2, 3, -1, -1], 30)
    >>> count_classes(space, np.arange(120, 180), likely, np.random.default_rng(0)).best
    2
    """
    if len(new) < MIN_NODES:
        return ClassCount(0, 0, 1 if len(new) else 0)
    classes = [np.flatnonzero(likely == k) for k in range(int(likely.max(initial=-1)) + 1)]
    classes = [rows for rows in classes if len(rows) >= MIN_NODES]
    if not classes:
        return ClassCount(1, 1, MAX_CLASSES)
    unit = float(np.mean([len(rows) for rows in classes]))
    numbers, described = [], []
    for number in range(1, min(len(classes), MAX_UNION) + 1):
        for chosen in _unions(len(classes), number, rng):
            rows = np.concatenate([classes[k] for k in chosen])
            numbers.append(number)
            described.append(_described(space, rows, unit, rng))
    posterior = _posterior(np.array(numbers), np.array(described), _described(space, new, unit, rng))
    below = np.cumsum(posterior)
    outside = (1 - INSIDE) / 2
    best = int(posterior.argmax()) + 1
    low, high = int((below <= outside).sum()) + 1, int((below < 1 - outside).sum()) + 1
    curve = tuple((k + 1, float(value)) for k, value in enumerate(posterior))
    return ClassCount(best, min(low, best), max(high, best), curve)


def _unions(n: int, number: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    if math.comb(n, number) <= PER_SIZE:
        return list(itertools.combinations(range(n), number))
    return [tuple(rng.choice(n, number, replace=False).tolist()) for _ in range(PER_SIZE)]


def _described(space: Space, rows: Rows, unit: float, rng: np.random.Generator) -> Floats:
    """Return the log size, the mean cosine of cluster centres, and how much nearer nodes are to their own centre."""
    from sklearn.cluster import KMeans

    some = rng.choice(rows, SAMPLE, replace=False) if len(rows) > SAMPLE else rows
    vectors = space.centred[some, :AXES]
    k = min(CLUSTERS, len(np.unique(vectors, axis=0)))
    alike, clear = 1.0, 0.0
    if k > 1:
        machine = KMeans(k, n_init=1, max_iter=30, random_state=child_seed(rng)).fit(vectors)
        centres = l2_rows(machine.cluster_centers_)
        alike = float((centres @ centres.T)[np.triu_indices(k, 1)].mean())
        distance = np.sort(machine.transform(vectors), axis=1)
        clear = float(np.mean(1 - distance[:, 0] / np.maximum(distance[:, 1], 1e-9)))
    return np.array([np.log(len(rows) / unit), alike, clear])


def _posterior(numbers: npt.NDArray[np.int64], described: Floats, new: Floats) -> Floats:
    line = np.column_stack([np.ones(len(numbers)), np.log(numbers)])
    if len(np.unique(numbers)) > 1:
        weights = np.linalg.lstsq(line, described, rcond=None)[0]
    else:  # one labelled class: k classes are k times as large, and nothing is known about their clusters
        weights = np.array([described.mean(axis=0), [1.0, 0.0, 0.0]])
    around = described - line @ weights
    covariance = around.T @ around / max(len(around) - 2, 1) + np.diag(FLOOR**2)
    k = np.arange(1, MAX_CLASSES + 1)
    miss = new - np.column_stack([np.ones(len(k)), np.log(k)]) @ weights
    distance = np.einsum("ij,jk,ik->i", miss, np.linalg.inv(covariance), miss)
    log_posterior = -0.5 * (FREEDOM + miss.shape[1]) * np.log1p(distance / FREEDOM) - np.log(k)
    posterior = np.exp(log_posterior - log_posterior.max())
    return np.asarray(posterior / posterior.sum())
