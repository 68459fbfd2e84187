"""What a page is about: from what a user has to vectors, findings and suggestions, as far as the labels allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from unseen.data.objects_plain import as_graph_and_labels
from unseen.embedding import Embedding
from unseen.errors import InputError, logger
from unseen.explorer.content import Content
from unseen.explorer.layout import Progress, graph_without_edges
from unseen.graph import Graph
from unseen.ids import IdArray, Ints, match_ids
from unseen.labels import Labels
from unseen.methods.base import Method
from unseen.methods.registry import make_method
from unseen.randomness import RandomState, as_generator, child_seed, seed_of

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.discovery.suggest import Suggestion

METHOD = "smoothfeats"
"""Where vectors come from when there is nothing to discover and no method was named."""


@dataclass(frozen=True, eq=False)
class Subject:
    """What a page is about.

    Parameters
    ----------
    embedding : Embedding
        Vectors; nodes of the graph that it lacks are not drawn.
    graph : Graph or None
        Edges and features, where there are any.
    labels : Labels or None
        What the method saw.
    truth : Labels or None
        Labels that were kept from the method, for the reader alone.
    discovery : Discovery or None
        What was found.
    suggestions : sequence of Suggestion or None
        What to label next.
    doubts : pyarrow.Table or None
        Labels that are probably wrong, as :func:`unseen.audit` lists them.
    attributes : pyarrow.Table or None
        More to colour by: a column `node`, and any others.
    titles : mapping or None
        A title for each node id, which the page shows instead of the id.
    """

    embedding: Embedding
    graph: Graph | None = None
    labels: Labels | None = None
    truth: Labels | None = None
    discovery: Discovery | None = None
    suggestions: Sequence[Suggestion] | None = None
    doubts: pa.Table | None = None
    attributes: pa.Table | None = None
    titles: Mapping[str, str] | None = None


@dataclass(frozen=True, eq=False)
class UpdateJob:
    """What stays the same from update to update: the graph, the nodes on the map, what :func:`prepare` is told.

    `vectors` are those of a method that the user chose. They do not change with the labels; the default method, None,
    uses none.
    """

    graph: Graph
    vectors: Embedding | None
    ids: IdArray
    options: Content

    def run(self, labels: Labels, on_step: Progress = None) -> Subject:
        """Return what the page is about with these labels: probabilities, groups, suggestions, doubts."""
        from unseen.discovery.audit import doubts_of

        own = labels.align_to(self.graph)
        subject = prepare(self.graph, own, embedding=self.vectors, on_step=on_step, **self.options)
        doubts = doubts_of(self.graph, own, subject.embedding, self.options["random_state"])
        return replace(subject, doubts=doubts)


def prepare(
    graph: Graph | Any,
    labels: Labels | Any = None,
    *,
    embedding: Embedding | None = None,
    method: str | Method | None = None,
    truth: Labels | None = None,
    target: str | None = None,
    budget: int = 20,
    random: int = 0,
    random_state: RandomState = 0,
    on_step: Progress = None,
    **classes: Any,
) -> Subject:
    """Return the subject of a page, computed from what :func:`unseen.explore` takes; `classes` go to discovery.

    Examples
    --------
    >>> import unseen
    >>> prepare(unseen.planted_partition(40, 2, random_state=0).graph).embedding
    Embedding(40 nodes, 40 columns, by smoothfeats)
    """
    from unseen.discovery.discover import discover
    from unseen.discovery.suggest import suggest, suggest_from
    from unseen.discovery.vectors import searched

    if graph is None and embedding is None:
        msg = "there is nothing to explore: give a graph, an embedding or both"
        raise InputError(msg)
    rng = as_generator(random_state)
    if graph is not None:
        graph, labels = as_graph_and_labels(graph, labels)
    shown: Graph | None = graph
    common: Any = graph
    if graph is not None and (graph.node_types is not None or target is not None):
        common, labels, vectors = searched(graph, labels, embedding or method, target, child_seed(rng))
        embedding = vectors if isinstance(vectors, Embedding) else embedding
    if embedding is not None and common is not None:
        ids = embedding.node_ids[common_rows(embedding, common)]
        common = common.subgraph(match_ids(ids, common.node_ids))
    elif embedding is not None:
        common = graph_without_edges(embedding.node_ids)
    common_labels = None if labels is None else labels.of_nodes(common.node_ids)
    n_labelled = 0 if common_labels is None else len(common_labels.labelled)
    if n_labelled not in (0, common.n_nodes):
        found = discover(
            common, common_labels, method=embedding or method, random_state=rng, on_step=on_step, **classes
        )
        questions = suggest_from(found, budget, random, seed_of(random_state) or 0) if budget else None
        return Subject(embedding or found.embedding, shown, labels, truth, found, questions)
    seeds = child_seed(rng), child_seed(rng)
    if embedding is None:
        estimator = (
            method if isinstance(method, Method) else make_method(method or METHOD, random_state=seeds[0])
        )
        embedding = estimator.fit_transform(common, labels)
    questions = None
    if n_labelled:
        logger.info(
            "all %d nodes have a label, so there is nothing to discover; --unseen and --label-rate hide some",
            n_labelled,
        )
    elif budget:
        questions = suggest(
            common, common_labels, budget=budget, random=random, method=embedding, random_state=seeds[1]
        )
    return Subject(embedding, shown, labels, truth, None, questions)


def common_rows(embedding: Embedding, graph: Graph) -> Ints:
    """Return the rows of the embedding whose nodes the graph has; none at all is an error."""
    inside = match_ids(embedding.node_ids, graph.node_ids)
    if (inside < 0).all():
        msg = (
            f"no node of the embedding is in the graph: the first are {embedding.node_ids[0]!r} there and "
            f"{graph.node_ids[0]!r} here; give the graph that the vectors were made of"
        )
        raise InputError(msg)
    return np.flatnonzero(inside >= 0)
