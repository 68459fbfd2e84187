"""Batches: columns or a matrix from one source, and how to say where one of their rows stands in it."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.bounds import require_depth
from unseen.data.ids import id_column, is_list, is_string
from unseen.data.names import find_name
from unseen.data.opened import File
from unseen.data.options import Options
from unseen.data.sources import JSON_LINES, Batches, Role
from unseen.errors import InputError, UnseenError
from unseen.graph import Features
from unseen.ids import IdArray, Place

_MIXED = re.compile(r"Conversion failed for column (.*) with type object")


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
        Where the first line that is not a comment begins, in bytes, and its number.
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
    text : bool
        Whether the columns come from a text file.
    layout : TextLayout or None
        That of the text file, in its first batch.
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
    text: bool = False
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
    def joined(tables: Sequence[Table]) -> Table:
        """Return batches of one source as one table; columns meet by their names."""
        if len(tables) == 1:
            return tables[0]
        names = tables[0].names  # the same in all, maybe in another order
        parts = [
            [t.columns[k if names is None else (t.names or names).index(names[k])] for t in tables]
            for k in range(len(tables[0].columns))
        ]
        place = join_places([(table.n_rows, table.place) for table in tables])
        return replace(tables[0], columns=tuple(map(_chained, parts)), place=place)


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


def join_places(parts: Sequence[tuple[int, Place]]) -> Place:
    """Return where the rows of parts that follow each other are, given the number of rows of each and their places."""
    starts = np.cumsum([0, *(n for n, _ in parts)])

    def place(row: int) -> str:
        k = int(np.searchsorted(starts, row, side="right")) - 1
        return parts[k][1](row - int(starts[k]))

    return place


def _chained(parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the parts of a column one after the other, in a type that holds them all."""
    kinds = {part.type for part in parts if len(part)} or {parts[0].type}
    if len(kinds) == 1:
        kind = kinds.pop()
    elif all(map(is_list, kinds)):
        kind = pa.large_list(pa.float64())
    elif all(map(pa.types.is_integer, kinds)):
        kind = pa.int64()
    else:
        numbers = all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in kinds)
        kind = pa.float64() if numbers else pa.large_string()
    return pa.chunked_array([chunk for part in parts for chunk in part.cast(kind).chunks], kind)


def read_parquet(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the columns of a Parquet file, at once or in batches of rows."""
    import pyarrow.parquet as pq

    from unseen.data.arrow_sizes import decoded_bytes, parquet_rows, require_parquet_room

    done = size = 0
    with foreign(file, "Parquet"):
        content = file.path if file.path.is_file() else file.opened()
        with pq.ParquetFile(content, buffer_size=0 if n_bytes is None else 1 << 20) as parquet:
            metadata = own_metadata(parquet.schema_arrow)
            if n_bytes is None:
                require_parquet_room(file, parquet)
            step = 1 << 12 if n_bytes is None else _batch_rows(parquet, n_bytes)
            for group in range(parquet.metadata.num_row_groups):  # over all at once it would fetch ahead
                rows = parquet_rows(file, content, parquet.metadata, group, step)
                for piece in parquet.iter_batches(batch_size=rows, row_groups=[group], use_threads=False):
                    table = pa.Table.from_batches([piece])
                    _require_sound(table, file.name)
                    size += decoded_bytes(table)
                    if n_bytes is None:
                        file.require_room(size, done + len(piece))
                    yield from_arrow(table, file.name, before=done, metadata=metadata)
                    done += len(piece)
            if not done:
                yield from_arrow(parquet.schema_arrow.empty_table(), file.name, metadata=metadata)


def read_arrow(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the columns of a Feather file, of an Arrow file or stream, or of one JSON object a line."""
    from pyarrow import feather
    from pyarrow import json as lines

    from unseen.data.arrow_sizes import arrow_sizes, decoded_bytes

    data = file.read()
    with foreign(file, "JSON lines" if file.suffix in JSON_LINES else "Arrow"):
        if file.suffix in JSON_LINES:
            require_depth(file.name, data)
            block = lines.ReadOptions(block_size=min(max(len(data), 1), 2**31 - 1), use_threads=False)
            table = lines.read_json(io.BytesIO(data), read_options=block)
        else:
            file.require_room(*arrow_sizes(data))
            if data.startswith((b"ARROW1", b"FEA1")):
                table = feather.read_table(io.BytesIO(data), memory_map=False)
            else:
                table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)
        file.require_room(decoded_bytes(table), len(table))
    yield from_arrow(table, file.name, metadata=own_metadata(table.schema))


def _require_sound(table: pa.Table, source: str) -> None:
    """Refuse columns whose values are none, such as text that is not UTF-8."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            what = "text that is not UTF-8" if is_string(column.type) else f"values that are no {column.type}"
            msg = f"{source}: the column {name!r} holds {what}; write the file again"
            raise InputError(msg) from None


def own_metadata(schema: pa.Schema) -> dict[str, Any]:
    """Return what we wrote into the metadata of a file of vectors, as text."""
    own = {key: value for key, value in (schema.metadata or {}).items() if key.startswith(b"unseen.")}
    return {key.decode("utf-8", "replace").removeprefix("unseen."): value for key, value in own.items()}


def _batch_rows(parquet: Any, n_bytes: int) -> int:
    """Return how many rows take about `n_bytes`; in memory a row takes more than in the file."""
    facts = parquet.metadata
    size = sum(facts.row_group(k).total_byte_size for k in range(facts.num_row_groups))
    wide = max(2 * size // max(1, facts.num_rows), 16 * facts.num_columns)
    return int(max(1, min(2**20, n_bytes // wide)))


def read_object(source: Any, role: Role, options: Options) -> Iterator[Table | MatrixBatch]:
    """Yield the batch of an object: anything with the Arrow interface, a matrix, Python's containers, node ids."""
    if isinstance(source, (Table, MatrixBatch)):
        yield source
        return
    from unseen.data.objects_plain import collected, read_plain, with_index

    source = collected(source) if role == "edges" else with_index(collected(source))
    plain = read_plain(source, role, options)
    tabular = hasattr(source, "__arrow_c_stream__") or isinstance(source, (pa.Table, pa.RecordBatch))
    if plain is not None:
        yield plain
    elif role == "nodes" and isinstance(source, Iterable) and not (tabular and hasattr(source, "columns")):
        yield Table.of("`nodes`", {"node": id_column(source, "nodes")})
    elif tabular:
        yield _from_object(source, role)
    elif role == "features" and isinstance(source, np.ndarray):
        yield MatrixBatch("`features`", source)
    elif role in ("edges", "features") and sp.issparse(source):
        yield MatrixBatch(f"`{role}`", source)
    else:
        raise InputError(_NO_SOURCE[role].format(type(source).__name__))


_NO_SOURCE: dict[Role, str] = {
    "edges": "`edges` must be a path, a table with the Arrow interface, a scipy matrix, a list of pairs, an array of "
    "them, a dict or a networkx graph, got {}; Graph.from_pyg takes PyTorch Geometric's objects",
    "nodes": "`nodes` must be a path, a table or a sequence of ids, got {}",
    "features": "`features` must be a path, a table with the Arrow interface or a matrix, got {}",
    "labels": "`labels` must be a path, a table with the Arrow interface, a pandas series, a dict or a list of "
    "(node, label), got {}; "
    "Labels.from_values takes one value per node",
    "vectors": "`vectors` must be a path, got {}",
}


def _from_object(source: Any, role: Role) -> Table:
    try:
        table = source if isinstance(source, pa.Table) else pa.table(source)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        mixed = _MIXED.search(str(error))
        if mixed is not None:
            msg = (
                f"the column {mixed[1]!r} of `{role}` holds values of several types; make them all of one, "
                f"e.g. strings: table[{mixed[1]!r}].astype(str)"
            )
            raise InputError(msg) from None
        msg = f"`{role}` is no table that Arrow can read: {first_line(error)}"
        raise InputError(msg) from None
    return from_arrow(table, f"`{role}`")


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
def foreign(file: File, kind: str) -> Iterator[None]:
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
