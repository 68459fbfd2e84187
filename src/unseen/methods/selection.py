"""Choices made with the labels a method may see: which views serve them.

A view has seen no label, so ridge regression on it can be tested by leaving out one labelled node at a time, in closed
form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.linalg.dense import eigh

Dense = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

RIDGES = np.logspace(-2.5, 1, 8)
"""Strengths of the ridge, in units of the mean squared length of the rows."""


def leave_one_out_hits(V: Dense, truth: Mask) -> npt.NDArray[np.float64]:
    """Return for every row the share of its labels that ridge regression on all other rows finds.

    The strength of the ridge is the one with the most hits.

    Parameters
    ----------
    V : ndarray, shape (n, d)
        Vectors of the labelled nodes.
    truth : boolean ndarray, shape (n, c)
        Their labels, at least one a row.
    """
    n = len(V)
    X = V - V.mean(axis=0, dtype=np.float64)
    targets = truth * 2.0 - 1.0
    mean = targets.mean(axis=0)
    X, squares = _rotated(X)
    products = X.T @ (targets - mean)
    unit = squares.sum() / n or 1.0
    best = np.zeros(n)
    for ridge in RIDGES:
        inverse = 1.0 / (squares + ridge * unit)
        leverage = (X**2) @ inverse + 1.0 / n
        residual = targets - mean - X @ (inverse[:, None] * products)
        at_ridge = hits(targets - residual / np.maximum(1.0 - leverage, 1e-9)[:, None], truth)
        if at_ridge.mean() > best.mean():
            best = at_ridge
    return best


def _rotated(X: Dense) -> tuple[Dense, Dense]:
    """Return X in the basis of its right singular vectors, and its squared singular values."""
    if X.shape[0] <= X.shape[1]:
        left, values, _ = np.linalg.svd(X, full_matrices=False)
        return left * values, values**2
    squares, basis = eigh(X.T @ X)
    return X @ basis, np.maximum(squares, 0.0)


def hits(scores: Dense, truth: Mask) -> npt.NDArray[np.float64]:
    """Return for every row which share of its labels is among its best scores, as many as it has labels."""
    counts = truth.sum(axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")
    right = np.cumsum(np.take_along_axis(truth, order, axis=1), axis=1)
    return np.asarray(right[np.arange(len(truth)), counts - 1] / counts, dtype=np.float64)


def as_good_as_the_best(scores: Mapping[str, npt.NDArray[np.float64]]) -> list[str]:
    """Return the names whose mean is within a standard error of the best, by differences row by row."""
    best = max(scores.values(), key=lambda values: float(values.mean()))
    kept = []
    for name, values in scores.items():
        lost = best - values
        if lost.mean() <= lost.std() / np.sqrt(len(lost)) + 1e-12:
            kept.append(name)
    return kept
