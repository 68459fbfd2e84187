"""The partition on disk: META.json with the counts and a checksum of every file, one folder per part.

``part-00000/`` holds plain numpy arrays: ``indptr``, ``indices`` and ``weights`` are the rows of the adjacency in CSR
form. Column k below the number of own rows is row k of the part; the others are the nodes in ``halo``, by their
numbers. ``nodes.parquet`` has the ids of the rows. Features are ``features`` (dense) or ``features_indptr``,
``features_indices``, ``features_values``; labels are ``label_rows`` and ``label_classes``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.data.files import atomic_path
from unseen.errors import InputError

META = "META.json"
KIND = "unseen partition"
VERSION = 2
_BLOCK = 1 << 22


@dataclass(frozen=True)
class PartMeta:
    """One part: its rows, from `start` up to `stop`, and its files with size and checksum."""

    start: int
    stop: int
    entries: int
    halo: int
    labelled: int
    files: dict[str, tuple[int, str]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.stop - self.start


@dataclass(frozen=True)
class Meta:
    """What META.json says of the whole graph."""

    n_nodes: int
    n_edges: int
    integer_ids: bool
    parts: list[PartMeta]
    features: dict[str, Any] | None = None
    """"kind" ("dense" or "sparse"), "columns", "dtype"; None where there are none."""
    classes: list[str] = field(default_factory=list)

    @property
    def n_entries(self) -> int:
        """Entries of the adjacency, both directions."""
        return sum(part.entries for part in self.parts)

    @property
    def n_labelled(self) -> int:
        """Nodes with a label."""
        return sum(part.labelled for part in self.parts)

    @property
    def starts(self) -> list[int]:
        """Where each part begins, and the number of nodes."""
        return [*(part.start for part in self.parts), self.n_nodes]

    def fingerprint(self) -> str:
        """Return a hash of everything, by which checkpoints know the graph they belong to."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]


def part_folder(folder: Path, part: int) -> Path:
    """Return the folder of a part.

    Examples
    --------
    >>> part_folder(Path("parts"), 3).name
    'part-00003'
    """
    return folder / f"part-{part:05d}"


def write_meta(meta: Meta, folder: Path) -> None:
    """Write META.json, the last file of a partition."""
    with atomic_path(folder / META) as temporary:
        temporary.write_text(json.dumps({"kind": KIND, "version": VERSION, **asdict(meta)}, indent=1) + "\n")


def read_meta(folder: Path) -> Meta:
    """Read META.json, or say why the folder is no partition."""
    path = folder / META
    if not path.is_file():
        what = "there is no such folder" if not folder.exists() else f"it has no {META}"
        msg = f"{str(folder)!r} is no partition: {what}; make one with unseen partition EDGES --parts N -o {folder}"
        raise InputError(msg)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("kind") != KIND:
            msg = f"{str(path)!r} does not describe a partition; make one with unseen partition"
            raise InputError(msg)
        version = content.pop("version")
        if version != VERSION:
            msg = f"{str(path)!r} has version {version} and this unseen reads {VERSION}; partition the graph again"
            raise InputError(msg)
        parts = [_part(part) for part in content.pop("parts")]
        return Meta(parts=parts, **content)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        msg = f"{str(path)!r} is damaged ({error}); partition the graph again"
        raise InputError(msg) from None


def _part(content: dict[str, Any]) -> PartMeta:
    files = {name: (int(size), str(digest)) for name, (size, digest) in content.pop("files").items()}
    return PartMeta(files=files, **content)


def checksum(path: Path) -> tuple[int, str]:
    """Return the size of a file and its SHA-256."""
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def verify_part(folder: Path, number: int, part: PartMeta) -> None:
    """Raise an `InputError` where a file of a part is missing or is not what META.json says."""
    inside = part_folder(folder, number)
    for name, (size, digest) in part.files.items():
        path = inside / name
        if not path.is_file():
            msg = (
                f"{str(path)!r} is missing though {META} lists it; copy the whole folder, or partition again"
            )
            raise InputError(msg)
        actual = checksum(path)
        if actual != (size, digest):
            changed = f"it has {actual[0]} bytes instead of {size}"
            how = "its content has changed" if actual[0] == size else changed
            msg = f"{str(path)!r} is damaged: {how}; copy it again, or partition again"
            raise InputError(msg)


class ArrayFile:
    """A numpy file written piece by piece: its length is known, the whole need not be in memory.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.npy"
    >>> with ArrayFile(path, (3,), np.dtype(np.int64)) as file:
    ...     file.write(np.array([1, 2]))
    ...     file.write(np.array([3]))
    >>> np.load(path).tolist()
    [1, 2, 3]
    """

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._file = path.open("wb")
        described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_2_0(self._file, described)

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def write(self, piece: npt.NDArray[Any]) -> None:
        """Append a piece."""
        if piece.size:
            self._file.write(np.ascontiguousarray(piece, dtype=self.dtype).data.cast("B"))
