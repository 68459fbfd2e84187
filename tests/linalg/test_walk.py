"""The walk operator against the dense definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.linalg import walk as walk_module
from unseen.linalg.normalize import l1_rows
from unseen.linalg.walk import WalkMatrix


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
def test_norm_is_left_out_where_a_hub_makes_it_expensive() -> None:
    n = 2_000
    spokes = np.arange(1, n)
    star = sp.csr_array((np.ones(n - 1), (np.zeros(n - 1, dtype=int), spokes)), shape=(n, n))
    walk = WalkMatrix(Run().matrix(sp.csr_array(star + star.T)))
    assert walk.frobenius_squared() is None
    # Abar^2 of a star: the hub returns to itself, a leaf reaches each leaf with 1 / (n - 1).
    expected = (1 + 1 / (n - 1) + (n - 1) * 1 + (n - 1) ** 2 / (n - 1) ** 2) / 4
    assert walk.frobenius_squared(cheap_only=False) == pytest.approx(expected)
