"""From edges and nodes with types, and features by type, to a graph of relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.build import Report, combined
from unseen.data.ids import Ints, Numbering
from unseen.data.options import Options
from unseen.data.pieces import Edges, FeatureRows, NodeList
from unseen.errors import InputError
from unseen.graph import Features, Graph
from unseen.relation_graph import RelationGraph, unknown_type
from unseen.relations import Relation

Types = tuple[str | None, ...]


def graph_of_relations(
    edges: Edges,
    nodes: NodeList | None,
    features: Mapping[str, FeatureRows] | tuple[Features, tuple[str, ...] | None],
    numbering: Numbering,
    options: Options,
    report: Report,
) -> Graph:
    """Return the graph; `features` are rows by type, or those of all nodes with the names of their columns."""
    by_type = features if isinstance(features, Mapping) else {}
    if report.dropped_zero and edges.weight is not None and not options.drop_negative:
        row = int(np.flatnonzero(edges.weight == 0)[0])
        msg = (
            f"{edges.place(row)}: the weight is 0, which has no sign; remove the line, or give another weight"
        )
        raise InputError(msg)
    rows_of = dict(
        zip([key for key in by_type if by_type[key].ids is not None], numbering.after, strict=False)
    )
    types, codes = _node_types(nodes, by_type, rows_of, numbering)
    _require_types(codes, edges, numbering)
    relations = list(relations_of(edges, types, codes, numbering, options, report))
    matrices: dict[str | None, Any] = {}
    names: dict[str | None, Any] = {}
    for key, piece in by_type.items():
        own = np.flatnonzero(codes == types.index(key))
        matrices[key], names[key] = _rows_of_type(key, piece, rows_of.get(key), own, numbering), piece.names
    if not isinstance(features, Mapping):
        for k, each in enumerate(types):
            matrices[each], names[each] = features[0][np.flatnonzero(codes == k)], features[1]
    return RelationGraph(
        relations,
        numbering.ids,
        None if types == (None,) else np.array(types, dtype=object)[codes],
        matrices or None,
        {key: own for key, own in names.items() if own is not None} or None,
    )


def _node_types(
    nodes: NodeList | None,
    by_type: Mapping[str, FeatureRows],
    rows_of: Mapping[str, Ints],
    numbering: Numbering,
) -> tuple[Types, Ints]:
    """Return the types, and the number of each node's, -1 where nothing says it: by the node list, else by features."""
    codes = np.full(len(numbering.ids), -1, dtype=np.int64)
    types: list[str | None] = []
    listed = nodes is not None and nodes.types is not None
    if nodes is not None and nodes.types is not None:
        encoded = nodes.types.dictionary_encode()
        types, numbers = encoded.dictionary.to_pylist(), numbering.before[0]
        kinds = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        codes[numbers[::-1]] = kinds[::-1]  # the first row of a node counts
        _refuse_two_types(codes, numbers, kinds, types, nodes.place, numbering)
    for key, piece in by_type.items():
        if key not in types:
            if listed:
                msg = f"{piece.source} holds features: {unknown_type(key, types)}"
                raise InputError(msg)
            if piece.ids is None:
                msg = (
                    f"{piece.source} holds the features of type {key!r}, but nothing says which nodes these are; "
                    "give `nodes` (--nodes) with the columns node, type"
                )
                raise InputError(msg)
            types.append(key)
        if key in rows_of:
            numbers, kind = rows_of[key], types.index(key)
            codes[numbers[codes[numbers] < 0]] = kind
            place = piece.place or (lambda _: piece.source)  # noqa: B023
            _refuse_two_types(codes, numbers, np.full(len(numbers), kind), types, place, numbering)
    if not types:
        return (None,), np.zeros_like(codes)
    return tuple(types), codes


def _refuse_two_types(
    codes: Ints, numbers: Ints, kinds: Ints, types: Any, place: Any, numbering: Numbering
) -> None:
    wrong = np.flatnonzero(codes[numbers] != kinds)
    if len(wrong):
        row = int(wrong[0])
        node = numbering.ids[numbers[row]]
        msg = (
            f"{place(row)}: the node {node!r} is of type {types[kinds[row]]!r} here and of type "
            f"{types[codes[numbers[row]]]!r} elsewhere; a node has one type"
        )
        raise InputError(msg)


def _require_types(codes: Ints, edges: Edges, numbering: Numbering) -> None:
    """Raise the error for a node without a type where others have one."""
    missing = np.flatnonzero(codes < 0)
    if not len(missing):
        return
    node, where = numbering.ids[missing[0]], ""
    rows = [int(np.argmax(codes[column] < 0)) for column in numbering.columns if (codes[column] < 0).any()]
    if rows:
        row = min(rows)
        first, second = (column[row] for column in numbering.columns)
        node, where = numbering.ids[first if codes[first] < 0 else second], f"{edges.place(row)}: "
    more = f" ({len(missing)} nodes in all have none)" if len(missing) > 1 else ""
    msg = f"{where}the node {node!r} has no type{more}; name it in `nodes` (--nodes), with the columns node, type"
    raise InputError(msg)


def relations_of(
    edges: Edges, types: Types, codes: Ints, numbering: Numbering, options: Options, report: Report
) -> Iterator[Relation]:
    """Yield the relations in the order of their first edges; the types of that edge are those of the relation."""
    first, second = numbering.columns
    n = len(numbering.ids)
    source, target = codes[first], codes[second]
    names: list[str] | None = None
    if edges.types is not None:
        encoded = edges.types.dictionary_encode()
        names = encoded.dictionary.to_pylist()
        kinds = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    else:
        ways = source * len(types) + target, target * len(types) + source
        kinds = ways[0] if options.directed else np.minimum(*ways)
    order = np.argsort(kinds, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(kinds[order])) + 1) if len(order) else []
    if not groups:
        yield Relation("edge", types[0], types[0], sp.csr_array((n, n)), options.directed)
    for rows in sorted(groups, key=lambda group: int(group[0])):
        s, t = int(source[rows[0]]), int(target[rows[0]])
        name = f"{types[s]}-{types[t]}" if len(types) > 1 else "edge"
        name = name if names is None else names[kinds[rows[0]]]
        fits = (source[rows] == s) & (target[rows] == t)
        turned = (source[rows] == t) & (target[rows] == s) & (not options.directed)
        wrong = rows[~(fits | turned)]
        if len(wrong):
            row = int(wrong[0])
            msg = (
                f"{edges.place(row)}: the relation {name!r} leads from {types[s]!r} to {types[t]!r}, as in "
                f"{edges.place(int(rows[0]))}, but here from {types[source[row]]!r} to {types[target[row]]!r}; "
                "give these edges another type"
            )
            raise InputError(msg)
        ends = np.where(fits, first[rows], second[rows]), np.where(fits, second[rows], first[rows])
        matrix = combined(
            *ends,
            None if edges.weight is None else edges.weight[rows],
            numbering.ids,
            options.symmetrize,
            report,
            mirror=s == t and not options.directed,
            place=partial(_place, edges, rows),
        )
        yield Relation(name, types[s], types[t], matrix, options.directed)


def _place(edges: Edges, rows: Ints, k: int) -> str:
    return edges.place(int(rows[k]))


def _rows_of_type(
    key: str, piece: FeatureRows, numbers: Ints | None, own: Ints, numbering: Numbering
) -> Features:
    """Return the features of one type, a row for each of its nodes in their order."""
    if numbers is None:
        if piece.values.shape[0] != len(own):
            msg = (
                f"{piece.source} has {piece.values.shape[0]} rows, but there are {len(own)} nodes of type {key!r}; "
                "it names no nodes, so that one row for each, in the order of `nodes`, is needed"
            )
            raise InputError(msg)
        return piece.values
    rows = np.full(len(numbering.ids), -1, dtype=np.int64)
    rows[numbers] = np.arange(len(numbers))
    missing = own[rows[own] < 0]
    if len(missing):
        msg = (
            f"{piece.source} has no row for {len(missing)} of the {len(own)} nodes of type {key!r}, the first is "
            f"{numbering.ids[missing[0]]!r}; add rows for them (zeros, if nothing is known) or remove these nodes"
        )
        raise InputError(msg)
    return piece.values[rows[own]]
