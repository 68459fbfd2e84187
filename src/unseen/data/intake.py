"""All sources of one graph: opened, read in the order in which their ids are numbered, and put together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.data.build import (
    Numbering,
    Report,
    build_labels,
    combine_edges,
    compact,
    describe_reading,
    order_features,
    refuse_foreign_ids,
)
from unseen.data.opened import memory_bound
from unseen.data.pieces import (
    Edges,
    FeatureRows,
    LabelRows,
    NodeList,
    Reader,
    number_rows,
    read_whole,
    require_columns,
    tell_ignored,
)
from unseen.data.roles import EdgeReader, LabelReader, NodeReader
from unseen.data.sources import Options, is_same_source
from unseen.data.tables import id_column
from unseen.errors import InputError, counted, logger, show_path
from unseen.graph import Graph
from unseen.ids import Ints, Value, as_ids, default_ids, match_ids
from unseen.labels import Labels

if TYPE_CHECKING:
    from unseen.data.features import FeatureReader, TextReader
    from unseen.data.spill import SpilledEdges

EDGE_BYTES = 130
"""Memory that an edge takes until the graph is built: 1.3 GB for 10 million of them, measured."""
FEW_BYTES = 100_000
"""Nobody allows less memory than this."""
FEW_EDGES = 4
"""With fewer edges, ids that occur once are nothing unusual."""


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


class Intake:
    """All sources of one graph: a reader for each, and once they are read, their rows with the numbers of the nodes.

    Attributes
    ----------
    edges, nodes, features, text, labels : readers
        Opened before the first is read, so that a wrong path costs no time; those of features by the type of nodes,
        with the key None for all nodes.
    numbering : Numbering
        Of the ids of all sources, in their order: nodes, edges, features, texts, labels.
    node_list, feature_rows, text_rows, label_rows
        What was read, beside the edges.
    """

    def __init__(
        self, edges: Any, nodes: Any, features: Any, labels: Sequence[Any], options: Options, text: Any = None
    ) -> None:
        self.options, self.report, self.numbering = options, Report(), Numbering()
        how = (options, self.report)
        self.edges = EdgeReader(edges, *how)
        self.nodes = None if nodes is None else NodeReader(nodes, *how)
        self.features: dict[Any, FeatureReader] = {}
        self.text: TextReader | None = None
        if features is not None or text is not None:  # a graph without them does without their modules
            from unseen.data.features import FeatureReader, TextReader
            from unseen.data.objects_plain import has_node_keys

            is_by_type = isinstance(features, Mapping) and not has_node_keys(features)
            sources = {} if features is None else features if is_by_type else {None: features}
            for key, source in sources.items():
                reader = self.features[key] = FeatureReader(source, *how)
                reader.labels_too = any(is_same_source(source, other) for other in labels)
            self.text = None if text is None else TextReader(text, *how)
        self.labels = [LabelReader(source, *how) for source in labels]
        self.node_list: NodeList | None = None
        self.feature_rows: dict[Any, list[FeatureRows]] = {}
        self.text_rows: FeatureRows | None = None
        self.label_rows: list[LabelRows] = []
        self._pieces: list[Edges] = []  # edges in memory
        self._spilled: SpilledEdges | None = None  # or on disk, once they are too many
        self._is_plain = not options.directed and not self.features.keys() - {None}
        self._n_connected = 0  # nodes that node list and edges name

    def data(self, encoder: Any = None) -> Data:
        """Read everything and put it together; `encoder` makes vectors of texts."""
        with ExitStack() as stack:
            self.collect(self.numbering, lambda piece: self._keep(piece, stack))
            graph = self._graph()
        if self.nodes is not None and self.node_list is not None and self.nodes.layout.first is not None:
            is_alone = graph.isolated[self.node_list.numbers]
            if len(is_alone) > 1 and is_alone[0] and not is_alone[1:].any():
                self.nodes.warn_of_first_row("data", "id occurs")
        labels = build_labels(self.label_rows, self.numbering, self.report, graph) if self.labels else None
        if logger.isEnabledFor(logging.INFO):  # counting takes time where nobody listens
            facts = describe_reading(graph, labels, self.report, self.options)
            logger.info("read %s: %s", self.edges.name, facts)
        if self.text_rows is not None:
            from unseen.data.words import with_text

            graph = with_text(graph, self.text_rows, encoder)
        return Data(graph, labels, self.report)

    def collect(
        self,
        numbering: Numbering,
        keep_edges: Callable[[Edges], None],
        n_bytes: int | None = None,
        keep_features: Callable[[FeatureRows], FeatureRows] | None = None,
    ) -> None:
        """Read all sources in the order in which their ids are numbered, and check that they fit each other.

        Parameters
        ----------
        numbering : Numbering
            Gets all ids.
        keep_edges, keep_features : callable
            Take each piece of the numbered edges, and of the features.
        n_bytes : int, optional
            About how many bytes of edges and features are in memory together; None: features are one piece.
        """
        self.numbering, lists = numbering, list[Any]()
        readers: list[Reader[Any]] = [self.edges, *self.features.values(), *self.labels]
        readers[1:1] = [] if self.nodes is None else [self.nodes]
        readers += [] if self.text is None else [self.text]
        for reader in readers:
            reader.open(n_bytes if reader.role in ("edges", "features") else None)
        require_columns(readers, self.options)
        names = {labels.label_name() for labels in self.labels} - {""}
        for features in self.features.values():
            features.label_names |= names
        if self.text is not None:
            self.text.label_names |= names
        if self.nodes is not None:
            self.node_list = number_rows(next(self.nodes.pieces()), numbering)
            lists.append(self.node_list.ids)
        if self.edges.source.beside is not None:  # isolated nodes are only in that file
            lists.append(read_whole(NodeReader(self.edges.source.beside)).ids)
            numbering.number(lists[-1])
        lonely = self._number_edges(lists, keep_edges)
        self._n_connected = len(numbering)
        self._number_features(lists, keep_features)
        if self.text is not None:
            n_before, found = len(numbering), next(self.text.pieces(numbering))
            texts: Any = number_rows(found, numbering)
            refuse_foreign_ids(self.edges.name, texts, n_before, numbering)
            if count := int(np.count_nonzero(texts.numbers >= n_before)):
                nodes = counted(count, "node")
                logger.info("%s: %s with a text and without edges", show_path(texts.source), nodes)
            self.text_rows = texts
        n_named = len(numbering)
        self.label_rows = [number_rows(next(labels.pieces(numbering)), numbering) for labels in self.labels]
        tell_ignored(readers)
        if not len(numbering):
            msg = f"{self.edges.name} lists no edge, and there is no other source that names a node; give `nodes`"
            raise InputError(msg)
        every = [*chain(*self.feature_rows.values()), *self.label_rows, self.text_rows]
        named = [rows.numbers for rows in every if rows is not None and rows.numbers is not None]
        if len(lonely) and not any(np.isin(part, lonely).any() for part in named):
            self.edges.warn_of_first_row("an edge", "ids occur")
        for labels in self.label_rows:
            if (labels.numbers >= n_named).any():  # misspelt ids would become new nodes in silence
                self._tell_label_only(labels, n_named)
                break

    def _number_edges(self, lists: list[Any], keep: Callable[[Edges], None]) -> Ints:
        """Give numbers to edges; return the ends of a first edge that may be a header if no other row has them."""
        first, known, occurrences, count = np.zeros(0, dtype=np.int64), 0, 0, 0
        for piece in self.edges.pieces():
            if piece.nodes is not None and not count:
                lists.append(piece.nodes)
                self.numbering.number(piece.nodes)
            known = known if count else len(self.numbering)
            src, dst = self.numbering.number(piece.src, piece.dst)
            if self.edges.layout.first is not None:
                first = first if count else np.unique([*src[:1], *dst[:1]])
                occurrences += sum(int(np.isin(ends, first).sum()) for ends in (src, dst))
            count += len(src)
            keep(replace(piece, src=src, dst=dst, nodes=None))
        is_lonely = occurrences == len(first) == 2 and min(first) >= known and count >= FEW_EDGES
        return first if is_lonely else first[:0]

    def _number_features(self, lists: list[Any], keep: Callable[[FeatureRows], FeatureRows] | None) -> None:
        """Give numbers to the rows of features, those of all nodes or of each type."""
        for key, features in self.features.items():
            for rows in features.pieces(self.numbering):
                ids = rows.ids
                if ids is None and key is None:
                    # of the nodes 0 to n - 1, or of the first list of ids if it has n others
                    numbers = default_ids(rows.values.shape[0])
                    ids = id_column(numbers, "features")
                    if lists and len(lists[0]) == len(numbers):
                        listed = as_ids(lists[0].to_numpy(zero_copy_only=False))
                        ids = lists[0] if (match_ids(listed, numbers) < 0).any() else ids
                rows = rows if ids is None else number_rows(rows, self.numbering, ids)
                self.feature_rows.setdefault(key, []).append(rows if keep is None else keep(rows))

    def _tell_label_only(self, rows: LabelRows, n_named: int) -> None:
        """Warn that only labels name the nodes from number `n_named` on; raise an error where that is refused."""
        refuse_foreign_ids(self.edges.name, rows, n_named, self.numbering)
        row, count = int(np.argmax(rows.numbers >= n_named)), len(self.numbering) - n_named
        has_features = None in self.features
        lack = "no edge and no features" if has_features else "no edge"
        more = f"; only labels name {count} nodes" if count > 1 else ""
        hint = "" if row else rows.hint
        sentence = (
            f"{rows.place(row)}: the label names {rows.ids[row].as_py()!r}, a node that has {lack}{more}"
        )
        if has_features or self.options.strict:
            way = "add a row of features" if has_features else "name it in `nodes` (--nodes)"
            msg = f"{sentence}; correct the id, or {way}{hint}"
            raise InputError(msg)
        logger.warning("%s; it is kept without edges (strict=True, --strict refuses that)%s", sentence, hint)

    def order_features(self) -> Ints:
        """Return the row of features of each node."""
        pieces = self.feature_rows[None]
        table = replace(pieces[0], numbers=np.concatenate([piece.numbers for piece in pieces]))
        if table.ids is not None:
            refuse_foreign_ids(self.edges.name, table, self._n_connected, self.numbering)
        return order_features(table, np.arange(len(self.numbering)), self.numbering)

    def _keep(self, piece: Edges, stack: ExitStack) -> None:
        """Keep a piece of the edges; above the bound on memory all of them go to a database on disk.

        Only edges without types, directions and signs do; the database lives as long as the stack.
        """
        points = piece.points is not None and piece.points.any() and self.options.symmetrize == "max"
        typed = piece.types is not None or (self.node_list is not None and self.node_list.types is not None)
        self._is_plain &= not (points or typed or piece.has_negative)
        if self._is_plain and piece.weight is None:  # no message will name its lines: the text can go
            piece = replace(piece, place=Edges.place)
        self._pieces.append(piece)
        needed, files = EDGE_BYTES * sum(len(each.src) for each in self._pieces), self.edges.source.files
        if self._spilled is None and self._is_plain and files and needed >= FEW_BYTES:
            size = sum(path.stat().st_size for path in files)
            limit, _ = memory_bound(size, self.options.max_memory)
            if needed > limit:
                from unseen.data.spill import Database, SpilledEdges

                folder = Path(stack.enter_context(TemporaryDirectory()))
                database = Database(folder, memory=max(limit // 4, 100_000_000), threads=1)
                self._spilled = SpilledEdges(stack.enter_context(database))
                logger.info("%s: edges are sorted on disk, for want of memory", show_path(self.edges.name))
        if self._spilled is not None and not self._is_plain:
            msg = (
                f"{piece.place(0)}: from here on edges have negative weights, for which memory is too small; allow "
                "more with max_memory=... (--max-memory)"
            )
            raise InputError(msg)
        while self._spilled is not None and self._pieces:
            self._spilled.add(self._pieces.pop(0))

    def _graph(self) -> Graph:
        """Return the graph of numbered edges with the features of all nodes, or those of each type."""
        numbering, symmetrize = self.numbering, self.options.symmetrize
        everyone = None
        if None in self.feature_rows:
            (table,) = self.feature_rows[None]
            everyone = compact(table.values)[self.order_features()], table.names
        texts = None
        for table in chain(*self.feature_rows.values()):
            if table.texts is not None:
                texts = np.full(len(numbering), "", dtype=object) if texts is None else texts
                texts[table.numbers] = table.texts
        if self._spilled is not None:
            adjacency = self._spilled.sort(numbering, symmetrize, self.report).matrix()
        else:
            edges = Edges.join(self._pieces)
            if not self._is_plain:
                from unseen.data.relate import build_relation_graph  # plain graphs need none of it

                return build_relation_graph(self, edges, everyone, texts)
            adjacency = combine_edges(edges.src, edges.dst, edges.weight, numbering, symmetrize, self.report)
        values, names = everyone or (None, None)
        return Graph(adjacency, values, numbering.ids, names, texts, _checked=True)
