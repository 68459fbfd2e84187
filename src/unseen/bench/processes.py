"""Groups of processes on this machine, for measurements and tests: started by torchrun, ended by id."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

DEADLINE = 300
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
