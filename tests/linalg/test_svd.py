"""Singular vectors, eigenvectors and reductions against dense decompositions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.linalg.reduction import Reduction, column_weights, leading_axes, weighted
from unseen.linalg.smoothing import GraphSmoother
from unseen.linalg.svd import leading_eigenvectors, orthonormal, truncated_svd
from unseen.randomness import node_keys


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


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_small_matrices_and_those_of_low_rank_are_rebuilt(rank):
    rng = np.random.default_rng(0)
    low = rng.normal(size=(500, rank)) @ rng.normal(size=(rank, 400))
    wide = sp.random_array((4, 900), density=0.1, rng=rng).toarray()
    for dense, k in ((low, 20), (rng.normal(size=(50, 8)), 8), (wide, 4)):
        for matrix in (dense, sp.csr_array(dense)):
            scores, axes = truncated_svd(matrix, k, np.random.default_rng(0))
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


@pytest.mark.parametrize("shape", [(20, 12), (900, 40), (40, 900)])
@pytest.mark.parametrize("form", [sp.csr_array, np.asarray])
def test_what_has_a_short_side_is_exact(shape, form):
    dense = sp.random_array(shape, density=0.3, rng=np.random.default_rng(0)).toarray()
    dense[:, 3] = 0  # a direction that is not there
    dense[1] = 0
    u, s, vt = np.linalg.svd(dense, full_matrices=False)
    for k in (11, min(shape)):
        scores, axes = truncated_svd(form(dense), k, np.random.default_rng(0))
        assert not scores[1].any()  # a row of zeros stays one
        if k == min(shape) or shape == (20, 12):
            np.testing.assert_allclose(scores @ axes, (u[:, :k] * s[:k]) @ vt[:k], atol=1e-4)


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


def test_iteration_finds_the_eigenvectors_of_the_dense_matrix_in_any_order_of_the_nodes() -> None:
    graph = unseen.planted_partition(900, 6, degree_within=12, degree_between=3, random_state=0).graph
    order = np.random.default_rng(0).permutation(900)
    found = []
    for nodes in (np.arange(900), order):
        matrix = Run().matrix(graph.adjacency[nodes][:, nodes], symmetric=True)
        keys = node_keys(graph.node_ids[nodes], 0)
        found.append(leading_eigenvectors(GraphSmoother(matrix).step, 6, keys, Run(), tol=1e-4))
    exact = np.linalg.eigh(Run().matrix(graph.adjacency).gcn_normalized().local.toarray())[1][:, ::-1][:, :6]
    np.testing.assert_allclose(found[0].T @ found[0], np.eye(6), atol=1e-4)
    np.testing.assert_allclose(found[0] @ found[0].T, exact @ exact.T, atol=1e-3)
    np.testing.assert_allclose(found[1], found[0][order], atol=1e-3)


@pytest.mark.parametrize("columns", [60, 2100])
@pytest.mark.parametrize("sparse", [False, True])
def test_axes_from_blocks_of_rows_hold_what_those_of_the_svd_hold(columns: int, sparse: bool) -> None:
    rng = np.random.default_rng(0)
    strong = rng.standard_normal((400, 12)) @ rng.standard_normal((12, columns)) * 3
    X = (strong + rng.standard_normal((400, columns))) * (rng.random((400, columns)) < 0.5)
    axes = leading_axes(
        sp.csr_array(X) if sparse else X, lambda rows: rows * 2, 10, np.random.default_rng(0), Run()
    )
    _, values, exact = np.linalg.svd(2 * X, full_matrices=False)
    np.testing.assert_allclose(axes @ axes.T, np.eye(10), atol=1e-4)
    assert np.square(2 * X @ axes.T).sum() >= 0.995 * np.square(values[:10]).sum()
    if columns == 60:  # exact, and with the same signs
        exact = exact[:10] * np.sign(exact[np.arange(10), np.abs(exact[:10]).argmax(axis=1)])[:, None]
        np.testing.assert_allclose(axes, exact, atol=1e-4)


def test_columns_of_unit_rows_are_those_of_the_whole_projection() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((90, 20)) < 0.3) * rng.random((90, 20)))
    way = Reduction.learn(X, column_weights(X), 8, 0, Run())
    whole = np.asarray(weighted(X, way.weights, unit=True) @ way.axes.T)
    lengths = np.linalg.norm(whole, axis=1, keepdims=True)
    expected = np.divide(whole, lengths, out=np.zeros_like(whole), where=lengths > 0)
    made = way.unit_columns(X, slice(2, 5), way.inverse_lengths(X, Run()), Run())
    np.testing.assert_allclose(made, expected[:, 2:5], atol=1e-5)
    np.testing.assert_allclose(way.apply(X, Run()), whole, atol=1e-5)
