"""All sources of one graph: opened, read in the order in which their ids are numbered, and put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.data.build import (
    Report,
    build_labels,
    collect_texts,
    combine_edges,
    compact,
    describe_reading,
    order_features,
    refuse_foreign_ids,
)
from unseen.data.ids import Numbering, id_column, numbered_ids
from unseen.data.names import HEADER_HINT
from unseen.data.opened import memory_bound
from unseen.data.options import Options
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
from unseen.data.roles import EdgeReader, LabelReader, NodeReader, TextReader
from unseen.data.sources import is_same_source
from unseen.errors import InputError, counted, logger, show_path
from unseen.graph import Graph
from unseen.ids import Ints, Value
from unseen.labels import Labels

if TYPE_CHECKING:
    from unseen.data.features import FeatureReader
    from unseen.data.spill import SpilledEdges

EDGE_BYTES = 130
"""Memory that an edge takes until the graph is built: 1.3 GB for 10 million of them, measured."""
FEW_BYTES = 100_000
"""Nobody allows less memory than this."""
FEW_EDGES = 3
"""With no more further edges, ids that occur once are nothing unusual."""


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


@dataclass
class NumberedRows:
    """What the sources of a graph hold beside edges, with the numbers of their nodes.

    Attributes
    ----------
    numbering : Numbering
        Of the ids of all sources, in their order: nodes, edges, features, texts, labels.
    nodes, features, texts, labels
        The rows of each; features by the type of nodes, with the key None for those of all nodes.
    n_connected : int
        Nodes that node list and edges name.
    """

    numbering: Numbering
    nodes: NodeList | None = None
    features: dict[Any, list[FeatureRows]] = field(default_factory=dict)
    texts: FeatureRows | None = None
    labels: list[LabelRows] = field(default_factory=list)
    n_connected: int = 0


class Intake:
    """All sources of one graph, opened but not yet read."""

    def __init__(
        self, edges: Any, nodes: Any, features: Any, labels: Sequence[Any], options: Options, text: Any = None
    ) -> None:
        self.options, self.report = options, Report()
        how = (options, self.report)
        # Every source is opened before the first is read: a wrong path costs no time.
        self.edges = EdgeReader(edges, *how)
        self.nodes = None if nodes is None else NodeReader(nodes, *how)
        self.features_by_type: dict[Any, FeatureReader] = {}
        if features is not None:
            from unseen.data.features import FeatureReader  # a graph without features does without it
            from unseen.data.objects_plain import has_node_keys

            by_type = isinstance(features, Mapping) and not has_node_keys(features)
            for key, source in features.items() if by_type else [(None, features)]:
                reader = self.features_by_type[key] = FeatureReader(source, *how)
                reader.labels_too = any(is_same_source(source, other) for other in labels)
        self.features = self.features_by_type.pop(None, None)
        self.labels = [LabelReader(source, *how) for source in labels]
        self.text = None if text is None else TextReader(text, *how)

    def data(self, encoder: Any = None) -> Data:
        """Read everything and put it together; `encoder` makes vectors of texts."""
        with ExitStack() as stack:
            store = EdgeStore(self, stack)
            content = self.collect(Numbering(), store.add)
            graph = self._graph(store, content)
        if self.nodes is not None and content.nodes is not None and self.nodes.layout.first is not None:
            is_alone = graph.isolated[content.nodes.numbers]
            if len(is_alone) > 1 and is_alone[0] and not is_alone[1:].any():
                self.nodes.warn_of_first_row()
        labels = None
        if content.labels:
            labels = build_labels(content.labels, content.numbering, self.report, graph)
        logger.info(
            "read %s: %s", self.edges.name, describe_reading(graph, labels, self.report, self.options)
        )
        if content.texts is not None:
            from unseen.data.words import with_text

            graph = with_text(graph, content.texts, encoder)
        return Data(graph, labels, self.report)

    def collect(
        self,
        numbering: Numbering,
        keep_edges: Callable[[Edges], None],
        n_bytes: int | None = None,
        keep_features: Callable[[FeatureRows], FeatureRows] | None = None,
    ) -> NumberedRows:
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
        features = [each for each in (self.features, *self.features_by_type.values()) if each is not None]
        several = (self.edges, self.nodes, *features, *self.labels, self.text)
        readers: list[Reader[Any]] = [reader for reader in several if reader is not None]
        for reader in readers:
            reader.open(n_bytes if reader.role in ("edges", "features") else None)
        require_columns(readers, self.options)
        names = {labels.label_name() for labels in self.labels} - {""}
        for each in features:
            each.label_names |= names
        if self.text is not None:
            self.text.label_names |= names
        content, lists = NumberedRows(numbering), list[Any]()
        if self.nodes is not None:
            content.nodes = number_rows(self.nodes.whole(), numbering)
            lists.append(content.nodes.ids)
        if self.edges.source.beside is not None:  # isolated nodes are only in that file
            lists.append(read_whole(NodeReader(self.edges.source.beside)).ids)
            numbering.number(lists[-1])
        first_ends = self._number_edges(numbering, lists, keep_edges)
        content.n_connected = len(numbering)
        self._number_features(content, lists, n_bytes, keep_features)
        if self.text is not None:
            n_before, found = len(numbering), self.text.whole(numbering)
            texts: Any = number_rows(found, numbering)
            content.texts = texts
            refuse_foreign_ids(self.edges.name, texts, n_before, numbering)
            if count := int(np.count_nonzero(texts.numbers >= n_before)):
                name = show_path(texts.source)
                logger.info("%s: %s with a text and without edges", name, counted(count, "node"))
        n_named = len(numbering)
        for labels in self.labels:
            content.labels.append(number_rows(labels.whole(numbering), numbering))
        tell_ignored(readers)
        if not len(numbering):
            msg = f"{self.edges.name} lists no edge, and there is no other source that names a node; give `nodes`"
            raise InputError(msg)
        rows = [*chain(*content.features.values()), *content.labels, content.texts]
        numbers = [each.numbers for each in rows if each is not None and each.numbers is not None]
        if first_ends and not any(np.isin(part, list(first_ends)).any() for part in numbers):
            line = f"{self.edges.first_place} ({', '.join(self.edges.layout.first or ())})"
            logger.warning("%s is read as an edge, though its ids occur nowhere else%s", line, HEADER_HINT)
        for piece in content.labels:
            if (piece.numbers >= n_named).any():  # misspelt ids would become new nodes in silence
                self._tell_label_only(piece, n_named, numbering)
                break
        return content

    def _number_edges(
        self, numbering: Numbering, lists: list[Any], keep: Callable[[Edges], None]
    ) -> set[int]:
        """Give numbers to edges; return the ends of a first edge that may be a header if no other edge has them."""
        lonely, count = set[int](), 0
        for piece in self.edges.pieces():
            if piece.nodes is not None and not count:
                lists.append(piece.nodes)
                numbering.number(piece.nodes)
            known = len(numbering)
            src, dst = numbering.number(piece.src, piece.dst)
            if not count and self.edges.layout.first is not None and len(src):
                ends = {int(src[0]), int(dst[0])}
                lonely = ends if len(ends) == 2 and min(ends) >= known else lonely
            if any((part[not count :] == end).any() for end in lonely for part in (src, dst)):
                lonely = set()
            count += len(src)
            keep(replace(piece, src=src, dst=dst, nodes=None))
        return lonely if count > FEW_EDGES else set()

    def _number_features(
        self,
        content: NumberedRows,
        lists: list[Any],
        n_bytes: int | None,
        keep: Callable[[FeatureRows], FeatureRows] | None,
    ) -> None:
        """Give numbers to the rows of features, those of all nodes or of each type."""
        readers = {**self.features_by_type, **({} if self.features is None else {None: self.features})}
        numbering = content.numbering
        for key, reader in readers.items():
            for piece in [reader.whole(numbering)] if n_bytes is None else reader.pieces(numbering):
                ids = piece.ids
                if ids is None and key is None:
                    ids = id_column(numbered_ids(piece.values.shape[0], lists[:1]), "features")
                rows = piece if ids is None else number_rows(piece, numbering, ids)
                content.features.setdefault(key, []).append(rows if keep is None else keep(rows))

    def _tell_label_only(self, piece: LabelRows, n_named: int, numbering: Numbering) -> None:
        """Warn that only labels name the nodes from number `n_named` on; raise an error where that is refused."""
        refuse_foreign_ids(self.edges.name, piece, n_named, numbering)
        row, count = int(np.argmax(piece.numbers >= n_named)), len(numbering) - n_named
        lack = "no edge" if self.features is None else "no edge and no features"
        more = f"; only labels name {count} nodes" if count > 1 else ""
        hint = "" if row else piece.hint
        sentence = (
            f"{piece.place(row)}: the label names {piece.ids[row].as_py()!r}, a node that has {lack}{more}"
        )
        if self.features is not None or self.options.strict:
            way = "name it in `nodes` (--nodes)" if self.features is None else "add a row of features"
            msg = f"{sentence}; correct the id, or {way}{hint}"
            raise InputError(msg)
        logger.warning("%s; it is kept without edges (strict=True, --strict refuses that)%s", sentence, hint)

    def order_features(self, content: NumberedRows) -> Ints:
        """Return the row of features of each node."""
        pieces, numbering = content.features[None], content.numbering
        table = replace(pieces[0], numbers=np.concatenate([piece.numbers for piece in pieces]))
        if table.ids is not None:
            refuse_foreign_ids(self.edges.name, table, content.n_connected, numbering)
        return order_features(table, np.arange(len(numbering)), numbering)

    def _graph(self, store: EdgeStore, content: NumberedRows) -> Graph:
        """Return the graph of numbered edges with the features of all nodes, or those of each type."""
        numbering = content.numbering
        everyone = None
        if None in content.features:
            (table,) = content.features[None]
            everyone = compact(table.values)[self.order_features(content)], table.names
        texts = collect_texts(chain(*content.features.values()), len(numbering))
        if store.spilled is None:
            edges = Edges.join(store.pieces)
            typed = edges.types is not None or (content.nodes is not None and content.nodes.types is not None)
            stated = edges.points is not None and edges.points.any() and self.options.symmetrize == "max"
            if self.features_by_type or typed or stated or self.options.directed or edges.has_negative:
                from unseen.data.relate import build_relation_graph  # plain graphs need none of it

                return build_relation_graph(edges, content, everyone, self.options, self.report, texts)
            ends, symmetrize = (edges.src, edges.dst), self.options.symmetrize
            adjacency = combine_edges(*ends, edges.weight, numbering, symmetrize, self.report)
        else:
            rows = store.spilled.sort(store.folder, numbering, self.options.symmetrize, self.report)
            adjacency = rows.matrix()
        values, names = everyone or (None, None)
        return Graph(adjacency, values, numbering.ids, names, texts, _checked=True)


class EdgeStore:
    """The numbered edges of a graph: pieces in memory, or in a database on disk once they are too many.

    Attributes
    ----------
    pieces : list of Edges
        Those in memory.
    spilled : SpilledEdges or None
        Those on disk; only edges without types, directions and signs go there.
    folder : Path
        Where the files of the database are.
    """

    def __init__(self, intake: Intake, stack: ExitStack) -> None:
        self._intake, self._stack = intake, stack
        self._n, self._is_plain = 0, not intake.options.directed and not intake.features_by_type
        self.pieces: list[Edges] = []
        self.spilled: SpilledEdges | None = None
        self.folder = Path()

    def add(self, piece: Edges) -> None:
        """Take a piece; above the bound on memory all of them go to disk."""
        nodes = self._intake.nodes
        self._is_plain &= piece.types is None and piece.points is None and not piece.has_negative
        self._is_plain &= nodes is None or "type" not in nodes.positions
        if self._is_plain and piece.weight is None:  # no message will name its lines: the text can go
            piece = replace(piece, place=Edges.place)
        self.pieces.append(piece)
        self._n += len(piece.src)
        if self.spilled is None and (not self._is_plain or not self._open_database()):
            return
        if self.spilled is None or not self._is_plain:
            msg = (
                f"{piece.place(0)}: from here on edges have negative weights, for which memory is too small; allow "
                "more with max_memory=... (--max-memory)"
            )
            raise InputError(msg)
        while self.pieces:
            self.spilled.add(self.pieces.pop(0))

    def _open_database(self) -> bool:
        """Open a database for the edges if they need more memory than the bound, and return whether they do."""
        needed, source = self._n * EDGE_BYTES, self._intake.edges.source
        if needed < FEW_BYTES or not source.files:
            return False
        size = sum(path.stat().st_size for path in source.files)
        limit, _ = memory_bound(size, self._intake.options.max_memory)
        if needed > limit:
            from unseen.data.spill import Database, SpilledEdges

            self.folder = Path(self._stack.enter_context(TemporaryDirectory()))
            database = Database(self.folder, memory=max(limit // 4, 100_000_000), threads=1)
            self.spilled = SpilledEdges(self._stack.enter_context(database))
            logger.info("%s: edges are sorted on disk, for want of memory", show_path(source.name))
        return needed > limit
