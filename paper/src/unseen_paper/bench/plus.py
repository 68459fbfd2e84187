"""What RECT+ costs beside RECT: processor seconds of a fit, in turns, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from unseen.data.datasets import load_dataset
from unseen.methods.registry import make_method
from unseen.splits import completely_imbalanced_split, random_unseen_sets
from unseen_paper.bench.draws import load_present
from unseen_paper.bench.isolated import measure
from unseen_paper.bench.report import Table

GRAPHS = ("debian", "citeseer", "cora", "wiki", "ppi", "blogcatalog")
HIDDEN = {"citeseer": 2, "cora": 2, "debian": 3}
"""Number of hidden classes; 5 where it is not said."""


def run(*, repeats: int = 3) -> list[Table]:
    """Time `repeats` fits of both methods on each graph."""
    rows = []
    for name in load_present(GRAPHS):
        seconds = [
            [
                measure(__name__, "fit", dataset=name, method=method).processor
                for method in ("rect", "rect-plus")
            ]
            for _ in range(repeats)
        ]
        rect, plus = (median(column) for column in zip(*seconds, strict=True))
        ratio = median(b / a for a, b in seconds)
        rows.append((name, f"{rect:.2f}", f"{plus:.2f}", f"{ratio:.2f}"))
    header = ("data set", "RECT s", "RECT+ s", "times RECT's")
    return [Table("Processor seconds of a fit, 30 % labels", header, rows)]


def fit(dataset: str, method: str) -> Callable[[], None]:
    """Prepare a fit to be timed."""
    data = load_dataset(dataset)
    hidden = random_unseen_sets(data.labels, HIDDEN.get(dataset, 5), 1, random_state=1)[0]
    split = completely_imbalanced_split(data.labels, label_rate=0.3, unseen=hidden, random_state=0)
    estimator = make_method(method, random_state=0)

    def work() -> None:
        estimator.fit(data.graph, split.seen_labels)

    return work
