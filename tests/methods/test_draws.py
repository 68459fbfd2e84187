"""Draws on a device: the bits of numpy there too, permutations, walks and noise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen

torch = pytest.importorskip("torch", reason="needs the neural extra")

from oracles.pretend_gpu import PretendGPU  # noqa: E402
from unseen.methods.neural import rect_dw  # noqa: E402
from unseen.methods.neural.draws import Draws  # noqa: E402
from unseen.methods.neural.rect_dw import WalkSampler  # noqa: E402

CPU = torch.device("cpu")


def triangle_with_tail() -> sp.csr_array:
    """0-1 (weight 3), 0-2, 1-2, 2-3 and a lonely 4."""
    dense = np.zeros((5, 5))
    for a, b, weight in [(0, 1, 3.0), (0, 2, 1.0), (1, 2, 1.0), (2, 3, 1.0)]:
        dense[a, b] = dense[b, a] = weight
    return sp.csr_array(dense)


def sampler_of(adjacency: sp.csr_array, keys: np.ndarray | None = None) -> WalkSampler:
    own = np.arange(adjacency.shape[0], dtype=np.uint64) if keys is None else keys
    return WalkSampler(adjacency, own, 0, CPU)


def some_keys(n: int) -> np.ndarray:
    return np.random.default_rng(0).integers(2**64, size=n, dtype=np.uint64)


def test_a_gpu_draws_the_bits_of_the_processor() -> None:
    keys = some_keys(300)
    here = Draws(keys, CPU, 3)
    expected = here.bits(7), here.keep(9, 0.3)[0], here.uniform(40)
    with PretendGPU():
        gpu = torch.device("cuda:0")
        there = Draws(keys, gpu, 3)
        found = there.bits(7), there.keep(9, 0.3)[0], there.uniform(40)
        assert all(tensor.is_cuda for tensor in found)
        copies = [tensor.cpu() for tensor in found]
    for ours, theirs in zip(expected, copies, strict=True):
        assert torch.equal(ours, theirs)


def test_no_draw_of_an_epoch_leaves_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once training has begun, nothing is copied from the processor to the GPU but single numbers."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    data = unseen.planted_partition(60, 3, random_state=0)
    for name in ("gcn", "appnp", "dgi", "rect-dw"):
        copies = []
        for epochs in (3, 9):
            gpu = PretendGPU()
            with gpu:
                method = unseen.make_method(
                    name, n_components=8, epochs=epochs, device="cuda", random_state=0
                )
                method.fit(data.graph, data.labels)
            copies.append(gpu.copies)
        assert copies[0] == copies[1], name


def test_steps_follow_the_weights():
    sampler = sampler_of(triangle_with_tail())
    made = sampler.walk(torch.zeros(20_000, dtype=torch.int64), 2).numpy()
    shares = np.bincount(made[:, 1], minlength=5) / 20_000
    np.testing.assert_allclose(shares, [0, 0.75, 0.25, 0, 0], atol=0.02)
    assert sampler.starts.tolist() == [0, 1, 2, 3], "lonely nodes never start"
    long = sampler.walk(sampler.starts.repeat(50), 10).numpy()
    assert (triangle_with_tail().toarray()[long[:, :-1], long[:, 1:]] > 0).all()
    even = sampler_of(sp.csr_array((triangle_with_tail() > 0).astype(float)))
    made = even.walk(torch.full((20_000,), 2), 2).numpy()
    np.testing.assert_allclose(
        np.bincount(made[:, 1], minlength=5) / 20_000, [1 / 3, 1 / 3, 0, 1 / 3, 0], atol=0.02
    )


def test_noise_is_drawn_by_degree_to_three_quarters():
    sampler = sampler_of(triangle_with_tail())
    shares = np.bincount(sampler.noise(40_000).numpy(), minlength=5) / 40_000
    wanted = np.array([4.0, 4.0, 3.0, 1.0, 0.0]) ** 0.75
    np.testing.assert_allclose(shares, wanted / wanted.sum(), atol=0.01)


def test_pairs_come_from_the_window_and_are_as_many_as_asked_for(monkeypatch):
    ring = sp.csr_array(sp.diags_array([1.0, 1.0], offsets=[1, -1], shape=(200, 200)))
    sampler = sampler_of(ring)
    monkeypatch.setattr(rect_dw, "WALK_BATCH", 64)
    batches = list(sampler.pairs(1.5, 40, 3, 6.0))
    assert len(batches) == pytest.approx(1.5 * 200 / 64, abs=1.5)
    centre, context = (torch.cat(parts).numpy() for parts in zip(*batches, strict=True))
    assert np.abs(centre - context).max() == 3
    assert (centre != context).all()
    # some offsets fall off the walk's ends, some walks come back: about four in five pairs remain
    assert 0.6 * 1200 < len(centre) < 1200


def test_a_permuted_graph_gives_the_permuted_pairs():
    adjacency, keys = triangle_with_tail(), np.array([9, 2, 7, 1, 4], dtype=np.uint64)
    order = np.array([3, 1, 4, 0, 2])
    there = list(sampler_of(adjacency, keys).pairs(2, 10, 2, 5))
    permuted = sp.csr_array(adjacency[order][:, order])
    here = list(sampler_of(permuted, keys[order]).pairs(2, 10, 2, 5))
    for (a, b), (c, d) in zip(there, here, strict=True):
        assert order[c].tolist() == a.tolist()
        assert order[d].tolist() == b.tolist()
