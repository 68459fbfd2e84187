"""From edges and nodes with types, and features by type, to a graph of relations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.data.build import Report, combine_edges, compact, order_features
from unseen.data.ids import Numbering, encode_names
from unseen.data.options import Options
from unseen.data.pieces import Edges, FeatureRows
from unseen.errors import InputError, counted, unknown_type
from unseen.graph import Features, Graph
from unseen.ids import Ints, Place, Types
from unseen.relations import orient_entries
from unseen.weights import Relation

if TYPE_CHECKING:
    from unseen.data.intake import NumberedRows


def build_relation_graph(
    edges: Edges,
    content: NumberedRows,
    everyone: tuple[Features, tuple[str, ...] | None] | None,
    options: Options,
    report: Report,
    texts: Any = None,
) -> Graph:
    """Return the graph; `everyone` has the features of all nodes with the names of their columns, if there are any.

    Relations come in the order of their first edges; the types of that edge are those of the relation.
    """
    numbering = content.numbering
    by_type = {key: pieces[0] for key, pieces in content.features.items() if key is not None}
    types, codes = _node_types(content, by_type)
    _require_types(codes, edges, numbering)
    first, second = edges.src, edges.dst
    points = np.full(len(first), options.directed)
    if edges.points is not None:  # other rules for pairs of edges ask for an undirected graph
        points = edges.points & (options.directed or options.symmetrize == "max")
    names, kinds = None, np.zeros(0, dtype=np.int64)
    if edges.types is not None:
        names, kinds = encode_names(edges.types)
    else:  # called by the types of their ends
        ways = [codes[a] * len(types) + codes[b] for a, b in ((first, second), (second, first))]
        kinds = np.where(points, ways[0], np.minimum(*ways))
    order = np.argsort(2 * kinds + points, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff((2 * kinds + points)[order])) + 1) if len(order) else []
    relations = []
    for rows in sorted(groups, key=lambda group: int(group[0])):
        s, t = int(codes[first[rows[0]]]), int(codes[second[rows[0]]])
        name = f"{types[s]}-{types[t]}" if len(types) > 1 else "edge"
        name = name if names is None else names[kinds[rows[0]]]
        directed = bool(points[rows[0]])

        def where(k: int, rows: Ints = rows) -> str:
            return edges.place(int(rows[k]))

        ends = orient_entries(name, (s, t), first[rows], second[rows], types, codes, directed, where)
        weight, mirror = None if edges.weight is None else edges.weight[rows], s == t and not directed
        matrix = combine_edges(
            *ends, weight, numbering, options.symmetrize, report, mirror=mirror, place=where
        )
        relations.append(Relation(name, types[s], types[t], matrix, directed, _checked=True))
    if not relations:
        relations = [Relation("edge", types[0], types[0], sp.csr_array((len(numbering), len(numbering))))]
    stored: dict[str | None, tuple[Features, Any]] = {}
    for k, key in enumerate(types):
        own = np.flatnonzero(codes == k)
        if everyone is not None:
            stored[key] = (everyone[0][own], everyone[1])
        elif key in by_type:
            stored[key] = (_rows_of_type(str(key), by_type[key], own, numbering), by_type[key].names)
    return Graph.from_relations(
        relations,
        numbering.ids,
        None if types == (None,) else np.array(types, dtype=object)[codes],
        {key: matrix for key, (matrix, _) in stored.items()},
        {key: own for key, (_, own) in stored.items() if own is not None},
        texts,
    )


def _node_types(content: NumberedRows, by_type: Mapping[Any, FeatureRows]) -> tuple[Types, Ints]:
    """Return the types, and the number of each node's, -1 where nothing says it: by the node list, else by features."""
    nodes, numbering = content.nodes, content.numbering
    codes = np.full(len(numbering), -1, dtype=np.int64)
    types: list[str] = []

    def give(numbers: Any, kinds: Ints, place: Place) -> None:
        free = numbers[::-1][codes[numbers[::-1]] < 0]
        codes[free] = kinds[::-1][codes[numbers[::-1]] < 0]  # the first row of a node counts
        wrong = np.flatnonzero(codes[numbers] != kinds)
        if len(wrong):
            row = int(wrong[0])
            node = numbering.name(numbers[row])
            msg = (
                f"{place(row)}: the node {node!r} is of type {types[kinds[row]]!r} here and of type "
                f"{types[codes[numbers[row]]]!r} elsewhere; a node has one type"
            )
            raise InputError(msg)

    listed = nodes is not None and nodes.types is not None
    if nodes is not None and nodes.types is not None:
        types, kinds = encode_names(nodes.types)
        give(nodes.numbers, kinds, nodes.place)
    for key, piece in by_type.items():
        if key not in types and listed:
            msg = f"{piece.source} holds features: {unknown_type(key, types)}"
            raise InputError(msg)
        if key not in types and piece.ids is None:
            msg = (
                f"{piece.source} holds the features of type {key!r}, but nothing says which nodes these are; "
                "give `nodes` (--nodes) with the columns node, type"
            )
            raise InputError(msg)
        types = list(dict.fromkeys([*types, key]))
        if piece.numbers is not None:
            give(piece.numbers, np.full(len(piece.numbers), types.index(key)), piece.place)
    return (tuple(types), codes) if types else ((None,), np.zeros_like(codes))


def _require_types(codes: Ints, edges: Edges, numbering: Numbering) -> None:
    """Raise the error for a node without a type where others have one."""
    missing = np.flatnonzero(codes < 0)
    if not len(missing):
        return
    node, where = missing[0], ""
    rows = np.flatnonzero((codes[edges.src] < 0) | (codes[edges.dst] < 0))
    if len(rows):
        ends = [column[rows[0]] for column in (edges.src, edges.dst)]
        node, where = ends[0] if codes[ends[0]] < 0 else ends[1], f"{edges.place(int(rows[0]))}: "
    more = f" ({len(missing)} nodes in all have none)" if len(missing) > 1 else ""
    name = numbering.name(node)
    msg = f"{where}the node {name!r} has no type{more}; name it in `nodes` (--nodes), with the columns node, type"
    raise InputError(msg)


def _rows_of_type(key: str, piece: FeatureRows, nodes: Ints, numbering: Numbering) -> Features:
    """Return the features of one type, a row for each of its nodes in their order."""
    if piece.numbers is not None:
        return compact(piece.values)[order_features(piece, nodes, numbering, f" of type {key!r}")]
    if piece.values.shape[0] != len(nodes):
        rows, count = counted(piece.values.shape[0], "row"), counted(len(nodes), "node")
        msg = (
            f"{piece.source} has {rows} for {count} of type {key!r}; "
            "it names no nodes, so that one row for each, in the order of `nodes`, is needed"
        )
        raise InputError(msg)
    return piece.values
