"""Choices made with the labels a method may see: which views serve them, and how far to trust class descriptions.

A view has seen no label, so ridge regression on it can be tested by leaving out one labelled node at a time, in closed
form. The map towards class descriptions has seen labels: it is tested on folds whose labels it did not get.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.linalg.dense import eigh

Dense = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

RIDGES = np.logspace(-2.5, 1, 8)
"""Strengths of the ridge, in units of the mean squared length of the rows."""
FOLDS = 3


def leave_one_out_hits(V: Dense, truth: Mask) -> npt.NDArray[np.float64]:
    """Return for every row the share of its labels that ridge regression on all other rows finds.

    The strength of the ridge is the one with the most hits.

    Parameters
    ----------
    V : ndarray, shape (n, d)
        Vectors of the labelled nodes.
    truth : boolean ndarray, shape (n, c)
        Their labels, at least one a row.

    Examples
    --------
    >>> V = np.array([[1.0], [1.1], [-1.0], [-1.1]])
    >>> leave_one_out_hits(V, np.array([[True, False]] * 2 + [[False, True]] * 2)).tolist()
    [1.0, 1.0, 1.0, 1.0]
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
        found = hits(targets - residual / np.maximum(1.0 - leverage, 1e-9)[:, None], truth)
        if found.mean() > best.mean():
            best = found
    return best


def _rotated(X: Dense) -> tuple[Dense, Dense]:
    """Return X in the basis of its right singular vectors, and its squared singular values."""
    if X.shape[0] <= X.shape[1]:
        left, values, _ = np.linalg.svd(X, full_matrices=False)
        return left * values, values**2
    squares, basis = eigh(X.T @ X)
    return X @ basis, np.maximum(squares, 0.0)


def hits(scores: Dense, truth: Mask) -> npt.NDArray[np.float64]:
    """Return for every row which share of its labels is among its best scores, as many as it has labels.

    Examples
    --------
    >>> hits(np.array([[0.9, 0.8, 0.1]]), np.array([[True, False, True]])).tolist()
    [0.5]
    """
    counts = truth.sum(axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")
    right = np.cumsum(np.take_along_axis(truth, order, axis=1), axis=1)
    return np.asarray(right[np.arange(len(truth)), counts - 1] / counts, dtype=np.float64)


def as_good_as_the_best(
    scores: Mapping[str, npt.NDArray[np.float64]] | Mapping[float, npt.NDArray[np.float64]],
    *,
    errors: float = 1.0,
) -> list[Any]:
    """Return the names whose mean is within `errors` standard errors of the best, by differences row by row.

    Examples
    --------
    >>> as_good_as_the_best({"a": np.array([1.0, 1.0, 0.0]), "b": np.zeros(3)})
    ['a']
    """
    best = max(scores.values(), key=lambda values: float(values.mean()))
    kept = []
    for name, values in scores.items():
        lost = best - values
        if lost.mean() <= errors * lost.std() / np.sqrt(len(lost)) + 1e-12:
            kept.append(name)
    return kept


def within_class_metric(Z: Dense, shares: Dense) -> tuple[Dense, Dense]:
    """Return squared deviations of nodes from the descriptions of their classes, by direction, and the directions.

    Parameters
    ----------
    Z : ndarray, shape (n, d)
        Labelled nodes.
    shares : ndarray, shape (n, c)
        What part of a node's target comes from which class; rows sum to 1.

    Returns
    -------
    variances, directions : ndarray, shapes (d,) and (d, d)
        Eigenvalues and eigenvectors of the within-class covariance.
    """
    members = (shares > 0).astype(np.float64)
    descriptions = (members.T @ Z) / np.maximum(members.sum(axis=0), 1.0)[:, None]
    rest = Z - shares @ descriptions
    variances, directions = eigh(rest.T @ rest / len(Z))
    return np.maximum(variances, 0.0), directions


def shrunk_map(variances: Dense, directions: Dense, strength: float) -> Dense:
    """Return the map that shrinks the directions in which nodes of one class differ; `strength` 0 leaves all alone.

    It minimises the squared distances to the class descriptions, with `1 / strength` as the price of leaving the
    identity.

    Examples
    --------
    >>> shrunk_map(np.array([1.0, 3.0]), np.eye(2), 0.0).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    relative = variances / (variances.mean() or 1.0)
    factors = 1.0 / np.sqrt(1.0 + strength * relative)
    return np.asarray((directions * factors) @ directions.T, dtype=np.float64)


def choose_strength(
    Z: Dense, truth: Mask, strengths: Sequence[float], folds: npt.NDArray[np.int64], *, errors: float = 2.0
) -> float:
    """Return the smallest strength that is as good as the best on folds whose labels the map has not seen.

    Parameters
    ----------
    Z : ndarray, shape (n, d)
        Labelled nodes.
    truth : boolean ndarray, shape (n, c)
        Their labels.
    strengths : sequence of float
        What to try; 0 leaves the vectors as they are.
    folds : ndarray of int, shape (n,)
        Number of each node's fold.
    errors : float
        Standard errors by which a larger strength has to be better.
    """
    found = {strength: np.zeros(len(Z)) for strength in strengths}
    for fold in np.unique(folds):
        train, test = folds != fold, folds == fold
        if not train.any():
            return 0.0
        shares = truth[train] / truth[train].sum(axis=1, keepdims=True)
        metric = within_class_metric(Z[train], shares)
        for strength in strengths:
            mapped = Z @ shrunk_map(*metric, strength)
            found[strength][test] = _held_out_hits(mapped, truth, train, test)
    return float(min(as_good_as_the_best(found, errors=errors)))


def _held_out_hits(Z: Dense, truth: Mask, train: Mask, test: Mask) -> npt.NDArray[np.float64]:
    """Return the hits on some rows of ridge regression on others, at the ridge that does best there."""
    X = Z[train] - Z[train].mean(axis=0)
    targets = truth[train] * 2.0 - 1.0
    squares, basis = eigh(X.T @ X)
    squares = np.maximum(squares, 0.0)
    X = X @ basis
    new = (Z[test] - Z[train].mean(axis=0)) @ basis
    mean, unit = targets.mean(axis=0), squares.sum() / len(X) or 1.0
    products = X.T @ (targets - mean)
    best: npt.NDArray[np.float64] | None = None
    for ridge in RIDGES:
        found = hits(new @ (products / (squares + ridge * unit)[:, None]) + mean, truth[test])
        best = found if best is None or found.mean() > best.mean() else best
    assert best is not None
    return best
