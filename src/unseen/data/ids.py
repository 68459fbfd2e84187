"""Columns of ids: one Arrow type for all, joined and numbered in the order of first appearance; ids in .npz files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.ids import Array, IdArray, Ints, Mask, as_ids, default_ids, match_ids


def id_array(ids: IdArray, what: str = "node_ids") -> pa.Array:
    """Return ids that were checked before as an Arrow array of large strings or int64."""
    try:
        return pa.array(ids, type=pa.int64() if ids.dtype == np.int64 else pa.large_string())
    except UnicodeEncodeError as error:
        msg = f"`{what}` holds {error.object!r}, which is not valid Unicode text"
        raise InputError(msg) from None


def id_column(
    values: Any, what: str, place: Callable[[int], str] | None = None, source: str = ""
) -> pa.Array:
    """Return ids as an Arrow array of large strings or int64, none of them missing.

    `place` and `source` say where the column of a file stands; an empty text is no id there.
    """
    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        return id_array(as_ids(values, what=what), what)
    column, where = joined(values), f"{source}: " if source else ""
    integers = pa.types.is_integer(column.type)
    if not (integers or is_string(column.type) or pa.types.is_null(column.type)):
        msg = f"{where}the column of `{what}` has the type {column.type}; ids must be strings or integers"
        raise InputError(msg)
    try:
        ids = column.cast(pa.int64() if integers else pa.large_string())
    except pa.ArrowInvalid:
        msg = f"{where}ids of `{what}` do not fit into 64-bit integers; store them as strings"
        raise InputError(msg) from None
    missing = ids.is_null() if integers or place is None else pc.fill_null(pc.equal(ids, ""), True)
    row = pc.index(missing, pa.scalar(True)).as_py()
    if row >= 0:
        msg = f"{place(row) if place else f'row {row + 1}'}: the id of `{what}` is empty"
        raise InputError(msg)
    return ids


@dataclass(frozen=True)
class Numbering:
    """All ids in the order of first appearance, and the numbers of each column in it."""

    ids: IdArray
    before: list[Ints]
    columns: list[Ints]
    after: list[Ints]

    def find_named(self, n_after: int) -> Mask:
        """Return which ids occur before the `n_after`-th of the columns that come after the others."""
        mask = np.zeros(len(self.ids), dtype=bool)
        for part in (*self.before, *self.columns, *self.after[:n_after]):
            mask[part] = True
        return mask


def number_ids(
    columns: Sequence[pa.Array], *, before: Sequence[pa.Array] = (), after: Sequence[pa.Array] = ()
) -> Numbering:
    """Return the numbers of the ids of all columns; integer and string ids meet by string form.

    The `columns` are read row by row side by side, as the lines of a file are.
    """
    encoded = stacked([*before, *columns, *after]).dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    start, width, rows = sum(map(len, before)), len(columns), len(columns[0])
    middle = codes[start : start + width * rows].reshape(width, rows)
    in_order = np.concatenate([codes[:start], middle.T.ravel(), codes[start + width * rows :]])
    first = np.empty(len(encoded.dictionary), dtype=np.int64)
    first[in_order[::-1]] = np.arange(len(in_order) - 1, -1, -1)  # the last write, the first place, stays
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    ids = as_ids(encoded.dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False))
    parts = [*before, *columns, *after]
    pieces = np.split(number[codes], np.cumsum([len(part) for part in parts])[:-1])
    cut = len(before)
    return Numbering(ids, pieces[:cut], pieces[cut : cut + width], pieces[cut + width :])


def stacked(columns: Sequence[pa.Array]) -> pa.Array:
    """Return columns of ids one after the other: integers if all are, else strings; empty ones do not count."""
    kinds = {column.type for column in columns if len(column)}
    kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
    return pa.concat_arrays([column.cast(kind) for column in columns] or [pa.array([], kind)])


def numbered_ids(n: int, listed: Sequence[pa.Array]) -> IdArray:
    """Return the ids of `n` rows that name none: node numbers, or those of the first list if it has `n` others."""
    numbers = default_ids(n)
    if listed and len(listed[0]) == n:
        order = as_ids(listed[0].to_numpy(zero_copy_only=False))
        if (match_ids(order, numbers) < 0).any():
            return order
    return numbers


def coded(names: pa.Array) -> tuple[list[str], Ints]:
    """Return the names that there are, in the order of first appearance, and the number of each entry's."""
    encoded = names.dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def joined(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return the chunks of a column as one array, its dictionary resolved."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # what pyarrow returns for several gigabytes, or for no chunk
        return pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    return whole


def is_string(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


WIDEST = 256  # characters; numpy pads every string to the longest, so few long ones would cost gigabytes


def text_arrays(key: str, values: Any) -> dict[str, Array]:
    r"""Return arrays that hold ids or names without pickle: ``key``, or ``key_utf8`` and ``key_offsets``.

    numpy's strings have one width and lose zero characters at the end, so that very long values and those
    that end in one are stored as UTF-8 bytes.
    """
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return {key: values}
    texts = list(values)
    longest, total = max(map(len, texts), default=0), sum(map(len, texts))
    pads = longest > WIDEST or longest * len(texts) > 4 * total + 2**22
    if not pads and not any(text.endswith("\0") for text in texts):
        return {key: np.array(texts, dtype=str) if texts else np.zeros(0, dtype="U1")}
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {f"{key}_utf8": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{key}_offsets": offsets}


def texts_from_arrays(key: str, arrays: Mapping[str, Array], where: str) -> list[str] | None:
    r"""Return what `text_arrays` stored as bytes, or None where there is no such pair of arrays."""
    if f"{key}_utf8" not in arrays or f"{key}_offsets" not in arrays:
        return None
    content, offsets = arrays[f"{key}_utf8"].tobytes(), arrays[f"{key}_offsets"].tolist()
    try:
        return [content[a:b].decode() for a, b in itertools.pairwise(offsets)]
    except (TypeError, UnicodeDecodeError):
        msg = f"{where}: `{key}_utf8` and `{key}_offsets` do not make text; write the file again"
        raise InputError(msg) from None
