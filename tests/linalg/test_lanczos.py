from __future__ import annotations

import numpy as np

import unseen
from unseen.engine.run import Run
from unseen.linalg.lanczos import leading_eigenvectors
from unseen.linalg.smoothing import GraphSmoother
from unseen.randomness import node_keys


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
