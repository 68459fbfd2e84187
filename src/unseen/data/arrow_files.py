"""Tables that Arrow reads and writes beside Parquet: Feather and Arrow IPC, and JSON lines."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from unseen.data.opened import File, data_suffix
from unseen.data.options import Options
from unseen.data.sources import Batches, Role
from unseen.data.tables import foreign, from_arrow, own_metadata
from unseen.data.writers import Files, arrow_table, feature_table, require_unpacked
from unseen.errors import UnsupportedError

_LINES = (".jsonl", ".ndjson")


def read(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield the columns of a Feather file, of an Arrow file or stream, or of one JSON object a line."""
    from pyarrow import feather
    from pyarrow import json as lines

    data = file.read()
    with foreign(file, "JSON lines" if file.suffix in _LINES else "Arrow"):
        if file.suffix in _LINES:
            block = lines.ReadOptions(block_size=min(max(len(data), 1), 2**31 - 1), use_threads=False)
            table = lines.read_json(io.BytesIO(data), read_options=block)
        elif data.startswith((b"ARROW1", b"FEA1")):
            table = feather.read_table(io.BytesIO(data), memory_map=False)
        else:
            table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)
    yield from_arrow(table, file.name, metadata=own_metadata(table.schema))


def write(value: Any, role: Role, path: Path) -> Files:
    """Write a table as Feather, which is an Arrow file, or as one JSON object a line."""
    from pyarrow import feather

    require_unpacked(path, data_suffix(path))
    if data_suffix(path) not in _LINES:
        table = value.to_arrow() if role == "vectors" else arrow_table(value, role)
        return {path: lambda temporary: feather.write_feather(table, str(temporary), compression="zstd")}
    rows = (feature_table(value, path) if role == "features" else arrow_table(value, role)).to_pylist()
    if not rows:
        msg = f"{path}: JSON lines cannot hold a table without rows; use .csv or .parquet instead"
        raise UnsupportedError(msg)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return {path: lambda temporary: temporary.write_text(text, encoding="utf-8") and None}
