"""Label files as text: an answer about a node changes the cells of its rows, and nothing else."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from unseen.data.cells import BLANK, SURE_COMMENT
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
        Number of columns; a file without a header gets one with the first column that is added.

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
        self._mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        text = data.removeprefix(self._mark).decode("utf-8")
        self._delimiter, self._bar, self._new_rows = delimiter, bar, set[int]()
        blank = "[ ]" if delimiter == "\t" else "[ \t]"
        ends = " \t" if delimiter == BLANK else re.escape(delimiter)
        before = f"(?:(?<!{blank}){blank}++)?"  # so that a long run of blanks is looked at once
        between = f"{blank}++" if delimiter == BLANK else f"{before}{ends}{blank}*+"
        self._lead = re.compile(f"{blank}*+")
        self._cell = re.compile(
            rf'("[^"]*+(?:""[^"]*+)*+"[^{ends}\r\n]*?|[^{ends}\r\n]*?)({before}(?:\r\n|[\n\r])|{between})'
        )
        match = _LINE_END.search(text)
        self._line_end = match[0] if match else "\n"
        self._is_open = not text.endswith(("\n", "\r"))  # the last line has no end
        self._lines = list(self._records(text + self._line_end * self._is_open))
        lines = [pieces for pieces in self._lines if len(pieces) > 1]
        data_lines = [pieces for pieces in lines if not pieces[1].startswith("#")]
        width = len((data_lines or lines or [[]])[0]) // 2

        def is_row(pieces: list[str]) -> bool:  # other lines that begin with # are comments
            return len(pieces) > 1 and (not pieces[1].startswith("#") or len(pieces) // 2 == width)

        self._comments = [pieces for pieces in lines if not is_row(pieces)]
        rows = [k for k, pieces in enumerate(self._lines) if is_row(pieces)]
        self._header = rows[0] if rows else len(self._lines)
        if header and rows:
            rows = rows[1:]
        else:  # a place for one that may come
            self._lines.insert(self._header, [])
            rows = [row + 1 for row in rows]
        self.rows: dict[str, list[int]] = {}
        for row in rows:
            self.rows.setdefault(_decode(self._lines[row][2 * node + 1]), []).append(row)
        self.columns, self.width = {"node": node, "label": label}, width
        names = map(_decode, self._lines[self._header][1::2])
        self.columns |= find_answer_columns(
            list(names), lambda k: (_decode(self._lines[row][2 * k + 1]) for row in rows)
        )

    @property
    def has_header(self) -> bool:
        """Whether it has a header."""
        return bool(self._lines[self._header])

    @property
    def _every_row(self) -> list[int]:
        return sorted(row for rows in self.rows.values() for row in rows)

    def data(self) -> bytes:
        """Return the file."""
        text = "".join(chain.from_iterable(self._lines))
        if self._is_open:
            text = text[: -len(self._line_end)]
        return self._mark + text.encode("utf-8")

    def set_answer(self, node: str, answer: Answer, replaces: Sequence[str] = ()) -> None:
        """Make this the answer about a node; `replaces` are labels in other files that it corrects."""
        joins = not self._has_row_per_label  # of the file as it was before the first change
        rows = self.rows.setdefault(node, [])
        cells = [self._text(row, "label") for row in rows]
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
            if not any(self._text(row, name) for name in self.columns if name != "node"):
                self._lines[row] = []
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
        return self.width == len(self.columns) and not any(
            self._bar in self._text(row, "label") for row in self._every_row
        )

    def _fill(self, name: str, rows: Sequence[int], texts: Sequence[str]) -> None:
        """Write the first cells of a column, of which the others are empty; add the column if need be."""
        if name not in self.columns:
            if not any(texts):
                return
            self._add_column(name)
        for k, row in enumerate(rows):
            text = texts[k] if k < len(texts) else ""
            if self._text(row, name).strip().lower() != text.lower():
                self._write(row, name, text)

    def _records(self, text: str) -> Iterator[list[str]]:
        """Yield each line, or the lines that a quoted cell joins, in pieces: cells have odd numbers."""
        at = 0
        while at < len(text):
            end = _LINE_END.search(text, at).end()  # type: ignore[union-attr]
            line = text[at:end]
            if not line.strip(" \t\r\n") or SURE_COMMENT.match(line.strip("\r\n").encode()):
                yield [line]
                at = end
                continue
            lead = self._lead.match(text, at)
            pieces = [lead[0]] if lead else [""]
            at += len(pieces[0])
            while not pieces[-1].endswith(("\n", "\r")):
                match = self._cell.match(text, at)
                pieces += match.groups()  # type: ignore[union-attr]
                at = match.end()  # type: ignore[union-attr]
            yield pieces

    def _text(self, row: int, name: str) -> str:
        return _decode(self._lines[row][2 * self.columns[name] + 1])

    def _write(self, row: int, name: str, text: str) -> None:
        at = 2 * self.columns[name] + 1
        before = self._lines[row][at]
        self._lines[row][at] = self._encode(text, quoted=len(before) > 2 and before[0] == '"')

    def append_row(self, cells: Sequence[str]) -> int:
        """Add a row with these cells, and return its number."""
        pieces = [""]
        for cell in cells:
            pieces += [self._encode(cell), self._delimiter]
        self._lines.append([*pieces[:-1], self._line_end])
        self.rows.setdefault(cells[self.columns["node"]], []).append(len(self._lines) - 1)
        return len(self._lines) - 1

    def cells(self) -> dict[str, list[str]]:
        """Return the cells of the `columns`, by name."""
        return {name: [self._text(row, name) for row in self._every_row] for name in self.columns}

    def _add_column(self, name: str) -> None:
        for comment in self._comments:
            if len(comment) // 2 == self.width + 1:
                msg = (
                    f"cannot add a column {name!r}: the comment {''.join(comment).strip()[:60]!r} would be read as a "
                    "row then; write a blank behind its #"
                )
                raise OutputError(msg)
        if not self.has_header:
            names = sorted(("node", "label"), key=self.columns.__getitem__)
            self._lines[self._header] = ["", names[0], self._delimiter, names[1], self._line_end]
        names = lower(list(map(_decode, self._lines[self._header][1::2])))
        own = f"unseen_{name}" if name in names else name
        for row, text in [(self._header, own), *((row, "") for row in self._every_row)]:
            *_, last = pieces = self._lines[row]
            end = last.lstrip(" \t")
            blanks = "" if self._delimiter == BLANK else last[: len(last) - len(end)]
            pieces[-1:] = [blanks + self._delimiter, self._encode(text), end]
        self.columns[name], self.width = self.width, self.width + 1

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
