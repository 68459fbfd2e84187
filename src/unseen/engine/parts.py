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
import pyarrow.parquet as pq
import scipy.sparse as sp

from unseen.data.files import atomic_path
from unseen.engine.comm import Comm, Layout
from unseen.engine.run import Run
from unseen.engine.sparse import GraphPart, spread_matrix
from unseen.errors import InputError, counted
from unseen.graph import Features, Graph
from unseen.ids import Array, IdArray, as_ids
from unseen.labels import Labels

META = "META.json"
KIND = "unseen partition"
VERSION = 2


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

    def fingerprint(self) -> str:
        """Return a hash of everything, by which checkpoints know the graph they belong to."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]


def part_folder(folder: Path, part: int) -> Path:
    """Return the folder of a part."""
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
        kind = content.pop("kind"), content.pop("version")
        if kind == (KIND, VERSION):
            parts = [_part(part) for part in content.pop("parts")]
            return Meta(parts=parts, **content)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        msg = f"{str(path)!r} is damaged ({error}); partition the graph again"
        raise InputError(msg) from None
    msg = f"{str(path)!r} has {kind} and this unseen reads {(KIND, VERSION)}; partition the graph again"
    raise InputError(msg)


def _part(content: dict[str, Any]) -> PartMeta:
    files = {name: (int(size), str(digest)) for name, (size, digest) in content.pop("files").items()}
    return PartMeta(files=files, **content)


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


def load_parts(
    folder: Path, comm: Comm, *, verify: bool = True
) -> tuple[Graph | GraphPart, Labels | None, Meta]:
    """Load what process ``comm.rank`` of ``comm.size`` trains on.

    Neighbouring parts go to the same process where there are more parts than processes.

    Parameters
    ----------
    folder : Path
        Written by :func:`unseen.engine.partition.partition`.
    comm : Comm
        The processes; one alone gets the whole graph.
    verify : bool
        Whether to compare every file with its checksum first.
    """
    meta = read_meta(folder)
    split = shares(meta, folder, comm.size)
    mine = [int(k) for k in split[comm.rank]]
    if verify:
        for k in mine:
            verify_part(folder, k, meta.parts[k])
    starts = tuple(meta.parts[share[0]].start for share in split)
    layout = Layout((*starts, meta.n_nodes), comm)
    inside = [part_folder(folder, k) for k in mine]
    ids = as_ids(
        np.concatenate([pq.read_table(path / "nodes.parquet")["node"].to_numpy() for path in inside])
    )
    rows = [_rows(path, meta.parts[k].start) for path, k in zip(inside, mine, strict=True)]
    columns, weights = (np.concatenate([row[k] for row in rows]) for k in (1, 2))
    indptr = np.concatenate([[0], np.cumsum(np.concatenate([row[0] for row in rows]))])
    del rows
    features = None if meta.features is None else _features(inside, meta.features)
    labels = _labels(inside, mine, meta, layout.first, ids) if meta.classes else None
    if comm.size == 1:
        adjacency = sp.csr_array((weights, columns, indptr), shape=(meta.n_nodes, meta.n_nodes))
        graph = Graph(adjacency, features, ids)
        return graph, None if labels is None else labels.aligned(graph), meta
    part = GraphPart(spread_matrix(layout, Run(), indptr, columns, weights), features, ids)
    return part, labels, meta


def shares(meta: Meta, folder: Path, size: int) -> list[Array]:
    """Return which parts each of `size` processes gets."""
    if size > len(meta.parts):
        msg = (
            f"{str(folder)!r} has {counted(len(meta.parts), 'part')} and {size} processes were started; "
            f"start at most {len(meta.parts)}, or partition again with --parts {size}"
        )
        raise InputError(msg)
    return np.array_split(np.arange(len(meta.parts)), size)


def _arrays(inside: Path, *names: str) -> list[Array]:
    return [np.load(inside / f"{name}.npy", allow_pickle=False) for name in names]


def _rows(path: Path, start: int) -> tuple[Array, Array, Array]:
    """Return the entries of each row, their true columns, and their weights."""
    indptr, indices, weights, halo = _arrays(path, "indptr", "indices", "weights", "halo")
    names = np.concatenate([start + np.arange(len(indptr) - 1, dtype=np.int64), halo])
    return np.diff(indptr), names[indices], weights


def _features(inside: list[Path], about: dict[str, Any]) -> Features:
    if about["kind"] == "dense":
        return np.concatenate([_arrays(path, "features")[0] for path in inside])
    blocks = []
    for path in inside:
        indptr, indices, values = _arrays(path, "features_indptr", "features_indices", "features_values")
        blocks.append(sp.csr_array((values, indices, indptr), shape=(len(indptr) - 1, about["columns"])))
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _labels(inside: list[Path], mine: list[int], meta: Meta, first: int, ids: IdArray) -> Labels:
    rows, classes = [], []
    for path, k in zip(inside, mine, strict=True):
        row, column = _arrays(path, "label_rows", "label_classes")
        rows.append(row + (meta.parts[k].start - first))
        classes.append(column)
    row, column = np.concatenate(rows), np.concatenate(classes)
    shape = (len(ids), len(meta.classes))
    indicator = sp.coo_array((np.ones(len(row), dtype=bool), (row, column)), shape=shape).tocsr()
    return Labels(indicator, tuple(meta.classes), ids)
