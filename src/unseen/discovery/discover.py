"""From a graph and its labels to what the labels miss: the steps, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from unseen.data.objects_plain import as_graph_and_labels
from unseen.discovery.calibration import USUAL_SHARE, probabilities
from unseen.discovery.count import MIN_NODES, count_classes
from unseen.discovery.groups import Rows, class_metric, describe, sort_into_groups
from unseen.discovery.guarantees import (
    FDR,
    MIN_LABELS,
    ErrorRates,
    Guarantee,
    check_fdr,
    find_guarantee,
    has_full_class,
)
from unseen.discovery.names import add_support, match_names, name_classes, weigh_features
from unseen.discovery.questions import begun_classes, fine_questions, with_answers
from unseen.discovery.ranking import OnStep, Ranking, find_error_rates, nearest_classes, rank_nodes
from unseen.discovery.result import CERTAIN, EVIDENCE, ClassCount, Discovery, texts_of
from unseen.discovery.sampling import make_coverage
from unseen.discovery.signals import Mask, class_means
from unseen.discovery.space import Floats
from unseen.discovery.summary import top_nodes
from unseen.discovery.target import searched
from unseen.discovery.validation import judge, learn_slope, share_by_folds
from unseen.embedding import Embedding
from unseen.engine.run import libraries_on_one_thread
from unseen.errors import InputError, counted, logger, unknown_name
from unseen.graph import Graph
from unseen.ids import IdArray, id_order
from unseen.labels import Labels
from unseen.methods.base import Method
from unseen.methods.homophily import measure_homophily
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
    if n_classes is not None and (
        isinstance(n_classes, bool) or not isinstance(n_classes, int) or n_classes < 0
    ):
        msg = f"`n_classes` must be None or an integer of at least 0, got {n_classes!r}"
        raise InputError(msg)
    fdr = check_fdr(fdr)
    if rates not in ("same", "differ"):
        raise unknown_name("choice of `rates`", rates, ["same", "differ"])
    graph, given = as_graph_and_labels(graph, labels)
    labels = require_labels(graph, given)
    rng = as_generator(random_state)
    has_types = graph.node_types is not None
    if graph.node_types is not None or target is not None:
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
    """Discover where draws by row are draws by id, in the order of docs/explanation/discovery.md."""
    graph, words = task.graph, task.words
    begun = begun_classes(task.labels)
    labels = task.labels.keep(task.labels.labelled, without=begun) if begun else task.labels
    names = tuple(name for name, count in zip(labels.classes, labels.counts, strict=True) if count)
    ranking = rank_nodes(graph, labels, task.method, rng, task.on_step)
    indicator, space = ranking.indicator, ranking.space
    has_answer = (np.diff(task.labels.indicator.indptr) > 0) & ~indicator.any(axis=1)
    unlabelled = ~indicator.any(axis=1) & ~has_answer

    doubt = "the labels are concentrated in one region" if ranking.is_concentrated else ""
    doubt = doubt or ("" if ranking.is_homophilous else "the graph is heterophilous")
    counts = labels.counts[labels.counts > 0]
    test = judge(ranking.folds, names, counts, class_means(space, indicator), doubt=doubt)
    guarantee, error_rates = _find_errors(task, labels, ranking, bool(begun), rng)
    p = np.zeros(graph.n_nodes)
    scores = ranking.scores[unlabelled]
    p[unlabelled], if_hard = _find_probabilities(ranking, scores, error_rates, bool(words))
    p[has_answer] = 1.0
    named = match_names(graph, space, indicator, p, words)
    p[unlabelled] = add_support(p[unlabelled], named.support[unlabelled])
    is_new = unlabelled & (p > CERTAIN)
    error_rates = error_rates if guarantee.holds else None
    is_selected = np.zeros(graph.n_nodes, dtype=bool)
    if error_rates is not None:
        is_selected[unlabelled] = error_rates.q <= task.fdr

    likely = ranking.evidence.scores.argmax(axis=1)
    old = np.where(is_new, -1, likely)
    metric = class_metric(space, old)
    new = np.flatnonzero(is_new)
    count = count_classes(space, metric, _countable(new, unlabelled, p), old, rng)
    count = _limit_count(count, len(new), None if error_rates is None else error_rates.bounds.at_least)
    count = with_answers(count, len(begun), int(has_answer.sum()))
    if test.auroc is None or test.failed or labels.is_multilabel:
        count = _open_count(
            count, int(unlabelled.sum()), None if error_rates is None else error_rates.bounds.at_least
        )
    questions = fine_questions(metric, np.flatnonzero(has_answer | is_new), p, has_answer, child_seed(rng))
    p[has_answer] = 0.0

    name = np.full(graph.n_nodes, None, dtype=object)
    fits = new[named.best[new] >= 0]
    name[fits] = np.array(list(words), dtype=object)[named.best[fits]] if len(fits) else None
    k = count.best if task.n_classes is None else task.n_classes
    members = np.flatnonzero(is_selected) if is_selected.any() else new
    members = members if is_selected.any() or len(new) >= MIN_NODES or task.n_classes else new[:0]
    groups = sort_into_groups(metric, members, p[members], k, child_seed(rng))
    classes = name_classes(describe(graph, space, groups, p, indicator, names), groups, name)
    if is_selected.any():
        classes = tuple(replace(each, fdr=task.fdr) for each in classes)
    group = np.full(graph.n_nodes, None, dtype=object)
    for each, rows in zip(classes, groups, strict=True):
        group[rows] = each.group
    nodes = {
        "unseen_probability": pa.array(p[unlabelled], pa.float64()),
        "likely_class": pa.array([names[k] for k in likely[unlabelled]], pa.string()),
        "group": pa.array(group[unlabelled], pa.string()),
        "name": pa.array(name[unlabelled], pa.string()),
        "selected": pa.array(is_selected[unlabelled], pa.bool_()),
    }
    expected = (float(p.sum()), max(float(p.sum()), if_hard))
    return Discovery(
        nodes=_table(graph, unlabelled, nodes),
        classes=classes,
        count=count,
        self_test=test,
        coverage=make_coverage(
            graph,
            task.labels,
            measure_homophily(graph, labels),
            ranking.reach,
            ranking.is_concentrated,
            expected,
            test,
            ranking.notes,
        ),
        embedding=ranking.embedding,
        evidence=_evidence(graph, unlabelled, ranking, error_rates),
        guarantee=guarantee,
        fdr=task.fdr,
        bounds=None if error_rates is None else error_rates.bounds,
        absent=named.absent,
        questions=tuple(graph.node_ids[questions].tolist()),
    )


def _find_errors(
    task: _Task, labels: Labels, ranking: Ranking, has_begun: bool, rng: np.random.Generator
) -> tuple[Guarantee, ErrorRates | None]:
    """Return whether there is a guarantee, and the p-values of the nodes where they have a basis.

    Names of classes end the guarantee, but they do not change the p-values, which tell how many nodes are new.
    """
    indicator = ranking.indicator
    conditions = {
        "is_concentrated": ranking.is_concentrated,
        "has_one_class": indicator.shape[1] < 2,
        "has_few_labels": len(labels.labelled) < MIN_LABELS,
        "has_names": False,
        "is_heterophilous": not ranking.is_homophilous,
        "has_several": labels.is_multilabel,
        "has_types": task.has_types,
        "has_begun": has_begun,
        "is_learned": ranking.is_learned,
        "has_accepted": bool(labels.guesses)
        or has_full_class(nearest_classes(ranking.space, indicator), indicator),
    }
    rates_differ = task.rates == "differ" or ranking.weights is not None
    has_basis = find_guarantee(conditions, rates_differ=rates_differ).holds
    rates = find_error_rates(ranking, task.rates, rng) if has_basis else None
    conditions["has_names"] = bool(task.words)
    return find_guarantee(conditions, rates_differ=rates_differ), rates


def _find_probabilities(
    ranking: Ranking, scores: Floats, rates: ErrorRates | None, has_names: bool
) -> tuple[Floats, float]:
    """Return the probability of each unlabelled node, and how many are new if they are like the hardest class.

    The share of new nodes is the median of what the leave-one-class-out test says, what the p-values say and what is
    usual. Where no node is proven to be new, it is the lower one of the first two, and none if that is below its
    standard error, unless classes were given by name. Where the labels are concentrated, it is the usual one.
    """
    folds, share = ranking.folds, USUAL_SHARE
    if not ranking.is_concentrated:
        by_test = share_by_folds(scores, folds)
        share = float(np.median([by_test, USUAL_SHARE, *([] if rates is None else [rates.share])]))
        if rates is not None and not rates.bounds.at_least:
            error = ranking.indicator.any(axis=1).sum() ** -0.5
            share = min(by_test, rates.share)
            share = 0.002 if share < error and not has_names else share
    if rates is not None:
        share = min(max(share, rates.bounds.at_least / len(scores)), 0.98)
    hardest = [min(folds, key=lambda fold: fold.auroc)] if folds else []
    if_hard = share_by_folds(scores, folds, hardest) * len(scores)
    return probabilities(scores, learn_slope(folds), share), if_hard


def _limit_count(count: ClassCount, n_new: int, at_least: int | None) -> ClassCount:
    """Return the count, from 1 on where the bound shows missing nodes; from 0 on where no class need be missing."""
    if at_least:
        return replace(count, **{part: max(getattr(count, part), 1) for part in ("best", "low", "high")})
    return replace(count, low=0) if n_new < MIN_NODES or at_least == 0 else count


def _open_count(count: ClassCount, n_nodes: int, at_least: int | None) -> ClassCount:
    """Return the count where nothing is known of missing classes, or where classes overlap: any number is possible.

    The spread of the labelled classes is no measure of classes that are not recovered, or that share nodes.
    """
    low = max(count.proven, 1 if at_least else 0)
    return ClassCount(
        count.best, min(low, count.best), max(n_nodes // MIN_NODES, count.high), proven=count.proven
    )


def _countable(new: Rows, unlabelled: Mask, p: Floats) -> Rows:
    """Return the nodes whose classes are counted: `new` or, if these are too few, as many as are expected to be new."""
    if len(new) >= MIN_NODES:
        return new
    rows = np.flatnonzero(unlabelled)
    return np.sort(rows[np.argsort(-p[rows], kind="stable")[: round(p[rows].sum())]])


def require_labels(graph: Graph, labels: Labels | None) -> Labels:
    """Return the labels; raise an `InputError` unless a node has one."""
    if labels is None or not len(labels.align_to(graph).labelled):
        msg = "there are no labels, so every class is missing; label some nodes first (suggest says which)"
        raise InputError(msg)
    return labels


def _table(graph: Graph, rows: Mask, columns: dict[str, pa.Array]) -> pa.Table:
    return pa.table({"node": id_array(graph.node_ids[rows]), **columns})


def id_array(ids: IdArray) -> pa.Array:
    """Return node ids as a column."""
    return pa.array(ids.tolist(), pa.int64() if ids.dtype == np.int64 else pa.string())


def _evidence(graph: Graph, unlabelled: Mask, ranking: Ranking, error_rates: ErrorRates | None) -> pa.Table:
    """Return how the parts of the score rank the unlabelled nodes, and their p-values and q-values."""
    parts = ranking.scoring.weigh(ranking.evidence.views[unlabelled])
    sums = {
        "no_class_fits": parts[:, 2:4].sum(axis=1),
        "unlike_labelled": parts[:, :2].sum(axis=1),
        "neighbourhood": parts[:, 4],
    }
    columns = {part: _ranks(sums[part]) for part in EVIDENCE}
    columns["doubt"] = pa.array(ranking.evidence.doubt[unlabelled], pa.float64())
    nothing = np.full(int(unlabelled.sum()), None)
    columns["p_value"] = pa.array(nothing if error_rates is None else error_rates.p, pa.float64())
    columns["q_value"] = pa.array(nothing if error_rates is None else error_rates.q, pa.float64())
    return _table(graph, unlabelled, columns)


def _ranks(values: Floats) -> pa.Array:
    """Return ranks from 0 to 1, or nulls where all values are the same."""
    from scipy.stats import rankdata

    if not np.ptp(values):
        return pa.nulls(len(values), pa.float64())
    return pa.array((rankdata(values) - 0.5) / len(values), pa.float64())
