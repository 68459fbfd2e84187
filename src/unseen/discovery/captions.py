"""What a group of nodes is about: contrast words, the strongest features, or its most central nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.graph import Features, Graph
from unseen.linalg.normalize import are_measured

N_WORDS = 8
"""Length of a caption."""
LARGEST = 1e100
"""Features above this are scaled by a power of two, which changes no caption; squares and sums would overflow."""
WEAK = 0.01
"""Words with less than this share of the strongest one's strength are left out."""


def caption(graph: Graph, rows: npt.NDArray[np.int64]) -> tuple[tuple[str, ...], str]:
    """Return what sets the nodes of `rows` apart from all others, and what kind of words that are.

    Counts and other features that are never negative are compared by how much more often the group has them
    (its share, times the log ratio to the share outside: frequent and typical at once). Other features are compared
    by the difference of means in standard deviations. Without features, the ids of the nodes with most edges
    inside the group are given.
    """
    if not len(rows):
        return (), "words"
    if graph.features is None:
        return _central(graph, rows), "central nodes"
    features: Any = graph.features
    values = features.data if sp.issparse(features) else features
    largest = float(np.abs(values).max(initial=0))
    if largest > LARGEST:
        return caption(replace(graph, features=features * 2.0 ** -np.frexp(largest)[1]), rows)
    words = np.flatnonzero(~are_measured(features) & sp.issparse(features))
    if graph.feature_names and 0 < len(words) < features.shape[1]:  # words beside numbers: these speak
        names = tuple(graph.feature_names[k] for k in words)
        return caption(replace(graph, features=features[:, words], feature_names=names), rows)
    if values.min(initial=0) >= 0 and (sp.issparse(features) or (values == 0).mean() > 0.5):
        return _contrast(graph, rows), "words" if graph.feature_names else "features"
    return _differences(graph, rows), "features"


def _contrast(graph: Graph, rows: npt.NDArray[np.int64]) -> tuple[str, ...]:
    features: Any = graph.features
    inside, n = features[rows], graph.n_nodes
    outside = _mean(features) * n - _mean(inside) * len(rows)
    share, elsewhere = _mean(inside), np.maximum(outside, 0) / max(n - len(rows), 1)
    floor = 0.5 / n * max(float(share.max()), 1e-12)
    strength = share * np.log((share + floor) / (elsewhere + floor))
    carriers = np.asarray((inside > 0).sum(axis=0)).ravel()
    strength[carriers < min(2, len(rows))] = 0  # a word of a single node says nothing about a group
    best = np.argsort(-strength, kind="stable")[:N_WORDS]
    return tuple(_name(graph, k) for k in best if strength[k] > WEAK * max(strength[best[0]], 1e-12))


def _differences(graph: Graph, rows: npt.NDArray[np.int64]) -> tuple[str, ...]:
    features: Any = graph.features
    mean = _mean(features)
    squares = _mean(features.multiply(features) if sp.issparse(features) else np.square(features))
    spread = np.sqrt(np.maximum(squares - mean**2, 0))
    difference = np.divide(
        _mean(features[rows]) - mean, spread, out=np.zeros_like(mean), where=spread > 1e-12
    )
    best = np.argsort(-np.abs(difference), kind="stable")[:N_WORDS]
    return tuple(f"{'high' if difference[k] > 0 else 'low'} {_name(graph, k)}" for k in best if difference[k])


def _central(graph: Graph, rows: npt.NDArray[np.int64]) -> tuple[str, ...]:
    degree = np.asarray(graph.adjacency[rows][:, rows].sum(axis=1)).ravel()
    return tuple(str(graph.node_ids[k]) for k in rows[np.argsort(-degree, kind="stable")[:N_WORDS]])


def _mean(features: Features) -> npt.NDArray[np.float64]:
    return np.asarray(features.mean(axis=0, dtype=np.float64)).ravel()


def _name(graph: Graph, column: int) -> str:
    return graph.feature_names[column] if graph.feature_names else f"feature {column}"
