"""Small csv files of results, written whole or not at all, and the lock of the folder they are in."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from unseen.data.files import AnyPath, atomic_path, explain_errors
from unseen.errors import InputError


def write_csv(rows: Sequence[Mapping[str, object]], path: AnyPath) -> None:
    r"""Write rows of equal keys as csv, whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "table.csv"
    ...     write_csv([{"method": "rect", "splits": 15}], target)
    ...     target.read_text()
    'method,splits\nrect,15\n'
    """
    with atomic_path(path) as temporary:
        temporary.write_text(csv_text(list(rows[0]), rows), encoding="utf-8", newline="")


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    r"""Return rows as csv, also if there are none.

    Examples
    --------
    >>> csv_text(["method", "splits"], [])
    'method,splits\n'
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_csv(path: AnyPath, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read back a csv of this package, which has these columns; with others, or half a row, it is refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "table.csv"
    ...     write_csv([{"method": "rect", "splits": 15}], target)
    ...     read_csv(target, ["splits"])
    [{'method': 'rect', 'splits': '15'}]
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        msg = f"{path} is not a csv file of this package ({error}); move it away to start anew"
        raise InputError(msg) from None
    for number, row in enumerate(rows, start=1):
        if not row.keys() >= set(columns) or None in row or None in row.values():
            msg = f"{path}, row {number}: expected the columns {', '.join(columns)}; move the file away to start anew"
            raise InputError(msg)
    return rows


@contextlib.contextmanager
def locked(folder: AnyPath) -> Iterator[None]:
    """Keep other processes that ask for the same folder waiting; where a system cannot, nothing is kept.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(folder):
    ...     pass
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with explain_errors(Path(folder)):
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
