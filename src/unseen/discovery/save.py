"""Writing what was found: nodes as Parquet or text, everything else as JSON; whole or not at all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.data.files import STANDARD, AnyPath, atomic_path, refuse_overwriting, require_writable
from unseen.data.opened import data_suffix
from unseen.errors import InputError

if TYPE_CHECKING:
    from unseen.discovery.suggest import Suggestion

TEXT = (".csv", ".tsv")
DATABASES, NETWORK = (".db", ".sqlite", ".sqlite3", ".duckdb"), ".graphml"
SUFFIXES = (".parquet", *TEXT, ".json")
PREDICTIONS = (".parquet", *TEXT, *DATABASES, NETWORK, ".json")
"""Suffixes of tables, and of those with a row for every node."""


def check_target(path: AnyPath, inputs: Iterable[object] = (), suffixes: Sequence[str] = SUFFIXES) -> None:
    """Raise the error that writing `path` would end in, before any work is done; `inputs` are files to be read."""
    suffix = _suffix(path)
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


def _suffix(path: AnyPath) -> str:
    return ".csv" if str(path) == STANDARD else data_suffix(Path(path))


def save_suggestions(suggestions: Sequence[Suggestion], path: AnyPath) -> None:
    """Write suggested nodes: a table with columns for the answers, or JSON with the tasks of Label Studio."""
    import pyarrow as pa

    from unseen.data.label_studio import make_tasks
    from unseen.data.labels_file import QUESTION_COLUMNS

    rows = [suggestion.to_dict() for suggestion in suggestions]
    nodes = [row["node"] for row in rows]
    kinds = dict.fromkeys(QUESTION_COLUMNS, pa.string()) | {
        "node": pa.int64() if nodes and isinstance(nodes[0], int) else pa.string(),
        "pool": pa.int64(),
        "unseen_probability": pa.float64(),
    }
    columns = {name: pa.array([row.get(name, "") for row in rows], kinds[name]) for name in QUESTION_COLUMNS}
    tasks = make_tasks(rows, getattr(suggestions, "texts", {}), getattr(suggestions, "classes", ()))
    write_result(path, pa.table(columns), tasks)


def write_predictions(target: Any, table: Any, graph: Any = None) -> None:
    """Write the table of predictions: to a file by its suffix, or as attributes of the nodes of a networkx graph."""
    from unseen.data.objects import is_networkx
    from unseen.data.write_nodes import set_attributes, write_database, write_network

    if is_networkx(target):
        set_attributes(target, table)
        return
    check_target(target, suffixes=PREDICTIONS)
    if _suffix(target) in DATABASES:
        write_database(Path(target), table)
    elif _suffix(target) == NETWORK:
        write_network(Path(target), table, graph)
    else:
        write_result(target, table)


def write_result(path: AnyPath, table: Any, report: Any = None) -> None:
    """Write the table or, where the suffix is .json, the report; without one, a list of the table's rows."""
    import pyarrow.parquet as pq

    from unseen.data.writers import text_fill

    check_target(path)
    suffix = _suffix(path)
    text = io.StringIO()
    if suffix == ".json":
        json.dump(table.to_pylist() if report is None else report, text, indent=2, ensure_ascii=False)
        text.write("\n")
    elif suffix in TEXT:
        writer = csv.writer(text, delimiter="," if suffix == ".csv" else "\t", lineterminator="\n")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        writer.writerow(table.column_names)
        writer.writerows(
            [f"{value:.6g}" if isinstance(value, float) else value for value in row] for row in rows
        )
    fill = text_fill(Path(path), [text.getvalue().encode()])
    with atomic_path(path) as temporary:
        if suffix == ".parquet":
            pq.write_table(table, temporary)
        else:
            fill(temporary)
