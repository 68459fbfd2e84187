"""Columns of ids: one Arrow type for all, numbered in the order of first appearance; ids in .npz files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.ids import Array, IdArray, Ints, as_ids, default_ids, match_ids


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
    column, where = join_chunks(values), f"{source}: " if source else ""
    integers = pa.types.is_integer(column.type)
    if not (integers or is_string(column.type) or pa.types.is_null(column.type)):
        msg = f"{where}the column of `{what}` has the type {column.type}; it must hold texts or integers"
        raise InputError(msg)
    try:
        ids = column.cast(pa.int64() if integers else pa.large_string())
    except pa.ArrowInvalid:
        msg = f"{where}ids of `{what}` do not fit into 64-bit integers; store them as strings"
        raise InputError(msg) from None
    missing = ids.is_null() if integers or place is None else pc.fill_null(pc.equal(ids, ""), True)
    row = pc.index(missing, pa.scalar(True)).as_py()
    if row >= 0:
        msg = f"{place(row) if place else f'row {row + 1}'}: the cell of `{what}` is empty"
        raise InputError(msg)
    return ids


class Numbering:
    """Ids in the order of first appearance: each has the number of its place.

    `number` takes the columns of all sources one after the other. `_find` and `_append` alone know where the ids are
    kept; :class:`unseen.data.spill.SpilledNumbering` keeps them on disk.

    Examples
    --------
    >>> numbering = Numbering()
    >>> [numbers.tolist() for numbers in numbering.number(pa.array(["b", "a"]), pa.array(["c", "b"]))]
    [[0, 2], [1, 0]]
    >>> numbering.find(pa.array(["c", "x"])).tolist(), len(numbering), numbering.ids.tolist()
    ([1, -1], 3, ['b', 'c', 'a'])
    """

    def __init__(self) -> None:
        self._n, self._kind = 0, pa.int64()
        self._ids: Any = None

    def __len__(self) -> int:
        return self._n

    @property
    def has_integers(self) -> bool:
        """Whether the ids are integers."""
        return bool(pa.types.is_integer(self._kind))

    @property
    def ids(self) -> IdArray:
        """All ids by their numbers."""
        return as_ids(self._ids.to_numpy(zero_copy_only=False)) if self._n else default_ids(0)

    def name(self, number: int) -> Any:
        """Return the id that has a number."""
        return self._ids[int(number)].as_py()

    def number(self, *columns: pa.Array) -> tuple[Ints, ...]:
        """Return the numbers of the ids of columns, which are read side by side, as the lines of a file are."""
        ids, codes = _distinct_ids(columns)
        numbers = self.find(ids)
        is_new = numbers < 0
        n_new = int(np.count_nonzero(is_new))
        if n_new:
            numbers[is_new] = np.arange(self._n, self._n + n_new)
            self._append(self._in_common_type(ids).filter(pa.array(is_new)))
            self._n += n_new
        small: Any = numbers.astype(np.int32) if self._n < 2**31 else numbers
        return tuple(small[each] for each in codes)

    def find(self, ids: pa.Array) -> Ints:
        """Return the numbers of ids, -1 for those that have none; integers and strings meet by string form."""
        if not self._n or not len(ids):
            return np.full(len(ids), -1, dtype=np.int64)
        return self._find(self._in_common_type(ids))

    def _in_common_type(self, ids: pa.Array) -> pa.Array:
        """Return ids in the type of those that have numbers; where integers and strings meet, all become strings."""
        text = pa.large_string()
        if self._n and ids.type != self._kind and self._kind != text:
            self._make_text()
        self._kind = text if self._n and ids.type != self._kind else ids.type
        return ids.cast(self._kind)

    def _make_text(self) -> None:
        self._ids = self._ids.cast(pa.large_string())

    def _find(self, ids: pa.Array) -> Ints:
        found = pc.fill_null(pc.index_in(ids, value_set=self._ids), -1)
        return np.array(found.to_numpy(zero_copy_only=False), dtype=np.int64)

    def _append(self, ids: pa.Array) -> None:
        self._ids = pa.concat_arrays([self._ids, ids]) if self._n else ids


def _distinct_ids(columns: Sequence[pa.Array]) -> tuple[pa.Array, list[Ints]]:
    """Return the distinct ids of columns in the order of first appearance, and the place of each entry's among them."""
    kinds = {column.type for column in columns if len(column)}
    kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
    encoded = pa.concat_arrays([column.cast(kind) for column in columns]).dictionary_encode()
    codes = np.split(
        encoded.indices.to_numpy(zero_copy_only=False), np.cumsum([len(c) for c in columns])[:-1]
    )
    if len(columns) == 1:
        return encoded.dictionary, codes
    first = np.full(len(encoded.dictionary), np.iinfo(np.int64).max)
    for k, own in enumerate(codes):
        places = np.full(len(first), np.iinfo(np.int64).max)
        places[own[::-1]] = (
            np.arange(len(own) - 1, -1, -1) * len(codes) + k
        )  # the last write, the first place, stays
        np.minimum(first, places, out=first)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return encoded.dictionary.take(pa.array(order)), [rank[own] for own in codes]


def numbered_ids(n: int, listed: Sequence[pa.Array]) -> IdArray:
    """Return the ids of `n` rows that name none: node numbers, or those of the first list if it has `n` others."""
    numbers = default_ids(n)
    if listed and len(listed[0]) == n:
        order = as_ids(listed[0].to_numpy(zero_copy_only=False))
        if (match_ids(order, numbers) < 0).any():
            return order
    return numbers


def encode_names(names: pa.Array) -> tuple[list[str], Ints]:
    """Return the names that there are, in the order of first appearance, and the number of each entry's."""
    encoded = names.dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def join_chunks(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return the chunks of a column as one array, its dictionary resolved; polars' views of text become texts."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
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
