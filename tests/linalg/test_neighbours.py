"""Same-class neighbours: exact, blocked, and among candidates; Theorem 1 of the paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.rsdne import DenseRSDNE
from unseen.engine.comm import SOLO, Layout
from unseen.engine.run import Run
from unseen.linalg import neighbours as module
from unseen.linalg.labelled import label_groups
from unseen.linalg.neighbours import draw_candidates, nearest_in_class, nearest_of_candidates
from unseen.randomness import keyed_uniform, node_keys


def case(seed: int, n: int = 40, classes: int = 3, *, several: bool = False):
    rng = np.random.default_rng(seed)
    indicator = np.zeros((n, classes), dtype=bool)
    some = np.flatnonzero(rng.random(n) < 0.7)
    indicator[some, rng.integers(0, classes, len(some))] = True
    if several:
        indicator[some] |= rng.random((len(some), classes)) < 0.3
    return rng.standard_normal((n, 6)), indicator


@pytest.mark.parametrize("several", [False, True])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 60))
def test_no_swap_of_a_neighbour_lowers_the_cost(several: bool, seed: int, k: int) -> None:
    U, indicator = case(seed, several=several)
    found = nearest_in_class(U, label_groups(sp.csr_array(indicator), Run()), k, Run())
    same = indicator.astype(int) @ indicator.T.astype(int) > 0
    for i in range(len(U)):
        others = np.setdiff1d(np.flatnonzero(same[i]), [i])
        chosen = found.columns[found.rows == i]
        assert len(set(chosen.tolist())) == len(chosen) == min(k, len(others))
        assert set(chosen.tolist()) <= set(others.tolist())
        left = np.setdiff1d(others, chosen)
        if len(chosen) and len(left):
            distance = ((U - U[i]) ** 2).sum(axis=1)
            assert distance[chosen].max() <= distance[left].min()


def test_blocks_and_float32_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    U, indicator = case(3, n=300)
    groups = label_groups(sp.csr_array(indicator), Run())
    whole = nearest_in_class(U, groups, 5, Run())
    monkeypatch.setattr(module, "ROWS", 7)
    monkeypatch.setattr(module, "DISTANCES", 500)
    for vectors in (U, U.astype(np.float32)):
        blocked = nearest_in_class(vectors, groups, 5, Run())
        np.testing.assert_array_equal(blocked.rows, whole.rows)
        np.testing.assert_array_equal(blocked.columns, whole.columns)


def test_ties_classes_of_one_and_the_symmetric_part() -> None:
    """Identical vectors give the lower rows; classes of one and no labels have no neighbours."""
    one_class = label_groups(sp.csr_array(np.ones((5, 1), dtype=bool)), Run())
    found = nearest_in_class(np.zeros((5, 2)), one_class, 2, Run())
    assert found.columns.reshape(5, 2).tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1]]
    for indicator in (np.eye(3, dtype=bool), np.zeros((3, 2), dtype=bool)):
        groups = label_groups(sp.csr_array(indicator), Run())
        assert len(nearest_in_class(np.eye(3), groups, 5, Run()).rows) == 0
    U, indicator = case(4)
    S = DenseRSDNE(np.zeros((40, 40)), indicator, k=4).neighbours(U)
    found = nearest_in_class(U, label_groups(sp.csr_array(indicator), Run()), 4, Run())
    symmetric = found.symmetric(Layout((0, 40), SOLO), Run()).local.toarray()
    np.testing.assert_array_equal(symmetric, (S + S.T) / 2)


@pytest.mark.parametrize("several", [False, True])
def test_candidates_are_different_nodes_of_the_same_class(several: bool) -> None:
    _, indicator = case(5, n=200, several=several)
    groups = label_groups(sp.csr_array(indicator), Run())
    drawn = draw_candidates(groups, node_keys(np.arange(200), 1), 10)
    same = indicator.astype(int) @ indicator.T.astype(int) > 0
    labelled = np.flatnonzero(indicator.any(axis=1))
    assert set(np.diff(drawn.indptr)[labelled]) == {10}
    assert drawn.diagonal().sum() == 0
    assert (drawn.toarray() <= same).all()
    assert np.diff(drawn.indptr).sum() == 10 * len(labelled)


def test_candidates_belong_to_ids_not_rows() -> None:
    ids, indicator = np.array([f"node {i}" for i in range(50)]), np.eye(2, dtype=bool)[np.arange(50) % 2]

    def draw(order: np.ndarray, seed: int) -> np.ndarray:
        groups = label_groups(sp.csr_array(indicator[order]), Run())
        return draw_candidates(groups, node_keys(ids[order], seed), 6).toarray()

    rows = np.arange(50)
    order = np.random.default_rng(0).permutation(50)
    np.testing.assert_array_equal(draw(order, 3), draw(rows, 3)[order][:, order])
    assert (draw(rows, 4) != draw(rows, 3)).any()


@pytest.mark.slow
def test_every_candidate_is_as_likely() -> None:
    groups = label_groups(sp.csr_array(np.ones((12, 1), dtype=bool)), Run())
    counts = sum(
        draw_candidates(groups, node_keys(np.arange(12), seed), 3).toarray().astype(int)
        for seed in range(2000)
    )
    off = counts[~np.eye(12, dtype=bool)]
    assert abs(off / 2000 - 3 / 11).max() < 0.06  # about six standard deviations


def test_nearest_of_all_candidates_is_the_exact_answer() -> None:
    U, indicator = case(6, n=80)
    groups = label_groups(sp.csr_array(indicator), Run())
    everybody = draw_candidates(groups, node_keys(np.arange(80), 0), 1000)
    exact, light = nearest_in_class(U, groups, 5, Run()), nearest_of_candidates(U, everybody, 5, Run())
    np.testing.assert_array_equal(light.columns, exact.columns)
    few = draw_candidates(groups, node_keys(np.arange(80), 0), 8)
    assert (few[light.rows, light.columns].sum()) < len(light.rows)
    some = nearest_of_candidates(U, few, 5, Run())
    assert np.asarray(few[some.rows, some.columns]).all()


def test_keyed_numbers_are_uniform_and_do_not_depend_on_the_row() -> None:
    keys = node_keys(np.arange(1000), 0)
    numbers = keyed_uniform(keys, 50)
    assert abs(numbers.mean() - 0.5) < 0.01
    assert abs(np.corrcoef(numbers[:, 0], numbers[:, 1])[0, 1]) < 0.1
    assert 0 <= numbers.min() <= numbers.max() < 1
    np.testing.assert_array_equal(keyed_uniform(keys[::-1], 50), numbers[::-1])
    assert (keyed_uniform(keys, 50, stream=1) != numbers).all()
    for ids in (np.arange(1000), np.arange(1000).astype(str)):
        assert (node_keys(ids, 0) != node_keys(ids, 1)).all()
    some = np.array(["a", "bc", "long name"])
    assert node_keys(some, 5)[:2].tolist() == node_keys(some[:2], 5).tolist()
