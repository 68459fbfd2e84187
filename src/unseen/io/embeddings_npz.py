"""Embeddings in numpy's files, never with pickle."""

from __future__ import annotations

import itertools
import json
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.embedding import Embedding
from unseen.errors import InputError
from unseen.ids import IdArray, as_ids, require_unique
from unseen.io.embeddings_common import broken, finite_float32, made_by, row_numbers
from unseen.io.sources import pickled

ID_KEYS = ("ids", "node_ids", "nodes", "node", "id", "names", "keys", "words", "vocab")
VECTOR_KEYS = ("data", "vectors", "embedding", "embeddings", "emb", "vector", "x", "arr_0")
# What numpy and zipfile raise on bytes that are not theirs; numpy parses an array's header as Python.
_BROKEN = (
    OSError,
    EOFError,
    KeyError,
    TypeError,
    RuntimeError,
    SyntaxError,
    TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
WIDEST_ID = 256  # characters; numpy pads every id to the longest, so one giant would cost gigabytes


def read_npz(path: Path) -> Embedding:
    """Read our arrays, or another tool's: a matrix (dense or scipy's sparse parts) with ids or without."""
    arrays = load_arrays(path)
    if "arr_only" in arrays:  # a .npy file under the name .npz
        return _without_ids(arrays["arr_only"], path)
    method, params = _made_by(arrays.pop("metadata", None), path)
    vectors = _vectors(arrays, path)
    n = vectors.shape[0]
    ids = ids_from_arrays(arrays, path)
    if ids is None:
        ids = row_numbers(path, n)
    if len(ids) != n:
        msg = f"{path}: there are {len(ids)} ids but {n} vectors"
        raise InputError(msg)
    require_unique(ids)
    if not isinstance(vectors, np.ndarray):
        finite = finite_float32(vectors.data[:, None], np.repeat(ids, np.diff(vectors.indptr)))
        vectors = sp.csr_array((finite.ravel(), vectors.indices, vectors.indptr), shape=vectors.shape)
    else:
        vectors = finite_float32(vectors, ids)
    return Embedding(vectors, ids, method, params)


def read_npy(path: Path) -> Embedding:
    """Read a bare matrix; its rows are the nodes 0 ... n - 1."""
    arrays = load_arrays(path)
    if "arr_only" not in arrays:
        msg = f"{path}: this is an .npz archive under the name .npy; rename it to .npz"
        raise InputError(msg)
    return _without_ids(arrays["arr_only"], path)


def load_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return all arrays of a numpy file by key, `arr_only` that of a .npy file; pickled ones are refused."""
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"arr_only": loaded}
            with loaded:
                return {key: loaded[key] for key in loaded.files}
    except ValueError as error:
        if "pickle" not in str(error):
            raise broken(path, "numpy", error) from error
        if not _may_hold_pickles(path):  # numpy takes any foreign bytes for a pickle
            raise broken(path, "numpy", ValueError("it does not begin like one")) from None
        raise pickled(path) from None
    except MemoryError:
        msg = f"{path}: the file announces more numbers than fit into memory; it is broken or too large"
        raise InputError(msg) from None
    except _BROKEN as error:
        raise broken(path, "numpy", error) from error


def _may_hold_pickles(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(6).startswith((b"PK", b"\x93NUMPY", b"\x80"))


def ids_to_arrays(ids: IdArray) -> dict[str, npt.NDArray[Any]]:
    r"""Return arrays that hold the ids without pickle: `ids`, or `ids_utf8` and `ids_offsets`.

    numpy's strings have one width and lose zero characters at the end, so that very long ids and
    such as end in one go as UTF-8 bytes.

    Examples
    --------
    >>> sorted(ids_to_arrays(as_ids(["a", "b"])))
    ['ids']
    >>> sorted(ids_to_arrays(as_ids(["a\0"])))
    ['ids_offsets', 'ids_utf8']
    """
    if ids.dtype == np.int64:
        return {"ids": np.asarray(ids)}
    if max(map(len, ids), default=0) <= WIDEST_ID and not any(value.endswith("\0") for value in ids):
        return {"ids": ids.astype(str) if len(ids) else np.zeros(0, dtype="U1")}
    encoded = [value.encode() for value in ids]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {"ids_utf8": np.frombuffer(b"".join(encoded), dtype=np.uint8), "ids_offsets": offsets}


def ids_from_arrays(arrays: dict[str, npt.NDArray[Any]], path: Path) -> IdArray | None:
    """Return the ids among `arrays`, or None where there are none."""
    if "ids_utf8" in arrays and "ids_offsets" in arrays:
        text, offsets = arrays["ids_utf8"].tobytes(), arrays["ids_offsets"].tolist()
        try:
            return as_ids([text[a:b].decode() for a, b in itertools.pairwise(offsets)])
        except (TypeError, UnicodeDecodeError):
            msg = f"{path}: `ids_utf8` and `ids_offsets` do not make ids; write the file again"
            raise InputError(msg) from None
    by_lower = {key.lower(): key for key in reversed(list(arrays))}
    key = next((by_lower[name] for name in ID_KEYS if name in by_lower), None)
    if key is None:
        return None
    values = arrays[key]
    if values.dtype.kind == "S":
        try:
            values = np.char.decode(values, "utf-8")
        except UnicodeDecodeError:
            msg = f"{path}: `{key}` is not UTF-8 text"
            raise InputError(msg) from None
    return as_ids(values, what=f"`{key}`")


def _vectors(arrays: dict[str, npt.NDArray[Any]], path: Path) -> Any:
    if {"data", "indices", "indptr", "shape"} <= arrays.keys():
        return _sparse(arrays, path)
    numeric = {key: value for key, value in arrays.items() if value.ndim == 2 and value.dtype.kind in "fiub"}
    by_lower = {key.lower(): key for key in numeric}
    named = [by_lower[key] for key in VECTOR_KEYS if key in by_lower]
    if not named and len(numeric) == 1:
        named = list(numeric)
    if not named:
        found = ", ".join(f"{key} {value.shape}" for key, value in arrays.items()) or "nothing"
        msg = f"{path}: no array `data` with two dimensions that holds the vectors; found {found}"
        raise InputError(msg)
    return numeric[named[0]]


def _sparse(arrays: dict[str, npt.NDArray[Any]], path: Path) -> Any:
    kind = (
        arrays.get("format", np.array(b"csr")).tobytes().rstrip(b"\0").replace(b"\0", b"").decode("latin-1")
    )
    makers = {"csr": sp.csr_array, "csc": sp.csc_array}
    numbers = arrays["data"]
    try:
        if kind not in makers or numbers.dtype.kind not in "fiub":
            raise ValueError
        rows, width = (int(size) for size in arrays["shape"])
        matrix = makers[kind]((numbers, arrays["indices"], arrays["indptr"]), shape=(rows, width))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError):
        msg = f"{path}: data, indices, indptr and shape do not make a CSR or CSC matrix; write the file again"
        raise InputError(msg) from None
    return matrix.tocsr()


def _made_by(array: npt.NDArray[Any] | None, path: Path) -> tuple[str, dict[str, Any]]:
    if array is None:
        return "", {}
    try:
        return made_by(json.loads(str(array)), path)
    except ValueError:
        return made_by(None, path)


def _without_ids(matrix: npt.NDArray[Any], path: Path) -> Embedding:
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        msg = f"{path}: vectors are a matrix of numbers, found {matrix.dtype} of shape {matrix.shape}"
        raise InputError(msg)
    ids = row_numbers(path, len(matrix))
    return Embedding(finite_float32(matrix, ids), ids)
