"""Choices made with the labels a method may see: which views serve them.

A view has seen no label, so ridge regression on it can be tested by leaving out one labelled node at a time, in closed
form. Single views are ranked by the labels that are found. Whether one helps beside others is told by the squared
errors, which show small differences much sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.linalg.svd import eigh

Dense = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

RIDGES = np.logspace(-2.5, 1, 8)
"""Strengths of the ridge, in units of the mean squared length of the rows."""
ALIKE, CLEARLY = 1.0, 3.0
"""Standard errors of a difference of labels found within which views are as good as the best, and of errors above which
one may join others."""
Rows = npt.NDArray[np.float64]


def leave_one_out(V: Dense, truth: Mask) -> tuple[Rows, Rows]:
    """Return for every row what ridge regression on all other rows says of it: the share of its labels, and the error.

    The strength of the ridge is the one with the most labels found; for the squared error, summed over the classes, the
    one with the least.

    Parameters
    ----------
    V : ndarray, shape (n, d)
        Vectors of the labelled nodes.
    truth : boolean ndarray, shape (n, c)
        Their labels, at least one a row.
    """
    X = V - V.mean(axis=0, dtype=np.float64)
    if len(X) <= X.shape[1]:
        return of_kernel(X @ X.T, truth)
    squares, basis = eigh(X.T @ X)
    return _along_ridges(X @ basis, np.maximum(squares, 0.0), truth)


def of_kernel(K: Dense, truth: Mask) -> tuple[Rows, Rows]:
    """Do as :func:`leave_one_out` does, from the products of all rows with each other.

    Kernels of several views add up to the kernel of the views side by side.
    """
    mean = K.mean(axis=0)
    squares, left = eigh(K - mean - mean[:, None] + mean.mean())
    squares = np.maximum(squares, 0.0)
    return _along_ridges(left * np.sqrt(squares), squares, truth)


def _along_ridges(X: Dense, squares: Dense, truth: Mask) -> tuple[Rows, Rows]:
    """Return the most hits and the least errors of all strengths; `X` is centred, and its columns are orthogonal."""
    n = len(X)
    targets = truth * 2.0 - 1.0
    mean = targets.mean(axis=0)
    products = X.T @ (targets - mean)
    unit = squares.sum() / n or 1.0
    most, least = np.zeros(n), np.full(n, np.inf)
    for ridge in RIDGES:
        inverse = 1.0 / (squares + ridge * unit)
        leverage = (X**2) @ inverse + 1.0 / n
        residual = targets - mean - X @ (inverse[:, None] * products)
        residual /= np.maximum(1.0 - leverage, 1e-9)[:, None]
        found, errors = hits(targets - residual, truth), np.square(residual).sum(axis=1)
        most = found if found.mean() > most.mean() else most
        least = errors if errors.mean() < least.mean() else least
    return most, least


def hits(scores: Dense, truth: Mask) -> Rows:
    """Return for every row which share of its labels is among its best scores, as many as it has labels."""
    counts = truth.sum(axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")
    right = np.cumsum(np.take_along_axis(truth, order, axis=1), axis=1)
    return np.asarray(right[np.arange(len(truth)), counts - 1] / counts, dtype=np.float64)


def as_good_as_the_best(scores: Mapping[str, Rows]) -> list[str]:
    """Return the names whose mean is within `ALIKE` standard errors of the best, by differences row by row."""
    best = max(scores.values(), key=lambda values: float(values.mean()))
    return [name for name, values in scores.items() if not is_clearly_more(best, values, ALIKE)]


def is_clearly_more(one: Rows, other: Rows, errors: float) -> bool:
    """Return whether the mean of the differences, row by row, is above that many of its standard errors.

    Examples
    --------
    >>> is_clearly_more(np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0, 0.0]), errors=2)
    False
    """
    gained = one - other
    return bool(gained.mean() > errors * gained.std() / np.sqrt(len(gained)) + 1e-12)


def add_views(
    first: Sequence[str],
    candidates: Callable[[Sequence[str]], Sequence[str]],
    score: Callable[[Sequence[str]], tuple[Rows, Rows]],
    most: int,
) -> list[str]:
    """Return the first names and up to `most` others that join them, one at a time, each clearly for the better.

    The one with which errors are smallest joins, if they are clearly smaller than before and more labels are found.

    Parameters
    ----------
    first : sequence of str
        Names to begin with.
    candidates : callable
        Which names may join a set of names.
    score : callable
        What :func:`of_kernel` returns for a set of names.
    most : int
        How many may join.

    Examples
    --------
    >>> value = {"a": 0.5, "b": 0.4, "c": 0.0}
    >>> def score(names):
    ...     found = np.full(4, sum(value[name] for name in names))
    ...     return found, 1 - found
    >>> add_views(["a"], lambda names: [name for name in "bc" if name not in names], score, most=3)
    ['a', 'b']
    """
    names, (found, errors) = list(first), score(first)
    for _ in range(most):
        scores = {name: score([*names, name]) for name in candidates(names)}
        if not scores:
            break
        best = min(scores, key=lambda name: float(scores[name][1].mean()))
        if not (is_clearly_more(errors, scores[best][1], CLEARLY) and scores[best][0].mean() > found.mean()):
            break
        names, (found, errors) = [*names, best], scores[best]
    return names
