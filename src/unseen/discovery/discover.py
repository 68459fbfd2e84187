"""From a graph and its labels to what the labels miss: the steps, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from unseen.data.objects_plain import as_graph, as_labels
from unseen.discovery.calibration import USUAL_SHARE, move_share, probabilities
from unseen.discovery.count import MIN_NODES, count_classes
from unseen.discovery.groups import Rows, class_metric, describe, sort_into_groups
from unseen.discovery.guarantees import (
    FDR,
    ErrorRates,
    check_fdr,
    class_weights,
    find_guarantee,
    fold_scores,
    make_error_rates,
)
from unseen.discovery.names import add_support, match_names, name_classes, weigh_features
from unseen.discovery.questions import begun_classes, fine_questions, with_answers
from unseen.discovery.result import CERTAIN, EVIDENCE, Discovery, texts_of
from unseen.discovery.sampling import SamplingBias, find_sampling_bias, make_coverage
from unseen.discovery.signals import Evidence, Mask, Scoring, gather, label_weights, make_scorings
from unseen.discovery.space import Axes, Floats, Space, make_space, make_surroundings
from unseen.discovery.summary import top_nodes
from unseen.discovery.target import searched
from unseen.discovery.validation import (
    Fold,
    judge,
    learn_curve,
    leave_out_classes,
    mean_auroc,
    share_if_hard,
    usual_share,
)
from unseen.embedding import Embedding
from unseen.engine.run import libraries_on_one_thread
from unseen.errors import InputError, counted, logger, unknown_name
from unseen.graph import Graph
from unseen.ids import IdArray, id_order
from unseen.labels import Labels
from unseen.linalg.normalize import encode_numbers, l2_rows
from unseen.methods.base import Method, copy_unfitted
from unseen.methods.homophily import measure_homophily
from unseen.methods.registry import find_method, make_method
from unseen.methods.smoothfeats import SmoothFeats
from unseen.randomness import RandomState, as_generator, child_seed

OnStep = Callable[[int, int], None]
CHANCE = 0.55
"""Mean AUROC of the leave-one-class-out test below which scores are as good as random; without the cap on the share of
missing nodes, a star with random labels gets a probability of 1.00 everywhere."""
WIDE = 200_000
"""Columns of features above which reducing them takes more than half a minute (2,000 nodes, one core)."""
NARROW = 50
"""With fewer features, the links are used as features as well (homophily), or numbers are encoded by their quantiles
(heterophily)."""
BIASED_SHARE = 0.3
"""Share of new nodes assumed at most where labels are concentrated in one region, since there it cannot be learned."""


@libraries_on_one_thread()
def discover(
    graph: Graph | Any,
    labels: Labels | Any,
    *,
    method: str | Method | Embedding | None = None,
    n_classes: int | None = None,
    names: Mapping[str, str] | None = None,
    encoder: Any = None,
    target: str | None = None,
    fdr: float = FDR,
    rates: Literal["same", "differ"] = "same",
    random_state: RandomState = None,
    on_step: OnStep | None = None,
) -> Discovery:
    """Find the nodes that belong to missing classes, how many such classes there are, and what they are about.

    Parameters
    ----------
    graph : Graph, or anything that holds edges
        The nodes, with features or without; a networkx graph or a list of pairs will do.
    labels : Labels, dict, pandas series or list
        What is known: at least one class, and at least one node without a label. A dict and a series go by ids, a
        list has one entry a node.
    method : str, Method or Embedding, optional
        Where vectors come from: a registry name, an estimator, or vectors that are there already. When not given,
        `smoothfeats`; without smoothing where the labels show that linked nodes do not share classes. A method
        that learns from labels is trained again for each class that the test hides.
    n_classes : int, optional
        Number of new classes to sort the new nodes into, instead of the one found.
    names : mapping of str to str, optional
        Missing classes that are known by name, each with a description: words that are looked for among the names of
        the features. They say which of the new nodes are of that class, and which nodes are new.
    encoder : object, optional
        Has ``encode(list of str)`` and knows what words mean: for names whose words no feature has.
        :class:`unseen.StaticEncoder` makes one of a table of word vectors.
    target : str, optional
        The type of nodes to look at, where there are several; when not given, those that have labels. Vectors of the
        whole graph are those of `rect-plus` then.
    fdr : float
        False discovery rate of the list of selected nodes: lists like this are on average at most this share false.
    rates : {"same", "differ"}
        Whether all classes were labelled at about the same rate. ``"differ"`` only assumes that labels were drawn at
        random within each class, and selects fewer nodes. Clearly different rates are found without it.
    random_state : None, int or Generator
        Seed of everything random.
    on_step : callable, optional
        Called with the number of steps done and the total.

    Returns
    -------
    Discovery
        With `nodes`, `classes`, `count`, `self_test`, `coverage` and `guarantee`.

    Notes
    -----
    Where labels were drawn at random from the labelled classes, nodes without labels around them are the strongest
    sign of a missing class. Labels from one region of their classes do not allow that conclusion; `coverage` says so
    and the sign is not used then.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(300, 5, random_state=0)
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c4"], random_state=0)
    >>> result = unseen.discover(data.graph, split.seen_labels, random_state=0)
    >>> result.count.best, result.classes[0].caption[0][:3]
    (1, 'c4_')
    """
    if n_classes is not None and (
        isinstance(n_classes, bool) or not isinstance(n_classes, int) or n_classes < 0
    ):
        msg = f"`n_classes` must be None or an integer of at least 0, got {n_classes!r}"
        raise InputError(msg)
    fdr = check_fdr(fdr)
    if rates not in ("same", "differ"):
        raise unknown_name("choice of `rates`", rates, ["same", "differ"])
    graph = as_graph(graph)
    labels = as_labels(labels, graph)
    require_labels(graph, labels)
    rng = as_generator(random_state)
    has_types = graph.node_types is not None
    if graph.node_types is not None or target is not None:
        graph, own, method = searched(graph, labels, method, target, child_seed(rng))
        labels = labels if own is None else own
    if len(labels.align_to(graph).labelled) == graph.n_nodes:
        msg = (
            f"all {graph.n_nodes} nodes have a label, so there is nothing to discover; hide some labels to see what "
            "would be found (--unseen and --label-rate, or completely_imbalanced_split)"
        )
        raise InputError(msg)
    if graph.features is not None and graph.features.shape[1] > WIDE:
        columns = counted(graph.features.shape[1], "column")
        advice = "leave out columns that few nodes have, or reduce them before"
        logger.warning("features have %s, and reducing them may take minutes; %s", columns, advice)
    order = id_order(graph.node_ids)
    ordered = graph.subgraph(order)
    seen = labels.align_to(ordered)  # with classes by name: draws by class are the same in any order of them
    columns = seen.indicator[:, np.argsort(seen.classes)]
    seen = replace(seen, indicator=columns, classes=tuple(sorted(seen.classes)))
    words = weigh_features(names, graph, labels, encoder) if names else {}
    task = _Task(ordered, seen, method, n_classes, words, fdr, rates, has_types, on_step)
    result = _discover(task, rng)
    shown = [each.members[0] for each in result.classes] + [node for node, _ in top_nodes(result)]
    result = replace(result, labels=labels.align_to(graph), texts=texts_of(graph, shown))
    if ordered is graph:
        return result
    table_rows = np.argsort(order[np.diff(seen.indicator.indptr) == 0])  # those of unlabelled nodes
    vectors = result.embedding.vectors[np.argsort(order)]
    return replace(
        result,
        nodes=result.nodes.take(table_rows),
        evidence=result.evidence.take(table_rows),
        embedding=Embedding(vectors, graph.node_ids, result.embedding.method, result.embedding.params),
    )


class _Task(NamedTuple):
    """The arguments of :func:`discover`; nodes are in the order of their ids, and classes by name."""

    graph: Graph
    labels: Labels
    method: Any
    n_classes: int | None
    words: dict[str, Floats]
    fdr: float
    rates: str
    has_types: bool
    on_step: OnStep | None


def _discover(task: _Task, rng: np.random.Generator) -> Discovery:
    """Discover where draws by row are draws by id."""
    graph, labels, words = task.graph, task.labels, task.words
    method, on_step = task.method, task.on_step
    homophilous = measure_homophily(graph, labels).holds
    surroundings = make_surroundings(graph if homophilous else _encode_few(graph), rng)
    everything, answered = labels, begun_classes(labels)
    if answered:
        labels = everything.keep(everything.labelled, without=answered)
    ranking, p = _find_probabilities(graph, labels, method, surroundings, rng, on_step)
    homophily = measure_homophily(graph, labels)
    inhabited = labels.counts > 0
    names = tuple(name for name, here in zip(labels.classes, inhabited, strict=True) if here)
    indicator = labels.indicator[:, np.flatnonzero(inhabited)].toarray()
    has_answer = (np.diff(everything.indicator.indptr) > 0) & ~indicator.any(axis=1)
    unlabelled = ~indicator.any(axis=1) & ~has_answer
    space, evidence, bias, scoring, folds = ranking[2:7]
    check = partial(
        find_guarantee,
        len(labels.labelled),
        len(names),
        is_concentrated=bias.strength > 0,
        is_homophilous=scoring.neighbours is not None,
        has_several=labels.is_multilabel,
        has_types=task.has_types,
        has_begun=bool(answered),
        has_learned=ranking.is_learned,
        rates_differ=task.rates == "differ" or ranking.weights is not None,
    )
    guarantee, error_rates = check(has_names=bool(words)), None
    if check(has_names=False).holds:  # names do not change the p-values, which tell how many nodes are new
        error_rates = _error_rates(ranking, indicator, surroundings, task.rates, rng)
    if error_rates is not None:
        share = error_rates.estimate_share(float(p[unlabelled].mean()), len(labels.labelled))
        p[unlabelled] = move_share(p[unlabelled], share)
        error_rates = error_rates if guarantee.holds else None
    scores = scoring.score(scoring.mixed(evidence.views))[unlabelled]
    expected_if_hard = max(float(p.sum()), share_if_hard(scores, folds) * len(scores))
    p[has_answer] = 1.0
    named = match_names(graph, space, indicator, p, words)
    p[unlabelled] = add_support(p[unlabelled], named.support[unlabelled])
    new = np.flatnonzero(unlabelled & (p > CERTAIN))
    name = np.full(graph.n_nodes, None, dtype=object)
    fits = new[named.best[new] >= 0]
    name[fits] = np.array(list(words), dtype=object)[named.best[fits]] if len(fits) else None
    likely = evidence.scores.argmax(axis=1)
    class_of_node = np.where(unlabelled & (p > CERTAIN), -1, likely)
    metric = class_metric(space, class_of_node)
    count = count_classes(space, metric, _countable(new, unlabelled, p), class_of_node, rng)
    if len(new) < MIN_NODES or (error_rates is not None and not error_rates.bounds.at_least):
        count = replace(count, low=0)  # it is not certain that any class is missing
    count = with_answers(count, len(answered), int(has_answer.sum()))
    selected = np.zeros(graph.n_nodes, dtype=bool)
    if error_rates is not None:
        selected[unlabelled] = error_rates.q <= task.fdr
        if error_rates.bounds.at_least:
            count = replace(count, **{part: max(getattr(count, part), 1) for part in ("best", "low", "high")})
    if selected.any():
        new = np.flatnonzero(selected)
    asked_about = np.flatnonzero(has_answer | (unlabelled & (p > CERTAIN)))
    questions = fine_questions(metric, asked_about, p, has_answer, child_seed(rng))
    p[has_answer] = 0.0
    k = count.best if task.n_classes is None else task.n_classes
    groups = sort_into_groups(metric, new, p[new], k, child_seed(rng))
    means = l2_rows(indicator.T.astype(np.float32) @ space.centred)
    test = judge(folds, names, labels.counts[inhabited], means, is_concentrated=bias.strength > 0)
    classes = name_classes(describe(graph, space, groups, p, indicator, names), groups, name)
    if selected.any():
        classes = tuple(replace(each, fdr=task.fdr) for each in classes)
    group = np.full(graph.n_nodes, None, dtype=object)
    for each, rows in zip(classes, groups, strict=True):
        group[rows] = each.group
    nodes = {
        "unseen_probability": pa.array(p[unlabelled], pa.float64()),
        "likely_class": pa.array([names[k] for k in likely[unlabelled]], pa.string()),
        "group": pa.array(group[unlabelled], pa.string()),
        "name": pa.array(name[unlabelled], pa.string()),
        "selected": pa.array(selected[unlabelled], pa.bool_()),
    }
    return Discovery(
        nodes=_table(graph, unlabelled, nodes),
        classes=classes,
        count=count,
        self_test=test,
        coverage=make_coverage(
            graph, everything, homophily, bias, (float(p.sum()), expected_if_hard), test, ranking.notes
        ),
        embedding=ranking.embedding,
        evidence=_evidence(graph, unlabelled, evidence, scoring, error_rates),
        guarantee=guarantee,
        fdr=task.fdr,
        bounds=None if error_rates is None else error_rates.bounds,
        absent=named.absent,
        questions=tuple(graph.node_ids[questions].tolist()),
    )


def _countable(new: Rows, unlabelled: Mask, p: Floats) -> Rows:
    """Return the nodes whose classes are counted: `new` or, if these are too few, as many as are expected to be new."""
    if len(new) >= MIN_NODES:
        return new
    rows = np.flatnonzero(unlabelled)
    return np.sort(rows[np.argsort(-p[rows], kind="stable")[: round(p[rows].sum())]])


def _find_probabilities(
    graph: Graph,
    labels: Labels,
    method: Any,
    surroundings: Axes,
    rng: np.random.Generator,
    on_step: OnStep | None,
) -> tuple[_Ranking, Floats]:
    """Return the evidence, and how probably each node is of no class of these labels; 0 for labelled ones."""
    homophily = measure_homophily(graph, labels)
    # too few labelled pairs to know whether neighbours are alike: the leave-one-class-out test decides
    ways = [True, False] if method is None and homophily.adjusted is None else [homophily.holds]
    rankings = [_rank(graph, labels, method, surroundings, way, rng, on_step) for way in ways]
    ranking = max(rankings, key=lambda each: mean_auroc(each.folds))
    unlabelled = np.diff(labels.indicator.indptr) == 0
    scores = ranking.scoring.score(ranking.scoring.mixed(ranking.evidence.views))[unlabelled]
    p = np.zeros(graph.n_nodes)
    at_most = 1 - ranking.bias.strength * (1 - BIASED_SHARE)
    if ranking.folds and mean_auroc(ranking.folds) < CHANCE:
        at_most = min(at_most, USUAL_SHARE)  # the scores say nothing about how many nodes are new
    p[unlabelled] = probabilities(
        learn_curve(ranking.folds).odds(scores),
        prior=usual_share(scores, ranking.folds),
        at_most=at_most,
    )[0]
    return ranking, p


class _Ranking(NamedTuple):
    """What one choice of vectors says about the nodes, and how well it did in the leave-one-class-out test."""

    embedding: Embedding
    notes: list[str]
    space: Space
    evidence: Evidence
    bias: SamplingBias
    scoring: Scoring
    folds: list[Fold]
    weights: Floats | None
    is_learned: bool


def _rank(
    graph: Graph,
    labels: Labels,
    method: Any,
    surroundings: Axes,
    homophilous: bool,
    rng: np.random.Generator,
    on_step: OnStep | None,
) -> _Ranking:
    """Make vectors, gather the evidence they give and test it on the labelled classes."""
    estimator = source_of(graph, method, child_seed(rng), homophilous=homophilous)
    embedding, notes = vectors_of(graph, labels, estimator)
    space = make_space(embedding, rng)
    columns = np.flatnonzero(labels.counts)
    indicator = labels.indicator[:, columns].toarray()
    labelled = indicator.any(axis=1)
    weights = label_weights(space, indicator)
    evidence = gather(space, indicator, surroundings, weights)
    bias = find_sampling_bias(evidence, labelled, graph.adjacency)
    scorings = make_scorings(evidence, labelled, graph.adjacency, bias.strength, homophilous=homophilous)
    learns = isinstance(estimator, Method) and estimator._traits.uses_labels
    names = tuple(labels.classes[k] for k in columns)
    scoring, folds = leave_out_classes(
        space,
        indicator,
        scorings,
        bias.strength,
        rng,
        surroundings=surroundings,
        weights=weights,
        respace=_respace(graph, estimator, names, rng) if learns else None,
        on_step=on_step,
    )
    return _Ranking(embedding, notes, space, evidence, bias, scoring, folds, weights, learns or bool(notes))


def _error_rates(
    ranking: _Ranking, indicator: Mask, surroundings: Axes, rates: str, rng: np.random.Generator
) -> ErrorRates:
    """Return the error rates of the unlabelled nodes by this ranking: labels are dealt into folds, and scored again."""
    space, scoring = ranking.space, ranking.scoring

    def score(left: Mask) -> Floats:
        return scoring.score(scoring.mixed(gather(space, left, surroundings, ranking.weights).views))

    scores = scoring.score(scoring.mixed(ranking.evidence.views))[~indicator.any(axis=1)]
    weights = None
    if rates == "differ" or ranking.weights is not None:
        means = l2_rows(indicator.T.astype(np.float32) @ space.centred)
        weights = class_weights((l2_rows(space.centred) @ means.T).argmax(axis=1), indicator)
    labelled_scores = fold_scores(indicator, scores, score, rng)
    return make_error_rates(scores, labelled_scores, weights, seed=child_seed(rng))


def require_labels(graph: Graph, labels: Labels) -> None:
    """Raise an `InputError` unless a node has a label."""
    if not len(labels.align_to(graph).labelled):
        msg = "there are no labels, so every class is missing; label some nodes first (suggest says which)"
        raise InputError(msg)


def _encode_few(graph: Graph) -> Graph:
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
            encoded = _encode_few(graph)
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
    columns = min(SmoothFeats._traits.default_components, *shape)
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


def _respace(
    graph: Graph, estimator: Any, names: tuple[str, ...], rng: np.random.Generator
) -> Callable[[Mask, list[int]], Space]:
    """Return how to make the space for other labels, so that the leave-one-class-out test never sees what it hides."""

    def make(visible: Mask, columns: list[int]) -> Space:
        labels = Labels(visible, tuple(names[k] for k in columns), graph.node_ids)  # type: ignore[arg-type]
        return make_space(copy_unfitted(estimator).fit_transform(graph, labels), rng)

    return make


def _table(graph: Graph, rows: Mask, columns: dict[str, pa.Array]) -> pa.Table:
    return pa.table({"node": id_array(graph.node_ids[rows]), **columns})


def id_array(ids: IdArray) -> pa.Array:
    """Return node ids as a column."""
    return pa.array(ids.tolist(), pa.int64() if ids.dtype == np.int64 else pa.string())


def _evidence(
    graph: Graph, unlabelled: Mask, evidence: Evidence, scoring: Scoring, error_rates: ErrorRates | None
) -> pa.Table:
    """Return how the parts of the score rank the unlabelled nodes, and their p-values and q-values."""
    weighted = evidence.views * (scoring.weights / scoring.spread)
    parts: dict[str, Floats | None] = {
        "no_class_fits": weighted[:, 2:4].sum(axis=1),
        "unlike_labelled": weighted[:, [0, 1, 4]].sum(axis=1),
        "neighbourhood": None,
    }
    if scoring.neighbours is not None:
        parts["neighbourhood"] = scoring.score(scoring.average_neighbours(evidence.views))
    columns = {part: _ranks(parts[part], unlabelled) for part in EVIDENCE}
    columns["doubt"] = pa.array(evidence.doubt[unlabelled], pa.float64())
    nothing = np.full(int(unlabelled.sum()), None)
    columns["p_value"] = pa.array(nothing if error_rates is None else error_rates.p, pa.float64())
    columns["q_value"] = pa.array(nothing if error_rates is None else error_rates.q, pa.float64())
    return _table(graph, unlabelled, columns)


def _ranks(values: Floats | None, rows: Mask) -> pa.Array:
    from scipy.stats import rankdata

    if values is None or not np.ptp(values[rows]):
        return pa.nulls(int(rows.sum()), pa.float64())
    return pa.array((rankdata(values[rows]) - 0.5) / rows.sum(), pa.float64())
