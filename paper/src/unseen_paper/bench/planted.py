"""How the default method grows: `unseen bench planted --sizes 10000,100000,1000000`.

Graphs of twenty classes whose features say little and whose edges say little, and together enough; four classes are
hidden, 2 % of the nodes have a label, at most 20,000. Every fit is in a process of its own; run it with
``OMP_NUM_THREADS=1``.

`--scratch FOLDER` is for graphs that need the disk: ten neighbours and ten words per node in place of twenty. The graph
is made once and kept in FOLDER, large arrays of the fit are there, too, and so are its vectors afterwards (float16),
and a log of its parts with processor seconds and memory.

`--methods discover,predict` measures these commands instead of a fit, and how right they are: the area under the
curve of the probabilities, and the share of the selected nodes that are of hidden classes. With `--scratch` they work
on the first columns of the vectors of `rect-plus` that are in FOLDER.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from unseen.data.datasets import Dataset
from unseen.data.generators import planted_partition
from unseen.embedding import Embedding
from unseen.engine.memory import estimate_peak, make_job
from unseen.engine.run import Run
from unseen.engine.scratch import blocks_of, release_pages, scratch_zeros
from unseen.errors import logger
from unseen.evaluation import evaluate
from unseen.graph import Graph
from unseen.ids import Ints, Singles
from unseen.labels import Labels
from unseen.methods.registry import make_method
from unseen.splits import Split, completely_imbalanced_split
from unseen_paper.bench.isolated import measure
from unseen_paper.bench.phases import phases_logged
from unseen_paper.bench.report import Table

SIZES = (10_000, 100_000)
RATE, MOST_LABELLED, HIDDEN = 0.02, 20_000, 4
CLASSES, OWN_WORDS, OTHER_WORDS = 20, 20, 600
SEARCHES = ("discover", "predict")
ROWS = 100_000
MOST_JUDGED = 200_000
"""Test nodes that are judged where vectors are on disk."""


def planted(n: int, folder: Path | None = None) -> tuple[Dataset, Split]:
    """Return the graph of `n` nodes, and the labels that are known; with a folder, the one with half the edges."""
    data = make_graph(n) if folder is None else keep_graph(n, folder)
    unseen = data.labels.classes[:HIDDEN]
    rate = min(RATE, MOST_LABELLED / n)
    return data, completely_imbalanced_split(data.labels, label_rate=rate, unseen=unseen, random_state=0)


def make_graph(n: int, share: float = 1.0) -> Dataset:
    """Draw the graph, with that share of the edges and words."""
    return planted_partition(
        *(n, CLASSES),
        degree_within=6 * share,
        degree_between=14 * share,
        n_words_per_class=OWN_WORDS,
        n_noise_words=OTHER_WORDS,
        words_of_class=2 * share,
        words_of_noise=(19 if share == 1 else 18) * share,
        random_state=0,
    )


def keep_graph(n: int, folder: Path) -> Dataset:
    """Return the graph with half the edges and words, from the folder if it was made before."""
    path = folder / f"planted-{n}.npz"
    if not path.exists():
        made = make_graph(n, 0.5)
        parts: dict[str, Ints] = {"codes": made.labels.codes}
        for name, matrix in (("edges", made.graph.adjacency), ("words", sp.csr_array(made.graph.features))):
            parts |= {
                f"{name}_{part}": getattr(matrix, part).astype(np.int32) for part in ("indices", "indptr")
            }
        del made, matrix
        np.savez(path, **parts)  # type: ignore[arg-type]
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored}

    def read(name: str, columns: int, dtype: type) -> sp.csr_array:
        indices, indptr = arrays[f"{name}_indices"], arrays[f"{name}_indptr"]
        return sp.csr_array((np.ones(len(indices), dtype=dtype), indices, indptr), shape=(n, columns))

    words = read("words", CLASSES * OWN_WORDS + OTHER_WORDS, np.float32)
    graph = Graph(read("edges", n, np.float64), words, _checked=True)
    one_each = (np.ones(n, dtype=bool), arrays["codes"], np.arange(n + 1))
    indicator = sp.csr_array(one_each, shape=(n, CLASSES))
    return Dataset(
        "planted", graph, Labels(indicator, tuple(f"c{c}" for c in range(CLASSES)), graph.node_ids)
    )


def run(
    *, sizes: Sequence[int] = SIZES, methods: Sequence[str] = ("rect-plus",), scratch: str | None = None
) -> list[Table]:
    """Return processor seconds, memory and F1 of every method at every size."""
    tables = []
    for name in methods:
        rows: list[tuple[str, ...]] = []
        first: tuple[int, float] | None = None
        for n in sizes:
            cost = measure("unseen_paper.bench.planted", "fit", name=name, n=n, scratch=scratch)
            first = first or (n, cost.processor)
            growth = math.log(cost.processor / first[1]) / math.log(n / first[0]) if n != first[0] else None
            before, *scores = cost.result
            costs = (
                f"{cost.processor:.1f}",
                f"{cost.megabytes:.0f}" + ("" if before is None else f" ({before:.0f})"),
                "" if growth is None else f"{growth:.2f}",
            )
            rows.append(
                (name, f"{n:,}", *costs, *("" if figure is None else f"{figure:.3f}" for figure in scores))
            )
            logger.info("%s", rows[-1])
        header = ("method", "nodes", "processor s", "peak MB", "exponent")
        figures = ("AUROC", "right among selected") if name in SEARCHES else ("micro F1", "hidden F1")
        note = (
            "Without reading and judging; the peak is that of the process, the graph included, in brackets what was "
            "estimated before. The exponent is against the first size."
        )
        tables.append(Table(f"Planted graphs: {name}", (*header, *figures), rows, (note,)))
    return tables


def fit(name: str, n: int, scratch: str | None = None) -> Callable[[], Callable[[], list[float | None]]]:
    """Prepare a fit; what was estimated before it, and the scores, come after it."""
    folder = None if scratch is None else Path(scratch)
    data, split = planted(n, folder)
    if name in SEARCHES:
        return search(name, data, split, folder and folder / f"rect-plus-{n}.npy")
    method = make_method(name, random_state=0)
    features = data.graph.features
    shape = (0, 0) if features is None else (features.shape[1], sp.csr_array(features).nnz)
    sizes = {"labelled": len(split.seen_labels.labelled), "scratch": folder is not None}
    before = estimate_peak(method, make_job(method, n, data.graph.adjacency.nnz, shape, **sizes))

    def work() -> Callable[[], list[float | None]]:
        with phases_logged(folder and folder / f"{name}-{n}.log"):
            embedding = method._fit_run(data.graph, split.seen_labels, Run(scratch=folder)).embedding_

        def judge() -> list[float | None]:
            judged = split
            if folder is not None:
                keep_vectors(embedding.vectors, folder / f"{name}-{n}.npy")
                some = np.random.default_rng(0).permutation(len(split.test))[:MOST_JUDGED]
                judged = Split(split.train, np.sort(split.test[some]), split.unseen, split.seen_labels)
            score = evaluate(embedding, data.labels, judged, random_state=0)
            return [before / 1e6, score.micro_f1, score.unseen_f1]

        return judge

    return work


def search(
    name: str, data: Dataset, split: Split, vectors: Path | None
) -> Callable[[], Callable[[], list[float | None]]]:
    """Prepare what `unseen discover` or `unseen predict` do after reading."""
    from sklearn.metrics import roc_auc_score

    from unseen.discovery.discover import discover  # here, since a fit would hold these libraries, too
    from unseen.discovery.vectors import HUGE_COLUMNS

    source = None
    if vectors is not None:
        stored = np.load(vectors, mmap_mode="r", allow_pickle=False)
        columns = scratch_zeros((len(stored), HUGE_COLUMNS), vectors.parent)
        for first in range(0, len(stored), ROWS):
            columns[first : first + ROWS] = stored[first : first + ROWS, :HUGE_COLUMNS]
        release_pages(columns, 0, columns.size)
        del stored
        columns.setflags(write=False)
        source = Embedding(columns, data.graph.node_ids)

    def work() -> Callable[[], list[float | None]]:
        found = discover(data.graph, split.seen_labels, method=source, random_state=0)
        if name == "predict":
            found.predictions()

        def judge() -> list[float | None]:
            p, selected = (found.nodes[key].to_numpy() for key in ("unseen_probability", "selected"))
            hidden = data.labels.codes[found.nodes["node"].to_numpy()] < HIDDEN
            right = float(hidden[selected].mean()) if selected.any() else None
            return [None, float(roc_auc_score(hidden, p)), right]

        return judge

    return work


def keep_vectors(vectors: Singles, path: Path) -> None:
    """Write vectors in float16."""
    stored = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=vectors.shape)
    first = 0
    for block in blocks_of(vectors):
        stored[first : first + len(block)] = block
        first += len(block)
