"""Delimited text: csv, tsv and blank-separated files, with or without header, plain or gzip, whole or in pieces.

All cells come out as strings, so that ``007`` stays ``007``. A file comes in blocks of whole lines, of which
:mod:`unseen.data.cells` makes columns; a file read at once is a file of one block.

A first row is a header if the user says so, if it has known names, or if it has text where later rows have numbers.
A row of text above text is data: only known names make it a header, and of labels, features and texts the ids of the
other sources. Each header that nobody announced is named in a notice.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.cells import (
    NEVER,
    Text,
    count_delimiter,
    field_start,
    record_pattern,
    refuse_stray_quotes,
    scan,
    sniff_delimiter,
    split_line,
    tidy,
)
from unseen.data.names import find_ends, has_known_names, has_sure_names, is_count, is_number, is_value, stem
from unseen.data.opened import File
from unseen.data.sources import Batches, Options, Role
from unseen.data.tables import Table, TextLayout, join_chunks
from unseen.errors import InputError, logger

_ATTRIBUTES = re.compile(rb"\{(\}|'[^\n]*\})[ \t]*$", re.MULTILINE)
_WEIGHT = re.compile(rb"'weight': *([^,}\s]+)")
_MISSING = {"", "na", "nan", "n/a", "<na>", "null", "none", "nil", "-", "--", "?", ".", "unknown", "missing"}
_SHAPES = ((re.compile(r"[A-Z]+"), "A"), (re.compile(r"[^\W\dA-Z_]+"), "a"), (re.compile(r"\d+"), "9"))
_SAMPLE = 200
HEAD = 1 << 18
"""Bytes of a file, more where there is no line in them, that settle its delimiter: the same however it is read."""

BLOCK = 1 << 26
"""Bytes of a file that are parsed together, where nobody asks for fewer."""


def read_groups(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:
    """Yield nodes and lists of labels from a ``group.txt``: a node, then its classes, between blanks or tabs."""
    for table in read(file, role, replace(options, header=False), n_bytes, NEVER):
        cells = pc.split_pattern_regex(join_chunks(table.columns[0]), "[ \t]+")
        starts = np.asarray(cells.offsets)[:-1]
        is_label = np.ones(len(cells.values), dtype=bool)
        is_label[starts] = False
        sizes = np.diff(cells.offsets) - 1
        ends = pa.array(np.r_[0, np.cumsum(sizes)], pa.int64())
        lists = pa.LargeListArray.from_arrays(ends, cells.values.filter(pa.array(is_label)))
        columns = pa.chunked_array([cells.values.take(pa.array(starts))]), pa.chunked_array([lists])
        yield replace(table, columns=columns, names=("node", "label"))


def read(
    file: File, role: Role, options: Options, n_bytes: int | None, delimiter: str | None = None
) -> Iterator[Table]:
    """Yield the columns of a text file, whose `delimiter` may be known; the first batch has the layout."""
    layout: TextLayout | None = None
    first, before = True, 0
    parts, size, enough = list[bytes](), 0, 0
    for block, last in _blocks(file, n_bytes):
        if role == "edges" and block.endswith((b"}", b"}\n")):  # a dict, as networkx writes it
            block = _ATTRIBUTES.sub(_find_weight, block)
        parts.append(block)
        size += len(block)
        if size < enough and not last:
            continue
        data, rest = b"".join(parts), b""
        layout = layout or _layout(data, last, file, role, options, delimiter)
        columns = None
        if layout is not None:
            start = layout.start if first else 0
            text = Text.of(data, file.name, layout, before, start=start)
            columns = text.columns(role)
            if columns is None:  # a quote is open at the end: the record goes on in the next block
                _, boundary, quote = scan(data, layout)
                if last:
                    raise _unclosed(file.name, before + data.count(b"\n", 0, quote or data.rfind(b'"')) + 1)
                if boundary and boundary > start:
                    data, rest = data[:boundary], data[boundary:]
                    text = Text.of(data, file.name, layout, before, start=start)
                    columns = text.columns(role)
        if layout is None or columns is None:
            parts, enough = [data], 2 * len(data)  # look again once there is twice as much
            continue
        yield Table(file.name, columns, layout.names, text.place, layout, text.comments)
        first = False
        before += data.count(b"\n")
        parts, size, enough = [rest], len(rest), 2 * len(rest)


def _find_weight(attributes: re.Match[bytes]) -> bytes:
    weight = _WEIGHT.search(attributes[0])
    return b"1" if weight is None else weight[1]


def _unclosed(source: str, line: int) -> InputError:
    msg = (
        f"{source}, line {line}: a quote opens there and is not closed before the file ends; "
        "close it, or write a quote inside a quoted cell twice"
    )
    return InputError(msg)


def _blocks(file: File, n_bytes: int | None) -> Iterator[tuple[bytes, bool]]:
    """Yield whole lines of UTF-8 with plain line ends, about `n_bytes` at a time, and whether they are the last."""
    if n_bytes is None:
        file.require_room(file.size)
    parts: list[bytes] = []
    size, before, start = 0, 0, True
    n_bytes = min(BLOCK, max(file.size + 1, HEAD)) if n_bytes is None else max(16, n_bytes)
    for chunk in file.chunks(n_bytes):
        cut = chunk.rfind(b"\n") + 1
        if not cut or (size + cut < HEAD and start):
            parts.append(chunk)
            size += len(chunk)
            continue
        block = plain(b"".join([*parts, chunk[:cut]]), file.name, before, start=start)
        yield block, False
        before += block.count(b"\n")
        parts, start = [chunk[cut:]], False
    yield plain(b"".join(parts), file.name, before, start=start), True


def plain(data: bytes, source: str, before: int = 0, *, start: bool = True, zeros: bool = False) -> bytes:
    """Return UTF-8 with plain line ends; what is no text is an error that names its line.

    At the `start` of a file a byte-order mark is dropped. `zeros` says that zero bytes may stand in ids.
    """
    if start:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            msg = f"{source} is UTF-16 text; save it as UTF-8"
            raise InputError(msg)
        data = data.removeprefix(codecs.BOM_UTF8)
    if b"\0" in data and not zeros:
        msg = f"{source} is not a text file (it holds zero bytes); a binary format needs its own suffix"
        raise InputError(msg)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        codecs.utf_8_decode(data, "strict", True)
    except UnicodeDecodeError as error:
        line = before + data.count(b"\n", 0, error.start) + 1
        msg = (
            f"{source}, line {line} is not UTF-8 text (byte 0x{data[error.start]:02x}); "
            "save the file as UTF-8, or check that it is a text file at all"
        )
        raise InputError(msg) from None
    return data


def _layout(
    data: bytes, last: bool, file: File, role: Role, options: Options, delimiter: str | None
) -> TextLayout | None:
    """Return the layout of a file by its first lines; None where there are not enough of them yet."""
    size, lines = HEAD, list[tuple[int, int, str]]()
    while not lines:
        if len(data) <= size and not last:
            return None
        cut = data.rfind(b"\n", 0, size) + 1 if len(data) > size else len(data)
        head = data[: cut or (data.find(b"\n", size) + 1) or len(data)]
        records = (
            (each.start(), each.end(), each[0].decode("utf-8").strip(" \t"))
            for each in record_pattern().finditer(head)
            if each["comment"] is None and each[0].strip(b" \t")
        )
        lines = list(islice(records, _SAMPLE + 1))
        if not lines and size >= len(data):
            msg = f"{file.name} is empty; a file without rows needs at least its header line"
            raise InputError(msg)
        size *= 2
    sample = [text for _, _, text in lines if not text.startswith("#")]
    sample = (sample or [text for _, _, text in lines])[:_SAMPLE]
    if delimiter is None:
        delimiter = options.delimiter
        # it was given for the edges; other files have it where it fits
        fits = delimiter is not None and all(count_delimiter(line, delimiter) for line in sample)
        if delimiter is None or (role != "edges" and not fits):
            delimiter = sniff_delimiter(sample, file.suffix, file.name, role)
    width = len(split_line(sample[0], delimiter))
    start = next(
        at for at, _, text in lines if not text.startswith("#") or len(split_line(text, delimiter)) == width
    )
    line = data.count(b"\n", 0, start) + 1
    layout = TextLayout(delimiter, width, start=start, line=line)
    first = record_pattern(field_start(delimiter)).match(data, start)
    end = start if first is None else first.end()
    record = data[start:end].strip(b" \t")
    quote = scan(record, layout)[2]
    if quote is not None:
        if not last:
            return None
        raise _unclosed(file.name, line + record.count(b"\n", 0, quote))
    refuse_stray_quotes(tidy(record, delimiter), delimiter, file.name, line)
    text = Text.of(data[: lines[-1][1]], file.name, layout, 0, start=start)
    rows = [tuple(cells) for _, cells in text.records(_SAMPLE)]
    layout = _with_header(layout, rows, f"{file.name}, line {line}", role, options)
    return layout if layout.names is None else replace(layout, start=end)


def _with_header(
    layout: TextLayout, rows: list[tuple[str, ...]], place: str, role: Role, options: Options
) -> TextLayout:
    """Return the layout with the first of the `rows` as header, or as a row that may be one."""
    first, below = rows[0], rows[1:]
    is_numeric = tuple(holds_only(is_number, below or rows, k) for k in range(len(first)))
    layout = replace(layout, width=len(first), is_numeric=is_numeric)
    if options.header is False:
        return layout
    names = tuple(cell.strip() for cell in first)
    if set(options.column_names(role).values()) & set(names):
        return replace(layout, names=names)
    reason = explain_header(role, first, below)
    if reason is not None:
        return replace(layout, names=names, reason=reason)
    if not options.header:
        return replace(layout, first=names if may_be_header(role, first, below) else None)
    if role != "edges":
        return replace(layout, first=names)
    others = {cell for row in below for cell in row[:2]}
    if others.intersection(first[:2]) or any(map(is_value, first)):
        cells = ", ".join(first)
        why = "its ids occur in other lines" if others.intersection(first[:2]) else "it holds numbers"
        logger.warning("%s (%s) is read as an edge in spite of header=True (--header): %s", place, cells, why)
        return layout
    return replace(layout, names=names, reason="header=True")


def holds_only(test: Callable[[str], bool], rows: Sequence[Sequence[str]], column: int) -> bool:
    """Return whether all cells of a column pass a test, missing ones aside."""
    cells = [row[column] for row in rows if column < len(row)]
    cells = [cell for cell in cells if cell.strip().lower() not in _MISSING]
    return bool(cells) and all(map(test, cells))


def explain_header(role: Role, cells: Sequence[str], rows: Sequence[Sequence[str]]) -> str | None:
    """Return why the first row of a file is a header, or None; `rows` are those below it, or the first of many.

    Names that the documentation asks for need no reason, which is empty then.

    Examples
    --------
    >>> explain_header("edges", ["zig", "zag", "zug"], [["P1", "P2", "3"]])
    'it has text above numbers'
    >>> explain_header("edges", ["u", "v"], [["v", "w"], ["w", "u"]]) is None
    True
    """
    if has_sure_names(role, cells):
        return ""
    n_ids = 2 if role == "edges" else 1
    below = {row[k] for row in rows for k in range(min(n_ids, len(row)))}
    if below.intersection(cell for cell in cells[:n_ids] if cell):
        return None
    if role == "labels" and _has_label_again(cells, rows):
        return None
    if has_known_names(role, cells):
        stems = {stem(cell) for cell in below}
        if not any(stem(cell) in stems for cell in cells[:n_ids] if stem(cell)):
            return "it has known names"
    if role == "edges" and len(cells) > 1 and find_ends(cells[:2], any_stem=True) is not None and below:
        shapes, stems = {_shape(cell) for cell in below}, {stem(cell) for cell in below}
        if not any(_shape(cell) in shapes or stem(cell) in stems for cell in cells[:2]):
            return "its first two cells are one name with two endings"
    named = [cell for cell in cells if is_value(cell)]
    numbered = role in ("features", "vectors") and len(named) == len(cells) - 1 and is_count(named, role)
    if named and not numbered:
        return None
    texts = (k for k, cell in enumerate(cells) if not is_value(cell) and cell.strip().lower() not in _MISSING)
    return "it has text above numbers" if any(holds_only(is_value, rows, k) for k in texts) else None


def may_be_header(role: Role, cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a first row could still be a header where the file alone does not tell."""
    n_ids = 2 if role == "edges" else 1
    fractions = any(is_value(cell) and not cell.strip().isdigit() for cell in cells)
    repeats = role == "labels" and _has_label_again(cells, rows)
    return not any(map(is_value, cells[:n_ids])) and not fractions and not repeats


def _has_label_again(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether another row has one of these labels: the name of a column is not a class."""
    return any(cell and cell in row[k : k + 1] for k, cell in enumerate(cells) if k for row in rows)


def _shape(cell: str) -> str:
    """Return how an id is written: ``a_9`` for ``user_17``, ``A9`` for ``TP53``."""
    for pattern, sign in _SHAPES:
        cell = pattern.sub(sign, cell)
    return cell
