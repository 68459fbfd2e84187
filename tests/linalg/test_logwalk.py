from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.linalg.walk import draw_landmarks, log_walk_columns, log_walk_vectors
from unseen.randomness import node_keys


def a_graph(n: int = 60) -> sp.csr_array:
    return unseen.planted_partition(n, 3, random_state=0).graph.adjacency


def by_definition(adjacency: sp.csr_array, window: int, negatives: float) -> np.ndarray:
    A = adjacency.toarray()
    degree = A.sum(axis=1)
    P = A / degree[:, None]
    total = sum(np.linalg.matrix_power(P, step) for step in range(1, window + 1))
    return np.log(np.maximum(degree.sum() / (negatives * window) * total / degree[None, :], 1.0))


def test_columns_are_those_of_the_dense_matrix() -> None:
    adjacency = a_graph()
    chosen = np.array([5, 0, 41])
    expected = by_definition(adjacency, 4, 0.2)[:, chosen]
    assert expected.max() > 1
    np.testing.assert_allclose(
        log_walk_columns(Run().matrix(adjacency), chosen, window=4, negatives=0.2), expected, atol=1e-4
    )


def test_weights_that_are_far_apart_stay_within_range() -> None:
    adjacency = sp.csr_array([[0.0, 1e150, 0.0], [1e150, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert np.isfinite(log_walk_columns(Run().matrix(adjacency), np.arange(3))).all()


def test_with_all_nodes_as_landmarks_it_factorises_the_matrix_in_full() -> None:
    adjacency = a_graph()
    n = adjacency.shape[0]
    negatives = (0.2, 1.0, 2.5)
    found = log_walk_vectors(
        Run().matrix(adjacency),
        n,
        node_keys(np.arange(n), 0),
        np.random.default_rng(0),
        negatives=negatives,
        landmarks=n,
    )
    for b, vectors in zip(negatives, found, strict=True):
        gram = by_definition(adjacency, 10, b)
        gram = gram @ gram.T
        np.testing.assert_allclose(vectors @ vectors.T, gram, atol=1e-3 * np.abs(gram).max())


def test_few_landmarks_span_most_of_the_full_factorisation() -> None:
    adjacency = a_graph(400)
    keys = node_keys(np.arange(400), 0)
    full, some = (
        log_walk_vectors(Run().matrix(adjacency), 8, keys, np.random.default_rng(0), landmarks=q)[0]
        for q in (400, 120)
    )
    basis, _ = np.linalg.qr(some)
    kept = np.linalg.norm(basis.T @ full) ** 2 / np.linalg.norm(full) ** 2
    assert kept > 0.9


def test_landmarks_go_by_degree_and_not_by_row() -> None:
    star = sp.lil_array((50, 50))
    star[0, 1:40] = star[1:40, 0] = 1
    degree = np.asarray(star.sum(axis=1))
    keys = node_keys(np.arange(50), 3)
    drawn = draw_landmarks(degree, 10, keys)
    assert 0 in drawn  # half of all ends of edges
    assert drawn.max() < 40  # nodes without edges come last
    order = np.random.default_rng(0).permutation(50)
    again = draw_landmarks(degree[order], 10, keys[order])
    assert order[again].tolist() == drawn.tolist()
