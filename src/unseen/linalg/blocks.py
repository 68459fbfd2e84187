"""Work on blocks of rows on several threads, with results that do not depend on how many there are.

The blocks are cut by the size of the work alone, each is computed by one thread, and what they return comes back in
their order. A library that threads one operation by itself gives no such promise: its sums change in the last bits
with the number of threads, and training carries that into the result.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
Cut = tuple[int, int]

_pools: dict[tuple[int, int, bool], ThreadPoolExecutor] = {}
_inside = threading.local()


def row_cuts(n: int, *, rows: int = 4096, of: int | None = None) -> list[Cut]:
    """Return (start, stop) of blocks of equal size: at most `rows` rows, and up to eight blocks of some hundred rows.

    Where these rows are some `of` more, the blocks are as large as those of all: then a sum over blocks has the same
    terms wherever they are computed.

    Examples
    --------
    >>> row_cuts(500)
    [(0, 250), (250, 500)]
    >>> len(row_cuts(16_000)), len(row_cuts(1_000_000))
    (8, 245)
    """
    if n == 0:
        return []
    size = block_rows(n if of is None else of, rows=rows)
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def block_rows(n: int, *, rows: int = 4096) -> int:
    """Return the size of the blocks into which :func:`row_cuts` cuts `n` rows.

    Examples
    --------
    >>> block_rows(500)
    250
    """
    return -(-n // max(-(-n // rows), min(8, max(1, n // 192))))


def map_blocks(function: Callable[[int, int], T], cuts: Sequence[Cut]) -> list[T]:
    """Return ``function(start, stop)`` of every cut, in order, computed on :func:`thread_count` threads.

    torch, where it is loaded, uses one thread inside `function`. An interrupt or an error waits for the blocks
    that have begun, so that nobody writes to shared arrays afterwards.

    Examples
    --------
    >>> map_blocks(lambda start, stop: stop - start, row_cuts(500))
    [250, 250]
    """
    threads = thread_count()
    alone = len(cuts) == 1 and bool(getattr(_inside, "threads", False))  # one thread is what this one has
    if threads == 1 or alone or getattr(_inside, "worker", False):
        return [function(start, stop) for start, stop in cuts]
    tasks = [_pool(threads).submit(function, start, stop) for start, stop in cuts]
    try:
        return [task.result() for task in tasks]
    except BaseException:
        for task in tasks:
            task.cancel()
        wait(tasks)
        raise


def thread_count() -> int:
    """Return how many threads to use: torch's number where it is loaded, else ``OMP_NUM_THREADS``, else all.

    Examples
    --------
    >>> thread_count() >= 1
    True
    """
    kept = getattr(_inside, "threads", 0)
    if kept:
        return int(kept)
    if "torch" in sys.modules:
        return int(sys.modules["torch"].get_num_threads())
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def threads_for_blocks_only() -> Iterator[None]:
    """Give torch one thread outside of blocks too, for as long as the block lasts.

    Between two operations of its own, torch's threads do not sleep but spin, and take the processors from ours.

    Examples
    --------
    >>> import torch
    >>> with threads_for_blocks_only():
    ...     torch.get_num_threads()
    1
    """
    import torch

    threads = thread_count()
    if threads == 1 or getattr(_inside, "worker", False) or getattr(_inside, "threads", 0):
        yield
        return
    _pool(threads)
    torch.set_num_threads(1)
    _inside.threads = threads
    try:
        yield
    finally:
        _inside.threads = 0
        torch.set_num_threads(threads)


def _pool(threads: int) -> ThreadPoolExecutor:
    # One pool a process (a fork has none of its parent's threads), and a new one once torch has been loaded.
    key = (os.getpid(), threads, "torch" in sys.modules)
    if key not in _pools:
        pool = ThreadPoolExecutor(threads, thread_name_prefix="unseen-block")
        meet = threading.Barrier(threads)
        wait([pool.submit(_begin, meet) for _ in range(threads)])
        if "torch" in sys.modules:
            # A thread's own setting is kept, but it has also become that of threads yet to come: put it back.
            sys.modules["torch"].set_num_threads(threads)
        _pools[key] = pool
    return _pools[key]


def _begin(meet: threading.Barrier) -> None:
    meet.wait()  # so that every thread of the pool comes here once
    _inside.worker = True
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        torch.get_num_threads()  # the first call in a thread copies the common setting, which must not come later
        torch.set_num_threads(1)
