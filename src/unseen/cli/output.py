"""What the user sees: notices and progress on stderr, data on stdout."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unseen.errors import logger

PARAMETER = re.compile(
    r"`(?P<name>\w+)`(?: of [A-Z]\w*)?(?: \(--[\w-]+\))?"  # `n_components` of RECT, `nodes` (--nodes)
    r"|\b(?P<option>\w+)=[^\s,(]+(?: \((--[\w-]+)\)|, (--[\w-]+))"  # header=True (--header); strict=True, --strict
)
"""How messages of the library name a parameter; what else is in backticks is no parameter and stays as it is."""
_flags: dict[str, str] = {}
DAY = 86_400
"""Seconds over which a bar takes the mean pace; one run may take longer than the half minute that rich looks back."""


class _Stderr(logging.Handler):
    """Writes to whatever stderr is at the moment, so that redirections work; each line once, not once per fold."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        line = translate_flags(self.format(record))
        if line not in self.lines:
            say(line)
        self.lines.add(line)


def say(line: str) -> None:
    """Write one line to stderr."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def set_flags(flags: Mapping[str, str]) -> None:
    """Set what messages call the parameters of the library, e.g. ``--dim`` for ``n_components``."""
    _flags.clear()
    _flags.update(flags)


def translate_flags(message: str) -> str:
    """Return a message of the library in the words of the command line.

    Examples
    --------
    >>> set_flags({"n_components": "--dim"})
    >>> translate_flags("`n_components` of RECT must be an integer of at least 1, got 0")
    '--dim must be an integer of at least 1, got 0'
    >>> set_flags({})
    """

    def translate(match: re.Match[str]) -> str:
        if match["name"] is None:
            return _flags.get(match["option"], match[3] or match[4])
        return _flags.get(match["name"], match[0])

    return PARAMETER.sub(translate, message)


def set_level(level: int) -> None:
    """Show the package's notices from `level` on."""
    others = [handler for handler in logger.handlers if not isinstance(handler, _Stderr)]
    logger.handlers[:] = [*others, _Stderr()]  # a new one, which has said nothing yet
    logger.propagate = False
    logger.setLevel(level)


def log_output(path: Path, what: str = "") -> None:
    """Log where a result was written, unless that is the standard output."""
    if str(path) != "-":
        logger.info("%swritten to %s", what, path)


def print_json(value: Any) -> None:
    """Write `value` to stdout as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def print_table(header: Sequence[str], rows: Iterable[Sequence[Any]], *, left: int = 1) -> None:
    """Write aligned columns to stdout; the first `left` columns are text, the others numbers."""
    sys.stdout.write(align_table(header, rows, left=left))


def align_table(header: Sequence[str], rows: Iterable[Sequence[Any]], *, left: int = 1) -> str:
    """Return a table of cells in aligned columns, the first `left` of them words, the others numbers.

    Decimals have three digits, and None is an empty cell.

    Examples
    --------
    >>> print(align_table(["method", "F1"], [["rect", 0.75], ["gcn", None]]), end="")
    method     F1
    rect    0.750
    gcn
    """
    texts = [
        ["" if cell is None else f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in [header, *rows]
    ]
    # a line break would end the row
    table = [[" ".join(text.split()) for text in row] for row in texts]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        places = enumerate(zip(row, widths, strict=True))
        cells = [text.ljust(width) if k < left else text.rjust(width) for k, (text, width) in places]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None] | None]:
    """Yield a function `(done, total, failed=0)` that moves a bar with time left, None where there is no terminal."""
    if not sys.stderr.isatty() or logger.level > logging.INFO or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    count, left = TextColumn("{task.fields[count]}"), TimeRemainingColumn(elapsed_when_finished=True)
    columns = TextColumn("{task.description}"), BarColumn(), count, TimeElapsedColumn(), left
    terminal = Console(stderr=True)
    with Progress(*columns, console=terminal, transient=True, speed_estimate_period=DAY) as bar:
        task = bar.add_task(what, total=None, count="")

        def move(done: int, total: int, failed: int = 0) -> None:
            shown = f"{done}/{total}" + (f" {failed} failed" if failed else "")
            bar.update(task, completed=done, total=total, count=shown)

        yield move
