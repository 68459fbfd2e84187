"""Which nodes to label next, so that missing classes are found with few questions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from unseen.data.objects_plain import as_graph_and_labels
from unseen.discovery.audit import doubts_of
from unseen.discovery.discover import discover
from unseen.discovery.groups import sort_into_groups
from unseen.discovery.questions import FINE_GROUPS, find_bare_parts, most_telling, spread_out
from unseen.discovery.result import CERTAIN, Discovery, Node, texts_of
from unseen.discovery.vectors import searched, source_of, unit_vectors, vectors_of
from unseen.embedding import Embedding
from unseen.engine.run import libraries_on_one_thread
from unseen.errors import InputError, counted, logger, need_library
from unseen.graph import Graph
from unseen.ids import as_ids, id_order, match_ids
from unseen.labels import RANDOM, SCORE, Labels
from unseen.linalg.normalize import l2_rows
from unseen.methods.base import Method
from unseen.notebook import as_html, html_table
from unseen.randomness import RandomState, as_generator, child_seed, keyed_bits, node_keys, seed_of

DOUBTS = 5
"""At most one in so many questions is about a label that is probably wrong."""


@dataclass(frozen=True)
class Suggestion:
    """A node worth a label, and why.

    Parameters
    ----------
    node : str or int
        Its id.
    reason : str
        Why it was chosen.
    unseen_probability : float
        Probability that it belongs to a missing class.
    likely_class : str or None
        The labelled class it belongs to otherwise.
    group : str or None
        The found class it is in.
    replaces : str or None
        Its present label, where that is probably wrong or a guess: the answer replaces it.
    drawn : str
        How it was chosen: ``random`` or by its ``score``.
    pool : int or None
        Number of nodes without a label or an answer when a random one was drawn.

    Examples
    --------
    >>> Suggestion("exim4", "typical of new-1 (mail, smtp)", 0.97, "net", "new-1").to_dict()["group"]
    'new-1'
    """

    node: Node
    reason: str
    unseen_probability: float
    likely_class: str | None
    group: str | None
    replaces: str | None = None
    drawn: str = SCORE
    pool: int | None = None

    _repr_html_ = as_html

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON and tables."""
        return asdict(self)


class Suggestions(list[Suggestion]):
    """A list of suggestions that notebooks show as a table, with the texts of the nodes and the labelled classes."""

    def __init__(
        self, suggestions: Iterable[Suggestion], texts: Mapping[Node, str], classes: Sequence[str] = ()
    ) -> None:
        super().__init__(suggestions)
        self.texts, self.classes = texts, tuple(classes)

    def to_argilla(self) -> list[Any]:
        """Return a record of Argilla for each question; its suggestion is the class that fits best, if one is likely.

        A record has the field `text`, a suggestion for the question `label`, and everything else as metadata. Its score
        is the probability that the node belongs to a labelled class.
        """
        argilla = need_library("argilla", "to_argilla")
        records = []
        for each in self:
            row = {name: value for name, value in each.to_dict().items() if value is not None}
            score = 1 - each.unseen_probability
            likely = [] if each.likely_class is None or score <= 0.5 else [each.likely_class]
            records.append(
                argilla.Record(
                    id=str(each.node),
                    fields={"text": self.texts.get(each.node) or str(each.node)},
                    metadata={**row, "node": str(each.node)},
                    suggestions=[
                        argilla.Suggestion("label", name, score=score, agent="unseen") for name in likely
                    ],
                )
            )
        return records

    def _repr_html_(self) -> str:
        columns: dict[str, list[object]] = {"node": [each.node for each in self]}
        if self.texts:
            columns["text"] = [self.texts.get(each.node) for each in self]
        for name in ("reason", "likely_class", "unseen_probability", "group"):
            columns[name] = [getattr(each, name) for each in self]
        return html_table(f"{counted(len(self), 'node')} to label next", columns)


@libraries_on_one_thread()
def suggest(
    graph: Graph | Any,
    labels: Labels | Any,
    *,
    budget: int = 20,
    random: int = 0,
    discovery: Discovery | None = None,
    method: str | Method | Embedding | None = None,
    target: str | None = None,
    random_state: RandomState = None,
    on_step: Any = None,
) -> Suggestions:
    """Return the nodes to label next, the most telling first, each with a reason.

    First comes a typical node of each of six fine groups of the new nodes: their classes settle how many classes are
    missing. Then the most typical node of every found class without such a question, as many nodes that may be new or
    not, and nodes that are probably new or of a doubtful class, each unlike all those chosen before. Where no new class
    is left, they are the nodes whose classes tell most about all that are in doubt. Three in ten are about parts of the
    labelled classes in which labels are rare: a small class that resembles another one hides there. The last fifth is
    about labels that are probably wrong (:func:`unseen.audit`), where there are any. Without any labels, the nodes
    typical of the parts of the graph are suggested. What somebody has looked at (`Labels.answers`) is not suggested
    again.

    Random questions prove how many nodes at most belong to missing classes (:meth:`unseen.Labels.certificate`). They
    come first, since they are drawn before the others are chosen. Where no missing class is found any more, all
    questions are random ones.

    Parameters
    ----------
    graph, labels
        As for :func:`unseen.discover`; `labels` may be None, or nothing but unlabelled nodes.
    budget : int
        How many nodes.
    random : int
        How many more are drawn at random from all nodes without a label or an answer. With the same `random_state` a
        random question comes again until it is answered.
    discovery : Discovery, optional
        What :func:`unseen.discover` found for these labels; found out when not given.
    method, target, random_state, on_step
        As for :func:`unseen.discover`.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(300, 5, random_state=0)
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c4"], random_state=0)
    >>> first = unseen.suggest(data.graph, split.seen_labels, budget=3, random_state=0)[0]
    >>> first.reason[:26], data.labels.classes[data.labels.codes[first.node]]
    ('a typical member of new-1 ', 'c4')
    """
    for name, value, least in (("budget", budget, 1), ("random", random, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            msg = f"`{name}` must be an integer of at least {least}, got {value!r}"
            raise InputError(msg)
    budget, random = int(budget), int(random)
    graph, labels = as_graph_and_labels(graph, labels if discovery is None else None)
    draw_seed = seed_of(random_state)
    if draw_seed is None:
        draw_seed = child_seed(as_generator(random_state)) if random else 0
    if discovery is None and (labels is None or not len(labels.align_to(graph).labelled)):
        rng = as_generator(random_state)
        if target is not None:
            graph, labels, method = searched(graph, labels, method, target, child_seed(rng))
        nothing = Labels.from_values([None] * graph.n_nodes, graph.node_ids)
        labels = nothing if labels is None else labels.align_to(graph)
        drawn = draw_questions(labels, random, draw_seed)
        asked = {*labels.answers, *(each.node for each in drawn)}
        suggestions = [*drawn, *_suggest_parts(graph, budget, method, rng, asked)]
        classes = labels.classes
    else:
        if discovery is None:
            options = {"method": method, "target": target, "random_state": random_state, "on_step": on_step}
            discovery = discover(graph, labels, **options)
        is_done = random and not discovery.classes
        after_the_first = 0 if is_done else max(budget - FINE_GROUPS, 0)
        doubts = _suggest_doubts(graph, discovery, min(budget // DOUBTS, after_the_first))
        suggestions = [*suggest_from(discovery, budget - len(doubts), random, draw_seed), *doubts]
        classes = discovery.labels.classes
    return Suggestions(suggestions, texts_of(graph, [each.node for each in suggestions]), classes)


def draw_questions(
    labels: Labels, count: int, seed: int, found: Mapping[Node, Mapping[str, Any]] = MappingProxyType({})
) -> list[Suggestion]:
    """Return questions drawn uniformly at random from the nodes without a label or an answer.

    A label that came with a group is a guess, so its node can be drawn, too. Every node has a place of its own in a
    random order, so that the same seed asks the same question until it is answered. `found` has what
    :func:`unseen.discover` says about the nodes.
    """
    ids = labels.node_ids.tolist()
    guesses = {node: names for node, names in labels.to_lists().items() if node in labels.guesses}
    known = {ids[row] for row in labels.labelled} - guesses.keys()
    known |= {node for node, status in labels.answers.items() if status}
    pool = np.array([row for row, node in enumerate(ids) if node not in known], dtype=np.int64)
    # nothing else draws from this stream of random numbers
    order = keyed_bits(node_keys(labels.node_ids[pool], seed), 1, stream=35)[:, 0]
    reason = f"drawn at random from {counted(len(pool), 'node')}; random answers tell when you may stop"
    questions = []
    for row in pool[np.argsort(order, kind="stable")[:count]].tolist():
        node, (guess,) = ids[row], guesses.get(ids[row], [None])[:1]
        here = found.get(node, {})
        likely, group = here.get("likely_class", guess), here.get("group")
        p = float(here.get("unseen_probability", 0.0 if guess else 1.0))
        questions.append(Suggestion(node, reason, p, likely, group, guess, drawn=RANDOM, pool=len(pool)))
    return questions


def _suggest_doubts(graph: Graph, discovery: Discovery, most: int) -> list[Suggestion]:
    """Return questions about labels that are probably wrong and that nobody has looked at, one a node."""
    labels = discovery.labels
    doubts = doubts_of(graph, labels, discovery.embedding) if most else None
    questions: dict[Node, Suggestion] = {}
    for doubt in [] if doubts is None else doubts.to_pylist():
        node, given, likely = doubt["node"], doubt["label"], doubt["likely_class"]
        if node not in labels.answers and node not in questions and len(questions) < most:
            wrong = f"the label {given} is probably wrong ({doubt['probability']:.0%})"
            reason = f"{wrong}, {likely} is more likely"
            questions[node] = Suggestion(node, reason, 0.0, likely, None, replaces=given)
    return list(questions.values())


def _suggest_parts(
    graph: Graph, budget: int, method: Any, rng: np.random.Generator, asked: Collection[Node]
) -> list[Suggestion]:
    """Return typical nodes of the parts of a graph without labels, those of the largest part first."""
    graph = graph.subgraph(id_order(graph.node_ids))
    embedding = vectors_of(graph, None, source_of(graph, method, child_seed(rng)))
    vectors = unit_vectors(embedding.vectors, rng)
    n, ids, suggestions = len(vectors), graph.node_ids.tolist(), []
    for rows in sort_into_groups(vectors, np.arange(n), np.ones(n), budget, child_seed(rng)):
        near = vectors[rows] @ vectors[rows].mean(axis=0)
        near[[ids[row] in asked for row in rows]] = -np.inf
        if np.isfinite(near.max()):
            reason = f"typical of {counted(len(rows), 'similar node')} without a label"
            suggestions.append(Suggestion(ids[rows[int(near.argmax())]], reason, 1.0, None, None))
    return suggestions


def suggest_from(discovery: Discovery, budget: int, random: int = 0, seed: int = 0) -> list[Suggestion]:
    """Return the unlabelled nodes to label next by what was found; nothing is computed again.

    The first `random` ones are drawn at random; all, where there are such and no missing class is found any more.
    """
    asked, listed = set(discovery.labels.answers), discovery.nodes["node"].to_pylist()
    suggestions: list[Suggestion] = []
    if random:
        found = dict(zip(listed, discovery.nodes.to_pylist(), strict=True))
        is_done = not discovery.classes
        suggestions = draw_questions(discovery.labels, random + budget * is_done, seed, found)
        if is_done:
            logger.info("no missing class is found any more, so all questions are drawn at random")
            return suggestions
        asked.update(each.node for each in suggestions)
    # rows are in the order of the ids: ties end alike in whatever order nodes came
    everyone = id_order(discovery.embedding.node_ids)
    ids = discovery.embedding.node_ids[everyone]
    unlabelled = match_ids(as_ids(listed), ids)
    order = np.argsort(unlabelled)
    order = order[[listed[place] not in asked for place in order]]
    rows, nodes = unlabelled[order], discovery.nodes.take(order).to_pydict()
    p = np.array(nodes["unseen_probability"], dtype=np.float64)
    doubt = discovery.evidence["doubt"].to_numpy()[order]
    vectors = unit_vectors(discovery.embedding.vectors[everyone], np.random.default_rng(0))
    vectors = l2_rows(vectors - vectors.mean(axis=0))
    labels = discovery.labels.of_nodes(ids)
    names, codes = {name: k for k, name in enumerate(labels.classes)}, np.full(len(ids), -1)
    codes[unlabelled] = [names.get(name, -1) for name in discovery.nodes["likely_class"].to_pylist()]
    codes[labels.labelled] = labels.indicator.indices[labels.indicator.indptr[labels.labelled]]
    is_labelled, is_open = (np.isin(np.arange(len(ids)), some) for some in (labels.labelled, rows))
    bare = np.searchsorted(rows, find_bare_parts(vectors, codes, is_labelled, is_open, budget))
    labelled, vectors = np.delete(vectors, unlabelled, axis=0), vectors[rows]
    questions = [node for node in discovery.questions if node not in asked]
    members = [[node for node in c.members if node not in asked] for c in discovery.classes]
    others = [group[0] for group in members if group and set(questions).isdisjoint(group)]
    typical = match_ids(as_ids([*questions, *others]), ids[rows])
    # a class that looks like others is found where it is open whether nodes are new, not where they surely are
    first = spread_out(vectors, p * (1 - p), typical, min(len(typical) + len(questions), budget))
    if discovery.classes:
        # any node counts a little, because some missing classes look like labelled ones
        chosen = spread_out(vectors, 0.3 + p + 0.5 * (1 - p) * doubt, first, budget)
    else:
        chosen = most_telling(vectors, p + (1 - p) * doubt, labelled, first, budget)
    bare = bare[~np.isin(bare, first)][: min(budget * 3 // 10, budget - min(len(typical), budget))]
    chosen = chosen[~np.isin(chosen, bare)][: budget - len(bare)]
    about = {c.group: f"{c.group} ({', '.join(c.caption[:3])})" for c in discovery.classes}
    for place, row in enumerate([*chosen.tolist(), *bare.tolist()]):
        group, likely = nodes["group"][row], nodes["likely_class"][row]
        if place >= len(chosen):
            reason = f"typical of a part of {likely} that has hardly any label"
        elif place < len(questions):
            reason = f"a typical member of {about[group] if group else 'the nodes of missing classes'}"
        elif place < len(typical):
            reason = f"the most typical member of {about[group]}"
        elif place < len(first):
            reason = f"either {likely} or a missing class; differs from the nodes above"
        elif p[row] > CERTAIN:
            among = f" ({group})" if group else ""
            reason = f"probably in a missing class{among}; differs from the nodes above"
        elif discovery.classes:
            reason = f"differs from the nodes above; {likely} is only the best guess"
        else:
            reason = f"represents similar nodes, for which {likely} is only the best guess"
        suggestions.append(Suggestion(nodes["node"][row], reason, float(p[row]), likely, group))
    return suggestions
