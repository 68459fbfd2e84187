"""Rows of labels, from every layout: one label a row, several with ``|``, lists, class numbers, indicators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.errors import InputError
from unseen.graph import Graph
from unseen.ids import as_ids, match_ids
from unseen.io.columns import HEADER_HINT, LABEL, id_values, listed, node_column, require_ids
from unseen.io.sniff import NEVER, no_header
from unseen.io.tables import Table
from unseen.io.text import read_text
from unseen.labels import Labels


@dataclass(frozen=True)
class LabelRows:
    """Labels as listed: the id of each row, and for each label the row it stands in."""

    ids: pa.Array
    rows: npt.NDArray[np.int64]
    names: pa.Array
    place: Callable[[int], str]
    headless: bool = False


def label_rows(table: Table) -> LabelRows:
    """Return the rows of a table with the columns ``node, label``."""
    node, label = _label_positions(table)
    ids = id_values(table, node, "node")
    rows, names = _split(table.columns[label], table.source)
    return _without_missing(LabelRows(ids, rows, names, table.place, headless=table.names is None))


def _label_positions(table: Table) -> tuple[int, int]:
    node, label, width = node_column(table), table.find(LABEL), len(table.columns)
    if node is not None and label is not None:
        return node, label
    if not table.text:
        msg = f"{table.source} has the columns {listed(table.names or ())}; labels need `node` and `label`"
        raise InputError(msg)
    if width != 2:
        have = "one column" if width == 1 else f"{width} columns"
        msg = (
            f"{table.place(0)} has {have}; labels are `node, label`: "
            "write several labels of a node with | between them or in several rows"
        )
        raise InputError(msg)
    return (1, 0) if node == 1 or label == 0 else (0, 1)


def group_rows(path: Path) -> LabelRows:
    """Return the rows of a ``group.txt``: a node, then all its classes, between blanks or tabs."""
    table = read_text(path, no_header, delimiter=NEVER)
    cells = pc.split_pattern_regex(_joined(table.columns[0]), "[ \t]+")
    offsets = np.asarray(cells.offsets)
    flat = cells.values
    ids = flat.take(pa.array(offsets[:-1]))
    require_ids(ids, table.place, "node")
    rest = np.ones(len(flat), dtype=bool)
    rest[offsets[:-1]] = False
    rows = np.repeat(np.arange(len(ids)), np.diff(offsets))[rest]
    return _without_missing(LabelRows(ids, rows, flat.filter(pa.array(rest)), table.place))


def indicator_rows(matrix: Any, source: str) -> LabelRows:
    """Return the rows of a nodes x classes matrix; classes are the column numbers."""
    coo = sp.coo_array(matrix)
    kept = coo.data != 0
    return LabelRows(
        ids=pa.array(np.arange(coo.shape[0])),
        rows=coo.row[kept].astype(np.int64),
        names=pa.array(coo.col[kept]).cast(pa.large_string()),
        place=lambda row: f"{source}, row {row + 1}",
    )


def vector_rows(values: npt.NDArray[Any], source: str) -> LabelRows:
    """Return the rows of a vector with one class number, or -1 or NaN, a node."""
    column = pa.chunked_array([pa.array(values)])
    rows, names = _split(column, source)
    place = lambda row: f"{source}, row {row + 1}"  # noqa: E731
    return _without_missing(LabelRows(pa.array(np.arange(len(values))), rows, names, place))


def is_group_layout(path: Path) -> bool:
    """Return whether a text file is, by its name, in the layout of the authors' ``group.txt``."""
    return path.name.lower().removesuffix(".gz") == "group.txt"


def to_labels(found: LabelRows, graph: Graph, *, where: str = "the graph") -> Labels:
    """Return the labels for `graph`, which messages call `where`; classes sorted, an unknown id is an error."""
    row_of = match_ids(as_ids(found.ids.to_numpy(zero_copy_only=False)), graph.node_ids)
    strangers = np.flatnonzero(row_of < 0)
    if len(strangers):
        first = int(strangers[0])
        more = f", and {len(strangers)} rows in all name such nodes" if len(strangers) > 1 else ""
        hint = HEADER_HINT if first == 0 and found.headless else ""
        remedy = ", or read the graph with labels=... to make nodes of them" if where == "the graph" else ""
        msg = (
            f"{found.place(first)}: {where} has no node {found.ids[first].as_py()!r}{more}; "
            f"remove such rows{remedy}{hint}"
        )
        raise InputError(msg)
    encoded = found.names.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    position = np.empty(len(names), dtype=np.int64)
    position[order] = np.arange(len(names))
    columns = position[encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)]
    places = (row_of[found.rows], columns)
    indicator = sp.coo_array(
        (np.ones(len(columns), dtype=np.int64), places), shape=(graph.n_nodes, len(names))
    )
    return Labels(indicator.tocsr(), tuple(names[k] for k in order), graph.node_ids)


def _split(column: pa.ChunkedArray, source: str) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """Return for each label in a column its row, and its name."""
    values = _joined(column)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = values.type
    if pa.types.is_string_view(kind) or pa.types.is_string(kind):
        values = values.cast(pa.large_string())
        kind = values.type
    if pa.types.is_large_string(kind):
        several = pc.split_pattern(values, "|")
        return _parents(several), pc.utf8_trim_whitespace(pc.list_flatten(several))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _parents(values), _as_names(pc.list_flatten(values), source)
    return np.arange(len(values)), _as_names(values, source)


def _as_names(values: pa.Array, source: str) -> pa.Array:
    kind = values.type
    if pa.types.is_floating(kind):  # a column of class numbers with gaps arrives as floats
        floats = values.to_numpy(zero_copy_only=False).astype(np.float64)
        names = [None if np.isnan(v) else str(int(v)) if v.is_integer() else str(v) for v in floats.tolist()]
        return pa.array(names, type=pa.large_string())
    if pa.types.is_boolean(kind):
        return pa.array([None if v is None else str(v) for v in values.to_pylist()], type=pa.large_string())
    if pa.types.is_integer(kind) or pa.types.is_null(kind) or pa.types.is_string(kind):
        return values.cast(pa.large_string())
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return values.cast(pa.large_string())
    msg = f"{source}: the labels have the type {kind}; they must be strings, numbers or lists of these"
    raise InputError(msg)


def _without_missing(found: LabelRows) -> LabelRows:
    """Leave out what means "no label": nothing at all, NaN and -1."""
    missing = pc.is_in(pc.utf8_lower(found.names), pa.array(["", "nan", "-1"], type=pa.large_string()))
    kept = np.asarray(pc.and_not(found.names.is_valid(), missing).to_numpy(zero_copy_only=False), dtype=bool)
    return LabelRows(
        found.ids, found.rows[kept], found.names.filter(pa.array(kept)), found.place, found.headless
    )


def _parents(lists: pa.Array) -> npt.NDArray[np.int64]:
    return np.asarray(pc.list_parent_indices(lists).to_numpy(zero_copy_only=False), dtype=np.int64)


def _joined(column: pa.ChunkedArray) -> pa.Array:
    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    return column
