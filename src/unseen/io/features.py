"""Node features from every format: columns beside an id, a list column, or a matrix by node number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.errors import InputError
from unseen.graph import Features
from unseen.ids import IdArray, as_ids
from unseen.io.columns import NODE, float_values, id_values, listed, node_column
from unseen.io.headers import may_be_node_header, settle_ids
from unseen.io.matrices import FEATURE_KEYS, read_mat, read_npy, read_npz, read_svmlight
from unseen.io.sources import TEXT_NAMES, TEXT_SUFFIXES, data_suffix, existing_file, is_path, unknown_suffix
from unseen.io.tables import Table, is_tabular, read_arrow, read_parquet
from unseen.io.text import read_text

SVMLIGHT_SUFFIXES = (".svmlight", ".svm", ".libsvm")


def read_features(
    source: Any, *, header: bool | None = None, delimiter: str | None = None, known: pa.Array | None = None
) -> tuple[IdArray | None, Features, tuple[str, ...] | None]:
    """Read node features: return the ids of the rows (None: row i is node number i), the matrix, the column names.

    Parameters
    ----------
    source : path, table or matrix
        Text (``node`` and one column a feature), Parquet or any Arrow table (the same, or ``node`` and
        a column of lists), scipy ``.npz`` (an array ``ids`` in it names the rows), ``.npy``, ``.mat``
        (``attributes``), svmlight; a scipy matrix or a numpy array.
    header, delimiter : optional
        For text, as in :func:`unseen.read_graph`.
    known : pyarrow array, optional
        Ids of other sources, by which a header is told from a row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ids, matrix, names = read_features(pa.table({"node": ["a", "b"], "tall": [1.0, 0.5]}))
    >>> ids.tolist(), matrix.tolist(), names
    (['a', 'b'], [[1.0], [0.5]], ('tall',))
    """
    if sp.issparse(source) or isinstance(source, np.ndarray):
        return None, _finite_matrix(source, "`features`"), None
    if is_tabular(source):
        return _from_table(read_arrow(source, "features"))
    if not is_path(source):
        msg = f"`features` must be a path, a table with the Arrow interface or a matrix, got {type(source).__name__}"
        raise InputError(msg)
    path = existing_file(source, "features")
    suffix, name = data_suffix(path), repr(str(path))
    if suffix == ".npz":
        ids, matrix, names = read_npz(path)
        return ids, _finite_matrix(matrix, name), names
    if suffix == ".npy":
        return None, _finite_matrix(read_npy(path), name), None
    if suffix == ".mat":
        return None, _finite_matrix(read_mat(path, FEATURE_KEYS, "features"), name), None
    if suffix in SVMLIGHT_SUFFIXES:
        return None, _finite_matrix(read_svmlight(path), name), None
    if suffix == ".parquet":
        return _from_table(read_parquet(path))
    if suffix in TEXT_SUFFIXES:
        table = read_text(
            path, is_feature_header, header=header, delimiter=delimiter, numbers=True, may_differ=True
        )
        return _from_table(settle_ids(table, is_feature_header, may_be_node_header, known, "refuse"))
    raise unknown_suffix(
        path, "features", [*TEXT_NAMES, ".parquet", ".npz", ".npy", ".mat", *SVMLIGHT_SUFFIXES]
    )


def is_feature_header(cells: Sequence[str]) -> bool:
    """Return whether these cells head a table of features: a known name, or no number beside the id."""
    return bool(set(NODE) & set(cells)) or (len(cells) > 1 and not any(map(_is_number, cells[1:])))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return not cell  # an empty cell is a missing number, not a name
    return True


def _from_table(table: Table) -> tuple[IdArray, Features, tuple[str, ...] | None]:
    node = node_column(table)
    if node is None:
        if not table.text:
            msg = f"{table.source} has the columns {listed(table.names or ())}; features need a column `node`"
            raise InputError(msg)
        node = 0
    values = [k for k in range(len(table.columns)) if k != node]
    if not values:
        msg = f"{table.source} has no column beside the node ids; features need at least one"
        raise InputError(msg)
    ids = id_values(table, node, "node")
    _require_single_rows(ids, table)
    node_ids = as_ids(ids.to_numpy(zero_copy_only=False))
    if len(values) == 1 and _is_list(table.columns[values[0]].type):
        return node_ids, _list_matrix(table, values[0]), None
    columns = [_column(table, k) for k in values]
    matrix = np.empty((table.n_rows, len(columns)), dtype=np.result_type(*columns))
    for k, column in enumerate(columns):
        matrix[:, k] = column
    names = None if table.names is None else tuple(table.names[k] for k in values)
    return node_ids, matrix, names


def _require_single_rows(ids: pa.Array, table: Table) -> None:
    codes = ids.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first = np.unique(codes, return_index=True)
    if len(first) == len(codes):
        return
    again = np.ones(len(codes), dtype=bool)
    again[first] = False
    row = int(np.flatnonzero(again)[0])
    msg = f"{table.place(row)}: the node {ids[row].as_py()!r} has features already; one row a node is allowed"
    raise InputError(msg)


def _column(table: Table, index: int) -> npt.NDArray[Any]:
    name = f"feature {index}" if table.names is None else f"feature {table.names[index]!r}"
    column = table.columns[index]
    if column.type == pa.float32() and not column.null_count:
        values: npt.NDArray[Any] = column.to_numpy()
    else:
        values = float_values(table, index, name)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        row = int(bad[0])
        value = str(values[row]) if column[row].is_valid else "missing"
        msg = f"{table.place(row)}: the {name} is {value}; features must be finite numbers"
        raise InputError(msg)
    return values


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _list_matrix(table: Table, index: int) -> npt.NDArray[Any]:
    column = table.columns[index]
    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    width = 0 if not len(lengths) or np.isnan(lengths[0]) else int(lengths[0])
    odd = np.flatnonzero(lengths != width)
    if len(odd):
        row = int(odd[0])
        size = "no list" if np.isnan(lengths[row]) else f"{int(lengths[row])} numbers"
        msg = f"{table.place(row)} has {size} where the first row has {width}; all feature lists must be equally long"
        raise InputError(msg)
    flat = Table(table.source, (pc.list_flatten(column),), None, lambda k: table.place(k // max(width, 1)))
    return _column(flat, 0).reshape(len(lengths), width)


def _finite_matrix(matrix: Any, source: str) -> Features:
    if matrix.ndim != 2:
        msg = f"{source} has shape {matrix.shape}; features need two dimensions, nodes and columns"
        raise InputError(msg)
    if matrix.dtype.kind not in "fiub":
        msg = f"{source} holds values of type {matrix.dtype}; features must be numbers"
        raise InputError(msg)
    if sp.issparse(matrix):
        coo = sp.coo_array(matrix)
        bad = np.flatnonzero(~np.isfinite(coo.data))
        if len(bad):
            k = bad[0]
            msg = f"{source}: row {coo.row[k]}, column {coo.col[k]} is {coo.data[k]}; features must be finite numbers"
            raise InputError(msg)
        return sp.csr_array(matrix)
    rows, columns = np.nonzero(~np.isfinite(matrix))
    if len(rows):
        value = matrix[rows[0], columns[0]]
        msg = f"{source}: row {rows[0]}, column {columns[0]} is {value}; features must be finite numbers"
        raise InputError(msg)
    return np.asarray(matrix)
