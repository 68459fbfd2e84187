"""The one door: sources are read, first lines settled, ids numbered, and out come a graph, its labels and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from unseen.data.build import (
    Report,
    combined,
    feature_rows,
    labels_of,
    nothing_in_common,
    notice,
    refuse_apart,
    refuse_unknown,
)
from unseen.data.headers import stands_in, strangers_among
from unseen.data.ids import Numbering, id_column, number_ids
from unseen.data.options import OptionNames, Options
from unseen.data.pieces import LabelRows, Piece, Reader
from unseen.data.roles import EdgeReader, FeatureReader, LabelReader, NodeReader
from unseen.data.sources import is_path
from unseen.data.words import with_text
from unseen.errors import InputError, logger
from unseen.graph import Graph
from unseen.ids import IdArray, Ints, Value, as_ids, default_ids, match_ids
from unseen.labels import Labels, tell_missing_words


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
        ``node.dat`` and ``link.dat`` (heterogeneous graph benchmark), which brings features and labels;
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
        Whether text files begin with column names; recognised when not given. With True, a first line whose
        ids stand elsewhere too is kept, and a notice names those dropped.
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
        Names of columns (or attributes) where they are not the usual ones.
    edges_table : str, optional
        The table of a database that holds the edges.
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
    if is_path(edges) and (Path(edges) / "link.dat").is_file():
        from unseen.data.hgb import read_hgb

        return read_hgb(Path(edges), nodes, features, labels)
    data = Intake(edges, nodes, features, several(labels), reading).data()
    return data if text is None else replace(data, graph=with_text(data.graph, text, encoder, reading))


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
    where : str
        What a message says an unknown id is missing from.

    Examples
    --------
    >>> import pyarrow as pa, unseen
    >>> graph = unseen.Graph.from_edges(["a", "b"], ["b", "c"])
    >>> unseen.read_labels(pa.table({"node": ["a", "c"], "label": ["red", "red|blue"]}), graph)
    Labels(3 nodes, 2 labelled, 2 classes, multi-label)
    """
    options, report = Options(header, delimiter), Report()
    own = id_column(graph.node_ids, "node_ids")
    readers = [LabelReader(one, options, report) for one in several(source)]
    rows = [load_alone(reader, [own]) for reader in readers]
    numbers = [match_ids(piece.node_ids, graph.node_ids) for piece in rows]
    for piece, row_of in zip(rows, numbers, strict=True):
        refuse_unknown(piece, row_of, where, graph.node_ids)
    tell_missing_words(report.missing_words)
    return labels_of(rows, numbers, graph.node_ids)


def read_label_list(source: Any, options: Options | None = None) -> Labels:
    """Return labels without a graph: their own ids, in the order of first appearance, are the nodes."""
    report = Report()
    rows = load_alone(LabelReader(source, options, report))
    numbering = number_ids([rows.ids])
    tell_missing_words(report.missing_words)
    return labels_of([rows], numbering.columns, numbering.ids)


def load_alone(
    reader: Reader[Piece], others: Sequence[pa.Array] = (), *, n_bytes: int | None = None
) -> Piece:
    """Return all of one source; its first line is settled by its own ids and those of `others`."""
    before = reader.report.comments
    reader.load(n_bytes)
    comments = Report(comments=reader.report.comments - before)
    if comments.losses():
        logger.info("%s: %s", reader.name, *comments.losses())
    return reader.whole(stands_in([*reader.columns, *others]))


class Intake:
    """All sources of one graph on their way in, opened but not yet read."""

    def __init__(
        self, edges: Any, nodes: Any, features: Any, labels: Sequence[Any], options: Options
    ) -> None:
        self.options, self.report = options, Report()
        given = (options, self.report)
        # Every source is looked at before the first is read: a wrong path costs no time.
        self.edges = EdgeReader(edges, *given)
        self.nodes = None if nodes is None else NodeReader(nodes, *given)
        by_type = features if isinstance(features, Mapping) else {}
        self.features_by_type = {key: FeatureReader(source, *given) for key, source in by_type.items()}
        self.features = None if features is None or by_type else FeatureReader(features, *given)
        self.labels = [LabelReader(source, *given) for source in labels]
        optional: list[Reader[Any]] = [reader for reader in (self.nodes, self.features) if reader is not None]
        optional += self.features_by_type.values()
        self.readers: list[Reader[Any]] = [self.edges, *optional, *self.labels]

    def data(self, *, settle: bool = False) -> Data:
        """Read everything and put it together; `settle`: the edges say by themselves which of them point."""
        self._read()
        # Source by source: a first line that is kept speaks for those after it.
        edges = self._settled(self.edges)
        nodes = None if self.nodes is None else self._settled(self.nodes)
        before = [] if nodes is None else [nodes.ids]
        before += [*self.beside, *([] if edges.nodes is None else [edges.nodes])]
        table = None if self.features is None else self._settled(self.features)
        rows = [self._settled(reader) for reader in self.labels]
        by_type = {key: self._settled(reader) for key, reader in self.features_by_type.items()}
        feature_ids = [piece.ids for piece in by_type.values() if piece.ids is not None]
        if table is not None:
            ids = numbered_ids(table.values.shape[0], before[:1]) if table.ids is None else table.ids
            feature_ids = [id_column(ids, "features")]
        after = [*feature_ids, *(piece.ids for piece in rows)]
        numbering = number_ids([edges.src, edges.dst], before=before, after=after)
        self.require_nodes(len(numbering.ids))
        label_numbers = numbering.after[len(feature_ids) :]
        self._tell_label_only(numbering, rows, label_numbers)
        everything = np.arange(len(numbering.ids))
        try:
            values = table and feature_rows(table, numbering.after[0], everything, numbering.ids)
        except InputError:
            refuse_apart(self.edges.name, table, numbering)
            raise
        names = None if table is None else table.names
        typed = edges.types is not None or (nodes is not None and nodes.types is not None)
        if by_type or typed or self.options.directed or len(edges.negative):
            from unseen.data.relate import graph_of_relations  # plain graphs need none of it

            features = by_type if values is None else (values, names)
            graph = graph_of_relations(edges, nodes, features, numbering, self.options, self.report, settle)
        else:
            first, second = numbering.columns
            symmetrize = self.options.symmetrize
            adjacency = combined(first, second, edges.weight, numbering.ids, symmetrize, self.report)
            graph = Graph(adjacency, values, numbering.ids, names)
        labels = labels_of(rows, label_numbers, graph.node_ids) if rows else None
        tell_missing_words(self.report.missing_words)
        logger.info("read %s: %s", self.edges.name, notice(graph, labels, self.report, self.options))
        return Data(graph, labels, self.report)

    def _read(self) -> None:
        for reader in self.readers:
            reader.load()
        self.beside: list[pa.Array] = []
        beside = self.edges.source.beside
        if beside is not None:  # isolated nodes stand only there; as labels it was read already
            own: Reader[Any] | None = next((r for r in self.labels if beside in r.source.files), None)
            if own is None:
                own = NodeReader(beside, self.options)
                own.load()
            self.beside = own.columns

    def _settled(self, reader: Reader[Piece]) -> Piece:
        """Return what one source holds; whether its first line is a row is seen by the ids of all sources."""
        everything: list[pa.Array] = [column for other in self.readers for column in other.columns]
        readers = [each for each in self.readers if each is not reader and each not in self.labels]
        others: list[pa.Array] = [column for other in readers for column in other.columns]
        strangers = strangers_among(reader.columns, [*others, *self.beside])
        return reader.whole(stands_in([*everything, *self.beside]), strangers)

    def require_nodes(self, n: int) -> None:
        """Raise the error for a graph without nodes."""
        if not n:
            msg = f"{self.edges.name} lists no edge, and there is no other source that names a node; give `nodes`"
            raise InputError(msg)

    def _tell_label_only(self, numbering: Numbering, rows: list[LabelRows], numbers: list[Ints]) -> None:
        """Say which labels name nodes that nothing else does: misspelt ids would become new nodes in silence."""
        if not rows:
            return
        named = np.zeros(len(numbering.ids), dtype=bool)
        features = numbering.after[: len(numbering.after) - len(rows)]
        for part in (*numbering.before, *numbering.columns, *features):
            named[part] = True
        count = int(np.count_nonzero(~named))
        if not count:
            return
        piece, row_of = next((p, r) for p, r in zip(rows, numbers, strict=True) if not named[r].all())
        row = int(np.flatnonzero(~named[row_of])[0])
        same = ""
        if not named[row_of].any() and named.any() and len(row_of) > 1:
            shown = numbering.ids[np.flatnonzero(named)[:3]].tolist()
            same = nothing_in_common(self.edges.name, shown, piece.source, piece.ids[:3].to_pylist())
        self.tell_label_only(piece.place(row), piece.ids[row].as_py(), count, same)

    def tell_label_only(self, place: str, node: object, count: int, same: str = "") -> None:
        """Say that `count` nodes stand in labels only, and where the first does; refuse it if it must be."""
        lack = "no edge" if self.features is None else "no edge and no features"
        more = f"; {count} nodes in all stand in labels only" if count > 1 else ""
        sentence = same or f"{place}: the label names {node!r}, a node that has {lack}{more}"
        if self.features is not None:
            msg = f"{sentence}; correct the id, or add a row of features"
            raise InputError(msg)
        if self.options.strict:
            msg = f"{sentence}; correct the id, or name it in `nodes` (--nodes)"
            raise InputError(msg)
        kept = "the labelled nodes are" if same else "it is"
        logger.warning("%s; %s kept without edges (strict=True, --strict refuses that)", sentence, kept)


def several(labels: Any) -> list[Any]:
    """Return sources of labels as a list, given none, one or several."""
    if labels is None:
        return []
    listed = isinstance(labels, (list, tuple)) and all(
        is_path(one) or hasattr(one, "columns") for one in labels
    )
    return list(labels) if listed and labels else [labels]


def numbered_ids(n: int, listed: Sequence[pa.Array]) -> IdArray:
    """Return the ids of `n` rows that name none: node numbers, or those of the first list if it has `n` others."""
    numbers = default_ids(n)
    if listed and len(listed[0]) == n:
        order = as_ids(listed[0].to_numpy(zero_copy_only=False))
        if (match_ids(order, numbers) < 0).any():
            return order
    return numbers
