"""GCN, and what it shares with APPNP and DGI: sparse products, dropout, inputs, targets."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.svm import LinearSVC

import unseen
from unseen.engine.run import Run
from unseen.methods.neural.draws import Draws
from unseen.methods.neural.gcn import Inputs, dropout, entry_keys
from unseen.methods.neural.tensors import SparseProduct
from unseen_paper.methods.stopping import EarlyStopping

CPU = torch.device("cpu")


def draws(n: int) -> Draws:
    return Draws(np.arange(n, dtype=np.uint64), CPU)


def product(matrix: sp.csr_array) -> SparseProduct:
    return SparseProduct(Run().matrix(sp.csr_array(matrix)), CPU)


def read(graph: unseen.Graph, *, row_normalize: bool = True) -> Inputs:
    return Inputs.read(graph, row_normalize=row_normalize, seed=0, device=CPU)


def planted(n: int = 90, *, features: bool = True, seed: int = 0) -> unseen.Graph:
    """Three groups with weights, a self-loop and an isolated node (the last)."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    chance = np.where(group[:, None] == group[None, :], 0.15, 0.02)
    upper = np.triu(rng.random((n, n)) < chance, 1) * rng.integers(1, 4, (n, n)).astype(float)
    adjacency = upper + upper.T
    adjacency[-1] = adjacency[:, -1] = 0
    adjacency[4, 4] = 2
    words = (rng.random((n, 40)) < np.where(np.arange(40) % 3 == group[:, None], 0.3, 0.1)).astype(float)
    return unseen.Graph(sp.csr_array(adjacency), sp.csr_array(words) if features else None)


def some_labels(graph: unseen.Graph) -> unseen.Labels:
    values = [f"c{i % 3}" if i % 2 else None for i in range(graph.n_nodes)]
    return unseen.Labels.from_values(values, graph.node_ids)


def row_normalized(x: np.ndarray) -> np.ndarray:
    total = x.sum(axis=1, keepdims=True)
    return np.divide(x, total, out=np.zeros_like(x), where=total != 0)


@pytest.mark.parametrize("features", [True, False, "dense"])
def test_training_on_what_labels_can_see_is_training_on_the_whole_graph(features, monkeypatch) -> None:
    graph = planted(features=bool(features))
    if features == "dense":
        graph = unseen.Graph(graph.adjacency, np.random.default_rng(0).normal(size=(graph.n_nodes, 7)))
    labels = unseen.Labels.from_values(
        [f"c{i % 3}" if i in (1, 2, 12, graph.n_nodes - 1) else None for i in range(graph.n_nodes)],
        graph.node_ids,
    )
    some = unseen.GCN(n_components=6, epochs=30, random_state=0).fit(graph, labels)
    rows = Inputs.read(graph, row_normalize=True, seed=0, device=CPU).restrict(torch.tensor([1, 2]))
    assert rows.last.shape[0] == 2 < rows.ahat.shape[0] < rows.x.shape[0] < graph.n_nodes
    monkeypatch.setattr(unseen.GCN, "_needed", lambda _self, inputs, targets: (inputs, targets))
    whole = unseen.GCN(n_components=6, epochs=30, random_state=0).fit(graph, labels)
    np.testing.assert_allclose(some.loss_history_, whole.loss_history_, rtol=1e-5)
    np.testing.assert_allclose(some.embedding_.vectors, whole.embedding_.vectors, rtol=1e-3, atol=1e-5)


def test_dropping_entries_keeps_matrix_and_transpose_together() -> None:
    x = sp.random_array((60, 50), density=0.3, rng=np.random.default_rng(0), format="csr")
    thinned = dropout(product(x), 0.25, draws(x.nnz))
    forward = thinned.multiply(torch.eye(50)).numpy()
    np.testing.assert_array_equal(forward, thinned.multiply_transposed(torch.eye(60)).numpy().T)
    kept = forward != 0
    np.testing.assert_allclose(forward[kept], x.toarray()[kept] / 0.75, rtol=1e-4)
    assert 0.7 < kept.sum() / x.nnz < 0.8


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_dropout_meets_its_share_and_leaves_the_mean(share: float) -> None:
    drawn = draws(2001)
    mask, scale = drawn.keep(101, share)
    assert mask.shape == (2001, 101)
    mask = mask.numpy()
    assert mask.mean() == pytest.approx(1 - share, abs=0.005)
    assert mask.mean(axis=0) == pytest.approx(1 - share, abs=0.05)
    assert scale == pytest.approx(1 / (1 - share), rel=1e-3)
    assert not np.array_equal(mask, drawn.keep(101, share)[0])
    values = torch.ones(100, 1000)
    assert dropout(values, share, draws(100)).mean().item() == pytest.approx(1.0, abs=0.05)
    assert dropout(values, 0.0, draws(100)) is values


def test_draws_belong_to_keys_and_to_their_use() -> None:
    keys = np.random.default_rng(0).integers(2**63, size=200).astype(np.uint64)
    order = np.random.default_rng(1).permutation(200)
    here, there = (Draws(k, CPU, 1).keep(9, 0.5)[0].numpy() for k in (keys, keys[order]))
    np.testing.assert_array_equal(here[order], there)
    other = Draws(keys, CPU, 2).keep(9, 0.5)[0].numpy()
    assert 0.4 < (here == other).mean() < 0.6
    matrix = sp.random_array((200, 200), density=0.05, rng=np.random.default_rng(2), format="csr")
    entries = entry_keys(product(matrix), keys, keys)
    assert len(np.unique(entries)) == matrix.nnz
    turned = sp.csr_array(matrix[order][:, order])
    turned.sort_indices()
    again = entry_keys(product(turned), keys[order], keys[order])
    np.testing.assert_array_equal(np.sort(again), np.sort(entries))


def test_the_vectors_are_pytorch_geometrics_layer_on_weighted_edges_with_self_loops() -> None:
    pyg = pytest.importorskip("torch_geometric.nn")
    graph = planted(30)
    method = unseen.GCN(n_components=6, epochs=5, random_state=0).fit(graph, some_labels(graph))
    weight = method.network_[0]
    theirs = pyg.GCNConv(40, 6)
    with torch.no_grad():
        theirs.lin.weight.copy_(weight.T)
    coo = graph.adjacency.tocoo()
    edges = torch.tensor(np.array([coo.row, coo.col]), dtype=torch.int64)
    x = torch.tensor(row_normalized(graph.features.toarray()), dtype=torch.float32)
    expected = theirs(x, edges, torch.tensor(coo.data, dtype=torch.float32))
    np.testing.assert_allclose(method.embedding_.vectors, expected.detach().relu(), rtol=1e-3, atol=1e-5)
    inputs = read(graph)
    ours = inputs.ahat @ (inputs.x @ weight)
    ours.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(weight.grad, theirs.lin.weight.grad.T, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
def test_it_learns_to_tell_the_classes_apart() -> None:
    graph = planted(150)
    labels = some_labels(graph)
    method = unseen.GCN(n_components=16, random_state=0).fit(graph, labels)
    truth, known = np.arange(150) % 3, labels.codes >= 0
    untrained = unseen.GCN(n_components=16, epochs=0, random_state=0).fit_transform(graph, labels).vectors
    right = [
        LinearSVC(C=10.0).fit(z[known], truth[known]).score(z[~known], truth[~known])
        for z in (method.embedding_.vectors, untrained)
    ]
    assert right[0] > 0.9
    assert right[0] > right[1] + 0.03
    assert len(method.loss_history_) == 200
    assert method.loss_history_[-1] < 0.5 * method.loss_history_[0]


def test_one_seen_class_leaves_the_start_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    graph = planted()
    values = ["only" if i % 3 == 0 else None for i in range(graph.n_nodes)]
    with caplog.at_level(logging.WARNING, logger="unseen"):
        method = unseen.GCN(n_components=8, random_state=0).fit(graph, values)
    assert "one seen class" in caplog.text
    assert method.loss_history_ == []
    assert np.abs(method.embedding_.vectors).max() > 0.01


def test_every_parameter_reaches_its_use() -> None:
    graph = planted()
    plain = {"n_components": 8, "epochs": 6, "random_state": 0}
    a = unseen.GCN(**plain).fit_transform(graph, some_labels(graph)).vectors
    changes = {"dropout": 0.0, "weight_decay": 1.0, "learning_rate": 0.1, "epochs": 3, "row_normalize": False}
    for name, value in changes.items():
        b = unseen.GCN(**{**plain, name: value}).fit_transform(graph, some_labels(graph)).vectors
        assert not np.allclose(a, b), name


@pytest.mark.slow
def test_weight_decay_pulls_at_the_first_layer_only() -> None:
    graph = planted()
    norms = []
    for decay in (0.0, 1.0):
        method = unseen.GCN(n_components=8, weight_decay=decay, random_state=0).fit(graph, some_labels(graph))
        norms.append([float(weight.detach().norm()) for weight in method.network_])
    assert norms[1][0] < 0.3 * norms[0][0]
    assert norms[1][1] > 0.3 * norms[0][1]


def test_a_fitted_method_survives_pickling() -> None:
    graph = planted()
    for method in (unseen.GCN, unseen.APPNP, unseen.DGI):
        fitted = method(n_components=4, epochs=2, random_state=0).fit(graph, some_labels(graph))
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.transform(graph).vectors, fitted.embedding_.vectors)


def test_early_stopping_keeps_the_best_weights() -> None:
    kept = torch.zeros(1, requires_grad=True)
    stopping = EarlyStopping([kept], patience=2)
    seen = [(1.0, 3.0, 0.5), (2.0, 4.0, 0.8), (3.0, 3.5, 0.8), (4.0, 2.0, 0.7), (5.0, 2.5, 0.8)]
    for weight, loss, accuracy in seen:
        kept.data.fill_(weight)
        stopping.see(loss, accuracy)
        assert not stopping.over
    stopping.see(9.0, 0.1)
    assert stopping.over
    stopping.restore()
    assert float(kept.detach()) == 5.0  # accuracy .8, of these the lowest loss


def test_sparse_features_are_never_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = planted()
    labels = some_labels(graph)

    def refuse(*_: object, **__: object) -> None:
        msg = "made dense"
        raise AssertionError(msg)

    for name in ("toarray", "todense"):
        monkeypatch.setattr(sp.csr_array, name, refuse)
    monkeypatch.setattr(torch.Tensor, "to_dense", refuse)
    for method in (unseen.GCN, unseen.APPNP, unseen.DGI):
        fitted = method(n_components=4, epochs=2, random_state=0).fit(graph, labels)
        assert fitted.embedding_.vectors.shape == (90, 4)
