"""The fast losses and layers, and their gradients, against the plain dense definition in float64."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import unseen
from oracles import rect as dense_rect
from unseen.engine.run import Run
from unseen.methods.neural.rect_losses import SemanticLoss, StructureLoss
from unseen.methods.neural.tensors import Encoder, SparseProduct, input_weights, xavier

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
    U.requires_grad_()
    loss = StructureLoss([Run().matrix(graph.adjacency)], CPU)(U)
    (gradient,) = torch.autograd.grad(loss, U)
    exact = U.detach().double().requires_grad_()
    truth = dense_rect.structure_loss(exact, dense_rect.walk_matrix(graph, torch.float64))
    truth.backward()
    assert loss.item() == pytest.approx(truth.item(), rel=1e-5)
    assert relative(gradient, exact.grad) < 1e-5


def test_the_constant_is_left_out_where_a_hub_makes_it_expensive():
    star = unseen.Graph.from_edges([0] * 5000, range(1, 5001))
    loss = StructureLoss([Run().matrix(star.adjacency)], CPU)
    assert not loss.has_constant
    U = torch.zeros(5001, 2)
    assert loss(U).item() == 0
    assert StructureLoss([Run().matrix(odd_graph().adjacency)], CPU).has_constant


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("widths", [(4,), (7, 4), (6, 5, 4)])
@pytest.mark.parametrize("kind", ["sparse", "dense", "identity", "none"])
def test_layers_and_their_gradients_equal_the_dense_definition(widths, kind, threads):
    graph, run = odd_graph(), Run(threads=threads)
    run.cuts = lambda n: [
        (start, min(start + 7, n)) for start in range(0, n, 7)
    ]  # several blocks of few rows
    rng = np.random.default_rng(0)
    rows = graph.features.toarray().astype(np.float32) if kind != "identity" else np.eye(40, dtype=np.float32)
    encoder = Encoder.start(
        [xavier(a, b, rng) for a, b in zip([rows.shape[1], *widths], widths, strict=False)], CPU
    )
    for weight in encoder.weights[1::3]:
        weight.data += torch.from_numpy(rng.normal(size=len(weight)).astype(np.float32))
    leaves = [weight.detach().double().requires_grad_() for weight in encoder.weights]
    ahat = dense_rect.propagation_matrix(graph, torch.float64) if kind != "none" else torch.eye(40).double()
    H = torch.from_numpy(rows).double()
    for W, b, slope in zip(leaves[::3], leaves[1::3], leaves[2::3], strict=True):
        H = torch.nn.functional.prelu(ahat @ (H @ W) + b, slope)
    direction = torch.from_numpy(rng.normal(size=H.shape))
    (H * direction).sum().backward()
    make_room = run.zeros if len(widths) == 1 else None
    ahat = run.matrix(graph.adjacency, symmetric=True).gcn_normalized()
    product = SparseProduct(ahat, CPU, make_room=make_room)
    features = SparseProduct(run.matrix(graph.features), CPU) if kind == "sparse" else torch.from_numpy(rows)
    given = (None if kind == "identity" else features), None if kind == "none" else product
    for _ in range(2):  # the second round may work in the memory of the first
        output = encoder(*given, run)
        assert relative(output.detach(), H.detach()) < 1e-5
        found = torch.autograd.grad((output * direction.float()).sum(), encoder.weights)
    for gradient, leaf in zip(found, leaves, strict=True):
        assert relative(gradient, leaf.grad) < 1e-5


def test_a_product_on_a_gpu_of_apple_s_is_the_same():
    graph = odd_graph()
    product = SparseProduct(Run().matrix(graph.adjacency), CPU)
    V = torch.from_numpy(np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32))
    expected = product.multiply(V)
    product.device = torch.device("mps")
    torch.testing.assert_close(product.multiply(V), expected)
    torch.testing.assert_close(product.multiply(V, out=expected.clone(), add=True), 2 * expected)


@pytest.mark.parametrize("classes", [2, 7])
def test_semantic_loss_and_gradients_equal_the_dense_definition(classes):
    rng = np.random.default_rng(0)
    H, F, C = (rng.normal(size=shape).astype(np.float32) for shape in [(600, 5), (5, 3), (classes, 3)])
    R = sp.csr_array(rng.dirichlet(np.ones(classes), 600))
    loss = SemanticLoss(R, C, F, CPU, Run())
    loss.weights[1].data += 0.3
    hidden = torch.from_numpy(H).requires_grad_()
    value = loss(hidden)
    found = torch.autograd.grad(2 * value, [hidden, *loss.weights])
    leaves = [torch.from_numpy(part).double().requires_grad_() for part in (H, F)]
    leaves.append(loss.weights[1].detach().double().requires_grad_())
    truth = ((leaves[0] @ leaves[1] + leaves[2] - torch.from_numpy(R @ C)) ** 2).sum() / 600
    (2 * truth).backward()
    assert value.item() == pytest.approx(truth.item(), rel=1e-5)
    for gradient, leaf in zip(found, leaves, strict=True):
        assert relative(gradient, leaf.grad) < 1e-5


def test_the_loss_of_a_good_fit_is_not_lost_to_rounding():
    rng = np.random.default_rng(0)
    H, F = (rng.normal(size=shape).astype(np.float32) for shape in [(600, 40), (40, 30)])
    targets = H.astype(float) @ F + 0.01 * rng.normal(size=(600, 30))
    loss = SemanticLoss(sp.csr_array(targets), np.eye(30), F, CPU, Run())
    assert loss(torch.from_numpy(H)).item() == pytest.approx(((H @ F - targets) ** 2).sum() / 600, rel=0.01)
    one = SemanticLoss(sp.csr_array(np.ones((600, 1))), np.full((1, 30), 2.0), np.zeros((40, 30)), CPU, Run())
    one.weights[1].data += 2.0
    assert one(torch.from_numpy(H)).item() == 0


def test_starting_weights_are_xavier_s_and_keyed_rows_follow_their_node():
    W = xavier(100, 50, np.random.default_rng(0))
    bound = np.sqrt(6 / 150)
    assert np.abs(W).max() <= bound
    assert W.std() == pytest.approx(bound / np.sqrt(3), rel=0.03)
    adjacency = unseen.random_graph(200, random_state=0).adjacency
    K, turned = (
        input_weights(unseen.Graph(adjacency, None, ids), None, 50, Run().with_seed(0))
        for ids in (range(200), range(199, -1, -1))
    )
    assert K.std() == pytest.approx(np.sqrt(6 / 250) / np.sqrt(3), rel=0.03)
    assert np.array_equal(turned, K[::-1])
