"""Tables of a SQLite or DuckDB database: the one that is named, that is called as its role, or that alone fits it.

A view or a virtual table runs a query that the file brings, so only tables are read. The connection opens no other
file, and its memory and time are bounded.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from unseen.data.names import DST, LABEL, SRC, find_ends, id_position, lower
from unseen.data.opened import WORK_BYTES, File, memory_bound
from unseen.data.options import Options
from unseen.data.sources import Batches, Role
from unseen.data.tables import as_column, explain_errors, from_arrow, is_list, is_string, list_names
from unseen.errors import InputError, need_library

SECONDS, SECONDS_PER_MEGABYTE = 60, 1
"""Time that the queries of a database may take: a fixed part, and a part for each megabyte of the file."""
_SQLITE = b"SQLite format 3\0"
RESULTS = "unseen_predictions"
"""The table that `unseen predict` writes, which is not read."""
_ROWS = 1 << 14
"""Rows that are read between two looks at the memory."""
_STEPS = 100
"""Steps of SQLite between two looks at the clock."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def read(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the columns of the table that a role is read from."""
    with file.path.open("rb") as content:
        is_sqlite = content.read(len(_SQLITE)) == _SQLITE
    database_type = _Sqlite if is_sqlite else _DuckDB
    seconds = SECONDS + SECONDS_PER_MEGABYTE * file.size / 1e6
    last = time.monotonic() + seconds
    with explain_errors(file, "database"):
        try:
            with contextlib.closing(database_type(file, lambda: time.monotonic() > last)) as database:
                tables = {name: database.columns(name) for name in database.tables if name != RESULTS}
                name = _choose_table(file, role, options, tables, database.refused)
                table = database.read(name, tables[name])
        except (TimeoutError, sqlite3.OperationalError):
            if time.monotonic() <= last:
                raise
            msg = f"reading {file.name} took more than {seconds:.0f} s and was stopped; write a .parquet"
            raise InputError(msg) from None
    yield from_arrow(table, f"{file.name}, table {name!r}")


class _Sqlite:
    """A SQLite file that is only read.

    Attributes
    ----------
    tables, refused : list of str
        Tables with stored rows, and the views and virtual tables, which are not read.
    """

    def __init__(self, file: File, is_late: Callable[[], bool]) -> None:
        self.file = file
        address = f"file:{quote(str(file.path.resolve()))}?mode=ro"
        self.connection = sqlite3.connect(address, uri=True)
        self.connection.set_progress_handler(is_late, _STEPS)
        self.close = self.connection.close
        for setting in ("trusted_schema = off", "query_only = on", "cell_size_check = on"):
            self.connection.execute(f"PRAGMA {setting}")
        limit = min(memory_bound(file.size, file.max_memory)[0], 2**31 - 1)
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limit)
        listing = "SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        pages = dict(self.connection.execute(listing))
        self.tables = [name for name, page in pages.items() if page]
        self.refused = [name for name, page in pages.items() if not page]

    def columns(self, name: str) -> list[str]:
        """Return the names of the columns of a table."""
        rows = self.connection.execute(f"PRAGMA table_xinfo({_quote(name)})")
        return [column[1] for column in rows]

    def read(self, name: str, columns: list[str]) -> pa.Table:
        """Return the rows of a table."""
        names = ", ".join(map(_quote, columns))
        rows, size, checked = [], 0, 0
        for row in self.connection.execute(f"SELECT {names} FROM {_quote(name)}"):
            rows.append(row)
            size += sum(map(sys.getsizeof, row))
            if size > checked + 1_000_000:
                checked = size
                self.file.require_room(size // WORK_BYTES + 8 * len(rows) * len(columns), len(rows))
        values = zip(*rows, strict=True) if rows else [()] * len(columns)
        return pa.table([as_column(each) for each in values], names=columns)


class _DuckDB:
    """A DuckDB file that is only read; see `_Sqlite`. A table outside of the schema ``main`` is ``schema.table``."""

    def __init__(self, file: File, is_late: Callable[[], bool]) -> None:
        duckdb = need_library("duckdb", file.name, "scale")
        self.file, self._errors, self._is_late = file, duckdb, is_late
        config = {
            "enable_external_access": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "lock_configuration": True,
            "memory_limit": f"{memory_bound(file.size, file.max_memory)[0]}B",
            "threads": 1,
            "arrow_large_buffer_size": True,
        }
        self.connection = duckdb.connect(str(file.path), read_only=True, config=config)
        self.close = self.connection.close
        self._sql = {
            name if schema == "main" else f"{schema}.{name}": (f"{_quote(schema)}.{_quote(name)}", sql)
            for schema, name, sql in self._rows("schema_name, table_name, sql", "duckdb_tables()")
        }
        self.tables = list(self._sql)
        self.refused = [name for (name,) in self._rows("view_name", "duckdb_views()")]

    def _rows(self, columns: str, function: str) -> Any:
        query = f"SELECT {columns} FROM {function} WHERE NOT internal ORDER BY ALL"
        return self.connection.execute(query).fetchall()

    def columns(self, name: str) -> list[str]:
        """Return the names of the columns of a table."""
        query = f"SELECT * FROM {self._sql[name][0]} LIMIT 0"
        return [each[0] for each in self.connection.execute(query).description]

    def read(self, name: str, columns: list[str]) -> pa.Table:
        """Return the rows of a table."""
        address, sql = self._sql[name]
        if re.search(r"\bGENERATED\s+ALWAYS\b", _QUOTED.sub("", sql), re.IGNORECASE):
            msg = f"{self.file.name}: the table {name!r} has computed columns, which are not read; store their values"
            raise InputError(msg)
        ((count,),) = self.connection.execute(f"SELECT count(*) FROM {address}").fetchall()
        stored = "SELECT CAST(stats AS VARCHAR) FROM pragma_storage_info(?)"
        facts = " ".join(text or "" for (text,) in self.connection.execute(stored, [address]).fetchall())
        letters = sum(map(int, re.findall(r"'total_string_length': (\d+)", facts)))
        self.file.require_room(8 * count * len(columns) + letters, count)
        size, batches = 0, []
        try:
            reader = self.connection.sql(f"SELECT * FROM {address}").to_arrow_reader(_ROWS)
            for batch in reader:
                size += batch.nbytes
                self.file.require_room(size, count)
                batches.append(batch)
                if self._is_late():
                    raise TimeoutError
        except self._errors.OutOfMemoryException:
            raise MemoryError from None
        table = pa.Table.from_batches(batches, reader.schema)
        plain = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, is_string, is_list)
        for k, column in enumerate(table.columns):
            if not any(is_plain(column.type) for is_plain in plain):  # decimals, dates, categories
                table = table.set_column(k, columns[k], as_column(column.to_pylist()))
        return table


def _choose_table(
    file: File, role: Role, options: Options, tables: dict[str, list[str]], refused: list[str]
) -> str:
    views = f"; views and virtual tables are not read ({list_names(refused)})" if refused else ""
    wanted = options.edges_table if role == "edges" else None
    wanted = role if wanted is None and role in refused else wanted
    if wanted is not None and wanted not in tables:
        msg = f"{file.name} has no table {wanted!r} (--edges-table); its tables are {list_names(list(tables))}{views}"
        raise InputError(msg)
    if wanted is not None or role in tables:
        return wanted or role
    fitting = [name for name, columns in tables.items() if _can_hold(role, columns, options)]
    if len(fitting) == 1:
        return fitting[0]
    ask = "; say which with edges_table=... (--edges-table)" if role == "edges" else ""
    several = "several tables that fit" if fitting else "no table that fits"
    names = list_names(list(tables))
    msg = f"{file.name} has no table called {role!r}, and {several}; its tables are {names}{views}{ask}"
    raise InputError(msg)


def _can_hold(role: Role, columns: list[str], options: Options) -> bool:
    names = set(lower(columns))
    if role == "edges":
        ends = ({*SRC, (options.src or "src").lower()}, {*DST, (options.dst or "dst").lower()})
        return all(names & each for each in ends) or find_ends(columns) is not None
    node = options.node_column in columns or id_position(columns) is not None
    return node and (role != "labels" or bool(names & {*LABEL, (options.label_column or "label").lower()}))


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
