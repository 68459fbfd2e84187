"""Tables in pieces: Parquet files or folders of them, and delimited text, none of which need fit in memory."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError
from unseen.io.sniff import HeaderTest, check_delimiter, cuts_all, sniff_delimiter, split_line
from unseen.io.sources import TEXT_NAMES, TEXT_SUFFIXES, data_suffix, existing, unknown_suffix
from unseen.io.tables import Table, first_line
from unseen.io.text import _clean, _first_lines, _first_row, _parse, _Text, _tidy

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class TextOptions:
    """How text files of one kind begin, and what the user said of it."""

    is_header: HeaderTest
    may_be_header: HeaderTest
    header: bool | None = None
    delimiter: str | None = None
    blanks: bool = True
    may_differ: bool = False


@dataclass(frozen=True)
class Source:
    """A table on disk, to be read in pieces, as often as needed.

    Attributes
    ----------
    files : tuple of Path
        Read one after the other.
    text : TextOptions or None
        How text is to be taken; None for Parquet.
    n_bytes : int
        Size of the unpacked data, estimated where it is not known.
    integer_ids : bool
        Whether the columns called `id_names` hold integers.
    """

    files: tuple[Path, ...]
    text: TextOptions | None
    n_bytes: int
    integer_ids: bool

    def tables(self, batch: int) -> Iterator[Table]:
        """Yield pieces of about `batch` bytes, rows in their order."""
        for path in self.files:
            yield from (_parquet(path, batch) if self.text is None else _text(path, self.text, batch))


def open_source(path: Path, what: str, text: TextOptions, id_names: Sequence[str]) -> Source:
    r"""Look at a file, or a folder of Parquet files, without reading it.

    Examples
    --------
    >>> import tempfile
    >>> from unseen.io.columns import is_edge_header
    >>> path = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("src,dst\na,b\nb,c\n")
    >>> source = open_source(path, "edges", TextOptions(is_edge_header, is_edge_header), ("src",))
    >>> [table.n_rows for table in source.tables(1 << 20)]
    [2]
    """
    path = existing(path, what)
    files: tuple[Path, ...] = (path,)
    if path.is_dir():
        files = tuple(sorted(p for p in path.rglob("*") if data_suffix(p) == ".parquet" and p.is_file()))
        if not files:
            msg = f"{str(path)!r} is a folder without Parquet files; `{what}` needs a file, or a folder of those"
            raise InputError(msg)
    suffix = data_suffix(files[0])
    if suffix == ".parquet":
        return Source(files, None, *_parquet_facts(files, id_names))
    if suffix in TEXT_SUFFIXES:
        check_delimiter(text.delimiter)
        size = path.stat().st_size
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
        return Source(files, text, size * 6 if packed else size, integer_ids=False)
    raise unknown_suffix(path, what, [*TEXT_NAMES, ".parquet"])


def _parquet_facts(files: Sequence[Path], id_names: Sequence[str]) -> tuple[int, bool]:
    size, integer = 0, True
    for path in files:
        try:
            with pq.ParquetFile(path) as file:
                facts, schema = file.metadata, file.schema_arrow
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _unreadable(path, error) from None
        size += sum(facts.row_group(k).total_byte_size for k in range(facts.num_row_groups))
        ids = [field for field in schema if field.name.strip().lower() in id_names]
        integer &= all(pa.types.is_integer(field.type) for field in ids or schema)
    return size, integer


def _parquet(path: Path, batch: int) -> Iterator[Table]:
    source, done = repr(str(path)), 0
    try:
        with pq.ParquetFile(path, memory_map=False, buffer_size=1 << 20) as file:
            rows = max(1, file.metadata.num_rows)
            size = sum(
                file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups)
            )
            names = tuple(str(name) for name in file.schema_arrow.names)
            # in memory a row takes more than in the file, which is packed
            wide = max(2 * size // rows, 16 * len(names))
            step = int(max(1, min(2**20, batch // wide)))
            for group in range(file.metadata.num_row_groups):  # over all of them at once it would fetch ahead
                for piece in file.iter_batches(batch_size=step, row_groups=[group], use_threads=False):
                    columns = tuple(pa.chunked_array([column]) for column in piece.columns)
                    yield Table(source, columns, names, _place(source, "row", done))
                    done += len(piece)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None


def _place(source: str, what: str, before: int) -> Callable[[int], str]:
    return lambda row: f"{source}, {what} {before + row + 1}"


def _unreadable(path: Path, error: BaseException) -> InputError:
    return InputError(f"{str(path)!r} is not a readable Parquet file: {first_line(error)}")


def _text(path: Path, options: TextOptions, batch: int) -> Iterator[Table]:
    source = repr(str(path))
    start: _Start | None = None
    lines = 0
    for block in _blocks(path, batch):
        _require_utf8(block, source, lines)
        data = _clean(block, source)
        if start is None and (first := _first_lines(data)):
            start = _begin(path, data, first, options)
            head = _tidy(data, start.delimiter)
            if start.names is not None:
                end = _first_row(head).end()
                head = b"\n" * head.count(b"\n", 0, end) + head[end:]  # line numbers stay those of the file
            data = head
        elif start is not None:
            data = _tidy(data, start.delimiter)
        if start is not None and data.strip(b"\n"):
            text = _Shifted(source, data, start.delimiter, None, start.width, lines)
            columns = _parse(text, numbers=False)
            yield Table(source, columns, start.names, text.place, text=True, told=options.header is not None)
        lines += block.count(b"\n")
    if start is None:
        msg = f"{source} is empty; a file without rows needs at least its header line"
        raise InputError(msg)


def _require_utf8(block: bytes, source: str, before: int) -> None:
    try:
        codecs.utf_8_decode(block, "strict", True)
    except UnicodeDecodeError as error:
        line = before + block.count(b"\n", 0, error.start) + 1
        msg = f"{source}, line {line} is not UTF-8 text (byte 0x{block[error.start]:02x}); save the file as UTF-8"
        raise InputError(msg) from None


@dataclass(frozen=True)
class _Shifted(_Text):
    """A block of a file: its lines are numbered on from those before it."""

    before: int = 0

    def records(self) -> Iterator[tuple[int, list[str]]]:
        for line, cells in super().records():
            yield line + self.before, cells


@dataclass(frozen=True)
class _Start:
    """What the first lines of a text file tell."""

    delimiter: str | None
    names: tuple[str, ...] | None
    width: int


def _begin(path: Path, data: bytes, lines: list[str], options: TextOptions) -> _Start:
    delimiter = options.delimiter
    if delimiter is None or (options.may_differ and not cuts_all(lines, delimiter)):
        delimiter = sniff_delimiter(
            lines,
            options.may_be_header,
            suffix=data_suffix(path),
            blanks=options.blanks,
            source=repr(str(path)),
        )
    first = _first_row(_tidy(data, delimiter))[0].decode("utf-8")
    cells = split_line(first, delimiter)
    lower = [cell.lower() for cell in cells]
    named = options.header
    if named is None:
        others = {cell for line in lines[1:] for cell in split_line(line, delimiter)}
        named = options.is_header(lower) or (options.may_be_header(lower) and not others & set(cells))
    return _Start(delimiter, tuple(cells) if named else None, len(cells))


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    """Yield whole lines of a text file, unpacked; a line break inside quotes ends no block."""
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        file: IO[bytes] = gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[assignment]
        rest: list[bytes] = []
        open_quote = False
        try:
            while piece := file.read(size):
                cut = piece.rfind(b"\n") + 1
                open_quote ^= piece.count(b'"', 0, cut) % 2 == 1
                if not cut or open_quote:
                    open_quote ^= piece.count(b'"', cut) % 2 == 1
                    rest.append(piece)
                    continue
                yield b"".join([*rest, piece[:cut]])
                rest = [piece[cut:]]
                open_quote = rest[0].count(b'"') % 2 == 1
        except (EOFError, zlib.error, gzip.BadGzipFile):
            msg = f"{str(path)!r} is a damaged or cut-off gzip file; copy or download it again"
            raise InputError(msg) from None
        if last := b"".join(rest):
            yield last
