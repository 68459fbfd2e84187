"""Writing what was found: nodes as Parquet or text, everything else as JSON; whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.data.files import STANDARD, AnyPath, atomic_path, refuse_overwriting, require_writable
from unseen.data.opened import data_suffix
from unseen.errors import InputError

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.discovery.suggest import Suggestion

DELIMITERS = {".csv": ",", ".tsv": "\t"}
SUFFIXES = (".parquet", *DELIMITERS, ".json")


def check_target(path: AnyPath, inputs: Iterable[object] = ()) -> None:
    """Raise the error that writing `path` would end in, before any work is done; `inputs` are files to be read."""
    suffix = _suffix(path)
    if suffix not in SUFFIXES:
        msg = f"{path}: the suffix {suffix or '(none)'!r} is unknown; use {', '.join(SUFFIXES[:-1])} or .json"
        raise InputError(msg)
    if str(path).lower().endswith(".gz") and suffix not in DELIMITERS:
        msg = f"{path}: only text is written as .gz (.csv.gz, .tsv.gz); leave out the .gz"
        raise InputError(msg)
    refuse_overwriting(path, inputs)
    require_writable(path)


def _suffix(path: AnyPath) -> str:
    return ".csv" if str(path) == STANDARD else data_suffix(Path(path))


def save_discovery(discovery: Discovery, path: AnyPath) -> None:
    """Write the nodes, or for .json everything else with all members of the found classes."""
    _write(path, discovery.nodes, discovery.to_json(every_member=True))


def save_suggestions(suggestions: Sequence[Suggestion], path: AnyPath) -> None:
    """Write suggested nodes, one row each, as JSON or as a table with columns for the answers."""
    import pyarrow as pa

    from unseen.data.labels_file import QUESTION_COLUMNS

    rows = [suggestion.to_dict() for suggestion in suggestions]
    nodes = [row["node"] for row in rows]
    kinds = dict.fromkeys(QUESTION_COLUMNS, pa.string()) | {
        "node": pa.int64() if nodes and isinstance(nodes[0], int) else pa.string(),
        "unseen_probability": pa.float64(),
    }
    columns = {name: pa.array([row.get(name, "") for row in rows], kinds[name]) for name in QUESTION_COLUMNS}
    _write(path, pa.table(columns), rows)


def save_table(table: Any, path: AnyPath) -> None:
    """Write a table as it is, or as a JSON list of its rows."""
    _write(path, table, table.to_pylist())


def _write(path: AnyPath, table: Any, report: Any) -> None:
    """Write the table or, where the suffix is .json, the report."""
    import pyarrow.parquet as pq

    check_target(path)
    suffix = _suffix(path)
    text = io.StringIO()
    if suffix == ".json":
        text.write(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    elif suffix in DELIMITERS:
        writer = csv.writer(text, delimiter=DELIMITERS[suffix], lineterminator="\n")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        writer.writerow(table.column_names)
        writer.writerows(
            [f"{value:.6g}" if isinstance(value, float) else value for value in row] for row in rows
        )
    data = text.getvalue().encode()
    if str(path).lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)  # no time in the header: the same result gives the same bytes
    with atomic_path(path) as temporary:
        if suffix == ".parquet":
            pq.write_table(table, temporary)
        else:
            temporary.write_bytes(data)
