"""`unseen partition`: cut a graph into row parts on disk, with memory bounded by a number of bytes.

Sources are read and numbered as for a graph in memory; ids and edges are in a database. The entries, sorted by row and
column, are the rows of the adjacency; a part is a range of these. METIS can order them so that few edges join two parts
(Karypis and Kumar, SIAM J. Sci. Comput. 20, 1998).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Unpack

import numpy as np
import scipy.sparse as sp

from unseen.data.build import combine_labels
from unseen.data.files import staged_folder
from unseen.data.intake import Intake
from unseen.data.opened import shown_bytes
from unseen.data.pieces import Edges
from unseen.data.sources import OptionNames, Options, as_list
from unseen.data.spill import Database, SortedRows, SpilledEdges, SpilledNumbering
from unseen.engine.parts import (
    BYTES_PER_NODE,
    META,
    PIECE,
    ROW_COST,
    FeatureFile,
    Meta,
    PartMeta,
    checksum,
    cut_rows,
    not_plain,
    part_folder,
    save_matrix,
    write_ids,
    write_meta,
    write_rows,
)
from unseen.engine.run import default_threads
from unseen.errors import InputError, OutputError, counted, logger, need_library, unknown_name
from unseen.ids import Ints, Place
from unseen.labels import warn_of_missing_words
from unseen.params import Limits, check_argument

LEAST_MEMORY = 256_000_000
"""Below this, the database has no room for its sorts."""
CUTS = ("rows", "metis")
"""How rows are assigned to parts."""
METIS_BYTES_PER_ENTRY, METIS_BYTES_PER_NODE = 60, 150
"""What METIS and the matrices before and after it take."""
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
    cut: str = "rows",
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
    cut : str
        ``"rows"`` keeps the nodes in their order. ``"metis"`` groups them so that few edges join two parts (extra
        ``scale``, and the edges have to fit into memory): processes then send each other fewer rows.

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
    check_argument("parts", parts, int, Limits(1))
    if cut not in CUTS:
        raise unknown_name("cut", cut, CUTS)
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
    intake = Intake(edges, nodes, features, as_list(labels), reading)
    with staged_folder(target) as staging:
        work = staging / "work"
        work.mkdir()
        stored = FeatureFile(work / "features") if intake.features else None
        with Database(work, memory=memory * 3 // 4, threads=threads or default_threads()) as database:
            numbering, spilled = SpilledNumbering(database), SpilledEdges(database)
            n_bytes, keep_features = min(memory // 24, BATCH), None if stored is None else stored.add
            intake.collect(numbering, _keep_plain(spilled), n_bytes, keep_features)
            listed = intake.node_list
            if listed is not None and listed.types is not None:
                _refuse_types(listed.types.unique().to_pylist(), listed.place)
            n = len(numbering)
            order = None if stored is None else intake.order_features()
            indicator, classes = combine_labels(intake.label_rows, numbering)
            warn_of_missing_words(intake.report.missing_words)
            if n < parts:
                msg = f"`parts` is {parts}, but the graph has only {counted(n, 'node')}; give at most as many parts"
                raise InputError(msg)
            if n * BYTES_PER_NODE > memory:
                msg = f"`memory` is too small for {counted(n, 'node')}; give at least {shown_bytes(n * BYTES_PER_NODE)}"
                raise InputError(msg)
            rows = spilled.sort(numbering, reading.symmetrize, intake.report)
            cuts = cut_rows(rows.ends, parts)
            if cut == "metis" and parts > 1:
                rows, nodes_in_order, cuts = _group_rows(rows, cuts, work / "grouped", memory)
                numbering.renumber(nodes_in_order)
                indicator = indicator[nodes_in_order]
                order = None if order is None else order[nodes_in_order]
            for k, ends in enumerate(pairwise(cuts)):
                part_folder(staging, k).mkdir()
                write_ids(part_folder(staging, k), numbering.pieces(*ends))
        written = []
        for k, (start, stop) in enumerate(pairwise(cuts)):  # the database is closed: there is room for this
            inside = part_folder(staging, k)
            if stored is not None and order is not None:
                stored.write(inside, order[start:stop])
            if intake.label_rows:
                save_matrix(inside, "labels", indicator[start:stop])
            labelled = (
                int(np.count_nonzero(np.diff(indicator[start:stop].indptr))) if intake.label_rows else 0
            )
            entries, halo = write_rows(rows, inside, start, stop)
            files = {path.name: checksum(path) for path in sorted(inside.iterdir())}
            written.append(PartMeta(start, stop, entries, halo, labelled, files))
        shutil.rmtree(work)
        n_edges = (int(rows.ends[-1]) + intake.report.self_loops) // 2
        description = None if stored is None else stored.description
        meta = Meta(n, n_edges, numbering.has_integers, written, description, list(classes))
        write_meta(meta, staging)
    report = intake.report
    counts = {"node": n, "edge": n_edges, "repeat": report.repeats, "self-loop": report.self_loops}
    facts = [*(counted(count, noun) for noun, count in counts.items()), *report.losses()]
    logger.info("partitioned %s: %s", intake.edges.name, ", ".join(facts))
    least, most = (pick(part.n_rows for part in meta.parts) for pick in (min, max))
    rows_each = ("" if least == most else f"{least:,} to ") + counted(most, "row")
    logger.info("%s of %s written to %s", counted(parts, "part"), rows_each, target)
    return meta


def _keep_plain(spilled: SpilledEdges) -> Callable[[Edges], None]:
    """Return what keeps pieces of edges, and refuses what parts cannot hold: several types, and signs."""
    types: dict[str, None] = {}

    def keep(piece: Edges) -> None:
        if piece.types is not None:
            types.update(dict.fromkeys(piece.types.unique().to_pylist()[:2]))
            _refuse_types(list(types), piece.place)
        if piece.weight is not None and piece.has_negative:
            row = int(np.argmax(piece.weight < 0))
            weight = f"negative weights ({piece.weight[row]:g}; --drop-negative leaves such edges out)"
            raise not_plain(weight, piece.place(row))
        spilled.add(piece)

    return keep


def _refuse_types(types: list[str], place: Place) -> None:
    if len(types) > 1:
        both = ", ".join(map(repr, types[:2]))
        raise not_plain("several types (" + both + ")", place(0))


def _group_rows(
    rows: SortedRows, cuts: list[int], folder: Path, memory: int
) -> tuple[SortedRows, Ints, list[int]]:
    """Return the rows in an order in which parts are ranges that few edges join, that order, and the new cuts.

    `cuts` are those of the rows in their present order. The result goes to files of `folder`. A notice says how many
    rows of others the parts need now, and how many they needed with the cuts of before.
    """
    pymetis = need_library("pymetis", "--cut metis", "scale")
    needed = METIS_BYTES_PER_ENTRY * int(rows.ends[-1]) + METIS_BYTES_PER_NODE * len(rows.ends)
    if needed > memory:
        msg = (
            f"METIS needs about {shown_bytes(needed)} for this graph and `memory` is {shown_bytes(memory)}; "
            "give more (--memory), or use --cut rows"
        )
        raise InputError(msg)
    adjacency, n_parts = rows.matrix(), len(cuts) - 1
    before = _count_foreign_rows(adjacency, cuts)
    weights = (np.diff(adjacency.indptr) + ROW_COST).astype(np.int32)
    links = pymetis.CSRAdjacency(adj_starts=adjacency.indptr, adjacent=adjacency.indices)
    options = pymetis.Options(seed=0)
    membership = np.array(pymetis.part_graph(n_parts, links, vweights=weights, options=options)[1])
    sizes = np.bincount(membership, minlength=n_parts)
    if not sizes.all():
        msg = f"METIS left {counted(int((sizes == 0).sum()), 'part')} empty; ask for fewer parts, or use --cut rows"
        raise InputError(msg)
    order: Ints = np.argsort(membership, kind="stable").astype(np.int64)
    grouped, new_cuts = adjacency[order][:, order], [0, *np.cumsum(sizes).tolist()]
    grouped.sort_indices()
    after = _count_foreign_rows(grouped, new_cuts)
    share = f"{after / before:.0%}" if before else "as many"
    logger.info(
        "METIS: the parts need %s of each other, %s of the %s with the rows in their order",
        counted(after, "row"),
        share,
        f"{before:,}",
    )
    folder.mkdir()
    written = SortedRows(folder, grouped.shape[0])
    numbers = np.repeat(np.arange(grouped.shape[0], dtype=np.int64), np.diff(grouped.indptr))
    for first in range(0, grouped.nnz, PIECE):
        some = slice(first, first + PIECE)
        written.append(numbers[some], grouped.indices[some].astype(np.int64), grouped.data[some])
    written.finish()
    return written, order, new_cuts


def _count_foreign_rows(adjacency: sp.csr_array, cuts: list[int]) -> int:
    """Return how many rows of other parts the parts need, added up."""
    total = 0
    for start, stop in pairwise(cuts):
        needed = np.unique(adjacency.indices[adjacency.indptr[start] : adjacency.indptr[stop]])
        total += int(((needed < start) | (needed >= stop)).sum())
    return total
