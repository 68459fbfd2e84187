"""DGI: the encoder, the shuffled copy, the stop."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import unseen
from unseen.engine.run import Run
from unseen.methods.neural.draws import Draws
from unseen_paper.methods.dgi import DGI, SIGN, shuffle


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


def test_the_vectors_are_the_output_of_one_layer_with_prelu() -> None:
    graph = planted()
    method = DGI(n_components=12, epochs=30, random_state=0).fit(graph)
    x = graph.features.toarray()
    weight, bias, slope = (tensor.detach().numpy() for tensor in method.network_)
    assert np.abs(bias).max() > 0
    before = (
        Run().matrix(graph.adjacency).gcn_normalized().local.toarray()
        @ (x / x.sum(axis=1, keepdims=True))
        @ weight
        + bias
    )
    expected = np.where(before > 0, before, slope * before)
    np.testing.assert_allclose(method.embedding_.vectors, expected, rtol=1e-3, atol=1e-5)


def test_the_loss_starts_at_chance_and_falls() -> None:
    losses = DGI(n_components=16, epochs=150, learning_rate=0.01, random_state=0).fit(planted()).loss_history_
    assert losses[0] == pytest.approx(2 * math.log(2), abs=0.05)
    assert min(losses) < 0.8 * losses[0]


def test_it_stops_after_its_patience_and_keeps_the_best_weights() -> None:
    graph = planted()
    kept = {}

    def remember(epoch: unseen.engine.steps.Epoch) -> None:
        kept[epoch.number] = epoch.vectors()  # after the step of this epoch, which is where the next begins

    method = DGI(n_components=8, patience=3, learning_rate=0.05, callbacks=[remember], random_state=0).fit(
        graph
    )
    losses = method.loss_history_
    best = int(np.argmin(losses))
    assert len(losses) - 1 - best == 3
    np.testing.assert_array_equal(method.embedding_.vectors, kept[best])


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [{"learning_rate": 0.1}, {"epochs": 10}, {"patience": 1}, {"row_normalize": False}]
)
def test_every_parameter_reaches_its_use(change: dict[str, object]) -> None:
    plain = {"n_components": 8, "epochs": 40, "learning_rate": 0.01, "random_state": 0}
    a = DGI(**plain).fit_transform(planted()).vectors
    b = DGI(**{**plain, **change}).fit_transform(planted()).vectors
    assert not np.allclose(a, b)


def test_a_larger_graph_is_embedded_without_training() -> None:
    method = DGI(n_components=8, epochs=5, random_state=0).fit(planted())
    assert method.transform(planted(120, seed=1)).vectors.shape == (120, 8)
    np.testing.assert_array_equal(method.transform(planted()).vectors, method.embedding_.vectors)


def test_a_graph_where_shuffling_changes_nothing_ends_soon() -> None:
    graph = unseen.Graph(sp.csr_array((1, 1)), np.ones((1, 3)))
    assert len(DGI(n_components=2, random_state=0).fit(graph).loss_history_) < 2000


def test_shuffling_is_a_permutation_of_keys_whatever_their_order() -> None:
    keys = np.random.default_rng(0).integers(2**64, size=90, dtype=np.uint64)
    order = np.random.default_rng(1).permutation(90)
    here, there = (Draws(k, torch.device("cpu"), None) for k in (keys, keys[order]))
    first, other = (shuffle(draws, torch.argsort(draws.keys ^ SIGN)).numpy() for draws in (here, there))
    assert sorted(first.tolist()) == list(range(90))
    assert (first == np.arange(90)).mean() < 0.2
    np.testing.assert_array_equal(keys[order][other], keys[first][order])
