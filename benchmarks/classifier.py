"""All one-versus-rest SVMs of Blogcatalog with the choice of C, beside scikit-learn's LinearSVC class after class.

    UNSEEN_DATA=... python benchmarks/classifier.py [--vectors svd|svd-l2] [--per-c] [--json]

Both sides choose C from the same candidates by micro F1 on the same three folds, end the search by the same
rule and fit the best candidate on all of L (50 % of the nodes), on vectors of 400 columns (a truncated SVD of
the adjacency), in one process. LinearSVC runs with its default tolerance and its faster formulation for this
shape (primal). It takes minutes; --per-c times one fit of all classes at the chosen C on either side instead.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import unseen
from unseen.evaluation.classifier import CLEAR_DROP, GRID, N_FOLDS, stratified_folds, train_linear
from unseen.evaluation.metrics import best_labels, micro_f1
from unseen.linalg.svd import truncated_svd


def class_after_class(vectors, truth, C):
    """Return the weights of all classes, intercept last, as LinearSVC finds them one by one."""
    weights = np.zeros((vectors.shape[1] + 1, truth.shape[1]))
    for k in range(truth.shape[1]):
        machine = LinearSVC(C=C, dual=False).fit(vectors, truth[:, k])
        weights[:-1, k], weights[-1, k] = machine.coef_[0], machine.intercept_[0]
    return weights


def scores_of(weights, vectors):
    """Return the decision values."""
    return vectors @ weights[:-1] + weights[-1]


def choose_and_fit(vectors, truth):
    """Do with LinearSVC what train_linear does: folds, candidates, final fit."""
    folds = stratified_folds(truth, N_FOLDS, np.random.default_rng(0))
    unit = 1 / np.square(vectors).sum(axis=1).mean()
    best, worse = (-1.0, 0.0), 0
    for c in GRID:
        predicted = np.zeros_like(truth)
        for fold in range(N_FOLDS):
            held = folds == fold
            weights = class_after_class(vectors[~held], truth[~held], c * unit)
            predicted[held] = best_labels(scores_of(weights, vectors[held]), truth[held].sum(axis=1))
        score = micro_f1(truth, predicted)
        worse = worse + 1 if score < best[0] else 0 if score > best[0] else worse
        if worse == 2 or score < best[0] - CLEAR_DROP:
            break
        if score > best[0]:
            best = (score, c * unit)
    return class_after_class(vectors, truth, best[1]), best[1]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vectors", choices=["svd", "svd-l2"], default="svd-l2")
    parser.add_argument("--per-c", action="store_true", help="one fit of all classes at the chosen C")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = unseen.load_dataset("blogcatalog")
    split = unseen.balanced_split(data.labels, label_rate=0.5, random_state=0)
    left, _ = truncated_svd(data.graph.adjacency, 400, np.random.default_rng(0))
    vectors = left / np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-12)
    if options.vectors == "svd":
        vectors = left / np.sqrt(np.linalg.norm(left, axis=0))
    train, test = vectors[split.train].astype(np.float64), vectors[split.test].astype(np.float64)
    truth = data.labels.indicator[split.train].toarray()
    wanted = data.labels.indicator[split.test].toarray()

    chosen = train_linear(train, truth, random_state=0).C
    start, cpu = time.perf_counter(), time.process_time()
    ours = train_linear(train, truth, chosen if options.per_c else None, random_state=0)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    start, cpu = time.perf_counter(), time.process_time()
    theirs = (
        (class_after_class(train, truth, chosen), chosen) if options.per_c else choose_and_fit(train, truth)
    )
    reference, cpu_reference = time.perf_counter() - start, time.process_time() - cpu
    counts = wanted.sum(axis=1)
    report = {
        "what": "one fit" if options.per_c else "choice of C and fit",
        "unseen": {
            "seconds": seconds,
            "cpu": cpu_seconds,
            "C": ours.C,
            "micro_f1": micro_f1(wanted, best_labels(ours.scores(test), counts)),
        },
        "LinearSVC": {
            "seconds": reference,
            "cpu": cpu_reference,
            "C": theirs[1],
            "micro_f1": micro_f1(wanted, best_labels(scores_of(theirs[0], test), counts)),
        },
        "ratio": reference / seconds,
        "cpu_ratio": cpu_reference / cpu_seconds,
    }
    print(json.dumps(report, indent=None if options.json else 2))


if __name__ == "__main__":
    main()
