"""What a run promises a method: order, sums, threads, shared work, arrays on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import unseen
from unseen.engine import scratch
from unseen.engine.run import Run, Shared, default_threads, libraries_on_one_thread
from unseen.engine.scratch import release_pages, scratch_zeros
from unseen.errors import OutputError
from unseen.ids import mapped_file

torch = pytest.importorskip("torch")
ITEMS = [(i, i + 1) for i in range(20)]


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_blocks_cover_every_row_once_and_a_fit_has_a_generator_of_its_own() -> None:
    run = Run()
    for n in (0, 1, 256, 257, 5000, 100_000):
        assert [row for cut in run.cuts(n) for row in range(*cut)] == list(range(n))
    graph = unseen.planted_partition(30, 2, random_state=0).graph
    with run.for_graph(graph, 5) as first, run.for_graph(graph, 5) as second:
        assert first.rng.integers(1000) == second.rng.integers(1000)
        assert first.with_seed(1).rng.integers(1000) == run.with_seed(1).rng.integers(1000)


def test_results_come_in_order_from_workers_that_use_one_thread(three_threads) -> None:
    def look(start: int, stop: int) -> tuple[int, int, bool]:
        time.sleep(0.001 * (stop % 3))
        return start, torch.get_num_threads(), threading.current_thread() is threading.main_thread()

    assert Run(threads=3).map_blocks(look, ITEMS) == [(start, 1, False) for start, _ in ITEMS]
    seen = [torch.get_num_threads()]  # the setting of other threads is left alone
    later = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    later.start()
    later.join()
    assert seen == [3, 3]


def test_an_error_waits_for_blocks_that_have_begun() -> None:
    ended = []

    def work(start: int, stop: int) -> None:
        if start == 0:
            raise KeyError(start)
        time.sleep(0.05)
        ended.append(start)

    with pytest.raises(KeyError):
        Run(threads=3).map_blocks(work, ITEMS[:3])
    count = len(ended)
    time.sleep(0.1)
    assert len(ended) == count


def test_the_number_of_threads_is_that_of_the_usual_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, threads in (("5,2", 5), ("", None), ("0", None)):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert default_threads() == threads or (threads is None and default_threads() >= 1)


LATE = """
from threadpoolctl import threadpool_info
import unseen
from unseen.engine.run import libraries_on_one_thread
from unseen.discovery.vectors import k_means
from unseen.methods.neural import torch

def most():
    return max(library["num_threads"] for library in threadpool_info())

with libraries_on_one_thread():
    alone = torch.get_num_threads()
    import numpy, scipy.linalg
    k_means(numpy.eye(4, dtype=numpy.float32), 2, 0, n_init=1)
    print(alone, most())
print(most())
"""


@pytest.mark.slow
def test_libraries_that_are_imported_meanwhile_keep_to_one_thread_too() -> None:
    environ = {**os.environ, "OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"}
    command = [sys.executable, "-c", LATE]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "3"]


def test_libraries_keep_to_one_thread_and_get_their_own_back(three_threads) -> None:
    def threads() -> set[int]:
        return {library["num_threads"] for library in threadpool_info()}

    np.ones(1)
    before = threads()
    with libraries_on_one_thread():
        assert torch.get_num_threads() == 1
        assert threads() == {1}
        with libraries_on_one_thread():
            Run(threads=3).map_blocks(lambda a, b: None, ITEMS)
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3
    assert threads() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rect", "rect-l", "rsdne", "rsdne-light", "mfdw", "mmdw", "rect-plus"])
def test_shared_work_gives_the_same_bits(name: str) -> None:
    data = unseen.planted_partition(80, 4, random_state=0)
    few = {} if name == "rect-plus" else {"epochs": 5} if name.startswith("rect") else {"max_iter": 3}

    def fit(seed: int, run: Run) -> np.ndarray:
        split = unseen.completely_imbalanced_split(data.labels, label_rate=0.4, unseen=1, random_state=seed)
        method = unseen.make_method(name, n_components=8, random_state=0, **few)
        return np.asarray(method._fit_run(data.graph, split.seen_labels, run).embedding_.vectors)

    apart, shared = [fit(seed, Run()) for seed in (0, 1)], Shared(data.graph)
    for seed in (0, 1, 0, 1):
        assert np.array_equal(fit(seed, Run(shared=shared)), apart[seed])


def test_shared_work_is_done_once_for_one_graph_and_again_for_another() -> None:
    done: list[str] = []
    one, other = (unseen.planted_partition(20, 2, random_state=k).graph for k in range(2))
    shared = Shared(one)
    for graph, key in ((one, "a"), (one, "a"), (one, "b"), (other, "a")):
        with Run(shared=shared).for_graph(graph, 0) as run:
            run.once(key, lambda key=key: done.append(key))
    Run().once("a", lambda: done.append("alone"))
    assert done == ["a", "b", "a", "alone"]


def test_large_arrays_lie_on_disk_where_there_is_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mapped_file(Run().zeros((3, 2))) is None
    assert mapped_file(Run(scratch=tmp_path).zeros((3, 2))) is None
    monkeypatch.setattr(scratch, "LARGE", 4)
    array = Run(scratch=tmp_path).zeros((3000, 2))
    assert mapped_file(array)
    array[:] = 7
    release_pages(array, 0, array.size)
    assert (array == 7).all()
    assert not any(tmp_path.iterdir())  # the file has no name
    with pytest.raises(OutputError, match="choose another folder"):
        scratch_zeros((3,), tmp_path / "nowhere")


def test_space_is_claimed_on_systems_that_cannot_allocate_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate")  # as on macOS
    monkeypatch.setattr(scratch, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(scratch, "LARGE", 4)
    array = scratch_zeros((700, 3), tmp_path)
    array[-1] = 2
    assert (mapped_file(array) is not None, array.shape, array.sum()) == (True, (700, 3), 6)
