"""Matrices of values, checked: adjacencies, their weights and how pairs listed twice become one, features."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError, logger
from unseen.ids import Floats, Ints

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
    row: Ints, column: Ints, weight: Floats, n: int, *, mirror: bool, add: bool = False
) -> tuple[sp.csr_array, Ints, Ints]:
    """Return the matrix of these entries, with their transposes if `mirror`.

    Of an entry that is given several times the larger absolute value counts, or the sum if `add`. Second come the
    entries that repeat an earlier one, third those that are equal and opposite to another: such pairs are left out.
    """
    row, column = row.astype(np.int64), column.astype(np.int64)
    key = np.minimum(row, column) * n + np.maximum(row, column) if mirror else row * n + column
    order = np.argsort(key, kind="stable")
    key, weight = key[order], weight[order]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.zeros(0, dtype=np.int64)
    opposite = np.zeros(0, dtype=np.int64)
    value = weight
    if len(starts) < len(key):
        with np.errstate(over="ignore"):  # a sum that overflows is infinite, and refused as such by the graph
            value = (np.add if add else np.maximum).reduceat(weight, starts)
        if not add and weight.min() < 0:
            least = np.minimum.reduceat(weight, starts)
            odd = (value > 0) & (value == -least)
            value = np.where(odd, 0.0, np.where(value > -least, value, least))
            numbers = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(key)]))
            opposite = order[odd[numbers] & (weight == least[numbers])]
    i, j = np.divmod(key[starts], max(n, 1))
    off = (i != j) & mirror
    ends = np.r_[i, j[off]], np.r_[j, i[off]]
    csr = sp.coo_array((np.r_[value, value[off]], ends), shape=(n, n)).tocsr()
    csr.eliminate_zeros()
    return csr, order[1:][key[1:] == key[:-1]], opposite


def checked_weights(
    weights: npt.NDArray[np.float64], where: Callable[[int], str], *, negative: Negative
) -> npt.NDArray[np.float64]:
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


def is_finite(matrix: Features) -> bool:
    """Return whether there is no NaN and no infinity in the matrix."""
    return bool(np.isfinite(matrix if isinstance(matrix, np.ndarray) else matrix.data).all())


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


def lock(*arrays: sp.csr_array | npt.NDArray[Any] | None) -> None:
    """Lock arrays, and the three arrays of sparse ones, against writing."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
        elif array is not None:
            lock(array.data, array.indices, array.indptr)


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
    check_weights(matrix)  # the larger of two weights, or their sum, would hide a negative one
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
