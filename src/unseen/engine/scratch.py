"""Arrays on disk that are used as if they were in memory, for what is read and written in order only.

Such an array is mapped from a file without a name, whose space is claimed at once and given back when the array is
forgotten.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

import numpy as np

from unseen.errors import OutputError
from unseen.ids import Array, Singles, mapped_file

LARGE = 1 << 26
"""Bytes, in memory, from which on an array may lie on disk."""
BLOCK_BYTES = 2**24
"""Zeros that are written at once where the system cannot allocate a file."""
HALF = 2
"""Bytes of a number in float16."""
WRITTEN_ROWS = 65_536
"""Rows that are rounded and written at a time."""


def scratch_zeros(shape: tuple[int, ...], folder: Path | None) -> Singles:
    """Return float32 zeros: in a file of `folder` if there is one and they are large, else in memory.

    Examples
    --------
    >>> scratch_zeros((2, 2), None).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    size = 4 * math.prod(shape)
    if folder is None or size < LARGE:
        return np.zeros(shape, dtype=np.float32)
    with _claim_file(size, folder) as file:
        memory = mmap.mmap(file.fileno(), size)
    return np.frombuffer(memory, dtype=np.float32).reshape(shape)


class ColumnBlocks:
    """A tall matrix that is written in blocks of columns and read in blocks of rows.

    A small one is in memory in float32. A large one is in a file without a name in float16: that halves what is
    written, and rounds numbers by less than 0.05 %. Reading goes through the file, not through mapped pages, so that it
    takes no memory.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the matrix.
    folder : Path or None
        Where the file is. None is the system's folder for temporary files, if it has room, or else memory.

    Examples
    --------
    >>> matrix = ColumnBlocks(3, 2)
    >>> matrix.append(np.ones((3, 1), dtype=np.float32))
    >>> matrix.append(np.full((3, 1), 2, dtype=np.float32))
    >>> matrix.read(1, 2).tolist()
    [[1.0, 2.0]]
    """

    def __init__(self, n_rows: int, n_columns: int, folder: Path | None = None) -> None:
        self.shape = (n_rows, n_columns)
        self._widths: list[int] = []
        self._file: IO[bytes] | None = None
        if 4 * n_rows * n_columns >= LARGE:
            try:
                self._file = _claim_file(HALF * n_rows * n_columns, folder or Path(tempfile.gettempdir()))
                weakref.finalize(self, self._file.close)
            except OutputError:
                if folder is not None:
                    raise
        self._memory = np.empty(self.shape if self._file is None else (0, 0), dtype=np.float32)

    def append(self, block: Singles) -> None:
        """Write further columns."""
        first, width = sum(self._widths), block.shape[1]
        self._widths.append(width)
        if self._file is None:
            self._memory[:, first : first + width] = block
            return
        for start in range(0, len(block), WRITTEN_ROWS):
            rows = np.ascontiguousarray(block[start : start + WRITTEN_ROWS], dtype=np.float16)
            os.pwrite(self._file.fileno(), rows.data, HALF * (self.shape[0] * first + start * width))

    def read(self, start: int, stop: int) -> Singles:
        """Return the rows from `start` to `stop`, all their columns, in float32; they may be written to."""
        if self._file is None:
            return self._memory[start:stop].copy()
        rows, first = np.empty((stop - start, self.shape[1]), dtype=np.float32), 0
        for width in self._widths:
            place = HALF * (self.shape[0] * first + start * width)
            stored = os.pread(self._file.fileno(), HALF * (stop - start) * width, place)
            rows[:, first : first + width] = np.frombuffer(stored, dtype=np.float16).reshape(-1, width)
            first += width
        return rows


def _claim_file(size: int, folder: Path) -> IO[bytes]:
    """Return a file without a name and all of its space: a disk that fills up later would end the program."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:  # macOS: there only written bytes are allocated
                for start in range(0, size, BLOCK_BYTES):
                    file.write(bytes(min(BLOCK_BYTES, size - start)))
                file.flush()
        except OSError as error:
            msg = (
                f"cannot keep {size / 1e9:.1f} GB in {folder}: {error.strerror or error}; "
                "choose another folder (--scratch)"
            )
            raise OutputError(msg) from error
        stack.pop_all()
    return file


def blocks_of(array: Array) -> Iterator[Array]:
    """Give the rows of an array in blocks; of one on disk, the memory of a block is given back after its turn.

    Examples
    --------
    >>> [len(block) for block in blocks_of(np.zeros((70_000, 1)))]
    [65536, 4464]
    """
    row = array[:1].size
    for start in range(0, len(array), WRITTEN_ROWS):
        yield array[start : start + WRITTEN_ROWS]
        release_pages(array, row * start, row * min(start + WRITTEN_ROWS, len(array)))


def release_pages(array: Array, start: int, stop: int) -> None:
    """Give back the memory of numbers from `start` to `stop` of an array on disk; the file keeps them."""
    memory = mapped_file(array)
    if memory is None or not hasattr(memory, "madvise"):
        return
    end, first = 4 * stop, -(-4 * start // mmap.PAGESIZE) * mmap.PAGESIZE
    last = end if end == len(memory) else end // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        memory.madvise(mmap.MADV_DONTNEED, first, last - first)


def return_memory() -> None:
    """Give memory that was freed back to the system; the C library of Linux keeps what lies below something in use."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
