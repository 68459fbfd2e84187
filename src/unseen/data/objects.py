"""To and from the objects of other libraries: networkx, and Arrow tables (which pandas and polars take).

Nothing is renumbered: row i stays row i, and ids travel with the graph. PyTorch Geometric is in
:mod:`unseen.data.objects_pyg`. The way in for Arrow tables, pandas and polars is :func:`unseen.read_graph`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.ids import id_array
from unseen.errors import InputError, logger, need_library
from unseen.graph import Features, Graph, Symmetrize
from unseen.ids import IdArray, as_ids, match_ids
from unseen.labels import Labels


def graph_from_networkx(
    graph: Any,
    *,
    weight: str | None = "weight",
    features: Any = None,
    symmetrize: Symmetrize = "max",
    node_type: str | None = "type",
    edge_type: str | None = "type",
    sign: str | None = "sign",
) -> Graph:
    """Make a graph from a networkx graph; see :meth:`unseen.Graph.from_networkx`.

    Node names that are neither all strings nor all integers become strings by ``str``, with a notice.
    A node attribute of features holds a number or a vector.

    Examples
    --------
    >>> import networkx
    >>> grid = graph_from_networkx(networkx.grid_2d_graph(1, 2))
    >>> grid.node_ids.tolist()
    ['(0, 0)', '(0, 1)']
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        msg = f"expected a networkx graph, got {type(graph).__name__}"
        raise InputError(msg)
    names = list(graph.nodes)
    ids = names_as_ids(names)
    number = {name: k for k, name in enumerate(names)}
    edges = list(graph.edges(data="" if weight is None else weight, default=1.0))
    src = np.array([number[u] for u, _, _ in edges], dtype=np.int64)
    dst = np.array([number[v] for _, v, _ in edges], dtype=np.int64)
    weights = np.array([_weight(edge, weight) for edge in edges], dtype=np.float64)
    if sign is not None:
        signs = graph.edges(data=sign, default=1.0)
        weights *= np.array([_weight(edge, sign) for edge in signs], dtype=np.float64)
    kinds = [kind for _, _, kind in graph.edges(data=edge_type)] if edge_type is not None else []
    node_types = [graph.nodes[name].get(node_type) for name in names] if node_type is not None else []
    typed = any(kind is not None for kind in (*kinds, *node_types))
    if (graph.is_directed() and symmetrize == "max") or (weights < 0).any() or typed:
        from unseen.data.objects_relations import features_by_type, relations_from_networkx

        points = [graph.is_directed() and flag for _, _, flag in graph.edges(data="directed", default=True)]
        ends = (src, dst)
        relations, types = relations_from_networkx(ids, ends, weights, node_types, kinds, points, symmetrize)
        own = ({}, {}) if features is None else features_by_type(features, names, types, graph, _features)
        return Graph.from_relations(relations, ids, types, *own)
    matrix, feature_names = (None, None) if features is None else _features(graph, names, features)
    return Graph.from_edges(
        ids[src],
        ids[dst],
        weights,
        nodes=ids,
        features=matrix,
        feature_names=feature_names,
        symmetrize=symmetrize,
    )


def to_networkx(graph: Graph, labels: Labels | None = None, *, features: str | None = "features") -> Any:
    """Return an undirected networkx graph with the weights as edge attribute ``weight``.

    A graph of relations becomes a ``DiGraph`` or multigraph where it has to, with the attribute ``type`` of nodes and
    edges; what does not point in a directed graph has ``directed=False``.

    Parameters
    ----------
    graph : Graph
        Any graph; nodes keep their order and ids.
    labels : Labels, optional
        Become the node attribute ``label``: a class, or a list of classes; unlabelled nodes have none.
    features : str or None
        Node attribute for the features, an array; None leaves them out. Their names, if there are any, are
        the graph attribute ``feature_names``.

    Examples
    --------
    >>> import unseen
    >>> theirs = to_networkx(unseen.Graph.from_edges(["a"], ["b"], [2.0]))
    >>> list(theirs.edges(data=True))
    [('a', 'b', {'weight': 2.0})]
    """
    from unseen.data.objects_relations import relations_to_networkx
    from unseen.relation_graph import RelationGraph

    networkx = need_library("networkx", "to_networkx", "networkx")
    ids = graph.node_ids.tolist()
    if isinstance(graph, RelationGraph):
        theirs = relations_to_networkx(graph, features)
    else:
        theirs = networkx.Graph()
        theirs.add_nodes_from(ids)
        upper = sp.triu(graph.adjacency, format="coo")
        theirs.add_weighted_edges_from(
            (ids[i], ids[j], w)
            for i, j, w in zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True)
        )
        if graph.features is not None and features is not None:
            if graph.feature_names is not None:
                theirs.graph["feature_names"] = graph.feature_names
            for node, row in zip(ids, _dense(graph), strict=True):
                theirs.nodes[node][features] = row.copy()
    if labels is not None:
        indicator = labels.aligned(graph).indicator
        numbers, ends = indicator.indices.tolist(), indicator.indptr.tolist()
        for node, start, end in zip(ids, ends[:-1], ends[1:], strict=True):
            names = [labels.classes[k] for k in numbers[start:end]]
            if names:
                theirs.nodes[node]["label"] = names[0] if len(names) == 1 else names
    return theirs


def to_arrow(graph: Graph) -> pa.Table:
    """Return the edges as an Arrow table ``src, dst, weight``, each edge once.

    Isolated nodes have no row: hand ``graph.node_ids`` on beside it. ``to_arrow(graph).to_pandas()`` and
    ``polars.from_arrow(to_arrow(graph))`` give data frames.

    Examples
    --------
    >>> import unseen
    >>> to_arrow(unseen.Graph.from_edges(["a"], ["b"])).to_pylist()
    [{'src': 'a', 'dst': 'b', 'weight': 1.0}]
    """
    ids = id_array(graph.node_ids)
    upper = sp.triu(graph.adjacency, format="coo")
    ends = [ids.take(pa.array(numbers.astype(np.int64))) for numbers in (upper.row, upper.col)]
    return pa.table({"src": ends[0], "dst": ends[1], "weight": upper.data})


def features_to_arrow(graph: Graph) -> pa.Table:
    """Return the features as an Arrow table: ``node`` and a column per feature, or ``node`` and a list.

    The list stands where features have no names, or where two columns would get the same one (a feature
    called ``node``); the names are then in the table's metadata, as JSON under ``unseen.feature_names``.
    The table is dense; for wide sparse features a scipy ``.npz`` is the better home.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.Graph.from_edges(["a"], ["b"], features=[[1.0], [0.5]], feature_names=["tall"])
    >>> features_to_arrow(graph).to_pylist()
    [{'node': 'a', 'tall': 1.0}, {'node': 'b', 'tall': 0.5}]
    """
    if graph.features is None:
        msg = "the graph has no features to convert"
        raise InputError(msg)
    names = graph.feature_names
    if names is not None and len({"node", *names}) > len(names):
        return feature_columns(graph, names)
    dense = _dense(graph)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(dense.ravel()), dense.shape[1])
    metadata = None if names is None else {"unseen.feature_names": json.dumps(names)}
    return pa.table({"node": id_array(graph.node_ids), "features": lists}, metadata=metadata)


def feature_columns(graph: Graph, names: Sequence[str]) -> pa.Table:
    """Return the features as an Arrow table with a column of each of these names, which all differ."""
    dense = _dense(graph)
    columns = {name: np.ascontiguousarray(dense[:, k]) for k, name in enumerate(names)}
    return pa.table({"node": id_array(graph.node_ids), **columns})


def labels_to_arrow(labels: Labels) -> pa.Table:
    """Return the labels as an Arrow table ``node, label``, a row per label; unlabelled nodes have no row.

    Where there are answers that name no class, they come last, in a third column, ``answer``.

    Examples
    --------
    >>> import unseen
    >>> labels_to_arrow(unseen.Labels.from_values(["x", None], ["a", "b"])).to_pylist()
    [{'node': 'a', 'label': 'x'}]
    """
    rows, columns = labels.indicator.nonzero()
    names = pa.array(list(labels.classes), pa.large_string()).take(pa.array(columns))
    table = pa.table({"node": id_array(labels.node_ids).take(pa.array(rows)), "label": names})
    if not labels.answers:
        return table
    places = match_ids(as_ids(list(labels.answers)), labels.node_ids)
    answers = pa.table(
        {
            "node": id_array(labels.node_ids).take(pa.array(places)),
            "label": pa.array([""] * len(places), pa.large_string()),
            "answer": pa.array(list(labels.answers.values()), pa.large_string()),
        }
    )
    empty = pa.array([""] * table.num_rows, pa.large_string())
    return pa.concat_tables([table.append_column("answer", empty), answers])


def names_as_ids(names: list[Any]) -> IdArray:
    """Return names of nodes as ids: as texts where they are of several types, with a notice."""
    try:
        return as_ids(names)
    except InputError:
        texts = [str(name) for name in names]
    if len(set(texts)) != len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        msg = f"node names must be all strings or all integers; as strings, two of these are both {twice!r}"
        raise InputError(msg)
    logger.info("node names became strings: they were neither all strings nor all 64-bit integers")
    return as_ids(texts)


def _weight(edge: tuple[Any, Any, Any], attribute: str | None) -> float:
    try:
        return float(edge[2])
    except (TypeError, ValueError):
        msg = f"the edge {edge[0]!r} - {edge[1]!r} has {attribute} {edge[2]!r}; edge weights must be numbers"
        raise InputError(msg) from None


def _features(graph: Any, names: list[Any], features: Any) -> tuple[Features, tuple[str, ...] | None]:
    if not isinstance(features, str):
        return features, None
    values = [graph.nodes[name].get(features) for name in names]
    missing = [name for name, value in zip(names, values, strict=True) if value is None]
    if missing:
        msg = f"{len(missing)} of {len(names)} nodes have no attribute {features!r}, the first is {missing[0]!r}"
        raise InputError(msg)
    rows: list[npt.NDArray[Any]] = []
    for name, value in zip(names, values, strict=True):
        row = np.atleast_1d(np.asarray(value))
        if row.ndim != 1 or row.dtype.kind not in "fiub" or (rows and row.shape != rows[0].shape):
            msg = f"the attribute {features!r} of node {name!r} is no number or vector like those of the other nodes"
            raise InputError(msg)
        rows.append(row)
    matrix = np.stack(rows) if rows else np.zeros((0, 0))
    columns = graph.graph.get("feature_names", ())
    return matrix, tuple(map(str, columns)) if columns and len(columns) == matrix.shape[1] else None


def _dense(graph: Graph) -> npt.NDArray[Any]:
    return (
        graph.features if isinstance(graph.features, np.ndarray) else sp.csr_array(graph.features).toarray()
    )
