from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
import torch

from unseen.linalg.blocks import map_blocks, row_cuts, thread_count, threads_for_blocks_only


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("n", [0, 1, 256, 257, 5000, 100_000])
def test_cuts_cover_every_row_once(n):
    cuts = row_cuts(n)
    assert [row for start, stop in cuts for row in range(start, stop)] == list(range(n))


def test_results_come_in_order_from_workers_that_use_one_thread(three_threads):
    def look(start, stop):
        time.sleep(0.001 * (stop % 3))
        return start, torch.get_num_threads(), threading.current_thread() is threading.main_thread()

    cuts = [(i, i + 1) for i in range(30)]
    seen = map_blocks(look, cuts)
    assert [start for start, _, _ in seen] == list(range(30))
    assert {threads for _, threads, _ in seen} == {1}
    assert not any(main for _, _, main in seen)


def test_the_setting_of_other_threads_is_left_alone(three_threads):
    map_blocks(lambda start, stop: None, [(0, 1)])
    assert torch.get_num_threads() == 3
    found = []
    later = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    later.start()
    later.join()
    assert found == [3]


def test_a_block_may_use_blocks_itself(three_threads):
    assert map_blocks(lambda a, b: sum(map_blocks(lambda c, d: 1, [(0, 1)] * 5)), [(0, 1)] * 9) == [5] * 9


def test_an_error_waits_for_blocks_that_have_begun(three_threads):
    ended = []

    def work(start, stop):
        if start == 0:
            raise KeyError(start)
        time.sleep(0.05)
        ended.append(start)

    with pytest.raises(KeyError):
        map_blocks(work, [(i, i + 1) for i in range(3)])
    count = len(ended)
    time.sleep(0.1)
    assert len(ended) == count


def test_thread_count_follows_torch_or_the_usual_variable(three_threads):
    assert thread_count() == 3
    code = "import sys; from unseen.linalg.blocks import thread_count; print(thread_count(), 'torch' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={"OMP_NUM_THREADS": "5,2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["5", "False"]


def test_torch_keeps_one_thread_around_blocks_and_gets_its_own_back(three_threads):
    def work():
        with threads_for_blocks_only():
            assert torch.get_num_threads() == 1
            assert thread_count() == 3
            with threads_for_blocks_only():
                seen = map_blocks(
                    lambda a, b: threading.current_thread().name, [(i, i + 1) for i in range(20)]
                )
            assert all(name.startswith("unseen-block") for name in seen)
            assert torch.get_num_threads() == 1
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert torch.get_num_threads() == 3
    assert thread_count() == 3
