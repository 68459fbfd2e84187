"""One, two and four processes on this machine: `unseen bench ranks`.

The same vectors, whatever the number of processes; the memory of each; and the rows they send each other, beside what
the memory check says of a random graph.
"""

from __future__ import annotations

import math
import resource
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unseen.data.opened import shown_bytes
from unseen.engine.memory import estimate_peak, make_job
from unseen.engine.train import read_vectors, trainable
from unseen.errors import logger, unknown_name
from unseen.methods.registry import make_method, method_class
from unseen_paper.bench.processes import Training, run_group, write_parts
from unseen_paper.bench.report import Table

RANKS = (1, 2, 4)
COLUMNS = 64
SAME_NODES = 40_000
"""Size of the comparison of vectors: large enough for the default method to work on parts."""
DEFAULT = "rect-plus"
WORDS = 10
"""Words of a node, and words in all: a hundred times as many."""


def run(
    *, methods: Sequence[str] | None = None, sizes: Sequence[int] = (100_000, 1_000_000), epochs: int = 100
) -> list[Table]:
    """Return how far the vectors of several processes are off those of one, and what each process takes.

    Parameters
    ----------
    methods : sequence of str, optional
        Whose vectors are compared; all that train on parts when not given.
    sizes : sequence of int
        Numbers of nodes at which memory and exchange of the default method are measured.
    epochs : int
        How long methods that are trained are trained for the comparison of vectors.
    """
    methods = trainable() if methods is None else methods
    for name in methods:
        if name not in trainable():
            raise unknown_name("method that trains on parts", name, trainable())
    with tempfile.TemporaryDirectory() as name:
        return [same_vectors(Path(name), methods, epochs), costs(Path(name), sizes)]


def same_vectors(folder: Path, methods: Sequence[str], epochs: int) -> Table:
    """Return how far the vectors are off those of one process."""
    parts = write_parts(folder, SAME_NODES, parts=max(RANKS))
    rows = []
    for method in methods:
        job = ["--method", method, "--dim", str(COLUMNS)]
        job += (
            ["--epochs", str(epochs)]
            if {"epochs", "max_iter"} & set(method_class(method)._parameters)
            else []
        )
        alone: np.ndarray | None = None
        for ranks in RANKS:
            output = folder / f"{method}-{ranks}"
            _train(ranks, parts, output, *job)
            vectors = read_vectors(output).vectors
            if alone is None:
                alone = vectors
                continue
            gap = vectors.astype(np.float64) - alone
            off = f"{np.linalg.norm(gap) / np.linalg.norm(alone):.1e}", f"{np.abs(gap).max():.1e}"
            rows.append((method, str(ranks), *off))
            logger.info("%s, %d processes: relative difference %s, largest entry %s", method, ranks, *off)
    header = ("method", "processes", "relative difference", "largest entry")
    title = f"Vectors beside those of one process, {SAME_NODES:,} nodes, {COLUMNS} columns, {epochs} epochs at most"
    return Table(title, header, rows)


def costs(folder: Path, sizes: Sequence[int]) -> Table:
    """Return processor seconds, memory beside the estimate, and rows sent of the default method."""
    rows = []
    for n in sizes:
        parts = write_parts(folder, n, parts=max(RANKS), words=WORDS)
        for ranks in RANKS:
            before = _processor_seconds()
            training = _train(ranks, parts, folder / f"cost-{n}-{ranks}", "--method", DEFAULT)
            used = _processor_seconds() - before
            sizes_of_share = {"halo": _halo(n, ranks), "loaded": False, "graph_nodes": n}
            features = (100 * WORDS, WORDS * n // ranks)
            share = make_job(make_method(DEFAULT), n // ranks, 4 * n // ranks, features, **sizes_of_share)
            cells = training.peak_bytes, estimate_peak(method_class(DEFAULT), share), training.sent_bytes
            rows.append((f"{n:,}", str(ranks), f"{used:.0f}", *(shown_bytes(cell) for cell in cells)))
            logger.info("%s nodes, %s processes: %s s, %s against %s, %s sent", *rows[-1])
    header = ("nodes", "processes", "processor s", "memory of a process", "estimate", "rows sent")
    title = f"{DEFAULT} on random graphs, 4 neighbours and {WORDS} words per node, one thread per process"
    note = "Processor seconds are of all processes, their start and reading included."
    return Table(title, header, rows, (note,))


def _processor_seconds() -> float:
    """Return what all processes started from here, and ended, have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _halo(nodes: int, ranks: int) -> int:
    """Return how many rows of others a process needs on a random graph of four entries a row, cut at random.

    Examples
    --------
    >>> _halo(1000, 1), _halo(1000, 2)
    (0, 432)
    """
    return round((nodes - nodes / ranks) * (1 - math.exp(-4 / ranks)))


def _train(ranks: int, parts: Path, output: Path, *job: str) -> Training:
    return run_group(ranks, str(parts), *job, "-o", str(output), "--checkpoint-every", "0")
