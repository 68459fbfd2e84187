"""Label files as text: an answer about a node changes the cells of its rows, and nothing else."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from unseen.data.cells import BLANK, SURE_COMMENT, split_line
from unseen.data.names import find_answer_columns, lower
from unseen.errors import OutputError
from unseen.labels import GROUP, is_unlabelled

_LINE_END = re.compile(r"\r\n|\n|\r")
_PLAIN = re.compile(r"[\w.+/@:|-]+( [\w.+/@:|-]+)*|")
_QUOTED = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"')


class Answer(NamedTuple):
    """What is known about a node: its classes, the status ``skipped``, ``unknown``, ``confirmed`` or none.

    `drawn` is ``random`` or ``score`` where a question was asked about it, `pool` the size of the pool of a random one.

    Examples
    --------
    >>> Answer(("red",), drawn="random", pool=90)
    Answer(labels=('red',), status='', drawn='random', pool=90)
    """

    labels: tuple[str, ...] = ()
    status: str = ""
    drawn: str = ""
    pool: int = 0

    def to_list(self) -> list[object]:
        """Return it for JSON: labels and status, then `drawn` and `pool` where a question was asked."""
        return list(self if self.drawn else self[:2])


class LabelText:
    r"""A label file as text, of which answers change cells and nothing else.

    Parameters
    ----------
    data : bytes
        UTF-8, perhaps with a byte-order mark.
    delimiter : str
        What separates the cells; a blank stands for any run of blanks and tabs.
    header : bool
        Whether the first line that is not a comment names the columns.
    node, label : int
        Positions of these columns.
    bar : str
        What separates several labels in a cell.

    Attributes
    ----------
    rows : dict
        The numbers of the rows of each node.
    columns : dict
        The positions of `node` and `label`, and of those of `replaces`, `status`, `drawn` and `pool` that there are.
    width : int
        Number of columns.
    has_header : bool
        Whether it has a header; a file without one gets one with the first column that is added.

    Examples
    --------
    >>> text = LabelText(b"# mine\r\nid;team;age\r\na; red ;7\r\nb;;8", ";", header=True)
    >>> text.set_answer("a", Answer(("blue",)))
    >>> text.set_answer("c", Answer(("red",)))
    >>> text.data()
    b'# mine\r\nid;team;age\r\na; blue ;7\r\nb;;8\r\nc;red;'
    """

    def __init__(
        self, data: bytes, delimiter: str, *, header: bool, node: int = 0, label: int = 1, bar: str = "|"
    ) -> None:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
        self._mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        self._delimiter, self._blanks = delimiter, " " if delimiter == "\t" else " \t"
        ends = re.escape(delimiter if delimiter != BLANK else self._blanks)
        self._pattern = re.compile(
            rf'[{self._blanks}]*+(?P<cell>"[^"]*+(?:""[^"]*+)*+"[^{ends}\r\n]*+|[^{ends}\r\n]*+)'
        )
        match = _LINE_END.search(text)
        self._line_end = match[0] if match else "\n"
        self._is_open = not text.endswith(("\n", "\r"))  # the last line has no end
        text += self._line_end * self._is_open
        self.rows: dict[str, list[int]] = {}
        self.columns, self.width, self._bar = {"node": node, "label": label}, self._find_width(text), bar
        self._lines, self._comments = list[str](), list[str]()
        self._header, self._first, self._new_rows = "", -1, set[int]()
        self.has_header = header
        for record, is_row in self._records(text):
            if is_row and self._first < 0:
                self._first = len(self._lines)
                if header:
                    self._header = record
                    continue
            if is_row:
                self.rows.setdefault(self._cell_of(record, node), []).append(len(self._lines))
            self._lines.append(record)
        self._first = len(self._lines) if self._first < 0 else self._first
        self._names = self._cells(self._header) if header else []
        every = [row for rows in self.rows.values() for row in rows]
        self.columns |= find_answer_columns(
            self._names, lambda k: (self._cells(self._lines[row])[k] for row in every)
        )

    def data(self) -> bytes:
        """Return the file."""
        text = "".join([*self._lines[: self._first], self._header, *self._lines[self._first :]])
        if self._is_open:
            text = text[: -len(self._line_end)]
        return self._mark + text.encode("utf-8")

    def set_answer(self, node: str, answer: Answer, replaces: Sequence[str] = ()) -> None:
        """Make this the answer about a node; `replaces` are labels in other files that it corrects."""
        joins = not self._has_row_per_label  # of the file as it was before the first change
        rows = self.rows.setdefault(node, [])
        cells = [self._cell(row, "label") for row in rows]
        changed, labels = self._change_cells(cells, answer.labels, joins=joins)
        for row, cell, text in zip(rows, cells, changed, strict=True):
            if text != cell:
                self._write(row, "label", text)
        if not rows and not labels and (answer.status or answer.drawn):
            labels = [""]
        labels += [answer.labels[0]] * (len(replaces) - len(rows) - len(labels)) if answer.labels else []
        for label in labels:
            cells = [""] * self.width
            cells[self.columns["node"]], cells[self.columns["label"]] = node, label
            self._new_rows.add(self.append_row(cells))
        is_marked = answer.drawn != GROUP or "drawn" in self.columns  # a group alone adds no column
        self._fill("status", rows, [answer.status])
        self._fill("drawn", rows, [answer.drawn if is_marked else ""])
        self._fill("pool", rows, [str(answer.pool or "")])
        if replaces:
            self._fill("replaces", rows, replaces)
        for row in self._new_rows.intersection(rows):  # what was added here leaves no trace when it is undone
            if not any(self._cell(row, name) for name in self.columns if name != "node"):
                self._lines[row] = ""
                rows.remove(row)
        if not rows:
            del self.rows[node]

    def _change_cells(
        self, cells: list[str], labels: Sequence[str], *, joins: bool
    ) -> tuple[list[str], list[str]]:
        """Return the cells of a node with these labels instead of the present ones, and the labels without a cell.

        `joins` says that several labels of a node stand in one cell.
        """
        before = {part.strip() for cell in cells for part in cell.split(self._bar)}
        new = [label for label in labels if label not in before]
        changed = []
        for cell in cells:
            old = [part for part in cell.split(self._bar) if not is_unlabelled(part)]
            parts = []
            for part in old:
                if part.strip() in labels:
                    parts.append(part)
                elif new:
                    parts.append(part.replace(part.strip(), new.pop(0), 1))
            changed.append(cell if parts == old else self._bar.join(parts))
        for k, cell in enumerate(changed):
            if new and is_unlabelled(cell):
                changed[k] = new.pop(0)
        if new and joins and (changed or len(new) > 1):
            joined = self._bar.join([*changed[-1:], *new])
            return [*changed[:-1], joined] if changed else [], [] if changed else [joined]
        return changed, new

    @cached_property
    def _has_row_per_label(self) -> bool:
        """Whether several labels of a node are several rows, rather than one cell with bars."""
        if any(len(rows) > 1 for rows in self.rows.values()):
            return True
        every = (row for rows in self.rows.values() for row in rows)
        return self.width == len(self.columns) and not any(
            self._bar in self._cell(row, "label") for row in every
        )

    def _fill(self, name: str, rows: Sequence[int], texts: Sequence[str]) -> None:
        """Write the first cells of a column, of which the others are empty; add the column if need be."""
        if name not in self.columns:
            if not any(texts):
                return
            self._add_column(name)
        for k, row in enumerate(rows):
            text = texts[k] if k < len(texts) else ""
            if self._cell(row, name).strip().lower() != text.lower():
                self._write(row, name, text)

    def _find_width(self, text: str) -> int:
        """Return the number of columns: those of the first line that does not begin with ``#``, if there is one."""
        at, width = 0, 0
        while at < len(text):
            line = text[at : _LINE_END.search(text, at).end()]  # type: ignore[union-attr]
            bare = line.strip(" \t\r\n")
            if bare and not bare.startswith("#"):
                return len(self._spans(text, at)[0])
            if bare and not SURE_COMMENT.match(bare.encode()):
                width = width or len(split_line(bare, self._delimiter))
            at += len(line)
        return width

    def _records(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield the lines, as many at once as a quoted cell joins, and whether they are a row or the header."""
        at = 0
        while at < len(text):
            end = _LINE_END.search(text, at).end()  # type: ignore[union-attr]
            bare = text[at:end].strip(" \t\r\n")
            is_row = bool(bare)
            if bare.startswith("#"):
                is_sure = SURE_COMMENT.match(bare.encode())
                is_row = not is_sure and len(split_line(bare, self._delimiter)) == self.width
                if not is_row and not is_sure:
                    self._comments.append(bare)
            if is_row and '"' in bare:
                end = self._spans(text, at)[1]
            yield text[at:end], is_row
            at = end

    def _spans(self, text: str, at: int = 0) -> tuple[list[tuple[int, int]], int]:
        """Return where the cells of a record begin and end, quotes included and blanks not, and where it ends."""
        spans, joins = [], self._delimiter
        while match := self._pattern.match(text, at):
            start, at = match.span("cell")
            if joins == BLANK and start == at:
                break
            spans.append((start, start + len(text[start:at].rstrip(self._blanks))))
            if joins != BLANK:
                if text[at : at + 1] != joins:
                    break
                at += 1
        end = _LINE_END.match(text, at)
        return spans, end.end() if end else at

    def _cells(self, record: str) -> list[str]:
        return [_decode(record[start:end]) for start, end in self._spans(record)[0]]

    def _cell(self, row: int, name: str) -> str:
        return self._cell_of(self._lines[row], self.columns[name])

    def _cell_of(self, record: str, k: int) -> str:
        if '"' in record or self._delimiter == BLANK:
            return self._cells(record)[k]
        return record.split(self._delimiter, k + 1)[k].strip(self._blanks + "\r\n")

    def _write(self, row: int, name: str, text: str) -> None:
        line = self._lines[row]
        start, end = self._spans(line)[0][self.columns[name]]
        cell = self._encode(text, quoted=end - start > 2 and line[start] == '"')
        self._lines[row] = line[:start] + cell + line[end:]

    def append_row(self, cells: Sequence[str]) -> int:
        """Add a row with these cells, and return its number."""
        self._lines.append(self._delimiter.join(map(self._encode, cells)) + self._line_end)
        self.rows.setdefault(cells[self.columns["node"]], []).append(len(self._lines) - 1)
        return len(self._lines) - 1

    def cells(self) -> dict[str, list[str]]:
        """Return the cells of the `columns`, by name."""
        every = sorted(row for rows in self.rows.values() for row in rows)
        cells = [self._cells(self._lines[row]) for row in every]
        return {name: [row[k] for row in cells] for name, k in self.columns.items()}

    def _add_column(self, name: str) -> None:
        for comment in self._comments:
            if len(split_line(comment, self._delimiter)) == self.width + 1:
                msg = (
                    f"cannot add a column {name!r}: the comment {comment[:60]!r} would be read as a row then; write a "
                    "blank behind its #"
                )
                raise OutputError(msg)
        if not self._header:
            self._names = (
                ["node", "label"] if self.columns["node"] < self.columns["label"] else ["label", "node"]
            )
            self._header, self.has_header = self._delimiter.join(self._names) + self._line_end, True
        own = f"unseen_{name}" if name in lower(self._names) else name
        self._header = self._lengthen(self._header, own)
        for row in (row for rows in self.rows.values() for row in rows):
            self._lines[row] = self._lengthen(self._lines[row], "")
        self._names.append(own)
        self.columns[name], self.width = self.width, self.width + 1

    def _lengthen(self, record: str, text: str) -> str:
        """Return a record with one more cell."""
        end = len(record) - len(record.rstrip("\r\n"))
        content = record[: len(record) - end]
        content = content.rstrip(self._blanks) if self._delimiter == BLANK else content
        return content + self._delimiter + self._encode(text) + record[len(record) - end :]

    def _encode(self, text: str, *, quoted: bool = False) -> str:
        """Return a cell, between quotes where a reader could misunderstand it."""
        is_plain = (
            _PLAIN.fullmatch(text) and self._delimiter not in text and (text or self._delimiter != BLANK)
        )
        return text if is_plain and not (quoted and text) else '"' + text.replace('"', '""') + '"'


def _decode(cell: str) -> str:
    """Return what a cell says."""
    match = _QUOTED.match(cell)
    text = cell if match is None else match[1].replace('""', '"') + cell[match.end() :]
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
