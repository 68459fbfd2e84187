"""A class for every node, written where the nodes came from: a table of a database, or attributes of a network."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa

from unseen.data.databases import RESULTS
from unseen.data.files import atomic_path
from unseen.data.networks import parse_network
from unseen.data.objects import is_networkx, to_networkx
from unseen.data.opened import File, data_suffix
from unseen.data.tables import first_line
from unseen.errors import InputError, OutputError, need_library
from unseen.graph import Graph

ATTRIBUTES = {name: f"unseen_{name}" for name in ("class", "probability", "status")}
"""Columns of the table, and what node attributes are called."""


def write_database(path: Path, table: pa.Table) -> None:
    """Write the table `RESULTS` into a database, whose other tables stay; a new file is whole or not there.

    Examples
    --------
    >>> import pathlib, sqlite3, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "shop.db"
    >>> write_database(path, pa.table({"node": ["a"], "class": ["new-1"]}))
    >>> sqlite3.connect(path).execute("SELECT * FROM unseen_predictions").fetchall()
    [('a', 'new-1')]
    """
    library: Any = need_library("duckdb", str(path), "scale") if is_duckdb(path) else sqlite3
    with contextlib.nullcontext(path) if path.exists() else atomic_path(path) as file:
        try:
            if library is not sqlite3 and file.exists() and not file.stat().st_size:
                file.unlink()  # DuckDB refuses an empty file
            with contextlib.closing(library.connect(str(file))) as connection:
                if library is not sqlite3:
                    connection.register("predictions", table)
                    connection.execute(f"CREATE OR REPLACE TABLE {RESULTS} AS SELECT * FROM predictions")
                else:
                    _fill_sqlite(connection, table)
        except (library.Error, OSError, RuntimeError) as error:
            msg = f"cannot write the table {RESULTS!r} into {path}: {first_line(error)}"
            raise OutputError(msg) from error


def is_duckdb(path: Path) -> bool:
    """Return whether a database is DuckDB's and not SQLite's: by its first bytes, where there is none by its suffix."""
    if not path.exists() or not path.stat().st_size:
        duckdb = data_suffix(path) == ".duckdb"
    else:
        with path.open("rb") as file:
            start = file.read(16)
        duckdb = start[8:12] == b"DUCK"
        if not duckdb and start != b"SQLite format 3\0":
            msg = f"cannot write {path}: it is neither a SQLite nor a DuckDB database; choose another name"
            raise OutputError(msg)
    if duckdb:
        need_library("duckdb", str(path), "scale")
    return duckdb


def _fill_sqlite(connection: sqlite3.Connection, table: pa.Table) -> None:
    kinds = dict.fromkeys(table.column_names, "TEXT")
    for field in table.schema:
        if pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
            kinds[field.name] = "INTEGER" if pa.types.is_integer(field.type) else "REAL"
    columns = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    connection.isolation_level = None
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"DROP TABLE IF EXISTS {RESULTS}")
    connection.execute(f"CREATE TABLE {RESULTS} ({columns})")
    connection.executemany(f"INSERT INTO {RESULTS} VALUES ({', '.join('?' * len(kinds))})", rows)
    connection.execute("COMMIT")


def set_attributes(network: Any, table: pa.Table) -> None:
    """Set the columns of the table as attributes of the nodes of a networkx graph.

    Examples
    --------
    >>> import networkx
    >>> network = networkx.path_graph(2)
    >>> set_attributes(network, pa.table({"node": [1], "class": ["new-1"], "status": ["candidate"]}))
    >>> network.nodes[1]
    {'unseen_class': 'new-1', 'unseen_status': 'candidate'}
    """
    name_of = {str(node): node for node in network.nodes}
    for row in table.to_pylist():
        node = name_of.get(str(row.pop("node")))
        if node is None:
            msg = "the networkx graph lacks nodes of the predictions; give the graph that they were made from"
            raise InputError(msg)
        known = {ATTRIBUTES[key]: value for key, value in row.items() if value is not None}
        network.nodes[node].update(known)


def write_network(path: Path, table: pa.Table, graph: Any) -> None:
    """Write a graph as GraphML with the columns of the table as attributes of its nodes.

    `graph` is a networkx graph or the path of a network, whose own attributes are kept, or a `Graph`.
    """
    networkx = need_library("networkx", str(path), "formats")
    if isinstance(graph, Path):
        network = parse_network(File(graph, "edges"))
    elif is_networkx(graph):
        network = graph.copy()
    elif isinstance(graph, Graph):
        network = to_networkx(graph, features=None)
    else:
        msg = f"{path} holds the edges, too: give the graph that the predictions were made from"
        raise InputError(msg)
    set_attributes(network, table)
    with atomic_path(path) as temporary:
        try:
            networkx.write_graphml(network, str(temporary))
        except networkx.NetworkXError as error:
            msg = f"cannot write {path}: {error}; remove that attribute, or choose .csv, .parquet or .db"
            raise OutputError(msg) from error
