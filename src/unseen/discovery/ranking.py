"""The ranking of the nodes: an embedding, the signals that it gives, where the labels lie, and the test of it all."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from unseen.discovery.guarantees import ErrorRates, class_weights, fold_scores, make_error_rates
from unseen.discovery.sampling import find_concentration
from unseen.discovery.signals import (
    SIGNALS,
    Evidence,
    Scoring,
    class_means,
    gather,
    label_weights,
    make_scoring,
)
from unseen.discovery.space import HUGE, HUGE_COLUMNS, Space, make_space, make_surroundings
from unseen.discovery.validation import Fold, leave_out_classes
from unseen.embedding import Embedding
from unseen.errors import InputError, logger, unknown_type
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Mask
from unseen.labels import Labels
from unseen.linalg.normalize import encode_numbers
from unseen.methods.base import Method, copy_unfitted
from unseen.methods.homophily import Homophily, measure_homophily
from unseen.methods.registry import find_method, make_method
from unseen.methods.smoothfeats import SmoothFeats
from unseen.randomness import child_seed

OnStep = Callable[[int, int], None]
NARROW = 50
"""With fewer features, the links are used as features as well (homophily), or numbers are encoded by their quantiles
(heterophily)."""


class Ranking(NamedTuple):
    """What one choice of vectors says about the nodes, and how well it did in the leave-one-class-out test."""

    embedding: Embedding
    notes: list[str]
    space: Space
    indicator: Mask
    weights: Floats | None
    evidence: Evidence
    reach: float | None
    is_concentrated: bool
    homophily: Homophily
    is_homophilous: bool
    scoring: Scoring
    score: Callable[[Mask], Floats]
    folds: list[Fold]
    is_learned: bool

    @property
    def scores(self) -> Floats:
        """The score of every node; larger means that a missing class is more likely."""
        return self.scoring.score(self.evidence.views)


def rank_nodes(
    graph: Graph, labels: Labels, method: Any, rng: np.random.Generator, on_step: OnStep | None
) -> Ranking:
    """Return the ranking; where too few edges show whether linked nodes share classes, the better one of two."""
    homophily = measure_homophily(graph, labels)
    surroundings = make_surroundings(graph if homophily.holds else encode_few(graph), rng)
    columns = np.flatnonzero(labels.counts)
    indicator, names = labels.indicator[:, columns].toarray(), tuple(labels.classes[k] for k in columns)
    labelled = indicator.any(axis=1)

    def rank(is_homophilous: bool) -> Ranking:
        """Make vectors, gather the evidence they give and test it on the labelled classes."""
        estimator: Any = source_of(graph, method, child_seed(rng), homophilous=is_homophilous)
        embedding, notes = vectors_of(graph, labels, estimator)
        space = make_space(embedding, rng)
        # several labels of a node let one class look like a part of another that has too few
        weights = None if labels.is_multilabel else label_weights(space, indicator)
        evidence = gather(space, indicator, surroundings, weights)
        reach, is_concentrated = find_concentration(evidence, labelled, graph.adjacency)
        only: Collection[str] = SIGNALS
        if is_concentrated:
            only = ("classifier_margin", "centroid_distance")
        elif graph.features is not None and (len(columns) < 2 or not is_homophilous):
            only = ("neighbour_propensity",)
        scoring = make_scoring(evidence.views[~labelled], graph.adjacency if is_homophilous else None, only)
        learns = isinstance(estimator, Method) and estimator._traits.uses_labels

        def score(visible: Mask, own: Space = space) -> Floats:
            return scoring.score(gather(own, visible, surroundings, weights).views)

        def score_again(visible: Mask, left: Ints) -> Floats:  # vectors never know the labels that are hidden
            if not learns:
                return score(visible)
            seen = Labels(visible, tuple(names[k] for k in left), graph.node_ids)  # type: ignore[arg-type]
            return score(visible, make_space(copy_unfitted(estimator).fit_transform(graph, seen), rng))

        folds = leave_out_classes(indicator, score_again, rng, most=5 if learns else 20, on_step=on_step)
        return Ranking(
            embedding,
            notes,
            space,
            indicator,
            weights,
            evidence,
            reach,
            is_concentrated,
            homophily,
            is_homophilous,
            scoring,
            score,
            folds,
            learns or bool(notes),
        )

    ways = [True, False] if method is None and homophily.adjusted is None else [homophily.holds]
    return max(
        [rank(way) for way in ways], key=lambda each: np.mean([fold.auroc for fold in each.folds] or [0.0])
    )


def nearest_classes(space: Space, indicator: Mask) -> Ints:
    """Return the number of the class whose mean is nearest to each node."""
    return np.asarray(space.cosines(class_means(space, indicator)).argmax(axis=1))


def find_error_rates(ranking: Ranking, rates_differ: bool, rng: np.random.Generator) -> ErrorRates:
    """Return the error rates of the unlabelled nodes by this ranking: labels are dealt into folds, and scored again."""
    indicator, weights = ranking.indicator, None
    scores = ranking.scores[~indicator.any(axis=1)]
    if rates_differ:
        weights = class_weights(nearest_classes(ranking.space, indicator), indicator)
    labelled_scores = fold_scores(indicator, scores, ranking.score, rng)
    return make_error_rates(scores, labelled_scores, weights, seed=child_seed(rng))


def encode_few(graph: Graph) -> Graph:
    """Return the graph with few numeric features encoded by their quantiles, since they have to tell classes alone."""
    if graph.features is None or graph.features.shape[1] >= NARROW:
        return graph
    return graph.plain.with_features(encode_numbers(graph.features))


def source_of(graph: Graph, method: Any, seed: int, *, homophilous: bool = True) -> Method | Embedding:
    """Return where vectors come from, as :func:`discover` takes it."""
    if method is None:
        usual = _smooth_features(graph, 10 if homophilous else 0, seed)
        if graph.features is None or graph.features.shape[1] >= NARROW:
            return usual
        if not homophilous:
            encoded = encode_few(graph)
            return _smooth_features(encoded, 0, seed).fit_transform(encoded)
        features = usual.fit_transform(graph)
        without_features = graph.plain.with_features(None)
        links = _smooth_features(without_features, 10, seed).fit_transform(without_features)
        both = np.hstack([features.vectors, links.vectors])
        return Embedding(both, graph.node_ids, features.method, features.params)
    if isinstance(method, str):
        return make_method(method, random_state=seed)
    if isinstance(method, (Method, Embedding)):
        return method
    msg = f"`method` must be a method's name, a method or an Embedding, got {type(method).__name__}"
    raise InputError(msg)


def _smooth_features(graph: Graph, steps: int, seed: int) -> SmoothFeats:
    """Return the method with as many columns as a small graph allows, so that it has nothing to say about that."""
    shape = graph.adjacency.shape if graph.features is None else graph.features.shape
    columns = HUGE_COLUMNS if graph.n_nodes > HUGE else SmoothFeats._traits.default_components
    columns = min(columns, *shape)
    return SmoothFeats(n_components=columns, steps=steps, random_state=seed)


def vectors_of(
    graph: Graph, labels: Labels | None, source: Method | Embedding
) -> tuple[Embedding, list[str]]:
    """Return the vectors to work with, and what there is to say about them."""
    if isinstance(source, Method):
        embedding = source.fit_transform(graph, labels)
        logger.debug("discovery works with %r", embedding)
        return embedding, []
    embedding = Embedding(source.rows(graph.node_ids), graph.node_ids, source.method, source.params)
    cls = find_method(source.method)
    if cls is not None and cls._traits.uses_labels:
        note = (
            f"The embedding was made by {source.method}, which learns from labels: the leave-one-class-out test looks "
            "better than it should if the embedding was learned from these labels."
        )
        return embedding, [note]
    return embedding, []


def searched(
    graph: Graph, labels: Labels | None, method: Any, target: str | None, seed: int | None
) -> tuple[Graph, Labels | None, Any]:
    """Return the nodes of the types with labels (or of `target`), their labels, and vectors of the whole graph.

    A venue is no author of an unknown class. Vectors come from `method`, `rect-plus` where that is None, which knows
    relations. A graph of one type, and one without labels and `target`, comes back as it is.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.Graph.from_edges(["a"], ["b"])
    >>> searched(graph, None, None, None, 0)[0] is graph
    True
    """
    types = graph.node_types
    if types is None:
        if target is not None:
            raise unknown_type(target, (), "leave out `target` (--target)")
        return graph, labels, method
    own = None if labels is None else labels.align_to(graph)
    wanted = set(types[own.labelled]) if target is None and own is not None else {target} - {None}
    if not wanted:
        return graph, labels, method
    if not wanted <= set(types):
        raise unknown_type(target, dict.fromkeys(types))
    rows = np.flatnonzero([each in wanted for each in types])
    if own is not None and not np.isin(own.labelled, rows).any():
        labelled = ", ".join(sorted(map(repr, set(types[own.labelled])))) or "none"
        msg = f"no node of type {target!r} has a label (types with labels: {labelled}); label some of them first"
        raise InputError(msg)
    if not isinstance(method, Embedding):
        source = "rect-plus" if method is None else method
        estimator = source if isinstance(source, Method) else make_method(source, random_state=seed)
        method = estimator.fit_transform(graph, own)
    part = graph.subgraph(rows)  # with its types, which end the guarantee
    vectors = Embedding(method.rows(part.node_ids), part.node_ids, method.method, method.params)
    return part, None if own is None else own.of_nodes(part.node_ids), vectors
