"""Golden Gram matrices: every method gives the vectors it gave before, up to a rotation and rounding.

``python tests/laws/test_golden.py`` writes the matrices anew. That is a commit of its own, which says why they changed.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen

GOLDEN = Path(__file__).with_name("golden.npz")
N = 40
TOLERANCE = 2e-3
"""Largest difference relative to the largest entry: float32 sums in another order, carried through the training."""
SMALL = {"epochs": 20, "max_iter": 5, "n_components": 8, "random_state": 0}
GRAPHS = ("features", "weighted", "plain")


def graph_of(kind: str) -> unseen.Graph:
    """Return four groups with one isolated node and one self-loop: with words, with numbers and weights, or bare."""
    rng = np.random.default_rng(7)
    group = np.arange(N) % 4
    upper = np.triu(rng.random((N, N)) < np.where(group[:, None] == group, 0.5, 0.05), 1).astype(float)
    if kind == "weighted":
        upper *= rng.integers(1, 6, (N, N)) / 2
    adjacency = upper + upper.T
    adjacency[-1] = adjacency[:, -1] = 0
    adjacency[5, 5] = 1
    ids = [f"n{i:02d}" for i in range(N)]
    if kind == "features":
        words = rng.random((N, 36)) < np.where(np.arange(36) % 4 == group[:, None], 0.4, 0.1)
        return unseen.Graph(sp.csr_array(adjacency), sp.csr_array(words.astype(float)), ids)
    if kind == "weighted":
        numbers = rng.normal(size=(N, 12)) + 2 * np.eye(4)[group].repeat(3, axis=1)
        return unseen.Graph(sp.csr_array(adjacency), numbers, ids)
    return unseen.Graph(sp.csr_array(adjacency), None, ids)


def gram_of(name: str, kind: str) -> np.ndarray:
    """Return the Gram matrix of a method's vectors; class 3 has no label."""
    graph = graph_of(kind)
    values = [f"c{i % 4}" if i % 4 < 3 and i % 3 else None for i in range(N)]
    labels = unseen.Labels.from_values(values, graph.node_ids)
    allowed = inspect.signature(type(unseen.make_method(name))).parameters
    params: dict[str, Any] = {key: value for key, value in SMALL.items() if key in allowed}
    vectors = unseen.make_method(name, **params).fit_transform(graph, labels).vectors
    rows = vectors.toarray() if sp.issparse(vectors) else np.asarray(vectors)
    return np.asarray(rows.astype(np.float64) @ rows.T.astype(np.float64))


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", unseen.method_names())
def test_the_vectors_are_those_of_before(name: str, kind: str) -> None:
    with np.load(GOLDEN) as golden:
        before = golden[f"{name}/{kind}"].astype(np.float64)
    now = gram_of(name, kind)[np.triu_indices(N)]
    assert np.abs(now - before).max() <= TOLERANCE * np.abs(before).max()


def test_every_method_has_its_matrices() -> None:
    with np.load(GOLDEN) as golden:
        assert set(golden.files) == {f"{name}/{kind}" for name in unseen.method_names() for kind in GRAPHS}


if __name__ == "__main__":
    upper = np.triu_indices(N)
    matrices: dict[str, Any] = {
        f"{name}/{kind}": gram_of(name, kind)[upper].astype(np.float32)
        for name in unseen.method_names()
        for kind in GRAPHS
    }
    np.savez_compressed(GOLDEN, **matrices)
