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
ALIKE, CLEARLY, JOINING = 1.0, 2.0, 3.0
"""Standard errors: as many labels as the best are found up to the first; a view beats preferred ones above the second
and joins where the squared error falls by more than the third."""


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
        return leave_one_out_of_kernel(X @ X.T, truth)[0]
    squares, basis = eigh(X.T @ X)
    return _along_ridges(X @ basis, np.maximum(squares, 0.0), truth)[0]


def leave_one_out_of_kernel(K: Dense, truth: Mask) -> tuple[Rows, Rows]:
    """Return what :func:`leave_one_out` does, from the products of all rows with each other, and the squared errors.

    Kernels of several views add up to the kernel of the views together.
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
    names: list[str], signs: Sequence[str], found: Mapping[str, Rows], at: Mapping[str, Dense], truth: Mask
) -> list[str]:
    """Return the names, up to three views that make the chosen ones clearly better, and those of signs.

    Of all other kinds of views, the one with which squared errors are smallest joins, if they fall clearly and more
    labels are found. Views of signs join unless with them fewer labels are found.

    Parameters
    ----------
    names, signs : sequences of str
        The views that were chosen, and which views are of signs.
    found, at, truth : mapping, mapping and boolean ndarray
        As for :func:`choose_views`; rows of the views at the labelled nodes, and their labels.
    """
    kernels: dict[str, Dense] = {}

    def test(chosen: Sequence[str]) -> tuple[Rows, Rows]:
        for name in set(chosen) - kernels.keys():
            view = at[name][:800] - at[name][:800].mean(axis=0)
            kernel = np.asarray(view @ view.T, dtype=np.float64)
            kernels[name] = kernel / (np.trace(kernel) / len(kernel) or 1.0)
        return leave_one_out_of_kernel(np.sum([kernels[name] for name in chosen], axis=0), truth[:800])

    hit, errors = test(names)
    for _ in range(3):
        kinds = {_kind_of(name): name for name in sorted(found, key=lambda name: found[name].mean())}
        others = [name for kind, name in kinds.items() if kind not in map(_kind_of, names)]
        tests = {name: test([*names, name]) for name in others}
        best = min(tests, key=lambda name: float(tests[name][1].mean()), default="")
        finds_more = bool(best) and tests[best][0].mean() > hit.mean()
        if not finds_more or not is_clearly_more(errors, tests[best][1], JOINING):
            break
        names, (hit, errors) = [*names, best], tests[best]
    more = list(dict.fromkeys([*names, *signs]))
    return names if signs and is_clearly_more(hit, test(more)[0], ALIKE) else more


def _kind_of(name: str) -> tuple[str, str]:
    """Return base and operator of a view; all depths of smoothing are one."""
    base, _, operator = name.rpartition("/")
    return base, "smooth" if operator in ("near", "middle", "far") else operator


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
