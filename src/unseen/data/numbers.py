"""Numbers among the features: columns and lists of them, with missing values that are filled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.columns import float_values
from unseen.data.ids import is_string, joined
from unseen.data.options import Missing
from unseen.data.tables import Table
from unseen.errors import InputError, counted, logger
from unseen.ids import MISSING_WORDS, Array, Features, Ints

_NO_VALUE = pa.array(["", "nan", "NaN", "NAN", *MISSING_WORDS], pa.large_string())
_MOST_NAMES = 8


def without_missing_words(column: pa.Array) -> pa.Array:
    """Return a column of text with null in place of cells that are empty or say that a value is missing.

    Examples
    --------
    >>> without_missing_words(pa.array(["1", " ", "NA", "nan"])).to_pylist()
    ['1', None, None, None]
    """
    cells = column.cast(pa.large_string())
    empty = pc.is_in(pc.utf8_trim_whitespace(cells), value_set=_NO_VALUE)
    return pc.if_else(empty, pa.scalar(None, pa.large_string()), cells)


def number_column(table: Table, index: int, what: str, rule: str, kind: Any = None) -> Array:
    """Return a column of numbers with NaN where one is missing.

    The type is float32 where the column has it, `kind` where that is given, and else float64. Raises an error
    with the place of the first cell that is infinite or not a number.
    """
    column = joined(table.columns[index])
    if is_string(column.type):
        column = without_missing_words(column)
    values: Array
    if column.type == pa.float32() and not column.null_count:
        values = column.to_numpy(zero_copy_only=False)
    else:
        only = Table(
            table.source, (pa.chunked_array([column]),), table.names, table.place, table.text, table.first
        )
        values = float_values(only, 0, what)
    if kind is not None:
        with np.errstate(over="ignore"):
            values = values.astype(kind, copy=False)
    bad = np.flatnonzero(np.isinf(values))
    if len(bad):
        msg = f"{table.place(int(bad[0]))}: the {what} is {values[bad[0]]}; {rule}"
        raise InputError(msg)
    return values


def list_rows(table: Table, index: int, what: str, rule: str, kind: Any = None) -> Array:
    """Return a column of lists of numbers as a matrix; a list that is missing is a row of NaN."""
    column = joined(table.columns[index])
    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(~np.isnan(lengths))
    width = int(lengths[rows[0]]) if len(rows) else 0
    odd = rows[lengths[rows] != width]
    if len(odd):
        msg = (
            f"{table.place(int(odd[0]))} has {int(lengths[odd[0]])} numbers where the first row has {width}; "
            "all lists must be equally long"
        )
        raise InputError(msg)
    flat = pa.chunked_array([pc.list_flatten(column)])
    place = lambda k: table.place(int(rows[k // max(width, 1)]))  # noqa: E731
    values = number_column(Table(table.source, (flat,), None, place), 0, what, rule, kind)
    matrix = np.full((len(lengths), width), np.nan, values.dtype)
    matrix[rows] = values.reshape(len(rows), width)
    return matrix


def fill_missing(
    values: Features,
    how: Missing,
    source: str,
    name: Callable[[int], str],
    error: Callable[[int, int], InputError],
    *,
    every: bool = False,
) -> tuple[Features, Ints]:
    """Return numbers without NaN, and the columns that have a value at all; a notice counts what was filled.

    Parameters
    ----------
    values : matrix
        Numbers, and NaN where one is missing.
    how : {"median", "zero", "error"}
        What to put there; the median is that of the column.
    source : str
        What the notice calls the data.
    name : callable
        From the number of a column to its name.
    error : callable
        From the row and column of a missing number to the error about it.
    every : bool
        Keep columns without any value, too: other pieces of the table may have some.
    """
    n, width = values.shape
    if isinstance(values, np.ndarray):
        row, column = np.nonzero(np.isnan(values))
    else:
        coo = sp.coo_array(values)
        row, column = (ends[np.isnan(coo.data)] for ends in coo.coords)
    if not len(row):
        return values, np.arange(width)
    counts = np.bincount(column, minlength=width)
    kept = np.flatnonzero((counts < n) | every)
    partly = kept[counts[kept] > 0]
    if how == "error" and len(partly):
        first = int(np.argmax(np.isin(column, partly)))
        raise error(int(row[first]), int(column[first]))
    fills = np.zeros(width)
    if how == "median":
        part = values[:, partly]
        fills[partly] = np.nanmedian(part if isinstance(part, np.ndarray) else part.toarray(), axis=0)
    values = values.copy()
    values[row, column] = fills[column]
    for k in np.setdiff1d(np.arange(width), kept):
        logger.info("%s: the column %s has no values and is not used", source, name(int(k)))
    if len(partly):
        shown = ", ".join(f"{name(int(k))} ({counts[k]})" for k in partly[:_MOST_NAMES])
        more = f" and {len(partly) - _MOST_NAMES} more" if len(partly) > _MOST_NAMES else ""
        by = "the median of the column" if how == "median" else "0"
        total = counted(int(counts[partly].sum()), "missing number")
        logger.info("%s: %s replaced by %s: %s%s", source, total, by, shown, more)
    return values[:, kept], kept
