"""The graph of relations: edges of several kinds, with direction and sign, and nodes of several types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import FrozenInstanceError
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, counted, unknown_name
from unseen.folding import folded
from unseen.graph import Graph, Need
from unseen.ids import Features, checked_features, checked_names, lock, row_ids
from unseen.relations import Ints, Relation


class RelationGraph(Graph):
    """A graph of relations; what :meth:`unseen.Graph.from_relations` makes. Folded when it is asked for a view."""

    def __init__(
        self,
        relations: Iterable[Relation],
        node_ids: Iterable[Any] | None = None,
        node_types: Iterable[str] | None = None,
        features: Any = None,
        feature_names: Any = None,
    ) -> None:
        listed = tuple(relations)
        wrong = next((each for each in listed if not isinstance(each, Relation)), None)
        if not listed or wrong is not None:
            came = "nothing" if wrong is None else type(wrong).__name__
            msg = f"`relations` must be a list of unseen.Relation, at least one, got {came}"
            raise InputError(msg)
        n = listed[0].matrix.shape[0]
        odd = next((each for each in listed if each.matrix.shape[0] != n), None)
        if odd is not None:
            msg = (
                f"the matrix of relation {odd.name!r} has {odd.matrix.shape[0]} rows, that of {listed[0].name!r} has "
                f"{n}; every relation needs a row for every node of the graph"
            )
            raise InputError(msg)
        ids = row_ids(None if node_ids is None else node_ids, n, f"the relations have {n} rows")  # type: ignore[arg-type]
        types, codes = _types(node_types, listed, n)
        keys = [(each.name, each.source_type, each.target_type) for each in listed]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            msg = (
                f"the relation {twice[0]!r} is given twice for the same types of nodes; give it another name"
            )
            raise InputError(msg)
        own = {} if features is None else _by_type(features, types, "features")
        names = {} if feature_names is None else _by_type(feature_names, types, "feature_names")
        matrices = {
            t: _features_of(t, own[t], int((codes == types.index(t)).sum())) for t in types if t in own
        }
        for key in names:
            names[key] = checked_names(names[key], matrices.get(key))
        lock(codes, *matrices.values())
        self.__dict__.update(
            node_ids=ids,
            types=types,
            _codes=codes,
            _relations=tuple(_with_types(each, types, codes) for each in listed),
            _features={key: (matrices[key], names.get(key)) for key in matrices},
            _views={},
        )

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"cannot assign to field {name!r}"
        raise FrozenInstanceError(msg)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        lock(self.node_ids, self._codes, *(matrix for matrix, _ in self._features.values()))

    def __repr__(self) -> str:
        nodes = f"{self.n_nodes} nodes" + (f" of {len(self.types)} types" if len(self.types) > 1 else "")
        kinds = [f"{len(self._relations)} relations"] if len(self._relations) > 1 else []
        flags = [word for word in ("directed", "signed") if getattr(self, f"is_{word}")]
        width = "no features"
        if self._features:
            of_types = f"features of {counted(len(self._features), 'type')}"
            width = (
                of_types if len(self.types) > 1 else f"{self._features[self.types[0]][0].shape[1]} features"
            )
        return f"Graph({', '.join([nodes, *kinds, f'{self.n_edges} edges', *flags, width])})"

    types: tuple[str | None, ...]
    """The types of nodes, in the order of first appearance."""
    _codes: Ints
    _relations: tuple[Relation, ...]
    _features: dict[str | None, tuple[Features, tuple[str, ...] | None]]
    _views: dict[Need, Graph]

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The kinds of edges, with direction and sign."""
        return self._relations

    @cached_property
    def node_types(self) -> npt.NDArray[Any] | None:  # type: ignore[override]
        """The type of each node, None where there is one."""
        if len(self.types) == 1:
            return None
        names = np.array(self.types, dtype=object)[self._codes]
        lock(names)
        return names

    @property
    def is_directed(self) -> bool:
        """Whether the edges of a relation point."""
        return any(relation.directed for relation in self._relations)

    @cached_property
    def is_signed(self) -> bool:  # type: ignore[override]
        """Whether some weights are negative."""
        return any(bool((relation.matrix.data < 0).any()) for relation in self._relations)

    @property
    def is_heterogeneous(self) -> bool:
        """Whether there are several types of nodes, or several relations."""
        return len(self.types) > 1 or len(self._relations) > 1

    @property
    def adjacency(self) -> sp.csr_array:  # type: ignore[override]
        """The adjacency of the plain view."""
        return self.view(Need()).adjacency

    @property
    def features(self) -> Features | None:  # type: ignore[override]
        """The features of the plain view."""
        return self.view(Need()).features

    @property
    def feature_names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """The names of the features of the plain view: ``author:word`` where there are several types."""
        return self.view(Need()).feature_names

    @property
    def n_nodes(self) -> int:
        """Number of nodes, isolated ones included."""
        return len(self.node_ids)

    @property
    def n_edges(self) -> int:
        """Number of edges of all relations."""
        return sum(relation.n_edges for relation in self._relations)

    @property
    def n_self_loops(self) -> int:
        """Number of nodes that have an edge to themselves."""
        return len(np.unique(np.concatenate([relation._loops for relation in self._relations])))

    @property
    def isolated(self) -> npt.NDArray[np.bool_]:
        """Mask of the nodes that have no edge to another node."""
        alone = np.ones(self.n_nodes, dtype=bool)
        for relation in self._relations:
            coo = relation.matrix.tocoo()
            linked = coo.row != coo.col
            alone[coo.row[linked]] = alone[coo.col[linked]] = False
        return alone

    def rows_of(self, node_type: str | None) -> Ints:
        """Return the row numbers of the nodes of one type."""
        return np.flatnonzero(self._codes == self.types.index(node_type))

    def features_of(self, node_type: str) -> Features | None:
        """Return the features of the nodes of one type, in their order; None where it has none."""
        if node_type not in self.types:
            raise unknown_type(node_type, self.types)
        return self._features.get(node_type, (None, None))[0]

    def feature_names_of(self, node_type: str) -> tuple[str, ...] | None:
        """Return the names of the features of one type, None where they have none."""
        return self._features.get(node_type, (None, None))[1]

    def view(self, need: Need) -> Graph:
        """Return the graph without what `need` does not ask for, and say in one sentence what that was, once."""
        if not isinstance(need, Need):
            msg = f"`need` must be an unseen.Need, got {type(need).__name__}"
            raise InputError(msg)
        if need not in self._views:
            self._views[need] = folded(self, need)
        return self._views[need]

    def subgraph(self, rows: npt.NDArray[np.int64]) -> Graph:
        """Return the graph of these rows, in their order, and the edges between them; itself where that is all."""
        if np.array_equal(rows, np.arange(self.n_nodes)):
            return self
        chosen = self._codes[rows]
        place = np.empty(self.n_nodes, dtype=np.int64)  # of a node among those of its type
        for k in range(len(self.types)):
            own = np.flatnonzero(self._codes == k)
            place[own] = np.arange(len(own))
        kept = {key: k for k, key in enumerate(self.types) if (chosen == k).any() and key in self._features}
        relations = [
            Relation(r.name, r.source_type, r.target_type, r.matrix[rows][:, rows], r.directed)
            for r in self._relations
            if {r.source_type, r.target_type} <= {self.types[k] for k in np.unique(chosen)}
        ]
        if not relations:  # of types that nothing joins
            empty = sp.csr_array((len(chosen), len(chosen)))
            relations = [Relation("edge", self.types[chosen[0]], self.types[chosen[0]], empty)]
        return RelationGraph(
            relations,
            self.node_ids[rows],
            None if self.types == (None,) else np.array(self.types, dtype=object)[chosen],
            {key: self._features[key][0][place[rows[chosen == k]]] for key, k in kept.items()} or None,
            {key: self._features[key][1] for key in kept if self._features[key][1] is not None} or None,
        )


def unknown_type(node_type: object, types: Iterable[str | None]) -> InputError:
    """Return the error for a type of nodes that a graph does not have."""
    named = [each for each in types if each is not None]
    if named:
        return unknown_name("node type", node_type, named)
    return InputError(f"the nodes have no types, so that none is called {node_type!r}; take graph.features")


def _types(
    node_types: Iterable[Any] | None, relations: Sequence[Relation], n: int
) -> tuple[tuple[str | None, ...], Ints]:
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
    number = {name: k for k, name in enumerate(dict.fromkeys(map(str, values)))}
    if len(number) == 1 and None in named:  # one type, which the relations need not name
        named.pop(None)
    for name in named:
        if name is None and number:
            msg = (
                f"a relation has no types, but the nodes have: {', '.join(number)}; give it source and target"
            )
            raise InputError(msg)
        if name not in number and name is not None:
            if n:
                raise unknown_type(name, number)
            number[name] = len(number)
    return tuple(number) or (None,), np.array([number[str(value)] for value in values], dtype=np.int64)


def _with_types(relation: Relation, types: tuple[str | None, ...], codes: Ints) -> Relation:
    """Return the relation with every entry in the row of its source type, or raise the error for a third type."""
    if len(types) == 1:
        if relation.source_type == types[0]:
            return relation
        return Relation(relation.name, types[0], types[0], relation.matrix, relation.directed)
    source, target = types.index(relation.source_type), types.index(relation.target_type)
    coo = relation.matrix.tocoo()
    row, column = coo.row.astype(np.int64), coo.col.astype(np.int64)
    fits = (codes[row] == source) & (codes[column] == target)
    if fits.all():
        return relation
    turned = (codes[row] == target) & (codes[column] == source) & (not relation.directed)
    wrong = np.flatnonzero(~(fits | turned))
    if len(wrong):
        i, j = int(row[wrong[0]]), int(column[wrong[0]])
        msg = (
            f"the relation {relation.name!r} leads from {relation.source_type!r} to {relation.target_type!r}, but its "
            f"row {i}, column {j} joins {types[codes[i]]!r} and {types[codes[j]]!r}; make that a relation of its own"
        )
        raise InputError(msg)
    ends = np.where(fits, row, column), np.where(fits, column, row)
    matrix = relation._merged(*ends, coo.data, len(codes))
    return Relation(relation.name, relation.source_type, relation.target_type, matrix, relation.directed)


def _by_type(values: Any, types: tuple[str | None, ...], what: str) -> dict[str | None, Any]:
    """Return what is given for some types, by type; a value for one type needs no name."""
    if not isinstance(values, Mapping):
        if len(types) > 1:
            msg = f"`{what}` must be a mapping from types to values, as there are {len(types)} types of nodes"
            raise InputError(msg)
        return {types[0]: values}
    for key in values:
        if key not in types:
            raise unknown_type(key, types)
    return dict(values)


def _features_of(node_type: str | None, values: Any, n: int) -> Features:
    nodes = "the graph has {} nodes" if node_type is None else f"there are {{}} nodes of type {node_type!r}"
    return checked_features(values, n, nodes)
