"""Reading one source in one role: edges, nodes, features or labels, at once or in pieces.

A reader turns the batches of its source into pieces of its role; :mod:`unseen.data.roles` has one for each. Edges come
in pieces, by the same code whether the graph is built in memory or on disk.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.build import Numbering, Report
from unseen.data.names import DST, EDGE_TYPE, HEADER_HINT, LABEL, NODE, NODE_TYPE, PANDAS_INDEX, SRC, WEIGHT
from unseen.data.sources import Options, Role, Source
from unseen.data.tables import MatrixBatch, Table, TextLayout, join_places, list_names
from unseen.errors import InputError, logger, show_path
from unseen.ids import Features, Floats, Ints, Mask, Place, as_ids

PIECE_ROWS = 1 << 21
"""Rows whose ids are numbered together: memory for more, or time to look at all known ids for fewer."""
_USUAL = {
    "src": SRC,
    "dst": DST,
    "weight": WEIGHT,
    "type": (*EDGE_TYPE, *NODE_TYPE),
    "node": (*NODE, PANDAS_INDEX),
    "label": LABEL,
}


@dataclass(frozen=True)
class Edges:
    """The ends, weights and types of edges as listed; ids are Arrow strings or int64 until they are numbered.

    `nodes` are those that the source itself names, in its order (a matrix does). `points` says which edges are
    directed, where the source has a column ``directed``.
    """

    src: Any
    dst: Any
    weight: Floats | None
    nodes: pa.Array | None = None
    types: pa.Array | None = None
    place: Place = "row {}".format
    points: Mask | None = None

    @property
    def has_negative(self) -> bool:
        """Whether an edge has a negative weight."""
        return self.weight is not None and bool((self.weight < 0).any())

    @staticmethod
    def join(pieces: Sequence[Edges]) -> Edges:
        """Return the numbered edges of all pieces of one source."""
        if len(pieces) == 1:
            return pieces[0]
        columns: dict[str, Any] = {}
        for name in ("src", "dst", "weight", "types", "points"):
            parts = [getattr(piece, name) for piece in pieces]
            columns[name] = None
            if all(part is not None for part in parts):
                columns[name] = pa.concat_arrays(parts) if name == "types" else np.concatenate(parts)
        return Edges(**columns, place=join_places([(len(piece.src), piece.place) for piece in pieces]))


@dataclass(frozen=True)
class NodeList:
    """Ids of a node list, the types of these where it has such a column, and the `numbers` of the nodes."""

    ids: pa.Array
    types: pa.Array | None = None
    place: Place = "row {}".format
    numbers: Any = None


@dataclass(frozen=True)
class FeatureRows:
    """Rows of features, texts or vectors; without `ids` row i is node number i. `texts` are those of one column."""

    ids: pa.Array | None
    values: Features
    names: tuple[str, ...] | None
    source: str
    place: Place = "row {}".format
    texts: Sequence[str] | None = None
    numbers: Any = None

    @property
    def node_ids(self) -> Any:
        """The ids as values hold them, or None."""
        return None if self.ids is None else as_ids(self.ids.to_numpy(zero_copy_only=False))


@dataclass(frozen=True)
class LabelRows:
    """Labels as listed: the id of each row, and for each label the row it stands in.

    `answers` has the status of rows: ``skipped``, ``unknown`` or ``confirmed``, or a `Status` where a question was
    asked. `replaces` has the label that the label of a row corrects. `hint` goes with messages on the first row where
    that may be a header nobody announced.
    """

    ids: pa.Array
    rows: Ints
    names: pa.Array
    source: str
    place: Place
    hint: str = ""
    answers: Mapping[int, str] = field(default_factory=dict)
    replaces: Mapping[int, str] = field(default_factory=dict)
    numbers: Any = None


Piece = TypeVar("Piece", Edges, NodeList, FeatureRows, LabelRows)
Rows = TypeVar("Rows", NodeList, FeatureRows, LabelRows)


class Reader(Generic[Piece]):
    """Reads one source in one role, at once or in pieces.

    Attributes
    ----------
    names : tuple of str
        The columns, as the source calls them; empty without a header.
    positions : dict
        Which column was taken for what (``src``, ``dst``, ``weight``; ``node``, ``label``), by its position.
    ignored : tuple of str, or None
        Columns that are not used; None: the role takes all of them.
    layout : TextLayout
        That of a text file; its `first` is a first row where the file does not tell whether it is a header.
    notice : str
        Which columns were taken, where they are not called as the documentation calls them.
    """

    role: Role
    in_pieces = False
    takes_all_columns = False

    def __init__(self, source: Any, options: Options | None = None, report: Report | None = None) -> None:
        self.options = Options() if options is None else options
        self.report = Report() if report is None else report
        self.source = Source(source, self.role, self.options)
        self.name = self._file = self.source.name
        self.names: tuple[str, ...] = ()
        self.positions: dict[str, int] = {}
        self.ignored: tuple[str, ...] | None = None
        self.layout = TextLayout(None, 0)
        self.notice, self._has_columns = "", False

    @property
    def first_row(self) -> str:
        """Where the first row, or the header, is, and its cells."""
        return f"{self._file}, line {self.layout.line} ({', '.join(self.layout.first or self.names)})"

    @property
    def columns(self) -> dict[str, str | int]:
        """Which column was taken for what, by its name, or by its position where there is no header."""
        return {meaning: self.names[k] if self.names else k for meaning, k in self.positions.items()}

    @property
    def notices(self) -> list[str]:
        """What a user should know about these choices."""
        notices = [self.notice, describe_ignored(self.name, self.ignored or ())]
        if self.layout.first is not None and self.role != "nodes":
            notices.append(f"{self.first_row} is read as data{HEADER_HINT}")
        return [notice for notice in notices if notice]

    def open(self, n_bytes: int | None = None) -> None:
        """Read the first batch, which has the names of the columns; `n_bytes`: the size of batches of a huge source."""
        self.in_pieces = n_bytes is not None
        self._batches = self._read_batches(n_bytes)
        self.batch: Any = next(self._batches)
        if isinstance(self.batch, Table) and self.batch.text and self.names and not self.batch.n_rows:
            logger.warning("%s has a header but no rows", show_path(self.name))

    def pieces(self, known: Numbering | None = None) -> Iterator[Piece]:
        """Yield edges in pieces of some million rows, other roles at once, or each batch if `open` was given a size.

        A first row that may be a header is judged by the ids that are `known`; the source is read at once for that.
        """
        most = 0 if self.in_pieces else PIECE_ROWS if self.role == "edges" else math.inf
        if self.layout.first is not None and self.role != "edges":
            most = math.inf
        group, rows = list[Any](), 0
        for batch in chain([self.batch], self._batches):
            self.batch = None  # memory is free once a piece is numbered
            group.append(batch)
            rows += batch.n_rows
            if rows >= most:
                yield self._read(group, known)
                group, rows = [], 0
        if group:
            yield self._read(group, known)

    def _read(self, batches: list[Any], known: Numbering | None) -> Piece:
        """Return batches as one piece; the first one says which columns are taken."""
        batch = Table.join(batches) if isinstance(batches[0], Table) else batches[0]
        if self.layout.first is not None and self.role != "edges" and self._is_first_row_header(batch, known):
            batch = rename_columns(batch.with_header(self.names, ""), self.role, self.options)
        if isinstance(batch, Table) and not self._has_columns:
            self.choose_columns(batch)
            self._has_columns = True
            if self.notice:
                logger.info("%s", self.notice)
        return self._piece(batch)

    def _is_first_row_header(self, table: Table, known: Numbering | None) -> bool:
        """Return whether a first row that may be a header is one: the user says so, or all other ids are known."""
        ids, cells, line = table.ids(0, "node"), self.layout.first or (), self.first_row
        numbers = np.full(len(ids), -1) if known is None else known.find(ids)
        elsewhere = numbers[0] >= 0 or pc.index(ids[1:], ids[0]).as_py() >= 0
        reason = "header=True" if self.options.header else ""
        if self.options.header and elsewhere:
            why = "in spite of header=True (--header), because its id occurs elsewhere"
            logger.warning("%s is read as data %s", line, why)
            return False
        if not elsewhere and known and len(ids) > 1 and bool((numbers[1:] >= 0).all()):
            reason = f"{cells[0]!r} is the only id that no other file has"
        if reason:
            self.names, self.layout = cells, replace(self.layout, names=cells, first=None)
            logger.info("%s was taken as a header: %s", line, reason)
            return True
        if not elsewhere and known and self.role == "features":
            self.warn_of_first_row("data", "id occurs")
        return False

    def warn_of_first_row(self, what: str, ids: str) -> None:
        """Log a warning about a first row that is kept as data, and may be a header."""
        logger.warning(
            "%s is read as %s, though its %s nowhere else%s", self.first_row, what, ids, HEADER_HINT
        )

    def _read_batches(self, n_bytes: int | None) -> Iterator[Table | MatrixBatch]:
        """Yield batches whose columns have the usual names and one order."""
        names: tuple[str, ...] | None = None
        for k, batch in enumerate(self.source.batches(n_bytes)):
            if isinstance(batch, MatrixBatch):
                yield self._as_table(batch)
                continue
            if k == 0:
                self.names, self._file = batch.names or (), batch.source
                self.layout = batch.layout or self.layout
            batch = rename_columns(batch, self.role, self.options)
            self.report.comments += batch.comments
            names = batch.names if k == 0 else names
            odd = sorted(set(batch.names or ()).symmetric_difference(names or ()))
            if odd:
                msg = f"{batch.source}: {list_names(odd)} is not a column of all files of {self.name}; they must agree"
                raise InputError(msg)
            if batch.names is not None and names is not None and batch.names != names:  # in another order
                columns = tuple(batch.columns[batch.names.index(name)] for name in names)
                batch = replace(batch, columns=columns, names=names)
            yield batch

    def choose_columns(self, table: Table) -> None:
        """Choose which columns are read as what; where these have unusual names, a notice says so."""
        self.positions = self._positions(table)
        if not self.takes_all_columns:
            left = (name for k, name in enumerate(self.names) if k not in self.positions.values())
            self.ignored = tuple(name for name in left if name != PANDAS_INDEX)
        taken = {
            meaning: (table.names or ())[k].strip().lower()
            for meaning, k in self.positions.items()
            if self.names
        }
        if all(name in (meaning, PANDAS_INDEX) for meaning, name in taken.items()):
            return
        columns: dict[str, str] = {meaning: self.names[k] for meaning, k in self.positions.items()}
        parts: list[str] = [f"{columns.pop('src')} -> {columns.pop('dst')}"] if self.role == "edges" else []
        parts += [f"{key} {name}" for key, name in columns.items() if key in _USUAL or key != name.lower()]
        self.notice = f"{show_path(self.name)}: {', '.join(parts)}"
        if self.layout.reason:
            self.notice += f" (line {self.layout.line} was taken as a header: {self.layout.reason})"

    def _positions(self, table: Table) -> dict[str, int]:
        """Return which column of a table is what."""
        raise NotImplementedError

    def _as_table(self, matrix: MatrixBatch) -> Table | MatrixBatch:
        return matrix

    def _piece(self, batch: Any) -> Piece:
        raise NotImplementedError


def number_rows(piece: Rows, numbering: Numbering, ids: pa.Array | None = None) -> Rows:
    """Return rows with the numbers of their nodes, new ones for new `ids` (those of the piece, if not given)."""
    return replace(piece, numbers=numbering.number(piece.ids if ids is None else ids)[0])


def read_whole(reader: Reader[Piece], known: Numbering | None = None) -> Piece:
    """Return all of one source; `known` are the ids of others, by which its header is judged."""
    before = reader.report.comments
    reader.open()
    require_columns([reader], reader.options)
    piece = next(reader.pieces(known))
    comments = Report(comments=reader.report.comments - before)
    if comments.losses():
        logger.info("%s: %s", show_path(reader.name), *comments.losses())
    tell_ignored([reader])
    return piece


def require_columns(readers: Sequence[Reader[Any]], options: Options) -> None:
    """Raise the error for a column that the user named and none of the files that may have it has."""
    for usual, name in sorted(
        {each for reader in readers for each in options.column_names(reader.role).items()}
    ):
        fitting = [reader for reader in readers if usual in reader.options.column_names(reader.role)]
        if fitting and not any(name in reader.names for reader in fitting):
            option = f"{usual}_column" if usual in ("node", "label") else usual
            file, flag = fitting[0], option.replace("_", "-")
            have = list_names(file.names or file.layout.first or ())
            msg = f"{file.name} has no column {name!r} ({option}=..., --{flag}); it has {have}"
            raise InputError(msg)


def tell_ignored(readers: Sequence[Reader[Any]]) -> None:
    """Log the columns of each file that no role uses; the edges of a network are a table of their own."""
    files: dict[tuple[str, bool], list[tuple[str, ...] | None]] = {}
    for reader in readers:
        files.setdefault((reader.name, reader.role == "edges"), []).append(reader.ignored)
    for (name, _), ignored in files.items():
        lists = [columns for columns in ignored if columns is not None]
        if len(lists) == len(ignored):
            notice = describe_ignored(name, [c for c in lists[0] if all(c in other for other in lists)])
            if notice:
                logger.info("%s", notice)


def describe_ignored(name: str, columns: Sequence[str]) -> str:
    """Return the notice about columns that are not used, empty without any."""
    noun = "column" if len(columns) == 1 else "columns"
    return f"{show_path(name)}: ignored {noun}: {list_names(columns)}" if columns else ""


def rename_columns(table: Table, role: Role, options: Options) -> Table:
    """Return a table whose columns have the usual names where the user gave theirs.

    Another column that has the usual name is called differently then, so that it is not taken.
    """
    own = table.names
    if own is None:
        return table
    names = list(own)
    for usual, name in options.column_names(role).items():
        if name in own:
            for k, other in enumerate(names):
                if other.strip().lower() in _USUAL[usual] and own[k] != name:
                    names[k] = other + " (not used)"
            names[own.index(name)] = usual
    return replace(table, names=tuple(names))
