"""LSHM: exact gradient, falling objective, labels and graph both heard."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen_paper.methods.lshm import LSHM, LSHMObjective


def small_problem() -> tuple[unseen.Graph, unseen.Labels]:
    edges = [(0, 1, 2.0), (1, 2, 1.0), (2, 3, 0.5), (0, 3, 1.0), (4, 4, 3.0)]
    src, dst, weight = zip(*edges, strict=True)
    graph = unseen.Graph.from_edges(src, dst, weight, nodes=range(5))
    return graph, unseen.Labels.from_values(["a", None, ["a", "b"], "c", None])


def test_the_gradient_is_that_of_the_objective() -> None:
    graph, labels = small_problem()
    rng = np.random.default_rng(0)
    objective = LSHMObjective.of(graph, labels, 0.7, Run())
    parameters = [rng.normal(size=(5, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)]

    def cost() -> float:
        vectors, weights, bias = parameters
        truth = np.where(labels.indicator.toarray(), 1, -1)
        hinge = np.maximum(0, 1 - truth * (vectors @ weights + bias))[labels.labelled].sum()
        upper = sp.triu(graph.adjacency, 1).tocoo()
        rough = sum(
            w * np.sum((vectors[i] - vectors[j]) ** 2)
            for i, j, w in zip(upper.row, upper.col, upper.data, strict=True)
        )
        return float(hinge + 0.7 * rough)

    loss, gradients = objective.gradient(*parameters)
    assert loss == pytest.approx(cost(), rel=1e-6)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        for place in np.ndindex(parameter.shape):
            kept = parameter[place]
            parameter[place] = kept + 1e-6
            above = cost()
            parameter[place] = kept - 1e-6
            below = cost()
            parameter[place] = kept
            assert gradient[place] == pytest.approx((above - below) / 2e-6, abs=1e-4)


def test_the_objective_falls_and_the_seen_classes_separate() -> None:
    data = unseen.planted_partition(300, 4, degree_within=8, degree_between=2, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
    lshm = LSHM(n_components=32, lam=1.0, random_state=0).fit(data.graph, split.seen_labels)
    assert lshm.loss_history_[-1] < 0.2 * lshm.loss_history_[0]
    assert len(lshm.loss_history_) == 100
    score = unseen.evaluate(lshm.embedding_, data.labels, split, random_state=0)
    assert score.micro_f1 > 0.8


def test_the_graph_makes_neighbours_alike() -> None:
    graph = unseen.planted_partition(150, 3, random_state=0).graph
    unrelated = np.random.default_rng(0).choice(["a", "b", "c"], 150)  # labels that pull neighbours apart
    edges, alike = graph.adjacency.tocoo(), []
    for lam in (0.0, 100.0):
        vectors = LSHM(n_components=8, lam=lam, random_state=0).fit_transform(graph, unrelated).vectors
        alike.append((vectors[edges.row] * vectors[edges.col]).sum(axis=1).mean())
    assert alike[0] == pytest.approx(0, abs=0.05)
    assert alike[1] > 0.15


def test_no_labels_are_refused_and_several_are_taken() -> None:
    graph, labels = small_problem()
    with pytest.raises(unseen.InputError, match="lshm learns from labels and there are none"):
        LSHM().fit(graph)
    assert LSHM(n_components=4, epochs=3, random_state=0).fit_transform(graph, labels).vectors.shape == (5, 4)


def test_vectors_have_length_one_around_the_mean() -> None:
    data = unseen.planted_partition(80, 2, random_state=0)
    vectors = LSHM(n_components=8, epochs=30, random_state=0).fit_transform(data.graph, data.labels).vectors
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert np.linalg.norm(vectors.mean(axis=0)) < 0.3, "what all nodes share has been taken away"
