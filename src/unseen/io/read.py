"""Reading graphs and labels, whatever they come in: the door where everything is checked once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from unseen.errors import InputError, logger
from unseen.graph import Features, Graph, Symmetrize, check_symmetrize
from unseen.ids import IdArray, as_ids, default_ids, match_ids
from unseen.io.columns import is_label_header, is_node_header, node_ids
from unseen.io.edge_sources import GROUP_FILE, EdgeSource, read_edges
from unseen.io.edges import EdgeReport, graph_from_edges, id_column, stacked
from unseen.io.features import read_features
from unseen.io.headers import (
    Stranger,
    contains,
    may_be_label_header,
    may_be_node_header,
    say_dropped,
    settle_ids,
)
from unseen.io.label_rows import (
    LabelRows,
    group_rows,
    indicator_rows,
    is_group_layout,
    label_rows,
    to_labels,
    vector_rows,
)
from unseen.io.matrices import GROUP_KEYS, read_mat
from unseen.io.sources import (
    TEXT_NAMES,
    TEXT_SUFFIXES,
    data_suffix,
    existing,
    existing_file,
    is_path,
    unknown_suffix,
)
from unseen.io.tables import is_tabular, read_arrow, read_parquet
from unseen.io.text import read_text
from unseen.labels import Labels


def read_graph(
    edges: Any,
    nodes: Any = None,
    features: Any = None,
    labels: Any = None,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    symmetrize: Symmetrize = "max",
    drop_negative: bool = False,
) -> Graph:
    r"""Read a graph; every id that any of the four sources names is a node of it.

    Nodes come in the order of first appearance: `nodes`, `edges`, `features`, `labels`. Ids of text
    files are strings (``007`` stays ``007``), other formats may hold integers; where both meet, they
    meet as strings. One notice on the logger ``unseen`` says what was read and done.

    Parameters
    ----------
    edges : path, table or scipy matrix
        Text (``src, dst`` and perhaps ``weight``, with or without header, also ``.gz``), Parquet, a
        scipy ``.npz`` (an array ``ids`` in it may name the rows), a ``.mat`` with ``network``, a
        ``graph.txt`` or the folder that holds it; anything with the Arrow interface (pandas, polars,
        pyarrow) with the columns ``src, dst[, weight]``; a scipy matrix.
    nodes : path, table or sequence of ids, optional
        A node list: names isolated nodes, and fixes the order.
    features : path, table or matrix, optional
        As for :func:`unseen.io.features.read_features`. Every node needs a row. A matrix without ids
        has one row a node number, or rows in the order of `nodes` (or of the adjacency matrix)
        where ids are not the numbers 0 ... n - 1.
    labels : path or table, optional
        Only its ids are used here: they become nodes. :func:`unseen.read_labels` reads the labels.
    header : bool, optional
        Whether text files begin with column names; recognised by the known names when not given. With
        True, a first line whose ids stand elsewhere too is kept, and a notice names those dropped.
    delimiter : str, optional
        The character between the columns of `edges`, and of the other text files where every line has
        it; sniffed when not given.
    symmetrize : {"max", "sum", "error"}
        What becomes of a pair that is listed more than once, in either direction.
    drop_negative : bool
        Leave out edges of negative weight instead of refusing them.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("src,dst,weight\n007,a b,2\na b,ü,1\n", encoding="utf-8")
    >>> graph = unseen.read_graph(path, nodes=["alone"])
    >>> graph, graph.node_ids.tolist()
    (Graph(4 nodes, 2 edges, no features), ['alone', '007', 'a b', 'ü'])
    """
    check_symmetrize(symmetrize)
    options: dict[str, Any] = {
        "delimiter": delimiter,
        "symmetrize": symmetrize,
        "drop_negative": drop_negative,
    }
    found = read_edges(edges, header=header, **options)
    ends = [found.edges.src, found.edges.dst]
    first = None if nodes is None else _read_nodes(nodes, header, delimiter, stacked(ends))
    before = [column for column in (first, found.nodes) if column is not None]
    more: list[pa.Array] = []
    table = None
    if features is not None:
        table = read_features(features, header=header, delimiter=delimiter, known=stacked([*before, *ends]))
        more.append(id_column(_feature_ids(table, before), "features"))
    rows = None
    if labels is not None:
        known = stacked([*before, *ends, *more])
        rows = read_label_rows(labels, header=header, delimiter=delimiter, known=known, stranger="refuse")
        more.append(rows.ids)
    if _first_line_is_data(found, [*before, *more]):
        found = read_edges(edges, header=False, **options)
    graph, report = graph_from_edges(
        found.edges.src,
        found.edges.dst,
        found.edges.weight,
        nodes=stacked(before) if before else None,
        more_nodes=more,
        symmetrize=symmetrize,
        drop_negative=drop_negative,
    )
    if graph.n_nodes == 0:
        msg = f"{found.name} lists no edge, and there is no other source that names a node; give `nodes`"
        raise InputError(msg)
    if table is not None:
        graph = _with_features(graph, table, before, features)
    unlabelled = None if rows is None else graph.n_nodes - len(to_labels(rows, graph).labelled)
    logger.info(_notice(found.name, graph, report, symmetrize, unlabelled))
    return graph


def read_labels(
    source: Any,
    graph: Graph,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    where: str = "the graph",
) -> Labels:
    """Read labels for the nodes of `graph`; an id that it does not have is an error.

    Several labels of a node are repeated rows, or stand in one cell with ``|`` between them. An empty
    cell, NaN and -1 mean no label. The classes are sorted.

    Parameters
    ----------
    source : path or table
        Text or Parquet with ``node, label``, a ``group.txt`` (node, then its classes) or the folder
        that holds it, a ``.mat`` with ``group``; anything with the Arrow interface.
    graph : Graph
        The graph whose nodes are labelled; nodes without a row are unlabelled.
    header, delimiter : optional
        For text, as in :func:`unseen.read_graph`.
    where : str
        What a message says an unknown id is missing from.

    Examples
    --------
    >>> import pyarrow as pa, unseen
    >>> graph = unseen.Graph.from_edges(["a", "b"], ["b", "c"])
    >>> unseen.read_labels(pa.table({"node": ["a", "c"], "label": ["red", "red|blue"]}), graph)
    Labels(3 nodes, 2 labelled, 2 classes, multi-label)
    """
    known = id_column(graph.node_ids, "node_ids")
    rows = read_label_rows(source, header=header, delimiter=delimiter, known=known)
    return to_labels(rows, graph, where=where)


def _first_line_is_data(found: EdgeSource, others: list[pa.Array]) -> bool:
    """Return whether a first line was dropped though other sources know its ids; `header` was meant for them."""
    if found.dropped is None:
        return False
    if not any(contains(column, end) for column in others for end in found.dropped):
        say_dropped(found.name, found.dropped)
        return False
    logger.warning(
        "%s: the first line (%s) was kept as an edge, though header=True (--header), because other sources "
        "name its ids too",
        found.name,
        ", ".join(found.dropped),
    )
    return True


def _read_nodes(source: Any, header: bool | None, delimiter: str | None, known: pa.Array) -> pa.Array:
    if is_path(source):
        path = existing_file(source, "nodes")
        suffix = data_suffix(path)
        if suffix == ".parquet":
            return node_ids(read_parquet(path))
        if suffix in TEXT_SUFFIXES:
            # Blanks belong to the ids here: a list of `a b` has one column.
            table = read_text(
                path, is_node_header, header=header, delimiter=delimiter, blanks=False, may_differ=True
            )
            return node_ids(settle_ids(table, is_node_header, may_be_node_header, known, "warn"))
        raise unknown_suffix(path, "nodes", [*TEXT_NAMES, ".parquet"])
    if hasattr(source, "columns") and is_tabular(source):
        return node_ids(read_arrow(source, "nodes"))
    if isinstance(source, Iterable):
        return id_column(source, "nodes")
    msg = f"`nodes` must be a path, a table or a sequence of ids, got {type(source).__name__}"
    raise InputError(msg)


def read_label_rows(
    source: Any,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    known: pa.Array | None = None,
    stranger: Stranger = "leave",
) -> LabelRows:
    """Return the labels of a source as listed; `known` and `stranger` as in `settle_ids`."""
    if is_tabular(source):
        return label_rows(read_arrow(source, "labels"))
    if not is_path(source):
        msg = (
            f"`labels` must be a path or a table with the Arrow interface, got {type(source).__name__}; "
            "Labels.from_values takes one value a node"
        )
        raise InputError(msg)
    path = existing(source, "labels")
    if path.is_dir():
        path = existing_file(path / GROUP_FILE, "labels")
    suffix = data_suffix(path)
    if suffix == ".parquet":
        return label_rows(read_parquet(path))
    if suffix == ".mat":
        found = read_mat(path, GROUP_KEYS, "labels")
        if isinstance(found, np.ndarray) and 1 in found.shape:
            return vector_rows(found.ravel(), repr(str(path)))
        return indicator_rows(found, repr(str(path)))
    if is_group_layout(path):
        return group_rows(path)
    if suffix in TEXT_SUFFIXES:
        table = read_text(
            path,
            is_label_header,
            header=header,
            delimiter=delimiter,
            sniff_header=may_be_label_header,
            may_differ=True,
        )
        return label_rows(settle_ids(table, is_label_header, may_be_label_header, known, stranger))
    raise unknown_suffix(path, "labels", [*TEXT_NAMES, ".parquet", ".mat"])


_Table = tuple[IdArray | None, Features, tuple[str, ...] | None]


def _feature_ids(table: _Table, before: list[pa.Array]) -> IdArray:
    """Return the ids of feature rows; without any, node numbers, or the order that is already fixed."""
    ids, matrix, _ = table
    if ids is not None:
        return ids
    numbers = default_ids(matrix.shape[0])
    if before and len(before[0]) == len(numbers):
        order = as_ids(before[0].to_numpy(zero_copy_only=False))
        if (match_ids(order, numbers) < 0).any():
            return order
    return numbers


def _with_features(graph: Graph, table: _Table, before: list[pa.Array], source: Any) -> Graph:
    own, matrix, names = table
    rows = match_ids(graph.node_ids, _feature_ids(table, before))
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        name = repr(str(source)) if is_path(source) else "`features`"
        remedy = (
            f"it names no nodes, so that its {matrix.shape[0]} rows belong to the nodes 0 to {matrix.shape[0] - 1}: "
            "give the ids with the features, or `nodes` in the order of the rows"
            if own is None
            else "add rows for them (zeros, if nothing is known) or remove these nodes"
        )
        msg = (
            f"{name} has no row for {len(missing)} of the {graph.n_nodes} nodes, the first is "
            f"{graph.node_ids[missing[0]]!r}; {remedy}"
        )
        raise InputError(msg)
    return Graph(graph.adjacency, matrix[rows], graph.node_ids, names)


def _notice(name: str, graph: Graph, report: EdgeReport, symmetrize: str, unlabelled: int | None) -> str:
    kept = "the larger weight kept" if symmetrize == "max" else "their weights added"
    parts = [
        _counted(graph.n_nodes, "node"),
        _counted(graph.n_edges, "edge"),
        _counted(report.repeats, "repeat") + (f" ({kept})" if report.repeats else ""),
        _counted(report.self_loops, "self-loop"),
        _counted(int(graph.isolated.sum()), "isolated node"),
    ]
    if unlabelled is not None:
        parts.append(_counted(unlabelled, "unlabelled node"))
    if report.dropped_negative:
        parts.append(_counted(report.dropped_negative, "edge") + " of negative weight left out")
    if report.dropped_zero:
        parts.append(_counted(report.dropped_zero, "edge") + " of weight 0 left out")
    return f"read {name}: {', '.join(parts)}; edges taken as undirected"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
