"""Files that are opened once and unpacked as they are read, and how much memory that may take.

One rule for every reader, whatever sizes a file declares.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from unseen.errors import InputError

VARIABLE = "UNSEEN_MAX_MEMORY"
RATIO, BASE = 1_000, 256_000_000
"""By default a file may take `RATIO` times its size and `BASE` bytes, and at most half of the free memory."""
WORK_BYTES, ROW_BYTES = 3, 100
"""What a byte of values and a row take in memory until the graph is built: measured, with the copies on the way."""
NODE_ROWS = 4
"""A node that a file only counts takes as much as so many rows (measured: up to 397 bytes)."""
MAX_DEPTH = 200
"""Levels of brackets in JSON; parsers call themselves for each level, and deep ones end the process."""
_NO_SIGNS = bytes(sorted(set(range(256)) - set(b'[]{}"')))
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)
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
        size, rows, packing = 0, 0, None
        try:
            with self.path.open("rb") as raw:
                start = raw.peek(4)[:4]
                for kind, (sign, suffix) in _PACKINGS.items():
                    if start.startswith(sign):
                        packing = kind
                    elif start and self.path.name.lower().endswith(suffix):
                        msg = f"{self.name} is not a {kind} file, though its name ends in {suffix}"
                        raise InputError(msg)
                counting = _CountingFile(raw)
                stream: Any = counting
                if packing is not None:
                    import pyarrow as pa

                    stream = pa.CompressedInputStream(pa.PythonFile(counting, mode="r"), packing)
                while piece := stream.read(n_bytes):
                    if packing is not None:  # a cell of text takes some four times its letters as a value
                        size, rows = size + 4 * len(piece), rows + piece.count(b"\n")
                        self.size = max(self.size, counting.n_bytes)
                        self.require_room(size, rows, held=False)
                    yield piece
        except OSError as error:
            msg = f"{self.name} cannot be read: {error.strerror or error}"
            if packing is not None and error.strerror is None:  # Arrow's error
                msg = f"{self.name} is a damaged or cut-off {packing} file; copy or download it again"
            raise InputError(msg) from None

    def read(self) -> bytes:
        """Return the whole content, unpacked."""
        self.require_room(self.size)
        return b"".join(self.chunks(1 << 24))

    def require_room(self, n_bytes: int, rows: int = 0, *, held: bool = True) -> None:
        """Raise an `InputError` if `n_bytes` of values in so many rows need more memory than the bound."""
        needed = WORK_BYTES * n_bytes + ROW_BYTES * rows
        limit, name = memory_bound(self.size, self.max_memory, held=held)
        if needed > limit:
            msg = (
                f"{self.name} needs {shown_bytes(needed)} of memory or more, above {name}; if you trust the file, "
                f"allow more with max_memory='{-(-2 * needed // 10**9)}GB' (--max-memory, or {VARIABLE} in the "
                "environment)"
            )
            raise InputError(msg)

    def open_content(self) -> IO[bytes]:
        """Return the content for readers that go to and fro in it: the file itself, or what a pipe held."""
        if self.path.is_file() and not self.path.name.lower().endswith(PACKED):
            return self.path.open("rb")
        return io.BytesIO(self.read())


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


def memory_bound(n_bytes: int, max_memory: int | str | None = None, *, held: bool = True) -> tuple[int, str]:
    """Return the bytes that the content of a file of `n_bytes` may take, and what this bound is called.

    `max_memory` is what the user allows, a number of bytes or a text such as ``8GB``; None: what the environment says,
    or the default. What is read in pieces (not `held`) does not have to fit into the free memory.

    Examples
    --------
    >>> memory_bound(90, "2GB")
    (2000000000, '`max_memory` of 2 GB')
    """
    allowed = max_memory if max_memory is not None else os.environ.get(VARIABLE, "").strip() or None
    if allowed is not None:
        limit = parse_size(str(allowed), VARIABLE if max_memory is None else "max_memory")
        return limit, f"{VARIABLE if max_memory is None else '`max_memory`'} of {shown_bytes(limit)}"
    limit, half = RATIO * n_bytes + BASE, (free_memory() or float("inf")) / 2
    if held and half < limit:
        return int(half), f"half of the free memory, {shown_bytes(half)}"
    return limit, f"the bound of {shown_bytes(limit)} for a file of {shown_bytes(n_bytes)}"


def require_depth(source: str, data: bytes) -> None:
    """Raise an `InputError` if JSON has more than `MAX_DEPTH` levels of brackets; those in texts do not count."""
    signs = re.sub(rb"\\.", b"", data, flags=re.DOTALL) if b"\\" in data else data
    # two quotes side by side change nothing for others
    signs = re.sub(rb'"[^"]*"', b"", signs.translate(None, _NO_SIGNS).replace(b'""', b""))
    letters = np.frombuffer(signs, dtype=np.uint8)
    steps = np.isin(letters, list(b"[{")).astype(np.int64) - np.isin(letters, list(b"]}"))
    if np.cumsum(steps).max(initial=0) > MAX_DEPTH:
        msg = f"{source} has more than {MAX_DEPTH} levels of nested brackets; no graph is written like that"
        raise InputError(msg)


def free_memory(processes: int = 1) -> float | None:
    """Return the bytes that this process may hold: its own, and its share of what system and control group have left.

    `processes` says how many on this machine share that.
    """
    left = _available_bytes()
    return None if left is None else left / processes + (memory_entry("self/status", "VmRSS") or 0.0)


def _available_bytes() -> float | None:
    """Return the bytes that are available to new processes."""
    sizes = [memory_entry("meminfo", "MemAvailable")]
    most, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if most.is_file() and used.is_file() and (limit := most.read_text().strip()).isdecimal():
        sizes.append(float(limit) - float(used.read_text()))
    return min((size for size in sizes if size is not None), default=None)


def memory_entry(file: str, key: str) -> float | None:
    """Return the bytes that Linux lists under a key in a file of /proc, None on other systems."""
    path = Path("/proc", file)
    lines = path.read_text().splitlines() if path.is_file() else ()
    return next((int(line.split()[1]) * 1024.0 for line in lines if line.startswith(f"{key}:")), None)


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
