"""The one thing a method meets beside the graph and the labels: how its work is done.

A method's ``_fit(graph, labels, run)`` is mathematics. Threads, processes, disk, checkpoints and work shared with other
fits are the run's. Its promises: the same seed gives the same bits for any number of threads, several processes give
the numbers of one, and what was interrupted goes on where it was.

Work on rows goes by blocks. They are cut by the size of the work alone, each is computed by one thread, and their
results come back in order. A library that threads one operation by itself gives no such promise: its sums change in the
last bits with the number of threads, and training carries that into the result. So BLAS and torch keep to one thread
meanwhile.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import scipy.sparse as sp

from unseen.engine.comm import SOLO, Comm
from unseen.engine.scratch import scratch_zeros
from unseen.ids import Array, Singles
from unseen.randomness import RandomState, as_generator

if TYPE_CHECKING:
    from unseen.engine.sparse import Matrix
    from unseen.engine.steps import Checkpoints, History, Training

S = TypeVar("S")
T = TypeVar("T")
Cut = tuple[int, int]

BLOCK_ROWS = 4096
"""Rows of a block, at most."""
BLOCKS_AT_ONCE = 4
"""Results of blocks for each thread that wait to be added up."""
_pools: dict[tuple[int, int, bool], ThreadPoolExecutor] = {}
_inside = threading.local()
_limit = SimpleNamespace(lock=threading.RLock(), count=0, before=[], modules=0, torch=0)
"""How many ask for one thread at present, what to put back after the last of them, and how many modules there were."""


class Shared:
    """Work on one graph that does not depend on the labels, done once for several fits.

    Cross-validation and sweeps fit a method again and again on the same graph with other labels. RECT's structure
    half, the SVD of the features or the start of a factorisation are then computed once; the results are the same bits.

    Examples
    --------
    >>> import unseen
    >>> graph = unseen.planted_partition(60, 3, random_state=0).graph
    >>> shared, calls = Shared(graph), []
    >>> for _ in range(2):
    ...     value = shared.once("three", lambda: calls.append(1) or 3)
    >>> value, len(calls)
    (3, 1)
    """

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self._results: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returned when it was called first for this key."""
        if key not in self._results:
            self._results[key] = make()
        result: T = self._results[key]
        return result


@dataclass(eq=False, kw_only=True)
class Run:
    """How the work of a fit is done.

    Parameters
    ----------
    threads : int, optional
        Threads for blocks of rows; by default ``OMP_NUM_THREADS``, else one for each core.
    scratch : Path, optional
        Folder for large arrays that are read and written in order; without it they are in memory.
    keeper : Checkpoints, optional
        Stores the states of a training, see :mod:`unseen.engine.steps`.
    shared : Shared, optional
        Where label-free work is kept for other fits on the same graph.

    Attributes
    ----------
    rng : numpy Generator
        Everything random comes from here.
    comm : Comm
        The processes over which the rows of the graph are spread.

    Examples
    --------
    >>> run = Run(threads=2)
    >>> float(run.total(run.map_blocks(lambda start, stop: np.arange(start, stop).sum(), 500)))
    124750.0
    """

    threads: int | None = None
    scratch: Path | None = None
    keeper: Checkpoints | None = None
    shared: Shared | None = None
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    comm: Comm = SOLO
    graph: Any = None

    @contextmanager
    def for_graph(self, graph: Any, random_state: RandomState) -> Iterator[Run]:
        """Give the run of one fit on `graph`: libraries keep to one thread, because threads are for blocks."""
        with libraries_on_one_thread():
            yield replace(
                self, graph=graph, rng=as_generator(random_state), comm=getattr(graph, "comm", SOLO)
            )

    def with_seed(self, seed: int) -> Run:
        """Return the same for a part of the fit that has a seed of its own."""
        return replace(self, rng=as_generator(seed))

    @property
    def solo(self) -> Run:
        """The same for what every process holds as a whole: nothing is added up over processes."""
        return replace(self, comm=SOLO)

    @cached_property
    def n_threads(self) -> int:
        """How many threads work on blocks."""
        return self.threads or default_threads()

    @property
    def processes(self) -> int:
        """How many processes have some rows of the graph each."""
        return self.comm.size

    def cuts(self, n: int) -> list[Cut]:
        """Return the blocks of `n` rows; rows of the graph are cut as if one process had all of them."""
        is_part = self.graph is not None and n == len(self.graph.node_ids)
        size = rows_per_block(self.graph.n_nodes if is_part else n)
        return [(start, min(start + size, n)) for start in range(0, n, size)]

    def map_blocks(self, work: Callable[[int, int], T], n: int | Sequence[Cut]) -> list[T]:
        """Return ``work(start, stop)`` for blocks of `n` rows, or for given ones, in order, computed on threads."""
        return self.map_items(lambda cut: work(*cut), self.cuts(n) if isinstance(n, int) else n)

    def map_items(self, work: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """Return ``work(item)`` for all items, in order, computed on threads.

        An interrupt or an error waits for the work that has begun, so that nothing is written to shared arrays
        afterwards. Work inside of such work stays on its thread.
        """
        if self.n_threads == 1 or len(items) == 1 or getattr(_inside, "worker", False):
            return [work(item) for item in items]
        tasks = [_pool(self.n_threads).submit(work, item) for item in items]
        try:
            return [task.result() for task in tasks]
        except BaseException:
            for task in tasks:
                task.cancel()
            wait(tasks)
            raise

    def total(self, parts: Sequence[Any]) -> Any:
        """Return the sum of numbers or arrays, at least one, added in order and in float64, over all processes."""
        added = np.array(parts[0], dtype=np.float64)
        for part in parts[1:]:
            added += part
        return self.sum(added)

    def sum_blocks(self, work: Callable[[int, int], Any], n: int | Sequence[Cut], nothing: Any) -> Any:
        """Return the sum of ``work(start, stop)`` over blocks of rows, as :meth:`total`, with few of them in memory.

        `nothing` is a zero of the shape of the result, for a process without rows.
        """
        cuts, added = self.cuts(n) if isinstance(n, int) else n, np.array(nothing, dtype=np.float64)
        at_once = BLOCKS_AT_ONCE * self.n_threads
        for first in range(0, len(cuts), at_once):
            for part in self.map_blocks(work, cuts[first : first + at_once]):
                added += part
        return self.sum(added)

    def sum(self, array: T) -> T:
        """Add up an array (of numpy or torch) over all processes, in place, and return it."""
        return array if self.comm.size == 1 else self.comm.sum_(array)

    def count(self, number: float) -> int:
        """Return the sum of a whole number over all processes."""
        return int(self.sum(np.array([number], dtype=np.float64))[0])

    def gather(self, array: Array) -> Array:
        """Return the rows of all processes, one after the other, to each of them."""
        return array if self.comm.size == 1 else self.comm.gather(array)

    def matrix(self, matrix: sp.csr_array | Matrix, *, symmetric: bool = False) -> Matrix:
        """Return a sparse matrix whose products are made by this run."""
        from unseen.engine.sparse import Matrix

        if isinstance(matrix, Matrix):
            return Matrix(matrix.local, self, matrix.halo, symmetric=matrix.symmetric)
        return Matrix(matrix, self, symmetric=symmetric)

    def zeros(self, shape: tuple[int, ...]) -> Singles:
        """Return float32 zeros: on disk where there is a scratch folder and they are large, else in memory."""
        return scratch_zeros(shape, self.scratch)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returns, from an earlier fit on this graph where one had the same key.

        The key names everything else that the result depends on, the seed included.
        """
        if self.shared is None or self.shared.graph is not self.graph:
            return make()
        return self.shared.once(key, make)

    def steps(self, stage: str, n: int, training: Training, **options: Any) -> History:
        """Train, with checkpoints and callbacks; `options` are those of :func:`unseen.engine.steps.take_steps`."""
        from unseen.engine.steps import take_steps

        return take_steps(stage, n, training, keeper=self.keeper, **options)


def rows_per_block(n: int) -> int:
    """Return the size of equal blocks of `n` rows: at most 4,096 rows, and up to eight blocks of some hundred rows.

    Examples
    --------
    >>> rows_per_block(500), rows_per_block(16_000), rows_per_block(1_000_000)
    (250, 2000, 4082)
    """
    return max(1, -(-n // max(-(-n // BLOCK_ROWS), min(8, max(1, n // 192)))))


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


@contextmanager
def libraries_on_one_thread() -> Iterator[None]:
    """Keep BLAS, OpenMP and torch to one thread: threads are for blocks. It decorates functions, too.

    Between two operations of its own, the threads of such a library do not sleep but spin, and take the processors
    from ours and from others': on a busy machine small jobs took two to five times the processor time. A library that
    is imported inside is limited by the next that asks; torch, which methods import late, calls `hold_torch`.

    Examples
    --------
    >>> import torch
    >>> with libraries_on_one_thread():
    ...     torch.get_num_threads()
    1
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with _limit.lock:
        _limit.count += 1
        hold_torch()
        if _limit.modules != len(sys.modules):
            _limit.before.append(threadpool_limits(1))
            _limit.modules = len(sys.modules)
    try:
        yield
    finally:
        with _limit.lock:
            _limit.count -= 1
            if _limit.count == 0:
                while _limit.before:
                    _limit.before.pop().restore_original_limits()
                if _limit.torch:
                    sys.modules["torch"].set_num_threads(_limit.torch)
                _limit.modules = _limit.torch = 0


def hold_torch() -> None:
    """Keep torch, which has just been imported, to one thread if that is asked for at present."""
    torch = sys.modules.get("torch")
    with _limit.lock:
        if torch and _limit.count and not _limit.torch:
            _limit.torch = torch.get_num_threads()
            torch.set_num_threads(1)


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
