"""From edges and nodes with types, and features by type, to a graph of relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.data.build import combine_edges, compact, encode_names, order_features
from unseen.data.pieces import Edges
from unseen.errors import InputError, counted, unknown_type
from unseen.graph import Features, Graph
from unseen.ids import Ints, Place, Types
from unseen.relations import orient_entries
from unseen.weights import Relation

if TYPE_CHECKING:
    from unseen.data.intake import Intake


def build_relation_graph(
    intake: Intake, edges: Edges, everyone: tuple[Features, tuple[str, ...] | None] | None, texts: Any
) -> Graph:
    """Return the graph; `everyone` has the features of all nodes with the names of their columns, if there are any.

    Relations come in the order of their first edges; the types of that edge are those of the relation.
    """
    numbering, options = intake.numbering, intake.options
    types, codes = _node_types(intake, edges)
    first, second = edges.src, edges.dst
    points = np.full(len(first), options.directed)
    if edges.points is not None:  # other rules for pairs of edges ask for an undirected graph
        points = edges.points & (options.directed or options.symmetrize == "max")
    if edges.types is not None:
        names, kinds = encode_names(edges.types)
    else:  # called by the types of their ends
        names, ways = [], [codes[a] * len(types) + codes[b] for a, b in ((first, second), (second, first))]
        kinds = np.where(points, ways[0], np.minimum(*ways))
    kinds = 2 * kinds + points
    order = np.argsort(kinds, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(kinds[order])) + 1) if len(order) else []
    relations = []
    for rows in sorted(groups, key=lambda group: int(group[0])):
        s, t = int(codes[first[rows[0]]]), int(codes[second[rows[0]]])
        name = f"{types[s]}-{types[t]}" if len(types) > 1 else "edge"
        name = names[kinds[rows[0]] // 2] if names else name
        directed = bool(points[rows[0]])

        def place(k: int, rows: Ints = rows) -> str:
            return edges.place(int(rows[k]))

        ends = orient_entries(name, (s, t), first[rows], second[rows], types, codes, directed, place)
        weight, mirror = None if edges.weight is None else edges.weight[rows], s == t and not directed
        matrix = combine_edges(
            *ends, weight, numbering, options.symmetrize, intake.report, mirror=mirror, place=place
        )
        relations.append(Relation(name, types[s], types[t], matrix, directed, _checked=True))
    if not relations:
        relations = [Relation("edge", types[0], types[0], sp.csr_array((len(numbering), len(numbering))))]
    features: dict[str | None, Features] = {}
    columns: dict[str | None, tuple[str, ...]] = {}
    for k, key in enumerate(types):
        own = np.flatnonzero(codes == k)
        if everyone is not None:
            features[key], named = everyone[0][own], everyone[1]
        elif key in intake.feature_rows:
            features[key], named = _rows_of_type(intake, key, own), intake.feature_rows[key][0].names
        else:
            continue
        if named is not None:
            columns[key] = named
    node_types = None if types == (None,) else np.array(types, dtype=object)[codes]
    return Graph.from_relations(relations, numbering.ids, node_types, features, columns, texts)


def _node_types(intake: Intake, edges: Edges) -> tuple[Types, Ints]:
    """Return the types, and the number of each node's, by the node list, else by features."""
    nodes, numbering = intake.node_list, intake.numbering
    codes = np.full(len(numbering), -1, dtype=np.int64)
    types: list[str] = []

    def give(numbers: Any, kinds: Ints, place: Place) -> None:
        free = codes[numbers[::-1]] < 0
        codes[numbers[::-1][free]] = kinds[::-1][free]  # the first row of a node counts
        wrong = np.flatnonzero(codes[numbers] != kinds)
        if len(wrong):
            row = int(wrong[0])
            node, kind, other = numbering.name(numbers[row]), types[kinds[row]], types[codes[numbers[row]]]
            here = f"the node {node!r} is of type {kind!r} here and of type {other!r} elsewhere"
            msg = f"{place(row)}: {here}; a node has one type"
            raise InputError(msg)

    has_types = nodes is not None and nodes.types is not None
    if nodes is not None and nodes.types is not None:
        types, kinds = encode_names(nodes.types)
        give(nodes.numbers, kinds, nodes.place)
    for key, (rows, *_) in intake.feature_rows.items():
        if key is None:
            continue
        if key not in types and has_types:
            msg = f"{rows.source} holds features: {unknown_type(key, types)}"
            raise InputError(msg)
        if key not in types and rows.ids is None:
            msg = (
                f"{rows.source} holds the features of type {key!r}, but nothing says which nodes these are; "
                "give `nodes` (--nodes) with the columns node, type"
            )
            raise InputError(msg)
        types = list(dict.fromkeys([*types, key]))
        if rows.numbers is not None:
            give(rows.numbers, np.full(len(rows.numbers), types.index(key)), rows.place)
    if not types:
        return (None,), np.zeros_like(codes)
    missing = np.flatnonzero(codes < 0)
    if not len(missing):
        return tuple(types), codes
    name, where = numbering.name(missing[0]), ""
    untyped = np.flatnonzero((codes[edges.src] < 0) | (codes[edges.dst] < 0))
    if len(untyped):
        ends = [column[untyped[0]] for column in (edges.src, edges.dst)]
        name = numbering.name(ends[0] if codes[ends[0]] < 0 else ends[1])
        where = f"{edges.place(int(untyped[0]))}: "
    more = f" ({len(missing)} nodes in all have none)" if len(missing) > 1 else ""
    msg = f"{where}the node {name!r} has no type{more}; name it in `nodes` (--nodes), with the columns node, type"
    raise InputError(msg)


def _rows_of_type(intake: Intake, key: str | None, nodes: Ints) -> Features:
    """Return the features of one type, a row for each of its nodes in their order."""
    rows = intake.feature_rows[key][0]
    if rows.numbers is not None:
        return compact(rows.values)[order_features(rows, nodes, intake.numbering, f" of type {key!r}")]
    if rows.values.shape[0] != len(nodes):
        have, count = counted(rows.values.shape[0], "row"), counted(len(nodes), "node")
        msg = (
            f"{rows.source} has {have} for {count} of type {key!r}; "
            "it names no nodes, so that one row for each, in the order of `nodes`, is needed"
        )
        raise InputError(msg)
    return rows.values
