"""MFDW: the optimum, the start, the random numbers, new nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.linalg import svd as svd_module
from unseen.linalg.svd import operator_svd
from unseen.linalg.walk import WalkMatrix


def planted(
    n: int = 120, groups: int = 3, seed: int = 0, inside: float = 0.15, across: float = 0.01
) -> unseen.Graph:
    rng = np.random.default_rng(seed)
    group = np.arange(n) % groups
    upper = np.triu(rng.random((n, n)) < np.where(group[:, None] == group, inside, across), 1).astype(float)
    return unseen.Graph(sp.csr_array(upper + upper.T), node_ids=[f"node {i}" for i in range(n)])


def optimum(graph: unseen.Graph, d: int, lam: float) -> float:
    M = WalkMatrix(Run().matrix(graph.adjacency)).matmat(np.eye(graph.n_nodes))
    values = np.linalg.svd(M, compute_uv=False)
    return float((values**2).sum() - (np.maximum(values[:d] - lam, 0) ** 2).sum())


def dense_cost(graph: unseen.Graph, method: unseen.MFDW) -> float:
    A = graph.adjacency.toarray()
    step = A / np.maximum(A.sum(axis=1, keepdims=True), 1e-12)
    U, H = method.embedding_.vectors.astype(float), method.context_.T.astype(float)
    misfit = ((step + step @ step) / 2 - U @ H) ** 2
    return float(misfit.sum() + method.lam * ((U**2).sum() + (H**2).sum()))


@pytest.mark.parametrize(
    ("small", "tolerance"),
    [
        pytest.param(512, 1e-5, id="decomposed in full"),
        pytest.param(0, 5e-5, id="subspace iteration"),  # measured: 2e-6, over other graphs up to 1.2e-5
    ],
)
def test_the_start_is_the_optimum_and_stays_there(
    small: int, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(svd_module, "SMALL_OPERATOR", small)
    graph = planted()
    method = unseen.MFDW(n_components=20, random_state=0).fit(graph)
    assert method.loss_history_[0] == pytest.approx(optimum(graph, 20, 0.1), rel=tolerance)
    assert method.loss_history_[-1] == pytest.approx(optimum(graph, 20, 0.1), rel=1e-5)
    assert method.loss_history_[-1] == pytest.approx(dense_cost(graph, method), rel=1e-5)
    assert method.converged_
    assert method.n_iter_ == 1
    assert method.loss_has_constant_


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "step"), [("als", "bold"), ("gradient", "bold"), ("gradient", "armijo")])
def test_every_solver_comes_near_the_optimum_from_uniform_numbers(solver: str, step: str) -> None:
    graph = planted()
    method = unseen.MFDW(
        n_components=10, solver=solver, step=step, init="uniform", max_iter=300, tol=0, random_state=0
    ).fit(graph)
    history = method.loss_history_
    assert (np.diff(history) <= 1e-5 * np.abs(history[:-1])).all()
    assert history[-1] <= 1.03 * optimum(graph, 10, 0.1)
    assert history[0] > 1.1 * history[-1]


def test_subspace_iteration_copes_with_low_rank_and_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svd_module, "SMALL_OPERATOR", 0)
    vector = np.arange(1.0, 31.0, dtype=np.float32)[:, None]
    start = np.random.default_rng(0).standard_normal((30, 8)).astype(np.float32)
    for matrix in (vector @ vector.T, np.zeros((30, 30), dtype=np.float32)):
        U, s, V = operator_svd(matrix, start, 3, Run())
        np.testing.assert_allclose((U * s) @ V.T, matrix, atol=0.5)
        assert np.isfinite([U, V]).all()


def test_callbacks_see_every_round_and_can_stop() -> None:
    seen = []

    def stop(epoch) -> bool:
        seen.append((epoch.method, epoch.number, epoch.total, epoch.vectors().shape))
        return epoch.number == 2

    method = unseen.MFDW(
        n_components=5, init="uniform", tol=0, max_iter=10, callbacks=[stop, lambda _: None], random_state=0
    ).fit(planted())
    assert seen == [("mfdw", 1, 10, (120, 5)), ("mfdw", 2, 10, (120, 5))]
    assert method.n_iter_ == 2
    assert not method.converged_


def test_what_cannot_be_done_is_refused() -> None:
    method = unseen.MFDW(n_components=3, random_state=0).fit(planted(30))
    with pytest.raises(unseen.InputError, match="this graph has none of them"):
        method.transform(unseen.Graph.from_edges(["x"], ["y"]))
    with pytest.raises(unseen.InputError, match="`callbacks` must be functions"):
        unseen.MFDW(callbacks=[3]).fit(planted(30))


@pytest.mark.parametrize("name", ["mfdw", "mmdw", "rsdne", "rsdne-light"])
def test_vectors_of_a_graph_without_edges_are_said_to_be_zero(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    graph = unseen.Graph(np.zeros((6, 6)))
    vectors = unseen.make_method(name, n_components=2, random_state=0).fit_transform(graph, [*"aabb", "", ""])
    assert not vectors.vectors.any()
    assert f"{name}: the graph has no edges" in caplog.text


@pytest.mark.parametrize("solver", ["als", "gradient"])
def test_an_interrupt_keeps_the_last_whole_round(solver: str, caplog: pytest.LogCaptureFixture) -> None:
    def interrupt(epoch) -> None:
        if epoch.number == 2:
            raise KeyboardInterrupt

    options = {"n_components": 5, "init": "uniform", "solver": solver, "random_state": 0}
    method = unseen.MFDW(callbacks=interrupt, **options).fit(planted())
    assert "interrupted after 2 steps; the last whole round is kept" in caplog.text
    two = unseen.MFDW(max_iter=2, **options).fit_transform(planted()).vectors
    np.testing.assert_array_equal(method.embedding_.vectors, two)
