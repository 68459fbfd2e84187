"""Files that are opened once: unpacked as they are read, and never more than the bound on what is unpacked."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from unseen.errors import InputError

PACKED = (".gz", ".zst")
"""Suffixes of packed files; readers look through them."""
LIMIT_VARIABLE = "UNSEEN_UNPACK_LIMIT"
_RATIO, _ALWAYS = 200, 256_000_000
_PACKINGS = {"gzip": (b"\x1f\x8b", ".gz"), "zstd": (b"\x28\xb5\x2f\xfd", ".zst")}
"""How packed files begin, and end in their names."""
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)


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

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.name = path, repr(str(path))
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
        total, counted = 0, _Counted(packed)
        with _unpacking(counted, kind) as file:
            while piece := file.read(n_bytes):
                total += len(piece)
                if total > _ALWAYS:
                    self.require_room(total, max(self.size, counted.n_bytes))
                yield piece

    def read(self) -> bytes:
        """Return the whole content, unpacked."""
        return b"".join(self.chunks(1 << 24))

    def require_room(self, n_bytes: int, packed: int | None = None) -> None:
        """Raise an `InputError` if the content takes `n_bytes` once unpacked, and that is too much to trust."""
        size = self.size if packed is None else packed
        bytes_allowed = os.environ.get(LIMIT_VARIABLE, "").strip()
        limit = parse_size(bytes_allowed, LIMIT_VARIABLE) if bytes_allowed else None
        if n_bytes <= (max(_ALWAYS, _RATIO * size) if limit is None else limit):
            return
        bound = f"{_RATIO} times its size"
        if limit is not None:
            bound = f"the {shown_bytes(limit)} of {LIMIT_VARIABLE}"
        msg = (
            f"{self.name} has {shown_bytes(size)} and unpacks to {shown_bytes(n_bytes)} or more, over {bound}; "
            f"if you trust it, allow more: {LIMIT_VARIABLE}={-(-2 * n_bytes // 10**9)}GB"
        )
        raise InputError(msg)

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


def parse_size(text: str, what: str = "--memory") -> int:
    """Return the bytes that a text like ``2GB`` or ``512MiB`` means.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1.5 MiB"), parse_size("1000")
    (2000000000, 1572864, 1000)
    """
    size = _SIZE.fullmatch(text)
    if size is None:
        msg = f"`{what}` takes a size such as 500MB or 2GB, got {text!r}"
        raise InputError(msg)
    number, unit, binary = size.groups()
    return int(float(number) * (1024 if binary else 1000) ** ["", *"KMGT"].index(unit.upper()))


def shown_bytes(n: float) -> str:
    """Return a number of bytes as people write it.

    Examples
    --------
    >>> shown_bytes(1300), shown_bytes(8.5e9)
    ('1.3 kB', '8.5 GB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.2g} {unit}" if n / size < 10 else f"{n / size:,.0f} {unit}"
    return f"{n:.0f} bytes"
