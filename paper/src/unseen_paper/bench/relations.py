"""Typed graphs: `unseen bench relations --out FOLDER`.

`hidden` hides classes of DBLP and ACM, at 10 and 30 % labels, and compares `rect-plus` on relations with the same
method on the undirected, single-type graph; `rect` does so with RECT, with one choice of hidden classes for each draw;
`seen` has all classes, five folds inside ``label.dat``. Draws are kept in FOLDER, and a later start goes on from there.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from unseen.data.datasets import Dataset, load_dataset
from unseen.engine.run import Run, Shared
from unseen.errors import unknown_name
from unseen.evaluation import evaluate
from unseen.graph import Graph, Need
from unseen.methods.registry import make_method
from unseen.splits import completely_imbalanced_split
from unseen_paper.bench.draws import Row, cells_of, kept_draws
from unseen_paper.bench.report import Table

N_HIDDEN = {"hgb-dblp": 2, "hgb-acm": 1}
RATES = (0.1, 0.3)
SIDES = ("relations", "folded")
HIDDEN_FIGURES = tuple(f"{side} {score}" for side in SIDES for score in ("micro", "macro"))
SEEN_FIGURES = ("micro", "macro", "seconds")
TABLES = ("hidden", "rect", "seen")


def run(*, repeats: int = 10, methods: Sequence[str] = TABLES, out: str = ".") -> list[Table]:
    """Measure `repeats` draws where they are missing, and return the tables that `methods` names."""
    tables = []
    for name in methods:
        if name not in TABLES:
            raise unknown_name("table of the benchmark", name, TABLES)
        file = Path(out) / f"relations-{name}.csv"
        if name != "seen":
            draws: list[tuple[object, ...]] = list(itertools.product(RATES, range(repeats)))
            measure = {"hidden": measure_hidden, "rect": measure_rect}[name]
            rows = kept_draws(N_HIDDEN, draws, measure, ("rate", "seed"), HIDDEN_FIGURES, file, load_dataset)
            method = "RECT" if name == "rect" else "RECT+"
            tables.append(_table(f"Hidden classes: F1 of {method}", rows, ("graph", "rate"), HIDDEN_FIGURES))
        else:
            seeds = [(seed,) for seed in range(repeats)]
            rows = kept_draws(N_HIDDEN, seeds, measure_seen, ("seed",), SEEN_FIGURES, file, load_dataset)
            tables.append(_table("All classes seen: F1, seconds of a fit", rows, ("graph",), SEEN_FIGURES))
    return tables


def measure_hidden(data: Dataset, rate: float, seed: int) -> dict[str, object]:
    """Return mean F1 over all choices of hidden classes, on the graph of relations and on the one without types."""
    choices = itertools.combinations(data.labels.classes, N_HIDDEN[data.name])
    scores = [_measure_sides(data, rate, seed, hidden, "rect-plus", seed) for hidden in choices]
    return {name: round(float(np.mean([each[name] for each in scores])), 5) for name in HIDDEN_FIGURES}


def measure_rect(data: Dataset, rate: float, seed: int) -> dict[str, object]:
    """Return F1 of RECT in the same way; its structure half sees no labels and is the same for all draws."""
    choices = list(itertools.combinations(data.labels.classes, N_HIDDEN[data.name]))
    scores = _measure_sides(data, rate, seed, choices[seed % len(choices)], "rect", 0)
    return {name: round(score, 5) for name, score in scores.items()}


def _measure_sides(
    data: Dataset, rate: float, seed: int, hidden: tuple[str, ...], name: str, own_seed: int
) -> dict[str, float]:
    """Return the scores of a method that has a seed of its own on both sides."""
    split = completely_imbalanced_split(data.labels, label_rate=rate, unseen=hidden, random_state=seed)
    scores: dict[str, float] = {}
    for side, graph in zip(SIDES, (data.graph, data.graph.view(Need())), strict=True):
        method = make_method(name, random_state=own_seed)
        method._fit_run(graph, split.seen_labels, Run(shared=_share(graph, own_seed)))
        score = evaluate(method.embedding_, data.labels, split, random_state=seed)
        scores |= {f"{side} micro": score.micro_f1, f"{side} macro": score.macro_f1}
    return scores


@lru_cache(maxsize=2)
def _share(graph: Graph, seed: int) -> Shared:  # noqa: ARG001
    """Return what fits of one seed share: work that needs no labels."""
    return Shared(graph)


def measure_seen(data: Dataset, seed: int) -> dict[str, object]:
    """Return F1 of a linear SVM on vectors that were made with the labels of the other folds."""
    from sklearn.metrics import f1_score
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import LinearSVC

    rows, codes = data.labels.labelled, data.labels.codes
    guess, seconds = np.empty(len(rows), dtype=np.int64), 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(rows, codes[rows]):
        start = time.process_time()
        method = make_method("rect-plus", random_state=seed)
        vectors = method.fit_transform(data.graph, data.labels.keep(rows[train])).vectors
        seconds += (time.process_time() - start) / 5
        svm = LinearSVC(C=0.03, random_state=0).fit(vectors[rows[train]], codes[rows[train]])
        guess[test] = svm.predict(vectors[rows[test]])
    micro, macro = (float(f1_score(codes[rows], guess, average=average)) for average in ("micro", "macro"))
    return {"micro": round(micro, 5), "macro": round(macro, 5), "seconds": round(seconds, 1)}


def _table(title: str, rows: Sequence[Row], keys: Sequence[str], figures: Sequence[str]) -> Table:
    """Return the means of all draws that have the same keys."""
    lines = [
        (*key, str(len(own)), *(f"{value[name].mean():.3f}" for name in figures))
        for key, own, value in cells_of(rows, keys, figures)
    ]
    return Table(title, (*keys, "draws", *figures), lines)
