"""Python's own containers, numpy arrays and pandas objects as edges, features or labels; networkx graphs too.

- Edges: a list of ``(u, v)``, ``(u, v, weight)`` (networkx's ``(u, v, {"weight": 2})`` too), an array of such rows, or
  as PyTorch Geometric has it, of two rows, a dict of columns (``src``, ``dst``) or from nodes to their neighbours.
- Features: a dict of columns (``node`` and others), a dict or pandas series from node ids to a number, a vector, a
  category or a dict of attributes.
- Labels: a dict or a pandas series from node ids to a label or a list of them, a list of ``(node, label)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from numbers import Number
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.names import DST, NODE, SRC
from unseen.data.objects import is_networkx, network_table
from unseen.data.sources import Options, Role, is_pyg
from unseen.data.tables import MatrixBatch, Table, as_column, first_line, from_arrow, id_column
from unseen.errors import InputError, unknown_name
from unseen.graph import Graph
from unseen.ids import as_ids, match_ids
from unseen.labels import Labels, list_per_node

_CONTAINERS = (list, tuple, set, frozenset)
_KINDS: dict[Role, str] = {
    "edges": "a path, a table with the Arrow interface, a scipy matrix, a list of pairs, an array of them, a dict or a "
    "networkx graph, got {}; Graph.from_pyg takes PyTorch Geometric's objects",
    "nodes": "a path, a table or a sequence of ids, got {}",
    "features": "a path, a table with the Arrow interface or a matrix, got {}",
    "labels": "a path, a table with the Arrow interface, a pandas series, a dict or a list of (node, label), got {}; "
    "Labels.from_values takes one value per node",
    "vectors": "a path, got {}",
}
"""What an object of each role must be."""


def as_graph(source: Any) -> Graph:
    """Return a graph from anything that holds edges; a `Graph` is returned as it is.

    Examples
    --------
    >>> import networkx
    >>> as_graph(networkx.path_graph(3)), as_graph([("a", "b"), ("b", "c", 2.0)])
    (Graph(3 nodes, 2 edges, no features), Graph(3 nodes, 2 edges, no features))
    """
    if isinstance(source, Graph):
        return source
    if is_networkx(source):
        return Graph.from_networkx(source)
    if is_pyg(source) or hasattr(source, "edge_index"):
        return Graph.from_pyg(source)
    edges = _collect_rows(source)
    if not isinstance(edges, (Mapping, np.ndarray, *_CONTAINERS)) and not _is_table(edges):
        # a scipy matrix may be features as well, and a text may be a path
        msg = (
            f"`graph` must be an unseen.Graph, got {type(source).__name__}; see Graph.from_scipy and read_graph. "
            "A networkx graph, a table, a dict or a list of edges will do, too"
        )
        raise InputError(msg)
    from unseen.data.read import read_graph

    return read_graph(edges)


def as_graph_and_labels(source: Any, labels: Any) -> tuple[Graph, Labels | None]:
    """Return a graph and the labels of its nodes, which a text names as an attribute of the nodes; None stays None.

    Examples
    --------
    >>> import networkx
    >>> network = networkx.Graph([("ann", "bob"), ("bob", "eve")])
    >>> network.nodes["ann"]["team"] = "red"
    >>> as_graph_and_labels(network, "team")[1].to_lists()
    {'ann': ['red']}
    """
    graph = as_graph(source)
    if labels is None:
        return graph, None
    if not isinstance(labels, str):
        return graph, as_labels(labels, graph)
    if is_pyg(source):
        from unseen.data.objects_pyg import labels_from_pyg

        return graph, labels_from_pyg(source, labels)
    if not is_networkx(source):
        msg = (
            f"`labels` is the text {labels!r}, which names a node attribute of a networkx graph; the graph is of type "
            f"{type(source).__name__}. read_labels({labels!r}, graph) reads a file"
        )
        raise InputError(msg)
    rows = [data for _, data in source.nodes(data=True)]
    if not any(labels in row for row in rows):
        raise unknown_name("node attribute", labels, dict.fromkeys(str(key) for row in rows for key in row))
    return graph, Labels.from_values([row.get(labels) for row in rows], graph.node_ids)


def as_labels(source: Any, graph: Graph) -> Labels:
    """Return labels of the nodes of a graph: by id from dicts, series, tables and pairs, else one value per node.

    Examples
    --------
    >>> graph = as_graph([("a", "b")])
    >>> as_labels({"b": "red"}, graph).codes.tolist(), as_labels(["red", None], graph).codes.tolist()
    ([-1, 0], [0, -1])
    """
    if isinstance(source, Labels):
        return source
    source, ids, by_id = _collect_rows(source), graph.node_ids, True
    if isinstance(source, Mapping) and not _has_columns(source, ("node",), ("label",)):
        return Labels.from_values(source, ids)

    def are_ids(nodes: list[Any]) -> bool:
        is_usual = all(isinstance(node, (str, int)) for node in nodes)
        return is_usual and bool((match_ids(as_ids(nodes), ids) >= 0).all())

    if _is_series(source):
        numbers = source.index.tolist()  # pandas' own numbers are no ids where the graph has others
        by_id = numbers != list(range(graph.n_nodes)) or are_ids(numbers)
    elif not isinstance(source, Mapping) and not _is_table(source):
        source = list_per_node(source, None, what="labels")
        by_id = _are_pairs(source) and are_ids([pair[0] for pair in source])
    if by_id:
        from unseen.data.read import read_labels

        return read_labels(source, graph)
    return Labels.from_values(list_per_node(list(source), ids, what="labels"), ids)


def read_object(source: Any, role: Role, options: Options) -> Table | MatrixBatch:
    """Return the batch of an object: anything with the Arrow interface, a matrix, Python's containers, node ids."""
    if isinstance(source, (Table, MatrixBatch)):
        return source
    name, source = f"`{role}`", _collect_rows(source)
    if is_networkx(source):
        return network_table(source, role, name, weight=options.weight)
    if is_pyg(source):
        from unseen.data.objects_pyg import read_pyg

        return read_pyg(source, role, options)
    source = source if role == "edges" else _name_index(source)
    reader = {"edges": _read_edges, "features": read_values, "labels": _read_labels}.get(role)
    if reader is not None and (batch := reader(source)) is not None:
        return batch
    tabular = hasattr(source, "__arrow_c_stream__") or isinstance(source, (pa.Table, pa.RecordBatch))
    if role == "nodes" and isinstance(source, Iterable) and not (tabular and hasattr(source, "columns")):
        return Table.of(name, {"node": id_column(source, "nodes")})
    matrix = sp.issparse(source) or (role == "features" and isinstance(source, np.ndarray))
    if role in ("edges", "features") and matrix:
        return MatrixBatch(name, source)
    if not tabular:
        msg = f"{name} must be {_KINDS[role].format(type(source).__name__)}"
        raise InputError(msg)
    try:
        return from_arrow(source if isinstance(source, pa.Table) else pa.table(source), name)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        msg = f"{name} is no table that Arrow can read: {first_line(error)}"
        mixed = re.search(r"Conversion failed for column (.*) with type object", str(error))
        if mixed is not None:
            msg = (
                f"the column {mixed[1]!r} of {name} holds values of several types; make them all of one, "
                f"e.g. strings: table[{mixed[1]!r}].astype(str)"
            )
        raise InputError(msg) from None


def _read_edges(source: Any) -> Table | None:
    """Return the edges of an array, a dict of columns or of neighbours, or a list of pairs and weights."""
    if isinstance(source, np.ndarray):
        return _read_array(source)
    if isinstance(source, Mapping):
        if _has_columns(source, SRC, DST):
            return Table.of("`edges`", source)
        pairs = list[tuple[Any, Any, Any]]()
        for node, others in source.items():
            if isinstance(others, (str, bytes)) or not isinstance(others, Iterable):
                msg = (
                    f"`edges` has {others!r} for the node {node!r}; a dict of edges lists the neighbours of each node, "
                    "or has the columns `src` and `dst`"
                )
                raise InputError(msg)
            pairs += [(node, one, others[one] if isinstance(others, Mapping) else 1.0) for one in others]
        source = pairs
    elif not isinstance(source, _CONTAINERS):
        return None
    src, dst, weights = list[Any](), list[Any](), list[Any]()
    for k, pair in enumerate(source):
        if not isinstance(pair, (tuple, list)) or len(pair) not in (2, 3):
            msg = f"`edges`, entry {k + 1} is {pair!r}; an edge is (u, v) or (u, v, weight)"
            raise InputError(msg)
        weight = pair[2] if len(pair) == 3 else 1.0
        src.append(pair[0])
        dst.append(pair[1])
        weights.append(weight.get("weight", 1.0) if isinstance(weight, Mapping) else weight)
    ends = {"src": id_column(src, "src"), "dst": id_column(dst, "dst")}
    return Table.of("`edges`", {**ends, "weight": as_column(weights)})


def _read_array(array: Any) -> Table:
    two_rows = array.ndim == 2 and array.shape[0] == 2 and array.shape[1] not in (2, 3)
    pairs = array.T if two_rows and array.dtype.kind in "iu" else array
    if pairs.ndim != 2 or pairs.shape[1] not in (2, 3):
        msg = (
            f"`edges` is an array of shape {array.shape}; edges are rows of two ids and perhaps a weight. "
            "An adjacency matrix goes to Graph.from_scipy"
        )
        raise InputError(msg)
    ends = pairs[:, :2]
    if ends.dtype.kind == "f":
        if not (np.isfinite(ends).all() and (ends == np.round(ends)).all()):
            msg = "`edges` is an array of decimals; its first two columns must be node numbers"
            raise InputError(msg)
        ends = ends.astype(np.int64)
    columns = {"src": id_column(ends[:, 0], "src"), "dst": id_column(ends[:, 1], "dst")}
    if pairs.shape[1] == 3:
        columns["weight"] = pairs[:, 2].tolist()
    return Table.of("`edges`", columns)


def read_values(source: Any, name: str = "`features`") -> Table | None:
    """Return the features or texts of a dict of columns, or of a dict or series from nodes to values; else None."""
    if isinstance(source, Mapping) and _has_columns(source, NODE):
        return Table.of(name, source)
    if _is_series(source):
        column, values = source.name, dict(zip(source.index.tolist(), source.tolist(), strict=True))
    elif isinstance(source, Mapping):
        column, values = None, dict(source)
    else:
        return None
    ids, rows = id_column(list(values), f"ids of {name}"), list(values.values())
    if any(isinstance(row, Mapping) for row in rows):
        keys = dict.fromkeys(key for row in rows for key in row if key not in NODE)
        columns = {str(key): as_column([row.get(key) for row in rows]) for key in keys}
    else:
        columns = {"feature" if column is None else str(column): as_column(rows)}
    return Table.of(name, {"node": ids, **columns})


def has_node_keys(features: Mapping[Any, Any]) -> bool:
    """Return whether a dict of features has columns, or nodes as keys; else its keys are types of nodes."""
    values = [value for value in features.values() if value is not None]
    return _has_columns(features, NODE) or all(
        isinstance(value, (Mapping, Number, list, tuple)) or getattr(value, "ndim", 2) == 1
        for value in values
    )


def _read_labels(source: Any) -> Table | None:
    """Return the labels of a dict of columns, a dict or series from nodes to labels, or a list of pairs of these."""
    if isinstance(source, Mapping) and _has_columns(source, ("node",), ("label",)):
        return Table.of("`labels`", source)
    pairs: Any = source if isinstance(source, list) and _are_pairs(source) else ()
    if isinstance(source, Mapping) or _is_series(source):
        pairs = list(source.items())
    elif not pairs:
        return None
    nodes, values = ([pair[k] for pair in pairs] for k in (0, 1))
    names = Labels.from_values(values)  # `|` in a name is a character like others
    lists = pa.LargeListArray.from_arrays(
        pa.array(names.indicator.indptr, pa.int64()),
        pa.array(list(names.classes), pa.large_string()).take(pa.array(names.indicator.indices)),
    )
    return Table.of("`labels`", {"node": id_column(nodes, "ids of `labels`"), "label": lists})


def _name_index(source: Any) -> Any:
    """Return a pandas frame with its named index as the column ``node``, unless another column is called like ids.

    Examples
    --------
    >>> import pandas as pd
    >>> list(_name_index(pd.DataFrame({"product": ["a"], "price": [1]}).set_index("product")))
    ['node', 'price']
    """
    if not all(hasattr(source, name) for name in ("index", "columns", "reset_index")):
        return source
    if source.index.name is None:
        return source
    if {str(column).lower() for column in source.columns} & set(NODE):
        return source.reset_index(drop=True)
    return source.rename_axis("node").reset_index()


def _collect_rows(source: Any) -> Any:
    """Return a polars LazyFrame as the frame it stands for, a generator and networkx's view of edges as a list."""
    if type(source).__name__ == "LazyFrame":
        return source.collect()
    view = isinstance(source, Iterator) or type(source).__module__ == "networkx.classes.reportviews"
    return list(source) if view else source


def _is_table(source: Any) -> bool:
    """Whether it has columns and the Arrow interface; a series of polars has only the latter."""
    return hasattr(source, "__arrow_c_stream__") and (hasattr(source, "columns") or hasattr(source, "schema"))


def _is_series(source: Any) -> bool:
    """Whether it is a pandas series; a polars one has no ids."""
    return all(hasattr(source, name) for name in ("index", "iloc", "name")) and not hasattr(source, "columns")


def _are_pairs(values: Any) -> bool:
    return bool(values) and all(isinstance(each, tuple) and len(each) == 2 for each in values)


def _has_columns(source: Mapping[Any, Any], *names: tuple[str, ...]) -> bool:
    """Whether a dict has columns of these names, rather than nodes as keys."""
    keys = {key.lower() for key in source if isinstance(key, str)}
    return all(keys.intersection(each) for each in names) and all(
        isinstance(value, Iterable) and not isinstance(value, (str, bytes)) for value in source.values()
    )
