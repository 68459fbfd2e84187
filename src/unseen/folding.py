"""Folding: the one place that makes of a graph of relations the graph that a method can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from unseen.errors import counted
from unseen.graph import Graph, Need
from unseen.ids import Features, merged
from unseen.relations import Relation

if TYPE_CHECKING:
    from unseen.relation_graph import RelationGraph


def folded(graph: RelationGraph, need: Need) -> tuple[Graph, str]:
    """Return a graph without the directions, signs and types that nobody needs, and the sentence about that."""
    from unseen.relation_graph import RelationGraph

    has = Need(graph.is_directed, graph.is_signed, graph.is_heterogeneous)
    kept = Need(has.directed and need.directed, has.signed and need.signed, has.typed and need.typed)
    if kept == has != Need():
        return graph, ""
    groups = [[each] for each in graph.relations] if kept.typed else [list(graph.relations)]
    relations, opposite = [], 0
    for group in groups:
        points = kept.directed and any(relation.directed for relation in group)
        name, source, target = "edge", None, None
        if kept.typed:
            name, source, target = group[0].name, group[0].source_type, group[0].target_type
        entries = []
        for relation in group:
            coo = relation.matrix.tocoo()
            used = np.flatnonzero(kept.signed | (coo.data > 0))
            entries.append((coo.row[used], coo.col[used], coo.data[used]))
            if points and not relation.directed and source == target:  # beside others that point
                entries.append((coo.col[used], coo.row[used], coo.data[used]))
        columns = [np.concatenate(parts) for parts in zip(*entries, strict=True)]
        row, column, weight = columns
        csr, _, odd = merged(row, column, weight, graph.n_nodes, mirror=not points and source == target)
        ends = row[odd].astype(np.int64), column[odd]
        opposite += len(np.unique(np.minimum(*ends) * graph.n_nodes + np.maximum(*ends)))
        relations.append(Relation(name, source, target, csr, points))
    sentence = _sentence(graph, kept, opposite)
    if kept.typed:
        return graph.with_relations(relations), sentence
    features, names = _side_by_side(graph)
    if kept == Need():
        return Graph(relations[0].matrix, features, graph.node_ids, names), sentence
    return RelationGraph(relations, graph.node_ids, None, features, names), sentence


def _side_by_side(graph: RelationGraph) -> tuple[Features | None, tuple[str, ...] | None]:
    """Return the features of all types in blocks of columns, and the names of these."""
    stored = graph.stored_features
    if len(graph.types) == 1 or not stored:
        return stored.get(graph.types[0], (None, None))
    blocks, names = [], list[str]()
    for key, (matrix, own) in stored.items():
        coo = sp.coo_array(matrix)
        ends, shape = (graph.rows_of(key)[coo.row], coo.col), (graph.n_nodes, matrix.shape[1])
        blocks.append(sp.coo_array((coo.data, ends), shape=shape))
        names += [f"{key}:{name}" for name in own or range(matrix.shape[1])]
    named = any(own is not None for _, own in stored.values())
    return sp.hstack(blocks, format="csr"), tuple(names) if named else None


def _sentence(graph: RelationGraph, kept: Need, opposite: int) -> str:
    parts = []
    if graph.is_heterogeneous and not kept.typed:
        types = f" between {len(graph.types)} types of nodes" if len(graph.types) > 1 else ""
        parts.append(f"{counted(len(graph.relations), 'relation')}{types} as one kind of edges")
        if types and graph.stored_features:
            parts.append(f"the features of {counted(len(graph.stored_features), 'type')} side by side")
    if graph.is_directed and not kept.directed:
        parts.append("directions left out")
    if graph.is_signed and not kept.signed:
        negative = sum(relation.n_negative for relation in graph.relations)
        parts.append(f"{counted(negative, 'edge')} of negative weight left out")
    if opposite:
        parts.append(f"{counted(opposite, 'pair')} of equal and opposite weights left out")
    return f"the graph was folded for methods that need it so: {', '.join(parts)}" if parts else ""
