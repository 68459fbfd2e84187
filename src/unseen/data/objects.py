"""To and from the objects of other libraries: networkx, and Arrow tables (which pandas and polars take).

Nothing is renumbered: row i stays row i, and ids travel with the graph. PyTorch Geometric is in
:mod:`unseen.data.objects_pyg`. The way in for Arrow tables, pandas and polars is :func:`unseen.read_graph`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.labels_file import answer_table
from unseen.data.leaks import INDEX
from unseen.data.names import NODE
from unseen.data.sources import Options, Role
from unseen.data.tables import MatrixBatch, Table, as_column, id_array
from unseen.errors import InputError, cannot_hold, logger, need_library
from unseen.graph import Features, Graph, Symmetrize
from unseen.ids import Array, IdArray, as_ids
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
    if not is_networkx(graph):
        msg = f"expected a networkx graph, got {type(graph).__name__}"
        raise InputError(msg)
    from unseen.data.intake import Intake

    if not len(graph):
        return Graph(sp.csr_array((0, 0)))
    of_edges = {"weight": weight, "type": edge_type, "sign": sign, "directed": "directed"}
    edges = network_table(graph, "edges", "`graph`", of_edges)
    nodes = network_table(graph, "nodes", "`graph`", {"type": node_type})
    if isinstance(features, str):
        features = _attribute_matrices(graph, features, node_type)
    elif features is not None and not isinstance(features, Mapping):
        matrix = features if sp.issparse(features) else np.asarray(features)
        features = MatrixBatch("`features`", matrix, _names_as_ids(list(graph.nodes)))
    options = Options(symmetrize=symmetrize, directed=graph.is_directed() and symmetrize == "max")
    return Intake(edges, nodes, features, [], options).data().graph


def _attribute_matrices(
    graph: Any, attribute: str, node_type: str | None
) -> dict[str | None, MatrixBatch] | None:
    """Return the matrix of an attribute of nodes, for each type of which some have it."""
    id_of = dict(zip(graph.nodes, _names_as_ids(list(graph.nodes)).tolist(), strict=True))
    listed = graph.graph.get("feature_names", ())
    of_type: dict[str | None, list[Any]] = {}
    for name, data in graph.nodes(data=True):
        kind = data.get(node_type)
        of_type.setdefault(None if kind is None else str(kind), []).append(name)
    parts: dict[str | None, MatrixBatch] = {}
    for key, own in of_type.items():
        if len(of_type) > 1 and not any(attribute in graph.nodes[name] for name in own):
            continue
        rows = {name: np.atleast_1d(np.asarray(graph.nodes[name].get(attribute))) for name in own}
        shape = rows[own[0]].shape
        odd = [
            n
            for n, row in rows.items()
            if row.ndim != 1 or row.dtype.kind not in "fiub" or row.shape != shape
        ]
        if odd:
            rule = "that is a number, or a vector as long as that of the others"
            msg = f"{len(odd)} of {len(own)} nodes have no attribute {attribute!r} {rule}; the first is {odd[0]!r}"
            raise InputError(msg)
        names = tuple(map(str, listed.get(key, ()) if isinstance(listed, Mapping) else listed))
        ids: Any = [id_of[name] for name in own]
        values = np.stack(list(rows.values()))
        parts[key] = MatrixBatch("`features`", values, ids, names if len(names) == values.shape[1] else None)
    return parts or None


def network_table(
    graph: Any,
    role: Role,
    source: str,
    attributes: Mapping[str, str | None] | None = None,
    *,
    weight: str | None = None,
    without: Sequence[str] = (),
) -> Table:
    """Return the edges of a networkx graph with all its nodes, or its nodes, with a column for each attribute.

    `attributes` are those that count, by the names of columns; without it all do, but for some. An edge that lacks the
    attribute `weight` (or what it is called), `type`, `sign` or `directed` of others has the usual one.
    """
    names = list(graph.nodes)
    ids = id_array(_names_as_ids(names))
    entries = list(graph.edges(data=True) if role == "edges" else graph.nodes(data=True))
    *ends, data = zip(*entries, strict=True) if entries else ((), (), ())[role != "edges" :]
    rows: Sequence[Mapping[Any, Any]] = data
    if attributes is not None:
        rows = [{column: row[key] for column, key in attributes.items() if key in row} for row in data]
    taken = ("node", "src", "dst", *without)
    usual = (
        {weight or "weight": 1.0, "type": "edge", "sign": 1.0, "directed": True} if role == "edges" else {}
    )
    keys = dict.fromkeys(key for row in rows for key in row if key not in taken)
    columns = {str(key): as_column([row.get(key, usual.get(key)) for row in rows]) for key in keys}
    if role != "edges":
        table = Table.of(source, {"node": ids, **columns})
        return replace(table, place=lambda row: f"{source}, the node {names[row]!r}")
    number = {name: k for k, name in enumerate(names)}
    src, dst = (ids.take(pa.array([number[name] for name in end], pa.int64())) for end in ends)
    table = Table.of(source, {"src": src, "dst": dst, **columns})
    place = lambda row: f"{source}, the edge {ends[0][row]!r} - {ends[1][row]!r}"  # noqa: E731
    return replace(table, nodes=ids, place=place)


def is_networkx(source: Any) -> bool:
    """Return whether an object is a graph of networkx, which need not be there."""
    return all(hasattr(source, name) for name in ("nodes", "edges", "is_directed", "adj"))


def to_networkx(graph: Graph, labels: Labels | None = None, *, features: str | None = "features") -> Any:
    """Return an undirected networkx graph with the weights as edge attribute ``weight``.

    A graph of relations becomes a ``DiGraph`` or multigraph where it has to, with the attribute ``type`` of nodes and
    edges; in a directed graph an edge's attribute ``directed`` says whether that edge is.

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
    networkx = need_library("networkx", "to_networkx")
    ids = graph.node_ids.tolist()
    # An undirected graph would not keep the order of two types.
    points = graph.is_directed or len(graph.types) > 1
    theirs = getattr(networkx, f"{'Multi' * (len(graph.relations) > 1)}{'Di' * points}Graph")()
    theirs.add_nodes_from(ids)
    for key in graph.types:
        nodes = [theirs.nodes[ids[row]] for row in graph.rows_of(key).tolist()]
        for node in nodes if key is not None else []:
            node["type"] = key
        matrix, names = graph.stored_features.get(key, (None, None))
        if matrix is None or features is None:
            continue
        for node, values in zip(nodes, _dense(matrix), strict=True):
            node[features] = values.copy()
        if names is not None:
            by_type = {**theirs.graph.get("feature_names", {}), key: names}
            theirs.graph["feature_names"] = names if key is None else by_type
    for relation in graph.relations:
        coo = relation.entries.tocoo()
        usual = relation.name == "edge" and len(graph.types) == 1
        more: dict[str, Any] = {} if usual else {"type": relation.name}
        more |= {"directed": relation.directed} if points else {}
        for i, j, weight in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
            theirs.add_edge(ids[i], ids[j], weight=weight, **more)
    for node, classes in ({} if labels is None else labels.align_to(graph).to_lists()).items():
        theirs.nodes[node]["label"] = classes[0] if len(classes) == 1 else classes
    return theirs


def to_arrow(graph: Graph) -> pa.Table:
    """Return the edges as an Arrow table ``src, dst, weight``, each edge once.

    Where relations have names of their own, a column ``type`` has these; where some edges are directed, a column
    ``directed`` says which. Isolated nodes have no row: hand ``graph.node_ids`` on beside it.
    ``to_arrow(graph).to_pandas()`` and ``polars.from_arrow(to_arrow(graph))`` give data frames.

    Examples
    --------
    >>> import unseen
    >>> to_arrow(unseen.Graph.from_edges(["a"], ["b"])).to_pylist()
    [{'src': 'a', 'dst': 'b', 'weight': 1.0}]
    """
    ids = id_array(graph.node_ids)
    tables, unnamed = [], True
    for relation in graph.relations:
        coo = relation.entries.tocoo()
        ends = [ids.take(pa.array(numbers.astype(np.int64))) for numbers in (coo.row, coo.col)]
        columns = {"src": ends[0], "dst": ends[1], "weight": pa.array(coo.data)}
        columns["type"] = pa.array([relation.name] * coo.nnz, pa.string())
        columns["directed"] = pa.array(np.full(coo.nnz, relation.directed))
        tables.append(pa.table(columns))
        types = f"{relation.source_type}-{relation.target_type}"
        unnamed &= relation.name == (types if len(graph.types) > 1 else "edge")  # as reading calls it
    table = pa.concat_tables(tables)
    table = table if graph.is_directed else table.drop_columns("directed")
    return table.drop_columns("type") if unnamed and len(tables) == 1 else table


def features_to_arrow(graph: Graph) -> pa.Table:
    """Return the features as an Arrow table: ``node`` and a column per feature, or ``node`` and a list.

    The list stands where features have no names, or where a column would be taken for ids, labels or another feature
    (a feature called ``node`` or ``label``); the names are then in the table's metadata, as JSON under
    ``unseen.feature_names``.
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
    if names is not None and not _reserved_names(names):
        return _feature_columns(graph, names)
    dense = _dense(graph.features)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(dense.ravel()), dense.shape[1])
    metadata = None if names is None else {"unseen.feature_names": json.dumps(names)}
    return pa.table({"node": id_array(graph.node_ids), "features": lists}, metadata=metadata)


def feature_table(graph: Any, path: Path) -> pa.Table:
    """Return features with a column each, for the file `path`: text has no lists."""
    names = graph.feature_names or tuple(f"feature_{k}" for k in range(graph.features.shape[1]))
    if clashes := _reserved_names(names):
        what = f"a feature called {clashes[0]!r}, which is the name of the ids, of the labels or of another feature"
        raise cannot_hold(path, "text", what, "write the features as .parquet or .npz instead")
    return _feature_columns(graph, names)


def _reserved_names(names: Sequence[str]) -> list[str]:
    """Return the names of features that a table cannot have: those of ids and labels, and those that occur twice."""
    taken, counts = (*NODE, *INDEX, "label"), Counter(names)
    return [name for name in names if name.strip().lower() in taken or counts[name] > 1]


def _feature_columns(graph: Graph, names: Sequence[str]) -> pa.Table:
    dense = _dense(graph.features)
    columns = {name: np.ascontiguousarray(dense[:, k]) for k, name in enumerate(names)}
    return pa.table({"node": id_array(graph.node_ids), **columns})


def _dense(features: Features | None) -> Array:
    return features if isinstance(features, np.ndarray) else sp.csr_array(features).toarray()


def arrow_table(value: Any, role: Role) -> pa.Table:
    """Return a part of a graph, or labels, as the table that files hold; a table is returned as it is."""
    if isinstance(value, pa.Table):
        return value
    if role == "edges":
        table = to_arrow(value)
        return table if (table.column("weight").to_numpy() != 1).any() else table.drop_columns("weight")
    if role == "features":
        return features_to_arrow(value)
    if role == "labels":
        return answer_table(value)
    nodes = pa.table({"node": id_array(value.node_ids)})
    if value.types == (None,):
        return nodes
    types = pa.array(list(value.types), pa.string()).take(pa.array(value.codes))
    return nodes.append_column("type", types)


def _names_as_ids(names: list[Any]) -> IdArray:
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
