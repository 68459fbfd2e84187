"""Rows of a large graph on disk, of its adjacency and of its features: they come in pieces, and parts go out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.engine.parts import ArrayFile
from unseen.engine.run import row_cuts
from unseen.errors import InputError
from unseen.graph import Features

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ROW_COST = 4
"""What a row costs beside its entries, in entries: dense work and the optimiser, measured at d = 200."""
PIECE = 1 << 20
"""Rows or entries that are in memory together."""
BYTES_PER_NODE = 13
"""What writing a part takes: a mark, a new number, and perhaps a place in the halo for every node."""


class RowFiles:
    """Rows in CSR form, in three files: where each row ends, the columns, the weights.

    Parameters
    ----------
    folder : Path
        Where the files are.
    n : int
        Number of rows.
    weighted : bool
        Whether weights are kept; otherwise all are 1.

    Examples
    --------
    >>> import tempfile
    >>> rows = RowFiles(Path(tempfile.mkdtemp()), 3, weighted=False)
    >>> rows.append(np.array([0, 2]), np.array([2, 0]), np.ones(2))
    >>> rows.finish()
    >>> rows.cuts(3)
    [0, 1, 2, 3]
    """

    def __init__(self, folder: Path, n: int, *, weighted: bool) -> None:
        self._folder, self.n, self._weighted = folder, n, weighted
        self.n_entries = 0
        self._closed = 0

    def append(self, rows: Ints, columns: Ints, weights: Floats) -> None:
        """Take entries, all of them in the order of rows and columns."""
        self._close(int(rows[-1]), rows)
        self._append("columns", columns)
        if self._weighted:
            self._append("weights", weights)
        self.n_entries += len(rows)

    def finish(self) -> None:
        """End the last rows; what follows reads."""
        self._close(self.n, np.empty(0, dtype=np.int64))

    def _append(self, name: str, values: npt.NDArray[Any]) -> None:
        with (self._folder / name).open("ab") as file:
            values.tofile(file)

    def _close(self, row: int, rows: Ints) -> None:
        """Write where the rows before `row` end, given the rows of the entries that come next."""
        for first in range(self._closed, row, PIECE):
            numbers = np.arange(first, min(first + PIECE, row))
            self._append("ends", self.n_entries + np.searchsorted(rows, numbers, side="right"))
        self._closed = max(self._closed, row)

    def cuts(self, parts: int) -> list[int]:
        """Return where each part begins, and the number of rows: parts of equal work, none without a row.

        If there are enough rows, parts begin where blocks do (see :mod:`unseen.engine.run`), so that sums over
        blocks are the same bits on any number of processes.
        """
        unit = row_cuts(self.n)[0][1]
        unit = unit if parts <= -(-self.n // unit) else 1
        last = -(-self.n // unit)
        starts = [0]
        for part in range(1, parts):
            near = bisect_left(range(self.n), self._work(self.n) * part / parts, key=self._work) / unit
            starts.append(min(max(round(near), starts[-1] + 1), last - parts + part))
        return [*(unit * block for block in starts), self.n]

    def _work(self, row: int) -> int:
        """Return the work in all rows before this one."""
        return self._start(row) + ROW_COST * row

    def _start(self, row: int) -> int:
        return int(next(self._pieces("ends", row - 1, row))[0]) if row else 0

    def _pieces(self, name: str, first: int, last: int) -> Iterator[npt.NDArray[Any]]:
        """Yield the entries `first` up to `last` of a file, some at a time."""
        dtype = np.dtype(np.float64 if name == "weights" else np.int64)
        if first == last:
            return  # there may be no such file
        with (self._folder / name).open("rb") as file:
            file.seek(first * dtype.itemsize)
            for start in range(first, last, PIECE):
                yield np.fromfile(file, dtype=dtype, count=min(PIECE, last - start))

    def write(self, inside: Path, start: int, stop: int) -> tuple[int, int]:
        """Write the rows of a part to its folder; return the number of entries and the size of the halo."""
        first, last, n_rows = self._start(start), self._start(stop), stop - start
        foreign = np.zeros(self.n, dtype=bool)
        for columns in self._pieces("columns", first, last):
            foreign[columns] = True
        foreign[start:stop] = False
        halo = np.flatnonzero(foreign)
        del foreign
        np.save(inside / "halo.npy", halo)
        index = np.dtype(np.int32 if n_rows + len(halo) < 2**31 else np.int64)
        local = np.empty(self.n, dtype=index)
        local[start:stop] = np.arange(n_rows, dtype=index)
        local[halo] = np.arange(n_rows, n_rows + len(halo), dtype=index)
        with (
            ArrayFile(inside / "indptr.npy", (n_rows + 1,), np.dtype(np.int64)) as indptr,
            ArrayFile(inside / "indices.npy", (last - first,), index) as indices,
            ArrayFile(inside / "weights.npy", (last - first,), np.dtype(np.float64)) as weights,
        ):
            indptr.write(np.zeros(1, dtype=np.int64))
            for ends in self._pieces("ends", start, stop):
                indptr.write(ends - first)
            for columns in self._pieces("columns", first, last):
                indices.write(local[columns])
                if not self._weighted:
                    weights.write(np.ones(len(columns)))
            if self._weighted:
                for values in self._pieces("weights", first, last):
                    weights.write(values)
        return last - first, len(halo)


class FeatureFile:
    """Rows of features in the order they are listed, until their nodes are numbered.

    Dense rows are kept in a file; a sparse matrix, which was read whole, stays as it is.

    Parameters
    ----------
    path : Path
        Where the file is.
    source : str
        What messages call the source.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> features = FeatureFile(folder / "listed", "'features.csv'")
    >>> features.add(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> features.write(folder, [np.array([1, 0])], 2)
    >>> np.load(folder / "features.npy").tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """

    def __init__(self, path: Path, source: str) -> None:
        self._path, self._source = path, source
        self._sparse: sp.csr_array | None = None
        self.columns: int | None = None
        self.dtype: np.dtype[Any] = np.dtype(np.float32)

    def add(self, values: Features) -> None:
        """Append rows."""
        if self.columns not in (None, values.shape[1]):
            two = f"{self.columns} and of {values.shape[1]}"
            msg = f"{self._source} has rows of {two} features; all rows need the same number"
            raise InputError(msg)
        self.columns = values.shape[1]
        if values.dtype != np.float32:
            self.dtype = np.dtype(np.float64)
        if not isinstance(values, np.ndarray):
            before = [] if self._sparse is None else [self._sparse]
            self._sparse = sp.csr_array(sp.vstack([*before, values], format="csr"))
            return
        with self._path.open("ab") as file:
            values.astype(np.float64).tofile(file)

    @property
    def described(self) -> dict[str, Any]:
        """What META.json says of the features."""
        kind = "dense" if self._sparse is None else "sparse"
        return {"kind": kind, "columns": self.columns, "dtype": str(self.dtype)}

    def write(self, inside: Path, pieces: Iterable[Ints], n: int) -> None:
        """Write the features of `n` nodes to the folder of their part, given the rows they are in."""
        if self._sparse is not None:
            matrix = self._sparse[np.concatenate([*pieces])]
            matrix.sum_duplicates()
            np.save(inside / "features_indptr.npy", matrix.indptr.astype(np.int64))
            np.save(inside / "features_indices.npy", matrix.indices.astype(np.int32))
            np.save(inside / "features_values.npy", matrix.data.astype(self.dtype))
            return
        columns = self.columns or 0
        step = max(1, PIECE // max(1, columns))
        with ArrayFile(inside / "features.npy", (n, columns), self.dtype) as file:
            for rows in pieces if columns else ():
                for start in range(0, len(rows), step):
                    listed = np.memmap(self._path, dtype=np.float64, mode="r").reshape(-1, columns)
                    file.write(listed[rows[start : start + step]])
