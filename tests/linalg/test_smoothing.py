from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.linalg import smoothing
from unseen.linalg.normalize import l2_rows
from unseen.linalg.smoothing import GraphSmoother, smoothing_filter


@pytest.mark.parametrize("teleports", [(0.0,), (0.1,), (1.0,), (0.1, 0.5)])
def test_chebyshev_polynomials_give_what_the_rounds_give(teleports):
    graph = unseen.planted_partition(50, 2, random_state=0).graph
    matrix = Run().matrix(graph.adjacency)
    ahat, Z = (
        matrix.gcn_normalized().local.toarray(),
        l2_rows(np.random.default_rng(0).standard_normal((50, 4))),
    )
    expected = np.zeros_like(Z)
    for teleport in teleports:
        smooth = Z
        for _ in range(6):
            smooth = (1 - teleport) * (ahat @ smooth) + teleport * Z
        expected += smooth / len(teleports)
    filters = {"one": smoothing_filter(teleports, 6, negligible=0.0), "other": smoothing_filter((0.9,), 2)}
    smoother, rows = GraphSmoother(matrix), np.array([7, 0, 31])
    np.testing.assert_allclose(smoother.smooth(Z.astype(np.float32), filters)["one"], expected, atol=1e-5)
    some = smoother.smooth(Z.astype(np.float32), filters, rows)["one"]
    np.testing.assert_allclose(some, expected[rows], atol=1e-5)


def test_means_leave_the_node_itself_out_and_keep_loops_that_are_there() -> None:
    adjacency = np.array([[0.0, 2.0, 1.0, 0.0], [2.0, 3.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0] * 4])
    Z = np.random.default_rng(0).standard_normal((4, 2)).astype(np.float32)
    matrix = Run().matrix(sp.csr_array(adjacency), symmetric=True)
    expected = adjacency @ Z / np.maximum(adjacency.sum(axis=1, keepdims=True), 1e-30)
    np.testing.assert_allclose(GraphSmoother(matrix).mean(Z), expected, atol=1e-6)
    once = GraphSmoother(matrix).smooth(Z, {0: np.array([0.0, 1.0], dtype=np.float32)})[0]
    np.testing.assert_allclose(once, matrix.gcn_normalized() @ Z, atol=1e-6)


@pytest.mark.parametrize("teleport", [0.02, 0.1, 0.4])
def test_what_a_filter_leaves_out_is_negligible(teleport):
    short = smoothing_filter((teleport,), 20)
    eigenvalues = np.linspace(-1, 1, 201)
    exact = np.ones(201)
    for _ in range(20):
        exact = (1 - teleport) * eigenvalues * exact + teleport
    assert len(short) <= 13
    assert np.abs(np.polynomial.chebyshev.chebval(eigenvalues, short) - exact).max() <= smoothing.NEGLIGIBLE
