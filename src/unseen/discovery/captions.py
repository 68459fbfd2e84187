"""What a group of nodes is about: the columns of the features in which it differs most, or its most central nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm

from unseen.graph import Graph
from unseen.ids import Floats, Ints, Mask
from unseen.linalg.normalize import are_measured


def caption(graph: Graph, rows: Ints) -> tuple[tuple[str, ...], str]:
    """Return what sets the nodes of `rows` apart from all others, and whether that are words, features or nodes.

    Words, categories and numbers are compared in the same way: by the difference of the means inside and outside of the
    group in standard deviations, if it is significant given the number of columns. A word or a category has to be more
    frequent in the group than elsewhere, a number higher or lower. Numbers come with the means inside and outside,
    categories with percentages. Words are ordered by their frequency in the group times the log ratio to that outside.
    Where no column differs, the ids of the nodes with most edges inside the group are given.
    """
    if not len(rows):
        return (), "words"
    entries: tuple[str, ...] = ()
    kind = "features"
    if graph.features is not None and len(rows) < graph.n_nodes:
        features: Any = graph.features
        values = features.data if sp.issparse(features) else features
        names = graph.feature_names or tuple(f"feature {k}" for k in range(features.shape[1]))
        stored = sp.coo_array(features)
        is_number = np.bincount(stored.col[(stored.data != 0) & (stored.data != 1)], minlength=len(names)) > 0
        is_category = ~is_number & np.array(["=" in name for name in names])
        # the columns of a dense matrix that is mostly not zero are numbers, not words
        is_word = ~are_measured(features) & ~is_category
        is_word &= sp.issparse(features) or (values == 0).mean() > 0.5
        largest = float(np.abs(values).max(initial=0))
        scale = 2.0 ** np.frexp(largest)[1] if largest > 1e100 else 1.0  # squares and sums would overflow
        features = features if scale == 1 else features / scale
        inside, outside, effect = _differences(features, rows, names, is_word | is_category)
        order = np.argsort(-np.abs(effect), kind="stable")
        order = order[np.abs(effect[order]) > 0]
        if words := [k for k in order if is_word[k]]:
            strength = _contrast(features, rows)
            best = sorted(words, key=lambda k: -strength[k])
            typical = iter([k for k in best if strength[k] > 0.01 * strength[best[0]]])
            order = np.array([k for k in (next(typical, -1) if is_word[k] else k for k in order) if k >= 0])
        first = order[:8].tolist()
        means = zip(first, (scale * inside[first]).tolist(), (scale * outside[first]).tolist(), strict=True)
        entries = tuple(
            names[k] if is_word[k] else f"{names[k]} {_compare(own, other, not is_number[k])}"
            for k, own, other in means
        )
        kind = "words" if graph.feature_names and is_word[first].all() else "features"
    if entries:
        return entries, kind
    degree = np.asarray(graph.adjacency[rows][:, rows].sum(axis=1)).ravel()
    return tuple(
        str(graph.node_ids[k]) for k in rows[np.argsort(-degree, kind="stable")[:8]]
    ), "central nodes"


def _differences(
    features: Any, rows: Ints, names: Sequence[str], counts_only: Mask
) -> tuple[Floats, Floats, Floats]:
    """Return each column's mean inside and outside, and their difference in standard deviations, 0 for noise.

    Of words and categories (`counts_only`) it is counted how many nodes have them. The test is that of a random sample
    of all nodes, at 1 % over all columns (Bonferroni). Differences below a fifth of a standard deviation are left out,
    significant or not: 38 % against 34 % describes nothing.
    """
    n, size = features.shape[0], len(rows)
    mean, inside = (
        np.where(counts_only, _mean(matrix != 0), _mean(matrix)) for matrix in (features, features[rows])
    )
    outside = (n * mean - size * inside) / (n - size)
    if sp.issparse(features):  # only entries that are stored are looked at
        stored = sp.coo_array(features)
        squares = np.bincount(stored.col, np.square(stored.data - mean[stored.col]), minlength=len(mean))
        variance = (squares + (n - np.bincount(stored.col, minlength=len(mean))) * mean**2) / n
    else:
        variance = np.square(features - mean).mean(axis=0)
    spread = np.sqrt(np.where(counts_only, np.maximum(mean * (1 - mean), 0), variance))
    difference = inside - outside
    effect = np.divide(difference, spread, out=np.zeros(len(mean)), where=spread > 1e-9 * np.abs(mean))
    chance = 2 * norm.sf(np.abs(effect) / np.sqrt(1 / size + 1 / (n - size))) * len(mean)
    carriers = np.where(counts_only, size * inside, size)
    noise = (chance > 0.01) | (np.abs(effect) < 0.2) | (carriers < 1.5) | (counts_only & (difference < 0))
    made_up = re.compile(r"(encoder|feature) \d+")  # names for columns without one
    meaningless = np.array([made_up.fullmatch(name) is not None for name in names])
    if not meaningless.all():
        noise |= meaningless
    return inside, outside, np.where(noise, 0.0, effect)


def _contrast(features: Any, rows: Ints) -> Floats:
    """Return the share of the group in each column's weight, times the log ratio to that outside."""
    n = features.shape[0]
    share = _mean(features[rows])
    elsewhere = np.maximum(_mean(features) * n - share * len(rows), 0) / (n - len(rows))
    floor = 0.5 / n * max(float(share.max()), 1e-12)
    return np.asarray(share * np.log((np.maximum(share, 0) + floor) / (elsewhere + floor)))


def _compare(inside: float, outside: float, is_binary: bool) -> str:
    """Return the means inside and outside, in percent for a column of zeros and ones.

    The means have as many decimals as two digits of their difference need; very large ones have an exponent.
    """
    if is_binary:
        return f"{100 * inside:.0f} % (others {100 * outside:.0f} %)"
    if max(abs(inside), abs(outside)) > 1e9:
        return f"{inside:.3g} (others {outside:.3g})"
    decimals = int(np.clip(1 - np.floor(np.log10(abs(inside - outside))), 0, 9))
    return f"{inside:.{decimals}f} (others {outside:.{decimals}f})"


def _mean(features: Any) -> Floats:
    return np.asarray(features.mean(axis=0, dtype=np.float64)).ravel()
