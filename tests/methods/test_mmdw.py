"""MMDW: the pull is the SVM's own gradient, widens the margin, and without labels leaves MFDW."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import unseen
from unseen.methods.mmdw import margin_bias


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
    mmdw = unseen.MMDW(n_components=32, random_state=0).fit(data.graph, split.seen_labels)
    assert mmdw.loss_history_[-1] < 0.9 * mmdw.loss_history_[0]
    assert unseen.evaluate(mmdw.embedding_, data.labels, split, random_state=0).micro_f1 > 0.8


@pytest.mark.parametrize("values", [None, ["only"] * 5 + [None] * 115])
def test_without_two_classes_it_is_mfdw_and_says_so(values: object, caplog: pytest.LogCaptureFixture) -> None:
    graph = unseen.planted_partition(120, 3, random_state=0).graph
    mmdw = unseen.MMDW(n_components=8, random_state=0)
    with caplog.at_level(logging.WARNING, logger="unseen"):
        found = mmdw.fit_transform(graph, values).vectors
    assert "so this is mfdw" in caplog.text
    mfdw = unseen.MFDW(n_components=8, random_state=0, max_iter=5).fit_transform(graph).vectors
    assert np.allclose(np.abs(found @ found.T), np.abs(mfdw @ mfdw.T), atol=1e-3)


def test_parameters_reach_their_use() -> None:
    data = unseen.planted_partition(120, 3, random_state=0)

    def gram(**change: float) -> np.ndarray:
        vectors = (
            unseen.MMDW(n_components=8, random_state=0, **change)
            .fit_transform(data.graph, data.labels)
            .vectors
        )
        return np.asarray(vectors @ vectors.T)

    base = gram()
    for change in ({"alpha": 0.01}, {"lam": 0.3}, {"C": 0.01}, {"max_iter": 1}):
        assert np.abs(gram(**change) - base).max() > 0.01 * np.abs(base).max(), change


def test_several_labels_a_node_are_refused() -> None:
    graph = unseen.planted_partition(30, 2, random_state=0).graph
    with pytest.raises(
        unseen.UnsupportedError, match="mmdw takes one label a node and some nodes have several"
    ):
        unseen.MMDW().fit(graph, [["a", "b"]] + ["a"] * 29)
