"""Where input comes from: paths, their suffixes, and the bytes behind them."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unseen.errors import InputError

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".tab", ".edges", ".edgelist", ".edgelists", "")
"""Suffixes read as delimited text; a file without a suffix is text too."""

TEXT_NAMES = (".csv", ".tsv", ".txt", ".tab", ".edges", ".edgelist")
"""The text suffixes that messages name."""

_GZIP_MAGIC = b"\x1f\x8b"


def is_path(source: Any) -> bool:
    """Return whether `source` names a file, rather than being the data itself."""
    return isinstance(source, (str, os.PathLike))


def existing(source: str | os.PathLike[str], what: str) -> Path:
    """Return the path of a file or folder that is there; `what` is the parameter that named it."""
    path = Path(source)
    try:
        found = path.exists()
    except (OSError, ValueError):  # a name no file system takes: too long, a zero byte
        found = False
    if not found:
        msg = f"there is no file {str(path)!r}; check the path given as `{what}`"
        raise InputError(msg)
    return path


def existing_file(source: str | os.PathLike[str], what: str) -> Path:
    """Return the path of a file that is there and is no folder."""
    path = existing(source, what)
    if path.is_dir():
        msg = f"{str(path)!r} is a folder; `{what}` needs a file"
        raise InputError(msg)
    return path


def data_suffix(path: Path) -> str:
    """Return the suffix that tells the format, in lower case, looking through ``.gz``; ``.pq`` is ``.parquet``.

    Examples
    --------
    >>> data_suffix(Path("edges.CSV.gz")), data_suffix(Path("edges.pq"))
    ('.csv', '.parquet')
    """
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    return ".parquet" if suffix == ".pq" else suffix


def unknown_suffix(path: Path, what: str, known: Iterable[str]) -> InputError:
    """Return the error for a file whose format `what` cannot come in."""
    suffix = data_suffix(path)
    msg = (
        f"{str(path)!r} has the suffix {suffix!r}, which `{what}` cannot be read from; "
        f"known are {', '.join(known)}, text also with .gz"
    )
    return InputError(msg)


def pickled(path: Path) -> InputError:
    """Return the error for a numpy file that could run code if it were loaded."""
    msg = (
        f"{str(path)!r} holds pickled Python objects, which are never loaded because they can run any program; "
        "save plain arrays (ids with dtype=str, sparse matrices with scipy.sparse.save_npz)"
    )
    return InputError(msg)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked if it is gzip (by its first bytes, whatever its name)."""
    try:
        data = path.read_bytes()
        if path.name.lower().endswith(".gz") and data and not data.startswith(_GZIP_MAGIC):
            msg = f"{str(path)!r} is not a gzip file, though its name ends in .gz"
            raise InputError(msg)
        return gzip.decompress(data) if data.startswith(_GZIP_MAGIC) else data
    except (EOFError, zlib.error, gzip.BadGzipFile):
        msg = f"{str(path)!r} is a damaged or cut-off gzip file; copy or download it again"
        raise InputError(msg) from None
    except OSError as error:
        msg = f"{str(path)!r} cannot be read: {error.strerror or error}"
        raise InputError(msg) from None
