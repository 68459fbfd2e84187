"""Scaling of counts and weights to rows of length 1 before the SVD of RECT-L."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.comm import Comm
from unseen.engine.run import Run
from unseen.methods.neural.rect_l import _are_weights


@pytest.fixture(scope="module")
def planted() -> unseen.Dataset:
    return unseen.planted_partition(240, 4, random_state=3)


@pytest.fixture(scope="module")
def split(planted) -> unseen.Split:
    return unseen.completely_imbalanced_split(planted.labels, label_rate=0.4, unseen=["c3"], random_state=0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_long_documents_do_not_make_up_the_axes(planted, split, form):
    words = (planted.graph.features > 0).astype(float).toarray()
    rng = np.random.default_rng(0)
    counts = words * rng.integers(2, 1000, (len(words), 1))

    def fitted(features, unit_rows="auto"):
        graph = unseen.Graph(planted.graph.adjacency, form(features), planted.graph.node_ids)
        method = unseen.RECTL(n_components=4, epochs=3, unit_rows=unit_rows, random_state=0)
        return method.fit(graph, split.seen_labels), graph

    method, graph = fitted(counts)
    assert method.unit_rows_
    np.testing.assert_allclose(
        method.embedding_.vectors, fitted(words, unit_rows=True)[0].embedding_.vectors, rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(
        method.transform(graph).vectors, method.embedding_.vectors, rtol=1e-4, atol=1e-6
    )
    assert not fitted(words)[0].unit_rows_, "0 and 1 are all of one length, or nearly"
    assert not fitted(counts - 1)[0].unit_rows_, "negative values are no counts"
    as_they_are = fitted(counts, unit_rows=False)[0].embedding_.vectors
    assert not np.allclose(as_they_are, method.embedding_.vectors)


def test_processes_agree_on_what_all_of_them_hold():
    class Other(Comm):
        """Two processes: this one, and one that adds its own findings in the order they are asked for."""

        def __init__(self, *theirs: float) -> None:
            self.theirs = list(theirs)

        def sum_(self, array):
            return array + self.theirs.pop(0)

    def with_others(*theirs: float) -> Run:
        run = Run()
        run.comm = Other(*theirs)
        return run

    words = np.array([[0.0, 1.0]])
    assert not _are_weights(words, Run())
    assert _are_weights(words, with_others(0, 1)), "the counts are elsewhere"
    assert not _are_weights(2 * words, with_others(1, 1)), "the negative value is elsewhere"
