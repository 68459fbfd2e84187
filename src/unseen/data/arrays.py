"""Files of matrices: scipy and numpy ``.npz``, ``.npy``, Matlab ``.mat``, svmlight text, and AnnData ``.h5ad``.

Nothing here ever unpickles, no index of a sparse matrix is used before it was checked, and no file takes more memory
than its bound (`File.require_room`).
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import warnings
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.matlab import parse_mat
from unseen.data.opened import NODE_ROWS, File
from unseen.data.sources import Batches, Options, Role
from unseen.data.tables import MatrixBatch, Table, as_column, explain_errors, list_names
from unseen.errors import InputError, logger, need_library
from unseen.ids import Array, IdArray, as_ids, require_unique, texts_from_arrays

ID_KEYS = ("ids", "node_ids", "nodes", "node", "id", "names", "keys", "words", "vocab")
"""What arrays of ids are called; those behind the third are ids only where there is one for each row."""
VALUE_KEYS = ("data", "features", "vectors", "embedding", "embeddings", "emb", "vector", "x", "arr_0")
MAT_KEYS: dict[Role, tuple[str, ...]] = {
    "edges": ("network", "adjacency"),
    "labels": ("group", "labels", "label"),
    "features": ("attributes", "features", "feature"),
}
_SURE_IDS = 3
_NOT_A_NUMBER = re.compile(rb"[eE](?![+-]?[0-9]+\s)|[0-9.][^\s0-9.eE]|\.[0-9]*\.")
"""Numbers with something behind them or an exponent without digits; of these scipy takes the beginning."""
_SPARSE = ("data", "indices", "indptr", "shape")

Arrays = dict[str, Array]


def read_numpy(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the matrix of a ``.npy`` or ``.npz``: scipy's parts, or a dense array; with ids, names and metadata if any.

    What the file is, its content says: either may go under the other's name.
    """
    arrays = load_arrays(file)
    if isinstance(arrays, np.ndarray):
        yield MatrixBatch(file.name, arrays)
        return
    stored = arrays.pop("metadata", None)
    values = _values(arrays, file)
    ids = ids_from_arrays(arrays, file, values.shape[0])
    names = texts_from_arrays("feature_names", arrays, file.name)
    if names is None and "feature_names" in arrays:
        names = [str(name) for name in arrays["feature_names"].ravel().tolist()]
    if names is not None and len(names) != values.shape[-1]:
        msg = f"{file.name} has {len(names)} feature names for {values.shape[-1]} columns"
        raise InputError(msg)
    metadata: Any = None
    with contextlib.suppress(ValueError, RecursionError):
        metadata = {} if stored is None else json.loads(str(stored))
    metadata = metadata if isinstance(metadata, dict) else {"method": None}
    yield MatrixBatch(file.name, values, ids, None if names is None else tuple(names), metadata)


def read_mat(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the variable of a Matlab file that the role is read from."""
    variables = mat_variables(file)
    key = next((key for key in MAT_KEYS[role] if key in variables), None)
    if key is None:
        names = " or ".join(map(repr, MAT_KEYS[role]))
        msg = f"{file.name} has the variables {list_names(list(variables))}; {role} are read from {names}"
        raise InputError(msg)
    value = variables[key]
    if value is None:
        msg = f"{file.name}: the variable {key!r} is no matrix of real numbers"
        raise InputError(msg)
    yield MatrixBatch(file.name, value if isinstance(value, np.ndarray) else _as_checked_csr(value, file))


def read_mtx(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the matrix of a Matrix Market file; ids are row numbers from 0."""
    from scipy.io import mmread

    data = file.read() + b"\n"  # a last line without its end can crash the parser
    content = io.BytesIO(data)
    with explain_errors(file, "Matrix Market"):
        if b"\0" in data:
            msg = "it has zero bytes, and a Matrix Market file is text"
            raise ValueError(msg)
        sizes = next((line for line in content if not line.startswith(b"%") and line.strip()), b"")
        shape = [int(size) for size in sizes.split()]
        if len(shape) == 2:  # a dense matrix
            file.require_room(8 * shape[0] * shape[1], shape[0])
        else:
            file.require_room(24 * sum(shape[2:]), sum(shape[2:]) + NODE_ROWS * max(shape[:2], default=0))
        odd = _NOT_A_NUMBER.search(data, content.tell())
        if odd is not None:  # scipy would read them in part, or crash
            line = data.count(b"\n", 0, odd.start()) + 1
            text = data.split(b"\n")[line - 1][:60].decode(errors="replace")
            msg = f"{file.name}, line {line}: {text!r} are not numbers"
            raise InputError(msg)
        matrix = mmread(io.BytesIO(data), spmatrix=False)
    yield MatrixBatch(file.name, matrix if isinstance(matrix, np.ndarray) else sp.csr_array(matrix))


def mat_variables(file: File) -> Mapping[str, Any]:
    """Return all variables of a Matlab file."""
    with explain_errors(file, "Matlab"):
        return parse_mat(file.read(), file.require_room)


def read_svmlight(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the features of an svmlight file, one row per line; its targets are not read."""
    from sklearn.datasets import load_svmlight_file

    data = file.read()
    if not data.strip():
        msg = f"{file.name} is empty"
        raise InputError(msg)
    with explain_errors(file, "svmlight"):
        matrix, _ = load_svmlight_file(io.BytesIO(data))
    yield MatrixBatch(file.name, _as_checked_csr(matrix, file))


def load_arrays(file: File) -> Arrays | Array:
    """Return the arrays of a ``.npz`` by their names, or the one array of a ``.npy``; pickled ones are refused."""
    with (
        explain_errors(file, "numpy"),
        file.open_content() as content,
        warnings.catch_warnings(action="ignore"),
    ):
        start = content.read(6)
        content.seek(0)
        if start.startswith(b"PK"):
            members = zipfile.ZipFile(content).infolist()
            file.require_room(sum(member.file_size for member in members))
            usual = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            if any(member.compress_type not in usual for member in members):
                msg = "its arrays are packed as numpy never does it"
                raise ValueError(msg)
            content.seek(0)
        try:
            loaded = np.load(content, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                return np.asarray(loaded)
            with loaded:
                return {key: loaded[key] for key in loaded}
        except ValueError as error:
            # numpy takes any foreign bytes for a pickle
            if "pickle" not in str(error).lower():
                raise
            if not start.startswith((b"PK", b"\x93NUMPY", b"\x80")):
                wrong = "it does not begin as one does"
                raise ValueError(wrong) from None
            msg = (
                f"{file.name} holds pickled Python objects, which are never loaded because they can run any "
                "program; save plain arrays (ids with dtype=str, sparse matrices with scipy.sparse.save_npz)"
            )
            raise InputError(msg) from None


def ids_from_arrays(arrays: Arrays, file: File, n: int | None = None) -> IdArray | None:
    """Return the ids among `arrays`, each once and none empty, or None where there are none."""
    texts = texts_from_arrays("ids", arrays, file.name)
    if texts is not None:
        values = np.array(texts, dtype=object)
    else:
        by_lower = {key.lower(): key for key in reversed(list(arrays))}
        found = [(k < _SURE_IDS, by_lower[name]) for k, name in enumerate(ID_KEYS) if name in by_lower]
        key = next((key for is_sure, key in found if is_sure or arrays[key].shape == (n,)), None)
        if key is None:
            return None
        values = arrays[key]
        if values.dtype.kind == "S":
            try:
                values = np.char.decode(values, "utf-8")
            except UnicodeDecodeError:
                msg = f"{file.name}: `{key}` is not UTF-8 text"
                raise InputError(msg) from None
    ids = as_ids(values.ravel(), what=f"ids of {file.name}")
    if n is not None and values.shape != (n,):
        msg = f"{file.name} has ids of shape {values.shape} for {n} rows"
        raise InputError(msg)
    if ids.dtype != np.int64 and (ids == "").any():
        msg = f"{file.name} has an empty id in row {ids.tolist().index('')}"
        raise InputError(msg)
    require_unique(ids, what=f"ids of {file.name}")
    return ids


def _values(arrays: Arrays, file: File) -> sp.csr_array | Array:
    if "format" in arrays or set(_SPARSE) <= arrays.keys():
        return _sparse(arrays, file)
    numeric = [key for key, value in arrays.items() if value.ndim == 2 and value.dtype.kind in "fiub"]
    by_lower = {key.lower(): key for key in arrays}
    named = [by_lower[key] for key in VALUE_KEYS if key in by_lower]
    candidates = [key for key in named if key in numeric] or named or (numeric if len(numeric) == 1 else [])
    if not candidates:
        msg = (
            f"{file.name} holds the arrays {list_names(list(arrays))}; expected a scipy sparse matrix "
            "(scipy.sparse.save_npz) or one array of two dimensions named `data`"
        )
        raise InputError(msg)
    return arrays[candidates[0]]


def _sparse(arrays: Arrays, file: File) -> sp.csr_array:
    with explain_errors(file, "scipy"):
        stored = arrays.get("format", np.array("csr")).item()
        kind = stored.decode("ascii") if isinstance(stored, bytes) else str(stored)
        shape = tuple(int(size) for size in arrays["shape"].tolist())
        file.require_room(0, NODE_ROWS * max(shape))  # rows and columns cost memory even where they are empty
        if kind == "coo":
            ends = arrays["row"], arrays["col"]
            return _as_checked_csr(sp.coo_array((arrays["data"], ends), shape=shape), file)
        if kind in ("csr", "csc"):
            entries = arrays["data"], arrays["indices"], arrays["indptr"]
            return _as_checked_csr(getattr(sp, f"{kind}_array")(entries, shape=shape), file)
    msg = f"{file.name} holds a matrix in the format {kind!r}; save it as csr, csc or coo"
    raise InputError(msg)


def _as_checked_csr(matrix: Any, file: File) -> sp.csr_array:
    """Return a sparse matrix as CSR after a full check; a wrong index would crash the process later."""
    with explain_errors(file, "scipy"):
        if matrix.format in ("csr", "csc"):
            matrix.check_format(full_check=True)
        return sp.csr_array(matrix)


def _require_safe_hdf5(file: File) -> None:
    """Refuse an HDF5 file that leads to other files, takes too much memory, or has sparse indices out of range."""
    h5py = need_library("h5py", file.name, "formats")
    known, total = set[int](), 0
    with h5py.File(file.path, "r") as content:
        groups = [content]
        while groups:
            group = groups.pop()
            if {"data", "indices", "indptr"} <= set(group):  # wrong indices would lead scipy to other memory
                sizes = group.attrs.get("shape", group.attrs.get("h5sparse_shape", ()))
                shape = tuple(int(size) for size in sizes)
                file.require_room(group["indices"].nbytes + group["indptr"].nbytes, NODE_ROWS * max(shape))
                kind = str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "csr")))
                values = np.zeros(group["data"].shape, dtype=np.int8)
                entries = (values, group["indices"][:], group["indptr"][:])
                make = sp.csc_array if kind.startswith("csc") else sp.csr_array
                make(entries, shape=shape).check_format(full_check=True)
            for name in group:
                if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                    msg = f"{file.name}: {group.name}/{name} is a link, and links are not followed"
                    raise InputError(msg)
                part = group[name]
                address = h5py.h5o.get_info(part.id).addr
                if isinstance(part, h5py.Group):
                    groups += [] if address in known else [part]
                    known.add(address)
                    continue
                if part.external or part.is_virtual:
                    msg = f"{file.name}: the values of {part.name} are in another file, which is not read"
                    raise InputError(msg)
                total += max(part.nbytes, math.prod(part.chunks or ()) * part.dtype.itemsize)
                file.require_room(total)


def read_h5ad(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield what a role is read from: `obsp` holds the graph, `X` or `obsm` the features, `obs` the labels."""
    anndata = need_library("anndata", file.name, "formats")
    with explain_errors(file, ".h5ad"):
        _require_safe_hdf5(file)
        cells = anndata.read_h5ad(file.path)
    ids: Any = [str(name) for name in cells.obs_names]
    if role == "edges":
        key = _only_key(cells.obsp, "connectivities", f"{file.name} has", "graph", "obsp")
        yield MatrixBatch(file.name, cells.obsp[key], ids)
    elif role != "features":
        columns = {str(key): as_column(cells.obs[key].astype(object).tolist()) for key in cells.obs}
        yield Table.of(file.name, {**columns, "node": ids})
    elif cells.X is not None:
        yield MatrixBatch(file.name, cells.X, ids, tuple(map(str, cells.var_names)))
    else:
        key = _only_key(cells.obsm, "X_pca", f"{file.name} has no `X`, and", "matrix of features", "obsm")
        logger.info("%s: there is no `X`, so features are read from obsm[%r]", file.name, key)
        yield MatrixBatch(file.name, cells.obsm[key], ids)


def _only_key(matrices: Mapping[str, Any], usual: str, start: str, what: str, where: str) -> str:
    names = list(matrices)
    if usual not in names and len(names) != 1:
        have = f"the entries {list_names(names)}" if names else "none"
        msg = f"{start} no {what} {usual!r} in `{where}`, which has {have}; write it under that name"
        raise InputError(msg)
    return usual if usual in names else names[0]
