"""`unseen partition`: cut a graph into row parts on disk, with memory bounded by a number of bytes.

Every step reads its input in pieces, sends records to buckets on disk, and then looks at one bucket at a time. The
numbers of the nodes are those of :func:`unseen.read_graph`: the order of first appearance in nodes, edges, features
and labels. So a part is a range of rows of that graph, and what lies close together in the input stays together.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError, OutputError, logger
from unseen.graph import Symmetrize, check_symmetrize
from unseen.io.columns import edge_columns, is_edge_header, is_node_header, node_ids
from unseen.io.files import _explained, make_folder
from unseen.io.headers import may_be_edge_header, may_be_node_header
from unseen.scale.attributes import NODE_NAMES, FeatureStore, LabelStore
from unseen.scale.layout import META, ArrayFile, Meta, PartMeta, checksum, part_folder, write_meta
from unseen.scale.numbering import Numbering
from unseen.scale.pairs import PairStore, part_groups
from unseen.scale.sizes import shown_size
from unseen.scale.stream import TextOptions, open_source

LEAST_MEMORY = 64_000_000
"""Below this, buckets become so many that the steps take longer than reading them whole."""
EDGE_NAMES = ("src", "source", "dst", "target")
_RECORD = 24


@dataclass(frozen=True)
class Budget:
    """How much of the memory goes where.

    Attributes
    ----------
    batch : int
        Bytes of input that are looked at together.
    bucket : int
        Bytes of records in a bucket: sorting and grouping takes several times as much.
    """

    batch: int
    bucket: int

    @classmethod
    def of(cls, memory: int) -> Budget:
        """Return the budget for `memory` bytes."""
        if memory < LEAST_MEMORY:
            msg = f"`memory` is {shown_size(memory)}, and the least is {shown_size(LEAST_MEMORY)}; give more"
            raise InputError(msg)
        return cls(batch=min(memory // 24, 1 << 26), bucket=memory // 10)

    @property
    def records(self) -> int:
        """Return how many records of an edge a bucket may hold."""
        return max(1, self.bucket // _RECORD)


def partition(
    edges: str | Path,
    output: str | Path,
    *,
    parts: int,
    nodes: str | Path | None = None,
    features: str | Path | None = None,
    labels: str | Path | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    symmetrize: Symmetrize = "max",
    drop_negative: bool = False,
    memory: int = 2_000_000_000,
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
        As for :func:`unseen.read_graph`; Parquet and text are streamed.
    header, delimiter, symmetrize, drop_negative
        As for :func:`unseen.read_graph`.
    memory : int
        Bytes to work with, beside what the program itself takes.

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
    check_symmetrize(symmetrize)
    if parts < 1:
        msg = f"`parts` must be at least 1, got {parts}"
        raise InputError(msg)
    target = Path(output)
    _check_target(target)
    with _explained(target), _staged(target) as (staging, work):
        job = _Job(Path(edges), work, Budget.of(memory), header, delimiter, symmetrize, drop_negative)
        job.read(*(None if path is None else Path(path) for path in (nodes, features, labels)))
        meta = job.write(staging, parts)
        write_meta(meta, staging)
        shutil.rmtree(work)
        _replace(staging, target)
    counts = job.pairs.counts
    logger.info(
        "partitioned %s: %s nodes, %s edges, %s repeats, %s self-loops into %d parts of %s to %s rows, written to %s",
        edges,
        *(f"{n:,}" for n in (meta.n_nodes, counts.edges, counts.repeats, counts.self_loops)),
        parts,
        *(f"{f(part.n_rows for part in meta.parts):,}" for f in (min, max)),
        target,
    )
    return meta


class _Job:
    """One partition being made."""

    def __init__(
        self,
        edges: Path,
        work: Path,
        budget: Budget,
        header: bool | None,
        delimiter: str | None,
        symmetrize: Symmetrize,
        drop_negative: bool,
    ) -> None:
        self.work, self.budget, self.drop_negative = work, budget, drop_negative
        self.header, self.delimiter, self.symmetrize = header, delimiter, symmetrize
        text = TextOptions(is_edge_header, may_be_edge_header, header, delimiter)
        self.edges = open_source(edges, "edges", text, EDGE_NAMES)
        self.features: FeatureStore | None = None
        self.labels: LabelStore | None = None

    def read(self, nodes: Path | None, features: Path | None, labels: Path | None) -> None:
        """Read everything once: number the nodes, keep the edges by the keys of their ends."""
        batch = self.budget.batch
        integer = self.edges.integer_ids
        listed = None
        if nodes is not None:
            text = TextOptions(
                is_node_header, may_be_node_header, self.header, self.delimiter, blanks=False, may_differ=True
            )
            listed = open_source(nodes, "nodes", text, NODE_NAMES)
            integer &= listed.integer_ids
        said = (self.header, self.delimiter, batch)
        if features is not None:
            self.features = FeatureStore(self.work, features, *said)
            integer &= self.features.integer_ids
        if labels is not None:
            self.labels = LabelStore(self.work, labels, *said)
            integer &= self.labels.integer_ids
        # a row of ids needs its text, its key and its place; an edge is 24 bytes at every later step
        waiting = 3 * self.edges.n_bytes + _RECORD * (self.edges.n_bytes // 8)
        buckets = 1
        while buckets * self.budget.bucket < waiting and buckets < 4096:
            buckets *= 2
        self.numbering = Numbering(self.work, integer=integer, buckets=buckets)
        self.pairs = PairStore(self.work, self.numbering, self.symmetrize)
        if listed is not None:
            for table in listed.tables(batch):
                self.numbering.see(self.numbering.column(node_ids(table)))
        for table in self.edges.tables(batch):
            found = edge_columns(table, drop_negative=self.drop_negative)
            keys = self.numbering.see(self.numbering.column(found.src), self.numbering.column(found.dst))
            weights = np.ones(len(keys[0])) if found.weight is None else found.weight
            self.pairs.add(keys[0], keys[1], weights)
        for store in (self.features, self.labels):
            if store is not None:
                store.number(self.numbering)
        self.numbering.finish()

    def write(self, folder: Path, parts: int) -> Meta:
        """Bring everything to its part and write the parts."""
        n, piece = self.numbering.n_nodes, self.budget.records
        if n < parts:
            msg = f"`parts` is {parts}, but the graph has only {n} nodes; give at most as many parts"
            raise InputError(msg)
        if n > 4 * self.budget.bucket:
            msg = f"`memory` is too small for {n:,} nodes; give at least {shown_size(3 * n)}"
            raise InputError(msg)
        self.pairs.merge(piece)
        cuts = self.pairs.cuts(parts)
        groups = self.pairs.groups(cuts, piece)
        self.pairs.distribute(groups, piece)
        feature_groups = self.features.distribute(self.numbering, cuts) if self.features else []
        if self.labels:
            self.labels.distribute(self.numbering, cuts)
        for part in range(parts):
            part_folder(folder, part).mkdir()
        self._write_ids(folder, cuts)
        found = []
        for part, own in enumerate(part_groups(cuts, groups)):
            inside = part_folder(folder, part)
            start, stop = cuts[part], cuts[part + 1]
            entries, halo = self._write_rows(inside, [(g, groups[g], groups[g + 1]) for g in own], n)
            if self.features:
                mine = part_groups(cuts, feature_groups)[part]
                ranges = [(g, feature_groups[g], feature_groups[g + 1]) for g in mine]
                self.features.write(inside, ranges, self.numbering)
            labelled = self.labels.write(inside, part, start) if self.labels else 0
            files = {path.name: checksum(path) for path in sorted(inside.iterdir())}
            found.append(PartMeta(start, stop, entries, halo, labelled, files))
        described = None
        if self.features:
            kind = "sparse" if self.features.sparse else "dense"
            described = {"kind": kind, "columns": self.features.columns, "dtype": str(self.features.dtype)}
        classes = self.labels.classes if self.labels else []
        return Meta(n, self.pairs.counts.edges, self.numbering.integer, found, described, classes)

    def _write_ids(self, folder: Path, cuts: list[int]) -> None:
        kind = pa.int64() if self.numbering.integer else pa.large_string()
        schema = pa.schema([pa.field("node", kind, nullable=False)])
        part, done = 0, 0
        with contextlib.ExitStack() as stack:
            writer = stack.enter_context(pq.ParquetWriter(part_folder(folder, 0) / "nodes.parquet", schema))
            for ids in self.numbering.ids():
                first = 0
                while first < len(ids):
                    if done == cuts[part + 1]:
                        part += 1
                        stack.close()
                        path = part_folder(folder, part) / "nodes.parquet"
                        writer = stack.enter_context(pq.ParquetWriter(path, schema))
                    last = min(len(ids), first + cuts[part + 1] - done)
                    writer.write_batch(pa.record_batch([ids[first:last]], schema=schema))
                    done += last - first
                    first = last

    def _write_rows(self, inside: Path, groups: list[tuple[int, int, int]], n: int) -> tuple[int, int]:
        """Write the adjacency of a part; return its entries and the size of its halo."""
        start, stop = groups[0][1], groups[-1][2]
        foreign = np.zeros(n, dtype=bool)
        entries = 0
        for group, _, _ in groups:
            for columns in self.pairs.group_columns(group, self.budget.records):
                foreign[columns] = True
                entries += len(columns)
        foreign[start:stop] = False
        halo = np.flatnonzero(foreign)
        del foreign
        np.save(inside / "halo.npy", halo)
        rows = stop - start
        index = np.dtype(np.int32 if rows + len(halo) < 2**31 else np.int64)
        total = 0
        with (
            ArrayFile(inside / "indptr.npy", (rows + 1,), np.dtype(np.int64)) as indptr,
            ArrayFile(inside / "indices.npy", (entries,), index) as indices,
            ArrayFile(inside / "weights.npy", (entries,), np.dtype(np.float64)) as weights,
        ):
            indptr.write(np.zeros(1, dtype=np.int64))
            for group, first, last in groups:
                found = self.pairs.group_rows(group)
                self.pairs.drop(group)
                counts = np.bincount(found["i"] - first, minlength=last - first)
                own = (found["j"] >= start) & (found["j"] < stop)
                local = np.where(own, found["j"] - start, rows + np.searchsorted(halo, found["j"]))
                indptr.write(total + np.cumsum(counts))
                indices.write(local)
                weights.write(found["w"])
                total += len(found)
        return entries, len(halo)


def _check_target(target: Path) -> None:
    if target.is_dir() and any(target.iterdir()) and not (target / META).is_file():
        msg = f"cannot write {target}: the folder has files that are no partition; name a new or an empty folder"
        raise OutputError(msg)
    if target.exists() and not target.is_dir():
        msg = f"cannot write {target}: it is a file; name a folder"
        raise OutputError(msg)


@contextlib.contextmanager
def _staged(target: Path) -> Iterator[tuple[Path, Path]]:
    """Give a folder beside the target to fill, and one inside it for what waits; remove both unless all went well."""
    parent = make_folder(target.resolve().parent)
    staging = parent / f".unseen-{secrets.token_hex(8)}"
    work = staging / "work"
    make_folder(work)
    try:
        yield staging, work
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _replace(staging: Path, target: Path) -> None:
    old = staging.with_name(staging.name + "-old")
    if target.exists():
        target.rename(old)
    staging.rename(target)
    shutil.rmtree(old, ignore_errors=True)
