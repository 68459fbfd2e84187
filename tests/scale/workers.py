"""Start real groups of processes on 127.0.0.1, and end them by id."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

DEADLINE = 120


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment() -> dict[str, str]:
    """Return the environment of workers: one thread, the loopback interface, restarts that work."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
    }


@contextlib.contextmanager
def group(size: int, *arguments: str, restarts: int = 0) -> Iterator[subprocess.Popen[str]]:
    """Run ``python -m unseen.scale`` under torchrun, as a session that is ended when the block ends."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(size)]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{free_port()}"]
    command += [
        "--max-restarts",
        str(restarts),
        "--monitor-interval",
        "0.1",
        "-m",
        "unseen.scale",
        *arguments,
    ]
    process = subprocess.Popen(
        command,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(DEADLINE)


def run_group(size: int, *arguments: str, restarts: int = 0) -> tuple[int, str]:
    """Run a group to its end; return its exit code and what it said."""
    with group(size, *arguments, restarts=restarts) as process:
        said, _ = process.communicate(timeout=DEADLINE)
        return process.returncode, said


def run_alone(*arguments: str, **environ: str) -> tuple[int, str, float]:
    """Run ``python -m unseen.scale`` alone; return exit code, what it said, and the seconds it took."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "unseen.scale", *arguments],
        env={**environment(), **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    return done.returncode, done.stdout, time.monotonic() - start


def worker_ids(launcher: int) -> list[int]:
    """Return the ids of the workers that a launcher has started, by its children in /proc."""
    found = []
    for task in Path(f"/proc/{launcher}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return [child for child in found if _is_worker(child)]


def _is_worker(process: int) -> bool:
    with contextlib.suppress(OSError):
        return b"unseen.scale" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds, or fail."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)
