"""Several ranks as threads of one process: the same exchange without the cost of starting processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pytest
import torch

from unseen.engine.comm import Comm

T = TypeVar("T")
SECONDS = 60


class ThreadComm(Comm):
    """A rank that is a thread; what they exchange lies in a list."""

    def __init__(self, rank: int, size: int, meet: threading.Barrier, desk: list[Any]) -> None:
        self.rank, self.size, self._meet, self._desk = rank, size, meet, desk

    def _all(self, mine: Any) -> list[Any]:
        self._desk[self.rank] = mine
        self._meet.wait(SECONDS)
        found = list(self._desk)
        self._meet.wait(SECONDS)
        return found

    def sum_(self, array: Any) -> Any:
        parts = self._all(array.copy() if isinstance(array, np.ndarray) else array.clone())
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        if isinstance(array, np.ndarray):
            array[...] = total
        else:
            array.copy_(total)
        return array

    def exchange(self, rows: Any, send: Sequence[int], receive: Sequence[int]) -> Any:
        assert sum(send) == len(rows)
        if isinstance(rows, np.ndarray):
            return self.exchange(torch.from_numpy(rows), send, receive).numpy()
        pieces = self._all([piece.clone() for piece in torch.split(rows, list(send))])
        received = [theirs[self.rank] for theirs in pieces]
        assert [len(piece) for piece in received] == list(receive)
        return torch.cat(received)


def on_ranks(size: int, work: Callable[[Comm], T]) -> list[T]:
    """Call `work` on each of `size` ranks at once, and return what they returned."""
    meet, desk = threading.Barrier(size), [None] * size

    def run(rank: int) -> T:
        try:
            return work(ThreadComm(rank, size, meet, desk))
        except BaseException:
            meet.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        tasks = [pool.submit(run, rank) for rank in range(size)]
        errors = [task.exception() for task in tasks]
        real = [e for e in errors if e is not None and not isinstance(e, threading.BrokenBarrierError)]
        if real:
            raise real[0]
        return [task.result() for task in tasks]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks are threads here, so that each of them gets one."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def one_header_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ast.parse` fails at random in two threads of Python 3.11.7 at once, and the header of a .npy file needs it."""
    load, lock = np.load, threading.Lock()

    def load_alone(*args: Any, **kwargs: Any) -> Any:
        with lock:
            return load(*args, **kwargs)

    monkeypatch.setattr(np, "load", load_alone)
