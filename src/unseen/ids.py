"""Node ids: all strings or all int64, joined by string form; names of array types, and what stands for no label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError

IdArray = npt.NDArray[Any]
"""One-dimensional array of ids, dtype ``int64`` or ``object`` (holding ``str``)."""
Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Keys = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
UNLABELLED = ("", "-1", "nan")
"""Texts that stand for no label, whatever their case and the blanks around them."""
MISSING_WORDS = ("NA", "N/A", "<NA>", "None", "null", "NULL")
"""Words that other programs write for a missing value: no label either, and that is said."""


def as_html(value: Any) -> str:
    """Return a value as a notebook shows it, for ``_repr_html_``; a small job does without the module."""
    from unseen.shown import as_html

    return as_html(value)


def as_ids(values: Iterable[Any], *, what: str = "node ids") -> IdArray:
    """Return `values` as a read-only id array, int64 if all are integers, else all strings.

    Strings stay exactly as they are (``007`` is not ``7``); a mix of strings and integers is an
    error, because the two would meet in no file.

    Examples
    --------
    >>> as_ids([3, 1]).dtype
    dtype('int64')
    >>> as_ids(["007", "ü"]).tolist()
    ['007', 'ü']
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        msg = f"{what} must be a list of ids, one per row, got {values!r}"
        raise InputError(msg)
    array = values if isinstance(values, np.ndarray) else _object_array(list(values))
    if array.ndim != 1:
        msg = f"{what} must be one-dimensional, got an array of shape {array.shape}"
        raise InputError(msg)
    # Most come as texts, and there is nothing to look at one by one.
    if array.dtype == object and set(map(type, array)) <= {str}:
        ids = array.copy() if array.flags.writeable else array
    else:
        ids = array.astype(np.int64) if array.dtype.kind == "i" else _from_objects(array.tolist(), what)
    ids.setflags(write=False)
    return ids


def _from_objects(values: list[Any], what: str) -> IdArray:
    if all(isinstance(v, str) for v in values):
        return _object_array([str(v) for v in values])
    integers = [isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values]
    if not all(integers):
        neither = [v for v, ok in zip(values, integers, strict=True) if not ok and not isinstance(v, str)]
        odd = neither[0] if neither else next(v for v in values if not isinstance(v, str))
        msg = f"{what} must be all strings or all integers, found {odd!r} of type {type(odd).__name__}"
        raise InputError(msg)
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        msg = f"{what} do not fit into 64-bit integers; pass them as strings"
        raise InputError(msg) from None


def _object_array(values: list[Any]) -> IdArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def default_ids(n: int) -> IdArray:
    """Return the ids 0 ... n - 1, for input that has none."""
    ids = np.arange(n, dtype=np.int64)
    ids.setflags(write=False)
    return ids


def require_unique(ids: IdArray, *, what: str = "node ids") -> None:
    """Raise an `InputError` that names the first id that occurs twice."""
    if ids.dtype == np.int64:
        order = np.sort(ids)
        repeated = order[1:][order[1:] == order[:-1]].tolist()
    else:
        is_unique = len(set(ids)) == len(ids)
        repeated = [] if is_unique else [value for value, n in Counter(ids.tolist()).items() if n > 1]
    if repeated:
        msg = f"{what} must be unique, {repeated[0]!r} occurs more than once"
        raise InputError(msg)


def row_ids(node_ids: Iterable[Any] | None, n: int, rows: str) -> IdArray:
    """Return one unique id per row, 0 ... n - 1 where None is given; `rows` says in words how many rows there are."""
    ids = default_ids(n) if node_ids is None else as_ids(node_ids)
    if len(ids) != n:
        msg = f"`node_ids` has {len(ids)} entries but {rows}"
        raise InputError(msg)
    require_unique(ids)
    return ids


def id_order(ids: IdArray) -> npt.NDArray[np.int64]:
    """Return the rows that sort the ids: what is computed in this order does not depend on the order of the input.

    Examples
    --------
    >>> id_order(as_ids(["b", "a", "c"])).tolist()
    [1, 0, 2]
    """
    return np.argsort(ids, kind="stable")


def match_ids(wanted: IdArray, listed: IdArray) -> npt.NDArray[np.int64]:
    """Return for each id of `wanted` its row in `listed`, or -1; compared by string form.

    Examples
    --------
    >>> match_ids(as_ids(["2", "9"]), as_ids([1, 2])).tolist()
    [1, -1]
    """
    if wanted.dtype == np.int64 and listed.dtype == np.int64:
        order = np.argsort(listed, kind="stable")
        position = np.searchsorted(listed, wanted, sorter=order).clip(max=max(len(listed) - 1, 0))
        if not len(listed):
            return np.full(len(wanted), -1, dtype=np.int64)
        rows = order[position]
        return np.where(listed[rows] == wanted, rows, -1).astype(np.int64)
    index = {str(v): i for i, v in enumerate(listed.tolist())}
    return np.fromiter((index.get(str(v), -1) for v in wanted.tolist()), np.int64, len(wanted))


def is_unlabelled(value: Any) -> bool:
    """Return whether one entry means "no label": None, NaN, pandas' missing values, -1, or a text for it.

    Examples
    --------
    >>> [is_unlabelled(value) for value in (None, float("nan"), -1, "", "-1", "NaN", "NA")]
    [True, True, True, True, True, True, True]
    >>> [is_unlabelled(value) for value in (0, "0", False, "none")]
    [False, False, False, False]
    """
    if isinstance(value, str):
        return value.strip().lower() in UNLABELLED or value.strip() in MISSING_WORDS
    if isinstance(value, (int, float, np.integer, np.floating)):
        return bool(value == -1 or value != value)  # NaN alone differs from itself
    # pandas is recognised by name, without importing it
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def refused_class(name: str) -> str | None:
    """Return why a file would not give the class `name` back, or None where it does.

    Examples
    --------
    >>> refused_class("mail"), refused_class("NA")[:39]
    (None, "the class name 'NA' would not be read b")
    """
    if "|" not in name and name == name.strip() and not is_unlabelled(name):
        return None
    words = ", ".join(map(repr, (*UNLABELLED, *MISSING_WORDS)))
    return (
        f"the class name {name!r} would not be read back: | separates classes, blanks at the ends are dropped, "
        f"and {words} mean no label; rename the class"
    )
