"""Arrow, Parquet and JSON lines: how much memory their columns take, known before they are unpacked; and readers."""

from __future__ import annotations

import io
import struct
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unseen.data.opened import BASE, File, require_depth
from unseen.data.sources import JSON_LINES, Batches, Options, Role
from unseen.data.tables import explain_errors, from_arrow, is_string
from unseen.errors import InputError

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


def decoded_bytes(table: pa.Table) -> int:
    """Return the bytes of a table whose repeated texts are written out; a dictionary holds each of them once."""
    total = int(table.nbytes)
    for column in table.columns:
        if pa.types.is_dictionary(column.type) and is_string(column.type.value_type):
            lengths = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks)
            total += sum(pc.sum(each).as_py() or 0 for each in lengths)
    return total


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


def read_parquet(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the columns of a Parquet file, at once or in batches of about `n_bytes`."""
    done = size = 0
    with explain_errors(file, "Parquet"):
        content = file.path if file.path.is_file() else file.open_content()
        with pq.ParquetFile(content, buffer_size=0 if n_bytes is None else 1 << 20) as parquet:
            metadata, facts = own_metadata(parquet.schema_arrow), parquet.metadata
            groups, n_columns = [facts.row_group(k) for k in range(facts.num_row_groups)], facts.num_columns
            step = 1 << 12
            if n_bytes is None:  # the footer declares encoded pages, and 8 bytes for each value
                chunks = [group.column(k) for group in groups for k in range(n_columns)]
                total = sum(max(chunk.total_uncompressed_size, 8 * chunk.num_values) for chunk in chunks)
                file.require_room(total, facts.num_rows)
            else:  # in memory a row takes more than in the file
                total = sum(group.total_byte_size for group in groups)
                step = n_bytes // max(2 * total // max(1, facts.num_rows), 16 * n_columns, 1)
                step = max(1, min(2**20, step))
            for group in range(len(groups)):  # over all at once it would fetch ahead
                rows = parquet_rows(file, content, facts, group, step)
                for piece in parquet.iter_batches(batch_size=rows, row_groups=[group], use_threads=False):
                    table = pa.Table.from_batches([piece])
                    for name, column in zip(table.column_names, table.columns, strict=True):
                        try:
                            column.validate(full=True)
                        except pa.ArrowInvalid:
                            what = (
                                "text that is not UTF-8"
                                if is_string(column.type)
                                else "values that are not valid"
                            )
                            msg = f"{file.name}: the column {name!r} holds {what}; write the file again"
                            raise InputError(msg) from None
                    size += decoded_bytes(table)
                    if n_bytes is None:
                        file.require_room(size, done + len(piece))
                    yield from_arrow(table, file.name, before=done, metadata=metadata)
                    done += len(piece)
            if not done:
                yield from_arrow(parquet.schema_arrow.empty_table(), file.name, metadata=metadata)


def read_arrow(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the columns of a Feather file, of an Arrow file or stream, or of one JSON object a line."""
    from pyarrow import feather
    from pyarrow import json as lines

    data = file.read()
    with explain_errors(file, "JSON lines" if file.suffix in JSON_LINES else "Arrow"):
        if file.suffix in JSON_LINES:
            require_depth(file.name, data)
            block = lines.ReadOptions(block_size=min(max(len(data), 1), 2**31 - 1), use_threads=False)
            table = lines.read_json(io.BytesIO(data), read_options=block)
        else:
            file.require_room(*arrow_sizes(data))
            if data.startswith((b"ARROW1", b"FEA1")):
                table = feather.read_table(io.BytesIO(data), memory_map=False)
            else:
                table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)
        file.require_room(decoded_bytes(table), len(table))
    yield from_arrow(table, file.name, metadata=own_metadata(table.schema))


def own_metadata(schema: pa.Schema) -> dict[str, Any]:
    """Return what we wrote into the metadata of a file of vectors, as text."""
    own = {key: value for key, value in (schema.metadata or {}).items() if key.startswith(b"unseen.")}
    return {key.decode("utf-8", "replace").removeprefix("unseen."): value for key, value in own.items()}
