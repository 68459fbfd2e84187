"""What speaks for a node being of a missing class: five signals that know no hidden class, and one score of them.

With labels drawn at random from the seen classes, P(labelled | node) = rate * P(seen class | node): where labels are
rare, classes are missing. Three signals estimate that. `label_propensity` is the leave-one-out prediction of a ridge
regression of "has a label" on the vectors, `label_density` the density of labels in the node's cluster over several
clusterings, and `neighbour_propensity` the same regression on the features of the node, its neighbours and their
neighbours. Two more ask how well the labelled classes fit: `classifier_margin`, the best class score of a ridge
classifier, and `centroid_distance`, the cosine to the nearest class mean. These two hold in whatever way the labels
were drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import softmax
from scipy.stats import poisson

from unseen.discovery.space import Axes, Floats, Space
from unseen.linalg.normalize import l1_rows, l2_rows

Mask = npt.NDArray[np.bool_]

SIGNALS = (
    "label_propensity",
    "label_density",
    "classifier_margin",
    "centroid_distance",
    "neighbour_propensity",
)
"""The columns of `Evidence.views`."""

LABEL_RIDGE = 8.0
"""Ridge of the labelled-or-not regression, times (1 - rate) / rate: noise over signal of a label."""
CLASS_RIDGE = 1.0
"""Ridge of the class scores, for vectors of length 1."""
SHARPNESS = 8.0
"""How much more likely a class is where its score is 1 higher, as a logarithm."""
SCARCE, SELDOM = {0.5: 2.0, 0.75: 3.0}, 1e-3
"""Labels of a class are scarce if one expects more times as many by its size, as this share of them shows it, and if so
few are no accident of the draw (their probability is lower than this)."""
PLENTY, MAX_WEIGHT = 1.5, 20.0
"""They count for as many as are expected, less this factor to be on the safe side; and the most that one counts for."""
PSEUDO = 2.0
"""Nodes of average label rate added to each cluster, against accidents in small ones."""

RANDOM_WEIGHTS = np.array([1.0, 0.5, 0.5, 0.25, 0.0])
"""Weights of the views where labels are spread over their classes."""
BIASED_WEIGHTS = np.array([0.0, 0.5, 1.0, 1.0, 0.0])
"""Weights where labels are concentrated in one region: that a node is unlike the labelled ones then says little."""
NEIGHBOUR_WEIGHTS = (0.0, 0.5, 1.0)
"""Weights of `neighbour_propensity` among which the test chooses, on a homophilous graph."""
HETEROPHILOUS_WEIGHTS = np.array([0.25, 0.125, 0.125, 0.0625, 1.0])
"""Weights where linked nodes do not share classes, and with one labelled class, where nobody knows whether they do: it
costs .005 AUROC if they do, and gains .1 if they do not."""
NEIGHBOUR_SHARE = 0.3
"""Share of the neighbours' mean score in a node's own, on a homophilous graph."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The views of every node, larger where a new class is more likely, and the class scores.

    Parameters
    ----------
    views : ndarray, shape (n, 5)
        The signals `SIGNALS`, see the module; in units that do not depend on which labels
        are hidden.
    scores : ndarray, shape (n, c)
        How well each labelled class fits, about 1 for a member; labelled nodes judged by the others.
    """

    views: Floats
    scores: Floats

    @property
    def doubt(self) -> Floats:
        """Probability of each node that it is of another labelled class than the one that fits best."""
        return np.asarray(1 - softmax(SHARPNESS * self.scores, axis=1).max(axis=1))


def gather(
    space: Space, indicator: Mask, surroundings: Axes | None = None, weights: Floats | None = None
) -> Evidence:
    """Return the evidence that a set of labels gives about every node.

    Parameters
    ----------
    space : Space
        The vectors.
    indicator : boolean ndarray, shape (n, c)
        The labels; every column has at least one node, and some node has none.
    surroundings : Axes, optional
        What is linked to what; without it that view is 0.
    weights : ndarray, shape (n,), optional
        What the label of each node counts for: see :func:`label_weights`; 1 when not given.
    """
    labelled: Floats = np.asarray(indicator.any(axis=1), dtype=np.float64)
    if weights is not None:
        labelled = labelled * weights
    label_propensity = _propensity(space, labelled)
    neighbour_propensity = (
        np.zeros(len(labelled)) if surroundings is None else _propensity(surroundings, labelled)
    )
    density = _label_density(space, labelled)
    scores = class_scores(space, indicator, weights)
    # cosine to the nearest class mean, both seen from the mean of all nodes
    means = l2_rows(indicator.T.astype(np.float32) @ space.centred)
    nearest = (l2_rows(space.centred) @ means.T).max(axis=1)
    label_density = _mean_labelled(density, labelled) - density
    return Evidence(
        np.column_stack(
            [label_propensity, label_density, 1.0 - scores.max(axis=1), 1.0 - nearest, neighbour_propensity]
        ),
        scores,
    )


def label_weights(space: Space, indicator: Mask) -> Floats | None:
    """Return what the label of each node counts for: more in a class that has far fewer labels than its size allows.

    Labels of a class that answers began are rarer than others, and would make it look like a missing one for long.
    Among the nodes nearer to its mean than to any other, and as near as half of its labelled nodes are, as many should
    have labels as in most classes. Where they have not, its size is estimated by the mean without the node itself:
    few labels lie closer to their own mean than their class does. Where they have, half of its labels may lie in one
    place, since typical nodes are asked about first: three quarters of them are looked at, with a stricter limit. None
    where no class has fewer, beyond what may be accident.
    """
    counts = indicator.sum(axis=0)
    vectors = l2_rows(space.centred)
    sums = indicator.T.astype(np.float32) @ space.centred
    likeness = vectors @ l2_rows(sums).T
    nearest = likeness.argmax(axis=1)
    rates, (sizes, inside) = np.zeros(len(counts)), np.zeros((2, len(SCARCE), len(counts)))
    for k, members in enumerate(indicator.T):
        rows, own = np.flatnonzero(members), nearest == k
        without = np.einsum("ij,ij->i", vectors[rows], l2_rows(sums[k] - space.centred[rows]))
        core = own & (likeness[:, k] >= np.median(likeness[rows, k]))
        rates[k] = (core & members).sum() / max(core.sum(), 1)
        for place, share in enumerate(SCARCE):
            limits = (np.quantile(values, 1 - share) for values in (likeness[rows, k], without))
            both = [(own & (likeness[:, k] >= limit)).sum() / share for limit in limits]
            sizes[place, k], inside[place, k] = both
    order = np.argsort(rates)
    middle = np.searchsorted(np.cumsum(counts[order]), counts.sum() / 2)
    rate = rates[order[middle]]
    weight = np.ones(len(counts))
    for times, size, inner in zip(SCARCE.values(), sizes, inside, strict=True):
        few = (rate * size > times * counts) & (poisson.cdf(counts, rate * size) < SELDOM) & (weight == 1)
        weight[few] = np.clip(rate * inner / (PLENTY * counts), 1.0, MAX_WEIGHT)[few]
    if (weight == 1).all():
        return None
    return np.asarray(np.where(indicator, weight, 1.0).max(axis=1))


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
    leverage = 1 / len(y) + np.square(centred) @ inverse.astype(np.float32)
    return np.asarray((fitted - leverage * y) / (1 - np.minimum(leverage, 0.99)), dtype=np.float64)


def _label_density(space: Space, y: Floats) -> Floats:
    """Return the mean log share of labelled nodes among the others of a node's cluster."""
    total = np.zeros(len(y))
    for cluster in space.clusters:
        labels = np.bincount(cluster, y)[cluster] - y
        nodes = np.bincount(cluster)[cluster] - 1
        total += np.log((labels + PSEUDO * y.mean()) / (nodes + PSEUDO))
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


@dataclass(frozen=True, eq=False)
class Scoring:
    """How views become one score: learned on the available labels, then used unchanged whatever is hidden of them.

    Parameters
    ----------
    middle, spread : ndarray, shape (5,)
        Mean and standard deviation of each view over the unlabelled nodes.
    weights : ndarray, shape (5,)
        Weight of each view.
    neighbours : scipy CSR array or None
        Row-normalised adjacency; None where neighbours tell nothing about a node's class.
    """

    middle: Floats
    spread: Floats
    weights: Floats
    neighbours: sp.csr_array | None

    def average_neighbours(self, views: Floats) -> Floats:
        """Return the mean of each node's neighbours, its own where it has none."""
        if self.neighbours is None:
            return views
        alone = np.diff(self.neighbours.indptr) == 0
        return np.where(alone[:, None], views, self.neighbours @ views)

    def mixed(self, views: Floats) -> Floats:
        """Return views of which the neighbours have their share."""
        if self.neighbours is None:
            return views
        return (1 - NEIGHBOUR_SHARE) * views + NEIGHBOUR_SHARE * self.average_neighbours(views)

    def score(self, mixed: Floats) -> Floats:
        """Return the score of rows of mixed views; larger means that a new class is more likely."""
        return np.asarray(((mixed - self.middle) / self.spread) @ self.weights)


def make_scorings(
    evidence: Evidence, labelled: Mask, adjacency: sp.csr_array, bias: float, *, homophilous: bool
) -> list[Scoring]:
    """Return ways to score these nodes, which differ in weights; `bias`: how likely labels are concentrated, 0 to 1."""
    views = evidence.views[~labelled]
    spread = views.std(axis=0)
    neighbours = l1_rows(adjacency) if homophilous else None
    neighbours_only = np.array([0, 0, 0, 0, 1.0])
    knows_homophily = homophilous and evidence.scores.shape[1] > 1
    spread_out = (
        [RANDOM_WEIGHTS + w * neighbours_only for w in NEIGHBOUR_WEIGHTS]
        if knows_homophily
        else [HETEROPHILOUS_WEIGHTS]
    )
    return [
        Scoring(
            views.mean(axis=0),
            np.where(spread > 1e-9, spread, 1.0),
            np.where(spread > 1e-9, (1 - bias) * weights + bias * BIASED_WEIGHTS, 0.0),
            neighbours,
        )
        for weights in spread_out
    ]
