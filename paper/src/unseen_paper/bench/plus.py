"""RECT+ beside RECT: its cost, what its parts bring, and graphs that played no part in its making."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.data.datasets import Dataset, load_dataset
from unseen.data.generators import planted_partition
from unseen.errors import logger
from unseen.evaluation import Score, evaluate, evaluate_method
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.registry import make_method
from unseen.splits import Split, completely_imbalanced_split, random_unseen_sets
from unseen_paper.bench.cca_ssg import cca_ssg
from unseen_paper.bench.isolated import measure
from unseen_paper.bench.report import Table

TIMED = ("debian", "citeseer", "cora", "wiki", "ppi", "blogcatalog")
WITH_FEATURES = ("citeseer", "cora", "wiki")
NEW = ("debian", "digits", "heterophilous")
WITHOUT_LABELS = ("nodefeats", "smoothfeats", "dgi")
"""Methods that need one fit for all splits."""
HIDDEN = {"citeseer": 2, "cora": 2, "debian": 3, "digits": 3, "heterophilous": 2}
RATES = (0.1, 0.5)
ABLATIONS: dict[str, dict[str, Any]] = {
    "RECT+": {},
    "weighted features, middle depth, no choice": {"views": ("weighted/middle",)},
    "plain features, far, no choice": {"views": ("plain/far",)},
    "walk, no choice": {"views": ("walk/raw",)},
}


def run(*, repeats: int = 3, methods: Sequence[str] = ("time", "parts", "new")) -> list[Table]:
    """Measure; `repeats` splits a row (and timings), `methods` names the tables to make."""
    makers: dict[str, Callable[[int], Table]] = {"time": times, "parts": parts, "new": new_graphs}
    return [makers[name](repeats) for name in methods]


def times(repeats: int) -> Table:
    """Processor seconds of a fit, RECT's and RECT+'s in turns, each in a process of its own."""
    rows = []
    for name in _there(TIMED):
        theirs: list[float] = []
        ours: list[float] = []
        for _ in range(repeats):
            theirs.append(measure("unseen_paper.bench.plus", "fit", dataset=name, method="rect").processor)
            ours.append(measure("unseen_paper.bench.plus", "fit", dataset=name, method="rect-plus").processor)
        ratio = median(b / a for a, b in zip(theirs, ours, strict=True))
        rows.append((name, f"{median(theirs):.2f}", f"{median(ours):.2f}", f"{ratio:.2f}"))
    header = ("data set", "RECT s", "RECT+ s", "times RECT's")
    return Table("Processor seconds of a fit, 30 % labels", header, rows)


def fit(dataset: str, method: str) -> Callable[[], None]:
    """Prepare a fit to be timed."""
    data = load_dataset(dataset)
    split = _splits(data, 0.3, 1)[0]
    estimator = make_method(method, random_state=0)

    def work() -> None:
        estimator.fit(data.graph, split.seen_labels)

    return work


def parts(repeats: int) -> Table:
    """Micro / macro F1 of RECT+ without one of its parts, and of others, on the graphs with features."""
    rows = []
    for name in _there(WITH_FEATURES):
        data = load_dataset(name)
        rows += compared(data, repeats, ABLATIONS)
    return Table("Parts of RECT+: micro / macro F1", _header(), rows)


def new_graphs(repeats: int) -> Table:
    """Micro / macro F1 on graphs that played no part in the choices."""
    rows = []
    for name in NEW:
        rows += compared(_new(name), repeats, {"RECT+": {}})
    return Table("Graphs that played no part: micro / macro F1", _header(), rows)


def _header() -> tuple[str, ...]:
    return ("data set", "vectors", *(f"{rate:.0%} labels" for rate in RATES))


def compared(data: Dataset, repeats: int, settings: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return one row per method: micro / macro F1 at each label rate, `settings` of RECT+ last."""
    splits = {rate: _splits(data, rate, repeats) for rate in RATES}
    unlabelled = {
        name: make_method(name, random_state=0).fit_transform(data.graph) for name in WITHOUT_LABELS
    }
    unlabelled["cca-ssg"] = cca_ssg(data.graph)
    others: dict[str, Callable[[Split], Score]] = {
        name: lambda split, vectors=vectors: evaluate(vectors, data.labels, split)  # type: ignore[misc]
        for name, vectors in unlabelled.items()
    }
    others["rect"] = lambda split: _score(data, split, "rect", {})
    ours = {
        title: lambda split, params=params: _score(data, split, "rect-plus", params)  # type: ignore[misc]
        for title, params in settings.items()
    }
    rows = []
    for title, score in {**others, **ours}.items():
        logger.info("%s: %s", data.name, title)
        cells = []
        for rate in RATES:
            scores = [score(split) for split in splits[rate]]
            micro, macro = (np.mean([getattr(s, f) for s in scores]) for f in ("micro_f1", "macro_f1"))
            cells.append(f"{micro:.3f} / {macro:.3f}")
        rows.append((data.name, title, *cells))
    return rows


def _score(data: Dataset, split: Split, name: str, params: dict[str, Any]) -> Score:
    return evaluate_method(make_method(name, **params, random_state=0), data.graph, data.labels, split)


def _splits(data: Dataset, rate: float, count: int) -> list[Split]:
    sets = random_unseen_sets(data.labels, HIDDEN.get(data.name, 5), count, random_state=1)
    return [
        completely_imbalanced_split(data.labels, label_rate=rate, unseen=hidden, random_state=seed)
        for seed, hidden in enumerate(sets)
    ]


def _there(names: Sequence[str]) -> list[str]:
    from unseen.errors import DatasetError

    available = []
    for name in names:
        try:
            load_dataset(name)
        except DatasetError as error:
            logger.warning("%s is left out: %s", name, error)
        else:
            available.append(name)
    return available


def _new(name: str) -> Dataset:
    if name == "digits":
        return digits()
    return heterophilous() if name == "heterophilous" else load_dataset(name)


def digits(n_neighbors: int = 10) -> Dataset:
    """Return scikit-learn's digits, each joined to its nearest neighbours, the pixels as features."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    bunch = load_digits()
    near = sp.csr_array(kneighbors_graph(bunch.data, n_neighbors))
    graph = Graph(sp.csr_array(near.maximum(near.T)), bunch.data, np.arange(len(bunch.data)))
    return Dataset(
        "digits", graph, Labels.from_values([str(digit) for digit in bunch.target], graph.node_ids)
    )


def heterophilous() -> Dataset:
    """Return a planted graph whose edges mostly join different classes."""
    planted = planted_partition(1500, 5, degree_within=1.0, degree_between=8.0, random_state=7)
    return Dataset("heterophilous", planted.graph, planted.labels)
