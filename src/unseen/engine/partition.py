"""`unseen partition`: cut a graph into row parts on disk, with memory bounded by a number of bytes.

The batches of the one door go into tables of a database. The entries, sorted by row and column, are the rows of the
adjacency; a part is a range of these.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Unpack

from unseen.data.bounds import shown_bytes
from unseen.data.files import staged_folder
from unseen.data.options import OptionNames, Options
from unseen.data.read import Intake
from unseen.data.sources import several
from unseen.engine.database import Database
from unseen.engine.parts import (
    BYTES_PER_NODE,
    META,
    Meta,
    PartMeta,
    checksum,
    not_plain,
    part_folder,
    write_meta,
)
from unseen.engine.run import default_threads
from unseen.engine.tables import Tables
from unseen.errors import InputError, OutputError, counted, logger

LEAST_MEMORY = 256_000_000
"""Below this, the database has no room for its sorts."""
BATCH = 1 << 25
"""Bytes of input that are read together, at most."""


def partition(
    edges: str | Path,
    output: str | Path,
    *,
    parts: int,
    nodes: str | Path | None = None,
    features: str | Path | Mapping[str, Path] | None = None,
    labels: str | Path | Sequence[str | Path] | None = None,
    memory: int = 2_000_000_000,
    threads: int | None = None,
    **options: Unpack[OptionNames],
) -> Meta:
    r"""Cut a graph into `parts` row parts of about equal work, and write them to the folder `output`.

    Parameters
    ----------
    edges : path
        Parquet (a file, or a folder of files) or delimited text with ``src, dst[, weight]``; need not fit in memory.
    output : path
        Folder to make; an earlier partition there is replaced once the new one is whole.
    parts : int
        How many parts, one for each process that is to train.
    nodes, features, labels : path, optional
        As for :func:`unseen.read_graph`; Parquet and text are streamed. Labels of several files add up.
    **options
        `header`, `delimiter`, `symmetrize`, `drop_negative`, `absolute` and `strict`, as for :func:`unseen.read_graph`.
    memory : int
        Bytes to work with, beside what the program itself takes.
    threads : int, optional
        Threads of the database; the result is the same bytes for any number. All processors if not given.

    Returns
    -------
    Meta
        What was written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("src,dst\na,b\nb,c\nc,d\n")
    >>> meta = partition(folder / "edges.csv", folder / "parts", parts=2)
    >>> meta.n_nodes, meta.starts
    (4, [0, 2, 4])
    """
    if parts < 1:
        msg = f"`parts` must be at least 1, got {parts}"
        raise InputError(msg)
    if memory < LEAST_MEMORY:
        msg = f"`memory` is {shown_bytes(memory)}, and the least is {shown_bytes(LEAST_MEMORY)}; give more"
        raise InputError(msg)
    target = Path(output)
    if target.is_dir() and any(target.iterdir()) and not (target / META).is_file():
        msg = f"cannot write {target}: the folder has files that are no partition; name a new or an empty folder"
        raise OutputError(msg)
    reading = Options(**options)
    if reading.directed or isinstance(features, Mapping):
        raise not_plain("directions (--directed)" if reading.directed else "features by type")
    intake = Intake(edges, nodes, features, several(labels), reading)
    with staged_folder(target) as staging:
        work = staging / "work"
        work.mkdir()
        with Database(work, memory=memory * 3 // 4, threads=threads or default_threads()) as database:
            tables = Tables(database, intake, work, n_bytes=min(memory // 24, BATCH))
            tables.read()
            tables.check()
            n = tables.n_nodes
            if n < parts:
                msg = f"`parts` is {parts}, but the graph has only {counted(n, 'node')}; give at most as many parts"
                raise InputError(msg)
            if n * BYTES_PER_NODE > memory:
                msg = f"`memory` is too small for {counted(n, 'node')}; give at least {shown_bytes(n * BYTES_PER_NODE)}"
                raise InputError(msg)
            rows = tables.sorted_rows(intake.options.symmetrize)
            cuts = rows.cuts(parts)
            labelled = [tables.write(part_folder(staging, k), *cut) for k, cut in enumerate(pairwise(cuts))]
        written = []
        for k, (start, stop) in enumerate(pairwise(cuts)):  # the database is closed: there is room for this
            inside = part_folder(staging, k)
            entries, halo = rows.write(inside, start, stop)
            files = {path.name: checksum(path) for path in sorted(inside.iterdir())}
            written.append(PartMeta(start, stop, entries, halo, labelled[k], files))
        shutil.rmtree(work)
        meta = tables.meta(written)
        write_meta(meta, staging)
    least, most = (pick(part.n_rows for part in meta.parts) for pick in (min, max))
    rows_each = ("" if least == most else f"{least:,} to ") + counted(most, "row")
    logger.info("%s of %s written to %s", counted(parts, "part"), rows_each, target)
    return meta
