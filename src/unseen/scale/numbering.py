"""Number the nodes in the order of first appearance, when not even their ids fit in memory.

An id is known by its 64-bit key while it waits on disk. The ids are cut into buckets by key; in a bucket each id is
found once, with the place where it appeared first; then they are cut again, by that place, and numbered. Two texts
that share a key would be taken for one node, so that every bucket is searched for such a pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.scale.hashing import Keys, bucket_of, id_keys
from unseen.scale.spill import Spill, TableSpill

Ints = npt.NDArray[np.int64]

BINS = 65_536
"""Ranges of places whose nodes are counted, to cut the places into pieces of equal size."""
_NUMBERED = np.dtype([("key", np.uint64), ("number", np.int64)])


class Numbering:
    """Ids come in by :meth:`see`; after :meth:`finish` each has a number.

    Parameters
    ----------
    folder : Path
        Where the ids wait.
    integer : bool
        Whether ids are integers; else they are texts.
    buckets : int
        A power of two; memory holds one bucket at a time.

    Attributes
    ----------
    n_nodes : int
        How many ids there are, after :meth:`finish`.

    Examples
    --------
    >>> import tempfile
    >>> numbering = Numbering(Path(tempfile.mkdtemp()), integer=False, buckets=4)
    >>> for ids in (["b", "a", "b"], ["c", "a"]):
    ...     _ = numbering.see(pa.array(ids, pa.large_string()))
    >>> numbering.finish()
    >>> numbering.n_nodes, [name for ids in numbering.ids() for name in ids.to_pylist()]
    (3, ['b', 'a', 'c'])
    """

    def __init__(self, folder: Path, *, integer: bool, buckets: int) -> None:
        self.buckets, self.integer = buckets, integer
        self.n_nodes = 0
        self._places = 0
        self._seen = TableSpill(folder, "seen")
        self._once = TableSpill(folder, "once")
        self._ordered = TableSpill(folder, "ordered")
        self._numbers = Spill(folder, "numbers", _NUMBERED)
        self._starts: list[int] = [0]
        kind = pa.int64() if integer else pa.large_string()
        self._schema = pa.schema([("key", pa.uint64()), ("place", pa.int64()), ("id", kind)])
        self._loaded: tuple[int, Keys, Ints] | None = None

    def column(self, ids: pa.Array) -> pa.Array:
        """Return ids in the common type: integers and texts meet as texts."""
        return ids.cast(pa.int64() if self.integer else pa.large_string())

    def see(self, *columns: pa.Array) -> list[Keys]:
        """Take note of ids, `columns` side by side as in the lines of a file, and return their keys."""
        keys = [id_keys(column) for column in columns]
        woven = np.stack(keys, axis=1).ravel()
        once, first = np.unique(woven, return_index=True)
        row, column = np.divmod(first, len(columns))
        stacked = pa.concat_arrays(columns)
        ids = stacked.take(pa.array(column * len(columns[0]) + row))
        batch = pa.record_batch([pa.array(once), pa.array(self._places + first), ids], schema=self._schema)
        self._seen.add(bucket_of(once, self.buckets), batch)
        self._places += len(woven)
        return keys

    def finish(self) -> None:
        """Give every id its number."""
        counts = np.zeros(BINS, dtype=np.int64)
        for bucket in range(self.buckets):
            table = self._first_seen(self._seen.take(bucket, self._schema))
            counts += np.bincount(self._bin(np.asarray(table["place"])), minlength=BINS)
            self._once.add(np.full(len(table), bucket), table)
            self.n_nodes += len(table)
        group = np.cumsum(counts) * self.buckets // (self.n_nodes + 1)
        for bucket in range(self.buckets):
            for piece in self._once.take(bucket, self._schema).to_batches():
                self._ordered.add(group[self._bin(np.asarray(piece["place"]))], piece)
        for k in range(self.buckets):
            table = self._ordered.take(k, self._schema).sort_by("place").combine_chunks()
            keys = np.asarray(table["key"])
            numbered = np.empty(len(keys), dtype=_NUMBERED)
            numbered["key"], numbered["number"] = keys, self._starts[-1] + np.arange(len(keys))
            self._numbers.add(bucket_of(keys, self.buckets), numbered)
            for piece in table.select(["id"]).to_batches():
                self._ordered.add(np.full(len(piece), k), piece)
            self._starts.append(self._starts[-1] + len(keys))

    def ids(self) -> Iterator[pa.Array]:
        """Yield all ids in the order of their numbers, in pieces."""
        for k in range(self.buckets):
            if self._starts[k] < self._starts[k + 1]:
                yield self._piece(k)

    def id_of(self, number: int) -> object:
        """Return one id by its number, for a message."""
        k = int(np.searchsorted(self._starts, number, side="right")) - 1
        return self._piece(k)[number - self._starts[k]].as_py()

    def numbers_of(self, keys: Keys, bucket: int) -> Ints:
        """Return the numbers of keys that were seen and belong to one bucket."""
        if self._loaded is None or self._loaded[0] != bucket:
            found = self._numbers.read(bucket)
            order = np.argsort(found["key"])
            self._loaded = bucket, found["key"][order], found["number"][order]
        _, known, numbers = self._loaded
        return numbers[np.searchsorted(known, keys)]

    def numbers(self, keys: Keys) -> Ints:
        """Return the numbers of any keys that were seen; reads every bucket that they belong to."""
        made = np.empty(len(keys), dtype=np.int64)
        buckets = bucket_of(keys, self.buckets)
        for bucket in np.unique(buckets):
            rows = np.flatnonzero(buckets == bucket)
            made[rows] = self.numbers_of(keys[rows], int(bucket))
        return made

    def _piece(self, k: int) -> pa.Array:
        column = self._ordered.read(k, pa.schema([self._schema.field("id")])).column(0).combine_chunks()
        return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column

    def _bin(self, places: Ints) -> Ints:
        return (places.astype(np.float64) * (BINS / (self._places + 1))).astype(np.int64)

    def _first_seen(self, table: pa.Table) -> pa.RecordBatch:
        """Return each id once, with its first place; refuse two ids of one key."""
        table = table.sort_by([("key", "ascending"), ("place", "ascending")]).combine_chunks()
        keys = np.asarray(table["key"])
        new = np.r_[True, keys[1:] != keys[:-1]] if len(keys) else np.zeros(0, dtype=bool)
        ids = table["id"]
        repeated = np.flatnonzero(~new)
        if len(repeated):
            differ = pc.not_equal(ids.take(pa.array(repeated)), ids.take(pa.array(repeated - 1)))
            row = pc.index(differ, pa.scalar(True)).as_py()
            if row >= 0:
                two = ids[int(repeated[row]) - 1].as_py(), ids[int(repeated[row])].as_py()
                msg = (
                    f"the ids {two[0]!r} and {two[1]!r} have the same 64-bit key by chance; rename one of them, "
                    "e.g. with a letter before it"
                )
                raise InputError(msg)
        kept = table.filter(pa.array(new)).combine_chunks().to_batches()
        empty = pa.record_batch([pa.array([], field.type) for field in self._schema], schema=self._schema)
        return pa.Table.from_batches(kept).to_batches()[0] if kept else empty
