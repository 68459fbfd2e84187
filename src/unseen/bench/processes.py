"""Groups of processes on this machine, for measurements and tests: started by torchrun, ended by id."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unseen.errors import UnseenError
from unseen.scale.sizes import parse_size

DEADLINE = 900
"""Seconds after which a group that does not end is taken as hanging."""


def free_port() -> int:
    """Return a port of 127.0.0.1 on which nobody listens.

    Examples
    --------
    >>> free_port() > 1023
    True
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_parts(folder: Path, nodes: int, *, parts: int) -> Path:
    """Write a random graph with twice as many edges as nodes, a tenth of them labelled, and cut it into parts.

    Examples
    --------
    >>> import tempfile
    >>> made = write_parts(Path(tempfile.mkdtemp()), 1000, parts=2)
    >>> sorted(path.name for path in made.iterdir())
    ['META.json', 'part-00000', 'part-00001']
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from unseen.scale.partition import partition

    ends = np.random.default_rng(0).integers(0, nodes, (2, 2 * nodes))
    edges, labels = folder / f"edges-{nodes}.parquet", folder / f"labels-{nodes}.parquet"
    pq.write_table(pa.table({"src": ends[0], "dst": ends[1]}), edges)
    labelled = np.unique(ends)[::10]
    pq.write_table(pa.table({"node": labelled, "label": labelled % 3}), labels)
    partition(edges, folder / f"parts-{nodes}", parts=parts, labels=labels)
    return folder / f"parts-{nodes}"


def environment() -> dict[str, str]:
    """Return the environment of workers: one thread, the loopback interface, restarts that work."""
    own = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    return {**os.environ, **own}


@contextlib.contextmanager
def group(size: int, *arguments: str, restarts: int = 0) -> Iterator[subprocess.Popen[str]]:
    """Run ``python -m unseen.scale`` in `size` processes; what is left of them is ended with the block."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(size)]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{free_port()}"]
    command += ["--max-restarts", str(restarts), "--monitor-interval", "0.1"]
    process = subprocess.Popen(
        [*command, "-m", "unseen.scale", *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        end(process)


def end(launcher: subprocess.Popen[str]) -> None:
    """End a launcher that was started in a session of its own, and the workers it has started.

    torchrun puts every worker into a session of its own, so that ending the launcher's would leave them running.
    """
    if launcher.poll() is None:
        os.kill(launcher.pid, signal.SIGSTOP)  # so that it starts no further worker while they are counted
        for worker in _children(launcher.pid):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker, signal.SIGKILL)
        os.killpg(launcher.pid, signal.SIGKILL)
    launcher.wait(DEADLINE)


def run_group(size: int, *arguments: str, restarts: int = 0) -> tuple[int, str]:
    """Run a group to its end; return its exit code and what it said."""
    with group(size, *arguments, restarts=restarts) as process:
        said, _ = process.communicate(timeout=DEADLINE)
        return process.returncode, said


@dataclass(frozen=True)
class Told:
    r"""What a training says at its end: seconds, and of the process that has most, bytes held and sent.

    Examples
    --------
    >>> told("rect: 10 vectors of 2 columns in 3.5 s, written to v\n"
    ...      "at most 1.5 GB of memory a process, and 20.0 MB of rows sent to others")
    Told(seconds=3.5, memory=1500000000, sent=20000000)
    """

    seconds: float
    memory: int
    sent: int


def told(said: str) -> Told:
    """Find the three numbers in what a training said."""
    seconds = re.search(r" columns in ([\d.]+) s, written to ", said)
    sizes = re.search(r"at most (.+?) of memory a process, and (.+?) of rows sent", said)
    if seconds is None or sizes is None:
        msg = f"the training did not say what it took, but: {said.strip()[-200:]}"
        raise UnseenError(msg)
    return Told(float(seconds[1]), parse_size(sizes[1]), parse_size(sizes[2]))


def worker_ids(launcher: int) -> list[int]:
    """Return the ids of the workers that a launcher has started, in their order (Linux)."""
    return [child for child in _children(launcher) if _is_worker(child)]


def _children(process: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return sorted(found)


def _is_worker(process: int) -> bool:
    with contextlib.suppress(OSError):
        return b"unseen.scale" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False
