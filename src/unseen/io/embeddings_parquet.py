"""Embeddings in Parquet: our own schema, and tables of other tools, block by block."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from unseen.embedding import Embedding
from unseen.errors import InputError, logger
from unseen.ids import IdArray, as_ids, require_unique
from unseen.io.columns import id_position
from unseen.io.edges import id_column
from unseen.io.embeddings_common import (
    broken,
    finite_float32,
    made_by,
    row_numbers,
    shown,
)

BLOCK_VALUES = 2**22


def read_parquet(path: Path) -> Embedding:
    """Read our schema, or an id column with a list column or with columns of numbers."""
    try:
        with pq.ParquetFile(path) as file:
            return _read(file, path)
    except (pa.ArrowException, OSError) as error:
        raise broken(path, "Parquet", error) from error


def _read(file: pq.ParquetFile, path: Path) -> Embedding:
    schema = file.schema_arrow
    stored = _stored(schema.metadata or {})
    id_name = _id_name(schema)
    lists = [field.name for field in schema if field.name != id_name and _is_number_list(field.type)]
    numbers = [field.name for field in schema if field.name != id_name and _is_number(field.type)]
    if len(set(schema.names)) != len(schema.names):
        msg = f"{path}: two columns have the same name; name them differently"
        raise InputError(msg)
    if not lists and not numbers:
        found = ", ".join(f"{field.name} ({field.type})" for field in schema) or "no columns"
        msg = (
            f"{path}: needed is a column `vector` with lists of numbers, or columns of numbers; found {found}"
        )
        raise InputError(msg)
    if len(lists) > 1 and "vector" not in lists:
        msg = f"{path}: several columns hold lists of numbers ({', '.join(lists)}); call one of them `vector`"
        raise InputError(msg)
    names = numbers if not lists else ["vector"] if "vector" in lists else lists
    unused = [name for name in schema.names if name != id_name and name not in names]
    if unused:
        logger.info("%s: columns that are not used: %s", path, ", ".join(unused))
    n = file.metadata.num_rows
    if id_name is None:
        ids = row_numbers(path, n)
    else:
        column = id_column(file.read(columns=[id_name]).column(0), id_name)
        ids = as_ids(column.to_numpy(zero_copy_only=False))
    require_unique(ids)
    blocks = _blocks(file, names, ids, path)
    if stored.get("sparse") is True:
        vectors: Any = sp.vstack([sp.csr_array(block) for block in blocks], format="csr")
    else:
        vectors = _stacked(blocks, n)
    return Embedding(vectors, ids, *made_by(stored, path))


def _stored(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    ours = {
        key.removeprefix(b"unseen."): value for key, value in metadata.items() if key.startswith(b"unseen.")
    }
    try:
        return {key.decode(): json.loads(value) for key, value in ours.items()}
    except ValueError:
        return {"method": None}


def _id_name(schema: pa.Schema) -> str | None:
    usable = {field.name: field for field in schema if _is_id(field.type)}
    position = id_position(list(usable))
    if position is not None:
        return str(list(usable)[position])
    texts = [name for name, field in usable.items() if not pa.types.is_integer(field.type)]
    return str(texts[0]) if len(texts) == 1 else None


def _is_id(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _is_number_list(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(is_list and _is_number(kind.value_type))


def _blocks(
    file: pq.ParquetFile, names: list[str], ids: IdArray, path: Path
) -> Iterator[npt.NDArray[np.float32]]:
    start, width = 0, None
    for batch in file.iter_batches(batch_size=_batch_rows(file, names), columns=names):
        if not len(batch):
            continue
        columns = [batch.column(name) for name in names]
        for column in columns:
            if column.null_count:
                row = start + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
                msg = f"{path}: node {shown(ids[row])} (row {row + 1}) has an empty vector or an empty number"
                raise InputError(msg)
        if _is_number(columns[0].type):
            values = np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])
        else:
            values = _from_lists(columns[0], width, ids[start:], path)
        width = values.shape[1]
        yield finite_float32(values, ids, start)
        start += len(batch)


def _batch_rows(file: pq.ParquetFile, names: list[str]) -> int:
    values = sum(
        file.metadata.row_group(group).column(k).num_values
        for group in range(file.metadata.num_row_groups)
        for k in range(file.metadata.num_columns)
        if file.metadata.row_group(group).column(k).path_in_schema.split(".")[0] in names
    )
    width = max(1, values // max(1, file.metadata.num_rows))
    return int(max(1, BLOCK_VALUES // width))


def _from_lists(column: pa.Array, width: int | None, ids: IdArray, path: Path) -> npt.NDArray[Any]:
    flat = column.flatten()
    if flat.null_count:
        msg = f"{path}: a vector has an empty number; every entry must be a number"
        raise InputError(msg)
    lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    width = int(lengths[0]) if width is None else width
    odd = np.flatnonzero(lengths != width)
    if len(odd):
        node, found = shown(ids[odd[0]]), lengths[odd[0]]
        msg = f"{path}: the vector of node {node} has {found} numbers, those before it have {width}"
        raise InputError(msg)
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(column), width)


def _stacked(blocks: Iterator[npt.NDArray[np.float32]], n: int) -> npt.NDArray[np.float32]:
    matrix, start = np.empty((0, 0), dtype=np.float32), 0
    for block in blocks:
        if not start:
            matrix = np.empty((n, block.shape[1]), dtype=np.float32)
        matrix[start : start + len(block)] = block
        start += len(block)
    return matrix
