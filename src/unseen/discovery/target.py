"""Graphs of several types of nodes: classes are missing among the nodes of the types that have labels only."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.embedding import Embedding
from unseen.errors import InputError, unknown_type
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.base import Method
from unseen.methods.registry import make_method


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
