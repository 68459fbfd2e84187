"""Matrices that values hold: copied, checked for shape and numbers, locked against writing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import InputError

Features: TypeAlias = "sp.csr_array | npt.NDArray[Any]"
Negative = Literal["refuse", "drop", "absolute", "keep"]
"""What becomes of negative weights."""


def square_csr(matrix: Any, what: str, *, add: bool = True) -> sp.csr_array:
    """Return a copy of a square matrix in CSR and float64; entries given twice are added up, unless `add` is False."""
    try:
        csr = sp.csr_array(matrix)
        if not add and sp.issparse(matrix) and matrix.format == "coo":  # whose conversion adds
            order = np.argsort(matrix.row, kind="stable")
            counts = np.bincount(matrix.row, minlength=matrix.shape[0])
            csr = sp.csr_array(
                (matrix.data[order], matrix.col[order], np.r_[0, np.cumsum(counts)]), shape=matrix.shape
            )
    except (TypeError, ValueError):
        msg = f"{what} must be a matrix of real numbers, got {type(matrix).__name__}"
        raise InputError(msg) from None
    if csr.ndim != 2 or csr.shape[0] != csr.shape[1]:
        msg = f"{what} must be square, got shape {csr.shape}"
        raise InputError(msg)
    if csr.dtype.kind not in "fiub":
        msg = f"{what} must hold real numbers, got dtype {csr.dtype}"
        raise InputError(msg)
    csr = csr.astype(np.float64)
    if add:
        csr.sum_duplicates()
        csr.eliminate_zeros()
    return csr


def is_symmetric(a: sp.csr_array, transposed: sp.csr_array | None = None) -> bool:
    """Return whether a matrix whose entries are sorted and stand once is symmetric."""
    b = a.T.tocsr() if transposed is None else transposed
    b.sort_indices()
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("indptr", "indices", "data"))


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


def checked_features(features: Any, n: int, what: str = "the graph has {} nodes") -> Features:
    """Return a copy of features of `n` nodes, or raise the error that says why they are none."""
    matrix = real_matrix(features, "features", _feature_dtype)
    if matrix.shape[0] != n:
        msg = f"`features` has {matrix.shape[0]} rows but {what.format(n)}"
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


def checked_names(names: Iterable[Any] | None, features: Features | None) -> tuple[str, ...] | None:
    """Return the names of feature columns, one a column, or None."""
    if names is None:
        return None
    named = tuple(str(name) for name in names)
    columns = 0 if features is None else features.shape[1]
    if len(named) != columns:
        msg = f"`feature_names` has {len(named)} entries but there are {columns} feature columns"
        raise InputError(msg)
    return named


def lock(*arrays: sp.csr_array | npt.NDArray[Any] | None) -> None:
    """Lock arrays, and the three arrays of sparse ones, against writing."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
        elif array is not None:
            lock(array.data, array.indices, array.indptr)
