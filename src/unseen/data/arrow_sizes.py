"""What Arrow and Parquet files declare: how much memory their columns take, known before they are unpacked."""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unseen.data.bounds import BASE
from unseen.data.ids import is_string
from unseen.data.opened import File

_HEADER_KINDS = {2: "dictionary", 3: "record batch"}
"""Messages of Arrow that hold columns, by the number of their header."""


def arrow_sizes(data: bytes) -> tuple[int, int]:
    """Return the bytes of the buffers of an Arrow file or stream once they are unpacked, and the number of rows.

    Compressed buffers begin with their length; where they are is in the header of each message, a flatbuffer.
    """
    stream = data[8:] if data.startswith(b"ARROW1") else data
    total = rows = 0
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(stream)):
        head, body = message.metadata.to_pybytes(), message.body
        root = _number(head, 0, "<I")
        kind = _HEADER_KINDS.get(_number(head, _field(head, root, 1), "<B"))
        if kind is None:
            continue
        table = _target(head, _field(head, root, 2))
        if kind == "dictionary":
            table = _target(head, _field(head, table, 1))
        count, packed = _field(head, table, 0), _field(head, table, 3)
        rows += _number(head, count, "<q") if count else 0
        vector = _target(head, _field(head, table, 2))
        for k in range(_number(head, vector, "<I")):
            start, length = struct.unpack_from("<qq", head, vector + 4 + 16 * k)
            if packed and length >= 8 and 0 <= start <= body.size - 8:
                length = max(struct.unpack("<q", body[start : start + 8])[0], length)
            total += max(length, 0)
    return total, rows


def decoded_bytes(table: pa.Table) -> int:
    """Return the bytes of a table whose repeated texts are written out; a dictionary holds each of them once."""
    total = int(table.nbytes)
    for column in table.columns:
        if pa.types.is_dictionary(column.type) and is_string(column.type.value_type):
            lengths = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks)
            total += sum(pc.sum(each).as_py() or 0 for each in lengths)
    return total


def _field(head: bytes, table: int, number: int) -> int:
    """Return where a field of a flatbuffer's table is; 0: it has its default."""
    places = table - _number(head, table, "<i")
    inside = 4 + 2 * number < _number(head, places, "<H")
    offset = _number(head, places + 4 + 2 * number, "<H") if inside else 0
    return table + offset if offset else 0


def _target(head: bytes, place: int) -> int:
    return place + _number(head, place, "<I")


def _number(head: bytes, place: int, kind: str) -> int:
    return int(struct.unpack_from(kind, head, place)[0])


def require_parquet_room(file: File, parquet: Any) -> None:
    """Refuse a Parquet file whose footer declares more than the bound: encoded pages, and 8 bytes for each value."""
    facts = parquet.metadata
    chunks = [
        facts.row_group(g).column(k) for g in range(facts.num_row_groups) for k in range(facts.num_columns)
    ]
    n_bytes = sum(max(chunk.total_uncompressed_size, 8 * chunk.num_values) for chunk in chunks)
    file.require_room(n_bytes, facts.num_rows)


def parquet_rows(file: File, content: Any, facts: Any, group: int, most: int) -> int:
    """Return how many rows of a row group may be read at once, at most `most`.

    A text that repeats is stored once, so a small page can hold rows of gigabytes. The first row brings all different
    texts of a column with it (its dictionary), and the longest of them bounds a row.
    """
    chunks = [facts.row_group(group).column(k) for k in range(facts.num_columns)]
    texts = [each for each in chunks if each.physical_type == "BYTE_ARRAY" and each.has_dictionary_page]
    suspicious = [each for each in texts if each.total_uncompressed_size * most > BASE // 4]
    for chunk in suspicious:
        path = chunk.path_in_schema
        with pq.ParquetFile(content, read_dictionary=[path]) as parquet:
            rows = parquet.iter_batches(batch_size=1, row_groups=[group], columns=[path], use_threads=False)
            column: Any = next(rows).column(0)
        nested = not pa.types.is_dictionary(column.type)
        while not pa.types.is_dictionary(column.type):
            parts = column.flatten()
            column = parts[0] if isinstance(parts, list) else parts
        longest = pc.max(pc.binary_length(column.dictionary)).as_py() or 1
        if nested:  # one row may hold all values
            file.require_room(longest * chunk.num_values)
        most = max(1, min(most, BASE // 4 // longest))
    return most
