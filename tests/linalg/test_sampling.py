from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.linalg import sampling
from unseen.linalg.sampling import WalkSampler


def triangle_with_tail() -> sp.csr_array:
    """0-1 (weight 3), 0-2, 1-2, 2-3 and a lonely 4."""
    dense = np.zeros((5, 5))
    for a, b, weight in [(0, 1, 3.0), (0, 2, 1.0), (1, 2, 1.0), (2, 3, 1.0)]:
        dense[a, b] = dense[b, a] = weight
    return sp.csr_array(dense)


def identity_keys(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.uint64)


def test_steps_follow_the_weights():
    sampler = WalkSampler(triangle_with_tail(), identity_keys(5))
    made = sampler.walk(np.zeros(20_000, dtype=np.int64), 2, np.random.default_rng(0))
    shares = np.bincount(made[:, 1], minlength=5) / 20_000
    np.testing.assert_allclose(shares, [0, 0.75, 0.25, 0, 0], atol=0.02)
    even = WalkSampler(sp.csr_array((triangle_with_tail() > 0).astype(float)), identity_keys(5))
    made = even.walk(np.full(20_000, 2), 2, np.random.default_rng(0))
    np.testing.assert_allclose(
        np.bincount(made[:, 1], minlength=5) / 20_000, [1 / 3, 1 / 3, 0, 1 / 3, 0], atol=0.02
    )


def test_walks_never_leave_the_edges_and_lonely_nodes_never_start():
    adjacency = triangle_with_tail()
    sampler = WalkSampler(adjacency, identity_keys(5))
    assert sampler.starts.tolist() == [0, 1, 2, 3]
    made = sampler.walk(np.repeat(sampler.starts, 50), 10, np.random.default_rng(0))
    assert (adjacency.toarray()[made[:, :-1], made[:, 1:]] > 0).all()


def test_noise_is_drawn_by_degree_to_three_quarters():
    sampler = WalkSampler(triangle_with_tail(), identity_keys(5))
    shares = np.bincount(sampler.noise((40_000,), np.random.default_rng(0)), minlength=5) / 40_000
    wanted = np.array([4.0, 4.0, 3.0, 1.0, 0.0]) ** 0.75
    np.testing.assert_allclose(shares, wanted / wanted.sum(), atol=0.01)


def test_pairs_come_from_the_window_and_are_as_many_as_asked_for(monkeypatch):
    ring = sp.csr_array(sp.diags_array([1.0, 1.0], offsets=[1, -1], shape=(200, 200)))
    sampler = WalkSampler(ring, identity_keys(200))
    monkeypatch.setattr(sampling, "WALK_BATCH", 64)
    batches = list(sampler.pairs(1.5, 40, 3, 6.0, np.random.default_rng(0)))
    assert len(batches) == pytest.approx(1.5 * 200 / 64, abs=1.5)
    centre, context = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    assert np.abs(centre - context).max() == 3
    assert (centre != context).all()
    # some offsets fall off the walk's ends, some walks come back: about four in five pairs remain
    assert 0.6 * 1200 < len(centre) < 1200


def test_a_permuted_graph_gives_the_permuted_pairs():
    adjacency, keys = triangle_with_tail(), np.array([9, 2, 7, 1, 4], dtype=np.uint64)
    order = np.array([3, 1, 4, 0, 2])
    there = list(WalkSampler(adjacency, keys).pairs(2, 10, 2, 5, np.random.default_rng(0)))
    permuted = sp.csr_array(adjacency[order][:, order])
    here = list(WalkSampler(permuted, keys[order]).pairs(2, 10, 2, 5, np.random.default_rng(0)))
    for (a, b), (c, d) in zip(there, here, strict=True):
        assert order[c].tolist() == a.tolist()
        assert order[d].tolist() == b.tolist()
