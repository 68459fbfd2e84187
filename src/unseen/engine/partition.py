"""`unseen partition`: cut a graph into row parts on disk, with memory bounded by a number of bytes.

The batches of the one door go into tables of a database, and each row has its place: nodes, edges, features and
labels, in the order in which :func:`unseen.read_graph` numbers their ids. A node's number is the rank of its first
place. The entries, sorted by row and column, are the rows of the adjacency; a part is a range of these. Nothing
depends on the number of threads: every query whose order counts says which.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.data.files import staged_folder
from unseen.data.options import Options
from unseen.data.pieces import Report, counted
from unseen.data.roles import EdgeReader, FeatureReader, LabelReader, NodeReader, Reader
from unseen.data.sources import Role, shown_bytes
from unseen.data.tables import Table
from unseen.engine.database import Database
from unseen.engine.parts import META, Meta, PartMeta, checksum, part_folder, write_meta
from unseen.engine.rows import BYTES_PER_NODE, FeatureFile
from unseen.engine.tables import Tables
from unseen.errors import InputError, OutputError, logger
from unseen.graph import Symmetrize
from unseen.ids import as_ids, default_ids, match_ids
from unseen.linalg.blocks import thread_count

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
    features: str | Path | None = None,
    labels: str | Path | Sequence[str | Path] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    symmetrize: Symmetrize = "max",
    drop_negative: bool = False,
    memory: int = 2_000_000_000,
    threads: int | None = None,
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
    header, delimiter, symmetrize, drop_negative
        As for :func:`unseen.read_graph`.
    memory : int
        Bytes that the database may take, beside what the program itself takes.
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
    options = Options(header, delimiter, symmetrize, drop_negative)
    if parts < 1:
        msg = f"`parts` must be at least 1, got {parts}"
        raise InputError(msg)
    if memory < LEAST_MEMORY:
        msg = f"`memory` is {shown_bytes(memory)}, and the least is {shown_bytes(LEAST_MEMORY)}; give more"
        raise InputError(msg)
    target = Path(output)
    _check_target(target)
    report = Report()
    several = [labels] if labels is None or isinstance(labels, (str, Path)) else labels
    given: list[tuple[type[Reader[Any]], Any]]
    given = [(NodeReader, nodes), (EdgeReader, edges), (FeatureReader, features)]
    given += [(LabelReader, source) for source in several]
    readers = [kind(source, options, report) for kind, source in given if source is not None]
    with staged_folder(target) as staging:
        work = staging / "work"
        work.mkdir()
        with Database(work, memory=memory, threads=threads or thread_count()) as database:
            job = _Job(readers, Tables(database), work, n_bytes=min(memory // 24, BATCH))
            job.read()
            job.check(parts, memory)
            rows = job.tables.sorted_rows(work, symmetrize)
            cuts = rows.cuts(parts)
            labelled = [job.write(part_folder(staging, k), *cut) for k, cut in enumerate(pairwise(cuts))]
        written = []
        for k, (start, stop) in enumerate(pairwise(cuts)):  # the database is closed: there is room for this
            inside = part_folder(staging, k)
            entries, halo = rows.write(inside, start, stop)
            files = {path.name: checksum(path) for path in sorted(inside.iterdir())}
            written.append(PartMeta(start, stop, entries, halo, labelled[k], files))
        shutil.rmtree(work)
        meta = job.meta(written)
        write_meta(meta, staging)
    job.tell(meta, target)
    return meta


class _Job:
    """One partition being made: from readers to tables, from tables to the files of parts."""

    def __init__(self, readers: list[Reader[Any]], tables: Tables, work: Path, n_bytes: int) -> None:
        self._readers, self.tables, self._n_bytes = readers, tables, n_bytes
        self._of = {reader.role: reader for reader in readers}
        self._features: FeatureFile | None = None
        if "features" in self._of:
            self._features = FeatureFile(work / "features", self._of["features"].name)
        self._unnamed = 0  # rows of features without ids, which wait for those of `nodes`
        self._classes: list[str] = []

    def read(self) -> None:
        """Fill the tables; first lines wait until all ids are known."""
        waiting = []
        for reader in self._readers:
            waiting.append((reader, self.tables.reserve(reader.role)))
            for piece in reader.pieces(self._n_bytes):
                self._add(reader.role, piece)
        beside = self._of["edges"].source.beside
        if beside is not None:
            for piece in NodeReader(beside).pieces(self._n_bytes):
                self._add("nodes", piece)
        waiting.sort(key=lambda pair: pair[0].role != "edges")  # their ids speak for all others
        for reader, row in waiting:
            if reader.role == "features" and self._unnamed:
                self.tables.add("features", self._row_ids(self._unnamed))
            strangers = partial(self.tables.strangers, reader.role) if len(self._readers) > 1 else None
            piece = reader.settle(self.tables.stands, strangers)
            if piece is not None:
                self._add(reader.role, piece, row)
        self.tables.number()
        self._classes = self.tables.number_classes()

    def _add(self, role: Role, piece: Any, row: int | None = None) -> None:
        if role == "nodes":
            self.tables.add("nodes", piece.ids, row=row)
        elif role == "edges":
            if piece.nodes is not None:
                self.tables.add("nodes", piece.nodes)
            self.tables.add("edges", piece.src, piece.dst, weight=piece.weight, row=row)
        elif role == "features" and self._features is not None:
            self._features.add(piece.values)
            if piece.ids is None:
                self._unnamed = piece.values.shape[0]
            else:
                self.tables.add("features", piece.ids, row=row)
        elif role == "labels":
            places = self.tables.add("labels", piece.ids, row=row)
            self.tables.add_classes(places[piece.rows], piece.names)

    def _row_ids(self, n: int) -> pa.Array:
        """Return the nodes of features that name none: node numbers, or the order that `nodes` fixes."""
        numbers = default_ids(n)
        order = self.tables.listed_nodes()
        if len(order) == n and (match_ids(as_ids(order.to_numpy(zero_copy_only=False)), numbers) < 0).any():
            return order
        return pa.array(numbers)

    def check(self, parts: int, memory: int) -> None:
        """Refuse what cannot be cut: too many parts, too little memory, nodes without features or with several."""
        n = self.tables.n_nodes
        if n == 0:
            name = self._of["edges"].name
            msg = f"{name} lists no edge, and there is no other source that names a node; give `nodes`"
            raise InputError(msg)
        if n < parts:
            msg = f"`parts` is {parts}, but the graph has only {n} nodes; give at most as many parts"
            raise InputError(msg)
        if n * BYTES_PER_NODE > memory:
            msg = f"`memory` is too small for {n:,} nodes; give at least {shown_bytes(n * BYTES_PER_NODE)}"
            raise InputError(msg)
        if "features" not in self._of:
            return
        reader = self._of["features"]
        again = self.tables.repeated_features()
        if again is not None:
            place, node = self._place(reader, again[0]), again[1]
            msg = f"{place}: the node {node!r} has features already; one row per node is allowed"
            raise InputError(msg)
        missing, first = self.tables.without_features()
        if missing:
            remedy = (
                f"it names no nodes, so that its {self._unnamed} rows belong to the nodes 0 to {self._unnamed - 1}: "
                "give the ids with the features, or `nodes` in the order of the rows"
                if self._unnamed
                else "add rows for them (zeros, if nothing is known) or remove these nodes"
            )
            msg = f"{reader.name} has no row for {missing} of the {n} nodes, the first is {first!r}; {remedy}"
            raise InputError(msg)

    def write(self, inside: Path, start: int, stop: int) -> int:
        """Write ids, features and labels of a part, and return how many of its nodes have a label."""
        inside.mkdir()
        kind = pa.large_string() if self.tables.text else pa.int64()
        schema = pa.schema([pa.field("node", kind, nullable=False)])
        with pq.ParquetWriter(inside / "nodes.parquet", schema) as writer:
            for ids in self.tables.ids(start, stop):
                writer.write_batch(pa.record_batch([ids], schema=schema))
        if self._features is not None:
            self._features.write(inside, self.tables.feature_rows(start, stop), stop - start)
        if "labels" not in self._of:
            return 0
        nodes, classes = self.tables.label_rows(start, stop)
        np.save(inside / "label_rows.npy", nodes)
        np.save(inside / "label_classes.npy", classes)
        return len(np.unique(nodes))

    def _place(self, reader: Reader[Any], row: int) -> str:
        """Return where a row stands; the source is read again for it."""
        if row == 0 and reader.first is not None:
            return reader.first.place
        for batch in reader.source.batches(self._n_bytes):
            if isinstance(batch, Table) and row <= batch.n_rows:
                return batch.place(row - 1)
            row -= batch.n_rows if isinstance(batch, Table) else 0
        return f"{reader.name}, row {row}"

    def meta(self, parts: list[PartMeta]) -> Meta:
        """Return what META.json says."""
        features = None if self._features is None else self._features.described
        tables = self.tables
        return Meta(tables.n_nodes, tables.n_edges, not tables.text, parts, features, self._classes)

    def tell(self, meta: Meta, target: Path) -> None:
        """Say what was read, left out and written."""
        tables, rows = self.tables, [part.n_rows for part in meta.parts]
        counts = [
            counted(tables.n_nodes, "node"),
            counted(tables.n_edges, "edge"),
            counted(tables.repeats, "repeat"),
            counted(tables.self_loops, "self-loop"),
            *self._of["edges"].report.losses(),
        ]
        logger.info(
            "partitioned %s: %s; %s of %s to %s rows written to %s",
            self._of["edges"].name,
            ", ".join(counts),
            counted(len(rows), "part"),
            f"{min(rows):,}",
            f"{max(rows):,}",
            target,
        )


def _check_target(target: Path) -> None:
    if target.is_dir() and any(target.iterdir()) and not (target / META).is_file():
        msg = f"cannot write {target}: the folder has files that are no partition; name a new or an empty folder"
        raise OutputError(msg)
