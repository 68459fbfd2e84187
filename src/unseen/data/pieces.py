"""Reading one source in one role: edges, nodes, features or labels, at once or in pieces.

A reader turns the batches of its source into pieces of its role; :mod:`unseen.data.roles` has one for each. A first
line that may be a header waits in the reader until the ids of all sources are known. In memory a source is one piece,
and `Reader.whole` returns it with that line as a row of it, or as its header. A graph that does not fit in memory
comes in many, by the same code, and the line as a piece of its own::

    reader = EdgeReader("edges.csv", Options(), report)
    for piece in reader.pieces(1 << 26):  # piece.src, piece.dst, piece.weight
        ...
    piece = reader.settle(stands=is_an_id_of_any_source)  # goes before all others, or is None
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.build import Report
from unseen.data.columns import NOT_USED, listed, renamed
from unseen.data.headers import PANDAS_INDEX, is_row
from unseen.data.ids import stacked
from unseen.data.options import Options
from unseen.data.sources import Role, Source
from unseen.data.tables import First, Matrix, Table
from unseen.errors import InputError, logger
from unseen.ids import Features, Floats, Ints, Mask, as_ids


@dataclass(frozen=True)
class Edges:
    """The ends, weights and types of edges as listed, ids as Arrow strings or int64.

    `nodes` are those that the source itself names, in its order (a matrix does); None: no such list. `points` says
    which edges point, where they are read as directed ones; None: all.
    """

    src: pa.Array
    dst: pa.Array
    weight: Floats | None
    nodes: pa.Array | None = None
    types: pa.Array | None = None
    place: Callable[[int], str] = "row {}".format
    points: Mask | None = None

    @property
    def negative(self) -> Ints:
        """The rows of negative weight."""
        return np.flatnonzero(np.zeros(0) if self.weight is None else self.weight < 0)


@dataclass(frozen=True)
class NodeRows:
    """Ids of rows; None: row i is node number i."""

    ids: pa.Array | None

    @property
    def node_ids(self) -> Any:
        """The ids as values hold them, or None."""
        return None if self.ids is None else as_ids(self.ids.to_numpy(zero_copy_only=False))


@dataclass(frozen=True)
class NodeList(NodeRows):
    """Ids of a node list, and the types of these where it has such a column."""

    ids: pa.Array
    types: pa.Array | None = None
    place: Callable[[int], str] = "row {}".format


@dataclass(frozen=True)
class FeatureRows(NodeRows):
    """Rows of features, or of vectors; without `ids` row i is node number i."""

    values: Features
    names: tuple[str, ...] | None
    source: str
    place: Callable[[int], str] = "row {}".format


def several_rows(source: str, node: object) -> InputError:
    """Return the error for a node with several rows of features, in different places of a source."""
    return InputError(f"{source}: the node {node!r} has several rows; one row per node is allowed")


@dataclass(frozen=True)
class LabelRows(NodeRows):
    """Labels as listed: the id of each row, and for each label the row it stands in.

    `answers` has the status of rows: ``skipped``, ``unknown`` or ``confirmed``. `replaces` has the label that the label
    of a row corrects.
    `hint` goes with messages on the first row where that may be a header nobody announced.
    """

    ids: pa.Array
    rows: Ints
    names: pa.Array
    source: str
    place: Callable[[int], str]
    hint: str = ""
    answers: Mapping[int, str] = field(default_factory=dict)
    replaces: Mapping[int, str] = field(default_factory=dict)


Piece = TypeVar("Piece", Edges, NodeList, FeatureRows, LabelRows)


class Reader(Generic[Piece]):
    """Reads one source in one role, at once or in pieces; see the module.

    Attributes
    ----------
    first : First or None
        A first line that waits to be settled, once the first batch was read.
    n_rows : int
        Rows so far, that line not counted.
    columns : list of pyarrow.Array
        The columns of ids, once everything was read at once.
    """

    role: Role
    in_pieces = False

    def __init__(self, source: Any, options: Options | None = None, report: Report | None = None) -> None:
        self.options = Options() if options is None else options
        self.report = Report() if report is None else report
        self.source = Source(source, self.role, self.options)
        self.name = self.source.name
        self.first: First | None = None
        self.columns: list[pa.Array] = []
        self.n_rows, self._all_numbers, self._started = 0, True, False

    def pieces(self, n_bytes: int) -> Iterator[Piece]:
        """Yield the pieces in their order, about `n_bytes` each."""
        self.in_pieces = True
        for batch in self._batches(n_bytes):
            yield self._piece(batch, self._watched(batch))

    def load(self, n_bytes: int | None = None) -> None:
        """Read everything; `whole` makes one piece of it."""
        tables: list[Any] = list(self._batches(n_bytes))
        self._loaded: Any = tables[0] if isinstance(tables[0], Matrix) else Table.joined(tables)
        self.columns = self._watched(self._loaded)

    def whole(self, stands: Callable[[str], bool], strangers: Callable[[], int] | None = None) -> Piece:
        """Return what was loaded, the first line as a row of it or as its header; see `settle`."""
        loaded = self._loaded
        if self._is_row(stands, strangers):
            first = self._first_row(loaded.columns)
            self.columns = [stacked(pair) for pair in zip(self._ids(first), self.columns, strict=True)]
            loaded = Table.joined([first, loaded])
        elif self.first is not None:
            loaded = replace(loaded, names=self.first.cells, first=None)
        return self._piece(loaded, self.columns)

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
        if not self._is_row(stands, strangers):
            return None
        table = self._first_row()
        return self._piece(table, self._ids(table))

    def _is_row(self, stands: Callable[[str], bool], strangers: Callable[[], int] | None) -> bool:
        """Return whether there is a first line that waited, and is a row."""
        if self.first is None:
            return False
        row = is_row(
            self.first, self.role, self.n_rows, stands, all_numbers=self._all_numbers, strangers=strangers
        )
        self.report.headers[self.name] = None if row else self.first.cells
        return row

    def _first_row(self, others: Sequence[pa.ChunkedArray] = ()) -> Table:
        """Return the first line as a table, its cells numbers where those of the `others` are, if they can be."""
        first = cast(First, self.first)
        columns = [pa.chunked_array([[cell]], pa.large_string()) for cell in first.cells]
        for k, other in enumerate(others):
            with contextlib.suppress(pa.ArrowInvalid):
                columns[k] = columns[k].cast(other.type)
        return Table(self.name, tuple(columns), None, lambda _: first.place, text=True)

    def _batches(self, n_bytes: int | None) -> Iterator[Table | Matrix]:
        names: set[str] | None = None
        for batch in self.source.batches(n_bytes):
            if isinstance(batch, Matrix):
                yield self._as_table(batch)
                continue
            batch = renamed(batch, self.role, self.options)
            self.first = batch.first or self.first
            self.report.comments += batch.comments
            own = set(batch.names or ())
            odd = sorted(own.symmetric_difference(own if names is None else names))
            if odd:
                msg = f"{batch.source}: {listed(odd)} is not a column of all files of {self.name}; they must agree"
                raise InputError(msg)
            names = own
            yield batch

    def _watched(self, batch: Table | Matrix) -> list[pa.Array]:
        """Return the columns of ids, and remember what they say of a first line that waits."""
        ids = self._ids(batch)
        self._started = True
        self.n_rows += len(ids[0]) if ids else 0
        if self.first is not None and self.role == "edges":
            digits = (pc.all(pc.utf8_is_digit(column), min_count=0).as_py() for column in ids)
            self._all_numbers = self._all_numbers and all(digits)
        return ids

    def _as_table(self, matrix: Matrix) -> Table | Matrix:
        return matrix

    def _ids(self, batch: Any) -> list[pa.Array]:
        raise NotImplementedError

    def _piece(self, batch: Any, ids: list[pa.Array]) -> Piece:
        raise NotImplementedError

    def _say_unused(self, table: Table, used: Collection[int | None]) -> None:
        """Name the columns that are not read, once per source."""
        left = [name for k, name in enumerate(table.names or ()) if k not in used and name != PANDAS_INDEX]
        if left and not self._started:
            others = [name.removesuffix(NOT_USED) for name in left]
            logger.info("%s: columns not used: %s", table.source, listed(others))
