"""APPNP: the propagation, its dropout, the validation nodes and the stop."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.svm import LinearSVC

import unseen
from unseen.engine.run import Run
from unseen.methods.neural.draws import Draws
from unseen.methods.neural.gcn import Inputs, Targets
from unseen.methods.neural.tensors import SparseProduct
from unseen_paper.methods.appnp import APPNP, hold_out, thinned_spread

CPU = torch.device("cpu")


def planted(n: int = 90, *, seed: int = 0) -> unseen.Graph:
    """Three groups in the edges and in the words, the last node isolated."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    chance = np.where(group[:, None] == group[None, :], 0.15, 0.02)
    upper = np.triu(rng.random((n, n)) < chance, 1).astype(float)
    adjacency = upper + upper.T
    adjacency[-1] = adjacency[:, -1] = 0
    words = (rng.random((n, 40)) < np.where(np.arange(40) % 3 == group[:, None], 0.3, 0.1)).astype(float)
    words[:, 0] = 1.0
    return unseen.Graph(sp.csr_array(adjacency), sp.csr_array(words))


def some_labels(graph: unseen.Graph) -> unseen.Labels:
    values = [f"c{i % 3}" if i % 2 else None for i in range(graph.n_nodes)]
    return unseen.Labels.from_values(values, graph.node_ids)


@pytest.mark.parametrize("propagate", [True, False])
def test_the_vectors_are_the_hidden_layer_spread_like_the_predictions(propagate: bool) -> None:
    graph = planted()
    method = APPNP(n_components=12, steps=4, teleport=0.3, propagate=propagate, epochs=5, random_state=0)
    method.fit(graph, some_labels(graph))
    x = graph.features.toarray()
    weight = method.network_[0].detach().numpy().astype(float)
    start = np.maximum(x / x.sum(axis=1, keepdims=True) @ weight, 0)
    z = start
    for _ in range(4 if propagate else 0):
        z = 0.7 * Run().matrix(graph.adjacency).gcn_normalized().local.toarray() @ z + 0.3 * start
    np.testing.assert_allclose(method.embedding_.vectors, z, rtol=1e-3, atol=1e-5)


def test_the_propagation_is_pytorch_geometrics() -> None:
    pyg = pytest.importorskip("torch_geometric.nn")
    graph = planted(40)
    coo = graph.adjacency.tocoo()
    edges = torch.tensor(np.array([coo.row, coo.col]), dtype=torch.int64)
    x = torch.randn(40, 5, generator=torch.Generator().manual_seed(0))
    expected = pyg.APPNP(K=10, alpha=0.1)(x, edges)
    inputs = Inputs.read(graph, row_normalize=True, seed=0, device=CPU)
    torch.testing.assert_close(APPNP()._spread(x, inputs), expected, rtol=1e-4, atol=1e-5)


def propagation(n: int) -> SparseProduct:
    return SparseProduct(Run().matrix(planted(n).adjacency, symmetric=True).gcn_normalized(), CPU)


def edge_draws(ahat: SparseProduct) -> Draws:
    return Draws(np.arange(ahat.nnz, dtype=np.uint64), CPU)


def dropped_matrices(ahat: SparseProduct, steps: int) -> list[torch.Tensor]:
    """Return, dense, the thinned adjacency of each step that fresh draws lead to."""
    masks, scale = edge_draws(ahat).keep(steps, 0.5)
    return [ahat.thin(mask, scale).multiply(torch.eye(ahat.shape[1])) for mask in masks.T]


def test_every_step_drops_other_edges_of_the_whole_adjacency() -> None:
    ahat = propagation(90)
    dropped = dropped_matrices(ahat, 10)
    assert all(0.4 < int(A.count_nonzero()) / ahat.nnz < 0.6 for A in dropped)
    assert not torch.equal(dropped[0], dropped[4])
    x = torch.randn(90, 2, generator=torch.Generator().manual_seed(1))
    z = x
    for A in dropped:
        z = 0.9 * A @ z + 0.1 * x
    spread = thinned_spread(x, ahat, 10, 0.1, 0.5, edge_draws(ahat))
    torch.testing.assert_close(spread, z, rtol=1e-4, atol=1e-5)


def test_the_gradient_goes_back_through_the_edges_that_were_kept_in_each_step() -> None:
    ahat = propagation(20)
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(1), requires_grad=True)
    upstream = torch.randn(20, 3, generator=torch.Generator().manual_seed(2))
    thinned_spread(x, ahat, 2, 0.1, 0.5, edge_draws(ahat)).backward(upstream)
    first, second = dropped_matrices(ahat, 2)
    whole = 0.9 * second @ (0.9 * first + 0.1 * torch.eye(20)) + 0.1 * torch.eye(20)
    torch.testing.assert_close(x.grad, whole.T @ upstream, rtol=1e-4, atol=1e-5)


def keys_of(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(2**63, size=60).astype(np.uint64)


@pytest.mark.parametrize("several", [False, True])
def test_validation_nodes_are_held_out_and_leave_every_class_one(several: bool) -> None:
    values = [
        ["a", "b"] if several and i == 0 else ["a"] if i < 40 else ["b"] if i < 43 else None
        for i in range(60)
    ]
    targets = Targets.from_labels(unseen.Labels.from_values(values), CPU)
    for seed in range(20):
        training, validation = hold_out(targets, 0.2, keys_of(seed))
        assert sorted([*training.rows.tolist(), *validation.rows.tolist()]) == list(range(43))
        assert len(validation.rows) == 9
        assert set(training.rows.tolist()) & {40, 41, 42}


def test_a_class_that_only_stands_beside_others_keeps_a_training_node() -> None:
    values = [["a", "b"] if i < 2 else ["a"] for i in range(30)]
    targets = Targets.from_labels(unseen.Labels.from_values(values), CPU)
    sizes = set()
    for seed in range(40):
        training, validation = hold_out(targets, 0.5, keys_of(seed))
        assert training.values[:, 1].sum() >= 1
        assert sorted([*training.rows.tolist(), *validation.rows.tolist()]) == list(range(30))
        sizes.add(len(validation.rows))
    assert sizes == {14, 15}, "one node goes back where both had been drawn"


def test_where_nothing_can_be_held_out_the_training_nodes_decide() -> None:
    targets = Targets.from_labels(unseen.Labels.from_values(["a", "b", None]), CPU)
    training, validation = hold_out(targets, 0.2, keys_of(0))
    assert training is targets
    assert validation is targets


@pytest.mark.slow
def test_it_stops_when_validation_stops_improving_and_goes_back_to_the_best() -> None:
    graph = planted()
    plain = {"n_components": 8, "epochs": 500, "learning_rate": 0.1, "weight_decay": 0.0, "random_state": 0}
    method = APPNP(**plain, patience=2).fit(graph, some_labels(graph))
    longer = APPNP(**plain, patience=10).fit(graph, some_labels(graph))
    assert 2 < len(method.loss_history_) < len(longer.loss_history_) < 500
    last = []

    def remember(epoch: unseen.engine.steps.Epoch) -> None:
        last[:] = [epoch.vectors()]

    again = APPNP(**plain, patience=2, callbacks=[remember])
    again.fit(graph, some_labels(graph))
    np.testing.assert_array_equal(again.embedding_.vectors, method.embedding_.vectors)
    assert not np.array_equal(last[0], again.embedding_.vectors)


def test_it_learns_to_tell_the_classes_apart() -> None:
    graph = planted(150)
    labels = some_labels(graph)
    z = (
        APPNP(n_components=16, epochs=60, learning_rate=0.05, random_state=0)
        .fit_transform(graph, labels)
        .vectors
    )
    truth, known = np.arange(150) % 3, labels.codes >= 0
    assert LinearSVC(C=100.0).fit(z[known], truth[known]).score(z[~known], truth[~known]) > 0.9


@pytest.mark.parametrize(
    "change",
    [
        {"dropout": 0.0},
        {"weight_decay": 0.5},
        {"learning_rate": 0.1},
        {"steps": 1},
        {"teleport": 0.5},
        {"validation_share": 0.5},
        {"row_normalize": False},
        {"propagate": False},
    ],
)
def test_every_parameter_reaches_its_use(change: dict[str, object]) -> None:
    graph = planted()
    plain = {"n_components": 8, "epochs": 60, "random_state": 2}
    a = APPNP(**plain).fit_transform(graph, some_labels(graph)).vectors
    b = APPNP(**{**plain, **change}).fit_transform(graph, some_labels(graph)).vectors
    assert not np.allclose(a, b, rtol=1e-3)


def test_several_labels_stop_on_the_loss() -> None:
    graph = planted()
    values = [["a", "b"] if i % 4 == 0 else ["c"] if i % 3 else None for i in range(graph.n_nodes)]
    method = APPNP(n_components=8, patience=3, learning_rate=0.1, random_state=0).fit(graph, values)
    assert method.loss_history_[-1] < method.loss_history_[0]
    assert len(method.loss_history_) < 10_000
