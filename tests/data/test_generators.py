"""Generators: what was asked for is what comes, from any seed."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen.data.generators import _pair


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 100, 5000])
def test_random_graph_has_two_edges_a_node(n):
    graph = unseen.random_graph(n, random_state=0)
    assert (graph.n_nodes, graph.n_edges) == (n, min(2 * n, n * (n - 1) // 2))
    assert graph.n_self_loops == 0
    assert set(graph.adjacency.data.tolist()) <= {1.0}
    assert graph.features is None


@pytest.mark.slow
def test_every_edge_has_the_same_chance():
    drawn = sum(
        unseen.random_graph(6, n_edges=5, random_state=seed).adjacency.toarray() for seed in range(600)
    )
    chances = drawn[np.triu_indices(6, 1)] / 600
    assert np.abs(chances - 1 / 3).max() < 0.08  # four standard deviations


def test_seeds_rule_the_draw():
    one, same, other = (unseen.random_graph(50, random_state=seed).adjacency for seed in (1, 1, 2))
    assert (one != same).nnz == 0
    assert (one != other).nnz > 0
    first, second = (unseen.planted_partition(60, 3, random_state=4) for _ in range(2))
    for part in ("adjacency", "features"):
        assert (getattr(first.graph, part) != getattr(second.graph, part)).nnz == 0
    assert first.labels.codes.tolist() == second.labels.codes.tolist()


def test_pairs_are_numbered_without_gap_also_where_floats_are_coarse():
    low, high = _pair(np.arange(10))
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(i, j) for j in range(5) for i in range(j)]
    n = 3_000_000_000
    ends = np.array([n * (n - 1) // 2 - 1, n * (n - 1) // 2, n * (n - 1) // 2 + 1], dtype=np.int64)
    low, high = _pair(ends)
    assert high.tolist() == [n - 1, n, n]
    assert low.tolist() == [n - 2, 0, 1]


def test_planted_partition_has_the_expected_degrees_and_words():
    data = unseen.planted_partition(
        2000, 4, degree_within=8, degree_between=3, words_of_class=5, words_of_noise=2, random_state=0
    )
    codes, adjacency = data.labels.codes, data.graph.adjacency.tocoo()
    inside = codes[adjacency.row] == codes[adjacency.col]
    assert inside.sum() / 2000 == pytest.approx(8, rel=0.05)
    assert (~inside).sum() / 2000 == pytest.approx(3, rel=0.05)
    assert data.labels.counts.tolist() == [500] * 4
    words = data.graph.features.tocoo()
    column_class = np.array([int(name[1]) if name[0] == "c" else -1 for name in data.graph.feature_names])
    own = column_class[words.col] == codes[words.row]
    assert own.sum() / 2000 == pytest.approx(5, rel=0.05)
    assert (~own).sum() / 2000 == pytest.approx(2, rel=0.05)
    assert set(words.data.tolist()) == {1.0}
    assert data.graph.feature_names[20] == "c1_word0"


def test_graphs_at_their_limits():
    whole = unseen.planted_partition(6, 2, degree_within=2, degree_between=3, random_state=0)
    assert whole.graph.n_edges == 15
    empty = unseen.planted_partition(6, 2, degree_within=0, degree_between=0, random_state=0)
    assert empty.graph.n_edges == 0
    bare = unseen.planted_partition(60, 2, n_words_per_class=0, n_noise_words=0, random_state=0)
    assert bare.graph.features is None
    alone = unseen.planted_partition(1, 1, degree_within=0, degree_between=0, random_state=0)
    assert alone.graph.n_nodes == 1
    assert [unseen.random_graph(5, n_edges=n, random_state=0).n_edges for n in (0, 1, 9, 10)] == [0, 1, 9, 10]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unseen.random_graph(0), "`n_nodes` must be an integer of at least 1, got 0"),
        (lambda: unseen.random_graph(4, n_edges=-1), "`n_edges` must be an integer of at least 0"),
        (lambda: unseen.random_graph(4, n_edges=7), "`n_edges` is 7, but 4 nodes have only 6 pairs"),
        (lambda: unseen.planted_partition(3, 5), "`n_nodes` must be an integer of at least 5, got 3"),
        (lambda: unseen.planted_partition(10, 5), "`degree_within` .* at most 1 for a graph of this size"),
        (lambda: unseen.planted_partition(50, 5, degree_between=41), "`degree_between` .* at most 40"),
        (lambda: unseen.planted_partition(50, 5, words_of_class=21), "`words_of_class` .* at most 20"),
        (lambda: unseen.planted_partition(50, 5, words_of_noise=999), "`words_of_noise` .* at most"),
    ],
)  # fmt: skip
def test_bad_parameters_get_a_sentence(call, message):
    with pytest.raises(unseen.InputError, match=message):
        call()
