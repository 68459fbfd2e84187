"""Folders of the Open Graph Benchmark: ``edge.csv``, ``num-node-list.csv``, ``node-feat.csv`` and ``node-label.csv``.

The files have no header and no ids, and may end in ``.gz``: row i is node number i, and ``num-node-list`` says how many
there are.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.intake import Data
from unseen.data.opened import NODE_ROWS, File
from unseen.data.read import read
from unseen.data.sources import Options, Role, Source
from unseen.data.tables import MatrixBatch, Table
from unseen.errors import InputError, counted

_FILES: dict[Role, str] = {
    "edges": "edge",
    "features": "node-feat",
    "labels": "node-label",
    "nodes": "num-node-list",
}


def read_folder(folder: Path, options: Options) -> Data:
    """Return the graph of a folder, or of the folder ``raw`` in it, with features and labels where it has them."""
    files: dict[Role, Path] = {}
    for role, name in _FILES.items():
        places = [folder / part / f"{name}.csv{packed}" for part in ("", "raw") for packed in (".gz", "")]
        path = next((each for each in places if each.is_file()), None)
        if path is not None:
            files[role] = path
    if "edges" not in files:
        msg = f"{str(folder)!r} has a {files['nodes'].name} but no {_FILES['edges']}.csv; put it there"
        raise InputError(msg)
    sizes = files["nodes"]
    counts = File(sizes, "nodes", options.max_memory).read().split()
    if len(counts) != 1 or not counts[0].isdigit() or len(counts[0]) > 18:
        msg = f"{str(sizes)!r} must hold one number, the nodes of a single graph, got {len(counts)} entries"
        raise InputError(msg)
    n = int(counts[0])
    File(files["edges"], "edges", options.max_memory).require_room(0, NODE_ROWS * n)
    edges = Table.join(_batches(files["edges"], "edges", options))
    _require_numbers(edges, n, str(sizes))
    edges = replace(edges, nodes=pa.array(np.arange(n)).cast(pa.large_string()))
    others: dict[str, Any] = {
        role: _matrix(files[role], role, n, str(sizes), options)
        for role in ("features", "labels")
        if role in files
    }
    return read(edges, **others, **asdict(replace(options, header=False)))


def _batches(path: Path, role: Role, options: Options) -> list[Any]:
    return list(Source(path, role, replace(options, header=False, delimiter=",")).batches())


def _matrix(path: Path, role: Role, n: int, sizes: str, options: Options) -> MatrixBatch:
    """Return the numbers of a file that has a row for each node."""
    table = Table.join(_batches(path, role, options))
    if table.n_rows != n:
        rows, nodes = counted(table.n_rows, "row"), counted(n, "node")
        msg = f"{str(path)!r} has {rows} and {sizes!r} says {nodes}; they must agree"
        raise InputError(msg)
    try:
        return MatrixBatch(
            table.source, np.column_stack([each.cast(pa.float64()).to_numpy() for each in table.columns])
        )
    except pa.ArrowInvalid as error:
        msg = f"{str(path)!r} holds values that are not numbers: {error}"
        raise InputError(msg) from None


def _require_numbers(edges: Table, n: int, sizes: str) -> None:
    """Refuse edges whose ends are not node numbers below `n`."""
    for column in edges.columns[:2]:
        digits = pc.match_substring_regex(column, "^(0|[1-9][0-9]{0,17})$")
        numbers = pc.if_else(digits, column, str(n)).cast(pa.int64())
        row = pc.index(pc.less(numbers, n), False).as_py()
        if row >= 0:
            node = column[row].as_py()
            msg = f"{edges.place(row)}: {node!r} is not a node; by {sizes!r} they are numbered from 0 to {n - 1}"
            raise InputError(msg)
