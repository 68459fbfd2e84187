"""Tables of text cells in the formats people paste: plain text, Markdown, csv, LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from unseen.errors import unknown_name

Rows = Sequence[Sequence[str]]


def render(header: Sequence[str], rows: Rows, *, style: str = "text", left: int = 1) -> str:
    """Return the table in one of the styles ``text``, ``markdown``, ``csv``, ``latex``.

    The first `left` columns are words, the others numbers. A cell that starts and ends with ``*`` is the
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
    return STYLES[style](header, rows, left)


def _text(header: Sequence[str], rows: Rows, left: int) -> str:
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    lines = []
    for row in [header, *rows]:
        cells = [
            c.ljust(w) if k < left else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _markdown(header: Sequence[str], rows: Rows, left: int) -> str:
    rule = ["---" if k < left else "---:" for k in range(len(header))]
    body = [[_bold(cell.replace("|", "\\|"), "**", "**") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in [header, rule, *body])


def _csv(header: Sequence[str], rows: Rows, left: int) -> str:  # noqa: ARG001
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *[[_bold(cell, "", "") for cell in row] for row in rows]])
    return text.getvalue()


def _latex(header: Sequence[str], rows: Rows, left: int) -> str:
    columns = "l" * left + "r" * (len(header) - left)
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\hline", _latex_row(header), "\\hline"]
    lines += [_latex_row(row) for row in rows]
    return "\n".join([*lines, "\\hline", "\\end{tabular}"]) + "\n"


def _latex_row(row: Sequence[str]) -> str:
    special = {c: f"\\{c}" for c in "&%$#_{}"} | {
        "\\": "\\textbackslash{}",
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
    }
    cells = []
    for cell in row:
        inner = _bold(cell, "", "")
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
