"""Features of single nodes in words: what a node has, or where it lies furthest from the average."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from unseen.explorer.content import Content, pack, pack_lists
from unseen.graph import Features
from unseen.ids import Array, Floats, Ints

MOST = 24
"""Features listed for a node that has them or has them not."""
MOST_NUMBERS = 8
"""Features listed for a node that has a number for each."""
ENTRIES = 1_500_000
"""Features listed for all nodes together; of many nodes each lists fewer, and the page says how many more there are."""
BLOCK = 4096
"""Rows of dense features that are looked at together."""


def describe_features(features: Features, names: Sequence[str] | None) -> Content:
    """Return the most telling features of every node, the strongest first: rare ones, strong ones, or unusual numbers.

    With the lists comes how many features a node has in all, their numbers where not all are 1, and the means of
    those that are named, to compare with.

    Parameters
    ----------
    features : scipy sparse array or ndarray, shape (n, m)
        Sparse ones, and dense ones that are half zeros or more, tell what a node has; others what is unusual.
    names : sequence of str or None
        One per column; columns are numbered where they have no names.
    """
    called = [f"feature {k}" for k in range(features.shape[1])] if names is None else list(names)
    mostly_zero = sp.issparse(features) or 2 * np.count_nonzero(features) <= features.size
    binary = not sp.issparse(features) and bool(((features == 0) | (features == 1)).all())
    if mostly_zero or binary:
        return _list_present(sp.csr_array(features), called, named=names is not None)
    return _list_unusual(np.asarray(features), called)


def _list_present(features: sp.csr_array, called: list[str], *, named: bool) -> Content:
    rows = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
    columns = features.indices.astype(np.int64)
    values = features.data.astype(np.float64)
    there = values != 0
    rows, columns, values = rows[there], columns[there], values[there]
    binary = bool((values == 1).all())
    spread = np.bincount(columns, minlength=len(called))
    strength = np.abs(values) * np.log1p(features.shape[0] / np.maximum(spread[columns], 1))
    best = choose_strongest(rows, strength, _most(MOST, features.shape[0]))
    total = np.bincount(rows, minlength=features.shape[0])
    numbers = None if binary else values[best]
    return _words("In words" if named else "Features", rows[best], columns[best], called, total, numbers)


def _list_unusual(features: Array, called: list[str]) -> Content:
    n, m = features.shape
    mean = features.mean(axis=0, dtype=np.float64)
    spread = features.std(axis=0, dtype=np.float64)
    scale = np.where(spread > 0, spread, 1.0)
    most = min(_most(MOST_NUMBERS, n), m)
    best = np.empty((n, most), dtype=np.int64)
    for start in range(0, n, BLOCK):
        apart = np.abs((features[start : start + BLOCK] - mean) / scale)
        best[start : start + BLOCK] = np.argsort(-apart, axis=1, kind="stable")[:, :most]
    rows, columns = np.repeat(np.arange(n), most), best.ravel()
    numbers, total = features[rows, columns], np.full(n, m)
    return _words("Furthest from the average", rows, columns, called, total, numbers, mean)


def _most(most: int, n: int) -> int:
    return min(most, max(1, ENTRIES // max(n, 1)))


def choose_strongest(rows: Ints, strength: Floats, most: int) -> Ints:
    """Return which entries are among the `most` strongest of their row, row by row, the strongest first."""
    order = np.lexsort((-strength, rows))
    counts = np.bincount(rows)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[place < most]


def _words(
    title: str,
    rows: Ints,
    columns: Ints,
    called: list[str],
    total: Ints,
    numbers: Array | None,
    means: Floats | None = None,
) -> Content:
    """Keep only the names and means that some node lists."""
    used, values = np.unique(columns, return_inverse=True)
    return {
        **pack_lists(np.bincount(rows, minlength=len(total)), values, tuple(called[k] for k in used)),
        "title": title,
        "total": pack(total),
        "numbers": None if numbers is None else pack(numbers, "f4"),
        "means": None if means is None else [float(f"{mean:.3g}") for mean in means[used]],
    }
