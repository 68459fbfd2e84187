"""One column of a batch at a time: ids, numbers, labels; each value is checked here, once, with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.headers import HEADER_HINT
from unseen.data.ids import id_column, is_list, is_string, joined
from unseen.data.names import DST, EDGE_TYPE, LABEL, NODE, NODE_TYPE, PANDAS_INDEX, SRC, WEIGHT
from unseen.data.options import Options
from unseen.data.sources import Role
from unseen.data.tables import Table
from unseen.errors import InputError
from unseen.ids import Floats, Ints
from unseen.labels import MISSING_WORDS

USUAL = {
    "src": SRC,
    "dst": DST,
    "weight": WEIGHT,
    "type": (*EDGE_TYPE, *NODE_TYPE),
    "node": (*NODE, PANDAS_INDEX),
    "label": LABEL,
}
"""What columns are usually called."""
NOT_USED = " (not used)"
"""Ends the name of a column that has the usual name where the user named another."""
_NO_VALUE = ("", "nan", "NaN", "NAN", *MISSING_WORDS)


def id_values(table: Table, index: int, what: str) -> pa.Array:
    """Return a column of ids as Arrow strings or int64, none of them missing."""
    return id_column(table.columns[index], what, table.place, table.source)


def float_values(table: Table, index: int, what: str) -> Floats:
    """Return a column of numbers as float64; what is none is an error that names its place."""
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
    header = HEADER_HINT if row == 0 and table.text and table.names is None else ""
    comma = "; decimals need a point" if "," in str(value) else ""
    msg = f"{table.place(row)}: the {what} is {_short(value)}, which is not a number{comma}{header}"
    raise InputError(msg)


def without_missing_words(column: pa.Array) -> pa.Array:
    """Return a column of text with null in place of cells that are empty or say that a value is missing.

    Examples
    --------
    >>> without_missing_words(pa.array(["1", " ", "NA", "nan"])).to_pylist()
    ['1', None, None, None]
    """
    cells = column.cast(pa.large_string())
    empty = pc.is_in(pc.utf8_trim_whitespace(cells), value_set=pa.array(_NO_VALUE, pa.large_string()))
    return pc.if_else(empty, pa.scalar(None, pa.large_string()), cells)


def name_values(table: Table, index: int, what: str) -> pa.Array:
    """Return a column of names as Arrow strings, none of them empty."""
    column = joined(table.columns[index])
    if not (is_string(column.type) or pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
        msg = f"{table.source}: the {what} has the type {column.type}; it must be text or whole numbers"
        raise InputError(msg)
    names = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    empty = pc.index(pc.fill_null(pc.equal(names, ""), True), pa.scalar(True)).as_py()
    if empty >= 0:
        msg = f"{table.place(empty)}: the {what} is empty; name it"
        raise InputError(msg)
    return names


def label_values(column: pa.ChunkedArray, source: str) -> tuple[Ints, pa.Array]:
    """Return for each label in a column its row, and its name; text holds several with ``|`` between them."""
    values = joined(column)
    kind = values.type
    if is_string(kind):
        several = pc.split_pattern(values.cast(pa.large_string()), "|")
        return _parents(several), pc.utf8_trim_whitespace(pc.list_flatten(several))
    if is_list(kind):
        return _parents(values), _label_names(pc.list_flatten(values), source)
    return np.arange(len(values)), _label_names(values, source)


def _label_names(values: pa.Array, source: str) -> pa.Array:
    kind = values.type
    if pa.types.is_floating(kind):  # a column of class numbers with gaps arrives as floats
        floats = values.to_numpy(zero_copy_only=False).astype(np.float64)
        names = [None if np.isnan(v) else str(int(v)) if v.is_integer() else str(v) for v in floats.tolist()]
        return pa.array(names, type=pa.large_string())
    if pa.types.is_boolean(kind):
        return pa.array([None if v is None else str(v) for v in values.to_pylist()], type=pa.large_string())
    if pa.types.is_integer(kind) or pa.types.is_null(kind) or is_string(kind):
        return values.cast(pa.large_string())
    msg = f"{source}: the labels have the type {kind}; they must be strings, numbers or lists of these"
    raise InputError(msg)


def require_single_rows(ids: pa.Array, table: Table, what: str) -> None:
    """Raise an `InputError` that names the first row whose id stands in a row before it."""
    codes = ids.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first = np.unique(codes, return_index=True)
    if len(first) == len(codes):
        return
    row = int(np.setdiff1d(np.arange(len(codes)), first)[0])
    msg = f"{table.place(row)}: the node {ids[row].as_py()!r} has {what} already; one row per node is allowed"
    raise InputError(msg)


def listed(names: Sequence[Any], most: int = 8) -> str:
    """Return names for a message, the first few of many."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > most else shown or "(none)"


def given_names(role: Role, options: Options) -> dict[str, str]:
    """Return the names that were given for columns of a role, by what they stand for."""
    if role == "edges":
        named = {"src": options.src, "dst": options.dst, "weight": options.weight}
    else:
        named = {"node": options.node_column, "label": options.label_column if role == "labels" else None}
    return {usual: name for usual, name in named.items() if name}


def renamed(table: Table, role: Role, options: Options) -> Table:
    """Return a table whose columns have the usual names where the user gave theirs.

    Another column that has the usual name is called differently then, so that it is not taken.
    """
    names = table.names
    given = {usual: name for usual, name in given_names(role, options).items() if name in (names or ())}
    if names is None or not given:
        return table
    own = list(names)
    for usual, name in given.items():
        for k, other in enumerate(own):
            if other.strip().lower() in USUAL[usual] and names[k] != name:
                own[k] = other + NOT_USED
        own[names.index(name)] = usual
    return replace(table, names=tuple(own))


def _as_floats(column: pa.ChunkedArray) -> Floats:
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    # integers beyond 2**53 round to the nearest float instead of being refused
    floats = column.cast(pa.float64(), safe=is_string(column.type))
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


def _parents(lists: pa.Array) -> Ints:
    return np.asarray(pc.list_parent_indices(lists).to_numpy(zero_copy_only=False), dtype=np.int64)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "...'"


def filled_cells(column: pa.Array | pa.ChunkedArray) -> dict[int, str]:
    """Return the cells that say something, by their row, without blanks at the ends."""
    cells = (cell.strip() if cell else "" for cell in column.cast(pa.large_string()).to_pylist())
    return {row: cell for row, cell in enumerate(cells) if cell}
