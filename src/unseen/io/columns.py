"""From columns to meaning: which column holds the ids, the weight or the features, and is it sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, logger
from unseen.io.tables import Table

SRC, DST, WEIGHT = ("src", "source"), ("dst", "target"), ("weight",)
NODE, LABEL = ("node", "node_id", "id"), ("label", "labels", "class")
PANDAS_INDEX = "__index_level_0__"
FIRST_ONLY = ("nodeid", "ids", "vertex", "name", "key", "word", "index", "")
"""Names of ids in a first column only, since elsewhere they may be words that were counted."""
EDGE_PAIRS = (("from", "to"), ("u", "v"), ("node1", "node2"), ("head", "tail"), ("start", "end"))
"""Further names of the two ends; in text they could be nodes as well."""
HEADER_HINT = "; if this line is a header, say header=True (--header)"
_EDGE_TYPES = ("type", "edge_type", "etype", "relation", "predicate")


@dataclass(frozen=True)
class Edges:
    """The ends and weights of edges as listed, ids as Arrow strings or int64."""

    src: pa.Array
    dst: pa.Array
    weight: npt.NDArray[np.float64] | None


def is_edge_header(cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells name both ends of an edge."""
    return bool(set(SRC) & set(cells) and set(DST) & set(cells))


def edge_pair(cells: Sequence[str]) -> tuple[int, int] | None:
    """Return where these lower-case cells name the two ends by one of the less usual pairs, or None.

    Examples
    --------
    >>> edge_pair(["weight", "from", "to"])
    (1, 2)
    """
    found = next((pair for pair in EDGE_PAIRS if set(pair) <= set(cells)), None)
    return None if found is None else (cells.index(found[0]), cells.index(found[1]))


def is_label_header(cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells name a column of nodes or one of labels."""
    return bool(set(NODE + LABEL) & set(cells))


def is_node_header(cells: Sequence[str]) -> bool:
    """Return whether one of these lower-case cells names a column of nodes."""
    return bool(set(NODE) & set(cells))


def edge_columns(table: Table, *, drop_negative: bool) -> Edges:
    """Return the edges of a table with ``src, dst`` and perhaps ``weight``."""
    src, dst, weight = _edge_positions(table)
    ends = id_values(table, src, "src"), id_values(table, dst, "dst")
    if weight is None:
        return Edges(*ends, None)
    return Edges(*ends, _weights(table, weight, drop_negative=drop_negative))


def _edge_positions(table: Table) -> tuple[int, int, int | None]:
    src, dst, weight = table.find(SRC), table.find(DST), table.find(WEIGHT)
    if src is not None and dst is not None:
        _other_columns(table, {src, dst, weight})
        return src, dst, weight
    pair = edge_pair([name.strip().lower() for name in table.names or ()])
    if pair is not None:
        _other_columns(table, {*pair, weight})
        return *pair, weight
    if table.text:
        return _by_position(table)
    names = table.names or ()
    msg = f"{table.source} has the columns {listed(names)}; edges need `src` and `dst`, `weight` is optional"
    raise InputError(msg)


def _by_position(table: Table) -> tuple[int, int, int | None]:
    width = len(table.columns)
    if width < 2:
        msg = f"{table.place(0)} has one column; an edge needs two, `src` and `dst`"
        raise InputError(msg)
    if width > 3:
        msg = (
            f"{table.place(0)} has {width} columns; edges are `src, dst` and perhaps `weight`: "
            "remove the others, or name these in a header line"
        )
        raise InputError(msg)
    return 0, 1, 2 if width == 3 else None


def _other_columns(table: Table, used: set[int | None]) -> None:
    names = table.names or ()
    others = [k for k in range(len(names)) if k not in used and names[k] != PANDAS_INDEX]
    for k in others:
        if names[k].strip().lower() in _EDGE_TYPES and _has_several_kinds(table.columns[k]):
            msg = (
                f"{table.source} has edges of several kinds in the column {names[k]!r}, and edge types are not "
                "supported yet; keep one kind, or remove the column to treat all edges alike"
            )
            raise InputError(msg)
    if others:
        logger.info("%s: columns not used: %s", table.source, listed([names[k] for k in others]))


def _has_several_kinds(column: pa.ChunkedArray) -> bool:
    try:
        return len(column.unique()) > 1
    except pa.ArrowNotImplementedError:  # lists and structs: no name of a kind
        return False


def _weights(table: Table, index: int, *, drop_negative: bool) -> npt.NDArray[np.float64]:
    weights = float_values(table, index, "weight")
    require_finite(
        weights, lambda row: f"{table.place(row)}: the weight is", "edge weights must be finite numbers"
    )
    negative = np.flatnonzero(weights < 0)
    if len(negative) and not drop_negative:
        row = int(negative[0])
        msg = (
            f"{table.place(row)}: the weight is {weights[row]:g}; negative weights are not supported yet, "
            "leave such edges out with drop_negative=True (--drop-negative)"
        )
        raise InputError(msg)
    return weights


def require_finite(values: npt.NDArray[np.float64], where: Callable[[int], str], rule: str) -> None:
    """Raise an `InputError` that names the first entry that is NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        row = int(bad[0])
        msg = f"{where(row)} {values[row]}; {rule}"
        raise InputError(msg)


def node_ids(table: Table) -> pa.Array:
    """Return the ids of a node list: its column `node`, or its only column."""
    index = node_column(table)
    if index is None and len(table.columns) != 1:
        have = (
            f"has {len(table.columns)} columns"
            if table.names is None
            else f"has the columns {listed(table.names)}"
        )
        msg = f"{table.source} {have}; a node list has one column, or a header that names the column `node`"
        raise InputError(msg)
    return id_values(table, index or 0, "node")


def node_column(table: Table) -> int | None:
    """Return the number of the column that names nodes, or None."""
    return id_position(table.names or ())


def id_position(names: Sequence[str]) -> int | None:
    """Return which of these column names is that of the ids, in any case, or None; pandas' index counts as one.

    Examples
    --------
    >>> id_position(["x", "ID"]), id_position(["word", "x"]), id_position(["x", "word"])
    (1, 0, None)
    """
    own = [name.strip().lower() for name in names]
    known = next((own.index(name) for name in (*NODE, PANDAS_INDEX) if name in own), None)
    return 0 if known is None and own and own[0] in FIRST_ONLY else known


def id_values(table: Table, index: int, what: str) -> pa.Array:
    """Return a column of ids as Arrow strings or int64, none of them missing."""
    column = table.columns[index].combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # what pyarrow returns for several gigabytes, or for no chunk
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        column = column.cast(pa.large_string())
    kind = column.type
    if pa.types.is_integer(kind):
        ids = _as_int64(column, table, what)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        ids = column.cast(pa.large_string())
    else:
        msg = f"{table.source}: the column of `{what}` has the type {kind}; ids must be strings or integers"
        raise InputError(msg)
    require_ids(ids, table.place, what)
    return ids


def require_ids(ids: pa.Array, place: Callable[[int], str], what: str) -> None:
    """Raise an `InputError` that names the first row without an id."""
    missing = ids.is_null() if pa.types.is_integer(ids.type) else pc.fill_null(pc.equal(ids, ""), True)
    row = pc.index(missing, pa.scalar(True)).as_py()
    if row >= 0:
        msg = f"{place(row)}: the id of `{what}` is empty"
        raise InputError(msg)


def _as_int64(column: pa.Array, table: Table, what: str) -> pa.Array:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        msg = f"{table.source}: ids of `{what}` do not fit into 64-bit integers; store them as strings"
        raise InputError(msg) from None


def float_values(table: Table, index: int, what: str) -> npt.NDArray[np.float64]:
    """Return a column as float64, or say which of its rows is no number; missing ones are NaN."""
    column = table.columns[index]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        return _as_floats(column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        row = _first_refused(column)
    if row is None:
        msg = f"{table.source}: the {what} has the type {column.type}; it must be a number"
        raise InputError(msg)
    value = column[row].as_py()
    if value == "":
        msg = f"{table.place(row)}: the {what} is empty; it must be a number"
        raise InputError(msg)
    header = (
        "; if this line is a header, say header=True (--header)" if row == 0 and table.names is None else ""
    )
    comma = "; decimals need a point" if "," in str(value) else ""
    msg = f"{table.place(row)}: the {what} is {_short(value)}, which is not a number{comma}{header}"
    raise InputError(msg)


def _as_floats(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    safe = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    # integers beyond 2**53 round to the nearest float instead of being refused
    floats = column.cast(pa.float64(), safe=safe)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def _first_refused(column: pa.ChunkedArray) -> int | None:
    """Return the first row that keeps a column of strings from being numbers, by bisection."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _as_floats(column.slice(low, middle - low))
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low


def listed(names: Sequence[Any], most: int = 8) -> str:
    """Return names for a message, the first few of many.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b', ... (3 in all)"
    """
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > most else shown or "(none)"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "...'"
