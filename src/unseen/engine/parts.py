"""The partition on disk: META.json with the counts and a checksum of every file, one folder per part.

``part-00000/`` holds plain numpy arrays: ``adjacency_indptr``, ``adjacency_indices`` and ``adjacency_data`` are the
rows of the adjacency in CSR form, whose columns are the numbers of all nodes. ``nodes.parquet`` has the ids of the
rows. Labels are ``labels_indptr`` and so on; features are ``features`` (dense) or three such arrays. Rows of the
adjacency and of the features come in pieces, wait in files, and go out as parts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from unseen.data.files import atomic_path
from unseen.data.pieces import FeatureRows
from unseen.data.spill import SortedRows
from unseen.engine.comm import Comm, Layout
from unseen.engine.run import Run, rows_per_block
from unseen.engine.sparse import GraphPart, spread_matrix
from unseen.errors import InputError, counted
from unseen.graph import Features, Graph
from unseen.ids import Array, Ints, as_ids
from unseen.labels import Labels

META = "META.json"
KIND = "unseen partition"
VERSION = 4
ROW_COST = 4
"""What a row costs beside its entries, in entries: dense work and the optimiser, measured at d = 200."""
PIECE = 1 << 20
"""Rows or entries that are in memory together."""
BYTES_PER_NODE = 17
"""What writing a part takes: where its row ends, a mark, and a new number."""


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
    def starts(self) -> list[int]:
        """Where each part begins, and the number of nodes."""
        return [*(part.start for part in self.parts), self.n_nodes]


def part_folder(folder: Path, part: int) -> Path:
    """Return the folder of a part."""
    return folder / f"part-{part:05d}"


def not_plain(what: str, place: str = "") -> InputError:
    """Return the error for a graph that parts cannot hold."""
    where = f"{place}: " if place else ""
    return InputError(
        f"{where}there are {what}, but parts have neither directions, signs nor types so far; "
        "read the graph whole (unseen embed), or leave these out"
    )


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
        kind = content.pop("kind"), content.pop("version")
        if kind == (KIND, VERSION):
            parts = content.pop("parts")
            for part in parts:
                part["files"] = {
                    name: (int(size), str(digest)) for name, (size, digest) in part["files"].items()
                }
            return Meta(parts=[PartMeta(**part) for part in parts], **content)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        msg = f"{str(path)!r} is damaged ({error}); partition the graph again"
        raise InputError(msg) from None
    msg = f"{str(path)!r} has {kind} and this unseen reads {(KIND, VERSION)}; partition the graph again"
    raise InputError(msg)


def checksum(path: Path) -> tuple[int, str]:
    """Return the size of a file and its SHA-256."""
    with path.open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()


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


def load_parts(folder: Path, comm: Comm) -> tuple[Graph | GraphPart, Labels | None, Meta]:
    """Load what process ``comm.rank`` of ``comm.size`` trains on.

    Neighbouring parts go to the same process where there are more parts than processes.

    Parameters
    ----------
    folder : Path
        Written by :func:`unseen.engine.partition.partition`.
    comm : Comm
        The processes; one alone gets the whole graph.
    """
    meta = read_meta(folder)
    split = shares(meta, folder, comm.size)
    inside = [part_folder(folder, int(k)) for k in split[comm.rank]]
    nodes = (pq.read_table(path / "nodes.parquet")["node"] for path in inside)
    ids = as_ids(np.concatenate([column.to_numpy() for column in nodes]))
    adjacency = _load_matrix(inside, "adjacency", meta.n_nodes)
    features: Features | None = None
    if meta.features is not None and meta.features["kind"] == "dense":
        features = np.concatenate([_load_array(path, "features") for path in inside])
    elif meta.features is not None:
        features = _load_matrix(inside, "features", meta.features["columns"])
    labels = None
    if meta.classes:
        labels = Labels(_load_matrix(inside, "labels", len(meta.classes)), tuple(meta.classes), ids)
    if comm.size == 1:
        graph = Graph(adjacency, features, ids)
        return graph, None if labels is None else labels.align_to(graph), meta
    starts = (meta.parts[share[0]].start for share in split)
    layout = Layout((*starts, meta.n_nodes), comm)
    matrix = spread_matrix(layout, Run(), adjacency.indptr, adjacency.indices, adjacency.data)
    return GraphPart(matrix, features, ids), labels, meta


def shares(meta: Meta, folder: Path, size: int) -> list[Array]:
    """Return which parts each of `size` processes gets."""
    if size > len(meta.parts):
        msg = (
            f"{str(folder)!r} has {counted(len(meta.parts), 'part')} and {size} processes were started; "
            f"start at most {len(meta.parts)}, or partition again with --parts {size}"
        )
        raise InputError(msg)
    return np.array_split(np.arange(len(meta.parts)), size)


def _load_array(inside: Path, name: str) -> Array:
    array: Array = np.load(inside / f"{name}.npy", allow_pickle=False)
    return array


def _load_matrix(inside: list[Path], name: str, columns: int) -> sp.csr_array:
    """Return the rows of a sparse matrix in these parts."""
    blocks = []
    for path in inside:
        arrays = [_load_array(path, f"{name}_{part}") for part in ("data", "indices", "indptr")]
        blocks.append(sp.csr_array(tuple(arrays), shape=(len(arrays[2]) - 1, columns)))
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def save_matrix(inside: Path, name: str, matrix: sp.csr_array) -> None:
    """Write the rows of a part of a sparse matrix to its folder, the entries of a row in their order."""
    matrix.sum_duplicates()
    for part, kind in (("data", matrix.dtype), ("indices", np.int32), ("indptr", np.int64)):
        np.save(inside / f"{name}_{part}.npy", getattr(matrix, part).astype(kind))


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


def cut_rows(ends: Ints, parts: int) -> list[int]:
    """Return where each part begins, and the number of rows: parts of equal work, none without a row.

    `ends` says where the entries of each row begin and end. If there are enough rows, parts begin where blocks do (see
    :mod:`unseen.engine.run`), so that sums over blocks are the same bits on any number of processes.
    """
    n = len(ends) - 1
    unit = rows_per_block(n)
    unit = unit if parts <= -(-n // unit) else 1
    work = np.arange(0, ROW_COST * (n + 1), ROW_COST)
    work += ends
    starts = [0]
    for part in range(1, parts):
        near = np.searchsorted(work[:-1], work[-1] * part / parts) / unit
        starts.append(min(max(round(near), starts[-1] + 1), -(-n // unit) - parts + part))
    return [*(unit * block for block in starts), n]


def write_rows(rows: SortedRows, inside: Path, start: int, stop: int) -> tuple[int, int]:
    """Write the rows of a part to its folder; return the number of entries and the size of the halo."""
    first, last, n = int(rows.ends[start]), int(rows.ends[stop]), len(rows.ends) - 1
    needed = np.zeros(n, dtype=bool)
    np.save(inside / "adjacency_indptr.npy", rows.ends[start : stop + 1] - first)
    index = np.int32 if n < 2**31 else np.int64
    with array_file(inside / "adjacency_indices.npy", (last - first,), index) as append:
        for columns in rows.read("columns", first, last):
            needed[columns] = True
            append(columns)
    with array_file(inside / "adjacency_data.npy", (last - first,), np.float64) as append:
        for weights in rows.read("weights", first, last):
            append(weights)
    return last - first, int(needed.sum() - needed[start:stop].sum())


def write_ids(inside: Path, ids: Iterator[pa.Table]) -> None:
    """Write the ids of the nodes of a part to its folder."""
    first = next(ids)
    with pq.ParquetWriter(inside / "nodes.parquet", first.schema) as writer:
        for piece in chain([first], ids):
            writer.write_table(piece)


class FeatureFile:
    """Rows of features in the order they are listed, until their nodes are numbered.

    Dense rows are kept in a file; a sparse matrix, which was read whole, stays as it is.

    Parameters
    ----------
    path : Path
        Where the file is.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sparse: sp.csr_array | None = None
        self.columns: int | None = None
        self.dtype: np.dtype[Any] = np.dtype(np.float32)

    def add(self, piece: FeatureRows) -> FeatureRows:
        """Append the rows of a piece, and return the piece without them."""
        values = piece.values
        if self.columns not in (None, values.shape[1]):
            two = f"{self.columns} and of {values.shape[1]}"
            msg = f"{piece.source} has rows of {two} features; all rows need the same number"
            raise InputError(msg)
        self.columns = values.shape[1]
        if values.dtype != np.float32:
            self.dtype = np.dtype(np.float64)
        if not isinstance(values, np.ndarray):
            before = [] if self._sparse is None else [self._sparse]
            self._sparse = sp.csr_array(sp.vstack([*before, values], format="csr"))
        else:
            with self._path.open("ab") as file:
                _append(file, values.astype(np.float64))
        return replace(piece, ids=None if piece.ids is None else piece.ids[:0], values=values[:0])

    @property
    def description(self) -> dict[str, Any]:
        """What META.json says of the features."""
        kind = "dense" if self._sparse is None else "sparse"
        return {"kind": kind, "columns": self.columns, "dtype": str(self.dtype)}

    def write(self, inside: Path, rows: Ints) -> None:
        """Write the features of the nodes of a part to its folder, given the rows they are in."""
        if self._sparse is not None:
            save_matrix(inside, "features", self._sparse[rows].astype(self.dtype))
            return
        columns = self.columns or 0
        step = max(1, PIECE // max(1, columns))
        with array_file(inside / "features.npy", (len(rows), columns), self.dtype) as append:
            for start in range(0, len(rows) if columns else 0, step):
                listed = np.memmap(self._path, dtype=np.float64, mode="r").reshape(-1, columns)
                append(listed[rows[start : start + step]])
