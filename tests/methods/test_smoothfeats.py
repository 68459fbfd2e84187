"""SmoothFeats: the vectors are those of the formula, written out densely; axes may turn, so Gram matrices count."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen

N, WORDS = 40, 30


def topics(*, sparse: bool = True, features: bool = True, seed: int = 0) -> unseen.Graph:
    """Make a graph of four groups that are linked and speak alike, with weights, a self-loop, and a node alone."""
    rng = np.random.default_rng(seed)
    group = np.arange(N) % 4
    upper = np.triu(rng.random((N, N)) < np.where(group[:, None] == group, 0.4, 0.05), 1).astype(float)
    upper *= rng.integers(1, 4, (N, N))
    adjacency = upper + upper.T
    adjacency[2, 2] = 5
    if features:  # otherwise nothing would be known of it: a test of its own
        adjacency[-1] = adjacency[:, -1] = 0
    noise = 0.05 * rng.random((N, WORDS)) * (rng.random((N, WORDS)) < 0.05)
    words = rng.random((N, WORDS)) * (np.arange(WORDS) % 4 == group[:, None]) + noise
    X = sp.csr_array(words) if sparse else words
    return unseen.Graph(sp.csr_array(adjacency), X if features else None)


def dense(matrix: sp.csr_array | np.ndarray) -> np.ndarray:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=float)


def unit_rows(matrix: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)


def reduced(X: np.ndarray, k: int) -> np.ndarray:
    """Return the k leading columns of U S of X = U S V'."""
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    assert s[k - 1] > 1.001 * s[k]  # otherwise there is no one space of k directions
    return U[:, :k] * s[:k]


def formula(graph: unseen.Graph, scores: np.ndarray, steps: int, teleport: float) -> np.ndarray:
    looped = dense(graph.adjacency)
    looped[np.diag_indices_from(looped)] = np.where(looped.diagonal() == 0, 1, looped.diagonal())
    degree = looped.sum(axis=1)
    ahat = looped / np.sqrt(degree[:, None] * degree)
    start = unit_rows(scores)
    Z = start
    for _ in range(steps):
        Z = (1 - teleport) * ahat @ Z + teleport * start
    return unit_rows(Z)


def vectors_of(graph: unseen.Graph, k: int = 6, **params: float) -> np.ndarray:
    vectors = unseen.SmoothFeats(n_components=k, random_state=0, **params).fit_transform(graph).vectors
    assert vectors.shape == (graph.n_nodes, k)
    return vectors.astype(float)


def gap(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of two Gram matrices; rows have length 1, so 1 would be a lot."""
    return float(np.abs(one @ one.T - other @ other.T).max())


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("steps", "teleport"), [(0, 0.1), (1, 1.0), (2, 0.0), (3, 0.5), (10, 0.1)])
def test_the_vectors_are_those_of_the_dense_formula(sparse: bool, steps: int, teleport: float) -> None:
    graph = topics(sparse=sparse)
    scores = reduced(dense(graph.features), 6)
    wanted = formula(graph, scores, steps, teleport)
    assert gap(vectors_of(graph, steps=steps, teleport=teleport), wanted) < 1e-5
    others = [(steps + 1, teleport), (steps, teleport - 0.05)] if steps and teleport < 1 else [(2, 0.5)]
    for other in others:  # they differ by more than the tolerance
        assert gap(formula(graph, scores, *other), wanted) > 1e-4


@pytest.mark.parametrize("sparse", [True, False])
def test_a_node_without_features_starts_at_zero_and_gets_its_vector_from_its_neighbours(sparse: bool) -> None:
    graph = topics()
    words = dense(graph.features)
    words[[7, -1]] = 0  # the last one has no neighbours either
    bare = unseen.Graph(graph.adjacency, sp.csr_array(words) if sparse else words)
    scores = reduced(words, 6)
    scores[[7, -1]] = 0
    assert gap(vectors_of(bare), formula(bare, scores, 10, 0.1)) < 1e-5
    lengths = np.linalg.norm(vectors_of(bare), axis=1)
    np.testing.assert_allclose(lengths[:-1], 1, atol=1e-6)
    assert lengths[-1] == 0
    assert np.flatnonzero(~vectors_of(bare, steps=0).any(axis=1)).tolist() == [7, N - 1]


def test_without_features_the_rows_of_the_adjacency_take_their_place() -> None:
    graph = topics(features=False)
    for steps, teleport in ((0, 0.1), (10, 0.1), (2, 0.6)):
        wanted = formula(graph, reduced(dense(graph.adjacency), 6), steps, teleport)
        assert gap(vectors_of(graph, steps=steps, teleport=teleport), wanted) < 1e-5
    lonely = vectors_of(unseen.Graph(topics().adjacency))
    np.testing.assert_allclose(np.linalg.norm(lonely, axis=1), [1] * (N - 1) + [0], atol=1e-6)


def test_new_nodes_are_carried_along_the_axes_and_smoothed_over_the_new_graph() -> None:
    graph, other = topics(), topics(seed=1)
    method = unseen.SmoothFeats(n_components=6, steps=3, teleport=0.2, random_state=0).fit(graph)
    axes = method.axes_.astype(float)
    np.testing.assert_allclose(axes @ axes.T, np.eye(6), atol=1e-5)
    V = np.linalg.svd(dense(graph.features))[2][:6]
    np.testing.assert_allclose(axes.T @ axes, V.T @ V, atol=1e-5)
    wanted = formula(other, dense(other.features) @ axes.T, 3, 0.2)
    np.testing.assert_allclose(method.transform(other).vectors, wanted, atol=1e-5)
    np.testing.assert_allclose(method.transform(graph).vectors, method.embedding_.vectors, atol=1e-5)
