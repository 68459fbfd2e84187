"""Records that wait on disk, in buckets, for a step that looks at one bucket at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Records = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]


class Spill:
    """Fixed-size records in buckets.

    Files are opened for each write, so that the number of buckets is not limited by open files.

    Examples
    --------
    >>> import tempfile
    >>> spill = Spill(Path(tempfile.mkdtemp()), "numbers", np.dtype(np.int64))
    >>> spill.add(np.array([1, 0, 1]), np.array([10, 20, 30]))
    >>> spill.read(1).tolist(), spill.read(7).tolist()
    ([10, 30], [])
    """

    def __init__(self, folder: Path, name: str, dtype: np.dtype[Any]) -> None:
        self.folder, self.name, self.dtype = folder, name, dtype

    def path(self, bucket: int) -> Path:
        """Return the file of a bucket."""
        return self.folder / f"{self.name}-{bucket}"

    def add(self, buckets: Ints, records: Records) -> None:
        """Append `records` to the buckets named, one a record; a bucket keeps the order they came in."""
        for bucket, rows in by_bucket(buckets):
            with self.path(bucket).open("ab") as file:
                file.write(np.ascontiguousarray(records[rows]).data.cast("B"))

    def read(self, bucket: int) -> Records:
        """Return a whole bucket, empty if nothing was added to it."""
        path = self.path(bucket)
        return np.fromfile(path, dtype=self.dtype) if path.exists() else np.empty(0, dtype=self.dtype)

    def take(self, bucket: int) -> Records:
        """Return a whole bucket and free its disk space."""
        records = self.read(bucket)
        self.path(bucket).unlink(missing_ok=True)
        return records

    def pieces(self, bucket: int, rows: int) -> Iterator[Records]:
        """Yield a bucket in pieces of at most `rows` records."""
        if not self.path(bucket).exists():
            return
        with self.path(bucket).open("rb") as file:
            while len(piece := np.fromfile(file, dtype=self.dtype, count=rows)):
                yield piece


class TableSpill:
    """The same for Arrow record batches, whose texts have no fixed size.

    Examples
    --------
    >>> import tempfile
    >>> spill = TableSpill(Path(tempfile.mkdtemp()), "ids")
    >>> spill.add(np.array([0, 1]), pa.record_batch({"id": ["a", "b"]}))
    >>> spill.take(1, pa.schema([("id", pa.string())])).to_pydict()
    {'id': ['b']}
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name

    def path(self, bucket: int) -> Path:
        """Return the file of a bucket."""
        return self.folder / f"{self.name}-{bucket}"

    def add(self, buckets: Ints, batch: pa.RecordBatch) -> None:
        """Append the rows of `batch` to the buckets named, one a row."""
        for bucket, rows in by_bucket(buckets):
            with self.path(bucket).open("ab") as file, pa.ipc.new_stream(file, batch.schema) as writer:
                writer.write_batch(batch.take(pa.array(rows)))

    def read(self, bucket: int, schema: pa.Schema) -> pa.Table:
        """Return a whole bucket, empty if nothing was added to it."""
        path = self.path(bucket)
        if not path.exists():
            return schema.empty_table()
        with path.open("rb") as file:
            tables = []
            while file.peek(1):  # each write is a stream of its own
                tables.append(pa.ipc.open_stream(file).read_all())
        return pa.concat_tables(tables)

    def take(self, bucket: int, schema: pa.Schema) -> pa.Table:
        """Return a whole bucket and free its disk space."""
        table = self.read(bucket, schema)
        self.path(bucket).unlink(missing_ok=True)
        return table


def by_bucket(buckets: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each bucket that occurs, with the rows that go there in their order.

    Examples
    --------
    >>> [(bucket, rows.tolist()) for bucket, rows in by_bucket(np.array([2, 0, 2]))]
    [(0, [1]), (2, [0, 2])]
    """
    if not len(buckets):
        return
    order = np.argsort(buckets, kind="stable")
    ordered = buckets[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    for start, stop in zip(starts, [*starts[1:], len(ordered)], strict=True):
        yield int(ordered[start]), order[start:stop]
