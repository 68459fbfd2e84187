"""The graph of relations: edges of several kinds, with direction and sign, and nodes of several types.

Its last functions are the one place that makes of it the graph that a method can use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.errors import InputError, counted, logger, unknown_type
from unseen.graph import Graph, Need
from unseen.ids import Features, Ints, Stored, Types, checked_columns, checked_texts, lock, row_ids
from unseen.relations import Relation, orient_entries
from unseen.weights import merge_entries


class RelationGraph(Graph):
    """A graph of relations; what :meth:`unseen.Graph.from_relations` makes. Folded when it is asked for a view."""

    _views: dict[Need, tuple[Graph, str]]

    def __init__(
        self,
        relations: Iterable[Relation],
        node_ids: Iterable[Any] | None = None,
        node_types: Iterable[str] | None = None,
        features: Any = None,
        feature_names: Any = None,
        texts: Iterable[Any] | None = None,
    ) -> None:
        listed = _checked_relations(relations)
        n = listed[0].matrix.shape[0]
        ids = row_ids(node_ids, n, f"the relations have {n} rows")
        types, codes = _types(node_types, listed, n)
        own, names = (_by_type(features, types, "features"), _by_type(feature_names, types, "feature_names"))
        stored: Stored = {}
        for key in [each for each in types if each in own or each in names]:
            of_type = "" if key is None else f" of type {key!r}"
            count = int((codes == types.index(key)).sum())
            stored[key] = checked_columns(own.get(key), names.get(key), count, of_type)  # type: ignore[assignment]
        lock(codes, *(matrix for matrix, _ in stored.values()))
        sound = tuple(_with_types(each, types, codes) for each in listed)
        self.__dict__.update(
            node_ids=ids,
            types=types,
            codes=codes,
            stored_features=stored,
            relations=sound,
            texts=checked_texts(texts, n),
            is_directed=any(each.directed for each in sound),
            _matrices=tuple(each.matrix for each in sound),
            _views={},
        )

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"cannot assign to field {name!r}"
        raise FrozenInstanceError(msg)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        lock(*(matrix for matrix, _ in self.stored_features.values()))

    @property
    def adjacency(self) -> sp.csr_array:  # type: ignore[override]
        """The adjacency of the plain view."""
        return self.plain.adjacency

    @property
    def features(self) -> Features | None:  # type: ignore[override]
        """The features of the plain view."""
        return self.plain.features

    @property
    def feature_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """The names of the features of the plain view: ``author:word`` where there are several types."""
        return self.plain.feature_names

    @property
    def n_edges(self) -> int:
        """Number of edges of all relations; an undirected one inside one type counts once."""
        return sum(relation.n_edges for relation in self.relations)

    def view(self, need: Need) -> Graph:
        """Return the graph without what `need` does not ask for, and say in one sentence what that was, once."""
        if not isinstance(need, Need):
            msg = f"`need` must be an unseen.Need, got {type(need).__name__}"
            raise InputError(msg)
        graph, sentence = self._folded(need)
        if sentence:
            logger.info(sentence)
            self._views[need] = (graph, "")
        return graph

    @property
    def plain(self) -> Graph:
        """The plain view, about which nothing is said."""
        return self._folded(Need())[0]

    def _folded(self, need: Need) -> tuple[Graph, str]:
        if need not in self._views:
            self._views[need] = folded(self, need)
        return self._views[need]

    def with_relations(self, relations: Sequence[Relation], rows: Ints | None = None) -> RelationGraph:
        """Return the graph of these relations between the nodes of these rows (None: all), with their features."""
        rows = np.arange(self.n_nodes) if rows is None else rows
        place = np.empty(self.n_nodes, dtype=np.int64)  # of a node among those of its type
        for key in self.types:
            place[self.rows_of(key)] = np.arange(len(self.rows_of(key)))
        kept = {
            key: (matrix[place[own]], names)
            for key, (matrix, names) in self.stored_features.items()
            if len(own := rows[self.codes[rows] == self.types.index(key)])
        }
        return RelationGraph(
            relations,
            self.node_ids[rows],
            self._type_names(rows),
            {key: matrix for key, (matrix, _) in kept.items()},
            {key: names for key, (_, names) in kept.items() if names is not None},
            None if self.texts is None else self.texts[rows],
        )

    def with_features(self, features: Any, feature_names: Any = None) -> Graph:
        """Return the same nodes and relations with other features, or with none; see :meth:`from_relations`."""
        types = self._type_names(np.arange(self.n_nodes))
        return RelationGraph(self.relations, self.node_ids, types, features, feature_names, self.texts)

    def _type_names(self, rows: Ints) -> Iterable[str] | None:
        """Return the type of each of these nodes; None where types have no names."""
        return None if self.types == (None,) else np.array(self.types, dtype=object)[self.codes[rows]]

    def subgraph(self, rows: Ints) -> Graph:
        """Return the graph of these rows, in their order, and the edges between them; itself where that is all."""
        if np.array_equal(rows, np.arange(self.n_nodes)):
            return self
        types = [self.types[code] for code in np.unique(self.codes[rows])]
        inside = [each for each in self.relations if {each.source_type, each.target_type} <= set(types)]
        relations = [replace(each, matrix=each.matrix[rows][:, rows]) for each in inside]
        if not relations:  # of types that nothing joins
            relations = [Relation("edge", types[0], types[0], sp.csr_array((len(rows), len(rows))))]
        return self.with_relations(relations, np.asarray(rows))


def _checked_relations(relations: Iterable[Relation]) -> tuple[Relation, ...]:
    listed = tuple(relations)
    wrong = next((type(each).__name__ for each in listed if not isinstance(each, Relation)), "nothing")
    if not listed or wrong != "nothing":
        msg = f"`relations` must be a list of unseen.Relation, at least one, got {wrong}"
        raise InputError(msg)
    n, keys = listed[0].matrix.shape[0], set()
    for each in listed:
        if each.matrix.shape[0] != n:
            msg = (
                f"the matrix of relation {each.name!r} has {each.matrix.shape[0]} rows, that of {listed[0].name!r} has "
                f"{n}; every relation needs a row for every node of the graph"
            )
            raise InputError(msg)
        key = (each.name, each.source_type, each.target_type)
        if key in keys:
            msg = (
                f"the relation {each.name!r} is given twice for the same types of nodes; give it another name"
            )
            raise InputError(msg)
        keys.add(key)
    return listed


def _types(node_types: Iterable[Any] | None, relations: Sequence[Relation], n: int) -> tuple[Types, Ints]:
    """Return the types in the order of first appearance, and the number of each node's."""
    named = dict.fromkeys(t for each in relations for t in (each.source_type, each.target_type))
    if node_types is None:
        if len(named) > 1:
            listed = ", ".join(repr(t) for t in named)
            msg = f"the relations name the types {listed}; give `node_types`, the type of each node"
            raise InputError(msg)
        return tuple(named), np.zeros(n, dtype=np.int64)
    values = list(node_types)
    if len(values) != n:
        msg = f"`node_types` has {len(values)} entries but the graph has {n} nodes"
        raise InputError(msg)
    bad = next((k for k, value in enumerate(values) if not isinstance(value, str) or not value), None)
    if bad is not None:
        msg = f"`node_types` holds {values[bad]!r} for row {bad}; a type must be a text"
        raise InputError(msg)
    number = {name: k for k, name in enumerate(dict.fromkeys(map(str, values if n else named)))}
    if len(number) == 1:  # which relations need not name
        named.pop(None, None)
    for name in named:
        if name is None:
            msg = (
                f"a relation has no types, but the nodes have: {', '.join(number)}; give it source and target"
            )
            raise InputError(msg)
        if name not in number:
            raise unknown_type(name, number)
    return tuple(number), np.array([number[str(value)] for value in values], dtype=np.int64)


def _with_types(relation: Relation, types: Types, codes: Ints) -> Relation:
    """Return the relation with every entry in the row of its source type, or raise the error for a third type."""
    if len(types) == 1:
        named = relation.source_type == types[0]
        return relation if named else replace(relation, source_type=types[0], target_type=types[0])
    coo = relation.matrix.tocoo()

    def place(k: int) -> str:
        return f"row {coo.row[k]}, column {coo.col[k]}"

    numbers = types.index(relation.source_type), types.index(relation.target_type)
    ends = orient_entries(relation.name, numbers, coo.row, coo.col, types, codes, relation.directed, place)
    if np.array_equal(ends[0], coo.row):
        return relation
    return replace(relation, matrix=sp.coo_array((coo.data, ends), shape=coo.shape))


def _by_type(values: Any, types: Types, what: str) -> dict[str | None, Any]:
    """Return what is given for some types, by type; a value for one type needs no name."""
    if isinstance(values, Mapping):
        for key in values:
            if key not in types:
                raise unknown_type(key, types)
        return dict(values)
    if values is not None and len(types) > 1:
        msg = f"`{what}` must be a mapping from types to values, as there are {len(types)} types of nodes"
        raise InputError(msg)
    return {} if values is None else {types[0]: values}


def folded(graph: RelationGraph, need: Need) -> tuple[Graph, str]:
    """Return a graph without the directions, signs and types that nobody needs, and the sentence about that."""
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
        csr, _, odd = merge_entries(
            row, column, weight, graph.n_nodes, mirror=not points and source == target
        )
        ends = row[odd].astype(np.int64), column[odd]
        opposite += len(np.unique(np.minimum(*ends) * graph.n_nodes + np.maximum(*ends)))
        relations.append((name, source, target, csr, points))
    sentence = _sentence(graph, kept, opposite)
    if kept.typed:
        return graph.with_relations([Relation(*each) for each in relations]), sentence
    features, names = _side_by_side(graph)
    if kept == Need():
        return Graph(csr, features, graph.node_ids, names, graph.texts), sentence
    view = RelationGraph([Relation(*relations[0])], graph.node_ids, None, features, names, graph.texts)
    return view, sentence


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
        parts.append(f"{counted(len(graph.relations), 'relation')}{types} become one kind of edge")
        if types and graph.stored_features:
            parts.append(f"the features of {counted(len(graph.stored_features), 'type')} are concatenated")
    if graph.is_directed and not kept.directed:
        parts.append("edge directions are ignored")
    if graph.is_signed and not kept.signed:
        negative = sum(relation.n_negative for relation in graph.relations)
        parts.append(
            f"{counted(negative, 'edge')} with a negative weight {'is' if negative == 1 else 'are'} left out"
        )
    if opposite:
        parts.append(
            f"{counted(opposite, 'pair')} with equal and opposite weights {'is' if opposite == 1 else 'are'} left out"
        )
    return f"the method works on a simpler graph: {', '.join(parts)}" if parts else ""
