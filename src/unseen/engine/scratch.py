"""Arrays on disk that are used as if they were in memory, for what is read and written in order only.

Such an array is mapped from a file without a name, whose space is claimed at once and given back when the array is
forgotten.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from unseen.errors import OutputError
from unseen.ids import Array, Singles

BLOCK_BYTES = 2**24
"""Zeros that are written at once where the system cannot allocate a file."""


def disk_zeros(shape: tuple[int, ...], folder: Path) -> Singles:
    """Return float32 zeros in a file of `folder`.

    Examples
    --------
    >>> disk_zeros((2, 2), Path(tempfile.gettempdir())).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    size = 4 * math.prod(shape)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            _claim_space(file, size)
            memory = mmap.mmap(file.fileno(), size)
    except OSError as error:
        msg = (
            f"cannot keep {size / 1e9:.1f} GB in {folder}: {error.strerror or error}; "
            "choose another folder (--scratch)"
        )
        raise OutputError(msg) from error
    return np.frombuffer(memory, dtype=np.float32).reshape(shape)


def _claim_space(file: IO[bytes], size: int) -> None:
    """Allocate the whole file now: a disk that fills up later would end the program without a message."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    # macOS lacks it: there only written bytes are allocated
    zeros = memoryview(bytes(min(size, BLOCK_BYTES)))
    for start in range(0, size, BLOCK_BYTES):
        file.write(zeros[: size - start])
    file.flush()


def is_on_disk(array: Array) -> bool:
    """Whether an array is mapped from a file.

    Examples
    --------
    >>> is_on_disk(np.zeros(3))
    False
    """
    return _mapped(array) is not None


def release_pages(array: Array, start: int = 0, stop: int | None = None) -> None:
    """Give back the memory of numbers from `start` to `stop` of an array on disk; the file keeps them."""
    memory = _mapped(array)
    if memory is None or not hasattr(memory, "madvise"):
        return
    end = 4 * (array.size if stop is None else stop)
    first = -(-4 * start // mmap.PAGESIZE) * mmap.PAGESIZE
    last = end if end == len(memory) else end // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        memory.madvise(mmap.MADV_DONTNEED, first, last - first)


def _mapped(array: Any) -> mmap.mmap | None:
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, memoryview):
        array = array.obj
    return array if isinstance(array, mmap.mmap) else None
