"""Groups of processes on this machine, for measurements and tests: started by torchrun, ended by id."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from unseen.errors import UnseenError

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


def write_parts(folder: Path, nodes: int, *, parts: int, words: int = 0) -> Path:
    """Write a random graph with twice as many edges as nodes, a tenth of them labelled, and cut it into parts.

    A node has so many of a hundred times as many words, drawn at random; none by default.

    Examples
    --------
    >>> import tempfile
    >>> parts = write_parts(Path(tempfile.mkdtemp()), 1000, parts=2)
    >>> sorted(path.name for path in parts.iterdir())
    ['META.json', 'part-00000', 'part-00001']
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from unseen.engine.partition import partition

    ends = np.random.default_rng(0).integers(0, nodes, (2, 2 * nodes))
    edges, labels = folder / f"edges-{nodes}.parquet", folder / f"labels-{nodes}.parquet"
    pq.write_table(pa.table({"src": ends[0], "dst": ends[1]}), edges)
    labelled = np.unique(ends)[::10]
    pq.write_table(pa.table({"node": labelled, "label": labelled % 3}), labels)
    features = folder / f"features-{nodes}.npz" if words else None
    if features is not None:
        ids = np.unique(ends)
        columns = np.random.default_rng(1).integers(0, 100 * words, words * len(ids), dtype=np.int32)
        starts = np.arange(0, len(columns) + 1, words)
        matrix = {"data": np.ones(len(columns), dtype=np.float32), "indices": columns, "indptr": starts}
        about: dict[str, Any] = {"ids": ids, "format": np.array(b"csr"), "shape": (len(ids), 100 * words)}
        np.savez(features, **about, **matrix)  # type: ignore[arg-type]  # numpy's names are not typed
    partition(edges, folder / f"parts-{nodes}", parts=parts, labels=labels, features=features)
    return folder / f"parts-{nodes}"


def environment() -> dict[str, str]:
    """Return the environment of workers: one thread, the loopback interface, restarts that work."""
    own = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    return {**os.environ, **own}


@contextlib.contextmanager
def group(size: int, *arguments: str, restarts: int = 0) -> Iterator[subprocess.Popen[str]]:
    """Run ``python -m unseen.scale --json`` in `size` processes; what is left of them is ended with the block."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(size)]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{free_port()}"]
    command += ["--max-restarts", str(restarts), "--monitor-interval", "0.1"]
    process = subprocess.Popen(
        [*command, "-m", "unseen.scale", *arguments, "--json"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
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


@dataclass(frozen=True)
class Training:
    """What a training took: seconds, and of the process that has most, bytes held and sent; where it went on.

    Examples
    --------
    >>> Training.from_json('{"seconds": 3.5, "peak_bytes": 15, "sent_bytes": 2, "resumed": null, "nodes": 9}')
    Training(seconds=3.5, peak_bytes=15, sent_bytes=2, resumed=None)
    """

    seconds: float
    peak_bytes: int
    sent_bytes: int
    resumed: Mapping[str, Any] | None = None

    @classmethod
    def from_json(cls, text: str) -> Training:
        """Read what ``python -m unseen.scale --json`` printed."""
        facts = json.loads(text)
        return cls(**{field.name: facts[field.name] for field in fields(cls)})


def run_group(size: int, *arguments: str, restarts: int = 0) -> Training:
    """Run a group to its end and return what it took."""
    with group(size, *arguments, restarts=restarts) as process:
        return finished(process, f"the run on {size} processes")


def finished(process: subprocess.Popen[str], what: str) -> Training:
    """Wait for a group and return what it took; one that failed is an error with its last line."""
    out, err = process.communicate(timeout=DEADLINE)
    if process.returncode:
        last = (err.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        msg = f"{what} failed: {last}"
        raise UnseenError(msg)
    return Training.from_json(out)


def worker_ids(launcher: int) -> list[int]:
    """Return the ids of the workers that a launcher has started, in their order (Linux)."""
    workers = []
    for child in _children(launcher):
        with contextlib.suppress(OSError):
            if b"unseen.scale" in Path(f"/proc/{child}/cmdline").read_bytes():
                workers.append(child)
    return workers


def _children(process: int) -> list[int]:
    children: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children += [int(child) for child in task.read_text().split()]
    return sorted(children)
