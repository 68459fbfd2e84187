"""Train a method on a partition: one process, or one of several, by the very function that trains on a graph."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import unseen
from unseen.embedding import Embedding
from unseen.engine.checkpoints import Checkpoints, together
from unseen.engine.comm import Comm
from unseen.engine.estimate import Sizes, check_fits, free_memory, sizes_of
from unseen.engine.load import load_parts, shares
from unseen.engine.parts import Meta, read_meta, verify_part
from unseen.engine.run import Run
from unseen.engine.sizes import peak_bytes, shown_size
from unseen.engine.vectors import CHECKPOINTS, check_output, write_vectors
from unseen.errors import InputError, UnseenError, logger

if TYPE_CHECKING:
    from unseen.methods.base import Method

EVERY = 10


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
        of the process that has most, and the stage and step after which it went on, None if it began anew.

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
    """
    estimator = _trainable(method)(**params, random_state=seed)
    meta = _checked(folder, output, comm)
    _check_fits(estimator, meta, folder, comm, scratch=scratch is not None, force=force)
    start = time.monotonic()
    graph, labels, _ = load_parts(folder, comm, verify=False)
    if comm.rank == 0:
        logger.info(
            "%s: %s nodes, %s edges, loaded in %.1f s; %s",
            folder,
            f"{meta.n_nodes:,}",
            f"{meta.n_edges:,}",
            time.monotonic() - start,
            "one process" if comm.size == 1 else f"{comm.size} processes",
        )
    checkpoints = Checkpoints(
        output / CHECKPOINTS, comm, _job(meta, method, params, seed, comm), checkpoint_every
    )
    checkpoints.clear()
    run = Run(threads=threads, scratch=scratch, keeper=checkpoints)
    embedding = estimator.fit_run(graph, labels, run).embedding_  # type: ignore[arg-type]  # a part is taken as a graph
    write_vectors(embedding, output, comm)
    peak, sent = (comm.gather(np.array([number])).max() for number in (peak_bytes(), float(comm.sent)))
    seconds = time.monotonic() - start
    if comm.rank == 0:
        shutil.rmtree(output / CHECKPOINTS, ignore_errors=True)
        logger.info(
            "%s: %s vectors of %d columns in %.1f s, written to %s",
            method,
            f"{meta.n_nodes:,}",
            embedding.vectors.shape[1],
            seconds,
            output,
        )
        memory = f"at most {shown_size(peak)} of memory per process, and " if peak else ""
        logger.info("%s%s of rows sent to others", memory, shown_size(sent))
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

    return [name for name, cls in all_methods().items() if cls.trains_on_parts]


def _trainable(name: str) -> type[Method]:
    from unseen.methods.registry import method_class

    cls = method_class(name)
    if not cls.trains_on_parts:
        names = ", ".join(trainable())
        msg = (
            f"{name!r} does not train on parts; {names} do, and unseen embed runs every method on one machine"
        )
        raise InputError(msg)
    return cls


def _checked(folder: Path, output: Path, comm: Comm) -> Meta:
    """Look at everything that can be wrong with the files, all processes together, before the first exchange."""
    problem: UnseenError | None = None
    meta: Meta | None = None
    try:
        meta = read_meta(folder)
        for k in shares(meta, folder, comm.size)[comm.rank]:
            verify_part(folder, int(k), meta.parts[int(k)])
        check_output(output)
    except UnseenError as error:
        problem = error
    together(comm, problem, "cannot begin")
    assert meta is not None
    return meta


def _check_fits(
    estimator: Method, meta: Meta, folder: Path, comm: Comm, *, scratch: bool, force: bool
) -> None:
    """Estimate the share of the process that has most; processes on one machine share its memory."""
    sizes = [_sizes(estimator, meta, share.tolist()) for share in shares(meta, folder, comm.size)]
    largest = max(sizes, key=lambda s: s.entries + 4 * s.nodes)
    free = free_memory(int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    check_fits(estimator, largest, scratch=scratch, force=force, free=free)


def _sizes(estimator: Method, meta: Meta, share: Sequence[int]) -> Sizes:
    parts = [meta.parts[k] for k in share]
    rows = sum(part.n_rows for part in parts)
    features = None
    if meta.features is not None:
        columns = int(meta.features["columns"])
        features = {"columns": columns, "entries": columns * rows}
    return sizes_of(
        estimator,
        rows,
        sum(part.entries for part in parts),
        features,
        labelled=sum(part.labelled for part in parts),
        # parts of one process may need the same rows, or each other's: it is this much at most
        halo=min(sum(part.halo for part in parts), meta.n_nodes - rows),
    )


def _job(meta: Meta, method: str, params: dict[str, Any], seed: int, comm: Comm) -> str:
    about = [meta.fingerprint(), method, sorted(params.items()), seed, comm.size, unseen.__version__]
    return hashlib.sha256(json.dumps(about, default=str).encode()).hexdigest()[:16]
