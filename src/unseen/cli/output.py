"""What the user sees: notices and progress on stderr, data on stdout."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from unseen.errors import logger

if TYPE_CHECKING:
    from collections.abc import Callable


class _Stderr(logging.Handler):
    """Writes to whatever stderr is at the moment, so that redirections work."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record))


def say(line: str) -> None:
    """Write one line to stderr."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def set_level(level: int) -> None:
    """Show the package's notices from `level` on."""
    if not any(isinstance(handler, _Stderr) for handler in logger.handlers):
        logger.addHandler(_Stderr())
        logger.propagate = False
    logger.setLevel(level)


def is_verbose() -> bool:
    """Whether -v was given."""
    return logger.level == logging.DEBUG


def print_json(value: Any) -> None:
    """Write `value` to stdout as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Write aligned columns to stdout; the first `left` columns are text, the others numbers."""
    sys.stdout.write(aligned(header, rows, left=left))


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Return a table of text cells in aligned columns, the first `left` of them words, the others numbers.

    Examples
    --------
    >>> print(aligned(["method", "F1"], [["rect", ".750"], ["gcn", ".600"]]), end="")
    method    F1
    rect    .750
    gcn     .600
    """
    # a line break would end the row
    table = [[" ".join(cell.split()) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    lines = []
    for row in table:
        cells = [
            c.ljust(w) if k < left else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None] | None]:
    """Yield a function `(done, total, failed=0)` that moves a bar with time left, None where there is no terminal.

    The time left is that of the mean pace so far: rich's own forgets what is older than half a minute, and runs may
    take longer than that.
    """
    if not sys.stderr.isatty() or logger.level > logging.INFO or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(time_left(task.completed, task.total, task.fields["spent"], task.elapsed))

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TimeLeft(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, failed="", spent=0.0)

        def move(done: int, total: int, failed: int = 0) -> None:
            spent = bar.tasks[task].elapsed
            bar.update(
                task, completed=done, total=total, spent=spent, failed=f"{failed} failed" if failed else ""
            )

        yield move


def time_left(done: float, total: float | None, spent: float, now: float | None) -> str:
    """Return how long the rest takes at the mean pace of the `spent` seconds in which `done` was done.

    Examples
    --------
    >>> time_left(2, 6, spent=100, now=130)
    '0:02:50 left'
    >>> time_left(0, 6, spent=0, now=5)
    ''
    """
    if not done or not total or done >= total:
        return ""
    left = spent / done * (total - done) - ((now or spent) - spent)
    return f"{timedelta(seconds=round(max(left, 0)))} left"
