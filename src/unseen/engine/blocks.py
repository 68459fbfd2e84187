"""Work on blocks of rows on several threads, with results that do not depend on how many there are.

The blocks are cut by the size of the work alone, each is computed by one thread, and their results come back in
order. A library that threads one operation by itself gives no such promise: its sums change in the last bits with the
number of threads, and training carries that into the result. So BLAS and torch keep to one thread meanwhile.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
Cut = tuple[int, int]

_pools: dict[tuple[int, int, bool], ThreadPoolExecutor] = {}
_inside = threading.local()


def row_cuts(n: int, *, rows: int = 4096, of: int | None = None) -> list[Cut]:
    """Return (start, stop) of blocks of equal size: at most `rows` rows, and up to eight blocks of some hundred rows.

    Where these rows are some of `of` rows, the blocks are as large as those of all: then a sum over blocks has the
    same terms wherever they are computed.

    Examples
    --------
    >>> row_cuts(500)
    [(0, 250), (250, 500)]
    >>> len(row_cuts(16_000)), len(row_cuts(1_000_000))
    (8, 245)
    """
    if n == 0:
        return []
    total = n if of is None else of
    size = -(-total // max(-(-total // rows), min(8, max(1, total // 192))))
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def in_order(function: Callable[[int, int], T], cuts: Sequence[Cut], threads: int) -> list[T]:
    """Return ``function(start, stop)`` of every cut, in order, computed on some threads.

    An interrupt or an error waits for the blocks that have begun, so that nobody writes to shared arrays afterwards.

    Examples
    --------
    >>> in_order(lambda start, stop: stop - start, row_cuts(500), threads=2)
    [250, 250]
    """
    if threads == 1 or len(cuts) == 1 or getattr(_inside, "worker", False):
        return [function(start, stop) for start, stop in cuts]
    tasks = [_pool(threads).submit(function, start, stop) for start, stop in cuts]
    try:
        return [task.result() for task in tasks]
    except BaseException:
        for task in tasks:
            task.cancel()
        wait(tasks)
        raise


def default_threads() -> int:
    """Return how many threads to use where nobody says: ``OMP_NUM_THREADS``, else one for each core.

    Examples
    --------
    >>> default_threads() >= 1
    True
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Limit:
    """How many ask for one thread at present, and what to put back after the last of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.blas: Any = None
        self.torch = 0


_limit = _Limit()


@contextmanager
def libraries_on_one_thread() -> Iterator[None]:
    """Keep BLAS and torch, where it is loaded, to one thread: threads are for blocks.

    Between two operations of its own, torch's threads do not sleep but spin, and take the processors from ours.

    Examples
    --------
    >>> import torch
    >>> with libraries_on_one_thread():
    ...     torch.get_num_threads()
    1
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    torch = sys.modules.get("torch")
    with _limit.lock:
        _limit.count += 1
        if _limit.count == 1:
            _limit.blas = threadpool_limits(1, user_api="blas")
            _limit.torch = torch.get_num_threads() if torch else 0
            if _limit.torch > 1:
                torch.set_num_threads(1)  # type: ignore[union-attr]
    try:
        yield
    finally:
        with _limit.lock:
            _limit.count -= 1
            if _limit.count == 0:
                _limit.blas.restore_original_limits()
                if _limit.torch > 1:
                    torch.set_num_threads(_limit.torch)  # type: ignore[union-attr]


def _pool(threads: int) -> ThreadPoolExecutor:
    # One pool per process (a fork has none of its parent's threads), and a new one once torch has been loaded.
    torch = sys.modules.get("torch")
    key = (os.getpid(), threads, torch is not None)
    if key not in _pools:
        before = torch.get_num_threads() if torch else 0
        pool = ThreadPoolExecutor(threads, thread_name_prefix="unseen-block")
        meet = threading.Barrier(threads)
        wait([pool.submit(_begin, meet) for _ in range(threads)])
        if torch:
            # A thread's own setting is kept, but it has also become that of threads yet to come: put it back.
            torch.set_num_threads(before)
        _pools[key] = pool
    return _pools[key]


def _begin(meet: threading.Barrier) -> None:
    meet.wait()  # so that every thread of the pool comes here once
    _inside.worker = True
    if torch := sys.modules.get("torch"):
        torch.get_num_threads()  # the first call in a thread copies the common setting, which must not come later
        torch.set_num_threads(1)
