"""Tables: columns from one source, and how to say where one of their rows stands in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError

_MIXED = re.compile(r"Conversion failed for column (.*) with type object")


@dataclass(frozen=True)
class Table:
    """Columns of equal length, read but not yet understood.

    Parameters
    ----------
    source : str
        What messages call the source: a quoted path, or a parameter in backticks.
    columns : tuple of pyarrow.ChunkedArray
        Strings, for text files; any Arrow type otherwise.
    names : tuple of str, or None
        Column names; None for text without a header.
    place : callable
        From a row number, 0 being the first, to its place: ``'edges.csv', line 3``.
    text : bool
        Whether the columns come from a text file, whose header may be unknown to us.
    told : bool
        Whether the user said if there is a header.
    """

    source: str
    columns: tuple[pa.ChunkedArray, ...]
    names: tuple[str, ...] | None
    place: Callable[[int], str]
    text: bool = False
    told: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows, the header not counted."""
        return len(self.columns[0]) if self.columns else 0

    def find(self, names: Sequence[str]) -> int | None:
        """Return the number of the first column that has one of `names`, in any case, or None."""
        own = [name.strip().lower() for name in self.names or ()]
        return next((own.index(name) for name in names if name in own), None)


def read_parquet(path: Path) -> Table:
    """Return the columns of a Parquet file."""
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        msg = f"{str(path)!r} is not a readable Parquet file: {first_line(error)}"
        raise InputError(msg) from None
    return _from_arrow(table, repr(str(path)))


def read_arrow(source: Any, what: str) -> Table:
    """Return the columns of any object with the Arrow interface: pandas, polars, pyarrow, ...

    Examples
    --------
    >>> read_arrow(pa.table({"src": ["a"], "dst": ["b"]}), "edges").names
    ('src', 'dst')
    """
    try:
        table = source if isinstance(source, pa.Table) else pa.table(source)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        mixed = _MIXED.search(str(error))
        if mixed is not None:
            msg = (
                f"the column {mixed[1]!r} of `{what}` holds values of several types; make them all of one, "
                f"e.g. strings: table[{mixed[1]!r}].astype(str)"
            )
            raise InputError(msg) from None
        msg = f"`{what}` is no table that Arrow can read: {first_line(error)}"
        raise InputError(msg) from None
    return _from_arrow(table, f"`{what}`")


def is_tabular(source: Any) -> bool:
    """Return whether `source` offers its columns through the Arrow interface."""
    return hasattr(source, "__arrow_c_stream__") or isinstance(source, (pa.Table, pa.RecordBatch))


def first_line(error: BaseException) -> str:
    """Return the first line of a foreign error, for the end of one of our sentences."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _from_arrow(table: pa.Table, source: str) -> Table:
    return Table(
        source=source,
        columns=tuple(table.columns),
        names=tuple(str(name) for name in table.column_names),
        place=lambda row: f"{source}, row {row + 1}",
    )
