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
from functools import partial
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from unseen.data.names import DST, LABEL, SRC, find_ends, id_position, lower
from unseen.data.opened import WORK_BYTES, File, memory_bound
from unseen.data.sources import Batches, Options, Role
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
        read_table = _read_sqlite if content.read(len(_SQLITE)) == _SQLITE else _read_duckdb
    seconds = SECONDS + SECONDS_PER_MEGABYTE * file.size / 1e6
    last = time.monotonic() + seconds
    with explain_errors(file, "database"):
        try:
            name, table = read_table(
                file, partial(_choose_table, file, role, options), lambda: time.monotonic() > last
            )
        except (TimeoutError, sqlite3.OperationalError):
            if time.monotonic() <= last:
                raise
            msg = f"reading {file.name} took more than {seconds:.0f} s and was stopped; write a .parquet"
            raise InputError(msg) from None
    yield from_arrow(table, f"{file.name}, table {name!r}")


def _read_sqlite(file: File, choose: Callable[..., str], is_late: Callable[[], bool]) -> tuple[str, pa.Table]:
    """Return the table of a SQLite file that is chosen by the columns of all tables, and its name."""
    address = f"file:{quote(str(file.path.resolve()))}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
        connection.set_progress_handler(is_late, _STEPS)
        for setting in ("trusted_schema = off", "query_only = on", "cell_size_check = on"):
            connection.execute(f"PRAGMA {setting}")
        limit = min(memory_bound(file.size, file.max_memory)[0], 2**31 - 1)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limit)
        listing = "SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        pages = dict(connection.execute(listing))  # views and virtual tables have none
        tables = {
            name: [column[1] for column in connection.execute(f"PRAGMA table_xinfo({_quote(name)})")]
            for name, page in pages.items()
            if page
        }
        name = choose(tables, [name for name, page in pages.items() if not page])
        columns, rows, size, checked = tables[name], [], 0, 0
        for row in connection.execute(f"SELECT {', '.join(map(_quote, columns))} FROM {_quote(name)}"):
            rows.append(row)
            size += sum(map(sys.getsizeof, row))
            if size > checked + 1_000_000:
                checked = size
                file.require_room(size // WORK_BYTES + 8 * len(rows) * len(columns), len(rows))
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    return name, pa.table([as_column(each) for each in values], names=columns)


def _read_duckdb(file: File, choose: Callable[..., str], is_late: Callable[[], bool]) -> tuple[str, pa.Table]:
    """Do the same for a DuckDB file; a table outside of the schema ``main`` is ``schema.table``."""
    duckdb = need_library("duckdb", file.name, "scale")
    config = {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "lock_configuration": True,
        "memory_limit": f"{memory_bound(file.size, file.max_memory)[0]}B",
        "threads": 1,
        "arrow_large_buffer_size": True,
    }
    with contextlib.closing(duckdb.connect(str(file.path), read_only=True, config=config)) as connection:

        def rows(query: str, *values: str) -> Any:
            return connection.execute(query, values).fetchall()

        listing = "SELECT {} FROM {} WHERE NOT internal ORDER BY ALL"
        made = {
            name if schema == "main" else f"{schema}.{name}": (f"{_quote(schema)}.{_quote(name)}", sql)
            for schema, name, sql in rows(listing.format("schema_name, table_name, sql", "duckdb_tables()"))
        }
        tables = {}
        for name, (address, _) in made.items():
            empty = connection.execute(f"SELECT * FROM {address} LIMIT 0")
            tables[name] = [column[0] for column in empty.description]
        name = choose(tables, [name for (name,) in rows(listing.format("view_name", "duckdb_views()"))])
        (address, sql), columns = made[name], tables[name]
        if re.search(r"\bGENERATED\s+ALWAYS\b", _QUOTED.sub("", sql), re.IGNORECASE):
            msg = f"{file.name}: the table {name!r} has computed columns, which are not read; store their values"
            raise InputError(msg)
        ((count,),) = rows(f"SELECT count(*) FROM {address}")
        stored = "SELECT coalesce(CAST(stats AS VARCHAR), '') FROM pragma_storage_info(?)"
        facts = " ".join(text for (text,) in rows(stored, address))
        letters = sum(map(int, re.findall(r"'total_string_length': (\d+)", facts)))
        file.require_room(8 * count * len(columns) + letters, count)
        size, batches = 0, []
        try:
            reader = connection.sql(f"SELECT * FROM {address}").to_arrow_reader(_ROWS)
            for batch in reader:
                size += batch.nbytes
                file.require_room(size, count)
                batches.append(batch)
                if is_late():
                    raise TimeoutError
        except duckdb.OutOfMemoryException:
            raise MemoryError from None
        table = pa.Table.from_batches(batches, reader.schema)
    plain = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, is_string, is_list)
    for k, column in enumerate(table.columns):
        if not any(is_plain(column.type) for is_plain in plain):  # decimals, dates, categories
            table = table.set_column(k, columns[k], as_column(column.to_pylist()))
    return name, table


def _choose_table(
    file: File, role: Role, options: Options, tables: dict[str, list[str]], refused: list[str]
) -> str:
    """Return the table that is named, that is called as its role, or that alone fits it."""
    tables = {name: columns for name, columns in tables.items() if name != RESULTS}
    wanted = options.edges_table if role == "edges" else None
    wanted = role if wanted is None and (role in refused or role in tables) else wanted
    if wanted in tables:
        return str(wanted)
    fitting = [name for name, columns in tables.items() if _can_hold(role, columns, options)]
    if wanted is None and len(fitting) == 1:
        return fitting[0]
    problem = f"no table {wanted!r} (--edges-table)"
    if wanted is None:
        problem = (
            f"no table called {role!r}, and {'several tables that fit' if fitting else 'no table that fits'}"
        )
    views = f"; views and virtual tables are not read ({list_names(refused)})" if refused else ""
    ask = "; say which with edges_table=... (--edges-table)" if role == "edges" and wanted is None else ""
    msg = f"{file.name} has {problem}; its tables are {list_names(list(tables))}{views}{ask}"
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
