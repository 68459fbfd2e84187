"""NodeFeats: the features themselves, and rows of the adjacency where there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen

ADJACENCY = sp.csr_array(
    [[0.0, 2.0, 0.0, 0.0], [2.0, 1.0, 3.0, 0.0], [0.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
)
"""Weights, a self-loop and a node without edges."""
FEATURES = np.array([[1.0, 0.0, -2.5], [0.0, 0.0, 0.0], [0.25, 7.0, 0.0], [0.0, 1.0, 1.0]])


@pytest.mark.parametrize("form", [sp.csr_array, np.asarray])
def test_features_come_back_as_they_are(form: Callable[..., Any]) -> None:
    graph = unseen.Graph(ADJACENCY, form(FEATURES))
    alone = unseen.Graph(sp.csr_array((4, 4)), form(FEATURES))
    for vectors in (
        unseen.NodeFeats().fit_transform(graph).vectors,
        unseen.NodeFeats(random_state=3).fit_transform(alone, ["a", "b", "a", None]).vectors,
    ):
        assert (type(vectors), vectors.dtype) == (type(form(FEATURES)), np.float32)
        assert abs(vectors - form(FEATURES)).max() == 0
        assert form is np.asarray or vectors.nnz == np.count_nonzero(FEATURES)
    rows = unseen.NodeFeats().fit_transform(unseen.Graph(ADJACENCY)).vectors
    assert isinstance(rows, sp.csr_array)
    np.testing.assert_array_equal(rows.toarray(), ADJACENCY.toarray())
    method = unseen.NodeFeats().fit(graph)
    others = unseen.Graph(sp.csr_array((2, 2)), form([[9.0, 8.0, 7.0], [0.0, 0.0, 1.0]]), ["x", "y"])
    made = method.transform(others)
    assert abs(made.vectors - others.features).max() == 0
    assert made.node_ids.tolist() == ["x", "y"]
