"""Files that are opened once: unpacked as they are read, and never more than the bound on what is unpacked."""

from __future__ import annotations

import contextlib
import gzip
import io
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

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
        """Yield the content, unpacked (gzip is known by its first bytes, whatever the name), in pieces."""
        try:
            with self.path.open("rb") as raw:
                start = raw.peek(4)[:4]
                for kind, (sign, suffix) in _PACKINGS.items():
                    if len(start) > 1 and start.startswith(sign):
                        yield from self._unpacked(raw, n_bytes, kind)
                        return
                    if start and self.path.name.lower().endswith(suffix):
                        msg = f"{self.name} is not a {kind} file, though its name ends in {suffix}"
                        raise InputError(msg)
                while piece := raw.read(n_bytes):
                    yield piece
        except (EOFError, zlib.error, gzip.BadGzipFile):
            kind = "zstd" if self.path.name.lower().endswith(".zst") else "gzip"
            msg = f"{self.name} is a damaged or cut-off {kind} file; copy or download it again"
            raise InputError(msg) from None
        except OSError as error:
            msg = f"{self.name} cannot be read: {error.strerror or error}"
            raise InputError(msg) from None

    def _unpacked(self, packed: IO[bytes], n_bytes: int, kind: str) -> Iterator[bytes]:
        needed, counted = 0, _Counted(packed)
        with _unpacking(counted, kind) as file:
            while piece := file.read(n_bytes):
                # a cell of text takes some four times its letters as a value
                needed += memory_of(4 * len(piece), piece.count(b"\n"))
                size = max(self.size, counted.n_bytes)
                require_memory(self.name, needed, size, self.max_memory, held=False)
                yield piece

    def read(self) -> bytes:
        """Return the whole content, unpacked."""
        self.require_room(self.size)
        return b"".join(self.chunks(1 << 24))

    def require_room(self, n_bytes: int, rows: int = 0) -> None:
        """Raise an `InputError` if `n_bytes` of values in so many rows need more memory than the bound."""
        require_memory(self.name, memory_of(n_bytes, rows), self.size, self.max_memory)

    def opened(self) -> IO[bytes]:
        """Return the content for readers that go to and fro in it: the file itself, or what a pipe held."""
        if self.path.is_file() and not self.path.name.lower().endswith(PACKED):
            return self.path.open("rb")
        return io.BytesIO(self.read())


@contextlib.contextmanager
def _unpacking(packed: _Counted, kind: str) -> Iterator[IO[bytes]]:
    if kind == "gzip":
        with gzip.GzipFile(fileobj=cast(IO[bytes], packed)) as file:
            yield cast(IO[bytes], file)
        return
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), "zstd") as file:
            yield file
    except OSError as error:  # Arrow's name for a file that is damaged
        raise EOFError from error


class _Counted:
    """A file that counts what was read of it; pipes do not say how large they are."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.n_bytes = file, 0

    def close(self) -> None:
        """Leave the file to whom it belongs."""

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.n_bytes += len(data)
        return data
