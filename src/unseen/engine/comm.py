"""One process, or a group of them over `torch.distributed`, and the rows that they send each other.

gloo between processors, nccl between GPUs. :data:`SOLO` is the process that works alone: its sums and exchanges do
nothing, and it makes no process group.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unseen.errors import UnseenError, logger
from unseen.ids import Array, Ints

if TYPE_CHECKING:
    import torch

AnyArray = TypeVar("AnyArray")

TIMEOUT = 300.0
"""Seconds after which a process that waits for another one gives up."""


class CommError(UnseenError):
    """The processes lost each other; the message says what was waited for."""


class Comm:
    """The process that works alone. Everything it is asked to sum or exchange is its own already.

    Attributes
    ----------
    rank, size : int
        Number of this process, from 0, and how many there are.
    sent : int
        Bytes of rows sent to others so far.

    Examples
    --------
    >>> SOLO.size, SOLO.gather(np.arange(2)).tolist()
    (1, [0, 1])
    """

    rank = 0
    size = 1
    sent = 0

    def sum_(self, array: AnyArray) -> AnyArray:
        """Add up an array (numpy or torch) over all processes, in place, and return it."""
        return array

    def exchange(self, rows: AnyArray, send: Sequence[int], receive: Sequence[int]) -> AnyArray:  # noqa: ARG002
        """Send the first ``send[0]`` rows to process 0, the next to process 1 ...; return the rows of all for this one.

        `rows` is an array of numpy or torch, and so is the result.
        """
        return rows

    def barrier(self) -> None:
        """Wait until all processes are here."""
        self.sum_(np.zeros(1))

    def exchange_arrays(self, array: Array, send: Sequence[int]) -> tuple[Array, list[int]]:
        """Exchange rows of a numpy array whose receivers do not know how many will come; return rows and counts."""
        counts = np.array(list(send), dtype=np.int64)
        receive: list[int] = self.exchange(counts, [1] * self.size, [1] * self.size).tolist()
        return self.exchange(np.ascontiguousarray(array), list(send), receive), receive

    def gather(self, array: Array) -> Array:
        """Return the rows of all processes, one after the other, to each of them."""
        return self.exchange_arrays(np.concatenate([array] * self.size), [len(array)] * self.size)[0]


SOLO = Comm()


class Group(Comm):
    """A process of a `torch.distributed` group that exists already."""

    def __init__(self, device: torch.device) -> None:
        import torch.distributed as dist

        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.device = device

    def sum_(self, array: AnyArray) -> AnyArray:  # noqa: D102
        import torch
        import torch.distributed as dist

        tensor = torch.from_numpy(array) if isinstance(array, np.ndarray) else array
        moved = tensor.to(self.device).contiguous()  # type: ignore[union-attr]
        with _explain_errors("the sum over processes"):
            dist.all_reduce(moved)
        if moved is not tensor:
            tensor.copy_(moved)  # type: ignore[union-attr]
        return array

    def exchange(self, rows: AnyArray, send: Sequence[int], receive: Sequence[int]) -> AnyArray:  # noqa: D102
        import torch
        import torch.distributed as dist

        tensor: Any = torch.from_numpy(rows) if isinstance(rows, np.ndarray) else rows
        moved = tensor.to(self.device).contiguous()
        per_row = moved.element_size() * (moved[:1].numel() or 1)
        self.sent += per_row * (sum(send) - send[self.rank])
        received: Any = torch.empty((sum(receive), *tensor.shape[1:]), dtype=tensor.dtype, device=self.device)
        with _explain_errors("the exchange of rows"):
            dist.all_to_all_single(received, moved, list(receive), list(send))
        received = received.to(tensor.device)
        return received.numpy() if isinstance(rows, np.ndarray) else received  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Layout:
    """Which rows belong to which process.

    Examples
    --------
    >>> layout = Layout((0, 10), SOLO)
    >>> layout.n, layout.n_rows, layout.owner(np.array([0, 9])).tolist()
    (10, 10, [0, 0])
    """

    starts: tuple[int, ...]
    comm: Comm

    @property
    def n(self) -> int:
        """Rows of all processes."""
        return self.starts[-1]

    @property
    def first(self) -> int:
        """The first own row."""
        return self.starts[self.comm.rank]

    @property
    def n_rows(self) -> int:
        """Number of own rows."""
        return self.starts[self.comm.rank + 1] - self.first

    def owner(self, rows: Ints) -> Ints:
        """Return the process of each row."""
        return np.asarray(np.searchsorted(self.starts, rows, side="right") - 1, dtype=np.int64)

    def counts(self, rows: Ints) -> list[int]:
        """Return how many of these rows each process has."""
        return [int(k) for k in np.bincount(self.owner(rows), minlength=self.comm.size)]


class Halo:
    """The foreign rows a process needs, and which of its own the others need.

    Parameters
    ----------
    layout : Layout
        Who has what.
    ids : ndarray of int
        Numbers of the foreign rows, sorted.
    """

    def __init__(self, layout: Layout, ids: Ints) -> None:
        self.layout, self.ids = layout, ids
        self.receive = layout.counts(ids) if len(ids) else [0] * layout.comm.size
        wanted, self.send = layout.comm.exchange_arrays(ids, self.receive)
        self.rows: Ints = wanted - layout.first
        crowded = -(-len(ids) // max(1, layout.n_rows))
        # in so many turns the foreign rows take no more memory than the own ones; all processes take as many
        self.turns = int(layout.comm.gather(np.array([max(1, crowded)])).max())

    def fetch_rows(self, V: Array) -> Array:
        """Return the foreign rows of V, given the own ones."""
        return self.layout.comm.exchange(np.ascontiguousarray(V[self.rows]), self.send, self.receive)

    def extend_rows(self, V: Array) -> Array:
        """Return the own rows of V and the foreign ones below them."""
        whole = np.empty((len(V) + len(self.ids), *V.shape[1:]), dtype=V.dtype)
        whole[: len(V)] = V
        whole[len(V) :] = self.fetch_rows(V)
        return whole

    def collect_rows(self, V: Array) -> Array:
        """Return the own rows of V plus what the processes hold for them among their foreign rows."""
        own, foreign = V[: self.layout.n_rows].copy(), np.ascontiguousarray(V[self.layout.n_rows :])
        received = self.layout.comm.exchange(foreign, self.receive, self.send)
        start = 0
        # one process at a time: it names a row at most once, so that a plain addition will do
        for count in self.send:
            own[self.rows[start : start + count]] += received[start : start + count]
            start += count
        return own


@contextlib.contextmanager
def connect(timeout: float = TIMEOUT) -> Iterator[Comm]:
    """Give the group that ``torchrun`` started this process in, or :data:`SOLO` where there is none.

    Parameters
    ----------
    timeout : float
        Seconds to wait for another process before giving up with an error.

    Examples
    --------
    >>> with connect() as comm:
    ...     comm.size
    1
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield SOLO
        return
    import torch
    import torch.distributed as dist

    here = int(os.environ.get("LOCAL_RANK", "0"))
    # every process needs a GPU of its own, or none uses one
    local = int(os.environ.get("LOCAL_WORLD_SIZE", str(size)))
    gpus = torch.cuda.is_available() and torch.cuda.device_count() >= local and dist.is_nccl_available()
    device = torch.device("cuda", here) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    if int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")) and not os.environ.get(RESTART_SETTING):
        logger.warning(
            "%s=1 is not set for torchrun; without it restarts after a crash often fail", RESTART_SETTING
        )
    where = f"{os.environ.get('MASTER_ADDR', '?')}:{os.environ.get('MASTER_PORT', '?')}"
    with _explain_errors(f"the connection to the other {size - 1} processes at {where}", timeout):
        dist.init_process_group("nccl" if gpus else "gloo", timeout=timedelta(seconds=timeout))
        group = Group(device)
        group.barrier()
    try:
        yield group
    finally:
        dist.destroy_process_group()


RESTART_SETTING = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"


@contextlib.contextmanager
def _explain_errors(what: str, timeout: float | None = None) -> Iterator[None]:
    """Turn what torch says of a lost connection into a sentence."""
    try:
        yield
    except (RuntimeError, ValueError) as error:  # torch's network errors are RuntimeErrors
        if isinstance(error, UnseenError):
            raise
        # without the place in torch's own source
        reason = re.sub(r"^\[\S+:\d+\] ", "", " ".join(str(error).split()))[:200] or type(error).__name__
        waited = "" if timeout is None else f" within {timeout:g} s"
        msg = (
            f"{what} failed{waited}: {reason}; if a process died, its own message is the cause, "
            "otherwise check the address, the network and that all processes were started"
        )
        raise CommError(msg) from error
