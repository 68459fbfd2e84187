"""Read a graph: sources are read, ids are numbered, and out come a graph, its labels and a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from unseen.data.build import (
    Report,
    combined,
    feature_rows,
    find_label_only,
    labels_of,
    node_texts,
    notice,
    refuse_apart,
    refuse_unknown,
    tell_text_only,
)
from unseen.data.headers import HEADER_HINT
from unseen.data.ids import Numbering, id_column, number_ids, numbered_ids
from unseen.data.options import OptionNames, Options
from unseen.data.pieces import (
    Edges,
    FeatureRows,
    NodeList,
    Reader,
    load_alone,
    require_columns,
    tell_ignored,
)
from unseen.data.roles import EdgeReader, LabelReader, NodeReader, TextReader
from unseen.data.sources import attribute_source, is_path, is_pyg, several
from unseen.errors import InputError, logger
from unseen.graph import Graph
from unseen.ids import Value, match_ids
from unseen.labels import Labels, warn_of_missing_words

if TYPE_CHECKING:
    from unseen.data.features import FeatureReader


@dataclass(frozen=True)
class Data(Value):
    """What :func:`unseen.read` returns.

    Attributes
    ----------
    graph : Graph
        Every id that any source names is a node of it.
    labels : Labels or None
        For the nodes of the graph; None where no labels were given.
    report : Report
        Counts of what was found and left out.

    Examples
    --------
    >>> import pyarrow as pa, unseen
    >>> unseen.read(pa.table({"src": ["a", "b"], "dst": ["b", "a"]})).report.repeats
    1
    """

    graph: Graph
    labels: Labels | None
    report: Report


FEW_EDGES = 3
"""With no more further edges, ids that occur once are nothing unusual."""


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
        elsewhere is still data, with a warning.
    delimiter : str, optional
        The character between the columns of `edges`, and of the other text files where every line has
        it; found out when not given.
    symmetrize : {"max", "sum", "error"}
        What becomes of a pair that is listed more than once, in either direction.
    drop_negative : bool
        Leave out edges of negative weight instead of keeping their sign.
    strict : bool
        Refuse labels of nodes that have no edge and no features, instead of warning of them.
    directed : bool
        Keep the direction of edges, from ``src`` to ``dst``.
    absolute : bool
        Take negative weights without their sign.
    src, dst, weight, node_column, label_column : str, optional
        Names of columns (or attributes), for the files that have them. Without these, columns are chosen by their names
        or else by their order, and a notice says which were taken.
    edges_table : str, optional
        The table of a database that holds the edges.
    missing : {"median", "zero", "error"}
        What replaces missing numbers among the features: the median of their column, 0, or an error.
    max_memory : int or str, optional
        Memory that the content of one file may take, in bytes or as a text such as ``8GB``. By default 1,000 times the
        size of the file plus 256 MB, and at most half of the free memory.
    text : path or table, optional
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
    intake = Intake(edges, nodes, features, several(labels), reading, text)
    data = intake.data()
    if intake.texts is None:
        return data
    from unseen.data.words import with_text

    return replace(data, graph=with_text(data.graph, intake.texts, encoder))


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
    own = id_column(graph.node_ids, "node_ids")
    readers = [LabelReader(one, options, report) for one in several(source)]
    rows = [load_alone(reader, [own]) for reader in readers]
    numbers = [match_ids(piece.node_ids, graph.node_ids) for piece in rows]
    for piece, row_of in zip(rows, numbers, strict=True):
        refuse_unknown(piece, row_of, where, graph.node_ids)
    warn_of_missing_words(report.missing_words)
    labels = labels_of(rows, numbers, graph.node_ids)
    if graph.stored_features:
        from unseen.data.leaks import warn_of_predictors

        warn_of_predictors(graph, labels)
    return labels


def read_label_list(source: Any, options: Options | None = None) -> Labels:
    """Return labels without a graph: their own ids, in the order of first appearance, are the nodes."""
    report = Report()
    reader = LabelReader(source, options, report)
    rows = load_alone(reader)
    numbering = number_ids([rows.ids])
    names = rows.names.to_pylist()
    if reader.first is not None and len(names) > 1 and names[0] == reader.first[1] not in names[1:]:
        line = f"{reader.first_place} ({', '.join(reader.first)})"
        logger.warning("%s is read as data, though its class occurs nowhere else%s", line, HEADER_HINT)
    warn_of_missing_words(report.missing_words)
    return labels_of([rows], numbering.columns, numbering.ids)


class Intake:
    """All sources of one graph, opened but not yet read."""

    def __init__(
        self, edges: Any, nodes: Any, features: Any, labels: Sequence[Any], options: Options, text: Any = None
    ) -> None:
        self.options, self.report = options, Report()
        given = (options, self.report)
        # Every source is opened before the first is read: a wrong path costs no time.
        self.edges = EdgeReader(edges, *given)
        self.nodes = None if nodes is None else NodeReader(nodes, *given)
        self.features_by_type: dict[Any, FeatureReader] = {}
        if features is not None:
            from unseen.data.features import open_features  # a graph without features does without it

            self.features_by_type = open_features(features, labels, *given)
        self.features = self.features_by_type.pop(None, None)
        self.labels = [LabelReader(source, *given) for source in labels]
        self.text = None if text is None else TextReader(text, *given)
        self.texts: Any = None
        every = (self.edges, self.nodes, self.features, *self.features_by_type.values(), *self.labels)
        self.readers: list[Reader[Any]] = [reader for reader in every if reader is not None]

    def data(self) -> Data:
        """Read everything and put it together."""
        readers: list[Reader[Any]] = [*self.readers, *([] if self.text is None else [self.text])]
        for reader in readers:
            reader.load()
        require_columns(readers, self.options)
        found = {name for labels in self.labels if (name := labels.label_name())}
        for each in (self.features, *self.features_by_type.values(), self.text):
            if each is not None:
                each.label_names |= found
        edges = self.edges.whole()
        listed_nodes = [] if edges.nodes is None else [edges.nodes]
        if self.edges.source.beside is not None:  # isolated nodes are only in that file
            listed_nodes.insert(0, load_alone(NodeReader(self.edges.source.beside)).ids)
        known = [edges.src, edges.dst, *listed_nodes]
        nodes = None if self.nodes is None else self.nodes.whole(known)
        before = [*([] if nodes is None else [nodes.ids]), *listed_nodes]
        known = [edges.src, edges.dst, *before]
        table = None if self.features is None else self.features.whole(known)
        by_type = {key: reader.whole(known) for key, reader in self.features_by_type.items()}
        feature_ids = [piece.ids for piece in by_type.values() if piece.ids is not None]
        if table is not None:
            ids = numbered_ids(table.values.shape[0], before[:1]) if table.ids is None else table.ids
            feature_ids = [id_column(ids, "features")]
        if self.text is not None:
            self.texts = self.text.whole([*known, *feature_ids])
        text_ids = [] if self.texts is None else [self.texts.ids]
        rows = [reader.whole([*known, *feature_ids, *text_ids]) for reader in self.labels]
        tell_ignored(readers)
        after = [*feature_ids, *text_ids, *(piece.ids for piece in rows)]
        numbering = number_ids([edges.src, edges.dst], before=before, after=after)
        self.require_nodes(len(numbering.ids))
        self._warn_of_first_edge(numbering)
        label_numbers = numbering.after[len(feature_ids) + len(text_ids) :]
        if self.texts is not None:
            tell_text_only(self.edges.name, self.texts, numbering, len(feature_ids))
        only = find_label_only(self.edges.name, rows, label_numbers, numbering) if rows else None
        if only is not None:  # misspelt ids would become new nodes in silence
            self.tell_label_only(*only)
        graph = self._graph(edges, nodes, table, by_type, numbering)
        labels = labels_of(rows, label_numbers, graph.node_ids) if rows else None
        warn_of_missing_words(self.report.missing_words)
        if labels is not None and graph.stored_features:
            from unseen.data.leaks import warn_of_predictors

            warn_of_predictors(graph, labels)
        logger.info("read %s: %s", self.edges.name, notice(graph, labels, self.report, self.options))
        return Data(graph, labels, self.report)

    def _graph(
        self,
        edges: Edges,
        nodes: NodeList | None,
        table: FeatureRows | None,
        by_type: dict[Any, FeatureRows],
        numbering: Numbering,
    ) -> Graph:
        """Return the graph of numbered edges with the features of all nodes, or those of each type."""
        everything = np.arange(len(numbering.ids))
        try:
            values = table and feature_rows(table, numbering.after[0], everything, numbering.ids)
        except InputError:
            refuse_apart(self.edges.name, table, numbering)
            raise
        names = None if table is None else table.names
        with_ids = [table] if table is not None else [p for p in by_type.values() if p.ids is not None]
        texts = node_texts(with_ids, numbering.after[: len(with_ids)], len(numbering.ids))
        typed = edges.types is not None or (nodes is not None and nodes.types is not None)
        stated = edges.points is not None and edges.points.any() and self.options.symmetrize == "max"
        if by_type or typed or stated or self.options.directed or len(edges.negative):
            from unseen.data.relate import graph_of_relations  # plain graphs need none of it

            features = by_type if values is None else (values, names)
            return graph_of_relations(edges, nodes, features, numbering, self.options, self.report, texts)
        (first, second), symmetrize = numbering.columns, self.options.symmetrize
        adjacency = combined(first, second, edges.weight, numbering.ids, symmetrize, self.report)
        return Graph(adjacency, values, numbering.ids, names, texts)

    def _warn_of_first_edge(self, numbering: Numbering) -> None:
        """Warn of a first edge whose ids occur nowhere else: it may be a header that cannot be recognised."""
        first, second = numbering.columns
        if self.edges.first is None or len(first) <= FEW_EDGES or first[0] == second[0]:
            return
        parts = (*numbering.before, first[1:], second[1:], *numbering.after)
        if not any((part == end).any() for end in (first[0], second[0]) for part in parts):
            self.tell_first_edge()

    def tell_first_edge(self) -> None:
        """Warn that the first edge may be a header."""
        line = f"{self.edges.first_place} ({', '.join(self.edges.first or ())})"
        logger.warning("%s is read as an edge, though its ids occur nowhere else%s", line, HEADER_HINT)

    def require_nodes(self, n: int) -> None:
        """Raise the error for a graph without nodes."""
        if not n:
            msg = f"{self.edges.name} lists no edge, and there is no other source that names a node; give `nodes`"
            raise InputError(msg)

    def tell_label_only(self, place: str, node: object, count: int, hint: str = "") -> None:
        """Warn that only labels name `count` nodes, and where the first is; raise an error if it must not be."""
        lack = "no edge" if self.features is None else "no edge and no features"
        more = f"; only labels name {count} nodes" if count > 1 else ""
        sentence = f"{place}: the label names {node!r}, a node that has {lack}{more}"
        if self.features is not None:
            msg = f"{sentence}; correct the id, or add a row of features{hint}"
            raise InputError(msg)
        if self.options.strict:
            msg = f"{sentence}; correct the id, or name it in `nodes` (--nodes){hint}"
            raise InputError(msg)
        logger.warning("%s; it is kept without edges (strict=True, --strict refuses that)%s", sentence, hint)
