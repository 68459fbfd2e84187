from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from unseen.graph import read_only_csr
from unseen.linalg import products
from unseen.linalg.products import spmm


@pytest.fixture
def torch_threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def random_sparse(n: int, m: int, density: float, seed: int = 0, dtype=np.float32) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    return sp.csr_array(sp.random_array((n, m), density=density, rng=rng, dtype=dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_equals_the_dense_product_on_rectangular_matrices_with_empty_rows(dtype, index):
    matrix = random_sparse(70, 40, 0.03, dtype=dtype)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    assert (np.diff(matrix.indptr) == 0).any()
    vectors = np.random.default_rng(1).normal(size=(40, 7)).astype(dtype)
    product = spmm(matrix, vectors)
    assert product.dtype == dtype
    np.testing.assert_allclose(product, matrix.toarray() @ vectors, rtol=1e-5, atol=1e-6)


def test_mixed_index_types_and_transposed_vectors_are_taken():
    matrix = random_sparse(30, 20, 0.2)
    matrix.indptr = matrix.indptr.astype(np.int64)
    vectors = np.random.default_rng(1).normal(size=(5, 20)).astype(np.float32).T
    np.testing.assert_allclose(spmm(matrix, vectors), matrix.toarray() @ vectors, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_to_sum_gives_zeros_of_the_right_shape(dtype):
    assert spmm(sp.csr_array((4, 3)), np.ones((3, 2), dtype)).tolist() == [[0, 0]] * 4
    assert spmm(random_sparse(4, 3, 0.5), np.ones((3, 0), dtype)).shape == (4, 0)
    assert spmm(sp.csr_array((0, 3)), np.ones((3, 2), dtype)).shape == (0, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_writes_or_adds_to_memory_that_is_there(dtype):
    matrix = random_sparse(30, 20, 0.2, dtype=dtype)
    vectors = np.ones((20, 3), dtype=dtype)
    out = np.full((30, 3), 7.0, dtype=dtype)
    assert spmm(matrix, vectors, out=out) is out
    np.testing.assert_allclose(out, matrix.toarray() @ vectors, rtol=1e-5)
    spmm(matrix, vectors, out=out, add=True)
    np.testing.assert_allclose(out, 2 * matrix.toarray() @ vectors, rtol=1e-5)
    spmm(sp.csr_array((30, 20)), vectors, out=out, add=True)
    np.testing.assert_allclose(out, 2 * matrix.toarray() @ vectors, rtol=1e-5)


def test_read_only_input_is_taken_without_a_warning_and_left_alone():
    matrix = read_only_csr(random_sparse(30, 20, 0.2))
    vectors = np.ones((20, 3), dtype=np.float32)
    vectors.setflags(write=False)
    np.testing.assert_allclose(spmm(matrix, vectors), matrix.toarray() @ vectors, rtol=1e-5)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"\(3, 4\) with vectors of shape \(5, 2\)"):
        spmm(sp.csr_array((3, 4)), np.ones((5, 2)))
    with pytest.raises(ValueError, match=r"`out` must have shape \(3, 2\) and dtype float64"):
        spmm(sp.csr_array((3, 4)), np.ones((4, 2)), out=np.zeros((3, 2), dtype=np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_number_of_threads_changes_no_bit(torch_threads, monkeypatch, dtype):
    matrix = random_sparse(3000, 3000, 0.004, dtype=dtype)
    vectors = np.random.default_rng(1).normal(size=(3000, 64)).astype(dtype)
    monkeypatch.setattr(products, "_BLOCK_WORK", 1000)
    results = []
    for threads in (1, 2, 5):
        torch_threads(threads)
        results.append(spmm(matrix, vectors))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    np.testing.assert_allclose(results[0], matrix @ vectors, rtol=1e-4, atol=1e-4)


def test_a_hub_row_does_not_upset_the_blocks(torch_threads, monkeypatch):
    torch_threads(3)
    monkeypatch.setattr(products, "_BLOCK_WORK", 4)
    dense = np.zeros((6, 50))
    dense[2] = np.arange(50)
    dense[5, 3] = 1.0
    vectors = np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_allclose(spmm(sp.csr_array(dense), vectors), dense @ vectors)
