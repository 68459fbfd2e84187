"""Folding: the one place that makes of a graph of relations the graph that a method can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from unseen.errors import counted, logger
from unseen.graph import Graph, Need
from unseen.ids import Features
from unseen.relations import Floats, Ints, Relation, both_ways, strongest

if TYPE_CHECKING:
    from unseen.relation_graph import RelationGraph


def folded(graph: RelationGraph, need: Need) -> Graph:
    """Return a graph without the directions, signs and types that nobody needs; the only place that does so."""
    from unseen.relation_graph import RelationGraph

    several = graph.is_heterogeneous
    directed, signed = need.directed and graph.is_directed, need.signed and graph.is_signed
    typed = need.typed and several
    if (directed, signed, typed) == (graph.is_directed, graph.is_signed, several) and (
        directed or signed or typed
    ):
        return graph
    parts = [_without(relation, directed=directed, signed=signed) for relation in graph.relations]
    kept, opposite = [relation for relation, _ in parts], sum(n for _, n in parts)
    if not typed:
        entries = [_entries(relation) for relation in kept]
        row, column, weight = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        csr, places = strongest(row, column, weight, graph.n_nodes)
        opposite += len(places) if directed else sum(i <= j for i, j in places)
    _say_folded(graph, opposite, directed=directed, signed=signed, typed=typed)
    if typed:
        stored = graph._features
        types = None if graph.types == (None,) else np.array(graph.types, dtype=object)[graph._codes]
        return RelationGraph(
            kept,
            graph.node_ids,
            types,
            {key: matrix for key, (matrix, _) in stored.items()} or None,
            {key: names for key, (_, names) in stored.items() if names is not None} or None,
        )
    features, names = _side_by_side(graph)
    if not directed and not signed:
        return Graph(csr, features, graph.node_ids, names)
    return RelationGraph([Relation("edge", None, None, csr, directed)], graph.node_ids, None, features, names)


def _without(relation: Relation, *, directed: bool, signed: bool) -> tuple[Relation, int]:
    """Return a relation without its negative edges, or its directions, and how many pairs are equal and opposite."""
    coo = relation.matrix.tocoo()
    kept = np.ones(coo.nnz, dtype=bool) if signed else coo.data > 0
    if kept.all() and directed >= relation.directed:
        return relation, 0
    row, column, weight = coo.row[kept].astype(np.int64), coo.col[kept].astype(np.int64), coo.data[kept]
    points = directed and relation.directed
    if relation.directed and not points and relation.source_type == relation.target_type:
        row, column, weight = both_ways(row, column, weight)
    csr, places = strongest(row, column, weight, coo.shape[0])
    kept_edges = Relation(relation.name, relation.source_type, relation.target_type, csr, points)
    return kept_edges, sum(i <= j for i, j in places)


def _entries(relation: Relation) -> tuple[Ints, Ints, Floats]:
    """Return the entries of a relation in a matrix of all relations: both ways, unless it points."""
    coo = relation.matrix.tocoo()
    row, column = coo.row.astype(np.int64), coo.col.astype(np.int64)
    if relation.directed or relation.source_type == relation.target_type:
        return row, column, coo.data
    return both_ways(row, column, coo.data)


def _side_by_side(graph: RelationGraph) -> tuple[Features | None, tuple[str, ...] | None]:
    """Return the features of all types in blocks of columns, and the names of these."""
    stored = graph._features
    if len(graph.types) == 1:
        return stored.get(graph.types[0], (None, None))
    if not stored:
        return None, None
    blocks, names = [], list[str]()
    for key, (matrix, own) in stored.items():
        rows = np.flatnonzero(graph._codes == graph.types.index(key))
        coo = sp.coo_array(matrix)
        shape = (graph.n_nodes, matrix.shape[1])
        blocks.append(sp.coo_array((coo.data, (rows[coo.row], coo.col)), shape=shape))
        names += [f"{key}:{name}" for name in own or range(matrix.shape[1])]
    named = any(own is not None for _, own in stored.values())
    return sp.hstack(blocks, format="csr"), tuple(names) if named else None


def _say_folded(graph: RelationGraph, opposite: int, *, directed: bool, signed: bool, typed: bool) -> None:
    parts = []
    if graph.is_heterogeneous and not typed:
        kinds = counted(len(graph.relations), "relation")
        types = f" between {len(graph.types)} types of nodes" if len(graph.types) > 1 else ""
        parts.append(f"{kinds}{types} as one kind of edges")
        if len(graph.types) > 1 and graph._features:
            parts.append(f"the features of {counted(len(graph._features), 'type')} side by side")
    if graph.is_directed and not directed:
        parts.append("directions left out")
    if graph.is_signed and not signed:
        negative = sum(relation.n_negative for relation in graph.relations)
        parts.append(f"{counted(negative, 'edge')} of negative weight left out")
    if opposite:
        parts.append(f"{counted(opposite, 'pair')} of equal and opposite weights left out")
    if parts:
        logger.info("the graph was folded for methods that need it so: %s", ", ".join(parts))
