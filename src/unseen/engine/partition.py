"""`unseen partition`: cut a graph into row parts on disk, with memory bounded by a number of bytes.

The batches of the one door go into tables of a database, and each row has its place: nodes, edges, features and
labels, in the order in which :func:`unseen.read_graph` numbers their ids. A node's number is the rank of its first
place. The entries, sorted by row and column, are the rows of the adjacency; a part is a range of these. Nothing
depends on the number of threads: every query whose order counts says which.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.data.build import counted, tell_contradiction
from unseen.data.files import staged_folder
from unseen.data.ids import id_column
from unseen.data.options import Options
from unseen.data.pieces import several_rows
from unseen.data.read import Intake, missing_features, numbered_ids, several
from unseen.data.roles import NodeReader, Reader
from unseen.data.sources import Role, shown_bytes
from unseen.data.tables import Table
from unseen.engine.database import Database
from unseen.engine.parts import META, Meta, PartMeta, checksum, part_folder, write_meta
from unseen.engine.rows import BYTES_PER_NODE, FeatureFile
from unseen.engine.run import default_threads
from unseen.engine.tables import APART, Tables
from unseen.errors import InputError, OutputError, logger
from unseen.graph import Symmetrize
from unseen.labels import tell_missing_words

LEAST_MEMORY = 256_000_000
"""Below this, the database has no room for its sorts."""
BATCH = 1 << 25
"""Bytes of input that are read together, at most."""

_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)


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
    strict: bool = False,
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
    header, delimiter, symmetrize, drop_negative, strict
        As for :func:`unseen.read_graph`.
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
    options = Options(header, delimiter, symmetrize, drop_negative, strict)
    intake = Intake(edges, nodes, features, several(labels), options)
    with staged_folder(target) as staging:
        work = staging / "work"
        work.mkdir()
        with Database(work, memory=memory * 3 // 4, threads=threads or default_threads()) as database:
            job = _Job(intake, Tables(database), work, n_bytes=min(memory // 24, BATCH))
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
    sizes = [part.n_rows for part in meta.parts]
    logger.info(
        "%s of %s to %s rows written to %s",
        counted(parts, "part"),
        f"{min(sizes):,}",
        f"{max(sizes):,}",
        target,
    )
    return meta


def parse_size(text: str, flag: str = "--memory") -> int:
    """Return the bytes that a text like ``2GB`` or ``512MiB`` means.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1.5 MiB"), parse_size("1000")
    (2000000000, 1572864, 1000)
    """
    size = _SIZE.fullmatch(text)
    if size is None:
        msg = f"`{flag}` takes a size such as 500MB or 2GB, got {text!r}"
        raise InputError(msg)
    number, unit, binary = size.groups()
    return int(float(number) * (1024 if binary else 1000) ** ["", *"KMGT"].index(unit.upper()))


class _Job:
    """One partition being made: from readers to tables, from tables to the files of parts."""

    def __init__(self, intake: Intake, tables: Tables, work: Path, n_bytes: int) -> None:
        self._intake, self.tables, self._n_bytes = intake, tables, n_bytes
        self._features: FeatureFile | None = None
        if intake.features is not None:
            self._features = FeatureFile(work / "features", intake.features.name)
        self._numbered = 0  # rows of features that name no nodes
        self._starts: dict[Reader[Any], int] = {}
        self._classes: list[str] = []

    def read(self) -> None:
        """Fill the tables; first lines wait until all ids are known."""
        for reader in self._intake.readers:
            self._starts[reader] = self.tables.reserve(reader.role)
            for piece in reader.pieces(self._n_bytes):
                self._add(reader.role, piece)
        beside = self._intake.edges.source.beside
        if beside is not None:
            for piece in NodeReader(beside).pieces(self._n_bytes):
                self._add("nodes", piece)
        for reader, row in self._starts.items():
            strangers = partial(self.tables.strangers, reader.role, row, row + reader.n_rows)
            first = reader.settle(self.tables.stands, strangers)
            if first is not None:
                self._add(reader.role, first, row)
        if self._numbered:
            last = APART if self._intake.nodes is None else self._intake.nodes.n_rows
            ids = numbered_ids(self._numbered, [self.tables.listed_nodes(last)])
            self.tables.add("features", id_column(ids, "features"))
        self.tables.number()
        self._classes = self.tables.number_classes()

    def _add(self, role: Role, piece: Any, row: int | None = None) -> None:
        if role == "edges":
            self.tables.add("edges", piece.src, piece.dst, weight=piece.weight, row=row)
            if piece.nodes is not None:
                self.tables.add("nodes", piece.nodes)
            return
        if role == "features" and self._features is not None:
            self._features.add(piece.values)
            if piece.ids is None:
                self._numbered = piece.values.shape[0]
                return
        places = self.tables.add(role, piece.ids, row=row)
        if role == "labels":
            self.tables.add_classes(places[piece.rows], piece.names)

    def check(self, parts: int, memory: int) -> None:
        """Refuse what cannot be cut, and nodes whose features or labels do not fit; say what stands alone."""
        n, intake = self.tables.n_nodes, self._intake
        intake.require_nodes(n)
        if n < parts:
            msg = f"`parts` is {parts}, but the graph has only {n} nodes; give at most as many parts"
            raise InputError(msg)
        if n * BYTES_PER_NODE > memory:
            msg = f"`memory` is too small for {n:,} nodes; give at least {shown_bytes(n * BYTES_PER_NODE)}"
            raise InputError(msg)
        count, node, row = self.tables.label_only()
        if count:
            reader = max((r for r in intake.labels if self._starts[r] <= row), key=self._starts.__getitem__)
            intake.tell_label_only(self._place(reader, row - self._starts[reader]), node, count)
        odd = (
            self.tables.contradiction([self._starts[r] for r in intake.labels])
            if len(intake.labels) > 1
            else None
        )
        if odd is not None:
            named = {intake.labels[source].name: names for source, names in odd[1].items()}
            tell_contradiction(odd[0], named, odd[2])
        if intake.features is None:
            return
        node = self.tables.repeated_features()
        if node is not None:
            raise several_rows(intake.features.name, node)
        missing, node = self.tables.without_features()
        if missing:
            raise missing_features(intake.features.name, missing, n, node, self._numbered)

    def _place(self, reader: Reader[Any], row: int) -> str:
        """Return where a row stands, 0 being a first line that waited; the source is read again for it."""
        if row == 0 and reader.first is not None:
            return reader.first.place
        for batch in reader.source.batches(self._n_bytes):
            if isinstance(batch, Table) and row <= batch.n_rows:
                return batch.place(row - 1)
            row -= batch.n_rows if isinstance(batch, Table) else 0
        return f"{reader.name}, row {row}"

    def write(self, inside: Path, start: int, stop: int) -> int:
        """Write ids, features and labels of a part, and return how many of its nodes have a label."""
        inside.mkdir()
        schema = pa.schema({"node": pa.large_string() if self.tables.text else pa.int64()})
        with pq.ParquetWriter(inside / "nodes.parquet", schema) as writer:
            for ids in self.tables.ids(start, stop):
                writer.write_table(ids)
        if self._features is not None:
            self._features.write(inside, self.tables.feature_rows(start, stop), stop - start)
        if not self._intake.labels:
            return 0
        nodes, classes = self.tables.label_rows(start, stop)
        np.save(inside / "label_rows.npy", nodes)
        np.save(inside / "label_classes.npy", classes)
        return len(np.unique(nodes))

    def meta(self, parts: list[PartMeta]) -> Meta:
        """Return what META.json says, and say what was read and left out."""
        tables, report = self.tables, self._intake.report
        tell_missing_words(report.missing_words)
        counts = [
            counted(tables.n_nodes, "node"),
            counted(tables.n_edges, "edge"),
            counted(tables.repeats, "repeat"),
            counted(tables.self_loops, "self-loop"),
            *report.losses(),
        ]
        logger.info("partitioned %s: %s", self._intake.edges.name, ", ".join(counts))
        features = None if self._features is None else self._features.described
        return Meta(tables.n_nodes, tables.n_edges, not tables.text, parts, features, self._classes)
