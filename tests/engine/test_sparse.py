from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.engine import sparse
from unseen.engine.run import Run
from unseen.ids import lock


def random_sparse(n: int, m: int, density: float, dtype=np.float32) -> sp.csr_array:
    return sp.csr_array(sp.random_array((n, m), density=density, rng=np.random.default_rng(0), dtype=dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_equal_the_dense_ones_and_go_to_memory_that_is_there(dtype, index) -> None:
    matrix = random_sparse(70, 40, 0.03, dtype=dtype)
    matrix.indptr = matrix.indptr.astype(index)
    assert (np.diff(matrix.indptr) == 0).any()
    lock(matrix)
    A, dense = Run().matrix(matrix), matrix.toarray()
    vectors, others = (np.random.default_rng(1).normal(size=(n, 7)).astype(dtype) for n in (40, 70))
    assert (A @ vectors).dtype == dtype
    np.testing.assert_allclose(A @ vectors, dense @ vectors, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(A.T @ others, dense.T @ others, rtol=1e-5, atol=1e-6)
    out = np.full((70, 7), 7.0, dtype=dtype)
    assert A.times(vectors, out=out) is out
    Run().matrix(sp.csr_array((70, 40))).times(vectors, out=out, add=True)
    np.testing.assert_allclose(out, dense @ vectors, rtol=1e-5, atol=1e-6)
    A.times(vectors, out=out, add=True)
    np.testing.assert_allclose(out, 2 * dense @ vectors, rtol=1e-5, atol=1e-6)
    for nothing in (sp.csr_array((4, 40)), sp.csr_array((0, 40))):
        assert (Run().matrix(nothing) @ vectors).tolist() == [[0] * 7] * nothing.shape[0]
    assert (A @ np.ones((40, 0), dtype)).shape == (70, 0)
    with pytest.raises(ValueError, match=r"\(70, 40\) with vectors of shape \(5, 2\)"):
        A @ np.ones((5, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch, dtype) -> None:
    matrix = random_sparse(3000, 3000, 0.004, dtype=dtype)
    vectors = np.random.default_rng(1).normal(size=(3000, 64)).astype(dtype)
    monkeypatch.setattr(sparse, "BLOCK_WORK", 1000)
    one, *others = (Run(threads=threads).matrix(matrix) @ vectors for threads in (1, 2, 5))
    assert all(np.array_equal(one, other) for other in others)
    np.testing.assert_allclose(one, matrix @ vectors, rtol=1e-4, atol=1e-4)


def test_normalisations_equal_their_definitions() -> None:
    upper = sp.triu(random_sparse(30, 30, 0.1, dtype=np.float64)).toarray()
    dense = upper + upper.T
    dense[3] = dense[:, 3] = 0
    A, degree = Run().matrix(sp.csr_array(dense), symmetric=True), np.maximum(dense.sum(axis=1), 1e-300)
    abar = dense / degree[:, None]
    np.testing.assert_allclose(A.row_normalized().local.toarray(), abar)
    np.testing.assert_allclose(A.column_normalized().local.toarray(), abar.T)
    looped = dense + np.diag(dense.diagonal() == 0)
    scale = 1 / np.sqrt(looped.sum(axis=1))
    ahat = A.gcn_normalized()
    np.testing.assert_allclose(ahat.local.toarray(), scale[:, None] * looped * scale)
    assert ahat.symmetric
    np.testing.assert_allclose(A.times_rows(sp.csr_array(dense[2:5])).toarray(), dense[2:5] @ dense)
