"""Graphs of relations to and from networkx and PyTorch Geometric ``HeteroData``; ids, types and signs stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.build import Report
from unseen.data.ids import Floats, Ints, Numbering, id_array
from unseen.data.options import Options
from unseen.data.pieces import Edges
from unseen.data.relate import Types, relations_of
from unseen.errors import InputError
from unseen.graph import Features, Graph
from unseen.ids import IdArray, as_ids
from unseen.relation_graph import RelationGraph
from unseen.relations import Relation

ONE_TYPE = "node"
"""What PyTorch Geometric calls the nodes of a graph without types."""


def graph_of_columns(
    ids: IdArray,
    ends: tuple[Ints, Ints],
    weights: Floats,
    *,
    node_types: Sequence[str] | None,
    edge_types: Sequence[str] | None,
    directed: Sequence[bool],
    features: Mapping[Any, Any] | None,
    feature_names: Mapping[Any, Any] | None,
    options: Options,
) -> Graph:
    """Return the graph of numbered edges; those that point and those that do not are relations of their own."""
    names = tuple(dict.fromkeys(node_types or ())) or (None,)
    types: Types = names
    codes = np.zeros(len(ids), dtype=np.int64)
    if node_types is not None:
        codes = np.array([names.index(each) for each in node_types], dtype=np.int64)
    points, relations, report = np.array(directed, dtype=bool), list[Relation](), Report()
    for pointing in (True, False):
        rows = np.flatnonzero(points == pointing)
        if not len(rows) and (pointing or relations):
            continue
        numbers = [end[rows] for end in ends]
        listed = id_array(ids)
        edges = Edges(
            listed.take(pa.array(numbers[0])),
            listed.take(pa.array(numbers[1])),
            weights[rows],
            types=None
            if edge_types is None
            else pa.array([edge_types[k] for k in rows.tolist()], pa.large_string()),
            place=lambda k, numbers=numbers: f"the edge {ids[numbers[0][k]]!r} - {ids[numbers[1][k]]!r}",  # type: ignore[misc]
        )
        own = Options(symmetrize=options.symmetrize, directed=pointing)
        relations += relations_of(edges, types, codes, Numbering(ids, [], numbers, []), own, report)
    return RelationGraph(relations, ids, node_types, features or None, feature_names or None)


def relations_to_networkx(graph: RelationGraph, features: str | None) -> Any:
    """Return a networkx graph with the edge attributes ``type``, ``weight`` and, if some point, ``directed``."""
    import networkx

    ids, types = graph.node_ids.tolist(), graph.node_types
    points = (
        graph.is_directed or len(graph.types) > 1
    )  # an undirected graph would not keep the order of two types
    several = len(graph.relations) > 1
    kinds = {
        (False, False): networkx.Graph,
        (True, False): networkx.DiGraph,
        (False, True): networkx.MultiGraph,
        (True, True): networkx.MultiDiGraph,
    }
    theirs = kinds[points, several]()
    theirs.add_nodes_from(ids)
    named = types if types is not None else ([] if graph.types == (None,) else graph.types * graph.n_nodes)
    for node, node_type in zip(ids, named, strict=False):
        theirs.nodes[node]["type"] = node_type
    for relation in graph.relations:
        inside = relation.source_type == relation.target_type and not relation.directed
        coo = (sp.triu(relation.matrix) if inside else relation.matrix).tocoo()
        flag = {"directed": False} if points and not relation.directed else {}
        for i, j, weight in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
            theirs.add_edge(ids[i], ids[j], weight=weight, type=relation.name, **flag)
    if features is not None:
        for key in graph.types:
            matrix = graph.features_of(key)  # type: ignore[arg-type]
            if matrix is None:
                continue
            dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
            for row, values in zip(graph.rows_of(key), dense, strict=True):
                theirs.nodes[ids[row]][features] = values.copy()
        names = {key: graph.feature_names_of(key) for key in graph.types}  # type: ignore[arg-type]
        if any(own is not None for own in names.values()):
            theirs.graph["feature_names"] = {key: own for key, own in names.items() if own is not None}
    return theirs


def graph_from_hetero(data: Any, matrix: Any, edge_index: Any, weights: Any) -> Graph:
    """Return the graph of a ``HeteroData``; the functions read ``x``, ``edge_index`` and weights of a store.

    Nodes without ``node_ids`` are called ``author:0``. Between two types a relation does not point; inside one it does,
    unless every edge is there both ways, or its store says ``directed``.
    """
    if not data.edge_types:
        msg = "the HeteroData has no edges, so that there is no relation to make a graph of"
        raise InputError(msg)
    starts: dict[str, int] = {}
    ids: list[Any] = []
    types: list[str] = []
    features: dict[Any, Features] = {}
    names: dict[Any, Any] = {}
    for key in data.node_types:
        store = data[key]
        n = store.num_nodes
        if n is None:
            msg = f"the nodes of type {key!r} have neither `x` nor `num_nodes`, so that nobody knows how many there are"
            raise InputError(msg)
        own = store.get("node_ids")
        starts[key] = len(ids)
        ids += [f"{key}:{k}" for k in range(n)] if own is None else list(own)
        types += [key] * n
        if store.get("x") is not None:
            features[key], names[key] = matrix(store.x, "x"), store.get("feature_names")
    relations = []
    total, plain = len(ids), list(data.node_types) == [ONE_TYPE]
    for source, name, target in data.edge_types:
        store = data[source, name, target]
        for key in (source, target):
            if key not in starts:
                msg = f"the edges {name!r} name the type {key!r}, and there are no such nodes"
                raise InputError(msg)
        src, dst = edge_index(store)
        limits = data[source].num_nodes, data[target].num_nodes
        if len(src) and (src.max() >= limits[0] or dst.max() >= limits[1] or min(src.min(), dst.min()) < 0):
            counts = f"{source!r} ({limits[0]}) or {target!r} ({limits[1]})"
            msg = f"`edge_index` of {name!r} names nodes that {counts} has not"
            raise InputError(msg)
        entries = (weights(store, len(src)), (src + starts[source], dst + starts[target]))
        csr = Relation(
            name, source, target, sp.coo_array(entries, shape=(total, total)), directed=True
        ).matrix
        directed = store.get("directed")
        if directed is None:
            directed = source == target and (csr != csr.T).nnz > 0
        first, second = (None, None) if plain else (source, target)
        relations.append(Relation(name, first, second, csr, bool(directed)))
    if plain:
        features, names = ({None: each.get(ONE_TYPE)} if each else {} for each in (features, names))
    named = {key: own for key, own in names.items() if own is not None}
    return RelationGraph(relations, as_ids(ids), None if plain else types, features or None, named or None)


def hetero_from_graph(graph: RelationGraph, tensor: Any, float32: Any) -> Any:
    """Return a ``HeteroData``: what :func:`graph_from_hetero` reads, with numbers as float32."""
    import torch
    from torch_geometric.data import HeteroData

    data, place = HeteroData(), np.empty(graph.n_nodes, dtype=np.int64)
    for key in graph.types:
        rows, name = graph.rows_of(key), key or ONE_TYPE
        place[rows] = np.arange(len(rows))
        data[name].num_nodes = len(rows)
        data[name].node_ids = graph.node_ids[rows].tolist()
        matrix = graph.features_of(key)  # type: ignore[arg-type]
        if matrix is not None:
            data[name].x = tensor(matrix)
        if graph.feature_names_of(key) is not None:  # type: ignore[arg-type]
            data[name].feature_names = list(graph.feature_names_of(key) or ())  # type: ignore[arg-type]
    for relation in graph.relations:
        store = data[relation.source_type or ONE_TYPE, relation.name, relation.target_type or ONE_TYPE]
        coo = relation.matrix.tocoo()
        store.edge_index = torch.from_numpy(np.stack([place[coo.row], place[coo.col]]))
        store.directed = relation.directed
        if (coo.data != 1).any():
            store.edge_weight = torch.from_numpy(float32(coo.data, "edge weights"))
    return data
