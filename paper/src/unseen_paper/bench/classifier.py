"""All one-versus-rest SVMs of a graph beside scikit-learn's LinearSVC class after class: `unseen bench classifier`.

Both sides try the same candidates for C on the same folds and fit
the best one on all of L (50 % of Blogcatalog's nodes, 39 classes), on l2-normalised vectors of 400 columns from
an SVD of the adjacency, in one process. LinearSVC runs with its default tolerance and its faster formulation for this
shape (primal).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from unseen.data.datasets import load_dataset
from unseen.evaluation.classifier import (
    GRID,
    N_FOLDS,
    candidate_unit,
    figure_of_merit,
    stratified_folds,
    train_linear,
)
from unseen.evaluation.metrics import best_labels, micro_f1
from unseen.linalg.normalize import l2_rows
from unseen.linalg.svd import truncated_svd
from unseen.splits import balanced_split
from unseen_paper.bench.report import Table

Dense = npt.NDArray[Any]
T = TypeVar("T")


def run(*, dataset: str = "blogcatalog", label_rate: float = 0.5, columns: int = 400) -> list[Table]:
    """Time both sides once, the choice of C included and one fit alone; return seconds, ratios and what both found."""
    data = load_dataset(dataset)
    split = balanced_split(data.labels, label_rate=label_rate, random_state=0)
    scores, _ = truncated_svd(data.graph.adjacency, columns, np.random.default_rng(0))
    vectors = l2_rows(scores).astype(np.float64)
    train, test = vectors[split.train], vectors[split.test]
    truth = data.labels.indicator[split.train].toarray()
    wanted = data.labels.indicator[split.test].toarray()
    counts = wanted.sum(axis=1)
    rows = []
    for what, C in (("choice of C and fit", None), ("one fit of all classes", candidate_unit(train))):
        ours, seconds = _timed(partial(train_linear, train, truth, C, random_state=0))
        (weights, their_C), reference = _timed(partial(_class_after_class, train, truth, C))
        rows.append(
            (
                f"{what}, {dataset}",
                f"{reference:.2f}",
                f"{seconds:.2f}",
                f"{reference / seconds:.1f}",
                f"{their_C:.3g}",
                f"{ours.C:.3g}",
                f"{micro_f1(wanted, best_labels(test @ weights[:-1] + weights[-1], counts)):.4f}",
                f"{micro_f1(wanted, best_labels(ours.scores(test), counts)):.4f}",
            )
        )
    header = (
        "what",
        "LinearSVC s",
        "ours s",
        "times faster",
        "its C",
        "our C",
        "its micro F1",
        "our micro F1",
    )
    return [Table("All one-versus-rest problems at once", header, rows)]


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def _class_after_class(vectors: Dense, truth: Dense, C: float | None) -> tuple[Dense, float]:
    """Do with LinearSVC what `train_linear` does: folds, candidates, final fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = _chosen(vectors, truth) if C is None else C
        return _fitted(vectors, truth, best), best


def _fitted(vectors: Dense, truth: Dense, C: float) -> Dense:
    weights = np.zeros((vectors.shape[1] + 1, truth.shape[1]))
    for k in range(truth.shape[1]):
        machine = LinearSVC(C=C, dual=False).fit(vectors, truth[:, k])
        weights[:-1, k], weights[-1, k] = machine.coef_[0], machine.intercept_[0]
    return weights


def _chosen(vectors: Dense, truth: Dense) -> float:
    folds = stratified_folds(truth, N_FOLDS, np.random.default_rng(0))
    unit, figures = candidate_unit(vectors), []
    for c in GRID:
        predicted = np.zeros_like(truth)
        for fold in range(N_FOLDS):
            held = folds == fold
            weights = _fitted(vectors[~held], truth[~held], c * unit)
            scores = vectors[held] @ weights[:-1] + weights[-1]
            predicted[held] = best_labels(scores, truth[held].sum(axis=1))
        figures.append(figure_of_merit(truth, predicted))
    return GRID[int(np.argmax(figures))] * unit
