from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from unseen.engine.run import Run, default_threads, libraries_on_one_thread

torch = pytest.importorskip("torch")


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("n", [0, 1, 256, 257, 5000, 100_000])
def test_cuts_cover_every_row_once(n):
    cuts = Run().cuts(n)
    assert [row for start, stop in cuts for row in range(start, stop)] == list(range(n))


def test_results_come_in_order_from_workers_that_use_one_thread(three_threads):
    def look(start, stop):
        time.sleep(0.001 * (stop % 3))
        return start, torch.get_num_threads(), threading.current_thread() is threading.main_thread()

    seen = Run(threads=3).map_blocks(look, [(i, i + 1) for i in range(30)])
    assert [start for start, _, _ in seen] == list(range(30))
    assert {threads for _, threads, _ in seen} == {1}
    assert not any(main for _, _, main in seen)


def test_the_setting_of_other_threads_is_left_alone(three_threads):
    Run(threads=3).map_blocks(lambda start, stop: None, [(0, 1)] * 4)
    assert torch.get_num_threads() == 3
    seen = []
    later = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    later.start()
    later.join()
    assert seen == [3]


def test_an_error_waits_for_blocks_that_have_begun():
    ended = []

    def work(start, stop):
        if start == 0:
            raise KeyError(start)
        time.sleep(0.05)
        ended.append(start)

    with pytest.raises(KeyError):
        Run(threads=3).map_blocks(work, [(i, i + 1) for i in range(3)])
    count = len(ended)
    time.sleep(0.1)
    assert len(ended) == count


def test_the_number_of_threads_is_that_of_the_usual_variable():
    code = "import sys; from unseen.engine import run; print(run.default_threads(), 'torch' in sys.modules)"
    environ = {"OMP_NUM_THREADS": "5,2", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["5", "False"]
    assert default_threads() >= 1


def _threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info()}


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
    vectors = numpy.eye(4, dtype=numpy.float32)
    k_means(vectors, 2, 0, n_init=1)
    print(alone, most())
print(most())
"""


@pytest.mark.slow
def test_libraries_that_are_imported_meanwhile_keep_to_one_thread_too():
    environ = {**os.environ, "OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"}
    done = subprocess.run(
        [sys.executable, "-c", LATE], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "1", "3"]


def test_libraries_keep_to_one_thread_and_get_their_own_back(three_threads):
    np.ones(1)
    before = _threads()

    def work():
        with libraries_on_one_thread():
            assert torch.get_num_threads() == 1
            assert _threads() == {1}
            with libraries_on_one_thread():
                seen = Run(threads=3).map_blocks(
                    lambda a, b: threading.current_thread().name, [(i, i + 1) for i in range(20)]
                )
            assert all(name.startswith("unseen-block") for name in seen)
            assert torch.get_num_threads() == 1
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert torch.get_num_threads() == 3
    assert _threads() == before
