"""Read a graph: sources are read, ids are numbered, and out come a graph, its labels and a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from unseen.data.build import Numbering, Report, build_labels, refuse_foreign_ids
from unseen.data.intake import Data, Intake
from unseen.data.pieces import Reader, number_rows, read_whole
from unseen.data.roles import EdgeReader, LabelReader, NodeReader
from unseen.data.sources import OptionNames, Options, as_list, as_path, find_format, is_path, is_pyg
from unseen.data.tables import Table, id_column
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.ids import IdArray
from unseen.labels import Labels


def read(
    edges: Any,
    nodes: Any = None,
    features: Any = None,
    labels: Any = None,
    *,
    text: Any = None,
    encoder: Any = None,
    **options: Unpack[OptionNames],
) -> Data:
    r"""Read a graph and its labels; each source is opened once, and every id that one of them names is a node.

    Nodes come in the order of first appearance: `nodes`, `edges`, `features`, `labels`. Ids of text
    files are strings (``007`` stays ``007``), other formats may hold integers; where both meet, they
    meet as strings. One notice on the logger ``unseen`` says what was read and done.

    Parameters
    ----------
    edges : path, table or scipy matrix
        Text (``src, dst`` and perhaps ``weight``, with or without header; in a header also ``type`` and
        ``sign``; also ``.gz``), Parquet (a file, or a folder of files), a scipy ``.npz`` (an array ``ids`` in
        it may name the rows), a ``.mat`` with ``network``, a ``graph.txt`` or the folder that holds it; a folder with
        ``node.dat`` and ``link.dat`` (heterogeneous graph benchmark, read by `unseen-paper`), with features and labels;
        anything with the Arrow interface (pandas, polars, pyarrow) with the columns
        ``src, dst[, weight][, type]``; a scipy matrix.
    nodes : path, table or sequence of ids, optional
        A node list: names isolated nodes, and fixes the order. A column ``type`` says the type of each node.
    features : path, table or matrix, or a mapping from types to these, optional
        Text, Parquet or a table with ``node`` and one column per feature (or one column of lists; a column of texts
        becomes words, one of categories indicators), ``.npz``,
        ``.npy``, ``.mat`` (``attributes``), svmlight, a matrix. Every node needs a row. A matrix without ids
        has one row per node number, or rows in the order of `nodes` (or of the adjacency matrix)
        where ids are not the numbers 0 ... n - 1. By type (``{"author": ...}``), every node of the type needs a row.
    labels : path, table, or a list of these, optional
        Text, Parquet or a table with ``node, label``, a ``group.txt`` (node, then its classes) or the folder
        that holds it, a ``.mat`` with ``group``. Several labels of a node are repeated rows, or stand in one
        cell with ``|`` between them; several sources add up. An empty cell, NaN and -1 mean no label.
    header : bool, optional
        Whether text files begin with column names; detected when not given. With True, a first row whose ids occur
        again in the file, or in the sources read before it (`nodes`, `edges`, `features`, `text`), is still data, with
        a warning.
    delimiter : str, optional
        The character between the columns of `edges`, and of the other text files where every line has
        it; found out when not given.
    symmetrize : {"max", "sum", "error"}
        How to combine repeated edges, in either direction.
    drop_negative : bool
        Leave out edges of negative weight instead of keeping their sign.
    strict : bool
        Refuse labels of nodes that have no edge and no features, instead of warning of them.
    directed : bool
        Keep the direction of edges, from ``src`` to ``dst``.
    absolute : bool
        Use the absolute value of negative weights.
    src, dst, weight, node_column, label_column : str, optional
        Names of columns (or attributes), for the files that have them. Without these, columns are chosen by their names
        or else by their order, and a notice says which were taken.
    edges_table : str, optional
        The table of a database that holds the edges.
    missing : {"median", "zero", "error"}
        What replaces missing numbers among the features: the median of their column, 0, or an error.
    max_memory : int or str, optional
        Memory that the content of one file may take, in bytes or as a text such as ``8GB``. By default 1,000 times the
        size of the file plus 256 MB, and at most half of the free memory. Edges without types, directions and signs
        that need more are sorted on disk (extra `scale`).
    text : path, table, dict or pandas series, optional
        ``node, text``: words that several nodes share become features, weighted by scikit-learn's `TfidfVectorizer`.
    encoder : object, optional
        Has ``encode(list of str)``, as the models of sentence-transformers do. Its vectors of the texts become features
        beside the words, by which found classes are described.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("src,dst,weight\n007,a b,2\na b,ü,1\n", encoding="utf-8")
    >>> _ = (folder / "labels.csv").write_text("node,label\n007,red\n", encoding="utf-8")
    >>> data = unseen.read(folder / "edges.csv", nodes=["alone"], labels=folder / "labels.csv")
    >>> data.graph, data.labels
    (Graph(4 nodes, 2 edges, no features), Labels(4 nodes, 1 labelled, 1 classes, single-label))
    >>> data.graph.node_ids.tolist()
    ['alone', '007', 'a b', 'ü']
    """
    reading = Options(**options)
    if is_path(edges) and Path(edges).is_dir():
        from unseen.data.folders import folder_layout, read_layout

        layout = folder_layout(Path(edges))
        if layout is not None:
            return read_layout(Path(edges), layout, (nodes, features, labels, text), reading)
    if is_pyg(edges):
        from unseen.data.objects_pyg import read_hetero, usual_parts

        if hasattr(edges, "node_types"):
            return read_hetero(edges, nodes, features, labels, text, reading)
        features, labels = usual_parts(edges, features, labels, reading)
    if labels is None and reading.label_column:
        labels = attribute_source(edges, features, text)
    return Intake(edges, nodes, features, as_list(labels), reading, text).data(encoder)


def read_graph(
    edges: Any,
    nodes: Any = None,
    features: Any = None,
    labels: Any = None,
    *,
    text: Any = None,
    encoder: Any = None,
    **options: Unpack[OptionNames],
) -> Graph:
    r"""Read a graph: :func:`unseen.read` without the labels, whose ids are nodes all the same.

    Parameters
    ----------
    edges, nodes, features, labels, text, encoder, **options
        As for :func:`unseen.read`.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("src,dst\n007,a b\na b,ü\n", encoding="utf-8")
    >>> unseen.read_graph(path)
    Graph(3 nodes, 2 edges, no features)
    """
    return read(edges, nodes, features, labels, text=text, encoder=encoder, **options).graph


def read_labels(
    source: Any,
    graph: Graph,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    label_column: str | None = None,
    where: str = "the graph",
) -> Labels:
    """Read labels for the nodes of `graph`; an id that it does not have is an error.

    Several labels of a node are repeated rows, or stand in one cell with ``|`` between them. An empty
    cell, NaN and -1 mean no label. The classes are sorted.

    Parameters
    ----------
    source : path, table, or a list of these
        As the `labels` of :func:`unseen.read`.
    graph : Graph
        The graph whose nodes are labelled; nodes without a row are unlabelled.
    header, delimiter : optional
        For text, as in :func:`unseen.read`.
    label_column : str, optional
        The column, or node attribute, of the labels.
    where : str
        What a message says an unknown id is missing from.

    Examples
    --------
    >>> import pyarrow as pa, unseen
    >>> graph = unseen.Graph.from_edges(["a", "b"], ["b", "c"])
    >>> unseen.read_labels(pa.table({"node": ["a", "c"], "label": ["red", "red|blue"]}), graph)
    Labels(3 nodes, 2 labelled, 2 classes, multi-label)
    """
    options, report = Options(header, delimiter, label_column=label_column), Report()
    known = Numbering()
    known.number(id_column(graph.node_ids, "node_ids"))
    readers = [LabelReader(one, options, report) for one in as_list(source)]
    rows = [number_rows(read_whole(reader, known), known) for reader in readers]
    for piece in rows:
        refuse_foreign_ids(where, piece, graph.n_nodes, known)
        unknown = np.flatnonzero(piece.numbers >= graph.n_nodes)
        if len(unknown):
            first = int(unknown[0])
            more = f", and {len(unknown)} rows in all name such nodes" if len(unknown) > 1 else ""
            remedy = (
                ", or read the graph with labels=... to make nodes of them" if where == "the graph" else ""
            )
            what = f"{where} has no node {piece.ids[first].as_py()!r}{more}; remove such rows{remedy}"
            msg = f"{piece.place(first)}: {what}{'' if first else piece.hint}"
            raise InputError(msg)
    return build_labels(rows, known, report, graph)


def read_label_list(source: Any, options: Options | None = None) -> Labels:
    """Return labels without a graph: their own ids, in the order of first appearance, are the nodes."""
    report, numbering = Report(), Numbering()
    rows = number_rows(read_whole(LabelReader(source, options, report)), numbering)
    return build_labels([rows], numbering, report)


def inspect_file(
    path: Any, role: str, options: Options | None = None, known_ids: Sequence[Any] | IdArray | None = None
) -> Reader[Any]:
    r"""Return the reader of a file (`names`, `columns`, `delimiter`, `notices`) once it has chosen its columns.

    Every command reads files by these same rules.

    Parameters
    ----------
    path : path or table
        As for :func:`read`.
    role : {"edges", "nodes", "features", "labels", "text"}
        What the file is read as.
    options : Options, optional
        How files are read.
    known_ids : sequence of ids, optional
        Ids of other files. With these, a first row whose id is the only unknown one is a header, and the whole file is
        read; without them, its first lines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("product_id,category\nP1,garden\nP2,kitchen\n")
    >>> inspect_file(path, "labels").columns
    {'node': 'product_id', 'label': 'category'}
    """
    kinds: dict[str, type[Reader[Any]]] = {"edges": EdgeReader, "nodes": NodeReader, "labels": LabelReader}
    if role not in kinds:
        from unseen.data.features import FeatureReader, TextReader

        kinds |= {"features": FeatureReader, "text": TextReader}
    reader = kinds[role](path, options)
    if known_ids is None:
        reader.open(1 << 16)
        if isinstance(reader.batch, Table):
            reader.choose_columns(reader.batch)
    else:
        known = Numbering()
        known.number(id_column(known_ids, "known_ids"))
        read_whole(reader, known)
    return reader


def attribute_source(edges: Any, features: Any, text: Any) -> Any:
    """Return the first source that may hold labels beside other attributes of nodes, or None."""
    from unseen.data.objects import is_networkx

    for source in (edges, features, text):
        if is_path(source):
            form = find_format(as_path(source), "labels")
            if form is not None and (form.graph or source is not edges):
                return source
        elif is_networkx(source) or (source is not edges and hasattr(source, "columns")):
            return source
    return None
