"""Binary matrix files: scipy and numpy ``.npz``, ``.npy``, Matlab ``.mat``, and svmlight text.

Nothing here ever unpickles, and no index of a sparse matrix is trusted before it was checked.
"""

from __future__ import annotations

import io
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.matlab import parse_mat
from unseen.errors import InputError
from unseen.ids import IdArray, as_ids
from unseen.io.columns import listed
from unseen.io.sources import pickled, read_bytes
from unseen.io.tables import first_line

ID_KEYS = ("ids", "node_ids")
NETWORK_KEYS = ("network", "adjacency")
GROUP_KEYS = ("group", "labels", "label")
FEATURE_KEYS = ("attributes", "features", "feature")

# What numpy, zipfile and scipy raise on damaged files; RuntimeError is an encrypted zip member, say.
_DAMAGED = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RuntimeError,
    OSError,
    EOFError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)


def read_npz(path: Path) -> tuple[IdArray | None, sp.csr_array | npt.NDArray[Any], tuple[str, ...] | None]:
    """Return ids, matrix and column names of a ``.npz``: a scipy matrix, or one array ``data`` or ``x``.

    An array ``ids`` or ``node_ids`` names the rows, ``feature_names`` the columns.
    """
    arrays = _load_npz(path)
    ids = next((arrays[key] for key in ID_KEYS if key in arrays), None)
    names = arrays.get("feature_names")
    if "format" in arrays:
        matrix: sp.csr_array | npt.NDArray[Any] = _sparse(arrays, path)
    else:
        dense = next((arrays[key] for key in ("data", "features", "x", "X", "arr_0") if key in arrays), None)
        if dense is None:
            msg = (
                f"{str(path)!r} holds the arrays {listed(list(arrays))}; expected a scipy sparse matrix "
                "(scipy.sparse.save_npz) or one array named `data`"
            )
            raise InputError(msg)
        matrix = _numeric(dense, path)
    if ids is not None and ids.shape != matrix.shape[:1]:
        msg = f"{str(path)!r} has ids of shape {ids.shape} for {matrix.shape[0]} rows"
        raise InputError(msg)
    if names is not None and names.shape != matrix.shape[1:]:
        msg = f"{str(path)!r} has feature names of shape {names.shape} for {matrix.shape[1]} columns"
        raise InputError(msg)
    if ids is not None and "" in ids.tolist():
        msg = f"{str(path)!r} has an empty id in row {ids.tolist().index('')}"
        raise InputError(msg)
    return (
        None if ids is None else as_ids(ids, what=f"ids of {str(path)!r}"),
        matrix,
        None if names is None else tuple(str(name) for name in names.tolist()),
    )


def read_npy(path: Path) -> npt.NDArray[Any]:
    """Return the numbers of a ``.npy`` file."""
    try:
        with warnings.catch_warnings(action="ignore"):
            array = np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)
    except _DAMAGED as error:
        raise _damaged(path, "numpy", error) from None
    return _numeric(array, path)


def read_mat(path: Path, keys: Sequence[str], what: str) -> sp.csr_array | npt.NDArray[Any]:
    """Return the first variable of a Matlab file that has one of the names `keys`."""
    try:
        found = parse_mat(path.read_bytes())
    except _DAMAGED as error:
        raise _damaged(path, "Matlab", error) from None
    key = next((key for key in keys if key in found), None)
    if key is None:
        have = listed(list(found))
        msg = f"{str(path)!r} has the variables {have}; {what} are read from {' or '.join(map(repr, keys))}"
        raise InputError(msg)
    value = found[key]
    if value is None:
        msg = f"{str(path)!r}: the variable {key!r} is no matrix of real numbers"
        raise InputError(msg)
    return value if isinstance(value, np.ndarray) else _checked(value, path)


def mat_names(path: Path) -> set[str]:
    """Return the names of the variables of a Matlab file; none for a damaged one, which `read_mat` explains."""
    try:
        return set(parse_mat(path.read_bytes()))
    except _DAMAGED:
        return set()


def read_svmlight(path: Path) -> sp.csr_array:
    """Return the features of an svmlight file, one row a line; its targets are not read."""
    from sklearn.datasets import load_svmlight_file

    data = read_bytes(path)
    if not data.strip():
        msg = f"{str(path)!r} is empty"
        raise InputError(msg)
    try:
        matrix, _ = load_svmlight_file(io.BytesIO(data))
    except (ValueError, TypeError, OverflowError, IndexError, MemoryError) as error:
        raise _svmlight_error(path, data, error) from None
    return _checked(matrix, path)


def _load_npz(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with warnings.catch_warnings(action="ignore"):
            loaded = np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)
            if isinstance(loaded, np.lib.npyio.NpzFile):
                with loaded:
                    return {key: loaded[key] for key in loaded}
    except _DAMAGED as error:
        raise _damaged(path, "numpy", error) from None
    msg = f"{str(path)!r} is a single array, not a .npz archive; name it .npy"
    raise InputError(msg)


def _damaged(path: Path, kind: str, error: BaseException) -> InputError:
    text = first_line(error)
    if "pickle" in text.lower():
        return pickled(path)
    if isinstance(error, OSError) and error.strerror:
        return InputError(f"{str(path)!r} cannot be read: {error.strerror}")
    return InputError(f"{str(path)!r} is not a readable {kind} file, perhaps damaged or cut off: {text}")


def _sparse(arrays: Mapping[str, npt.NDArray[Any]], path: Path) -> sp.csr_array:
    try:
        kind = arrays["format"].item()
        kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
        shape = tuple(int(size) for size in arrays["shape"].tolist())
        if kind == "coo":
            coo = sp.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
            return _checked(coo, path)
        if kind in ("csr", "csc"):
            make = sp.csr_array if kind == "csr" else sp.csc_array
            return _checked(make((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape), path)
    except KeyError as error:
        msg = f"{str(path)!r} is not a whole scipy matrix, the array {error} is missing"
        raise InputError(msg) from None
    except _DAMAGED as error:
        raise _damaged(path, "scipy", error) from None
    msg = f"{str(path)!r} holds a matrix in the format {kind!r}; save it as csr, csc or coo"
    raise InputError(msg)


def _checked(matrix: Any, path: Path) -> sp.csr_array:
    """Return a sparse matrix as CSR after a full check; a wrong index would crash the process later."""
    try:
        if matrix.ndim != 2:
            msg = f"{str(path)!r} holds a sparse array of {matrix.ndim} dimensions; two are needed"
            raise InputError(msg)
        if matrix.format in ("csr", "csc"):
            matrix.check_format(full_check=True)
        _numeric(matrix.data, path)
        return sp.csr_array(matrix)
    except InputError:
        raise
    except _DAMAGED as error:
        raise _damaged(path, "scipy", error) from None


def _numeric(array: npt.NDArray[Any], path: Path) -> npt.NDArray[Any]:
    if array.dtype.kind not in "fiub":
        msg = f"{str(path)!r} holds values of type {array.dtype}; real numbers are needed"
        raise InputError(msg)
    return array


def _svmlight_error(path: Path, data: bytes, error: BaseException) -> InputError:
    """Return the sentence that names the first line which is not ``target index:value ...``."""
    for number, raw in enumerate(data.split(b"\n"), start=1):
        cells = raw.partition(b"#")[0].split()
        for k, cell in enumerate(cells):
            index, colon, value = cell.partition(b":")
            try:
                float(value if k else cell.partition(b",")[0])
                if k and (not colon or int(index) < 0):
                    raise ValueError
            except ValueError:
                if k == 1 and index == b"qid":
                    continue
                shown = cell[:40].decode("utf-8", "replace")
                rule = "expected `index:value`" if k else "expected a number, the target"
                return InputError(f"{str(path)!r}, line {number}: {shown!r} is not svmlight; {rule}")
    return InputError(f"{str(path)!r} is not a readable svmlight file: {first_line(error)}")
