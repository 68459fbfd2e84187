"""Where tables may be written; a command asks this before it imports anything heavy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from unseen.data.files import STANDARD, AnyPath, refuse_overwriting, require_writable
from unseen.data.opened import data_suffix
from unseen.errors import InputError

TEXT = (".csv", ".tsv")
DATABASES, NETWORK = (".db", ".sqlite", ".sqlite3", ".duckdb"), ".graphml"
SUFFIXES = (".parquet", *TEXT, ".json")
PREDICTIONS = (".parquet", *TEXT, *DATABASES, NETWORK, ".json")
"""Suffixes of tables, and of those with a row for every node."""


def check_target(path: AnyPath, inputs: Iterable[object] = (), suffixes: Sequence[str] = SUFFIXES) -> None:
    """Raise the error that writing `path` would end in, before any work is done; `inputs` are files to be read."""
    suffix = target_suffix(path)
    if suffix not in suffixes:
        msg = f"{path}: the suffix {suffix or '(none)'!r} is unknown; use {', '.join(suffixes[:-1])} or .json"
        raise InputError(msg)
    if str(path).lower().endswith(".gz") and suffix not in TEXT:
        msg = f"{path}: only text is written as .gz (.csv.gz, .tsv.gz); leave out the .gz"
        raise InputError(msg)
    if suffix in DATABASES:  # a table is added, even to a database that is read
        from unseen.data.write_nodes import is_duckdb

        is_duckdb(Path(path))  # or neither, which is an error
    else:
        refuse_overwriting(path, inputs)
    require_writable(path)


def target_suffix(path: AnyPath) -> str:
    """Return the suffix that decides on the format of a table; the standard output gets csv."""
    return ".csv" if str(path) == STANDARD else data_suffix(Path(path))
