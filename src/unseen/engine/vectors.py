"""Vectors as Parquet parts, one per process, with ``_SUCCESS`` once they are all there.

Parts are written to a folder beside the final ones and moved when every process has written its own: first
``_SUCCESS`` and the old parts go, then the new ones come, then ``_SUCCESS``. Old and new parts never lie side by side.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from unseen.data.files import atomic_path, explained, make_folder
from unseen.data.writers import fill_vectors
from unseen.embedding import Embedding
from unseen.engine.checkpoints import together
from unseen.engine.comm import Comm
from unseen.errors import InputError, OutputError
from unseen.ids import as_ids

SUCCESS = "_SUCCESS"
CHECKPOINTS = "_checkpoints"
_STAGING = "_staging"
_OURS = re.compile(rf"part-\d+-of-\d+\.parquet|{SUCCESS}|{CHECKPOINTS}|{_STAGING}|\.unseen-.*")


def check_output(folder: Path) -> None:
    """Refuse a folder that has something else in it, before any work."""
    if folder.exists() and not folder.is_dir():
        msg = f"cannot write {folder}: it is a file; name a folder for the parts"
        raise OutputError(msg)
    strangers = [p.name for p in folder.iterdir() if not _OURS.fullmatch(p.name)] if folder.is_dir() else []
    if strangers:
        msg = f"cannot write {folder}: it holds {strangers[0]!r}, which is no part of vectors; name a new folder"
        raise OutputError(msg)
    make_folder(folder)


def write_vectors(embedding: Embedding, folder: Path, comm: Comm) -> None:
    """Write this process's rows; all processes call it, and all return once everything is in place.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from unseen.engine.comm import SOLO
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_vectors(Embedding(np.ones((2, 1), dtype=np.float32), ["a", "b"]), folder, SOLO)
    >>> sorted(path.name for path in folder.iterdir())
    ['_SUCCESS', 'part-00000-of-00001.parquet']
    """
    staging = folder / _STAGING
    if comm.rank == 0 and staging.exists():
        shutil.rmtree(staging)
    comm.barrier()
    problem: OutputError | None = None
    path = staging / f"part-{comm.rank:05d}-of-{comm.size:05d}.parquet"
    try:
        make_folder(staging)
        with explained(path):
            fill_vectors(embedding, path)
    except OutputError as error:
        problem = error
    try:
        together(comm, problem, "could not write its vectors")
    except OutputError:
        if problem is not None or comm.rank == 0:
            shutil.rmtree(staging, ignore_errors=True)
        raise
    rows = int(comm.total(len(embedding.node_ids)))
    if comm.rank == 0:
        (folder / SUCCESS).unlink(missing_ok=True)
        for old in folder.glob("part-*-of-*.parquet"):
            old.unlink()
        for new in sorted(staging.iterdir()):
            new.rename(folder / new.name)
        staging.rmdir()
        about = {
            "method": embedding.method,
            "rows": rows,
            "columns": embedding.vectors.shape[1],
            "parts": comm.size,
        }
        with atomic_path(folder / SUCCESS) as temporary:
            temporary.write_text(json.dumps(about) + "\n")
    comm.barrier()


def read_vectors(folder: Path) -> Embedding:
    """Read all parts; a folder without ``_SUCCESS`` is not whole, and an error."""
    if not (folder / SUCCESS).is_file():
        msg = f"{str(folder)!r} has no {SUCCESS}: the vectors are not there or not whole; run the job again"
        raise InputError(msg)
    table = pa.concat_tables(pq.read_table(path) for path in sorted(folder.glob("part-*-of-*.parquet")))
    about = json.loads((folder / SUCCESS).read_text(encoding="utf-8"))
    flat = table.column("vector").combine_chunks()
    values = pa.concat_arrays(flat.chunks) if isinstance(flat, pa.ChunkedArray) else flat
    vectors = values.flatten().to_numpy().reshape(table.num_rows, about["columns"])
    return Embedding(vectors, as_ids(table.column("node").to_numpy()), about["method"])
