"""RECT(DW) and joint RECT; rows of length 1 before the SVD of RECT-L."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import unseen
from unseen.engine.comm import Comm
from unseen.engine.run import Run
from unseen.methods.neural.rect import structure_loss, walk_size
from unseen.methods.neural.rect_dw import RECTNDW, DeepWalkLoss, WalkSampler
from unseen.methods.neural.rect_l import are_weights, normalized_matrix
from unseen.methods.neural.rect_losses import StructureLoss

CPU = torch.device("cpu")


def sampler_of(graph: unseen.Graph) -> WalkSampler:
    keys = np.arange(graph.n_nodes, dtype=np.uint64)
    return WalkSampler(graph.adjacency, keys, 0, CPU)


def purity(vectors, codes) -> float:
    """How often a node's nearest node is of its class."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = unit @ unit.T
    np.fill_diagonal(near, -2)
    return float((codes[near.argmax(axis=1)] == codes).mean())


@pytest.mark.parametrize("context", [False, True])
def test_deepwalk_gradients_equal_autograd(context):
    rng = np.random.default_rng(0)
    graph = unseen.random_graph(30, random_state=0)
    centre, other = rng.integers(30, size=(2, 400))
    sign = np.where(np.arange(400) < 70, 1, -1).astype(np.float32)
    U, K = (torch.from_numpy(rng.normal(size=(30, 5)).astype(np.float32)) for _ in range(2))
    centre, other, sign = (torch.from_numpy(array) for array in (centre, other, sign))
    sampler = sampler_of(graph)
    loss = DeepWalkLoss(list, sampler.noise, 5, K if context else None, Run())
    value, (gradient, *others) = loss.compute(centre, other, sign, U, *(K.detach(),) * context)
    u, k = (part.detach().double().requires_grad_() for part in (U, K))
    inner = (u[centre] * (k if context else u)[other]).sum(dim=1)
    truth = -torch.nn.functional.logsigmoid(inner * sign).sum() / 70
    truth.backward()
    assert value == pytest.approx(truth.item(), rel=1e-5)
    np.testing.assert_allclose(gradient, u.grad, atol=1e-5)
    assert len(others) == context
    if context:
        np.testing.assert_allclose(others[0], k.grad, atol=1e-5)


def test_every_pair_has_its_noise_and_isolated_nodes_are_no_trouble():
    sampler = sampler_of(unseen.random_graph(30, random_state=0))
    loss = DeepWalkLoss(list, sampler.noise, 3, None, Run())
    centre, other, sign = loss.with_noise(torch.tensor([4, 7]), torch.tensor([5, 8]))
    assert centre.tolist() == [4, 7] * 4
    assert other[:2].tolist() == [5, 8]
    assert sign.tolist() == [1, 1] + [-1] * 6
    lonely = unseen.Graph.from_edges([], [], nodes=range(4))
    sampler = sampler_of(lonely)
    nothing = DeepWalkLoss(lambda: sampler.pairs(1, 40, 5, 5), sampler.noise, 3, torch.ones(4, 2), Run())
    U = torch.ones(4, 2, requires_grad=True)
    value = nothing(U)
    assert value.item() == 0
    assert not any(gradient.any() for gradient in torch.autograd.grad(value, [U, *nothing.weights]))


@pytest.mark.slow
@pytest.mark.parametrize("context", [False, True])
def test_rect_dw_learns_the_structure(planted, context):
    graph = unseen.Graph(planted.graph.adjacency, None)
    untrained = RECTNDW(n_components=16, epochs=0, random_state=0).fit_transform(graph).vectors
    method = RECTNDW(n_components=16, epochs=150, learning_rate=0.02, context=context, random_state=0)
    trained = method.fit_transform(graph).vectors
    assert np.mean(method.loss_history_[-10:]) < 0.99 * np.mean(method.loss_history_[:3])
    assert purity(trained, planted.labels.codes) > purity(untrained, planted.labels.codes) + 0.05


@pytest.mark.slow
def test_rect_dw_is_rect_with_another_structure_half(planted, split):
    options = {"n_components": 10, "epochs": 5, "random_state": 0}
    plain = unseen.RECT(**options).fit_transform(planted.graph, split.seen_labels).vectors
    method = unseen.RECTDW(**options)
    vectors = method.fit_transform(planted.graph, split.seen_labels).vectors
    np.testing.assert_array_equal(vectors[:, :5], plain[:, :5])
    assert not np.allclose(vectors[:, 5:], plain[:, 5:])
    changes = {
        "n_walks": 500,
        "walk_length": 5,
        "window": 1,
        "n_negatives": 1,
        "pairs_per_node": 1,
        "context": True,
    }
    for name, value in changes.items():
        other = unseen.RECTDW(**options, **{name: value}).fit_transform(planted.graph, split.seen_labels)
        assert not np.array_equal(other.vectors[:, 5:], vectors[:, 5:]), name


def test_joint_rect_has_its_two_ends(planted, split, caplog):
    options = {"n_components": 12, "epochs": 10, "random_state": 5}
    structure = unseen.RECTN(**options).fit_transform(planted.graph).vectors
    alone = unseen.RECTJoint(balance=0.0, **options).fit_transform(planted.graph, split.seen_labels).vectors
    unlabelled = unseen.RECTJoint(**options).fit_transform(planted.graph).vectors
    assert "no labels, so only the structure" in caplog.text
    for joint in (
        alone,
        unlabelled,
    ):  # Adam does not mind that the loss is divided by a constant, but for its epsilon
        np.testing.assert_allclose(joint, structure, atol=1e-3 * np.abs(structure).max())
    semantic = unseen.RECTJoint(balance=1.0, **options).fit(planted.graph, split.seen_labels)
    assert semantic.loss_history_[0] < 3
    assert not np.allclose(semantic.embedding_.vectors, structure)


@pytest.mark.slow
def test_joint_rect_lowers_both_losses_and_serves_unseen_classes(planted, split):
    for options in ({"balance": 0.5}, {"balance": 0.5, "input": "svd"}):
        method = unseen.RECTJoint(random_state=0, **options).fit(planted.graph, split.seen_labels)
        assert method.loss_history_[-1] < 0.9 * method.loss_history_[0]
        assert purity(method.embedding_.vectors, planted.labels.codes) > 0.8
        same = method.transform(planted.graph).vectors
        np.testing.assert_allclose(same, method.embedding_.vectors, atol=1e-3)
    assert set(method.class_descriptions_) == {"c0", "c1", "c2"}


def test_the_size_of_the_walk_matrix_is_estimated_well(planted):
    structure = StructureLoss([Run().matrix(planted.graph.adjacency)], CPU)
    exact = walk_size(planted.graph, structure, Run().with_seed(0))
    assert exact == structure.constant
    structure.has_constant = False
    assert walk_size(planted.graph, structure, Run().with_seed(0)) == pytest.approx(exact, rel=0.1)


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

        size = 2

        def __init__(self, *theirs: float) -> None:
            self.theirs = list(theirs)

        def sum_(self, array):
            return array + self.theirs.pop(0)

    def with_others(*theirs: float) -> Run:
        run = Run()
        run.comm = Other(*theirs)
        return run

    words = np.array([[0.0, 1.0]])
    assert not are_weights(words, Run())
    assert are_weights(words, with_others(0, 1)), "the counts are elsewhere"
    assert not are_weights(2 * words, with_others(1, 1)), "the negative value is elsewhere"


def test_a_node_averages_over_the_relations_that_it_has_edges_in() -> None:
    """Of five nodes, an author writes two papers, one of which has a venue; the last node has no edge."""
    writes, appears = np.zeros((2, 5, 5))
    writes[0, 1] = writes[0, 2] = appears[1, 3] = 1.0
    relations = [
        unseen.Relation("writes", "author", "paper", writes),
        unseen.Relation("appears", "paper", "venue", appears),
    ]
    types = ["author", "paper", "paper", "venue", "venue"]
    features = {kind: np.eye(types.count(kind)) for kind in ("author", "paper", "venue")}
    graph = unseen.Graph.from_relations(relations, list("abcde"), types, features)
    parts = []
    for matrix in (writes, appears):
        looped = matrix + matrix.T + np.eye(5)
        scale = looped.sum(axis=1) ** -0.5
        parts.append(scale[:, None] * looped * scale)
    expected = np.where(np.arange(5)[:, None] == 3, parts[1], parts[0])
    expected[1] = (parts[0][1] + parts[1][1]) / 2
    with Run().for_graph(graph, 0) as run:
        found = normalized_matrix(graph.plain, run).local.toarray()
        loss = structure_loss(graph.plain, CPU, run)
        U = torch.rand(5, 2)
        losses = [
            StructureLoss([run.matrix(sp.csr_array(m + m.T), symmetric=True)], CPU)(U)
            for m in (writes, appears)
        ]
        assert float(loss(U)) == pytest.approx(float(sum(losses)) / 2)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    labels = ["x", None, None, None, None]
    method = unseen.RECT(n_components=4, epochs=2, random_state=0).fit(graph, labels)
    np.testing.assert_allclose(method.transform(graph).vectors, method.embedding_.vectors, atol=1e-6)
