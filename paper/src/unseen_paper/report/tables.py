"""Tables of text cells in the formats people paste: plain text, Markdown, csv, LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence

from unseen.cli.output import align_table
from unseen.errors import unknown_name

Rows = Sequence[Sequence[str]]


def render(header: Sequence[str], rows: Rows, *, style: str = "text", left: int = 1) -> str:
    """Return the table in one of the styles ``text``, ``markdown``, ``csv``, ``latex``.

    The first `left` columns are words, the others numbers. A number that starts and ends with ``*`` is the
    best of its row and is set in bold where the style can.

    Examples
    --------
    >>> print(render(["method", "F1"], [["rect", "*.750*"], ["gcn", ".600"]]), end="")
    method      F1
    rect    *.750*
    gcn       .600
    """
    if style not in STYLES:
        raise unknown_name("style", style, STYLES)
    words = [
        [" ".join(cell.split()) for cell in row] for row in [header, *rows]
    ]  # a line break would end the row
    return STYLES[style](words[0], words[1:], left)


def _text(header: Sequence[str], rows: Rows, left: int) -> str:
    return align_table(header, rows, left=left)


def _markdown(header: Sequence[str], rows: Rows, left: int) -> str:
    rule = ["---" if k < left else "---:" for k in range(len(header))]
    body = [
        [_markdown_words(c) if k < left else _bold(_bars(c), "**", "**") for k, c in enumerate(row)]
        for row in rows
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in [[_bars(name) for name in header], rule, *body])


def _bars(cell: str) -> str:
    return cell.replace("|", "\\|")


def _markdown_words(cell: str) -> str:
    """Escape what Markdown or HTML would read as more than a letter; an underscore within a word is not."""
    escaped = _bars("".join(f"\\{c}" if c in "\\`*[]<>" else c for c in cell))
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", escaped)


def _csv(header: Sequence[str], rows: Rows, left: int) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    plain = [[c if k < left else _bold(c, "", "") for k, c in enumerate(row)] for row in rows]
    writer.writerows([header, *plain])
    return text.getvalue()


def _latex(header: Sequence[str], rows: Rows, left: int) -> str:
    columns = "l" * left + "r" * (len(header) - left)
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\hline", _latex_row(header, len(header)), "\\hline"]
    lines += [_latex_row(row, left) for row in rows]
    return "\n".join([*lines, "\\hline", "\\end{tabular}"]) + "\n"


def _latex_row(row: Sequence[str], left: int) -> str:
    special = {c: f"\\{c}" for c in "&%$#_{}"} | {
        "\\": "\\textbackslash{}",
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
        "<": "\\textless{}",
        ">": "\\textgreater{}",
    }
    cells = []
    for k, cell in enumerate(row):
        inner = cell if k < left else _bold(cell, "", "")
        escaped = "".join(special.get(c, c) for c in inner).replace("±", "$\\pm$")
        cells.append(f"\\textbf{{{escaped}}}" if inner != cell else escaped)
    return " & ".join(cells) + " \\\\"


def _bold(cell: str, before: str, after: str) -> str:
    marked = len(cell) > 2 and cell.startswith("*") and cell.endswith("*")
    return f"{before}{cell[1:-1]}{after}" if marked else cell


STYLES: dict[str, Callable[[Sequence[str], Rows, int], str]] = {
    "text": _text,
    "markdown": _markdown,
    "csv": _csv,
    "latex": _latex,
}
