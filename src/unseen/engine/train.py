"""Train a method on a partition: one process, or one of several, by the very function that trains on a graph.

Vectors are Parquet parts, one per process, with ``_SUCCESS`` once they are all there. They are written to a folder
beside the final ones and moved when every process has written its own: first ``_SUCCESS`` and the old parts go, then
the new ones come, then ``_SUCCESS``. Old and new parts never lie side by side.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import unseen
from unseen.data.files import atomic_path, explain_errors, make_folder
from unseen.data.opened import shown_bytes
from unseen.data.vectors import read_embedding
from unseen.data.writers import fill_vectors
from unseen.embedding import Embedding
from unseen.engine.comm import Comm
from unseen.engine.memory import check_memory, make_job, peak_bytes
from unseen.engine.parts import Meta, load_parts, read_meta, shares, verify_part
from unseen.engine.run import Run
from unseen.engine.steps import Checkpoints, raise_together
from unseen.errors import InputError, OutputError, UnseenError, counted, log_written, logger

if TYPE_CHECKING:
    from unseen.methods.base import Method

EVERY = 10
SUCCESS = "_SUCCESS"
CHECKPOINTS = "_checkpoints"
_STAGING = "_staging"
_OURS = re.compile(rf"part-\d+-of-\d+\.parquet|{SUCCESS}|{CHECKPOINTS}|{_STAGING}|\.unseen-.*")


def train(
    folder: Path,
    output: Path,
    comm: Comm,
    *,
    method: str,
    params: dict[str, Any],
    seed: int = 0,
    checkpoint_every: int = EVERY,
    threads: int | None = None,
    scratch: Path | None = None,
    force: bool = False,
    on_end: Callable[[dict[str, Any]], None] | None = None,
) -> Embedding:
    r"""Train on the parts in `folder`, write the vectors to `output`, and return the rows of this process.

    Parameters
    ----------
    folder : Path
        A partition.
    output : Path
        Folder for the Parquet parts; checkpoints are kept in it until the end.
    comm : Comm
        The processes, see :func:`unseen.engine.comm.connect`.
    method : str
        Registry name of a method that trains on parts.
    params : dict
        Keyword arguments of the method.
    seed : int
        Seed of everything random.
    checkpoint_every : int
        Epochs (or rounds) between two checkpoints; 0: none.
    threads : int, optional
        See :class:`unseen.engine.run.Run`.
    scratch : Path, optional
        Folder for large arrays that may lie on disk.
    force : bool
        Begin even if the memory looks too small.
    on_end : callable or None
        Gets what the training took, as data: method, nodes, columns, seconds, the memory and the rows sent (in bytes)
        of the process that has most, and the stage and step after which it went on, None if it began at the start.

    Examples
    --------
    >>> import tempfile
    >>> from unseen.engine.comm import SOLO
    >>> from unseen.engine.partition import partition
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("src,dst\na,b\nb,c\n")
    >>> _ = partition(folder / "edges.csv", folder / "parts", parts=2)
    >>> train(folder / "parts", folder / "vectors", SOLO, method="rect-n", params={"n_components": 2, "epochs": 3})
    Embedding(3 nodes, 2 columns, by rect-n)
    >>> sorted(path.name for path in (folder / "vectors").iterdir())
    ['_SUCCESS', 'part-00000-of-00001.parquet']
    """
    from unseen.methods.registry import method_class

    cls = method_class(method)
    if not cls._traits.trains_on_parts:
        names = ", ".join(trainable())
        msg = f"{method!r} does not train on parts; {names} do, and unseen embed runs every method on one machine"
        raise InputError(msg)
    estimator = cls(**params, random_state=seed)
    with raise_together(comm, "cannot begin"):  # before the first exchange, for which the others would wait
        meta = read_meta(folder)
        for k in shares(meta, folder, comm.size)[comm.rank]:
            verify_part(folder, int(k), meta.parts[int(k)])
        _check_output(output)
    _check_memory(estimator, meta, folder, comm, scratch=scratch is not None, force=force)
    start = time.monotonic()
    graph, labels, _ = load_parts(folder, comm)
    if comm.rank == 0:
        logger.info(
            "%s: %s, %s, loaded in %.1f s; %s",
            folder,
            counted(meta.n_nodes, "node"),
            counted(meta.n_edges, "edge"),
            time.monotonic() - start,
            counted(comm.size, "process"),
        )
    # by which checkpoints know the graph and the training they belong to
    about = [asdict(meta), method, sorted(params.items()), seed, comm.size, unseen.__version__]
    job = hashlib.sha256(json.dumps(about, default=str, sort_keys=True).encode()).hexdigest()[:16]
    checkpoints = Checkpoints(output / CHECKPOINTS, comm, job, checkpoint_every)
    checkpoints.clear()
    run = Run(threads=threads, scratch=scratch, keeper=checkpoints)
    embedding = estimator._fit_run(graph, labels, run).embedding_  # type: ignore[arg-type]  # a part is like a graph
    _write_vectors(embedding, output, comm)
    peak, sent = (comm.gather(np.array([number])).max() for number in (peak_bytes(), float(comm.sent)))
    seconds = time.monotonic() - start
    if comm.rank == 0:
        shutil.rmtree(output / CHECKPOINTS, ignore_errors=True)
        log_written(method, meta.n_nodes, embedding.vectors.shape[1], seconds, output)
        memory = f"at most {shown_bytes(peak)} of memory per process, and " if peak else ""
        logger.info("%s%s of rows sent to others", memory, shown_bytes(sent))
        if on_end is not None:
            on_end(
                {
                    "method": method,
                    "nodes": meta.n_nodes,
                    "columns": embedding.vectors.shape[1],
                    "processes": comm.size,
                    "seconds": seconds,
                    "peak_bytes": int(peak),
                    "sent_bytes": int(sent),
                    "resumed": checkpoints.resumed,
                }
            )
    return embedding


def trainable() -> list[str]:
    """Return the names of the methods that train on parts.

    Examples
    --------
    >>> "mfdw" in trainable(), "gcn" in trainable()
    (True, False)
    """
    from unseen.methods.registry import all_methods

    return [name for name, cls in all_methods().items() if cls._traits.trains_on_parts]


def _check_memory(
    estimator: Method, meta: Meta, folder: Path, comm: Comm, *, scratch: bool, force: bool
) -> None:
    """Check the memory of the process that has most; processes on one machine share it."""
    jobs = []
    for share in shares(meta, folder, comm.size):
        parts = [meta.parts[k] for k in share.tolist()]
        rows, entries, labelled, halo = (
            sum(getattr(part, name) for part in parts) for name in ("n_rows", "entries", "labelled", "halo")
        )
        columns = 0 if meta.features is None else int(meta.features["columns"])
        stored = columns * rows
        if meta.features is not None and meta.features["kind"] == "sparse":
            stored = sum(part.files["features_indices.npy"][0] for part in parts) // 4  # int32
        # parts of one process may need the same rows, or each other's: it is this much at most
        halo = min(halo, meta.n_nodes - rows)
        sizes = {
            "labelled": labelled,
            "halo": halo,
            "scratch": scratch,
            "loaded": False,
            "graph_nodes": meta.n_nodes,
        }
        jobs.append(make_job(estimator, rows, entries, (columns, stored), **sizes))
    largest = max(jobs, key=lambda job: job.entries + 4 * job.nodes)
    check_memory(estimator, largest, force=force, processes=int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def _check_output(folder: Path) -> None:
    """Refuse a folder that has something else in it, before any work."""
    if folder.exists() and not folder.is_dir():
        msg = f"cannot write {folder}: it is a file; name a folder for the parts"
        raise OutputError(msg)
    strangers = [p.name for p in folder.iterdir() if not _OURS.fullmatch(p.name)] if folder.is_dir() else []
    if strangers:
        msg = f"cannot write {folder}: it holds {strangers[0]!r}, which is no part of vectors; name a new folder"
        raise OutputError(msg)
    make_folder(folder)


def _write_vectors(embedding: Embedding, folder: Path, comm: Comm) -> None:
    """Write this process's rows; all processes call it, and all return once everything is in place."""
    staging = folder / _STAGING
    if comm.rank == 0 and staging.exists():
        shutil.rmtree(staging)
    comm.barrier()
    path = staging / f"part-{comm.rank:05d}-of-{comm.size:05d}.parquet"
    try:
        with raise_together(comm, "could not write its vectors"):
            make_folder(staging)
            with explain_errors(path):
                fill_vectors(embedding, path)
    except UnseenError:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    rows = int(comm.sum_(np.array([len(embedding.node_ids)]))[0])
    if comm.rank == 0:
        (folder / SUCCESS).unlink(missing_ok=True)
        for old in folder.glob("part-*-of-*.parquet"):
            old.unlink()
        for new in sorted(staging.iterdir()):
            new.rename(folder / new.name)
        staging.rmdir()
        about = {"method": embedding.method, "rows": rows, "columns": embedding.shape[1], "parts": comm.size}
        with atomic_path(folder / SUCCESS) as temporary:
            temporary.write_text(json.dumps(about) + "\n")
    comm.barrier()


def read_vectors(folder: Path) -> Embedding:
    """Read all parts; a folder without ``_SUCCESS`` is not whole, and an error."""
    if not (folder / SUCCESS).is_file():
        msg = f"{str(folder)!r} has no {SUCCESS}: the vectors are not there or not whole; run the job again"
        raise InputError(msg)
    return read_embedding(folder)
