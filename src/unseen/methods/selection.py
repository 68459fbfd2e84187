"""Choices made with the labels a method may see: which views serve them.

A view has seen no label, so ridge regression on it can be tested by leaving out one labelled node at a time, in closed
form. The views that find as many labels as the best one, up to a standard error, are taken together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.linalg.svd import eigh

Dense = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.float64]

RIDGES = np.logspace(-2.5, 1, 8)
"""Strengths of the ridge, in units of the mean squared length of the rows."""
ALIKE, CLEARLY = 1.0, 2.0
"""Standard errors of a difference of labels found up to which views are as good as the best, and above which others
take the place of preferred ones or join."""


def leave_one_out(V: Dense, truth: Mask) -> Rows:
    """Return for every row the share of its labels that ridge regression on all other rows finds.

    The strength of the ridge is the one with the most labels found.

    Parameters
    ----------
    V : ndarray, shape (n, d)
        Vectors of the labelled nodes.
    truth : boolean ndarray, shape (n, c)
        Their labels, at least one a row.
    """
    X = V - V.mean(axis=0, dtype=np.float64)
    if len(X) <= X.shape[1]:
        return leave_one_out_of_kernel(X @ X.T, truth)
    squares, basis = eigh(X.T @ X)
    return _most_hits(X @ basis, np.maximum(squares, 0.0), truth)


def leave_one_out_of_kernel(K: Dense, truth: Mask) -> Rows:
    """Do as :func:`leave_one_out` does, from the products of all rows with each other.

    Kernels of several views add up to the kernel of the views together.
    """
    mean = K.mean(axis=0)
    squares, left = eigh(K - mean - mean[:, None] + mean.mean())
    squares = np.maximum(squares, 0.0)
    return _most_hits(left * np.sqrt(squares), squares, truth)


def _find_together(views: Sequence[Dense], truth: Mask) -> Rows:
    """Do as :func:`leave_one_out` does, for several views of one spread together."""
    total = np.zeros((len(truth), len(truth)))
    for view in views:
        centred = view - view.mean(axis=0)
        kernel = np.asarray(centred @ centred.T, dtype=np.float64)
        total += kernel / (np.trace(kernel) / len(kernel) or 1.0)
    return leave_one_out_of_kernel(total, truth)


def _most_hits(X: Dense, squares: Dense, truth: Mask) -> Rows:
    """Return the hits with the best strength; `X` is centred, and its columns are orthogonal."""
    n = len(X)
    targets = truth * 2.0 - 1.0
    mean = targets.mean(axis=0)
    products = X.T @ (targets - mean)
    unit = squares.sum() / n or 1.0
    most = np.zeros(n)
    for ridge in RIDGES:
        inverse = 1.0 / (squares + ridge * unit)
        leverage = (X**2) @ inverse + 1.0 / n
        residual = targets - mean - X @ (inverse[:, None] * products)
        residual /= np.maximum(1.0 - leverage, 1e-9)[:, None]
        found = hits(targets - residual, truth)
        most = found if found.mean() > most.mean() else most
    return most


def hits(scores: Dense, truth: Mask) -> Rows:
    """Return for every row which share of its labels is among its best scores, as many as it has labels."""
    counts = truth.sum(axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")
    right = np.cumsum(np.take_along_axis(truth, order, axis=1), axis=1)
    return np.asarray(right[np.arange(len(truth)), counts - 1] / counts, dtype=np.float64)


def choose_views(found: Mapping[str, Rows], preferred: Collection[str]) -> list[str]:
    """Return the names of all views that are as good as the best one.

    Parameters
    ----------
    found : mapping of str to ndarray, shape (n,)
        Of every view, for each labelled node, the share of its labels that the view finds.
    preferred : collection of str
        Names of which the best is beaten only by a view that finds clearly more labels; or none.

    Examples
    --------
    >>> good, bad = np.ones(50), np.arange(50) % 2.0
    >>> choose_views({"a": good, "b": good, "c": bad}, [])
    ['a', 'b']
    """
    some = {name: found[name] for name in found if name in preferred}
    if some and not is_clearly_more(_best(found), _best(some), CLEARLY):
        found = some
    best = _best(found)
    return [name for name in found if not is_clearly_more(best, found[name], ALIKE)]


def add_others(
    names: list[str],
    features: Collection[str],
    signs: Sequence[str],
    found: Mapping[str, Rows],
    at: Mapping[str, Dense],
    truth: Mask,
) -> list[str]:
    """Return the names, those of views of the structure beside features or the reverse, and those of signs.

    The best of the other kind join if with them clearly more labels are found; views of signs join unless with them
    fewer are found.

    Parameters
    ----------
    names, features, signs : collections of str
        The views that were chosen, and which views are of features and of signs.
    found, at, truth : mapping, mapping and boolean ndarray
        As for :func:`choose_views`; rows of the views at the labelled nodes, and their labels.
    """

    def find(chosen: Sequence[str]) -> Rows:
        return _find_together([at[name] for name in chosen], truth)

    others = {name: rows for name, rows in found.items() if (name in features) != (names[0] in features)}
    if others and not others.keys() & set(names):
        more = [*names, *choose_views(others, [])]
        names = more if is_clearly_more(find(more), find(names), CLEARLY) else names
    more = list(dict.fromkeys([*names, *signs]))
    return names if signs and is_clearly_more(find(names), find(more), ALIKE) else more


def _best(found: Mapping[str, Rows]) -> Rows:
    return max(found.values(), key=lambda values: float(values.mean()))


def is_clearly_more(one: Rows, other: Rows, errors: float) -> bool:
    """Return whether the mean of the differences, row by row, is above that many of its standard errors.

    Examples
    --------
    >>> is_clearly_more(np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0, 0.0]), errors=2)
    False
    """
    gained = one - other
    return bool(gained.mean() > errors * gained.std() / np.sqrt(len(gained)) + 1e-12)
