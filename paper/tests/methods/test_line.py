"""LINE and the sampling it stands on: unbiased draws, exact gradients, communities found."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen_paper.methods.line import LINE
from unseen_paper.methods.sampling import Adam, EdgeSampler, add_rows, batches, link_gradient


def weighted_triangle() -> sp.csr_array:
    """Edges 0-1 (weight 6), 1-2 (3), 0-2 (1), a self-loop on 2, and node 3 alone."""
    matrix = np.zeros((4, 4))
    for i, j, w in [(0, 1, 6), (1, 2, 3), (0, 2, 1), (2, 2, 50)]:
        matrix[i, j] = matrix[j, i] = w
    return sp.csr_array(matrix)


def test_edges_come_in_proportion_to_their_weights_and_self_loops_never() -> None:
    src, dst = EdgeSampler(weighted_triangle()).edges(20_000, np.random.default_rng(0))
    counts = np.zeros((4, 4))
    np.add.at(counts, (src, dst), 1)
    expected = weighted_triangle().toarray()
    np.fill_diagonal(expected, 0)
    assert np.abs(counts - 1000 * expected).max() <= 1  # systematic draws miss by one at most


def test_a_pass_over_equal_weights_leaves_no_edge_out() -> None:
    ring = sp.csr_array(np.roll(np.eye(50), 1, axis=1) + np.roll(np.eye(50), -1, axis=1))
    src, dst = EdgeSampler(ring).edges(100, np.random.default_rng(3))
    assert len(set(zip(src.tolist(), dst.tolist(), strict=True))) == 100
    assert src.tolist() != sorted(src.tolist())


def test_noise_follows_the_power_of_the_degree_and_never_hits_a_lonely_node() -> None:
    drawn = EdgeSampler(weighted_triangle()).noise(100_000, np.random.default_rng(0))
    wanted = np.array([7.0, 9.0, 4.0, 0.0]) ** 0.75
    assert np.abs(np.bincount(drawn, minlength=4) / 100_000 - wanted / wanted.sum()).max() < 0.01
    assert (drawn != 3).all()


@pytest.mark.parametrize("second_order", [False, True])
def test_the_gradient_is_that_of_the_loss(second_order: bool) -> None:
    rng = np.random.default_rng(0)
    nodes = rng.normal(size=(6, 3))
    contexts = rng.normal(size=(6, 3)) if second_order else nodes
    src, dst, noise = rng.integers(0, 6, 9), rng.integers(0, 6, 9), np.array([1, 4, 4])

    def loss() -> float:
        positive = np.log1p(np.exp(-(nodes[src] * contexts[dst]).sum(axis=1))).sum()
        negative = np.log1p(np.exp(nodes[src] @ contexts[noise].T)).sum()
        return float(positive + 5 / 3 * negative)

    found = link_gradient(nodes, contexts, src, dst, noise, 5)
    assert found.loss == pytest.approx(loss())
    gradients = [(nodes, found.nodes), (contexts, found.contexts)]
    if not second_order:
        gradients = [(nodes, found.nodes + found.contexts)]
    for table, gradient in gradients:
        for place in np.ndindex(table.shape):
            kept = table[place]
            table[place] = kept + 1e-6
            above = loss()
            table[place] = kept - 1e-6
            below = loss()
            table[place] = kept
            assert gradient[place] == pytest.approx((above - below) / 2e-6, abs=1e-5)


def test_huge_scores_neither_overflow_nor_warn() -> None:
    nodes = np.full((2, 1), 1e4, dtype=np.float32)
    found = link_gradient(nodes, -nodes, np.array([0]), np.array([1]), np.array([1]), 5)
    assert np.isfinite(found.loss)
    assert np.isfinite(found.nodes).all()


def test_rows_of_the_same_index_are_added() -> None:
    rng = np.random.default_rng(0)
    index, rows = rng.integers(0, 5, 40), rng.normal(size=(40, 3))
    expected = np.zeros((6, 3))
    np.add.at(expected, index, rows)
    assert np.allclose(add_rows(6, index, rows), expected)


def test_adam_agrees_with_torch() -> None:
    import torch

    ours = np.array([1.0, -2.0, 0.5])
    theirs = torch.tensor(ours.copy(), requires_grad=True)
    adam, reference = Adam([ours], 0.03), torch.optim.Adam([theirs], lr=0.03)
    for _ in range(20):
        adam.step([2 * ours + np.sin(ours)])
        reference.zero_grad()
        (theirs**2 - torch.cos(theirs)).sum().backward()
        reference.step()
    assert np.allclose(ours, theirs.detach().numpy(), atol=1e-6)


def test_the_step_falls_and_a_graph_without_edges_gives_no_batches() -> None:
    sampler = EdgeSampler(weighted_triangle())
    shares = [batch.share for batch in batches(sampler, 10, np.random.default_rng(0))]
    assert shares[0] == 1
    assert np.allclose(np.diff(shares), -1 / len(shares))
    assert list(batches(EdgeSampler(sp.csr_array((3, 3))), 10, np.random.default_rng(0))) == []


@pytest.mark.slow
def test_communities_are_found_and_the_loss_falls() -> None:
    data = unseen.planted_partition(300, 4, degree_within=10, degree_between=1.5, random_state=0)
    line = LINE(n_components=32, random_state=0).fit(data.graph)
    vectors, classes = line.embedding_.vectors, data.labels.codes
    similar = vectors @ vectors.T
    np.fill_diagonal(similar, -np.inf)
    assert (classes[similar.argmax(axis=1)] == classes).mean() > 0.85
    assert np.mean(line.loss_history_[-10:]) < 0.8 * line.loss_history_[0]


def test_the_halves_are_normalised_and_lonely_nodes_are_zero() -> None:
    graph = unseen.Graph(weighted_triangle(), node_ids=["a", "b", "c", "alone"])
    vectors = LINE(n_components=7, epochs=5, random_state=0).fit_transform(graph).vectors
    assert np.allclose(np.linalg.norm(vectors[:3, :4], axis=1), 1, atol=1e-5)
    assert np.allclose(np.linalg.norm(vectors[:3, 4:], axis=1), 1, atol=1e-5)
    assert not vectors[3].any()


def test_the_order_of_the_nodes_changes_no_bit() -> None:
    data = unseen.planted_partition(80, 3, random_state=0)
    order = np.random.default_rng(1).permutation(80)
    shuffled = unseen.Graph(data.graph.adjacency[order][:, order], None, data.graph.node_ids[order])
    line = LINE(n_components=6, epochs=10, random_state=0)
    assert np.array_equal(line.fit_transform(data.graph).vectors[order], line.fit_transform(shuffled).vectors)


def test_parameters_reach_their_use() -> None:
    graph = unseen.planted_partition(80, 3, random_state=0).graph
    start = {"n_components": 6, "epochs": 10, "random_state": 0}
    base = LINE(**start).fit_transform(graph).vectors
    for change in ({"epochs": 11}, {"learning_rate": 0.02}, {"n_negatives": 2}, {"random_state": 1}):
        assert not np.allclose(LINE(**{**start, **change}).fit_transform(graph).vectors, base, atol=1e-3)
    with pytest.raises(unseen.InputError, match="`n_components` of LINE must be an integer of at least 2"):
        LINE(n_components=1).fit(graph)
