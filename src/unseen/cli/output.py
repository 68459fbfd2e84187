"""What the user sees: notices and progress on stderr, data on stdout."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from unseen.errors import logger
from unseen.report.tables import render

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
    sys.stdout.write(render(header, rows, left=left))


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None] | None]:
    """Yield a function `(done, total, failed=0)` that moves a bar with time left, None where there is no terminal."""
    if not sys.stderr.isatty() or logger.level > logging.INFO or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[failed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, failed="")

        def move(done: int, total: int, failed: int = 0) -> None:
            bar.update(task, completed=done, total=total, failed=f"{failed} failed" if failed else "")

        yield move
