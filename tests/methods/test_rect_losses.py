"""The fast losses and gradients against the dense definition, and the written-out gradients against autograd."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import unseen
from oracles import rect as dense_rect
from unseen.engine.run import Run
from unseen.methods.neural.gcn_encoder import Encoder, Input, SparseProduct, keyed_xavier, pick_device, xavier
from unseen.methods.neural.rect_losses import SemanticLoss, StructureLoss

CPU = torch.device("cpu")


def odd_graph(n: int = 40, seed: int = 0) -> unseen.Graph:
    """Weighted, with a self-loop and isolated nodes."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < 0.12, 1) * rng.uniform(0.2, 3.0, (n, n))
    adjacency = upper + upper.T
    adjacency[[5, -1]] = 0
    adjacency[:, [5, -1]] = 0
    adjacency[2, 2] = 1.5
    return unseen.Graph(sp.csr_array(adjacency), sp.csr_array(sp.random_array((n, 25), density=0.2, rng=rng)))


def relative(a, b) -> float:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return float(np.abs(a - b).max() / np.abs(b).max())


def test_structure_loss_and_gradient_equal_the_dense_definition():
    graph = odd_graph()
    U = torch.from_numpy(np.random.default_rng(1).normal(size=(40, 6)).astype(np.float32))
    loss, gradient, _ = StructureLoss(Run().matrix(graph.adjacency), CPU)(U)
    exact = U.double().requires_grad_()
    truth = dense_rect.structure_loss(exact, dense_rect.walk_matrix(graph, torch.float64))
    truth.backward()
    assert loss == pytest.approx(float(truth.detach()), rel=1e-5)
    assert relative(gradient, exact.grad) < 1e-5


def test_structure_gradient_agrees_with_finite_differences():
    graph = odd_graph()
    M = dense_rect.walk_matrix(graph, torch.float64)
    U = np.random.default_rng(1).normal(size=(40, 3))
    _, gradient, _ = StructureLoss(Run().matrix(graph.adjacency), CPU)(torch.from_numpy(U.astype(np.float32)))
    for i, j in [(0, 0), (2, 1), (5, 2), (39, 0)]:
        step = np.zeros_like(U)
        step[i, j] = 1e-5
        above, below = (float(dense_rect.structure_loss(torch.from_numpy(U + s * step), M)) for s in (1, -1))
        assert float(gradient[i, j]) == pytest.approx((above - below) / 2e-5, rel=1e-4)


def test_the_constant_is_left_out_where_a_hub_makes_it_expensive():
    star = unseen.Graph.from_edges([0] * 5000, range(1, 5001))
    loss = StructureLoss(Run().matrix(star.adjacency), CPU)
    assert not loss.has_constant
    U = torch.zeros(5001, 2)
    assert loss(U)[0] == 0
    assert StructureLoss(Run().matrix(odd_graph().adjacency), CPU).has_constant


@pytest.mark.parametrize("widths", [(4,), (7, 4), (6, 5, 4)])
@pytest.mark.parametrize("kind", ["sparse", "dense", "identity"])
def test_gradients_of_the_encoder_equal_autograd(widths, kind):
    graph = odd_graph()
    rng = np.random.default_rng(0)
    columns = 40 if kind == "identity" else 25
    weights = [xavier(a, b, rng) for a, b in zip([columns, *widths], widths, strict=False)]
    dense = (
        np.eye(40, dtype=np.float32) if kind == "identity" else graph.features.toarray().astype(np.float32)
    )
    features = {"sparse": Run().matrix(graph.features), "dense": dense, "identity": None}[kind]
    encoder, ahat = Encoder(weights, CPU), SparseProduct(Run().matrix(graph.adjacency).gcn_normalized(), CPU)
    for layer in encoder.layers:
        layer.b += torch.from_numpy(rng.normal(size=len(layer.b)).astype(np.float32))
    leaves = [weight.double().requires_grad_() for weight in encoder.weights]
    H = torch.from_numpy(dense).double()
    for W, b, slope in zip(leaves[::3], leaves[1::3], leaves[2::3], strict=True):
        P = dense_rect.propagation_matrix(graph, torch.float64) @ (H @ W) + b
        H = torch.nn.functional.prelu(P, slope)
    direction = torch.from_numpy(rng.normal(size=H.shape))
    (H * direction).sum().backward()
    given = Input(features, CPU, Run())
    for _ in range(2):  # the second round works in the memory of the first
        assert relative(encoder.forward(given, ahat, Run()), H.detach()) < 1e-5
        found = encoder.backward(direction.float(), given, ahat, Run())
    for gradient, leaf in zip(found, leaves, strict=True):
        assert relative(gradient, leaf.grad) < 1e-5


@pytest.mark.parametrize("classes", [2, 7])
def test_semantic_loss_and_gradients_equal_autograd(classes):
    rng = np.random.default_rng(0)
    H, F, C = (rng.normal(size=shape).astype(np.float32) for shape in [(600, 5), (5, 3), (classes, 3)])
    R = sp.csr_array(rng.dirichlet(np.ones(classes), 600))
    loss = SemanticLoss(R, C, F, CPU, Run())
    loss.c += 0.3
    found, dH, (dF, dc) = loss(torch.from_numpy(H))
    leaves = [torch.from_numpy(part).double().requires_grad_() for part in (H, F)]
    c = loss.c.double().requires_grad_()
    truth = ((leaves[0] @ leaves[1] + c - torch.from_numpy(R @ C)) ** 2).sum() / 600
    truth.backward()
    assert found == pytest.approx(float(truth.detach()), rel=1e-5)
    for gradient, leaf in ((dH, leaves[0]), (dF, leaves[1]), (dc, c)):
        assert relative(gradient, leaf.grad) < 1e-5


def test_the_loss_of_a_good_fit_is_not_lost_to_rounding():
    rng = np.random.default_rng(0)
    H, F = (rng.normal(size=shape).astype(np.float32) for shape in [(600, 40), (40, 30)])
    targets = H.astype(float) @ F + 0.01 * rng.normal(size=(600, 30))
    loss = SemanticLoss(sp.csr_array(targets), np.eye(30), F, CPU, Run())
    assert loss(torch.from_numpy(H))[0] == pytest.approx(((H @ F - targets) ** 2).sum() / 600, rel=0.01)
    one = SemanticLoss(sp.csr_array(np.ones((600, 1))), np.full((1, 30), 2.0), np.zeros((40, 30)), CPU, Run())
    one.c += 2.0
    assert one(torch.from_numpy(H))[0] == 0


def test_an_epoch_on_labelled_rows_alone_has_the_gradients_of_autograd():
    rng = np.random.default_rng(0)
    rows, C = rng.normal(size=(500, 6)).astype(np.float32), rng.normal(size=(4, 7))
    encoder, features = Encoder([xavier(6, 5, rng)], CPU), Input(rows, CPU, Run())
    encoder.layers[0].b += 0.2
    R = np.eye(4)[rng.integers(0, 4, 500)]
    head = SemanticLoss(sp.csr_array(R), C, xavier(5, 7, rng), CPU, Run())
    loss, dH, by_head = head(encoder.forward(features, None, Run()))
    gradients = [*encoder.backward(dH, features, None, Run()), *by_head]
    leaves = [weight.double().requires_grad_() for weight in (*encoder.weights, *head.weights)]
    W, b, slope, F, c = leaves
    hidden = torch.nn.functional.prelu(torch.from_numpy(rows).double() @ W + b, slope)
    truth = ((hidden @ F + c - torch.from_numpy(R @ C)) ** 2).sum() / 500
    truth.backward()
    assert loss == pytest.approx(float(truth.detach()), rel=1e-6)
    for gradient, leaf in zip(gradients, leaves, strict=True):
        assert relative(gradient, leaf.grad) < 1e-5


def test_starting_weights_are_xavier_s_and_keyed_rows_follow_their_node():
    W = xavier(100, 50, np.random.default_rng(0))
    bound = np.sqrt(6 / 150)
    assert np.abs(W).max() <= bound
    assert W.std() == pytest.approx(bound / np.sqrt(3), rel=0.03)
    keys = np.arange(200, dtype=np.uint64)
    K = keyed_xavier(keys, 50, Run())
    assert K.std() == pytest.approx(np.sqrt(6 / 250) / np.sqrt(3), rel=0.03)
    assert np.array_equal(keyed_xavier(keys[::-1], 50, Run()), K[::-1])


def test_asking_for_a_gpu_that_is_not_there_gets_a_sentence():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(unseen.InputError, match="finds no GPU"):
        pick_device("cuda")
    assert pick_device("auto") == CPU
