"""Delimited text: csv, tsv and blank-separated files, with or without header, plain or gzip.

All cells come out as strings, so that ``007`` stays ``007``. The good path is pyarrow's parser on a
buffer whose comment lines were emptied, not removed: line numbers stay those of the file, and the
slow look for the line at fault is taken only once something is wrong.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from unseen.errors import InputError
from unseen.io.sniff import BLANK, NEVER, HeaderTest, check_delimiter, cuts_all, sniff_delimiter, split_line
from unseen.io.sources import data_suffix, read_bytes
from unseen.io.tables import Table, first_line

_COMMENT = re.compile(rb"(?m)^[ \t]*#.*$")
_BLOCK = 1 << 22


@dataclass(frozen=True)
class _Text:
    """A text file ready for the parser: tidy bytes with the line breaks of the original."""

    source: str
    data: bytes
    delimiter: str | None
    header: list[str] | None
    width: int

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the cells of each row below the header; slow, for messages."""
        text = io.StringIO(self.data.decode("utf-8"), newline="")
        reader = csv.reader(text, delimiter=self.delimiter or NEVER)
        skip = self.header is not None
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error:  # a cell beyond the csv module's limit
                cells = [""] * self.width
            if cells and skip:
                skip = False
            elif cells:
                yield line, cells

    def place(self, row: int) -> str:
        line = next((line for k, (line, _) in enumerate(self.records()) if k == row), None)
        return f"{self.source}, line {line}" if line else f"{self.source}, row {row + 1}"


def read_text(
    path: Path,
    is_header: HeaderTest,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    blanks: bool = True,
    numbers: bool = False,
    sniff_header: HeaderTest | None = None,
    may_differ: bool = False,
) -> Table:
    """Return the columns of a text file.

    Parameters
    ----------
    path : Path
        A file that exists.
    is_header : callable
        Tells whether the cells of the first line are known column names; asked where `header` is None.
    header : bool, optional
        Whether the first line names the columns.
    delimiter : str, optional
        One character; a blank stands for any run of blanks and tabs. Sniffed when not given.
    blanks : bool
        Whether blanks may be found to separate columns.
    numbers : bool
        Whether all columns but the first should be parsed as numbers if they all can.
    sniff_header : callable, optional
        Names that settle the delimiter though they may turn out to be no header; `is_header` when not given.
    may_differ : bool
        Whether `delimiter` was said of another file too, so that it is only taken where it fits.
    """
    check_delimiter(delimiter)
    source = repr(str(path))
    data = _clean(read_bytes(path), source)
    lines = _first_lines(data)
    if not lines:
        msg = f"{source} is empty; a file without rows needs at least its header line"
        raise InputError(msg)
    if delimiter is None or (may_differ and not cuts_all(lines, delimiter)):
        delimiter = sniff_delimiter(
            lines, sniff_header or is_header, suffix=data_suffix(path), blanks=blanks, source=source
        )
    data = _tidy(data, delimiter)
    cells = split_line(_first_row(data)[0].decode("utf-8"), delimiter)
    named = is_header([cell.lower() for cell in cells]) if header is None else header
    text = _Text(source, data, delimiter, cells if named else None, len(cells))
    columns = _parse(text, numbers=numbers)
    return Table(
        source, columns, tuple(cells) if named else None, text.place, text=True, told=header is not None
    )


def first_rows(path: Path, is_header: HeaderTest, *, delimiter: str | None = None) -> list[list[str]]:
    """Return the cells of the first lines of a text file, to find out what it is; none where it is no text."""
    try:
        with (gzip.open if path.name.lower().endswith(".gz") else open)(path, "rb") as file:
            data = file.read(_BLOCK)
        whole = data[: data.rfind(b"\n") + 1] or data
        lines = _first_lines(_clean(whole, repr(str(path))))
    except (OSError, EOFError, zlib.error, InputError):  # who reads it in earnest says what is wrong
        return []
    if not lines:
        return []
    if delimiter is None or not cuts_all(lines, delimiter):
        delimiter = sniff_delimiter(
            lines, is_header, suffix=data_suffix(path), blanks=True, source=repr(str(path))
        )
    return [split_line(line, delimiter) for line in lines]


def _clean(data: bytes, source: str) -> bytes:
    """Return UTF-8 with plain line ends, no byte-order mark and emptied comment lines."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        msg = f"{source} is UTF-16 text; save it as UTF-8"
        raise InputError(msg)
    if b"\0" in data:
        msg = f"{source} is not a text file (it holds zero bytes); a binary format needs its own suffix"
        raise InputError(msg)
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        codecs.utf_8_decode(data, "strict", True)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        msg = (
            f"{source}, line {line} is not UTF-8 text (byte 0x{data[error.start]:02x}); "
            "save the file as UTF-8, or check that it is a text file at all"
        )
        raise InputError(msg) from None
    return _COMMENT.sub(b"", data) if b"#" in data else data


def _first_row(tidy: bytes) -> re.Match[bytes]:
    """Return the first line with anything in it; the parser, too, passes over empty lines only."""
    return next(re.finditer(rb"[^\n]+", tidy))


def _first_lines(data: bytes, n: int = 200) -> list[str]:
    """Return the first `n` lines that are not blank."""
    lines: list[str] = []
    for line in io.BytesIO(data):
        if line.strip(b" \t\n"):
            lines.append(line.decode("utf-8").rstrip("\n"))
            if len(lines) == n:
                break
    return lines


def _tidy(data: bytes, delimiter: str | None) -> bytes:
    """Drop the blanks around cells, and make a run of blanks one; what is quoted stays as it is."""
    blanks = (b" ",) if delimiter == "\t" else (b" ", b"\t")
    mark = (delimiter or NEVER).encode()
    if not _has_loose_blanks(data, blanks, mark):
        return data
    blank = b"[" + b"".join(blanks) + b"]"
    edge = rb"^" + blank + rb"+|" + blank + rb"+$"
    between = blank + rb"+" if delimiter == BLANK else blank + rb"*" + re.escape(mark) + blank + rb"*"
    if b'"' not in data:
        return re.sub(between, mark, re.sub(edge, b"", data, flags=re.MULTILINE))
    pattern = re.compile(rb'(?P<quoted>"[^"]*"?)|(?P<edge>' + edge + rb")|" + between, re.MULTILINE)

    def replace(match: re.Match[bytes]) -> bytes:
        if match["quoted"] is not None:
            return match["quoted"]
        return mark if match["edge"] is None else b""

    return pattern.sub(replace, data)


def _has_loose_blanks(data: bytes, blanks: tuple[bytes, ...], mark: bytes) -> bool:
    """Return whether there is anything to tidy; plain searches, since most files are tidy and may be large."""
    if mark == b" " and b"\t" in data:
        return True
    return any(
        blank in data
        and (
            data.startswith(blank)
            or data.endswith(blank)
            or any(pair in data for pair in _pairs(blank, mark))
        )
        for blank in blanks
    )


def _pairs(blank: bytes, mark: bytes) -> tuple[bytes, ...]:
    return blank + mark, mark + blank, blank + b"\n", b"\n" + blank


def _parse(text: _Text, *, numbers: bool) -> tuple[pa.ChunkedArray, ...]:
    data = memoryview(text.data)
    if text.header is not None:
        data = data[_first_row(text.data).end() :]
    strings = [pa.large_string()] * text.width
    if not re.search(rb"[^\n]", data):
        return tuple(pa.chunked_array([[]], type=kind) for kind in strings)
    if numbers:
        try:
            return _arrow_csv(data, text, [strings[0], *[pa.float64()] * (text.width - 1)])
        except pa.ArrowInvalid:
            pass  # some cell is no number: read strings, so that the reader can say which
    try:
        return _arrow_csv(data, text, strings)
    except pa.ArrowInvalid as error:
        raise _explain(text, error) from None


def _arrow_csv(data: memoryview, text: _Text, types: list[Any]) -> tuple[pa.ChunkedArray, ...]:
    names = [str(k) for k in range(text.width)]
    # A row longer than a block is refused by the parser: such files are read as one block.
    longest = min(len(data), 2**31 - 1)
    for block in (_BLOCK, longest) if len(data) > _BLOCK else (_BLOCK,):
        try:
            table = pa.csv.read_csv(
                pa.py_buffer(data),
                read_options=pa.csv.ReadOptions(column_names=names, block_size=block),
                parse_options=pa.csv.ParseOptions(
                    delimiter=text.delimiter or NEVER, newlines_in_values=b'"' in text.data
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types=dict(zip(names, types, strict=True)),
                    null_values=[],
                    strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error) or block == longest:
                raise
        else:
            return tuple(table.columns)
    return ()  # pragma: no cover  # the last block returns or raises


def _explain(text: _Text, error: pa.ArrowInvalid) -> InputError:
    """Return the sentence for a file that the parser refused: the first line of another width."""
    for line, cells in text.records():
        if len(cells) != text.width:
            first = "the header" if text.header is not None else "the first line"
            got = f"{len(cells)} column{'s' if len(cells) != 1 else ''}"
            hint = "; is a quote not closed there?" if any("\n" in cell for cell in cells) else ""
            return InputError(f"{text.source}, line {line} has {got} but {first} has {text.width}{hint}")
    return InputError(f"{text.source} cannot be read as delimited text: {first_line(error)}")
