"""Tables of a SQLite or DuckDB database: the one that is named, that is called as its role, or that alone fits it."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from unseen.data.columns import listed
from unseen.data.names import DST, LABEL, SRC, find_ends, id_position, lower
from unseen.data.opened import File
from unseen.data.options import Options
from unseen.data.sources import Batches, Role
from unseen.data.tables import as_column, foreign, from_arrow
from unseen.errors import InputError, need_library

_SQLITE = b"SQLite format 3\0"


def read(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the columns of the table that a role is read from."""
    with foreign(file, "database"), contextlib.closing(_connection(file)) as database:
        listing = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        tables = {name: _columns(database, name) for (name,) in database.execute(listing).fetchall()}
        name = _chosen(file, role, options, tables)
        rows = database.execute(f"SELECT * FROM {_quoted(name)}").fetchall()
        columns = zip(*rows, strict=True) if rows else [()] * len(tables[name])
        table = pa.table([as_column(each) for each in columns], names=tables[name])
        yield from_arrow(table, f"{file.name}, table {name!r}")


def _connection(file: File) -> Any:
    """Return a connection that only reads; DuckDB has SQLite's list of tables, and the same ways."""
    with file.path.open("rb") as content:
        if content.read(len(_SQLITE)) == _SQLITE:
            return sqlite3.connect(f"file:{quote(str(file.path.resolve()))}?mode=ro", uri=True)
    duckdb = need_library("duckdb", file.name, "scale")
    return duckdb.connect(str(file.path), read_only=True)


def _columns(database: Any, name: str) -> list[str]:
    cursor = database.execute(f"SELECT * FROM {_quoted(name)} LIMIT 0")
    return [each[0] for each in cursor.description]


def _chosen(file: File, role: Role, options: Options, tables: dict[str, list[str]]) -> str:
    wanted = options.edges_table if role == "edges" else None
    if wanted is not None and wanted not in tables:
        msg = f"{file.name} has no table {wanted!r} (--edges-table); its tables are {listed(list(tables))}"
        raise InputError(msg)
    if wanted is not None or role in tables:
        return wanted or role
    fitting = [name for name, columns in tables.items() if _fits(role, columns, options)]
    if len(fitting) == 1:
        return fitting[0]
    ask = "; say which with edges_table=... (--edges-table)" if role == "edges" else ""
    several = "several tables that fit" if fitting else "no table that fits"
    msg = (
        f"{file.name} has no table called {role!r}, and {several}; its tables are {listed(list(tables))}{ask}"
    )
    raise InputError(msg)


def _fits(role: Role, columns: list[str], options: Options) -> bool:
    names = set(lower(columns))
    if role == "edges":
        ends = ({*SRC, (options.src or "src").lower()}, {*DST, (options.dst or "dst").lower()})
        return all(names & each for each in ends) or find_ends(columns) is not None
    node = options.node_column in columns or id_position(columns) is not None
    return node and (role != "labels" or bool(names & {*LABEL, (options.label_column or "label").lower()}))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
