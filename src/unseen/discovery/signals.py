"""Five signals that a node belongs to a missing class, none of which knows a hidden class, and the score they give.

With labels drawn at random from the seen classes, P(labelled | node) = rate * P(seen class | node): where labels are
rare, classes are missing. Three signals estimate that. `label_propensity` is the leave-one-out prediction of a ridge
regression of "has a label" on the vectors, `label_density` the density of labels in the node's cluster over several
clusterings, and `neighbour_propensity` the same regression on the features of the node, its neighbours and their
neighbours. Two more ask how well the labelled classes fit: `classifier_margin`, the best class score of a ridge
classifier, and `centroid_distance`, the cosine to the nearest class mean. These two hold in whatever way the labels
were drawn.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from scipy.stats import poisson

from unseen.discovery.space import Axes, Space, blocks
from unseen.ids import Floats, Mask, Singles
from unseen.linalg.normalize import l1_rows, l2_rows

SIGNALS = {
    "label_propensity": 1.0,
    "label_density": 0.5,
    "classifier_margin": 0.5,
    "centroid_distance": 0.25,
    "neighbour_propensity": 0.25,
}
"""The columns of `Evidence.views`, and their weights in the score. With equal weights facebook lost .011 AUROC."""

LABEL_RIDGE = 8.0
"""Ridge of the labelled-or-not regression, times (1 - rate) / rate: noise over signal of a label."""
CLASS_RIDGE = 1.0
"""Ridge of the class scores, for vectors of length 1."""
SHARPNESS = 8.0
"""How much more likely a class is where its score is 1 higher, as a logarithm."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The signals of every node, larger where a missing class is more likely, and the class scores.

    Parameters
    ----------
    views : ndarray, shape (n, 5)
        The signals `SIGNALS`, in units that do not depend on which labels are hidden.
    scores : ndarray, shape (n, c)
        How well each labelled class fits, about 1 for a member; labelled nodes judged by the others.
    """

    views: Floats
    scores: Floats

    @property
    def doubt(self) -> Floats:
        """Probability of each node that it is of another labelled class than the one that fits best."""
        return np.asarray(1 - softmax(SHARPNESS * self.scores, axis=1).max(axis=1))


def gather(space: Space, indicator: Mask, surroundings: Axes, weights: Floats | None = None) -> Evidence:
    """Return the evidence that a set of labels gives about every node.

    Parameters
    ----------
    space : Space
        The vectors.
    indicator : boolean ndarray, shape (n, c)
        The labels; every column has at least one node, and some node has none.
    surroundings : Axes
        What is linked to what.
    weights : ndarray, shape (n,), optional
        What the label of each node counts for: see :func:`label_weights`; 1 when not given.
    """
    labelled: Floats = np.asarray(indicator.any(axis=1), dtype=np.float64)
    if weights is not None:
        labelled = labelled * weights
    density = _label_density(space, labelled)
    scores = class_scores(space, indicator, weights)
    cosine = space.cosines(class_means(space, indicator))
    signals = [
        _propensity(space, labelled),
        _mean_labelled(density, labelled) - density,
        1.0 - scores.max(axis=1),
        1.0 - cosine.max(axis=1),
        _propensity(surroundings, labelled),
    ]
    return Evidence(np.column_stack(signals), scores)


def class_means(space: Axes, indicator: Mask) -> Singles:
    """Return the unit mean of each class, seen from the mean of all nodes."""
    return l2_rows(indicator.T.astype(np.float32) @ space.centred)


def label_weights(space: Space, indicator: Mask) -> Floats | None:
    """Return what the label of each node counts for: more in a class that has far fewer labels than its size allows.

    Labels of a class that answers began are rarer than others, and would make it look like a missing one for long.
    Among the nodes nearer to its mean than to any other, and as near as half of its labelled nodes are, as many should
    have labels as in most classes. Where they have less than half of that, beyond what may be accident, each label
    counts for as many as are expected, less a third to be on the safe side. Half of the labels may lie in one place,
    since typical nodes are asked about first: three quarters of them are looked at, too, with a stricter limit. None
    where no class has too few.
    """
    counts = indicator.sum(axis=0)
    sums = indicator.T.astype(np.float32) @ space.centred
    cosine = space.cosines(l2_rows(sums))
    nearest = cosine.argmax(axis=1)
    limits = {0.5: 2.0, 0.75: 3.0}
    rates, (sizes, inside) = np.zeros(len(counts)), np.zeros((2, len(limits), len(counts)))
    for k, members in enumerate(indicator.T):
        rows, own = np.flatnonzero(members), nearest == k
        # few labels lie closer to their own mean than their class does: each against the mean of the others
        without = np.einsum("ij,ij->i", l2_rows(space.centred[rows]), l2_rows(sums[k] - space.centred[rows]))
        core = own & (cosine[:, k] >= np.median(cosine[rows, k]))
        rates[k] = (core & members).sum() / max(core.sum(), 1)
        for place, share in enumerate(limits):
            sizes[place, k] = (own & (cosine[:, k] >= np.quantile(cosine[rows, k], 1 - share))).sum() / share
            inside[place, k] = (own & (cosine[:, k] >= np.quantile(without, 1 - share))).sum() / share
    order = np.argsort(rates)
    rate = rates[order[np.searchsorted(np.cumsum(counts[order]), counts.sum() / 2)]]  # the median label's
    weight = np.ones(len(counts))
    for times, size, inner in zip(limits.values(), sizes, inside, strict=True):
        few = (rate * size > times * counts) & (poisson.cdf(counts, rate * size) < 1e-3) & (weight == 1)
        weight[few] = np.clip(rate * inner / (1.5 * counts), 1.0, 20.0)[few]
    return None if (weight == 1).all() else np.asarray(np.where(indicator, weight, 1.0).max(axis=1))


def _mean_labelled(values: Floats, labelled: Floats) -> float:
    return float(values @ labelled / labelled.sum())


def _propensity(axes: Axes, labelled: Floats) -> Floats:
    """Return by how much fewer labels are predicted than for a labelled node: 0 for such a node, 1 for no labels."""
    rate = min(float(labelled.mean()), 0.99)
    predicted = _predicted_labels(axes, labelled, LABEL_RIDGE * (1 - rate) / rate)
    return np.asarray(1.0 - predicted / max(_mean_labelled(predicted, labelled), 0.5 * rate))


def _predicted_labels(space: Axes, y: Floats, ridge: float) -> Floats:
    """Return the leave-one-out ridge regression of "has a label": closed form, no refit."""
    inverse = 1.0 / (space.variances + ridge)
    centred = space.centred
    along = (y - y.mean()).astype(np.float32) @ centred
    fitted = y.mean() + centred @ (inverse * along).astype(np.float32)
    squares = [np.square(centred[rows]) @ inverse.astype(np.float32) for rows in blocks(len(y), 1 << 12)]
    leverage = 1 / len(y) + np.concatenate(squares)
    return np.asarray((fitted - leverage * y) / (1 - np.minimum(leverage, 0.99)), dtype=np.float64)


def _label_density(space: Space, y: Floats) -> Floats:
    """Return the mean log share of labelled nodes among the others of a node's cluster, and two of average rate."""
    total = np.zeros(len(y))
    for cluster in space.clusters:
        labels = np.bincount(cluster, y)[cluster] - y
        nodes = np.bincount(cluster)[cluster] - 1
        total += np.log((labels + 2 * y.mean()) / (nodes + 2))
    return total / len(space.clusters)


def class_scores(space: Axes, indicator: Mask, weights: Floats | None = None) -> Floats:
    """Return ridge scores of every class, learned from the labelled nodes; those are judged without themselves."""
    labelled = indicator.any(axis=1)
    vectors = space.centred[labelled].astype(np.float64)
    targets = indicator[labelled].astype(np.float64)
    count = np.ones(len(vectors)) if weights is None else weights[labelled]
    middle, share = np.average(vectors, 0, count), np.average(targets, 0, count)
    vectors -= middle
    weighted = vectors * count[:, None]
    inverse = np.linalg.inv(weighted.T @ vectors + CLASS_RIDGE * np.eye(vectors.shape[1]))
    slopes = inverse @ (weighted.T @ (targets - share))
    offset = share - middle @ slopes
    scores = np.asarray(space.centred @ slopes.astype(np.float32) + offset, dtype=np.float64)
    leverage = count / count.sum() + np.einsum("ij,ij->i", weighted @ inverse, vectors)
    leverage = np.minimum(leverage, 0.99)[:, None]
    scores[labelled] = (scores[labelled] - leverage * targets) / (1 - leverage)
    return scores


class Scoring(NamedTuple):
    """How signals become one score: learned on the available labels, then used unchanged whatever is hidden of them.

    Parameters
    ----------
    middle, spread : ndarray, shape (5,)
        Mean and standard deviation of each signal over the unlabelled nodes.
    weights : ndarray, shape (5,)
        Weight of each signal; they sum up to 1.
    walk : scipy CSR array or None
        Row-normalised adjacency; None where neighbours tell nothing about a node's class.
    """

    middle: Floats
    spread: Floats
    weights: Floats
    walk: sp.csr_array | None

    def weigh(self, views: Floats) -> Floats:
        """Return the parts of the score: signals in standard deviations, times their weights."""
        return np.asarray((views - self.middle) / self.spread * self.weights)

    def score(self, views: Floats) -> Floats:
        """Return the score of every node, with a share of .3 of its neighbours' mean, where it has neighbours."""
        own = self.weigh(views).sum(axis=1)
        if self.walk is None:
            return np.asarray(own)
        has_neighbours = np.diff(self.walk.indptr) > 0
        return np.asarray(np.where(has_neighbours, 0.7 * own + 0.3 * (self.walk @ own), own))


def make_scoring(views: Floats, adjacency: sp.csr_array | None, only: Collection[str] = SIGNALS) -> Scoring:
    """Return the weighted mean of the signals `only`, by these rows of unlabelled nodes."""
    spread = views.std(axis=0)
    weights = np.array([weight if name in only else 0.0 for name, weight in SIGNALS.items()]) * (
        spread > 1e-9
    )
    walk = None if adjacency is None else l1_rows(adjacency)
    return Scoring(
        views.mean(axis=0), np.where(spread > 1e-9, spread, 1.0), weights / max(weights.sum(), 1e-9), walk
    )
