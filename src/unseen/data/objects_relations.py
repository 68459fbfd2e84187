"""Graphs of relations to and from networkx and PyTorch Geometric ``HeteroData``; ids, types and signs stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.build import Report
from unseen.data.ids import Floats, Ints
from unseen.data.relate import coded, relations_of
from unseen.errors import InputError
from unseen.graph import Graph, Symmetrize
from unseen.ids import IdArray, as_ids
from unseen.labels import Labels
from unseen.relation_graph import RelationGraph
from unseen.relations import Relation, Types, settled

ONE_TYPE = "node"
"""What PyTorch Geometric calls the nodes of a graph without types."""


def relations_from_networkx(
    ids: IdArray,
    ends: tuple[Ints, Ints],
    weights: Floats,
    node_types: list[Any],
    edge_types: list[Any],
    points: list[bool],
    symmetrize: Symmetrize,
) -> tuple[list[Relation], list[str] | None]:
    """Return the relations of edges with attributes, and the types of the nodes, None where these have none."""
    typed = any(each is not None for each in node_types)
    if typed and None in node_types:
        node = ids.tolist()[node_types.index(None)]
        msg = f"the node {node!r} has no type, though others have; give all nodes a type, or none"
        raise InputError(msg)
    types: Types = (None,)
    codes, kinds = np.zeros(len(ids), dtype=np.int64), None
    if typed:
        names, codes = coded(pa.array([str(each) for each in node_types]))
        types = tuple(names)
    if any(each is not None for each in edge_types):
        kinds = coded(pa.array(["edge" if each is None else str(each) for each in edge_types]))

    def place(k: int) -> str:
        return f"the edge {ids[ends[0][k]]!r} - {ids[ends[1][k]]!r}"

    report, flags = Report(), np.array(points, dtype=bool)
    relations = relations_of(ends, weights, kinds, flags, types, codes, ids, symmetrize, report, place)
    return relations, [str(each) for each in node_types] if typed else None


def relations_to_networkx(graph: RelationGraph, features: str | None) -> Any:
    """Return a networkx graph with the edge attributes ``type``, ``weight`` and, if some point, ``directed``."""
    import networkx

    ids = graph.node_ids.tolist()
    # An undirected graph would not keep the order of two types.
    points = graph.is_directed or len(graph.types) > 1
    kind = f"{'Multi' * (len(graph.relations) > 1)}{'Di' * points}Graph"
    theirs = getattr(networkx, kind)()
    theirs.add_nodes_from(ids)
    for key in graph.types:
        rows = graph.rows_of(key).tolist()
        for row in rows if key is not None else []:
            theirs.nodes[ids[row]]["type"] = key
        matrix, names = graph.stored_features.get(key, (None, None)) if features is not None else (None, None)
        if matrix is not None:
            dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
            for row, values in zip(rows, dense, strict=True):
                theirs.nodes[ids[row]][features] = values.copy()
        if names is not None:
            theirs.graph.setdefault("feature_names", {})[key] = names
    for relation in graph.relations:
        inside = relation.source_type == relation.target_type and not relation.directed
        coo = (sp.triu(relation.matrix) if inside else relation.matrix).tocoo()
        flag = {"directed": False} if points and not relation.directed else {}
        for i, j, weight in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
            theirs.add_edge(ids[i], ids[j], weight=weight, type=relation.name, **flag)
    return theirs


def _hetero_ids(data: Any) -> tuple[list[Any], list[str]]:
    """Return ids and types of all nodes, type by type; nodes without ``node_ids`` are called ``author:0``."""
    ids, types = list[Any](), list[str]()
    for key in data.node_types:
        n = data[key].num_nodes
        if n is None:
            msg = f"the nodes of type {key!r} have neither `x` nor `num_nodes`, so that nobody knows how many there are"
            raise InputError(msg)
        own = data[key].get("node_ids")
        ids += [f"{key}:{k}" for k in range(n)] if own is None else list(own)
        types += [key] * n
    return ids, types


def graph_from_hetero(data: Any, matrix: Any, edge_index: Any, weights: Any) -> Graph:
    """Return the graph of a ``HeteroData``; the functions read ``x``, ``edge_index`` and weights of a store.

    A store may say with ``directed`` whether its edges point; :func:`unseen.relations.settled` is about the others.
    """
    if not data.edge_types:
        msg = "the HeteroData has no edges, so that there is no relation to make a graph of"
        raise InputError(msg)
    ids, types = _hetero_ids(data)
    starts = {key: types.index(key) for key in dict.fromkeys(types)}
    plain = list(starts) == [ONE_TYPE]
    stated, others = list[Relation](), list[Relation]()
    for source, name, target in data.edge_types:
        store, counts = data[source, name, target], (types.count(source), types.count(target))
        src, dst = edge_index(store)
        if any(
            len(end) and not 0 <= end.min() <= end.max() < n
            for end, n in zip((src, dst), counts, strict=True)
        ):
            nodes = f"{source!r} ({counts[0]}) or {target!r} ({counts[1]})"
            msg = f"`edge_index` of {name!r} names nodes that {nodes} has not"
            raise InputError(msg)
        entries = (weights(store, len(src)), (src + starts.get(source, 0), dst + starts.get(target, 0)))
        first, second = (None, None) if plain else (source, target)
        matrix_of = sp.coo_array(entries, shape=(len(ids), len(ids)))
        directed = store.get("directed")
        relation = Relation(name, first, second, matrix_of, directed is None or bool(directed))
        (others if directed is None else stated).append(relation)
    features, names = dict[Any, Any](), dict[Any, Any]()
    for key in data.node_types:
        own = None if plain else key
        if data[key].get("x") is not None:
            features[own] = matrix(data[key].x, "x")
        if data[key].get("feature_names") is not None:
            names[own] = data[key].feature_names
    return RelationGraph([*stated, *settled(others)], as_ids(ids), None if plain else types, features, names)


def labels_from_hetero(data: Any, labels_of: Callable[[Any], Labels]) -> Labels:
    """Return the labels of the stores of nodes that have a ``y``; `labels_of` reads that of one."""
    ids, types = _hetero_ids(data)
    parts = {key: labels_of(data[key]) for key in data.node_types if data[key].get("y") is not None}
    if not parts:
        msg = "no type of nodes of the HeteroData has a `y` to take labels from"
        raise InputError(msg)
    classes = list(dict.fromkeys(name for part in parts.values() for name in part.classes))
    rows, columns = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for key, part in parts.items():
        coo = part.indicator.tocoo()
        rows.append(types.index(key) + coo.row)
        columns.append(np.array([classes.index(name) for name in part.classes], dtype=np.int64)[coo.col])
    ends = np.concatenate(rows), np.concatenate(columns)
    indicator = sp.coo_array((np.ones(len(ends[0]), dtype=bool), ends), shape=(len(ids), len(classes)))
    return Labels(indicator.tocsr(), tuple(classes), as_ids(ids))


def hetero_from_graph(
    graph: RelationGraph,
    labels: Labels | None,
    tensor: Any,
    float32: Any,
    put_labels: Callable[[Any, Labels], None],
) -> Any:
    """Return a ``HeteroData``: what :func:`graph_from_hetero` reads, with numbers as float32."""
    import torch
    from torch_geometric.data import HeteroData

    data, place = HeteroData(), np.empty(graph.n_nodes, dtype=np.int64)
    own = None if labels is None else labels.aligned(graph)
    for key in graph.types:
        rows, store = graph.rows_of(key), data[key or ONE_TYPE]
        place[rows] = np.arange(len(rows))
        store.num_nodes, store.node_ids = len(rows), graph.node_ids[rows].tolist()
        matrix, names = graph.stored_features.get(key, (None, None))
        if matrix is not None:
            store.x = tensor(matrix)
        if names is not None:
            store.feature_names = list(names)
        if own is not None and own.indicator[rows].nnz:
            put_labels(store, Labels(own.indicator[rows], own.classes, own.node_ids[rows]))
    for relation in graph.relations:
        store = data[relation.source_type or ONE_TYPE, relation.name, relation.target_type or ONE_TYPE]
        coo = relation.matrix.tocoo()
        store.edge_index = torch.from_numpy(np.stack([place[coo.row], place[coo.col]]))
        store.directed = relation.directed
        if (coo.data != 1).any():
            store.edge_weight = torch.from_numpy(float32(coo.data, "edge weights"))
    return data


def features_by_type(
    features: Any, names: list[Any], types: list[str] | None, graph: Any, read: Callable[..., Any]
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return features of a networkx graph by type, given so or as the name of an attribute, and their names."""
    if isinstance(features, Mapping):
        return dict(features), {}
    keys: list[str | None] = [None] * len(names) if types is None else list(types)
    stored = graph.graph.get("feature_names")
    matrices, columns = {}, dict(stored) if isinstance(stored, Mapping) else {}
    for key in dict.fromkeys(keys):
        own = [name for name, each in zip(names, keys, strict=True) if each == key]
        if not isinstance(features, str) or any(features in graph.nodes[name] for name in own):
            matrices[key], listed = read(graph, own, features)
            columns |= {} if listed is None or key in columns else {key: listed}
    return matrices, columns
