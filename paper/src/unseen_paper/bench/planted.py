"""How the default method grows: `unseen bench planted --sizes 10000,100000,1000000`.

Graphs of twenty classes whose features say little and whose edges say little, and together enough; four classes are
hidden, 2 % of the nodes have a label. Every fit is in a process of its own; run it with ``OMP_NUM_THREADS=1``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import scipy.sparse as sp

from unseen.data.datasets import Dataset
from unseen.data.generators import planted_partition
from unseen.engine.memory import estimate_peak, make_job
from unseen.errors import logger
from unseen.evaluation import evaluate
from unseen.methods.registry import make_method
from unseen.splits import Split, completely_imbalanced_split
from unseen_paper.bench.isolated import measure
from unseen_paper.bench.report import Table

SIZES = (10_000, 100_000)
RATE, HIDDEN = 0.02, 4


def planted(n: int) -> tuple[Dataset, Split]:
    """Return the graph of `n` nodes, and the labels that are known."""
    data = planted_partition(
        *(n, 20),
        degree_within=6,
        degree_between=14,
        n_words_per_class=20,
        n_noise_words=600,
        words_of_class=2,
        words_of_noise=19,
        random_state=0,
    )
    unseen = data.labels.classes[:HIDDEN]
    return data, completely_imbalanced_split(data.labels, label_rate=RATE, unseen=unseen, random_state=0)


def run(*, sizes: Sequence[int] = SIZES, methods: Sequence[str] = ("rect-plus",)) -> list[Table]:
    """Return processor seconds, memory and F1 of every method at every size."""
    rows = []
    for name in methods:
        first: tuple[int, float] | None = None
        for n in sizes:
            cost = measure("unseen_paper.bench.planted", "fit", name=name, n=n)
            first = first or (n, cost.processor)
            growth = math.log(cost.processor / first[1]) / math.log(n / first[0]) if n != first[0] else None
            megabytes, micro, hidden = cost.result
            costs = (
                f"{cost.processor:.1f}",
                f"{cost.megabytes:.0f} ({megabytes:.0f})",
                "" if growth is None else f"{growth:.2f}",
            )
            rows.append((name, f"{n:,}", *costs, f"{micro:.3f}", f"{hidden:.3f}"))
            logger.info("%s", rows[-1])
    header = ("method", "nodes", "processor s", "peak MB", "exponent", "micro F1", "hidden F1")
    note = (
        "Of the fit; the peak is that of its process, the graph included, and in brackets what was estimated before. "
        "The exponent is against the first size."
    )
    return [Table("Planted graphs", header, rows, (note,))]


def fit(name: str, n: int) -> Callable[[], Callable[[], list[float | None]]]:
    """Prepare a fit; what was estimated before it, and the scores, come after it."""
    data, split = planted(n)
    method = make_method(name, random_state=0)
    features = data.graph.features
    shape = (0, 0) if features is None else (features.shape[1], sp.csr_array(features).nnz)
    job = make_job(method, n, data.graph.adjacency.nnz, shape, labelled=len(split.seen_labels.labelled))
    before = estimate_peak(method, job)

    def work() -> Callable[[], list[float | None]]:
        embedding = method.fit_transform(data.graph, split.seen_labels)

        def judge() -> list[float | None]:
            score = evaluate(embedding, data.labels, split, random_state=0)
            return [before / 1e6, score.micro_f1, score.unseen_f1]

        return judge

    return work
