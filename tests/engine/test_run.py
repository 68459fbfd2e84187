"""What a run promises a method: order, sums, shared work, arrays on disk."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.engine import scratch
from unseen.engine.run import Run, Shared
from unseen.engine.scratch import release_pages, scratch_zeros
from unseen.errors import OutputError
from unseen.ids import mapped_file


def test_a_fit_has_a_generator_of_its_own() -> None:
    graph = unseen.planted_partition(30, 2, random_state=0).graph
    run = Run()
    with run.for_graph(graph, 5) as first, run.for_graph(graph, 5) as second:
        assert first.rng.integers(1000) == second.rng.integers(1000)
        assert first.with_seed(1).rng.integers(1000) == run.with_seed(1).rng.integers(1000)
        assert first.processes == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rect", "rect-l", "rsdne", "rsdne-light", "mfdw", "mmdw", "rect-plus"])
def test_shared_work_gives_the_same_bits(name: str) -> None:
    data = unseen.planted_partition(80, 4, random_state=0)
    splits = [
        unseen.completely_imbalanced_split(data.labels, label_rate=0.4, unseen=1, random_state=k)
        for k in (0, 1)
    ]
    few = {} if name == "rect-plus" else {"epochs": 5} if name.startswith("rect") else {"max_iter": 3}

    def fit(split: unseen.Split, run: Run) -> np.ndarray:
        method = unseen.make_method(name, n_components=8, random_state=0, **few)
        return np.asarray(method._fit_run(data.graph, split.seen_labels, run).embedding_.vectors)

    apart = [fit(split, Run()) for split in splits]
    shared = Shared(data.graph)
    together = [fit(split, Run(shared=shared)) for split in (*splits, *splits)]
    for k, vectors in enumerate(together):
        assert np.array_equal(vectors, apart[k % 2])


def test_the_structure_half_is_trained_once_for_one_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    from unseen.methods.neural.rect import RECTN

    data = unseen.planted_partition(80, 4, random_state=0)
    trained = []
    original = RECTN._fit
    monkeypatch.setattr(RECTN, "_fit", lambda *args: trained.append(1) or original(*args))
    method, shared = unseen.RECT(n_components=8, epochs=2, random_state=0), Shared(data.graph)
    for _ in range(3):
        method._fit_run(data.graph, data.labels, Run(shared=shared))
    assert len(trained) == 1
    method.fit(data.graph, data.labels)
    assert len(trained) == 2
    other = unseen.planted_partition(80, 4, random_state=1)
    method._fit_run(other.graph, other.labels, Run(shared=shared))
    unseen.RECT(n_components=8, epochs=3, random_state=0)._fit_run(
        data.graph, data.labels, Run(shared=shared)
    )
    assert len(trained) == 4


def test_large_arrays_lie_on_disk_where_there_is_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mapped_file(Run().zeros((3, 2))) is None
    assert mapped_file(Run(scratch=tmp_path).zeros((3, 2))) is None
    monkeypatch.setattr(scratch, "LARGE", 4)
    array = Run(scratch=tmp_path).zeros((3000, 2))
    assert mapped_file(array)
    array[:] = 7
    release_pages(array)
    assert (array == 7).all()
    assert not any(tmp_path.iterdir())  # the file has no name


def test_space_is_claimed_on_systems_that_cannot_allocate_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate")  # as on macOS
    monkeypatch.setattr(scratch, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(scratch, "LARGE", 4)
    array = scratch_zeros((700, 3), tmp_path)
    array[-1] = 2
    assert mapped_file(array)
    assert array.shape == (700, 3)
    assert array.sum() == 6


def test_a_scratch_folder_without_room_is_said(tmp_path: Path) -> None:
    large = (scratch.LARGE,)
    with pytest.raises(OutputError, match="choose another folder"):
        scratch_zeros(large, tmp_path / "nowhere")
