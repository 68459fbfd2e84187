"""From a graph and its labels to what the labels miss: the steps, in the order of docs/explanation/discovery.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from scipy.special import softmax
from scipy.stats import rankdata

from unseen.data.objects_plain import as_graph_and_labels
from unseen.discovery import groups, guarantees
from unseen.discovery.guarantees import ErrorRates, Guarantee
from unseen.discovery.names import add_support, match_names
from unseen.discovery.questions import fine_questions
from unseen.discovery.ranking import SHARPNESS, OnStep, Ranking, class_means, nearest_classes, rank_nodes
from unseen.discovery.result import CERTAIN, EVIDENCE, Discovery, texts_of
from unseen.discovery.summary import make_coverage, top_nodes
from unseen.discovery.validation import USUAL_SHARE, judge, learn_slope, match_share, probabilities
from unseen.discovery.vectors import searched
from unseen.discovery.words import weigh_features
from unseen.embedding import Embedding
from unseen.engine.run import libraries_on_one_thread
from unseen.errors import InputError, counted, logger, unknown_name
from unseen.graph import Graph
from unseen.ids import Floats, IdArray, Ints, Mask, id_order
from unseen.labels import Labels
from unseen.methods.base import Method
from unseen.randomness import RandomState, as_generator, child_seed


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
    fdr: float = guarantees.FDR,
    rates: Literal["same", "differ"] = "same",
    random_state: RandomState = None,
    on_step: OnStep | None = None,
) -> Discovery:
    """Find the nodes that belong to missing classes, how many such classes there are, and what they are about.

    Parameters
    ----------
    graph : Graph, or anything that holds edges
        The nodes, with features or without; a networkx graph or a list of pairs will do.
    labels : Labels, dict, pandas series, list or str
        What is known: at least one class, and at least one node without a label. A dict and a series go by ids, a
        list has one entry a node; a text is the name of a node attribute of a networkx graph.
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
    if n_classes is not None and (type(n_classes) is not int or n_classes < 0):
        msg = f"`n_classes` must be None or an integer of at least 0, got {n_classes!r}"
        raise InputError(msg)
    fdr = guarantees.check_fdr(fdr)
    if rates not in ("same", "differ"):
        raise unknown_name("choice of `rates`", rates, ["same", "differ"])
    graph, given = as_graph_and_labels(graph, labels)
    labels = require_labels(graph, given)
    rng = as_generator(random_state)
    has_types = graph.node_types is not None
    if has_types or target is not None:
        graph, own, method = searched(graph, labels, method, target, child_seed(rng))
        graph, labels = graph.plain, labels if own is None else own
    if len(labels.align_to(graph).labelled) == graph.n_nodes:
        msg = (
            f"all {graph.n_nodes} nodes have a label, so there is nothing to discover; hide some labels to see what "
            "would be found (--unseen and --label-rate, or completely_imbalanced_split)"
        )
        raise InputError(msg)
    if graph.features is not None and graph.features.shape[1] > 200_000:  # half a minute for 2,000 nodes
        columns = counted(graph.features.shape[1], "column")
        advice = "leave out columns that few nodes have, or reduce them before"
        logger.warning("features have %s, and reducing them may take minutes; %s", columns, advice)
    words = weigh_features(names, graph, labels, encoder) if names else {}
    # rows in the order of their ids and columns in that of their names, so that nothing depends on either order
    order = id_order(graph.node_ids)
    ordered = graph.subgraph(order)
    seen = labels.align_to(ordered)
    columns = seen.indicator[:, np.argsort(seen.classes)]
    seen = replace(seen, indicator=columns, classes=tuple(sorted(seen.classes)))
    result = _discover(ordered, seen, words, rng, method, n_classes, fdr, rates, has_types, on_step)
    shown = [each.members[0] for each in result.classes] + [node for node, _ in top_nodes(result)]
    result = replace(result, labels=labels.align_to(graph), texts=texts_of(graph, shown))
    if ordered is graph:
        return result
    table_rows = np.argsort(order[np.diff(seen.indicator.indptr) == 0])  # those of unlabelled nodes
    embedding = result.embedding
    return replace(
        result,
        nodes=result.nodes.take(table_rows),
        evidence=result.evidence.take(table_rows),
        embedding=replace(embedding, vectors=embedding.vectors[np.argsort(order)], node_ids=graph.node_ids),
    )


def require_labels(graph: Graph, labels: Labels | None) -> Labels:
    """Return the labels; raise an `InputError` unless a node has one."""
    if labels is None or not len(labels.align_to(graph).labelled):
        msg = "there are no labels, so every class is missing; label some nodes first (suggest says which)"
        raise InputError(msg)
    return labels


def id_array(ids: IdArray) -> pa.Array:
    """Return node ids as a column."""
    return pa.array(ids.tolist(), pa.int64() if ids.dtype == np.int64 else pa.string())


def _discover(
    graph: Graph,
    given: Labels,
    words: dict[str, Floats],
    rng: np.random.Generator,
    method: Any,
    n_classes: int | None,
    fdr: float,
    rates: str,
    has_types: bool,
    on_step: OnStep | None,
) -> Discovery:
    """Discover where draws by row are draws by id."""
    begun = groups.begun_classes(given)
    labels = given.keep(given.labelled, without=begun) if begun else given
    # 1. vectors, 2. signals, 3. the leave-one-class-out test
    ranking = rank_nodes(graph, labels, method, rng, on_step)
    indicator, space, names = ranking.indicator, ranking.space, ranking.names
    has_answer = (np.diff(given.indicator.indptr) > 0) & ~indicator.any(axis=1)
    unlabelled = ~indicator.any(axis=1) & ~has_answer
    means = class_means(space, indicator)
    doubt = "" if ranking.is_homophilous else "the graph is heterophilous"
    doubt = "the labels are concentrated in one region" if ranking.is_concentrated else doubt
    test = judge(ranking.folds, names, labels.counts[labels.counts > 0], means, doubt=doubt)
    # 4. error rates
    conditions = {"has_types": has_types, "has_begun": bool(begun), "has_names": bool(words)}
    guarantee, errors = _find_errors(labels, ranking, rates, rng, conditions)
    del ranking.surroundings  # nothing is scored any more, and they are the largest array
    # 5. probabilities
    p = np.zeros(graph.n_nodes)
    p[unlabelled], if_hard = _find_probabilities(ranking, unlabelled, errors, bool(words))
    p[has_answer] = 1.0
    best, support, absent = match_names(graph, space, indicator, p, words)
    p[unlabelled] = add_support(p[unlabelled], support[unlabelled])
    # 6. groups
    errors = errors if guarantee.holds else None
    is_selected = np.zeros(graph.n_nodes, dtype=bool)
    if errors is not None:
        is_selected[unlabelled] = errors.q <= fdr
    has_measure = test.auroc is not None and not test.failed and not labels.is_multilabel
    at_least = None if errors is None else errors.at_least
    count, questions, parts = _find_groups(
        ranking, p, unlabelled, has_answer, is_selected, len(begun), at_least, has_measure, n_classes, rng
    )
    p[has_answer] = 0.0
    name, group = np.full((2, graph.n_nodes), None, dtype=object)
    fits = np.flatnonzero((p > CERTAIN) & (best >= 0))
    name[fits] = np.array([*words, None], dtype=object)[best[fits]]
    rate = fdr if is_selected.any() else None
    classes = groups.describe(graph, space, parts, p, means, names, name, rate)
    for each, rows in zip(classes, parts, strict=True):
        group[rows] = each.group
    nodes = {
        "node": id_array(graph.node_ids[unlabelled]),
        "unseen_probability": pa.array(p[unlabelled], pa.float64()),
        "likely_class": pa.array([names[k] for k in ranking.likely[unlabelled]], pa.string()),
        "group": pa.array(group[unlabelled], pa.string()),
        "name": pa.array(name[unlabelled], pa.string()),
        "selected": pa.array(is_selected[unlabelled], pa.bool_()),
    }
    expected = float(p.sum()), max(float(p.sum()), if_hard)
    return Discovery(
        nodes=pa.table(nodes),
        classes=classes,
        count=count,
        self_test=test,
        coverage=make_coverage(graph, given, ranking, expected, test),
        embedding=ranking.embedding,
        evidence=pa.table({"node": nodes["node"], **_find_evidence(ranking, unlabelled, errors)}),
        labels=given,
        guarantee=guarantee,
        fdr=fdr,
        bounds=errors,
        absent=absent,
        questions=tuple(graph.node_ids[questions].tolist()),
    )


def _find_errors(
    labels: Labels, ranking: Ranking, rates: str, rng: np.random.Generator, conditions: dict[str, bool]
) -> tuple[Guarantee, ErrorRates | None]:
    """Return whether there is a guarantee, and the p-values of the nodes where they have a basis.

    Names of classes end the guarantee, but they do not change the p-values, which tell how many nodes are new.
    """
    indicator = ranking.indicator
    conditions |= {
        "is_concentrated": ranking.is_concentrated,
        "has_one_class": len(ranking.names) < 2,
        "has_few_labels": len(labels.labelled) < guarantees.MIN_LABELS,
        "is_heterophilous": not ranking.is_homophilous,
        "has_several": labels.is_multilabel,
        "is_learned": ranking.is_learned,
        "has_accepted": bool(labels.guesses)
        or guarantees.has_full_class(nearest_classes(ranking.space, indicator), indicator),
    }
    rates_differ = rates == "differ" or ranking.weights is not None
    has_basis = guarantees.find_guarantee(conditions | {"has_names": False}, rates_differ=rates_differ).holds
    errors = find_error_rates(ranking, rates_differ, rng) if has_basis else None
    return guarantees.find_guarantee(conditions, rates_differ=rates_differ), errors


def find_error_rates(ranking: Ranking, rates_differ: bool, rng: np.random.Generator) -> ErrorRates:
    """Return the error rates of the unlabelled nodes by this ranking: labels are dealt into folds, and scored again."""
    indicator, weights = ranking.indicator, None
    scores = ranking.scores[~indicator.any(axis=1)]
    if rates_differ:
        weights = guarantees.class_weights(nearest_classes(ranking.space, indicator), indicator)
    labelled_scores = guarantees.fold_scores(indicator, scores, ranking.score, rng)
    return guarantees.make_error_rates(scores, labelled_scores, weights, seed=child_seed(rng))


def _find_probabilities(
    ranking: Ranking, unlabelled: Mask, errors: ErrorRates | None, has_names: bool
) -> tuple[Floats, float]:
    """Return the probability of each unlabelled node, and how many are new if they are like the hardest class.

    The share of new nodes is the median of what the leave-one-class-out test says, what the p-values say and what is
    usual. Where no node is proven to be new, it is the lower one of the first two, and none if that is below its
    standard error, unless classes were given by name. Where the labels are concentrated, it is the usual one.
    """
    folds, share, scores = ranking.folds, USUAL_SHARE, ranking.scores[unlabelled]
    if not ranking.is_concentrated:
        by_test = match_share(scores, folds)
        share = float(np.median([by_test, USUAL_SHARE, *([] if errors is None else [errors.share])]))
        if errors is not None and not errors.at_least:
            share = min(by_test, errors.share)
            is_none = share < ranking.indicator.any(axis=1).sum() ** -0.5 and not has_names
            share = 0.002 if is_none else share
    if errors is not None:
        share = min(max(share, errors.at_least / len(scores)), 0.98)
    hardest = [min(folds, key=lambda fold: fold.auroc)] if folds else []
    if_hard = match_share(scores, folds, hardest) * len(scores)
    return probabilities(scores, learn_slope(folds), share), if_hard


def _find_groups(
    ranking: Ranking,
    p: Floats,
    unlabelled: Mask,
    has_answer: Mask,
    is_selected: Mask,
    n_begun: int,
    at_least: int | None,
    has_measure: bool,
    n_classes: int | None,
    rng: np.random.Generator,
) -> tuple[groups.ClassCount, list[int], list[Ints]]:
    """Return how many classes are missing, questions that settle it, and the groups.

    The classes are those of the nodes that are probably new; if these are too few, of as many as are expected to be.
    The number begins at 1 where the bound shows missing nodes, and at 0 where no class need be missing. Answers named
    `n_begun` of them. It is open where classes are not recovered, or share nodes: then the spread of the labelled
    classes is no measure. Groups consist of selected nodes or, where there are none, of those that are probably new.
    """
    is_new = unlabelled & (p > CERTAIN)
    old = np.where(is_new, -1, ranking.likely)
    metric = groups.class_metric(ranking.space, old)
    rows, is_small = np.flatnonzero(is_new), is_new.sum() < groups.MIN_NODES
    if is_small:
        rows = np.flatnonzero(unlabelled)
        rows = np.sort(rows[np.argsort(-p[rows], kind="stable")[: round(p[rows].sum())]])
    count = groups.count_classes(ranking.space, metric, rows, old, rng)
    if at_least:
        count = replace(count, best=max(count.best, 1), low=max(count.low, 1))
    elif is_small or at_least == 0:
        count = replace(count, low=0)
    count = groups.with_answers(count, n_begun, int(has_answer.sum()))
    if not has_measure:
        low = min(max(count.proven, 1 if at_least else 0), count.best)
        high = max(int(unlabelled.sum()) // groups.MIN_NODES, count.high)
        count = groups.ClassCount(count.best, low, high, proven=count.proven)
    rows = np.flatnonzero(has_answer | is_new)
    questions = fine_questions(metric, rows, p, has_answer, child_seed(rng))
    has_list = is_selected.any()
    rows = np.flatnonzero(is_selected if has_list else is_new)
    rows = rows[:0] if is_small and not has_list and not n_classes else rows
    k = count.best if n_classes is None else n_classes
    return count, questions, groups.sort_into_groups(metric, rows, p[rows], k, child_seed(rng))


def _find_evidence(ranking: Ranking, unlabelled: Mask, errors: ErrorRates | None) -> dict[str, pa.Array]:
    """Return the columns of `Discovery.evidence`; the rank of a part is null where it is the same for all nodes."""
    parts = ranking.scoring.weigh(ranking.evidence.views[unlabelled])
    nothing = np.full(len(parts), None)
    sums = [parts[:, 2:4].sum(axis=1), parts[:, :2].sum(axis=1), parts[:, 4]]
    columns = {
        part: (rankdata(values) - 0.5) / len(values) if np.ptp(values) else nothing
        for part, values in zip(EVIDENCE, sums, strict=True)
    }
    columns["doubt"] = 1 - softmax(SHARPNESS * ranking.evidence.scores[unlabelled], axis=1).max(axis=1)
    columns["p_value"], columns["q_value"] = (nothing, nothing) if errors is None else (errors.p, errors.q)
    return {name: pa.array(values, pa.float64()) for name, values in columns.items()}
