"""What values hold, checked and read-only: node ids (all strings or all int64, joined by string form), and matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, logger

IdArray = npt.NDArray[Any]
"""One-dimensional array of ids, dtype ``int64`` or ``object`` (holding ``str``)."""
Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Keys = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Place = Callable[[int], str]
"""From the number of an entry to where it stands: ``'edges.csv', line 3``."""
Features: TypeAlias = "sp.csr_array | npt.NDArray[Any]"
Stored = dict[str | None, tuple[Features, tuple[str, ...] | None]]
"""The features of each type that has some, and the names of their columns."""
Types = tuple[str | None, ...]
Negative = Literal["refuse", "drop", "absolute", "keep"]
"""What becomes of negative weights."""
Symmetrize = Literal["max", "sum", "error"]
"""What becomes of a pair that is listed more than once, in either direction."""
UNLABELLED = ("", "-1", "nan")
"""Texts that stand for no label, whatever their case and the blanks around them."""
MISSING_WORDS = ("NA", "N/A", "<NA>", "None", "null", "NULL")
"""Words that other programs write for a missing value: no label either, and that is said."""


class Value:
    """Base of frozen values: a notebook shows them as a table, and what was pickled comes back read-only."""

    def _repr_html_(self) -> str:
        from unseen.shown import as_html  # which a small job does without

        return as_html(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        lock(*(part for part in state.values() if isinstance(part, (np.ndarray, sp.csr_array))))


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


def id_order(ids: IdArray) -> Ints:
    """Return the rows that sort the ids: what is computed in this order does not depend on the order of the input.

    Examples
    --------
    >>> id_order(as_ids(["b", "a", "c"])).tolist()
    [1, 0, 2]
    """
    return np.argsort(ids, kind="stable")


def match_ids(wanted: IdArray, listed: IdArray) -> Ints:
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


def square(matrix: Any, what: str) -> Any:
    """Return a square matrix of real numbers as a sparse array; entries given twice are still so."""
    try:
        own = matrix if sp.issparse(matrix) else sp.csr_array(matrix)
    except (TypeError, ValueError):
        msg = f"{what} must be a matrix of real numbers, got {type(matrix).__name__}"
        raise InputError(msg) from None
    if own.ndim != 2 or own.shape[0] != own.shape[1]:
        msg = f"{what} must be square, got shape {own.shape}"
        raise InputError(msg)
    if own.dtype.kind not in "fiub":
        msg = f"{what} must hold real numbers, got dtype {own.dtype}"
        raise InputError(msg)
    return own


def same(a: sp.csr_array, b: sp.csr_array) -> bool:
    """Return whether two matrices whose entries stand once are the same; sorts those of the second."""
    b.sort_indices()
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("indptr", "indices", "data"))


def merged(
    row: Ints, column: Ints, weight: Floats | None, n: int, *, mirror: bool, add: bool = False
) -> tuple[sp.csr_array, Ints, Ints]:
    """Return the matrix of these entries, with their transposes if `mirror`; without `weight` each has the weight 1.

    Second come the pairs of entries that repeat an earlier one, as row * n + column; third the entries that are equal
    and opposite to another: such pairs are left out. :func:`combine_repeats` says what a repeated entry is worth.
    """
    key = (np.minimum(row, column) if mirror else row).astype(np.int64)
    key *= n
    key += np.maximum(row, column) if mirror else column
    if weight is None and not add:
        key.sort()
    else:
        order = np.argsort(key, kind="stable")
        key, weight = key[order], np.ones(len(key)) if weight is None else weight[order]
    is_first = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=is_first[1:])
    repeats, opposite = key[~is_first], np.zeros(0, dtype=np.int64)
    if len(repeats) and weight is not None:
        starts = np.flatnonzero(is_first)
        value, is_opposite = combine_repeats(weight, starts, add=add)
        if is_opposite.any():
            group, least = np.cumsum(is_first) - 1, np.minimum.reduceat(weight, starts)
            opposite = order[is_opposite[group] & (weight == least[group])]
        weight = value
    index = np.int32 if n < 2**31 else np.int64
    i, j = (each.astype(index) for each in np.divmod(key[is_first], max(n, 1)))
    del key, is_first
    off = (i != j) & mirror  # transposes come first: columns are in order then
    ends = np.r_[j[off], i], np.r_[i[off], j]
    values = np.ones(len(ends[0])) if weight is None else np.r_[weight[off], weight]
    del i, j, off
    csr = sp.coo_array((values, ends), shape=(n, n)).tocsr()
    if weight is not None:
        csr.eliminate_zeros()
    return csr, repeats, opposite


def combine_repeats(weight: Floats, starts: Ints, *, add: bool) -> tuple[Floats, Mask]:
    """Return the weight of each pair, and which are equal and opposite, given where the entries of each pair begin.

    The one place that decides what becomes of a repeated edge: the larger absolute value counts, or the sum if `add`;
    equal and opposite values are 0. A sum that overflows is infinite, and refused by whoever keeps it.

    Examples
    --------
    >>> combine_repeats(np.array([1.0, -3.0, 2.0, -2.0]), np.array([0, 2]), add=False)[0].tolist()
    [-3.0, 0.0]
    """
    with np.errstate(over="ignore"):
        value = (np.add if add else np.maximum).reduceat(weight, starts)
    if add or weight.min() >= 0:
        return value, np.zeros(len(starts), dtype=bool)
    least = np.minimum.reduceat(weight, starts)
    opposite = (value > 0) & (value == -least)
    return np.where(opposite, 0.0, np.where(value > -least, value, least)), opposite


def checked_weights(weights: Floats, where: Callable[[int], str], *, negative: Negative) -> Floats:
    """Return finite weights; of negative ones what `negative` says, 0 where they are dropped.

    `where` begins the sentence about an entry: "line 3: the weight is".
    """
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        msg = f"{where(int(bad[0]))} {weights[bad[0]]:g}; edge weights must be finite numbers"
        raise InputError(msg)
    below = np.flatnonzero(weights < 0)
    if not len(below) or negative == "keep":
        return weights
    if negative == "refuse":
        msg = (
            f"{where(int(below[0]))} {weights[below[0]]:g}; negative weights are kept by Graph.from_relations and "
            "read only, leave such edges out with drop_negative=True (--drop-negative)"
        )
        raise InputError(msg)
    return np.maximum(weights, 0.0) if negative == "drop" else np.abs(weights)


def real_matrix(values: Any, name: str, dtype: Callable[[np.dtype[Any]], type[np.floating[Any]]]) -> Features:
    """Return a copy of `values`, in CSR where they are sparse, of the type that `dtype` makes of theirs."""
    try:
        matrix = sp.csr_array(values) if sp.issparse(values) else np.asarray(values)
    except ValueError:
        msg = f"`{name}` must be a matrix, its rows have different lengths"
        raise InputError(msg) from None
    kind = dtype(matrix.dtype)
    if matrix.ndim != 2:
        msg = f"`{name}` must have two dimensions, got shape {matrix.shape}"
        raise InputError(msg)
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused as such
        if isinstance(matrix, np.ndarray):
            return np.array(matrix, dtype=kind, order="C")
        matrix = matrix.astype(kind)
        matrix.sum_duplicates()
    return matrix


def numbers_of(matrix: Features) -> Array:
    """Return the numbers of a matrix; of a sparse one those that it stores."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.data


def is_finite(matrix: Features) -> bool:
    """Return whether there is no NaN and no infinity in the matrix."""
    return bool(np.isfinite(numbers_of(matrix)).all())


def checked_features(features: Any, n: int, of_type: str = "") -> Features:
    """Return a copy of features of `n` nodes, or raise the error that says why they are none."""
    matrix = real_matrix(features, "features", _feature_dtype)
    if matrix.shape[0] != n:
        msg = f"`features` has {matrix.shape[0]} rows but the graph has {n} nodes{of_type}"
        raise InputError(msg)
    if n and not matrix.shape[1]:
        msg = "`features` has no columns; pass features=None where nodes have no features"
        raise InputError(msg)
    if not is_finite(matrix):
        msg = "features must be finite, found NaN or infinity"
        raise InputError(msg)
    return matrix


def _feature_dtype(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    if dtype.kind not in "fiub":
        msg = f"features must be numbers, got dtype {dtype}"
        raise InputError(msg)
    exact_in_float32 = dtype.kind == "b" or dtype.itemsize <= 2 or dtype == np.float32
    return np.float32 if exact_in_float32 else np.float64


def checked_columns(
    features: Any, names: Iterable[Any] | None, n: int, of_type: str = ""
) -> tuple[Features | None, tuple[str, ...] | None]:
    """Return a copy of features of `n` nodes, and the names of their columns, one a column; None for none."""
    matrix = None if features is None else checked_features(features, n, of_type)
    named = None if names is None else tuple(str(name) for name in names)
    columns = 0 if matrix is None else matrix.shape[1]
    if named is not None and len(named) != columns:
        msg = f"`feature_names` has {len(named)} entries but there are {columns} feature columns"
        raise InputError(msg)
    return matrix, named


def checked_texts(texts: Iterable[Any] | None, n: int) -> Array | None:
    """Return one text per node as a read-only array, empty where it is None; None where there are no texts."""
    if texts is None:
        return None
    own = _object_array(["" if text is None else text for text in texts])
    odd = next((text for text in own if not isinstance(text, str)), None)
    if odd is not None or len(own) != n:
        found = (
            f"{len(own)} entries but the graph has {n} nodes"
            if odd is None
            else f"{odd!r}, which is not a text"
        )
        msg = f"`texts` has {found}; one str per node is needed"
        raise InputError(msg)
    lock(own)
    return own


def lock(*arrays: sp.csr_array | Array | None) -> None:
    """Lock arrays, and the three arrays of sparse ones, against writing."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
        elif array is not None:
            lock(array.data, array.indices, array.indptr)


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


def check_symmetrize(symmetrize: str) -> None:
    """Raise an `InputError` unless `symmetrize` is one of the three policies."""
    if symmetrize not in ("max", "sum", "error"):
        msg = f"`symmetrize` must be 'max', 'sum' or 'error', got {symmetrize!r}"
        raise InputError(msg)


def symmetrized(adjacency: Any, symmetrize: Symmetrize, *, drop_negative: bool) -> sp.csr_array:
    """Return the symmetric adjacency of a square matrix of weights, each of which is checked."""
    csr = sparse_adjacency(adjacency)
    check_weights(csr, drop_negative=drop_negative)
    return symmetric(csr, symmetrize)


def symmetric(matrix: sp.csr_array, symmetrize: Symmetrize) -> sp.csr_array:
    """Return `matrix` if it is symmetric, else what `symmetrize` makes of the two directions."""
    check_symmetrize(symmetrize)
    transposed = matrix.T.tocsr()
    if same(matrix, transposed):
        return matrix
    if symmetrize == "error":
        msg = "the adjacency is not symmetric; pass symmetrize='max' or 'sum' to make it so"
        raise InputError(msg)
    if symmetrize == "max":
        logger.info("directed edges made undirected: the larger of the two weights of a pair")
        return matrix.maximum(transposed).tocsr()
    logger.info("directed edges made undirected: the sum of the two weights of a pair")
    with np.errstate(over="ignore"):  # refused in the next lines
        total = (matrix + sp.triu(transposed, 1) + sp.tril(transposed, -1)).tocsr()
    if not np.isfinite(total.data).all():
        msg = "two weights of a pair add up to more than a 64-bit float holds; take symmetrize='max' or smaller weights"
        raise InputError(msg)
    return total


def sparse_adjacency(matrix: Any) -> sp.csr_array:
    """Return a square matrix of real numbers in which every entry stands once."""
    csr = sp.csr_array(square(matrix, "the adjacency")).astype(np.float64)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def checked_adjacency(matrix: Any) -> sp.csr_array:
    """Return a copy of the adjacency of a plain graph, or raise the error that says why it is none."""
    csr = sparse_adjacency(matrix)
    check_weights(csr)
    if not same(csr, csr.T.tocsr()):
        msg = "the adjacency must be symmetric; Graph.from_scipy makes a directed one so (symmetrize='max' or 'sum')"
        raise InputError(msg)
    return csr


def check_weights(csr: sp.csr_array, *, drop_negative: bool = False) -> None:
    """Raise an `InputError` at a weight that is not finite, or negative; `drop_negative` removes these instead."""

    def where(k: int) -> str:
        row = np.searchsorted(csr.indptr, k, side="right") - 1
        return f"the adjacency, row {row}, column {csr.indices[k]}: the weight is"

    negative = int(np.count_nonzero(csr.data < 0))
    csr.data[:] = checked_weights(csr.data, where, negative="drop" if drop_negative else "refuse")
    if negative:
        logger.info("%d entries of negative weight left out", negative)
        csr.eliminate_zeros()
