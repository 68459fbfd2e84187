"""Graphs from which nothing can be learned, and numbers at the ends of their range."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import unseen

pytestmark = pytest.mark.slow


def half_labelled(data: unseen.Dataset, graph: unseen.Graph) -> unseen.Labels:
    names = [f"c{code}" if code and row % 2 else None for row, code in enumerate(data.labels.codes)]
    return unseen.Labels.from_values(names, graph.node_ids)


def test_a_star_with_random_labels_gets_no_certain_probability() -> None:
    n = 3000
    draw = np.random.default_rng(0)
    graph = unseen.Graph.from_edges(np.zeros(n - 1, dtype=int), np.arange(1, n))
    names = [f"c{draw.integers(4)}" if row % 2 else None for row in range(n)]
    found = unseen.discover(graph, unseen.Labels.from_values(names, graph.node_ids), random_state=0)
    chances = found.nodes["unseen_probability"].to_numpy()
    assert found.self_test.failed
    assert chances.mean() <= 0.26
    assert np.median(chances) < 0.5
    assert not found.classes


@pytest.mark.parametrize("kind", ["counts", "numbers", "one row"])
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_features_at_the_ends_of_the_range_do_not_overflow(kind: str, scale: float) -> None:
    data = unseen.planted_partition(300, 3, random_state=0)
    values = sp.csr_array(data.graph.features).toarray().astype(float)
    if kind == "numbers":
        values = np.random.default_rng(0).normal(size=values.shape) + values
    if kind == "one row":
        values[0] *= scale
    else:
        values *= scale
    graph = unseen.Graph(data.graph.adjacency, values, data.graph.node_ids)
    with warnings.catch_warnings(action="error", category=RuntimeWarning):
        found = unseen.discover(graph, half_labelled(data, graph), random_state=0)
    assert np.isfinite(found.nodes["unseen_probability"].to_numpy()).all()


def test_very_wide_features_are_announced(caplog: pytest.LogCaptureFixture) -> None:
    data = unseen.planted_partition(60, 3, random_state=0)
    features = sp.random_array((60, 210_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    graph = unseen.Graph(data.graph.adjacency, features, data.graph.node_ids)
    unseen.discover(graph, half_labelled(data, graph), random_state=0)
    assert "features have 210,000 columns, and reducing them may take minutes" in caplog.text


def test_an_id_of_a_million_letters_costs_no_more_than_others() -> None:
    from unseen.randomness import node_keys

    ids = np.array(["x" * 1_000_000, "x" * 999_999 + "y", "a"], dtype=object)
    keys = node_keys(ids, 0)
    assert len(set(keys.tolist())) == 3
    assert keys[2] == node_keys(np.array(["a"]), 0)[0]
