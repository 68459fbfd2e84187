"""The rows of a file of labels: what a user keeps beside node, label and answer stays when answers are written."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from unseen.data.names import ANSWER, LABEL, NODE
from unseen.data.options import Options

DELIMITERS = (",", "\t", ";")


@dataclass(frozen=True)
class Rows:
    """The header and all rows of a file, as texts.

    Attributes
    ----------
    names : list of str
        The header; `node`, `label` and `answer` say which of them is what. A file without answers has none for them.
    rows : list of list of str
        As they stand in the file.
    """

    names: list[str]
    node: int
    label: int
    answer: int | None
    delimiter: str
    rows: list[list[str]]

    def text(self, values: Mapping[str, list[str] | str]) -> str:
        """Return the file with these labels and answers; a row whose node has neither stays if it says anything else.

        Examples
        --------
        >>> rows = Rows(["node", "label", "seen by"], 0, 1, None, ",", [["a", "x", "Eve"], ["b", "", "Bob"]])
        >>> rows.text({"a": ["y"], "c": ["z"]}).split()
        ['node,label,seen', 'by', 'a,y,Eve', 'b,,Bob', 'c,z,']
        """
        answered = self.answer is not None or any(isinstance(value, str) for value in values.values())
        width = len(self.names) + (answered and self.answer is None)
        answer = len(self.names) if self.answer is None else self.answer
        first = {row[self.node]: row for row in reversed(self.rows)}
        same = {(row[self.node], row[self.label]): row for row in reversed(self.rows)}
        lines = [[*self.names, *["answer"] * (width - len(self.names))]]
        for node in dict.fromkeys([*(row[self.node] for row in self.rows), *values]):
            value = values.get(node, [])
            for name in (value or [""]) if isinstance(value, list) else [""]:
                row = same.get((node, name), first.get(node, []))
                line = [*row, *[""] * (width - len(row))]
                line[self.node], line[self.label] = node, name
                if answered:
                    line[answer] = value if isinstance(value, str) else ""
                if any(cell for k, cell in enumerate(line) if k != self.node):
                    lines.append(line)
        return "".join(self.delimiter.join(map(_cell, line)) + "\n" for line in lines)


def read_rows(path: Path, options: Options | None) -> Rows | None:
    """Return the rows of a file whose header names more than node, label and answer, else None."""
    given = options or Options()
    named = [[each.lower()] if each else None for each in (given.node_column, given.label_column)]
    for delimiter in (given.delimiter,) if given.delimiter else DELIMITERS:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names, *rows = [*csv.reader(file, delimiter=delimiter)] or [[]]
        lower = [name.strip().lower() for name in names]
        places = [
            next((lower.index(each) for each in known if each in lower), None)
            for known in (named[0] or NODE, named[1] or LABEL, ANSWER)
        ]
        node, label, answer = places
        if node is not None and label is not None and len(names) > sum(each is not None for each in places):
            whole = [[cell.strip() for cell in row] for row in rows if len(row) == len(names)]
            return Rows(names, node, label, answer, delimiter, whole)
    return None


def _cell(text: str) -> str:
    """Return a cell, between quotes where a reader could misunderstand it."""
    return text if re.fullmatch(r"[\w.+/@:-]+( [\w.+/@:-]+)*|", text) else '"' + text.replace('"', '""') + '"'
