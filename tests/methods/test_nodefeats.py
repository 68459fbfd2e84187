"""NodeFeats: the features themselves, and rows of the adjacency where there are none."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen

ADJACENCY = sp.csr_array(
    [[0.0, 2.0, 0.0, 0.0], [2.0, 1.0, 3.0, 0.0], [0.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
)
"""Weights, a self-loop and a node without edges."""
FEATURES = np.array([[1.0, 0.0, -2.5], [0.0, 0.0, 0.0], [0.25, 7.0, 0.0], [0.0, 1.0, 1.0]])


def test_sparse_features_come_back_as_they_are_and_sparse() -> None:
    vectors = unseen.NodeFeats().fit_transform(unseen.Graph(ADJACENCY, sp.csr_array(FEATURES))).vectors
    assert isinstance(vectors, sp.csr_array)
    assert vectors.dtype == np.float32
    assert vectors.nnz == np.count_nonzero(FEATURES)
    np.testing.assert_array_equal(vectors.toarray(), FEATURES)


def test_dense_features_come_back_as_they_are_and_dense() -> None:
    vectors = unseen.NodeFeats().fit_transform(unseen.Graph(ADJACENCY, FEATURES)).vectors
    assert isinstance(vectors, np.ndarray)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, FEATURES)


@pytest.mark.parametrize("sparse", [True, False])
def test_the_features_of_the_graph_stay_as_they_were(sparse: bool) -> None:
    graph = unseen.Graph(ADJACENCY, sp.csr_array(FEATURES) if sparse else FEATURES)
    before = graph.features.copy()
    unseen.NodeFeats().fit(graph)
    assert graph.features.dtype == before.dtype
    assert sp.issparse(graph.features) == sparse
    assert abs(graph.features - before).max() == 0


def test_edges_and_labels_do_not_matter_where_there_are_features() -> None:
    alone = unseen.Graph(sp.csr_array((4, 4)), FEATURES)
    vectors = unseen.NodeFeats(random_state=3).fit_transform(alone, ["a", "b", "a", None]).vectors
    np.testing.assert_array_equal(vectors, FEATURES)


def test_without_features_the_vectors_are_the_rows_of_the_adjacency() -> None:
    vectors = unseen.NodeFeats().fit_transform(unseen.Graph(ADJACENCY)).vectors
    assert isinstance(vectors, sp.csr_array)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors.toarray(), ADJACENCY.toarray())


def test_new_nodes_have_their_own_features() -> None:
    method = unseen.NodeFeats().fit(unseen.Graph(ADJACENCY, FEATURES))
    others = unseen.Graph(sp.csr_array((2, 2)), [[9.0, 8.0, 7.0], [0.0, 0.0, 1.0]], ["x", "y"])
    made = method.transform(others)
    np.testing.assert_array_equal(made.vectors, others.features)
    assert made.node_ids.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("fitted_with", "given"),
    [(None, None), (None, FEATURES)],
    ids=["none", "later"],
)
def test_rows_of_the_adjacency_do_not_carry_over_to_another_graph(
    fitted_with: np.ndarray | None, given: np.ndarray | None
) -> None:
    method = unseen.NodeFeats().fit(unseen.Graph(ADJACENCY, fitted_with))
    with pytest.raises(
        unseen.UnsupportedError, match="nodefeats cannot embed new nodes here: its features are rows"
    ):
        method.transform(unseen.Graph(ADJACENCY, given))
