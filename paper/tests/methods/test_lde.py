"""LDE: exact gradient of the label term, class vectors that attract their nodes, no labels: links alone."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import unseen
from unseen_paper.methods.lde import LDE, label_gradient


def test_the_label_gradient_is_that_of_the_cross_entropy() -> None:
    rng = np.random.default_rng(0)
    vectors, centres, classes = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), np.array([0, 3, 1, 1, 2])

    def cost() -> float:
        scores = vectors @ centres.T
        chosen = np.exp(scores)[np.arange(5), classes] / np.exp(scores).sum(axis=1)
        return -float(np.log(chosen).sum())

    loss, of_vectors, of_centres = label_gradient(vectors, centres, classes)
    assert loss == pytest.approx(cost())
    for parameter, gradient in ((vectors, of_vectors), (centres, of_centres)):
        for place in np.ndindex(parameter.shape):
            kept = parameter[place]
            parameter[place] = kept + 1e-6
            above = cost()
            parameter[place] = kept - 1e-6
            below = cost()
            parameter[place] = kept
            assert gradient[place] == pytest.approx((above - below) / 2e-6, abs=1e-6)


@pytest.mark.slow
def test_the_objective_falls_and_classes_are_found_with_one_hidden() -> None:
    data = unseen.planted_partition(300, 4, degree_within=10, degree_between=2, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
    lde = LDE(n_components=32, random_state=0).fit(data.graph, split.seen_labels)
    assert np.mean(lde.loss_history_[-10:]) < 0.96 * lde.loss_history_[0]
    assert unseen.evaluate(lde.embedding_, data.labels, split, random_state=0).micro_f1 > 0.8


@pytest.mark.slow
def test_a_heavier_label_term_gathers_the_classes() -> None:
    data = unseen.planted_partition(150, 3, degree_within=3, degree_between=3, random_state=0)
    truth, spread = data.labels.codes, []
    for alpha in (0.0, 10.0):
        lde = LDE(n_components=8, alpha=alpha, epochs=100, random_state=0)
        vectors = lde.fit_transform(data.graph, data.labels).vectors
        centres = np.array([vectors[truth == c].mean(axis=0) for c in range(3)])
        spread.append(((vectors - centres[truth]) ** 2).sum() / ((vectors - vectors.mean(axis=0)) ** 2).sum())
    assert spread[1] < 0.5 * spread[0]


def test_without_labels_the_links_are_learned_from_with_a_notice(caplog: pytest.LogCaptureFixture) -> None:
    data = unseen.planted_partition(150, 3, random_state=0)
    lde = LDE(n_components=8, epochs=30, random_state=0)
    with caplog.at_level(logging.INFO, logger="unseen"):
        plain = lde.fit_transform(data.graph).vectors
    assert "only the links" in caplog.text
    weightless = LDE(n_components=8, epochs=30, alpha=0.0, random_state=0)
    assert np.array_equal(plain, weightless.fit_transform(data.graph, data.labels).vectors)


def test_several_labels_per_node_are_refused() -> None:
    graph = unseen.planted_partition(30, 2, random_state=0).graph
    with pytest.raises(
        unseen.UnsupportedError, match="lde takes one label per node and some nodes have several"
    ):
        LDE().fit(graph, [["a", "b"]] + ["a"] * 29)


def test_a_node_without_edge_or_label_gets_the_zero_vector() -> None:
    graph = unseen.Graph.from_edges(["a"], ["b"], nodes=["a", "b", "labelled", "unknown"])
    vectors = (
        LDE(n_components=4, epochs=20, random_state=0).fit_transform(graph, ["x", "y", "x", None]).vectors
    )
    assert not vectors[3].any()
    assert vectors[2].any()


def test_a_graph_without_edges_gives_zero_vectors_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    graph = unseen.Graph.from_edges([], [], nodes=list(range(4)))
    labels = unseen.Labels.from_values(["a", "a", "b", "b"])
    model = LDE(n_components=3, random_state=0)
    assert not model.fit_transform(graph, labels).vectors.any()
    assert model.loss_history_ == []
    assert "lde: the graph has no edges between different nodes, so all vectors are zero" in caplog.text
