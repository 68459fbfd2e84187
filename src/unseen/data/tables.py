"""Batches: columns or a matrix from one source; their values are checked here, once, with the place of each row."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.names import HEADER_HINT, find_name
from unseen.errors import InputError, UnseenError
from unseen.graph import Features
from unseen.ids import Floats, IdArray, Ints, Place, as_ids
from unseen.labels import MISSING_WORDS

if TYPE_CHECKING:
    from unseen.data.opened import File


@dataclass(frozen=True)
class TextLayout:
    """What the first lines of a text file say about the whole file.

    Attributes
    ----------
    delimiter : str or None
        None: there is one column.
    width : int
        Number of columns.
    names : tuple of str, or None
        The header; None: there is none.
    start, line : int
        Where the rows begin, in bytes, and the number of the first line that is not a comment.
    quotes : bool
        Whether a cell may be quoted.
    first : tuple of str, or None
        The first row where the file does not tell whether it is a header; it is a row of the columns.
    is_numeric : tuple of bool
        Whether the first rows of each column hold numbers, the header aside.
    reason : str
        Why the first row was taken as a header, if the names are not the usual ones.
    """

    delimiter: str | None
    width: int
    names: tuple[str, ...] | None = None
    start: int = 0
    line: int = 1
    quotes: bool = True
    first: tuple[str, ...] | None = None
    is_numeric: tuple[bool, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Table:
    """Columns of equal length, read but not yet understood.

    Attributes
    ----------
    source : str
        What messages call the source: a quoted path, or a parameter in backticks.
    columns : tuple of pyarrow.ChunkedArray
        Strings, for text files; any Arrow type otherwise.
    names : tuple of str, or None
        Column names; None for text without a header.
    place : callable
        From a row number, 0 being the first, to its place: ``'edges.csv', line 3``.
    layout : TextLayout or None
        That of a text file; None: the columns come from elsewhere.
    comments : int
        Comment lines that stood below the first line of data.
    metadata : mapping
        What the file says of itself: method and parameters of vectors.
    nodes : pyarrow.Array or None
        All nodes of a file of edges that names them, in its order.
    """

    source: str
    columns: tuple[pa.ChunkedArray, ...]
    names: tuple[str, ...] | None
    place: Callable[[int], str]
    layout: TextLayout | None = None
    comments: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    nodes: pa.Array | None = None

    @classmethod
    def of(cls, source: str, columns: Mapping[str, Any]) -> Table:
        """Return a table of named columns (anything Arrow takes), for formats that have no text.

        Examples
        --------
        >>> Table.of("'mine.dots'", {"src": ["a"], "dst": ["b"]}).place(0)
        "'mine.dots', row 1"
        """
        return from_arrow(pa.table(dict(columns)), source)

    def ids(self, index: int, what: str) -> pa.Array:
        """Return a column of ids or names as Arrow strings or int64, none of them missing."""
        return id_column(self.columns[index], what, self.place, self.source)

    @property
    def text(self) -> bool:
        """Whether the columns come from a text file."""
        return self.layout is not None

    @property
    def n_rows(self) -> int:
        """Number of rows, the header not counted."""
        return len(self.columns[0]) if self.columns else 0

    @property
    def is_numeric(self) -> list[bool]:
        """Whether each column holds numbers: in text by its first rows, else by its type."""
        kinds = [column.type for column in self.columns]
        if self.layout is not None and self.layout.is_numeric:
            return list(self.layout.is_numeric)
        return [bool(pa.types.is_integer(kind) or pa.types.is_floating(kind)) for kind in kinds]

    def with_header(self, names: tuple[str, ...], reason: str) -> Table:
        """Return the table with its first row as the names of its columns; `reason` says why."""
        layout = self.layout and replace(self.layout, names=names, first=None, reason=reason)
        columns = tuple(column.slice(1) for column in self.columns)
        return replace(
            self, columns=columns, names=names, layout=layout, place=lambda row: self.place(row + 1)
        )

    def find(self, names: Sequence[str]) -> int | None:
        """Return the number of the first column that has one of `names`, in any case, or None."""
        return find_name(self.names or (), names)

    @staticmethod
    def join(tables: Sequence[Table]) -> Table:
        """Return batches of one source, whose columns are in the same order, as one table."""
        if len(tables) == 1:
            return tables[0]
        columns = []
        for parts in zip(*(table.columns for table in tables), strict=True):
            kinds = {part.type for part in parts if len(part)} or {parts[0].type}
            kind = pa.large_string()  # unless another type holds them all
            if len(kinds) == 1:
                kind = kinds.pop()
            elif all(map(is_list, kinds)):
                kind = pa.large_list(pa.float64())
            elif all(map(pa.types.is_integer, kinds)):
                kind = pa.int64()
            elif all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in kinds):
                kind = pa.float64()
            chunks = [chunk for part in parts for chunk in part.cast(kind).chunks]
            columns.append(pa.chunked_array(chunks, kind))
        place = join_places([(table.n_rows, table.place) for table in tables])
        return replace(tables[0], columns=tuple(columns), place=place)


@dataclass(frozen=True)
class MatrixBatch:
    """A matrix from one source; what its rows and columns are called, where that is known.

    Attributes
    ----------
    source, metadata
        As in `Table`.
    values : sparse array or ndarray
        Real numbers in two dimensions (labels: one is enough).
    ids : array or None
        The nodes of the rows; None: row i is node number i.
    names : tuple of str, or None
        Names of the columns.
    """

    source: str
    values: Features
    ids: IdArray | None = None
    names: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0]) if self.values.ndim else 0

    def place(self, row: int) -> str:
        """Return where a row is."""
        return f"{self.source}: row {row}" + ("" if self.ids is None else f" (node {self.ids[row]!r})")


def join_places(parts: Sequence[tuple[int, Place]]) -> Place:
    """Return where the rows of parts that follow each other are, given the number of rows of each and their places."""
    starts = np.cumsum([0, *(n for n, _ in parts)])

    def place(row: int) -> str:
        k = int(np.searchsorted(starts, row, side="right")) - 1
        return parts[k][1](row - int(starts[k]))

    return place


def from_arrow(
    table: pa.Table, source: str, *, before: int = 0, metadata: Mapping[str, Any] | None = None
) -> Table:
    """Return an Arrow table as a batch whose rows are numbered on from those `before` it."""

    def place(row: int) -> str:
        return f"{source}, row {before + row + 1}"

    names = tuple(str(name) for name in table.column_names)
    return Table(source, tuple(table.columns), names, place, metadata=metadata or {})


def as_column(values: Sequence[Any]) -> pa.Array:
    """Return values as a column of one type: of texts where they are of several.

    Examples
    --------
    >>> as_column([1, "b", None]).to_pylist()
    ['1', 'b', None]
    """
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if each is None else str(each) for each in values], pa.large_string())


@contextlib.contextmanager
def explain_errors(file: File, kind: str) -> Iterator[None]:
    """Turn whatever the reader of another library raises on damaged files into a sentence."""
    try:
        yield
    except UnseenError:
        raise
    except Exception as error:  # noqa: BLE001  # readers raise whatever they meet
        sentence = f"is not a readable {kind} file, perhaps damaged or cut off: {first_line(error)}"
        if isinstance(error, MemoryError):
            sentence = "announces more numbers than fit into memory; it is damaged or too large"
        elif isinstance(error, KeyError) and kind == "scipy":
            sentence = f"is not a whole scipy matrix, the array {error} is missing"
        elif isinstance(error, OSError) and error.strerror:
            sentence = f"cannot be read: {error.strerror}"
        msg = f"{file.name} {sentence}"
        raise InputError(msg) from None


def first_line(error: BaseException) -> str:
    """Return the first line of a foreign error, for the end of one of our sentences."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


_NO_VALUE = ("", "nan", "NaN", "NAN", *MISSING_WORDS)


def float_values(table: Table, column: int | pa.Array, what: str) -> Floats:
    """Return a column of a table as float64, or raise an error that names the first value that is no number."""
    column = join_chunks(table.columns[column]) if isinstance(column, int) else column
    is_text = is_string(column.type)

    def as_floats(cells: pa.Array) -> Floats:
        # integers beyond 2**53 round to the nearest float instead of being refused
        return np.asarray(
            cells.cast(pa.float64(), safe=is_text).to_numpy(zero_copy_only=False), dtype=np.float64
        )

    try:
        return as_floats(column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if not is_text:
            msg = f"{table.source}: the {what} has the type {column.type}; it must be a number"
            raise InputError(msg) from None
    row, high = 0, len(column)
    while high - row > 1:  # the first cell that is no number, by bisection
        middle = (row + high) // 2
        try:
            as_floats(column.slice(row, middle - row))
            row = middle
        except pa.ArrowInvalid:
            high = middle
    value = repr(column[row].as_py())
    header = HEADER_HINT if row == 0 and table.text and table.names is None else ""
    comma = "; decimals need a point" if "," in value else ""
    value = "empty" if value == "''" else value if len(value) <= 60 else value[:57] + "...'"
    msg = f"{table.place(row)}: the {what} is {value}, which is not a number{comma}{header}"
    raise InputError(msg)


def drop_missing_words(column: pa.Array) -> pa.Array:
    """Return a column of text with null in place of cells that are empty or say that a value is missing.

    Examples
    --------
    >>> drop_missing_words(pa.array(["1", " ", "NA", "nan"])).to_pylist()
    ['1', None, None, None]
    """
    cells = column.cast(pa.large_string())
    empty = pc.is_in(pc.utf8_trim_whitespace(cells), value_set=pa.array(_NO_VALUE, pa.large_string()))
    return pc.if_else(empty, pa.scalar(None, pa.large_string()), cells)


def label_values(column: pa.ChunkedArray, source: str) -> tuple[Ints, pa.Array]:
    """Return for each label in a column its row, and its name; text holds several with ``|`` between them."""
    values = join_chunks(column)
    rows, is_text = np.arange(len(values)), is_string(values.type)
    if is_text:
        values = pc.split_pattern(values.cast(pa.large_string()), "|")
    if is_list(values.type):
        rows = pc.list_parent_indices(values).to_numpy(zero_copy_only=False).astype(np.int64)
        values = pc.list_flatten(values)
    kind, text = values.type, pa.large_string()
    if is_text:
        return rows, pc.utf8_trim_whitespace(values)
    if pa.types.is_floating(kind):  # a column of class numbers with gaps arrives as floats
        floats = values.to_numpy(zero_copy_only=False).astype(np.float64).tolist()
        names = [None if v != v else str(int(v)) if v.is_integer() else str(v) for v in floats]
        return rows, pa.array(names, text)
    if pa.types.is_boolean(kind):
        return rows, pa.array([None if v is None else str(v) for v in values.to_pylist()], text)
    if pa.types.is_integer(kind) or pa.types.is_null(kind) or is_string(kind):
        return rows, values.cast(text)
    msg = f"{source}: the labels have the type {kind}; they must be strings, numbers or lists of these"
    raise InputError(msg)


def list_names(names: Sequence[Any], most: int = 8) -> str:
    """Return names for a message, the first few of many."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > most else shown or "(none)"


def filled_cells(column: pa.Array | pa.ChunkedArray) -> dict[int, str]:
    """Return the cells that say something, by their row, without blanks at the ends."""
    cells = (cell.strip() if cell else "" for cell in column.cast(pa.large_string()).to_pylist())
    return {row: cell for row, cell in enumerate(cells) if cell}


def id_array(ids: IdArray, what: str = "node_ids") -> pa.Array:
    """Return ids that were checked before as an Arrow array of large strings or int64."""
    try:
        return pa.array(ids, type=pa.int64() if ids.dtype == np.int64 else pa.large_string())
    except UnicodeEncodeError as error:
        msg = f"`{what}` holds {error.object!r}, which is not valid Unicode text"
        raise InputError(msg) from None


def id_column(
    values: Any, what: str, place: Callable[[int], str] | None = None, source: str = ""
) -> pa.Array:
    """Return ids as an Arrow array of large strings or int64, none of them missing.

    `place` and `source` say where the column of a file stands; an empty text is no id there.
    """
    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        return id_array(as_ids(values, what=what), what)
    column, where = join_chunks(values), f"{source}: " if source else ""
    integers = pa.types.is_integer(column.type)
    if not (integers or is_string(column.type) or pa.types.is_null(column.type)):
        msg = f"{where}the column of `{what}` has the type {column.type}; it must hold texts or integers"
        raise InputError(msg)
    try:
        ids = column.cast(pa.int64() if integers else pa.large_string())
    except pa.ArrowInvalid:
        msg = f"{where}ids of `{what}` do not fit into 64-bit integers; store them as strings"
        raise InputError(msg) from None
    missing = ids.is_null() if integers or place is None else pc.fill_null(pc.equal(ids, ""), True)
    row = pc.index(missing, pa.scalar(True)).as_py()
    if row >= 0:
        msg = f"{place(row) if place else f'row {row + 1}'}: the cell of `{what}` is empty"
        raise InputError(msg)
    return ids


def join_chunks(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return the chunks of a column as one array, its dictionary resolved; polars' views of text become texts."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # what pyarrow returns for several gigabytes, or for no chunk
        return pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    return whole


def is_string(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
