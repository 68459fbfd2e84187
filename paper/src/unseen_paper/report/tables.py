"""Tables of text cells, as plain text or Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unseen.cli.output import align_table
from unseen.errors import unknown_name

STYLES = ("text", "markdown")


def render(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, style: str = "text", left: int = 1
) -> str:
    """Return the table in one of the styles ``text`` and ``markdown``.

    The first `left` columns are words, the others numbers. A number that starts and ends with ``*`` is the best of its
    row, and bold in Markdown.

    Examples
    --------
    >>> print(render(["method", "F1"], [["rect", "*.750*"], ["gcn", ".600"]]), end="")
    method      F1
    rect    *.750*
    gcn       .600
    """
    if style not in STYLES:
        raise unknown_name("style", style, STYLES)
    # a line break would end the row
    words = [[" ".join(cell.split()) for cell in row] for row in [header, *rows]]
    if style == "text":
        return align_table(words[0], words[1:], left=left)
    rule = ["---" if k < left else "---:" for k in range(len(header))]
    body = [
        [_escape_words(c) if k < left else _escape_bars(_bold(c)) for k, c in enumerate(row)]
        for row in words[1:]
    ]
    lines = [[_escape_bars(name) for name in words[0]], rule, *body]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines)


def _bold(cell: str) -> str:
    marked = len(cell) > 2 and cell.startswith("*") and cell.endswith("*")
    return f"**{cell[1:-1]}**" if marked else cell


def _escape_bars(cell: str) -> str:
    return cell.replace("|", "\\|")


def _escape_words(cell: str) -> str:
    """Escape what Markdown or HTML would read as more than a letter; an underscore within a word is not."""
    escaped = _escape_bars("".join(f"\\{c}" if c in "\\`*[]<>" else c for c in cell))
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", escaped)
