"""The ranking of the nodes: five signals of a missing class, none of which knows a hidden class, and their score.

With labels drawn at random from the seen classes, P(labelled | node) = rate * P(seen class | node): where labels are
rare, classes are missing. Three signals estimate that. `label_propensity` is the leave-one-out prediction of a ridge
regression of "has a label" on the vectors, `label_density` the density of labels in the node's cluster over several
clusterings, and `neighbour_propensity` the same regression on the features of the node, its neighbours and their
neighbours. Two more ask how well the labelled classes fit: `classifier_margin`, the best class score of a ridge
classifier, and `centroid_distance`, the cosine to the nearest class mean. These two hold in whatever way the labels
were drawn.

Labels lie all over their classes, as if drawn at random, or in one region where somebody looked (sampling bias). It
matters because an unlabelled region is a sign of a missing class in the first case only. Among the nodes that clearly
fit a class, whatever else is missing, labels drawn at random are as frequent around labelled nodes as around others,
and no node is linked to far more of the labelled ones. Labels from one region or around a hub are not like that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import poisson

from unseen.discovery.validation import leave_out_classes
from unseen.discovery.vectors import (
    Space,
    blocks,
    encode_few,
    make_space,
    make_surroundings,
    put_aside,
    source_of,
    uses_labels,
    vectors_of,
)
from unseen.embedding import Embedding
from unseen.engine.sparse import inverse
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Mask, Singles
from unseen.labels import Labels
from unseen.linalg.normalize import l1_rows, l2_rows
from unseen.methods.base import Method, copy_unfitted
from unseen.methods.homophily import Homophily, measure_homophily
from unseen.randomness import child_seed

OnStep = Callable[[int, int], None]

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
REACH = 0.65
"""Labels are concentrated if `LabelCoverage.reach` is at least this, three standard errors above one half."""


class Evidence(NamedTuple):
    """What a set of labels says about every node.

    Parameters
    ----------
    views : ndarray, shape (n, 5)
        The signals `SIGNALS`, larger where a missing class is more likely, in units that do not depend on which labels
        are hidden.
    scores : ndarray, shape (n, c)
        How well each labelled class fits, about 1 for a member; labelled nodes judged by the others.
    """

    views: Floats
    scores: Floats


def gather(space: Space, indicator: Mask, surroundings: Space, weights: Floats | None = None) -> Evidence:
    """Return the evidence that a set of labels gives about every node.

    Every class has at least one node, and some node has no label. `surroundings` are what is linked to what, and
    `weights` what the label of each node counts for: see :func:`label_weights`; 1 when not given.
    """
    labelled: Floats = np.asarray(indicator.any(axis=1), dtype=np.float64)
    if weights is not None:
        labelled = labelled * weights
    # the mean log share of labelled nodes among the others of a node's cluster, and two of average rate: the same for
    # all nodes of a cluster without a label
    density, (rows,) = np.zeros(len(labelled)), labelled.nonzero()
    of_labelled, twice = np.zeros(len(rows)), 2 * labelled.mean()
    for cluster in space.clusters:
        sizes, own = np.bincount(cluster), cluster[rows]
        labels = np.bincount(own, labelled[rows], minlength=len(sizes))
        density += np.log((labels + twice) / (sizes + 1))[cluster]
        of_labelled += np.log((labels[own] - labelled[rows] + twice) / (sizes[own] + 1))
    density[rows] = of_labelled
    density /= len(space.clusters)
    scores = class_scores(space, indicator, weights)
    cosine = space.cosines(class_means(space, indicator))
    signals = [
        _propensity(space, labelled),
        float(density @ labelled / labelled.sum()) - density,
        1.0 - scores.max(axis=1),
        1.0 - cosine.max(axis=1),
        _propensity(surroundings, labelled),
    ]
    return Evidence(np.column_stack(signals), scores)


def class_means(space: Space, indicator: Mask) -> Singles:
    """Return the unit mean of each class, seen from the mean of all nodes."""
    return l2_rows(indicator.T.astype(np.float32) @ space.centred)


def nearest_classes(space: Space, indicator: Mask) -> Ints:
    """Return the number of the class whose mean is nearest to each node."""
    return np.asarray(space.cosines(class_means(space, indicator)).argmax(axis=1))


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


def _propensity(space: Space, labelled: Floats) -> Floats:
    """Return by how much fewer labels are predicted than for a labelled node: 0 for such a node, 1 for no labels."""
    rate = min(float(labelled.mean()), 0.99)
    predicted = predict_labels(space, labelled, LABEL_RIDGE * (1 - rate) / rate)
    return np.asarray(1.0 - predicted / max(float(predicted @ labelled / labelled.sum()), 0.5 * rate))


def predict_labels(space: Space, y: Floats, ridge: float) -> Floats:
    """Return the leave-one-out ridge regression of "has a label": closed form, no refit."""
    inverse = 1.0 / (space.variances + ridge)
    centred = space.centred
    along = (y - y.mean()).astype(np.float32) @ centred
    fitted = y.mean() + centred @ (inverse * along).astype(np.float32)
    squares = [np.square(centred[rows]) @ inverse.astype(np.float32) for rows in blocks(len(y), 1 << 12)]
    leverage = 1 / len(y) + np.concatenate(squares)
    return np.asarray((fitted - leverage * y) / (1 - np.minimum(leverage, 0.99)), dtype=np.float64)


def class_scores(space: Space, indicator: Mask, weights: Floats | None = None) -> Floats:
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


class Scoring:
    """How signals become one score: learned on the available labels, then used unchanged whatever is hidden of them.

    Parameters
    ----------
    views : ndarray, shape (m, 5)
        The signals of the unlabelled nodes, whose mean and standard deviation make them comparable.
    adjacency : scipy CSR array or None
        None where neighbours tell nothing about a node's class.
    only : collection of str
        The signals that count.
    """

    def __init__(
        self, views: Floats, adjacency: sp.csr_array | None, only: Collection[str] = SIGNALS
    ) -> None:
        spread = views.std(axis=0)
        weights = [weight if name in only else 0.0 for name, weight in SIGNALS.items()] * (spread > 1e-9)
        self.middle, self.spread = views.mean(axis=0), np.where(spread > 1e-9, spread, 1.0)
        self.weights = weights / max(weights.sum(), 1e-9)
        self.walk = None if adjacency is None else l1_rows(adjacency)

    def weigh(self, views: Floats) -> Floats:
        """Return the parts of the score: signals in standard deviations, times their weights."""
        return np.asarray((views - self.middle) / self.spread * self.weights)

    def score(self, views: Floats) -> Floats:
        """Return the score of every node, with a share of .3 of its neighbours' mean, where it has neighbours."""
        own = np.asarray(self.weigh(views).sum(axis=1))
        if self.walk is None:
            return own
        has_neighbours = np.diff(self.walk.indptr) > 0
        return np.asarray(np.where(has_neighbours, 0.7 * own + 0.3 * (self.walk @ own), own))


def find_concentration(evidence: Evidence, labelled: Mask, links: sp.csr_array) -> tuple[float | None, bool]:
    """Return how well labelled nodes are told from others where both clearly fit a class, and whether too well.

    Nodes that fit a class at least as well as half of its labelled nodes do are compared within the class, by the share
    of labelled nodes one and two steps away (without edges, by the predicted label propensity), and by their AUROC.
    None where no class has enough nodes of both kinds.

    Around a hub of a network that mixes well, labelled and other nodes have the same neighbours but for the hub. So it
    is too well, too, if a node has more labelled neighbours among them than labels drawn at random would give it, by a
    tenth of these labels and beyond what may be accident at any node.
    """
    from sklearn.metrics import roc_auc_score

    around = -evidence.views[:, 0]
    if links.nnz:
        links = sp.csr_array((np.ones(links.nnz), links.indices, links.indptr), links.shape)
        if links.diagonal().any():
            links.setdiag(0)
            links.eliminate_zeros()
        walk, degrees = l1_rows(links), np.diff(links.indptr)
        near = walk @ labelled.astype(np.float64)
        # two steps may lead back, and the own label does not count; NaN without neighbours
        there_and_back = walk.data * inverse(degrees.astype(np.float64))[walk.indices]
        back = np.asarray(sp.csr_array((there_and_back, walk.indices, walk.indptr), walk.shape).sum(axis=1))
        away = np.where(degrees > 0, 1 - back, 0.0)
        far = np.full(len(near), np.nan)
        around = near + np.divide(walk @ near - back * labelled, away, out=far, where=away > 1e-6)
    best, fit = evidence.scores.argmax(axis=1), evidence.scores.max(axis=1)
    known, labels = (
        np.isfinite(around),
        np.zeros((len(fit), 2)),
    )  # those there are, and those expected of each node
    figures, sizes = [], []
    for k in range(evidence.scores.shape[1]):
        inside, others = (np.flatnonzero(known & (best == k) & rows) for rows in (labelled, ~labelled))
        if len(inside):
            enough = np.median(fit[inside])
            inside, others = inside[fit[inside] >= enough], others[fit[others] >= enough]
        if min(len(inside), len(others)) >= 3:
            rows = np.r_[inside, others]
            figures.append(roc_auc_score(labelled[rows], around[rows]))
            sizes.append(min(len(inside), len(others)))
            labels[inside, 0], labels[rows, 1] = 1, len(inside) / len(rows)
    if sum(sizes) < 10:
        return None, False
    reach = float(np.average(figures, weights=sizes))
    there, expected = (links @ labels).T
    is_accident = poisson.sf(there - 1, expected) >= 1e-4 / len(fit)
    has_hub = bool((~is_accident & (there - expected >= 0.1 * labels[:, 0].sum())).any())
    return reach, has_hub or reach >= max(REACH, 0.5 + 3 / (12 * sum(sizes)) ** 0.5)


class Ranking:
    """What one choice of vectors says about the nodes, and how well it did in the leave-one-class-out test."""

    def __init__(
        self,
        graph: Graph,
        labels: Labels,
        source: Method | Embedding,
        surroundings: Space,
        homophily: Homophily,
        is_homophilous: bool,
        rng: np.random.Generator,
        on_step: OnStep | None,
    ) -> None:
        columns = np.flatnonzero(labels.counts)
        self.indicator: Mask = labels.indicator[:, columns].toarray()
        self.names = tuple(labels.classes[k] for k in columns)
        self.homophily, self.is_homophilous = homophily, is_homophilous
        self.is_learned = uses_labels(source)
        self.learns = self.is_learned and isinstance(source, Method)
        self.embedding = vectors_of(graph, labels, source)
        if isinstance(source, Method):
            self.embedding = source.embedding_ = put_aside(self.embedding)
        self.space, self.surroundings = make_space(self.embedding, rng), surroundings
        # several labels of a node let one class look like a part of another that has too few
        self.weights = None if labels.is_multilabel else label_weights(self.space, self.indicator)
        labelled = self.indicator.any(axis=1)
        self.evidence = gather(self.space, self.indicator, surroundings, self.weights)
        self.likely: Ints = self.evidence.scores.argmax(axis=1)
        self.reach, self.is_concentrated = find_concentration(self.evidence, labelled, graph.adjacency)
        only: Collection[str] = SIGNALS
        if self.is_concentrated:
            only = ("classifier_margin", "centroid_distance")
        elif graph.features is not None and (len(columns) < 2 or not is_homophilous):
            only = ("neighbour_propensity",)
        walk = graph.adjacency if is_homophilous else None
        self.scoring = Scoring(self.evidence.views[~labelled], walk, only)
        self.scores = self.scoring.score(self.evidence.views)

        def score_again(visible: Mask, left: Ints) -> Floats:  # vectors never know the labels that are hidden
            if not self.learns or isinstance(source, Embedding):
                return self.score(visible)
            seen = Labels(visible, tuple(self.names[k] for k in left), graph.node_ids)  # type: ignore[arg-type]
            return self.score(visible, make_space(copy_unfitted(source).fit_transform(graph, seen), rng))

        most = 5 if self.learns else 20
        self.folds = leave_out_classes(self.indicator, score_again, rng, most=most, on_step=on_step)

    def score(self, visible: Mask, space: Space | None = None) -> Floats:
        """Return the score of every node by these labels; larger means that a missing class is more likely."""
        evidence = gather(space or self.space, visible, self.surroundings, self.weights)
        return self.scoring.score(evidence.views)


def rank_nodes(
    graph: Graph, labels: Labels, method: Any, rng: np.random.Generator, on_step: OnStep | None
) -> Ranking:
    """Return the ranking; where too few edges show whether linked nodes share classes, the better one of two."""
    homophily = measure_homophily(graph, labels)
    around = make_surroundings(graph if homophily.holds else encode_few(graph), rng)
    ways = [True, False] if method is None and homophily.adjusted is None else [homophily.holds]
    rankings = []
    for way in ways:
        source = source_of(graph, method, child_seed(rng), is_homophilous=way)
        rankings.append(Ranking(graph, labels, source, around, homophily, way, rng, on_step))
    return max(rankings, key=lambda each: np.mean([fold.auroc for fold in each.folds] or [0.0]))
