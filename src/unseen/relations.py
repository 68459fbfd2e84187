"""Graphs with several relations: checks of types, and the views that methods ask for. Plain graphs need none of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.errors import InputError, counted, logger, unknown_type
from unseen.ids import Features, Ints, Place, Stored, Types
from unseen.weights import Relation, is_same, merge_entries

if TYPE_CHECKING:
    from unseen.graph import Graph, Need


def check_relations(
    relations: Iterable[Relation], node_types: Iterable[Any] | None
) -> tuple[tuple[Relation, ...], Types, Ints | None]:
    """Return relations that fit together, the types of nodes, and the number of each node's type (None: one type)."""
    listed = tuple(relations)
    wrong = next((type(relation).__name__ for relation in listed if not isinstance(relation, Relation)), None)
    if not listed or wrong is not None:
        msg = f"`relations` must be a list of unseen.Relation, at least one, got {wrong or 'nothing'}"
        raise InputError(msg)
    n, keys = listed[0].matrix.shape[0], set()
    for relation in listed:
        if relation.matrix.shape[0] != n:
            msg = (
                f"the matrix of relation {relation.name!r} has {relation.matrix.shape[0]} rows, that of "
                f"{listed[0].name!r} has {n}; every relation needs a row for every node of the graph"
            )
            raise InputError(msg)
        key = (relation.name, relation.source_type, relation.target_type)
        if key in keys:
            msg = f"the relation {relation.name!r} is given twice for the same types of nodes; give it another name"
            raise InputError(msg)
        keys.add(key)
    types, codes = _number_types(node_types, listed, n)
    return tuple(_orient_relation(relation, types, codes) for relation in listed), types, codes


def _number_types(
    node_types: Iterable[Any] | None, relations: Sequence[Relation], n: int
) -> tuple[Types, Ints | None]:
    """Return the types in the order of first appearance, and the number of each node's."""
    named = dict.fromkeys(end for each in relations for end in (each.source_type, each.target_type))
    if node_types is None:
        if len(named) > 1:
            listed = ", ".join(map(repr, named))
            msg = f"the relations name the types {listed}; give `node_types`, the type of each node"
            raise InputError(msg)
        return tuple(named), None
    values = list(node_types)
    if len(values) != n:
        msg = f"`node_types` has {len(values)} entries but the graph has {n} nodes"
        raise InputError(msg)
    bad = next((k for k, value in enumerate(values) if not isinstance(value, str) or not value), None)
    if bad is not None:
        msg = f"`node_types` holds {values[bad]!r} for row {bad}; a type must be a text"
        raise InputError(msg)
    number = {name: k for k, name in enumerate(dict.fromkeys(map(str, values if n else named)))}
    if len(number) == 1:  # relations need not name the only type
        named.pop(None, None)
    for name in named:
        if name is None:
            msg = (
                f"a relation has no types, but the nodes have: {', '.join(number)}; give it source and target"
            )
            raise InputError(msg)
        if name not in number:
            raise unknown_type(name, number)
    if len(number) == 1:
        return tuple(number), None
    return tuple(number), np.array([number[str(value)] for value in values], dtype=np.int64)


def _orient_relation(relation: Relation, types: Types, codes: Ints | None) -> Relation:
    """Return the relation with every entry in the row of its source type; a node of a third type is an error."""
    if codes is None:
        has_type = relation.source_type == types[0]
        return relation if has_type else replace(relation, source_type=types[0], target_type=types[0])
    coo = relation.matrix.tocoo()

    def place(k: int) -> str:
        return f"row {coo.row[k]}, column {coo.col[k]}"

    numbers = types.index(relation.source_type), types.index(relation.target_type)
    ends = orient_entries(relation.name, numbers, coo.row, coo.col, types, codes, relation.directed, place)
    if np.array_equal(ends[0], coo.row):
        return relation
    return replace(relation, matrix=sp.coo_array((coo.data, ends), shape=coo.shape))


def orient_entries(
    name: str,
    ends: Sequence[int],
    row: Ints,
    column: Ints,
    types: Types,
    codes: Ints,
    directed: bool,
    place: Place,
) -> tuple[Ints, Ints]:
    """Return the entries of a relation from the source to the target type, whose numbers are the `ends`.

    The ends of undirected edges may come in either order; nodes of a third type are an error.
    """
    source, target = codes[row], codes[column]
    fits = (source == ends[0]) & (target == ends[1])
    turned = ~fits & (source == ends[1]) & (target == ends[0]) & (not directed)
    wrong = np.flatnonzero(~(fits | turned))
    if len(wrong):
        k = int(wrong[0])
        msg = (
            f"{place(k)}: the relation {name!r} leads from {types[ends[0]]!r} to {types[ends[1]]!r}, but here from "
            f"{types[source[k]]!r} to {types[target[k]]!r}; give these edges another type"
        )
        raise InputError(msg)
    return np.where(turned, column, row), np.where(turned, row, column)


def infer_directions(relations: Sequence[Relation]) -> list[Relation]:
    """Return relations that list every link, where the source does not say which of them are directed.

    A relation that is the transpose of another one is left out. Relations between two types are undirected, those
    inside one type are directed, unless every link is there both ways.
    """
    kept: list[Relation] = []
    for relation in relations:
        turned = relation.matrix.T.tocsr()
        twin = next(
            (r for r in kept if r.target_type == relation.source_type and is_same(r.matrix, turned)), None
        )
        if twin is not None:
            logger.info("the relation %r is the reverse of %r and is left out", relation.name, twin.name)
            continue
        directed = relation.source_type == relation.target_type and not is_same(relation.matrix, turned)
        kept.append(replace(relation, directed=directed))
    return kept


def fold_relations(graph: Graph, kept: Need) -> tuple[tuple[Relation, ...], str]:
    """Return the relations of a graph without the directions, signs and types that are not `kept`, and a notice."""
    groups = [[relation] for relation in graph.relations] if kept.typed else [list(graph.relations)]
    relations, n_opposite = [], 0
    for group in groups:
        directed = kept.directed and any(relation.directed for relation in group)
        name, source, target = "edge", None, None
        if kept.typed:
            name, source, target = group[0].name, group[0].source_type, group[0].target_type
        entries = []
        for relation in group:
            coo = relation.matrix.tocoo()
            used = np.flatnonzero(kept.signed | (coo.data > 0))
            entries.append((coo.row[used], coo.col[used], coo.data[used]))
            if directed and not relation.directed and source == target:  # together with directed ones
                entries.append((coo.col[used], coo.row[used], coo.data[used]))
        row, column, weight = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        mirror = not directed and source == target
        csr, _, opposite = merge_entries(row, column, weight, graph.n_nodes, mirror=mirror)
        ends = row[opposite].astype(np.int64), column[opposite]
        n_opposite += len(np.unique(np.minimum(*ends) * graph.n_nodes + np.maximum(*ends)))
        relations.append(Relation(name, source, target, csr, directed, _checked=True))
    return tuple(relations), _describe_view(graph, kept, n_opposite)


def _describe_view(graph: Graph, kept: Need, n_opposite: int) -> str:
    parts = []
    if graph.is_heterogeneous and not kept.typed:
        types = f" between {len(graph.types)} types of nodes" if len(graph.types) > 1 else ""
        parts.append(f"{counted(len(graph.relations), 'relation')}{types} become one kind of edge")
        if types and graph.stored_features:
            parts.append(f"the features of {counted(len(graph.stored_features), 'type')} are concatenated")
    if graph.is_directed and not kept.directed:
        parts.append("edge directions are ignored")
    n_negative = 0 if kept.signed else sum(relation.n_negative for relation in graph.relations)
    left_out = (n_negative, "edge", "a negative weight"), (n_opposite, "pair", "equal and opposite weights")
    parts += [
        f"{counted(n, noun)} with {what} {'is' if n == 1 else 'are'} left out"
        for n, noun, what in left_out
        if n
    ]
    return f"the method works on a simpler graph: {', '.join(parts)}"


def select_types(graph: Graph, rows: Ints) -> tuple[Types, Ints, Stored]:
    """Return the types of these nodes in the order of first appearance, the number of each node's, and their features.

    Of no nodes these are all types.
    """
    present, first, codes = np.unique(graph.codes[rows], return_index=True, return_inverse=True)
    order = np.argsort(first)
    types = tuple(graph.types[code] for code in present[order]) or graph.types
    place = np.empty(graph.n_nodes, dtype=np.int64)  # of a node among those of its type
    for key in types:
        place[graph.rows_of(key)] = np.arange(len(graph.rows_of(key)))
    stored = {
        key: (matrix[place[rows[graph.codes[rows] == graph.types.index(key)]]], names)
        for key, (matrix, names) in graph.stored_features.items()
        if key in types
    }
    return types, np.argsort(order)[codes], stored


def concatenate_features(graph: Graph) -> tuple[Features | None, tuple[str, ...] | None]:
    """Return the features of all types in blocks of columns, zero for nodes of other types, and their names."""
    if not graph.stored_features:
        return None, None
    blocks, names = [], list[str]()
    for key, (matrix, own) in graph.stored_features.items():
        coo = sp.coo_array(matrix)
        ends, shape = (graph.rows_of(key)[coo.row], coo.col), (graph.n_nodes, matrix.shape[1])
        blocks.append(sp.coo_array((coo.data, ends), shape=shape))
        names += [f"{key}:{name}" for name in own or range(matrix.shape[1])]
    has_names = any(own is not None for _, own in graph.stored_features.values())
    return sp.hstack(blocks, format="csr"), tuple(names) if has_names else None
