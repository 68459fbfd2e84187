"""From whole lines of text to columns of cells: delimiters, comments, quotes, blanks and pyarrow's parser.

Line numbers stay those of the file, because comments are emptied, not removed; the slow look for the line at fault is
taken only once something is wrong.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from unseen.data.names import has_known_names, id_position
from unseen.data.sources import Role
from unseen.data.tables import TextLayout, first_line
from unseen.errors import InputError, counted

BLANK = " "
"""The delimiter that stands for any run of blanks and tabs."""
NEVER = "\x1f"
"""A delimiter that no text has, for files of one column."""
_BLANKS = " \t"
_RUN = re.compile(r"[ \t]+")
_BLANK_ALONE = re.compile(r"[^\s,;][ \t]+[^\s,;]")
"""A blank between two cells, not one after a comma or a semicolon."""
_QUOTED_CELL = re.compile(r'"[^"]*"?')


def split_line(line: str, delimiter: str | None) -> list[str]:
    """Return the cells of one line, to count them and to compare their names."""
    if delimiter == BLANK:
        line = line.strip(_BLANKS).replace("\t", BLANK)
    pieces = [piece + "\n" for piece in line.split("\n")]  # only a line feed ends a line
    try:
        cells = next(csv.reader(pieces, delimiter=delimiter or NEVER, skipinitialspace=True), [])
    except csv.Error:  # a cell beyond the csv module's limit: not a header, and not quoted
        cells = line.split(delimiter)
    return [cell.strip(_BLANKS) for cell in cells]


def sniff_delimiter(lines: Sequence[str], suffix: str, source: str, role: Role) -> str | None:
    """Return the delimiter of the first `lines` of a file, or None where they have one column.

    A delimiter under which the first line has known names wins; then one that splits every line into the same number
    of cells; then the one most lines have, so that the odd line can be named.

    Parameters
    ----------
    lines : sequence of str
        The first lines that are not comments.
    suffix : str
        That of the file; commas come first in ``.csv``, and blanks in ``.edgelist``, as networkx writes it.
    source : str
        What messages call the file.
    role : str
        What it is read as; in a list of nodes blanks belong to the ids.
    """
    blanks = role not in ("nodes", "vectors")
    if blanks and suffix == ".edgelist" and all(_BLANK_ALONE.search(line) for line in lines):
        return BLANK
    candidates = [",", "\t", ";"] if suffix == ".csv" else ["\t", ",", ";"]
    if blanks:
        candidates.append(BLANK)
    others = any(sign in lines[0] for sign in candidates if sign != BLANK)
    for delimiter in candidates[: -1 if others and blanks else None]:
        cells = split_line(lines[0], delimiter)
        if len(cells) > 1 and has_known_names(role, cells):
            return delimiter
    counts = {d: [count_delimiter(line.strip(" "), d) for line in lines] for d in candidates}
    even = [d for d in candidates if counts[d][0] and len(set(counts[d])) == 1]
    if even[:1] == [","] and ";" in even:
        msg = (
            f"the columns of {source} may be separated by ',' or by ';'; say which with delimiter=... "
            "or begin the file with a header line"
        )
        raise InputError(msg)
    if even:
        return even[0]
    most = max(candidates, key=lambda d: sum(count > 0 for count in counts[d]))
    return most if any(counts[most]) else None


def count_delimiter(line: str, delimiter: str) -> int:
    """Return how often a line has a delimiter outside quotes."""
    line = _QUOTED_CELL.sub("q", line)
    return len(_RUN.findall(line.strip(_BLANKS))) if delimiter == BLANK else line.count(delimiter)


_ARROW_BLOCK = 1 << 22
_END = b"\x1e"
"""The id of a last line of our own: where it does not come back, a quote before it is still open."""
SURE_COMMENT = re.compile(rb"^[ \t]*+#(?:[ \t][^\n]*)?$", re.MULTILINE)
_ANY_HASH = re.compile(rb"^[ \t]*+#[^\n]*", re.MULTILINE)
_QUOTED = rb'"[^"]*+(?:""[^"]*+)*+'
"""A quoted cell, but for the quote that closes it."""


def field_start(delimiter: str | None) -> bytes:
    """Return the pattern of where a cell begins, the blanks before it included."""
    if delimiter == BLANK:
        return rb"(?:^|(?<=[ \t]))"
    blanks = rb"[ ]" if delimiter == "\t" else rb"[ \t]"
    return rb"(?:^|(?<=" + re.escape((delimiter or NEVER).encode()) + rb"))" + blanks + rb"*+"


def record_pattern(field: bytes = rb"(?:^|(?<=[,;\t |]))") -> re.Pattern[bytes]:
    """Return the pattern of a comment, or of a record, where a quoted cell may have line ends.

    `field` is the pattern of where a cell begins; by default, behind any usual delimiter.
    """
    record = rb"(?:" + field + _QUOTED + rb'"|[^\n])*+'
    return re.compile(rb"(?P<comment>" + SURE_COMMENT.pattern + rb")|" + record, re.MULTILINE)


def scan(data: bytes, layout: TextLayout) -> tuple[list[tuple[int, int]], int | None, int | None]:
    """Return the spans of comments, and where the record begins and the quote opens that is open at the end."""
    quoted = rb"(?P<quoted>" + _QUOTED + rb'(?P<close>"?))'
    pattern = re.compile(
        rb"(?P<hash>^[ \t]*+#[^\n]*)|" + field_start(layout.delimiter) + quoted, re.MULTILINE
    )
    comments, at, boundary, done = list[tuple[int, int]](), 0, 0, 0
    while (match := pattern.search(data, at)) is not None:
        boundary = max(boundary, data.rfind(b"\n", done, match.start()) + 1)
        at = done = match.end()
        if match["hash"] is not None:
            if _is_comment(match["hash"], layout):
                comments.append(match.span())
            else:
                at = done = match.start() + match["hash"].index(b"#") + 1
        elif not match["close"]:
            return comments, boundary, match.start("quoted")
    return comments, None, None


def _is_comment(line: bytes, layout: TextLayout) -> bool:
    """Return whether a line that begins with ``#`` is none of the data: a blank follows, or its columns differ."""
    if SURE_COMMENT.match(line):
        return True
    return len(split_line(line.decode("utf-8"), layout.delimiter)) != layout.width


def tidy(data: bytes, delimiter: str | None) -> bytes:
    """Drop the blanks around cells, and make a run of blanks one; what is quoted stays as it is.

    Each pattern begins where a run of blanks does, so that a long run is looked at once.
    """
    blanks = (b" ",) if delimiter == "\t" else (b" ", b"\t")
    mark = (delimiter or NEVER).encode()
    # plain searches first, since most files are tidy and may be large
    if not (mark == b" " and b"\t" in data) and not any(
        blank in (data[:1], data[-1:])
        or any(pair in data for pair in (blank + mark, mark + blank, blank + b"\n", b"\n" + blank))
        for blank in blanks
        if blank in data
    ):
        return data
    blank = b"[" + b"".join(blanks) + b"]"
    edge = rb"^" + blank + rb"++|(?<!" + blank + rb")" + blank + rb"++$"
    if delimiter == BLANK:
        between = blank + rb"++"
    else:
        after = re.escape(mark) + blank + rb"*+"
        between = rb"(?:" + after + rb"|(?<!" + blank + rb")" + blank + rb"++" + after + rb")"
    if b'"' not in data:
        return re.sub(between, mark, re.sub(edge, b"", data, flags=re.MULTILINE))
    quoted = rb"(?:(?P<start>^" + blank + rb"*+)|" + between + rb")(?P<quoted>" + _QUOTED + rb'"?)'
    pattern = re.compile(quoted + rb"|(?P<edge>" + edge + rb")|" + between, re.MULTILINE)

    def replaced(match: re.Match[bytes]) -> bytes:
        lead = mark if match["edge"] is None and match["start"] is None else b""
        return lead + (match["quoted"] or b"")

    return pattern.sub(replaced, data)


def refuse_stray_quotes(data: bytes, delimiter: str | None, source: str, line: int) -> None:
    """Refuse a quoted cell over several lines with text behind it: two stray quotes; `data` begins in `line`."""
    more = rb"[^\n" + re.escape((delimiter or NEVER).encode()) + rb"]"
    pattern = field_start(delimiter) + rb"(?P<quoted>" + _QUOTED + rb'")(?P<more>' + more + rb"?)"
    for match in re.finditer(pattern, data, re.MULTILINE):
        if match["more"] and b"\n" in match["quoted"]:
            opens = line + data.count(b"\n", 0, match.start("quoted"))
            msg = (
                f"{source}, line {opens}: a quote opens there and closes in a later line with more text behind it; "
                "close it where its cell ends, or write a quote inside a quoted cell twice"
            )
            raise InputError(msg)


@dataclass(frozen=True)
class Text:
    """A block of a text file ready for the parser: tidy bytes with the line breaks of the original.

    `before` counts the lines above it, and `comments` those that were emptied.
    """

    source: str
    data: bytes
    layout: TextLayout
    before: int
    comments: int

    @classmethod
    def of(cls, data: bytes, source: str, layout: TextLayout, before: int, *, start: int = 0) -> Text:
        """Return a block ready for the parser, without what is above its `start`; comments become empty lines."""
        before, data = before + data.count(b"\n", 0, start), data[start:]
        spans: list[tuple[int, int]] = []
        if b"#" in data and b'"' in data:  # what is quoted is no comment
            spans = scan(data, layout)[0]
        elif b"#" in data:
            spans = [m.span() for m in _ANY_HASH.finditer(data) if _is_comment(m[0], layout)]
        if spans:
            starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(data)]
            data = b"".join(data[a:b] for a, b in zip(starts, ends, strict=True))
        return cls(source, tidy(data, layout.delimiter), layout, before, len(spans))

    def records(self, most: float = math.inf) -> list[tuple[int, list[str]]]:
        """Return the line number and the cells of each row, of the first ones if there are too many; slow."""
        text = io.StringIO(self.data.decode("utf-8"), newline="")
        quote = '"' if self.layout.quotes else None
        reader = csv.reader(
            text, delimiter=self.layout.delimiter or NEVER, quotechar=quote, quoting=0 if quote else 3
        )
        found: list[tuple[int, list[str]]] = []
        while len(found) < most:
            line = self.before + reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                break
            except csv.Error:  # a cell beyond the csv module's limit
                cells = [""] * self.layout.width
            if cells:
                found.append((line, cells))
        return found

    def place(self, row: int) -> str:
        """Return where a row stands."""
        found = self.records(row + 1)
        return f"{self.source}, line {found[row][0]}" if row < len(found) else f"{self.source}, row {row + 1}"

    def columns(self, role: Role) -> tuple[pa.ChunkedArray, ...] | None:
        """Return the columns, or None where a quote is still open at the end."""
        width, source = self.layout.width, self.source
        if not self.data.strip(b"\n"):
            return tuple(pa.chunked_array([[]], type=pa.large_string()) for _ in range(width))
        if role in ("features", "vectors") and width > 1:
            number = pa.float32() if role == "vectors" else pa.float64()
            node = id_position(self.layout.names or ()) or 0
            try:
                return self._parse([pa.large_string() if k == node else number for k in range(width)], node)
            except pa.ArrowInvalid:
                pass  # some cell is no number: read strings, so that the reader can say which
        try:
            return self._parse([pa.large_string()] * width, 0)
        except pa.ArrowInvalid as error:
            if self.layout.quotes and b'"' in self.data and scan(self.data, self.layout)[1] is not None:
                return None
            reason = f"{source} cannot be read as delimited text: {first_line(error)}"
        for line, cells in self.records():
            if len(cells) != width:
                first = "the header" if self.layout.names is not None else "the first line"
                hint = "; is a quote not closed there?" if any("\n" in cell for cell in cells) else ""
                reason = (
                    f"{source}, line {line} has {counted(len(cells), 'column')} but {first} has {width}{hint}"
                )
                break
        raise InputError(reason)

    def _parse(self, types: list[Any], node: int) -> tuple[pa.ChunkedArray, ...] | None:
        """Return columns of these types, or None where a quote is still open at the end."""
        if not self.layout.quotes or b'"' not in self.data:
            return self._parse_bytes(self.data, types)
        end = [_END if k == node else b"0" for k in range(len(types))]
        mark = (self.layout.delimiter or NEVER).encode()
        columns = self._parse_bytes(self.data + b"\n" + mark.join(end) + b"\n", types)
        rows = len(columns[node]) - 1
        if columns[node][rows].as_py() != _END.decode() or rows < 0:
            return None
        texts = (column for column in columns if column.type == pa.large_string())
        if any(pc.any(pc.match_substring(text, "\n")).as_py() for text in texts):
            refuse_stray_quotes(self.data, self.layout.delimiter, self.source, self.before + 1)
        return tuple(column.slice(0, rows) for column in columns)

    def _parse_bytes(self, data: bytes, types: list[Any]) -> tuple[pa.ChunkedArray, ...]:
        names, block = [str(k) for k in range(len(types))], _ARROW_BLOCK
        while True:
            try:
                table = pa.csv.read_csv(
                    pa.py_buffer(data),
                    read_options=pa.csv.ReadOptions(column_names=names, block_size=block),
                    parse_options=pa.csv.ParseOptions(
                        delimiter=self.layout.delimiter or NEVER,
                        quote_char='"' if self.layout.quotes else False,
                        newlines_in_values=b'"' in data and self.layout.quotes,
                    ),
                    convert_options=pa.csv.ConvertOptions(
                        column_types=dict(zip(names, types, strict=True)),
                        null_values=[],
                        strings_can_be_null=False,
                        check_utf8=False,
                    ),
                )
            except pa.ArrowInvalid as error:
                # the parser refuses a row longer than a block: such a file is read as one block
                longest = min(len(data), 2**31 - 1)
                if "straddl" not in str(error) or block >= longest:
                    raise
                block = longest
                continue
            return tuple(table.columns)
