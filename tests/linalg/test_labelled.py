"""W as an operator against the dense W: no label, one or several per node, hubs, weights, self-loops."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.rsdne import DenseRSDNE
from unseen.engine.run import Run
from unseen.linalg import labelled as module
from unseen.linalg.labelled import LabelledWalk, label_groups


def random_case(seed: int, n: int = 30, *, several: bool = False, density: float = 0.15):
    rng = np.random.default_rng(seed)
    upper = np.triu((rng.random((n, n)) < density) * rng.uniform(0.5, 2, (n, n)))
    adjacency = upper + np.triu(upper, 1).T
    adjacency[2, :] = adjacency[:, 2] = 0
    adjacency[5, :] = adjacency[:, 5] = 1  # a hub
    indicator = np.zeros((n, 4), dtype=bool)
    some = rng.random(n) < 0.6
    indicator[np.flatnonzero(some), rng.integers(0, 4, some.sum())] = True
    if several:
        more = rng.random((n, 4)) < 0.25
        indicator[some] |= more[some]
    return adjacency, indicator


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("factor", [0, 10_000])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_operator_and_explicit_form_equal_the_dense_matrix(several: bool, factor: int, seed: int) -> None:
    adjacency, indicator = random_case(seed, several=several)
    dense = DenseRSDNE(adjacency, indicator)
    sym = (dense.W + dense.W.T) / 2
    before, module.EXPLICIT_FACTOR = module.EXPLICIT_FACTOR, factor
    try:
        walk = LabelledWalk(
            Run().matrix(sp.csr_array(adjacency)), label_groups(sp.csr_array(indicator), Run())
        )
    finally:
        module.EXPLICIT_FACTOR = before
    assert (walk.explicit is None) == (factor == 0)
    V = np.random.default_rng(seed).standard_normal((len(adjacency), 5))
    np.testing.assert_allclose(walk.symmetric(V), sym @ V, atol=1e-12)
    np.testing.assert_allclose(walk.degree, sym.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(walk.symmetric(V.astype(np.float32)), sym @ V, atol=1e-5)


def test_many_groups_at_a_node_are_worked_on_in_batches() -> None:
    rng = np.random.default_rng(0)
    n = 60
    upper = np.triu(rng.random((n, n)) < 0.5, 1).astype(float)
    adjacency = upper + upper.T
    indicator = np.eye(n, dtype=bool)  # every node a class of its own: as many pairs as edges
    walk = LabelledWalk(Run().matrix(sp.csr_array(adjacency)), label_groups(sp.csr_array(indicator), Run()))
    assert len(walk._bags) > 1
    sym = (lambda W: (W + W.T) / 2)(DenseRSDNE(adjacency, indicator).W)
    np.testing.assert_allclose(walk.symmetric(np.eye(n)), sym, atol=1e-12)
