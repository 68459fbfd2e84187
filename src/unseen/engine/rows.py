"""Rows of a large graph on disk, of its adjacency and of its features: they come in pieces, and parts go out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.engine.run import row_cuts
from unseen.errors import InputError
from unseen.graph import Features
from unseen.ids import Array, Floats, Ints

ROW_COST = 4
"""What a row costs beside its entries, in entries: dense work and the optimiser, measured at d = 200."""
PIECE = 1 << 20
"""Rows or entries that are in memory together."""
BYTES_PER_NODE = 21
"""What writing a part takes: where its row ends, a mark, a new number, and perhaps a place in the halo."""


@contextmanager
def array_file(path: Path, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Iterator[Callable[[Array], None]]:
    """Give a function that appends pieces to a numpy file: its length is known, the whole need not be in memory."""
    kind = np.dtype(dtype)
    header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    with path.open("wb") as file:
        np.lib.format.write_array_header_2_0(file, header)  # type: ignore[arg-type]
        yield lambda piece: _append(file, piece.astype(kind, copy=False))


def _append(file: Any, piece: Array) -> None:
    file.write(np.ascontiguousarray(piece))


class RowFiles:
    """Rows in CSR form: columns and weights of the entries in two files, and where each row ends in memory.

    Parameters
    ----------
    folder : Path
        Where the files are.
    n : int
        Number of rows.
    weighted : bool
        Whether weights are kept; otherwise all are 1.
    """

    def __init__(self, folder: Path, n: int, *, weighted: bool) -> None:
        self._folder, self._weighted = folder, weighted
        self._ends = np.zeros(n + 1, dtype=np.int64)

    def append(self, rows: Ints, columns: Ints, weights: Floats) -> None:
        """Take entries, all of them in the order of rows and columns."""
        first, last = int(rows[0]), int(rows[-1])
        self._ends[first + 1 : last + 2] += np.bincount(rows - first)
        for name, values in {"columns": columns, "weights": weights}.items():
            if name == "columns" or self._weighted:
                with (self._folder / name).open("ab") as file:
                    _append(file, values)

    def finish(self) -> None:
        """End the rows; what follows reads."""
        np.cumsum(self._ends, out=self._ends)

    def cuts(self, parts: int) -> list[int]:
        """Return where each part begins, and the number of rows: parts of equal work, none without a row.

        If there are enough rows, parts begin where blocks do (see :mod:`unseen.engine.run`), so that sums over
        blocks are the same bits on any number of processes.
        """
        n = len(self._ends) - 1
        unit = row_cuts(n)[0][1]
        unit = unit if parts <= -(-n // unit) else 1
        work = np.arange(0, ROW_COST * (n + 1), ROW_COST)
        work += self._ends
        starts = [0]
        for part in range(1, parts):
            near = np.searchsorted(work[:-1], work[-1] * part / parts) / unit
            starts.append(min(max(round(near), starts[-1] + 1), -(-n // unit) - parts + part))
        return [*(unit * block for block in starts), n]

    def _pieces(self, name: str, first: int, last: int) -> Iterator[Array]:
        """Yield the entries `first` up to `last` of a file, some at a time."""
        for start in range(first, last, PIECE):
            count = min(PIECE, last - start)
            if name == "columns":
                yield np.fromfile(self._folder / name, np.int64, count, offset=8 * start)
            elif self._weighted:
                yield np.fromfile(self._folder / name, np.float64, count, offset=8 * start)
            else:
                yield np.ones(count)

    def write(self, inside: Path, start: int, stop: int) -> tuple[int, int]:
        """Write the rows of a part to its folder; return the number of entries and the size of the halo."""
        first, last, n_rows = int(self._ends[start]), int(self._ends[stop]), stop - start
        foreign = np.zeros(len(self._ends) - 1, dtype=bool)
        for columns in self._pieces("columns", first, last):
            foreign[columns] = True
        foreign[start:stop] = False
        halo = np.flatnonzero(foreign)
        del foreign
        np.save(inside / "halo.npy", halo)
        np.save(inside / "indptr.npy", self._ends[start : stop + 1] - first)
        index = np.int32 if n_rows + len(halo) < 2**31 else np.int64
        local = np.empty(len(self._ends) - 1, dtype=index)
        local[start:stop] = np.arange(n_rows, dtype=index)
        local[halo] = np.arange(n_rows, n_rows + len(halo), dtype=index)
        with array_file(inside / "indices.npy", (last - first,), index) as append:
            for columns in self._pieces("columns", first, last):
                append(local[columns])
        with array_file(inside / "weights.npy", (last - first,), np.float64) as append:
            for weights in self._pieces("weights", first, last):
                append(weights)
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
            _append(file, values.astype(np.float64))

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
        with array_file(inside / "features.npy", (n, columns), self.dtype) as append:
            for rows in pieces if columns else ():
                for start in range(0, len(rows), step):
                    listed = np.memmap(self._path, dtype=np.float64, mode="r").reshape(-1, columns)
                    append(listed[rows[start : start + step]])
