from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.linalg.svd import orthonormal, truncated_svd


def decaying(n: int, m: int, seed: int = 0) -> np.ndarray:
    """A matrix whose singular values halve every five columns, so that the leading ones are well separated."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=(side, 60)))[0] for side in (n, m))
    return (left * 2.0 ** (-np.arange(60) / 5)) @ right.T


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("shape", [(700, 400), (400, 700)])
def test_finds_the_leading_singular_triples(sparse, shape):
    dense = decaying(*shape)
    scores, axes = truncated_svd(sp.csr_array(dense) if sparse else dense, 20, np.random.default_rng(0))
    _, s, vt = np.linalg.svd(dense)
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0), s[:20], rtol=1e-4)
    np.testing.assert_allclose(np.abs(axes @ vt[:20].T), np.eye(20), atol=0.02)
    np.testing.assert_allclose(axes @ axes.T, np.eye(20), atol=1e-4)
    np.testing.assert_allclose(scores, dense @ axes.T, atol=1e-5)


def test_small_and_full_requests_are_exact():
    dense = np.random.default_rng(0).normal(size=(50, 8))
    scores, axes = truncated_svd(dense, 8, np.random.default_rng(0))
    np.testing.assert_allclose(scores @ axes, dense, atol=1e-5)
    wide = sp.csr_array(sp.random_array((4, 900), density=0.1, rng=np.random.default_rng(0)))
    scores, axes = truncated_svd(wide, 4, np.random.default_rng(0))
    np.testing.assert_allclose(scores @ axes, wide.toarray(), atol=1e-5)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_matrix_of_low_rank_is_rebuilt_without_anything_infinite(rank):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(500, rank)) @ rng.normal(size=(rank, 400))
    scores, axes = truncated_svd(sp.csr_array(dense), 20, np.random.default_rng(0))
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores @ axes, dense, atol=1e-4)


def test_neither_the_number_of_threads_nor_the_order_of_rows_matters():
    matrix = sp.csr_array(decaying(900, 500))
    one, three = (truncated_svd(matrix, 30, np.random.default_rng(0), Run(threads=k)) for k in (1, 3))
    assert np.array_equal(one[0], three[0])
    assert np.array_equal(one[1], three[1])
    order = np.random.default_rng(1).permutation(900)
    permuted, _ = truncated_svd(sp.csr_array(matrix[order]), 30, np.random.default_rng(0))
    np.testing.assert_allclose(permuted, one[0][order], atol=1e-4)


def test_orthonormal_columns_span_the_same_space_and_follow_the_rows():
    Y = np.random.default_rng(0).normal(size=(1000, 12)).astype(np.float32)
    Q = orthonormal(Y, Run())
    np.testing.assert_allclose(Q.T @ Q, np.eye(12), atol=1e-5)
    np.testing.assert_allclose(Q @ (Q.T @ Y), Y, atol=1e-4)
    np.testing.assert_allclose(orthonormal(np.ascontiguousarray(Y[::-1]), Run()), Q[::-1], atol=1e-5)


@pytest.mark.parametrize("shape", [(900, 40), (40, 900)])
@pytest.mark.parametrize("k", [40, 35])
def test_a_long_sparse_matrix_is_never_written_out(shape, k, monkeypatch):
    rng = np.random.default_rng(0)
    dense = sp.random_array(shape, density=0.05, rng=rng).toarray()
    dense[:, 3] = 0  # a direction that is not there
    matrix = sp.csr_array(dense)
    written = []
    original = sp.csr_array.toarray

    def spied(self, *args, **options):
        written.append(self.shape)
        return original(self, *args, **options)

    monkeypatch.setattr(sp.csr_array, "toarray", spied)
    scores, axes = truncated_svd(matrix, k, rng)
    assert (900, 40) not in written
    assert (40, 900) not in written
    u, s, vt = np.linalg.svd(dense, full_matrices=False)
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0), s[:k], atol=1e-5)
    np.testing.assert_allclose(scores @ axes, (u[:, :k] * s[:k]) @ vt[:k], atol=1e-5)


@pytest.mark.parametrize("scale", [1e19, 1e-25])
@pytest.mark.parametrize("sparse", [True, False])
def test_entries_whose_squares_are_too_large_or_small_for_float32(scale, sparse):
    dense = decaying(700, 400)
    matrix = sp.csr_array(dense * scale) if sparse else dense * scale
    scores, axes = truncated_svd(matrix, 20, np.random.default_rng(0))
    assert np.isfinite(scores).all()
    expected, _ = truncated_svd(dense, 20, np.random.default_rng(0))
    np.testing.assert_allclose(
        np.linalg.norm(scores.astype(float), axis=0) / scale, np.linalg.norm(expected, axis=0), rtol=1e-4
    )
    np.testing.assert_allclose(axes @ axes.T, np.eye(20), atol=1e-4)


@pytest.mark.parametrize("shape", [(20, 12), (900, 40), (40, 900)])
@pytest.mark.parametrize("form", [sp.csr_array, np.asarray])
def test_a_row_of_zeros_has_scores_of_zero(shape, form):
    dense = np.random.default_rng(5).random(shape)
    dense[1] = 0
    for k in (11, min(shape)):
        assert not truncated_svd(form(dense), k, np.random.default_rng(0))[0][1].any()


def test_the_transpose_of_a_symmetric_matrix_is_itself():
    dense = decaying(600, 600)
    symmetric = Run().matrix(sp.csr_array(dense + dense.T), symmetric=True)
    general = Run().matrix(sp.csr_array(dense + dense.T))
    assert symmetric.T is symmetric
    scores, other = (truncated_svd(A, 10, np.random.default_rng(0))[0] for A in (symmetric, general))
    np.testing.assert_allclose(scores, other, atol=1e-4)


def test_empty_columns_of_a_very_wide_matrix_cost_nothing() -> None:
    rng = np.random.default_rng(0)
    narrow = sp.random_array((400, 2000), density=0.02, rng=rng, format="csr")
    places = np.sort(rng.choice(1_000_000, 2000, replace=False))
    wide = sp.csr_array((narrow.data, places[narrow.indices], narrow.indptr), shape=(400, 1_000_000))
    scores, axes = truncated_svd(wide, 20, np.random.default_rng(0))
    expected, _ = truncated_svd(narrow[:, np.unique(narrow.indices)], 20, np.random.default_rng(0))
    assert np.array_equal(scores, expected)
    assert axes.shape == (20, 1_000_000)
    np.testing.assert_allclose(wide @ axes.T, scores, atol=1e-4)
