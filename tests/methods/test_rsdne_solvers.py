"""Cost, gradients and every update against the dense definition; both solvers; the paper's theorems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.rsdne import DenseRSDNE, laplacian
from unseen.engine.run import Run
from unseen.linalg.labelled import LabelledWalk, label_groups
from unseen.linalg.neighbours import nearest_in_class
from unseen.linalg.walk import WalkMatrix
from unseen.methods import rsdne_solvers as solvers
from unseen.methods.rsdne_solvers import Objective, alternating, gradient_descent

N, D = 36, 5


def case(seed: int, *, several: bool = False, alpha: float = 1.0, k: int = 3, classes: int = 3):
    rng = np.random.default_rng(seed)
    upper = np.triu((rng.random((N, N)) < 0.15) * rng.uniform(0.5, 2, (N, N)), 1)
    adjacency = upper + upper.T
    adjacency[0] = adjacency[:, 0] = 0
    indicator = np.zeros((N, classes), dtype=bool)
    some = np.flatnonzero(rng.random(N) < 0.7)
    indicator[some, rng.integers(0, classes, len(some))] = True
    if several:
        indicator[some] |= rng.random((len(some), classes)) < 0.3
    dense = DenseRSDNE(adjacency, indicator, alpha=alpha, lam=0.1, k=k)
    run = Run()
    A = run.matrix(sp.csr_array(adjacency))
    walk, groups = WalkMatrix(A), label_groups(sp.csr_array(indicator), run)
    objective = Objective(
        walk,
        0.1,
        alpha,
        LabelledWalk(A, groups),
        lambda U: nearest_in_class(U, groups, k, run),
        walk.frobenius_squared() or 0.0,
    )
    return dense, objective, rng.standard_normal((N, D)), rng.standard_normal((N, D))


def cost(objective: Objective, U: np.ndarray, Ht: np.ndarray) -> float:
    return objective.cost(
        U, Ht, objective.walk.rmatmat(U), objective.smoothing(U).apply(U), U.T @ U, Ht.T @ Ht
    )


@pytest.mark.parametrize("several", [False, True])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_cost_and_gradients_equal_the_dense_definition(several: bool, seed: int) -> None:
    dense, objective, U, Ht = case(seed, several=several)
    S = dense.neighbours(U)
    assert cost(objective, U, Ht) == pytest.approx(dense.cost(U, Ht.T, S), rel=1e-12)
    smoothed = objective.smoothing(U).apply(U)
    np.testing.assert_allclose(
        solvers.gradient(objective, U, Ht.T @ Ht, objective.walk.matmat(Ht), smoothed),
        dense.u_gradient(U, Ht.T, S),
        atol=1e-10,
    )
    MtU = objective.walk.rmatmat(U)
    np.testing.assert_allclose(
        solvers.gradient(objective, Ht, U.T @ U, MtU), dense.h_gradient(U, Ht.T).T, atol=1e-10
    )


def test_gradient_equals_finite_differences() -> None:
    dense, objective, U, Ht = case(1)
    S = dense.neighbours(U)
    smoothed = objective.smoothing(U).apply(U)
    slope = solvers.gradient(objective, U, Ht.T @ Ht, objective.walk.matmat(Ht), smoothed)
    slope_h = solvers.gradient(objective, Ht, U.T @ U, objective.walk.rmatmat(U))
    rng = np.random.default_rng(0)
    for _ in range(5):
        direction = rng.standard_normal(U.shape)
        up, down = (dense.cost(U + t * direction, Ht.T, S) for t in (1e-5, -1e-5))
        assert (up - down) / 2e-5 == pytest.approx(np.sum(slope * direction), rel=1e-6)
        up, down = (dense.cost(U, (Ht + t * direction).T, S) for t in (1e-5, -1e-5))
        assert (up - down) / 2e-5 == pytest.approx(np.sum(slope_h * direction), rel=1e-6)


def test_the_updates_are_the_minimisers() -> None:
    dense, objective, U, Ht = case(2)
    S = dense.neighbours(U)
    _, state = (next(rounds) for rounds in [alternating(objective, U, Ht, cg_steps=200)] * 2)
    np.testing.assert_allclose(dense.u_gradient(state.U, Ht.T, S), 0, atol=1e-8)
    np.testing.assert_allclose(dense.h_gradient(state.U, state.Ht.T), 0, atol=1e-9)


def test_the_gradient_solver_takes_the_paper_s_rounds() -> None:
    dense, objective, U, Ht = case(3)
    oracle = dense.bold_rounds(U, Ht.T, 0.1)
    ours = gradient_descent(objective, U, Ht, step="bold")
    for _ in range(60):
        expected, state = next(oracle), next(ours)
        assert state.cost == pytest.approx(expected[2], rel=1e-9)
    np.testing.assert_allclose(state.U, expected[0], atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("cg_steps", [1, 4])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_alternating_never_raises_the_cost(several: bool, cg_steps: int, seed: int) -> None:
    _, objective, U, Ht = case(seed, several=several)
    rounds = alternating(objective, U, Ht, cg_steps=cg_steps)
    costs = [next(rounds).cost for _ in range(12)]
    assert (np.diff(costs) <= 1e-9 * np.abs(costs[:-1])).all()
    assert costs[-1] < costs[0]


def test_armijo_lowers_the_cost_in_every_round() -> None:
    _, objective, U, Ht = case(4)
    rounds = gradient_descent(objective, U, Ht, step="armijo")
    states = [next(rounds) for _ in range(40)]
    assert (np.diff([s.cost for s in states]) < 0).all()
    assert all(s.moved for s in states)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_with_large_k_the_intra_cost_is_half_the_classical_sum(seed: int) -> None:
    dense, objective, U, _ = case(seed, k=N)
    chosen = objective.choose(U)
    S = np.zeros((N, N))
    S[chosen.rows, chosen.columns] = 1
    intra = np.trace(U.T @ laplacian(S) @ U)
    squared = ((U[:, None] - U[None]) ** 2).sum(axis=2)
    assert intra == pytest.approx((squared * dense.same).sum() / 2, rel=1e-10)


def test_float32_reaches_the_same_cost() -> None:
    _, objective, U, Ht = case(8)
    for dtype in (np.float64, np.float32):
        rounds = alternating(objective, U.astype(dtype), Ht.astype(dtype), cg_steps=4)
        costs = [next(rounds).cost for _ in range(10)]
        if dtype is np.float64:
            exact = costs
    np.testing.assert_allclose(costs, exact, rtol=1e-3)
