"""The walk operator, and the logarithm of long walks, against their dense definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.linalg import walk as walk_module
from unseen.linalg.normalize import l1_rows
from unseen.linalg.walk import WalkMatrix, draw_landmarks, log_walk_columns, log_walk_vectors
from unseen.randomness import node_keys


def weighted(n: int, seed: int, density: float = 0.2) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    upper = sp.random_array(
        (n, n), density=density, rng=rng, data_sampler=lambda size: rng.uniform(0.5, 3, size)
    )
    matrix = sp.csr_array(upper + upper.T).tolil()
    matrix[0, :] = 0  # an isolated node
    matrix[:, 0] = 0
    matrix[1, 1] = 2.0  # a self-loop
    return sp.csr_array(matrix)


def dense_walk(adjacency: sp.csr_array) -> np.ndarray:
    abar = l1_rows(adjacency).toarray()
    return (abar + abar @ abar) / 2


def ring(n: int) -> sp.csr_array:
    ones = np.ones(n - 1)
    return sp.csr_array(sp.diags_array([ones, ones], offsets=[1, -1], shape=(n, n)))


GRAPHS = {
    "weighted": weighted(40, 0),
    "path": ring(25),
    "no edges": sp.csr_array((5, 5)),
    "one node": sp.csr_array((1, 1)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_products_equal_the_dense_definition(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency = GRAPHS[name]
    M = dense_walk(adjacency)
    V = np.random.default_rng(1).standard_normal((adjacency.shape[0], 7))
    before, walk = V.copy(), WalkMatrix(Run().matrix(adjacency))
    for dtype, atol in ((np.float64, 1e-13), (np.float32, 1e-5)):
        W = V.astype(dtype)
        assert walk.matmat(W).dtype == walk.symmetric(W).dtype == dtype
        np.testing.assert_allclose(walk.matmat(W), M @ V, atol=atol)
        np.testing.assert_allclose(walk.rmatmat(W), M.T @ V, atol=atol)
        np.testing.assert_allclose(walk.symmetric(W), (M + M.T) @ V / 2, atol=atol)
    np.testing.assert_array_equal(V, before)
    for entries in (walk_module.BLOCK_ENTRIES, 100):  # in one block, in several
        monkeypatch.setattr(walk_module, "BLOCK_ENTRIES", entries)
        frobenius = WalkMatrix(Run().matrix(adjacency)).frobenius_squared()
        assert frobenius == pytest.approx((M**2).sum(), rel=1e-12)


@pytest.mark.slow
def test_norm_is_left_out_where_a_hub_makes_it_expensive(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 2_000
    spokes = np.arange(1, n)
    star = sp.csr_array((np.ones(n - 1), (np.zeros(n - 1, dtype=int), spokes)), shape=(n, n))
    walk = WalkMatrix(Run().matrix(sp.csr_array(star + star.T)))
    assert walk.frobenius_squared() is None
    monkeypatch.setattr(walk_module, "CHEAP_FACTOR", n)
    # Abar^2 of a star: the hub returns to itself, a leaf reaches each leaf with 1 / (n - 1).
    expected = (1 + 1 / (n - 1) + (n - 1) * 1 + (n - 1) ** 2 / (n - 1) ** 2) / 4
    assert walk.frobenius_squared() == pytest.approx(expected)


def a_graph(n: int = 60) -> sp.csr_array:
    return unseen.planted_partition(n, 3, random_state=0).graph.adjacency


def by_definition(adjacency: sp.csr_array, window: int, negatives: float) -> np.ndarray:
    A = adjacency.toarray()
    degree = A.sum(axis=1)
    P = A / degree[:, None]
    total = sum(np.linalg.matrix_power(P, step) for step in range(1, window + 1))
    return np.log(np.maximum(degree.sum() / (negatives * window) * total / degree[None, :], 1.0))


def test_columns_are_those_of_the_dense_matrix() -> None:
    adjacency, chosen = a_graph(), np.array([5, 0, 41])
    expected = by_definition(adjacency, 4, 0.2)[:, chosen]
    assert expected.max() > 1
    found = log_walk_columns(Run().matrix(adjacency), chosen, window=4, negatives=0.2)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    # weights that are far apart stay within range
    adjacency = sp.csr_array([[0.0, 1e150, 0.0], [1e150, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert np.isfinite(log_walk_columns(Run().matrix(adjacency), np.arange(3))).all()


def test_with_all_nodes_as_landmarks_it_factorises_the_matrix_in_full() -> None:
    adjacency, negatives, keys = a_graph(), (0.2, 1.0, 2.5), node_keys(np.arange(60), 0)
    rng = np.random.default_rng(0)
    found = log_walk_vectors(Run().matrix(adjacency), 60, keys, rng, negatives=negatives, landmarks=60)
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
    assert np.linalg.norm(basis.T @ full) ** 2 > 0.9 * np.linalg.norm(full) ** 2


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
