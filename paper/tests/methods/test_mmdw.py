"""MMDW: the pull is the SVM's own gradient, a round solves for H and U, without labels it is MFDW."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.linalg.walk import WalkMatrix
from unseen.methods.rsdne_solvers import ridge
from unseen_paper.methods import mmdw as module
from unseen_paper.methods.mmdw import MMDW, margin_bias


def hub_and_spokes() -> tuple[unseen.Graph, np.ndarray]:
    """Return 30 nodes around a hub, some of them linked, and their walk matrix, which is far from symmetric."""
    adjacency = np.zeros((30, 30))
    adjacency[0, 1:] = 1
    for a, b in [(1, 2), (2, 3), (3, 4), (4, 1), (5, 6), (6, 7), (7, 5), (8, 9), (10, 11), (11, 12)]:
        adjacency[a, b] = 1
    adjacency += adjacency.T
    step = adjacency / adjacency.sum(axis=1, keepdims=True)
    M = (step + step @ step) / 2
    assert np.abs(M - M.T).max() > 0.4
    return unseen.Graph(sp.csr_array(adjacency)), M


def solved_for_h(M: np.ndarray, U: np.ndarray, lam: float) -> np.ndarray:
    return np.asarray(np.linalg.solve(U.T @ U + lam * np.eye(U.shape[1]), U.T @ M))


def solved_for_u(M: np.ndarray, H: np.ndarray, lam: float) -> np.ndarray:
    return np.asarray(np.linalg.solve(H @ H.T + lam * np.eye(len(H)), H @ M.T).T)


def test_both_steps_of_the_factorisation_end_where_the_slope_of_the_dense_cost_is_zero() -> None:
    graph, M = hub_and_spokes()
    walk, lam = WalkMatrix(Run().matrix(graph.adjacency)), 0.2
    moved = np.random.default_rng(0).normal(size=(30, 4))
    H = ridge(walk.rmatmat(moved), moved.T @ moved, lam, Run()).T
    U = ridge(walk.matmat(H.T), H @ H.T, lam, Run())
    np.testing.assert_allclose(H, solved_for_h(M, moved, lam), atol=1e-10)
    np.testing.assert_allclose(U, solved_for_u(M, H, lam), atol=1e-10)

    def cost(U: np.ndarray, H: np.ndarray) -> float:
        return float(((M - U @ H) ** 2).sum() + lam * ((U**2).sum() + (H**2).sum()))

    def slope(of_h: bool, U: np.ndarray, H: np.ndarray) -> float:
        steepest = 0.0
        for place in np.ndindex((H if of_h else U).shape):
            step = np.zeros_like(H if of_h else U)
            step[place] = 1e-4
            ahead = cost(U, H + step) if of_h else cost(U + step, H)
            behind = cost(U, H - step) if of_h else cost(U - step, H)
            steepest = max(steepest, abs(ahead - behind) / 2e-4)
        return steepest

    assert slope(True, moved, H) < 1e-8
    assert slope(False, U, H) < 1e-8
    assert slope(True, moved, solved_for_h(M.T, moved, lam)) > 0.1  # what M in the place of M' would give


@pytest.mark.parametrize(("alpha", "lam"), [(0.0, 0.1), (0.5, 0.1), (0.5, 0.3)])
def test_a_round_moves_the_labelled_rows_and_solves_for_h_and_then_for_u(
    alpha: float, lam: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, M = hub_and_spokes()
    labels = ["a" if node < 5 else "b" if node < 8 else None for node in range(30)]
    bias = np.random.default_rng(1).normal(size=(8, 4)) / 2
    monkeypatch.setattr(module, "margin_bias", lambda *_: (0.0, bias))

    def after(rounds: int) -> np.ndarray:
        method = MMDW(n_components=4, alpha=alpha, lam=lam, max_iter=rounds, random_state=0)
        return method.fit_transform(graph, labels).vectors.astype(float)

    U = after(0)
    for rounds in (1, 2):
        moved = U.copy()
        moved[:8] += alpha * bias
        U = solved_for_u(M, solved_for_h(M, moved, lam), lam)
        np.testing.assert_allclose(after(rounds), U, atol=1e-5)  # float32; the largest entry is about 1
        transposed = solved_for_u(M, solved_for_h(M.T, moved, lam), lam)
        assert np.abs(transposed - U).max() > 0.01


def test_the_pull_is_where_the_loss_of_the_svm_falls_fastest() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 5))
    vectors /= np.sqrt((vectors**2).sum(axis=1).mean())
    classes = rng.integers(0, 3, 40)
    signs = np.where(classes[:, None] == np.arange(3), 1.0, -1.0)
    _, bias = margin_bias(vectors, signs, 1.0, 0)

    from sklearn.svm import LinearSVC

    svm = LinearSVC(C=1.0, tol=1e-8, dual=False).fit(vectors, classes)

    def loss(points: np.ndarray) -> float:
        return float((np.maximum(0, 1 - signs * svm.decision_function(points)) ** 2).sum())

    slope = np.zeros_like(vectors)
    for place in np.ndindex(vectors.shape):
        step = np.zeros_like(vectors)
        step[place] = 1e-5
        slope[place] = (loss(vectors + step) - loss(vectors - step)) / 2e-5
    cosine = -(slope * bias).sum() / np.linalg.norm(slope) / np.linalg.norm(bias)
    assert cosine > 0.999
    assert np.mean((bias**2).sum(axis=1)) == pytest.approx(np.mean((vectors**2).sum(axis=1)))


def test_rounds_widen_the_margin_and_unseen_classes_stay_apart() -> None:
    data = unseen.planted_partition(300, 4, degree_within=8, degree_between=2, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
    mmdw = MMDW(n_components=32, random_state=0).fit(data.graph, split.seen_labels)
    assert mmdw.loss_history_[-1] < 0.9 * mmdw.loss_history_[0]
    assert unseen.evaluate(mmdw.embedding_, data.labels, split, random_state=0).micro_f1 > 0.8


@pytest.mark.parametrize("values", [None, ["only"] * 5 + [None] * 115])
def test_without_two_classes_it_is_mfdw_and_says_so(values: object, caplog: pytest.LogCaptureFixture) -> None:
    graph = unseen.planted_partition(120, 3, random_state=0).graph
    mmdw = MMDW(n_components=8, random_state=0)
    with caplog.at_level(logging.WARNING, logger="unseen"):
        found = mmdw.fit_transform(graph, values).vectors
    assert "so this is mfdw" in caplog.text
    mfdw = unseen.MFDW(n_components=8, random_state=0, max_iter=5).fit_transform(graph).vectors
    assert np.allclose(np.abs(found @ found.T), np.abs(mfdw @ mfdw.T), atol=1e-3)


def test_parameters_reach_their_use() -> None:
    data = unseen.planted_partition(120, 3, random_state=0)

    def gram(**change: float) -> np.ndarray:
        vectors = (
            MMDW(n_components=8, random_state=0, **change).fit_transform(data.graph, data.labels).vectors
        )
        return np.asarray(vectors @ vectors.T)

    base = gram()
    for change in ({"alpha": 0.01}, {"lam": 0.3}, {"C": 0.01}, {"max_iter": 1}):
        assert np.abs(gram(**change) - base).max() > 0.01 * np.abs(base).max(), change


def test_several_labels_per_node_are_refused() -> None:
    graph = unseen.planted_partition(30, 2, random_state=0).graph
    with pytest.raises(unseen.UnsupportedError, match=r"^mmdw takes one label"):
        MMDW().fit(graph, [["a", "b"]] + ["a"] * 29)
