"""Every line that is for a GPU runs here as well: on a pretend device that is as strict as a real one."""

from __future__ import annotations

import numpy as np
import pytest

import unseen

torch = pytest.importorskip("torch", reason="needs the neural extra")

from oracles.pretend_gpu import PretendGPU  # noqa: E402
from unseen.methods.neural.tensors import pick_device  # noqa: E402

METHODS = ("rect-n", "rect-l", "rect", "rect-dw", "rect-joint", "gcn", "appnp", "dgi")


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> PretendGPU:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # the mode belongs to one thread
    return PretendGPU()


def test_the_pretend_device_is_strict(gpu: PretendGPU) -> None:
    with gpu:
        here, there = torch.zeros(3, device="cuda"), torch.ones(3)
        assert (here.is_cuda, there.is_cuda, (here * 2)[1:].device.type) == (True, False, "cuda")
        for mix in (lambda: here + there, lambda: torch.add(there, there, out=here)):
            with pytest.raises(RuntimeError, match="same device"):
                mix()
        with pytest.raises(TypeError, match="numpy"):
            here.numpy()
        assert (here + there.to("cuda")).cpu().numpy().tolist() == [1, 1, 1]
        assert (here + torch.tensor(2.0)).sum().item() == 6  # a single number may come from anywhere


@pytest.mark.parametrize("features", [True, False], ids=["features", "no-features"])
@pytest.mark.parametrize("name", METHODS)
def test_a_gpu_gives_the_vectors_of_the_processor(name: str, features: bool, gpu: PretendGPU) -> None:
    data = unseen.planted_partition(60, 3, random_state=0)
    graph = data.graph if features else unseen.Graph(data.graph.adjacency, None, data.graph.node_ids)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.5, unseen=["c2"], random_state=0)
    params = {"n_components": 8, "epochs": 6, "random_state": 0}
    expected = unseen.make_method(name, device="cpu", **params).fit_transform(graph, split.seen_labels)
    with gpu:
        found = unseen.make_method(name, device="cuda:1", **params).fit_transform(graph, split.seen_labels)
    assert gpu.operations > 100
    np.testing.assert_allclose(found.vectors, expected.vectors, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("device", "sentence"), [("cuda:2", "2 GPUs here"), ("mps", "no GPU of Apple"), ("gpu", "unknown device")]
)
def test_a_device_that_is_not_there_gets_a_sentence(device: str, sentence: str, gpu: PretendGPU) -> None:
    with pytest.raises(unseen.InputError, match=sentence):
        pick_device(device)
    assert pick_device("cuda:1").index == 1


def test_a_gpu_of_apple_s_is_taken_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device("mps").type == "mps"
