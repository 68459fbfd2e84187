"""Files that are opened once: unpacked as they are read, and never more than the bound on what is unpacked."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from unseen.data.bounds import memory_of, require_memory
from unseen.errors import InputError

PACKED = (".gz", ".zst")
"""Suffixes of packed files; readers look through them."""
_PACKINGS = {"gzip": (b"\x1f\x8b", ".gz"), "zstd": (b"\x28\xb5\x2f\xfd", ".zst")}
"""How packed files begin, and end in their names."""


def bare_name(path: Path) -> str:
    """Return the name of a file in lower case, without the suffix that says it is packed."""
    name = path.name.lower()
    return name.removesuffix(next((packed for packed in PACKED if name.endswith(packed)), ""))


def data_suffix(path: Path) -> str:
    """Return the last suffix in lower case, looking through ``.gz``: ``.csv`` of ``edges.CSV.gz``."""
    return Path(bare_name(path)).suffix


def delimiter_of(path: Path) -> str:
    """Return what separates the columns of a text file of this name."""
    return {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(data_suffix(path), " ")


class File:
    """One input file: opened once, unpacked if it is gzip, never more than the bound on what is unpacked.

    Pipes are read as they come (``<(command)`` in a shell); devices are refused.
    """

    def __init__(self, path: Path, what: str, max_memory: int | str | None = None) -> None:
        self.path, self.name, self.max_memory = path, repr(str(path)), max_memory
        kind = path.stat()
        if stat.S_ISDIR(kind.st_mode):
            msg = f"{self.name} is a folder; `{what}` needs a file"
            raise InputError(msg)
        readable = stat.S_ISREG(kind.st_mode) or stat.S_ISFIFO(kind.st_mode)
        if not readable or str(path) in ("/dev/stdout", "/dev/stderr"):
            msg = f"{self.name} is a device, not a file; `{what}` needs a file or a pipe"
            raise InputError(msg)
        self.size = kind.st_size

    @property
    def suffix(self) -> str:
        """The last suffix, in lower case and without ``.gz``."""
        return data_suffix(self.path)

    def chunks(self, n_bytes: int = 1 << 22) -> Iterator[bytes]:
        """Yield the content in pieces; packed files are known by their first bytes, whatever the name."""
        needed, packing = 0, None
        try:
            with self.path.open("rb") as raw:
                start = raw.peek(4)[:4]
                packing = next(
                    (kind for kind, (sign, _) in _PACKINGS.items() if start.startswith(sign)), None
                )
                self._require_packing(packing, start)
                counting = _CountingFile(raw)
                stream = counting if packing is None else _unpack(counting, packing)
                while piece := stream.read(n_bytes):
                    if packing is not None:  # a cell of text takes some four times its letters as a value
                        needed += memory_of(4 * len(piece), piece.count(b"\n"))
                        size = max(self.size, counting.n_bytes)
                        require_memory(self.name, needed, size, self.max_memory, held=False)
                    yield piece
        except OSError as error:
            msg = f"{self.name} cannot be read: {error.strerror or error}"
            if packing is not None and error.strerror is None:  # Arrow's error
                msg = f"{self.name} is a damaged or cut-off {packing} file; copy or download it again"
            raise InputError(msg) from None

    def _require_packing(self, packing: str | None, start: bytes) -> None:
        """Refuse a file that is not packed as its name says."""
        for kind, (_, suffix) in _PACKINGS.items():
            if start and kind != packing and self.path.name.lower().endswith(suffix):
                msg = f"{self.name} is not a {kind} file, though its name ends in {suffix}"
                raise InputError(msg)

    def read(self) -> bytes:
        """Return the whole content, unpacked."""
        self.require_room(self.size)
        return b"".join(self.chunks(1 << 24))

    def require_room(self, n_bytes: int, rows: int = 0) -> None:
        """Raise an `InputError` if `n_bytes` of values in so many rows need more memory than the bound."""
        require_memory(self.name, memory_of(n_bytes, rows), self.size, self.max_memory)

    def open_content(self) -> IO[bytes]:
        """Return the content for readers that go to and fro in it: the file itself, or what a pipe held."""
        if self.path.is_file() and not self.path.name.lower().endswith(PACKED):
            return self.path.open("rb")
        return io.BytesIO(self.read())


def _unpack(packed: _CountingFile, kind: str) -> Any:
    """Return the content of a packed file as a stream."""
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), kind)


class _CountingFile:
    """A file that counts what was read; pipes do not say how large they are."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.n_bytes = file, 0

    def close(self) -> None:
        """Do not close: the caller owns the file."""

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.n_bytes += len(data)
        return data
