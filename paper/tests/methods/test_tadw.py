"""TADW: both steps are minima of J, J is what it says, features carry nodes without edges."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.engine.run import Run
from unseen.linalg.walk import WalkMatrix
from unseen_paper.methods.tadw import TADW, TADWProblem


@pytest.fixture
def problem() -> tuple[np.ndarray, np.ndarray, TADWProblem]:
    """Return a dense M, features and the problem of a random graph of 30 nodes."""
    rng = np.random.default_rng(0)
    adjacency = unseen.random_graph(30, random_state=0).adjacency
    features = rng.normal(size=(30, 6)) * [3, 2, 1, 1, 0.5, 0.0]
    walk = WalkMatrix(Run().matrix(adjacency))
    return walk.matmat(np.eye(30)), features, TADWProblem.of(walk, features, 0.2)


def dense_cost(M: np.ndarray, features: np.ndarray, W: np.ndarray, H: np.ndarray) -> float:
    return float(((M - W @ H @ features.T) ** 2).sum() + 0.1 * (W**2).sum() + 0.1 * (H**2).sum())


def test_the_cost_is_the_definition_without_its_constant(
    problem: tuple[np.ndarray, np.ndarray, TADWProblem],
) -> None:
    M, features, made = problem
    rng = np.random.default_rng(1)
    W, H = rng.normal(size=(30, 4)), rng.normal(size=(4, 6))
    assert made.cost(W, H) + (M**2).sum() == pytest.approx(dense_cost(M, made.features, W, H))
    assert np.allclose(made.features @ made.features.T, features @ features.T)


def test_both_steps_are_minima(problem: tuple[np.ndarray, np.ndarray, TADWProblem]) -> None:
    M, _, made = problem
    rng = np.random.default_rng(1)
    H = rng.normal(size=(4, 6))
    W = made.best_w(H)
    for _ in range(5):
        shift = rng.normal(size=W.shape) * 1e-4
        ahead, behind = (dense_cost(M, made.features, W + sign * shift, H) for sign in (1, -1))
        assert min(ahead, behind) > dense_cost(M, made.features, W, H)
        assert ahead == pytest.approx(behind, abs=1e-9)  # no slope is left
    H = made.best_h(W)
    for _ in range(5):
        shift = rng.normal(size=H.shape) * 1e-4
        ahead, behind = (dense_cost(M, made.features, W, H + sign * shift) for sign in (1, -1))
        assert min(ahead, behind) > dense_cost(M, made.features, W, H)
        assert ahead == pytest.approx(behind, abs=1e-9)


def test_the_start_beats_random_ones(problem: tuple[np.ndarray, np.ndarray, TADWProblem]) -> None:
    _, _, made = problem
    H = made.start(4)
    rng = np.random.default_rng(2)
    ours = made.cost(made.best_w(H), H)
    for _ in range(10):
        other = rng.normal(size=H.shape)
        other *= np.linalg.norm(H) / np.linalg.norm(other)
        assert ours < made.cost(made.best_w(other), other)


def test_the_loss_falls_in_every_round_and_tol_ends_it() -> None:
    graph = unseen.planted_partition(200, 4, random_state=0).graph
    history = TADW(n_components=20, max_iter=15, tol=0.0, random_state=0).fit(graph).loss_history_
    assert len(history) == 15
    assert (np.diff(history) <= 1e-9 * abs(history[0])).all()
    assert len(TADW(n_components=20, max_iter=15, tol=0.5, random_state=0).fit(graph).loss_history_) == 2


def test_classes_are_found_and_halves_normalised() -> None:
    data = unseen.planted_partition(300, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
    embedding = TADW(n_components=33, random_state=0).fit_transform(data.graph)
    assert unseen.evaluate(embedding, data.labels, split, random_state=0).micro_f1 > 0.9
    linked = ~data.graph.isolated
    assert np.allclose(np.linalg.norm(embedding.vectors[linked, :17], axis=1), 1, atol=1e-5)
    assert np.allclose(np.linalg.norm(embedding.vectors[linked, 17:], axis=1), 1, atol=1e-5)


def test_a_node_without_edges_is_placed_by_its_features() -> None:
    data = unseen.planted_partition(200, 3, random_state=0)
    matrix = data.graph.adjacency.tolil()
    matrix[0, :] = 0
    matrix[:, 0] = 0
    graph = unseen.Graph(matrix.tocsr(), data.graph.features)
    vectors = TADW(n_components=20, random_state=0).fit_transform(graph).vectors
    assert not vectors[0, :10].any()
    assert np.linalg.norm(vectors[0, 10:]) == pytest.approx(1, abs=1e-5)


def test_parameters_reach_their_use() -> None:
    graph = unseen.planted_partition(100, 3, random_state=0).graph
    base = TADW(n_components=8, random_state=0).fit_transform(graph).vectors
    for change in ({"lam": 5.0}, {"max_iter": 1}, {"normalize_features": True}):
        other = TADW(n_components=8, random_state=0, **change).fit_transform(graph).vectors
        assert not np.allclose(base @ base.T, other @ other.T, atol=1e-3)
    with pytest.raises(
        unseen.InputError, match="`n_components` of TADW is 500, but at most 200 are possible"
    ):
        TADW(n_components=500).fit(graph)


def test_a_graph_without_edges_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    graph = unseen.Graph.from_edges([], [], nodes=list(range(5)), features=np.eye(5))
    assert not TADW(n_components=4, random_state=0).fit_transform(graph).vectors.any()
    assert "tadw: the graph has no edges between different nodes, so all vectors are zero" in caplog.text


def test_too_many_columns_are_refused_for_the_reason_there_is() -> None:
    few = unseen.planted_partition(60, 2, random_state=0).graph
    with pytest.raises(unseen.InputError, match=r"at most \d+ are possible: there are 60 nodes"):
        TADW(n_components=500).fit(few)
    many = unseen.planted_partition(300, 2, random_state=0).graph
    features = np.random.default_rng(0).random((300, 220))
    wide = unseen.Graph(many.adjacency, features=features)
    with pytest.raises(
        unseen.InputError, match="at most 400 are possible: features are reduced to 200 dimensions"
    ):
        TADW(n_components=500).fit(wide)
