"""From what a user has to the subject of a page: vectors, findings and suggestions, as far as the labels allow."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from unseen.data.objects_plain import as_graph_and_labels
from unseen.embedding import Embedding
from unseen.errors import InputError, logger
from unseen.explorer.build import Subject, common_rows
from unseen.explorer.layout import Progress
from unseen.graph import Graph
from unseen.ids import match_ids
from unseen.labels import Labels
from unseen.methods.base import Method
from unseen.methods.registry import make_method
from unseen.randomness import RandomState, as_generator, child_seed, seed_of

METHOD = "smoothfeats"
"""Where vectors come from when there is nothing to discover and no method was named."""


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
    from unseen.discovery.ranking import searched
    from unseen.discovery.suggest import suggest, suggest_from

    if graph is None and embedding is None:
        msg = "there is nothing to explore: give a graph, an embedding or both"
        raise InputError(msg)
    rng = as_generator(random_state)
    if graph is not None:
        graph, labels = as_graph_and_labels(graph, labels)
    shown = graph
    if graph is not None and (graph.node_types is not None or target is not None):
        graph, labels, vectors = searched(graph, labels, embedding or method, target, child_seed(rng))
        embedding = vectors if isinstance(vectors, Embedding) else embedding
    if graph is None:
        ids = embedding.node_ids  # type: ignore[union-attr]  # there is one of the two
        common = whole = Graph(sp.csr_array((len(ids), len(ids))), node_ids=ids)
    elif embedding is None:
        common = whole = graph
    else:
        ids = embedding.node_ids[common_rows(embedding, graph)]
        whole, common = graph, graph.subgraph(match_ids(ids, graph.node_ids))
    common_labels = None if labels is None else labels.of_nodes(common.node_ids)
    n_labelled = 0 if common_labels is None else len(common_labels.labelled)
    if common_labels is None or n_labelled in (0, common.n_nodes):
        seed = child_seed(rng)
        estimator = method if isinstance(method, Method) else make_method(method or METHOD, random_state=seed)
        vectors = embedding or estimator.fit_transform(whole, labels)
        if n_labelled:
            logger.info(
                "all %d nodes have a label, so there is nothing to discover; --unseen and --label-rate hide some",
                n_labelled,
            )
            return Subject(vectors, shown, labels, truth)
        seed = child_seed(rng)
        first = None
        if budget:
            first = suggest(
                common, common_labels, budget=budget, random=random, method=vectors, random_state=seed
            )
        return Subject(vectors, shown, labels, truth, None, first)
    discovery = discover(
        common, common_labels, method=embedding or method, random_state=rng, on_step=on_step, **classes
    )
    suggestions = suggest_from(discovery, budget, random, seed_of(random_state) or 0) if budget else None
    return Subject(embedding or discovery.embedding, shown, labels, truth, discovery, suggestions)
