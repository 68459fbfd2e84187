"""Arrays on disk that are used as if they were in memory, for what is read and written in order only.

Inside :func:`scratch` large arrays that a method asks for here are mapped from a file without a name, whose space is
claimed at once and given back when the array is forgotten. Outside of it they are ordinary memory.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unseen.errors import OutputError

if TYPE_CHECKING:
    import torch

LARGE = 1 << 26
"""Bytes below which an array stays in memory."""
_FOLDER: ContextVar[Path | None] = ContextVar("unseen_scratch", default=None)


@contextmanager
def scratch(folder: Path | None) -> Iterator[None]:
    """Put large arrays of the methods inside this block into `folder`; None keeps them in memory.

    Examples
    --------
    >>> import torch
    >>> with scratch(Path(tempfile.gettempdir())):
    ...     Zeros(torch.empty(3)).tensor.tolist()  # small ones stay where they are
    [0.0, 0.0, 0.0]
    """
    token = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)


def is_wanted(n_bytes: int) -> bool:
    """Whether an array of this size is to lie on disk here.

    Examples
    --------
    >>> is_wanted(10**12)
    False
    """
    return _FOLDER.get() is not None and n_bytes >= LARGE


class Zeros:
    """A tensor of zeros like another one; on disk where :func:`scratch` says so and it is large.

    Attributes
    ----------
    tensor : torch.Tensor
        The zeros.
    """

    def __init__(self, like: torch.Tensor) -> None:
        import torch

        folder = _FOLDER.get()
        size = like.numel() * 4
        self._map: mmap.mmap | None = None
        if folder is None or like.is_cuda or not is_wanted(size):
            self.tensor = torch.zeros_like(like)
            return
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                # without its space claimed, a disk that fills up later would end the program without a word
                os.posix_fallocate(file.fileno(), 0, size)
                self._map = mmap.mmap(file.fileno(), size)
        except OSError as error:
            msg = (
                f"cannot keep {size / 1e9:.1f} GB in {folder}: {error.strerror or error}; "
                "choose another folder (--scratch)"
            )
            raise OutputError(msg) from error
        self.tensor = torch.from_numpy(np.frombuffer(self._map, dtype=np.float32)).view(like.shape)

    @property
    def on_disk(self) -> bool:
        """Whether the array is mapped from a file."""
        return self._map is not None

    def done(self, start: int, stop: int) -> None:
        """Say that these numbers are not needed for now: their memory is given back, the file keeps them."""
        if self._map is not None and hasattr(self._map, "madvise"):
            first = -(-start * 4 // mmap.PAGESIZE) * mmap.PAGESIZE
            last = stop * 4 if stop * 4 == len(self._map) else stop * 4 // mmap.PAGESIZE * mmap.PAGESIZE
            if last > first:
                self._map.madvise(mmap.MADV_DONTNEED, first, last - first)
