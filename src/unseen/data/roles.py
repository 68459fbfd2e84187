"""What columns mean: edges, nodes, features, labels. Each value is checked once, here, on its way in.

A reader turns the batches of one source into pieces of its role. In memory a source is one piece; a graph that does
not fit in memory comes in many, by the same code. A first line that may be a header waits in the reader until the
ids of all sources are known; then `Reader.settle` returns it as a piece of its own, or None where it is a header::

    reader = EdgeReader("edges.csv", Options(), report)
    for piece in reader.pieces(1 << 26):  # piece.src, piece.dst, piece.weight
        ...
    piece = reader.settle(stands=is_an_id_of_any_source)  # goes before all others

A weight of 0 is no edge: the ids are nodes all the same, and the report counts what was left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.build import Report, checked_weights
from unseen.data.columns import (
    finite_values,
    float_values,
    id_values,
    is_list,
    label_values,
    listed,
    require_single_rows,
)
from unseen.data.headers import (
    DST,
    HEADER_HINT,
    LABEL,
    PANDAS_INDEX,
    SRC,
    WEIGHT,
    edge_pair,
    id_position,
    is_row,
    lower,
)
from unseen.data.ids import Floats, id_column
from unseen.data.options import Options
from unseen.data.pieces import Edges, FeatureRows, LabelRows, NodeRows
from unseen.data.sources import Role, Source
from unseen.data.tables import First, Matrix, Table
from unseen.errors import InputError, logger
from unseen.graph import Features, symmetric
from unseen.ids import default_ids
from unseen.labels import MISSING_WORDS, UNLABELLED

_EDGE_TYPES = ("type", "edge_type", "etype", "relation", "predicate")


Piece = TypeVar("Piece", Edges, NodeRows, FeatureRows, LabelRows)


class Reader(Generic[Piece]):
    """Reads one source in one role, in pieces; see the module.

    Attributes
    ----------
    first : First or None
        A first line that waits to be settled, once the first piece was read.
    n_rows : int
        Rows so far, that line not counted.
    kept : list
        The pieces that `load` has read.
    """

    role: Role

    def __init__(self, source: Any, options: Options | None = None, report: Report | None = None) -> None:
        self.options = Options() if options is None else options
        self.report = Report() if report is None else report
        self.source = Source(source, self.role, self.options)
        self.name = self.source.name
        self.first: First | None = None
        self.kept: list[Piece] = []
        self.n_rows, self._all_numbers, self._started = 0, True, False

    def pieces(self, n_bytes: int | None = None) -> Iterator[Piece]:
        """Yield the pieces in their order, about `n_bytes` each (None: each file at once)."""
        for batch in self.source.batches(n_bytes):
            if isinstance(batch, Table):
                self.first = batch.first or self.first
                self.report.comments += batch.comments
            piece = self._piece(batch)
            self._watch(piece.id_columns)
            self._started = True
            yield piece

    def load(self, n_bytes: int | None = None) -> None:
        """Read everything and keep it."""
        self.kept = list(self.pieces(n_bytes))

    @property
    def columns(self) -> list[pa.Array]:
        """The columns of ids of the pieces that were kept."""
        return [column for piece in self.kept for column in piece.id_columns]

    def settle(
        self, stands: Callable[[str], bool], strangers: Callable[[], int] | None = None
    ) -> Piece | None:
        """Return the first line as a piece if it is a row, else None; what was decided is logged.

        Parameters
        ----------
        stands : callable
            Whether an id stands in another line, or in another source.
        strangers : callable, optional
            How many lines of this source name a node that no other source names; without it there is no other.
        """
        if self.first is None:
            return None
        first = self.first
        row = is_row(
            first, self.role, self.n_rows, stands, all_numbers=self._all_numbers, strangers=strangers
        )
        self.report.headers[self.name] = None if row else first.cells
        if not row:
            return None
        columns = tuple(pa.chunked_array([pa.array([cell], pa.large_string())]) for cell in first.cells)
        return self._piece(Table(self.name, columns, None, lambda _: first.place, text=True))

    def header(self) -> tuple[str, ...] | None:
        """Return the first line's cells where it was settled to be a header."""
        return self.report.headers.get(self.name)

    def _watch(self, ids: list[pa.Array]) -> None:
        self.n_rows += len(ids[0]) if ids else 0
        if self.first is None or self.role != "edges":
            return
        self._all_numbers = self._all_numbers and all(
            bool(pc.all(pc.utf8_is_digit(column), min_count=0).as_py()) for column in ids
        )

    def _piece(self, batch: Table | Matrix) -> Piece:
        raise NotImplementedError

    def _say_unused(self, table: Table, used: set[int | None]) -> None:
        """Name the columns that are not read, once per source."""
        names = table.names or ()
        others = [name for k, name in enumerate(names) if k not in used and name != PANDAS_INDEX]
        if others and not self._started:
            logger.info("%s: columns not used: %s", table.source, listed(others))


def start_of(table: Table) -> str:
    """Return the place of the first line that is no header, or may be none."""
    return table.first.place if table.first is not None else table.place(0)


def _lack(table: Table, need: str) -> InputError:
    """Return the error for a table without the columns that its role needs."""
    have = f"{len(table.columns)} columns" if table.names is None else f"the columns {listed(table.names)}"
    return InputError(f"{table.source} has {have}; {need}")


def _require_numbers(matrix: Matrix) -> None:
    if matrix.values.dtype.kind not in "fiub":
        msg = f"{matrix.source} holds values of type {matrix.values.dtype}; real numbers are needed"
        raise InputError(msg)


class EdgeReader(Reader[Edges]):
    """Edges: ``src, dst`` and perhaps ``weight``, or an adjacency matrix."""

    role: Role = "edges"

    def __init__(self, source: Any, options: Options | None = None, report: Report | None = None) -> None:
        super().__init__(source, options, report)
        self._kinds: set[Any] = set()

    def _piece(self, batch: Table | Matrix) -> Edges:
        if isinstance(batch, Matrix):
            return self._from_matrix(batch)
        src, dst, weight = self._positions(batch)
        ends = id_values(batch, src, "src"), id_values(batch, dst, "dst")
        if weight is None:
            return Edges(*ends, None)
        weights = float_values(batch, weight, "weight")
        return Edges(*ends, self._checked(weights, lambda row: f"{batch.place(row)}: the weight is"))

    def _checked(self, weights: Floats, where: Callable[[int], str]) -> Floats:
        return checked_weights(weights, where, self.report, drop_negative=self.options.drop_negative)

    def _positions(self, table: Table) -> tuple[int, int, int | None]:
        src, dst, weight = table.find(SRC), table.find(DST), table.find(WEIGHT)
        if src is None or dst is None:
            pair = edge_pair(lower(table.names or ()))
            if pair is None:
                if table.text:
                    return self._by_position(table)
                raise _lack(table, "edges need `src` and `dst`, `weight` is optional")
            src, dst = pair
        self._refuse_kinds(table, {src, dst, weight})
        self._say_unused(table, {src, dst, weight})
        return src, dst, weight

    @staticmethod
    def _by_position(table: Table) -> tuple[int, int, int | None]:
        width = len(table.columns)
        if width not in (2, 3):
            count = "one column" if width == 1 else f"{width} columns"
            msg = (
                f"{start_of(table)} has {count}; edges are `src, dst` and perhaps `weight`: "
                "remove other columns, or name these in a header line"
            )
            raise InputError(msg)
        return 0, 1, 2 if width == 3 else None

    def _refuse_kinds(self, table: Table, used: set[int | None]) -> None:
        for k, name in enumerate(table.names or ()):
            column = table.columns[k]
            if k in used or name.strip().lower() not in _EDGE_TYPES or pa.types.is_nested(column.type):
                continue
            self._kinds.update(column.unique().to_pylist()[:2])
            if len(self._kinds) > 1:
                msg = (
                    f"{table.source} has edges of several kinds in the column {name!r}, and edge types are not "
                    "supported yet; keep one kind, or remove the column to treat all edges alike"
                )
                raise InputError(msg)

    def _from_matrix(self, matrix: Matrix) -> Edges:
        name, values = matrix.source, matrix.values
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            msg = f"{name} has shape {values.shape}; an adjacency matrix must be square"
            raise InputError(msg)
        _require_numbers(matrix)
        csr = sp.csr_array(values, dtype=np.float64)
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        if self.options.symmetrize == "error":
            symmetric(csr, "error")
        # Of a symmetric matrix one half lists every edge once; a directed one is a list of its entries.
        undirected = (csr != csr.T).nnz == 0
        coo = (sp.triu(csr) if undirected else csr).tocoo()

        def where(k: int) -> str:
            return f"{name}: the weight in row {coo.row[k]}, column {coo.col[k]} is"

        weights = self._checked(coo.data, where)
        nodes = id_column(default_ids(csr.shape[0]) if matrix.ids is None else matrix.ids, "ids")
        return Edges(nodes.take(pa.array(coo.row)), nodes.take(pa.array(coo.col)), weights, nodes)


class NodeReader(Reader[NodeRows]):
    """A node list: its column `node`, or its only column."""

    role: Role = "nodes"

    def _piece(self, batch: Table | Matrix) -> NodeRows:
        if isinstance(batch, Matrix):
            msg = f"{batch.source} holds a matrix; a node list has one column"
            raise InputError(msg)
        index = id_position(batch.names or ())
        if index is None and len(batch.columns) != 1:
            raise _lack(batch, "a node list has one column, or a header that names the column `node`")
        return NodeRows(id_values(batch, index or 0, "node"))


class FeatureReader(Reader[FeatureRows]):
    """Features: ``node`` and columns of numbers, ``node`` and a column of lists, or a matrix.

    Attributes
    ----------
    noun, rule : str
        What messages call one of the numbers, and what they ask of it.
    kind : type or None
        The type that numbers get; None: float32 where they came so, else float64.
    """

    role: Role = "features"
    noun = "feature"
    rule = "features must be finite numbers"
    kind: type[np.floating[Any]] | None = None

    def _piece(self, batch: Table | Matrix) -> FeatureRows:
        if isinstance(batch, Matrix):
            ids = None if batch.ids is None else id_column(batch.ids, f"ids of {batch.source}")
            return FeatureRows(ids, self._finite_matrix(batch), batch.names, batch.source)
        node, values = self._columns(batch)
        ids = None
        if node is not None:
            ids = id_values(batch, node, "node")
            require_single_rows(ids, batch, self.role)
        if len(values) == 1 and is_list(batch.columns[values[0]].type):
            names = batch.metadata.get("feature_names")
            own = None if names is None else tuple(json.loads(names))
            return FeatureRows(ids, self._list_matrix(batch, values[0]), own, batch.source)
        columns = [finite_values(batch, k, self._name(batch, k), self.rule, self.kind) for k in values]
        matrix = np.empty((batch.n_rows, len(columns)), dtype=np.result_type(*columns))
        for k, column in enumerate(columns):
            matrix[:, k] = column
        own = None if batch.names is None else tuple(batch.names[k] for k in values)
        return FeatureRows(ids, matrix, own, batch.source)

    def _columns(self, table: Table) -> tuple[int | None, list[int]]:
        """Return the column of ids and those of numbers."""
        node, names = id_position(table.names or ()), table.names or ()
        if node is None and not table.text:
            raise _lack(table, "features need a column `node`")
        if node is None and names and not self._started:
            logger.info("%s: the first column, %r, is taken as the ids", table.source, names[0])
        values = [k for k in range(len(table.columns)) if k != (node or 0)]
        if not values:
            msg = f"{table.source} has no column beside the node ids; {self.role} need at least one"
            raise InputError(msg)
        return node or 0, values

    def _name(self, table: Table, index: int) -> str:
        return f"{self.noun} {index}" if table.names is None else f"{self.noun} {table.names[index]!r}"

    def _list_matrix(self, table: Table, index: int) -> Features:
        column = table.columns[index]
        lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
        width = 0 if not len(lengths) or np.isnan(lengths[0]) else int(lengths[0])
        odd = np.flatnonzero(lengths != width)
        if len(odd):
            row = int(odd[0])
            size = "no list" if np.isnan(lengths[row]) else f"{int(lengths[row])} numbers"
            msg = f"{table.place(row)} has {size} where the first row has {width}; all lists must be equally long"
            raise InputError(msg)
        flat = Table(
            table.source, (pc.list_flatten(column),), None, lambda k: table.place(k // max(width, 1))
        )
        values = finite_values(flat, 0, f"{self.noun} 0", self.rule, self.kind)
        return values.reshape(len(lengths), width)

    def _finite_matrix(self, matrix: Matrix) -> Features:
        source, values = matrix.source, matrix.values
        if values.ndim != 2:
            msg = f"{source} has shape {values.shape}; {self.role} need two dimensions, nodes and columns"
            raise InputError(msg)
        _require_numbers(matrix)
        if self.kind is not None:
            with np.errstate(over="ignore"):  # what does not fit is infinite, and refused as such
                values = values.astype(self.kind, copy=False)
        if isinstance(values, np.ndarray):
            rows, columns = np.nonzero(~np.isfinite(values))
            bad = values[rows, columns]
        else:
            coo = sp.coo_array(values)
            odd = np.flatnonzero(~np.isfinite(coo.data))
            rows, columns, bad = coo.row[odd], coo.col[odd], coo.data[odd]
        if len(rows):
            node = "" if matrix.ids is None else f" (node {matrix.ids[rows[0]]!r})"
            msg = f"{source}: row {rows[0]}{node}, column {columns[0]} is {bad[0]}; {self.rule}"
            raise InputError(msg)
        return values if isinstance(values, np.ndarray) else sp.csr_array(values)


class LabelReader(Reader[LabelRows]):
    """Labels: ``node, label``, lists of labels, class numbers, or a matrix of nodes and classes."""

    role: Role = "labels"

    def _piece(self, batch: Table | Matrix) -> LabelRows:
        if isinstance(batch, Matrix):
            return self._from_matrix(batch)
        node, label = self._positions(batch)
        ids = id_values(batch, node, "node")
        rows, names = label_values(batch.columns[label], batch.source)
        hint = HEADER_HINT if batch.text and batch.names is None else ""
        return self._without_missing(LabelRows(ids, rows, names, batch.source, batch.place, hint))

    def _positions(self, table: Table) -> tuple[int, int]:
        node, label, width = id_position(table.names or ()), table.find(LABEL), len(table.columns)
        if node is not None and label is not None:
            self._say_unused(table, {node, label})
            return node, label
        if not table.text:
            raise _lack(table, "labels need `node` and `label`")
        if width != 2:
            have = "one column" if width == 1 else f"{width} columns"
            msg = (
                f"{start_of(table)} has {have}; labels are `node, label`: "
                "write several labels of a node with | between them or in several rows"
            )
            raise InputError(msg)
        return (1, 0) if node == 1 or label == 0 else (0, 1)

    def _from_matrix(self, matrix: Matrix) -> LabelRows:
        values, source = matrix.values, matrix.source

        def place(row: int) -> str:
            return f"{source}, row {row + 1}"

        if isinstance(values, np.ndarray) and 1 in values.shape:  # one class number, or -1 or NaN, per node
            column = pa.chunked_array([pa.array(values.ravel())])
            rows, names = label_values(column, source)
            ids = pa.array(np.arange(values.size))
            return self._without_missing(LabelRows(ids, rows, names, source, place))
        coo = sp.coo_array(values)
        kept = coo.data != 0
        names = pa.array(coo.col[kept]).cast(pa.large_string())
        ids = pa.array(np.arange(coo.shape[0]))
        return LabelRows(ids, coo.row[kept].astype(np.int64), names, source, place)

    def _without_missing(self, piece: LabelRows) -> LabelRows:
        """Leave out what means "no label": nothing at all, NaN, -1, and words such as ``NA``, which are counted."""
        nothing = pc.is_in(pc.utf8_lower(piece.names), pa.array(UNLABELLED, type=pa.large_string()))
        words = pc.is_in(piece.names, pa.array(MISSING_WORDS, type=pa.large_string()))
        self.report.missing_words += pc.sum(words, min_count=0).as_py()
        missing = pc.or_(pc.or_(nothing, words), piece.names.is_null())
        kept = ~np.asarray(missing.to_numpy(zero_copy_only=False), dtype=bool)
        return replace(piece, rows=piece.rows[kept], names=piece.names.filter(pa.array(kept)))
