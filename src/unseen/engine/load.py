"""From the files of a partition to what a process trains on: the whole graph, or its own rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import scipy.sparse as sp

from unseen.engine.comm import Comm, Layout
from unseen.engine.parts import Meta, part_folder, read_meta, verify_part
from unseen.engine.run import Run
from unseen.engine.sparse import GraphPart, spread_matrix
from unseen.errors import InputError
from unseen.graph import Features, Graph
from unseen.ids import IdArray, as_ids
from unseen.labels import Labels

Array = npt.NDArray[Any]


def load_parts(
    folder: Path, comm: Comm, *, verify: bool = True
) -> tuple[Graph | GraphPart, Labels | None, Meta]:
    r"""Load what process ``comm.rank`` of ``comm.size`` trains on.

    Neighbouring parts go to the same process where there are more parts than processes.

    Parameters
    ----------
    folder : Path
        Written by :func:`unseen.engine.partition.partition`.
    comm : Comm
        The processes; one alone gets the whole graph.
    verify : bool
        Whether to compare every file with its checksum first.

    Examples
    --------
    >>> import tempfile
    >>> from unseen.engine.comm import SOLO
    >>> from unseen.engine.partition import partition
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("src,dst\na,b\nb,c\n")
    >>> _ = partition(folder / "edges.csv", folder / "parts", parts=2)
    >>> load_parts(folder / "parts", SOLO)[0]
    Graph(3 nodes, 2 edges, no features)
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
    ids = _ids(inside)
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
            f"{str(folder)!r} has {len(meta.parts)} parts and {size} processes were started; "
            f"start at most {len(meta.parts)}, or partition again with --parts {size}"
        )
        raise InputError(msg)
    return np.array_split(np.arange(len(meta.parts)), size)


def _ids(inside: list[Path]) -> IdArray:
    columns = [pq.read_table(path / "nodes.parquet").column("node") for path in inside]
    return as_ids(np.concatenate([column.to_numpy() for column in columns]))


def _rows(path: Path, start: int) -> tuple[Array, Array, Array]:
    """Return the entries of each row, their true columns, and their weights."""
    indptr, indices, weights, halo = (
        np.load(path / f"{name}.npy", allow_pickle=False) for name in ("indptr", "indices", "weights", "halo")
    )
    own = len(indptr) - 1
    names = np.concatenate([start + np.arange(own, dtype=np.int64), halo])
    return np.diff(indptr), names[indices], weights


def _features(inside: list[Path], about: dict[str, Any]) -> Features:
    if about["kind"] == "dense":
        return np.concatenate([np.load(path / "features.npy", allow_pickle=False) for path in inside])
    blocks = []
    for path in inside:
        indptr, indices, values = (
            np.load(path / f"features_{name}.npy", allow_pickle=False)
            for name in ("indptr", "indices", "values")
        )
        blocks.append(sp.csr_array((values, indices, indptr), shape=(len(indptr) - 1, about["columns"])))
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _labels(inside: list[Path], mine: list[int], meta: Meta, first: int, ids: IdArray) -> Labels:
    rows, classes = [], []
    for path, k in zip(inside, mine, strict=True):
        rows.append(np.load(path / "label_rows.npy", allow_pickle=False) + (meta.parts[k].start - first))
        classes.append(np.load(path / "label_classes.npy", allow_pickle=False))
    row, column = np.concatenate(rows), np.concatenate(classes)
    shape = (len(ids), len(meta.classes))
    indicator = sp.coo_array((np.ones(len(row), dtype=bool), (row, column)), shape=shape).tocsr()
    return Labels(indicator, tuple(meta.classes), ids)
