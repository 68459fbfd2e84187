"""A worker is killed at a random moment, again and again: `unseen bench kill`.

Two processes train RECT under torchrun with checkpoints. In every run one of them gets SIGKILL, at a moment drawn
from the whole length of an undisturbed run; the run has to end, with the vectors of the undisturbed one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.bench.processes import DEADLINE, group, run_group, worker_ids
from unseen.bench.report import Table
from unseen.errors import UnseenError, logger


def run(*, repeats: int = 20, nodes: int = 3000) -> list[Table]:
    """Return one row a run: when the worker was killed, how long it took, how far the vectors are off."""
    from unseen.scale.partition import partition
    from unseen.scale.vectors import read_vectors

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ends = rng.integers(0, nodes, (2, 2 * nodes))
        pq.write_table(pa.table({"src": ends[0], "dst": ends[1]}), folder / "edges.parquet")
        labelled = np.unique(ends)[::10]
        pq.write_table(pa.table({"node": labelled, "label": labelled % 3}), folder / "labels.parquet")
        partition(folder / "edges.parquet", folder / "parts", parts=2, labels=folder / "labels.parquet")
        job = [
            str(folder / "parts"),
            "--method",
            "rect",
            "--dim",
            "64",
            "--checkpoint-every",
            "5",
            "--timeout",
            "60",
        ]
        start = time.monotonic()
        code, said = run_group(2, *job, "-o", str(folder / "whole"))
        length = time.monotonic() - start
        if code:
            msg = f"the undisturbed run failed: {said.strip().splitlines()[-1]}"
            raise UnseenError(msg)
        expected = read_vectors(folder / "whole").vectors
        rows = []
        for number in range(1, repeats + 1):
            moment, worker = rng.uniform(0, length), int(rng.integers(2))
            seconds, at, said = _disturbed(job, folder / f"run-{number}", moment, worker)
            found = read_vectors(folder / f"run-{number}").vectors
            off = float(np.linalg.norm(found - expected) / np.linalg.norm(expected))
            rows.append((str(number), f"{at:.1f}", _resumed(said), f"{seconds:.1f}", f"{off:.1e}"))
            logger.info(
                "run %d: killed after %.1f s, done after %.1f s, off by %.1e", number, at, seconds, off
            )
    header = ("run", "killed after s", "went on after", "done after s", "relative difference")
    note = f"An undisturbed run takes {length:.1f} s. {len(rows)} of {repeats} runs finished."
    return [Table("RECT on two processes, one of them killed at a random moment", header, rows, (note,))]


def _disturbed(job: list[str], output: Path, moment: float, worker: int) -> tuple[float, float, str]:
    start = time.monotonic()
    with group(2, *job, "-o", str(output), restarts=3) as process:
        while time.monotonic() - start < moment or (
            len(worker_ids(process.pid)) < 2 and process.poll() is None
        ):
            time.sleep(0.02)
        at = time.monotonic() - start
        with contextlib.suppress(ProcessLookupError, IndexError):  # it has just ended by itself
            os.kill(worker_ids(process.pid)[worker], signal.SIGKILL)
        said, _ = process.communicate(timeout=DEADLINE)
        if process.returncode:
            msg = f"a run did not survive a worker killed after {at:.1f} s: {said.strip().splitlines()[-1]}"
            raise UnseenError(msg)
    return time.monotonic() - start, at, said


def _resumed(said: str) -> str:
    found = [
        line.split(": going on after ")[-1].split(",")[0]
        for line in said.splitlines()
        if "going on after" in line
    ]
    stages = [line.split(":")[0] for line in said.splitlines() if "going on after" in line]
    return f"{stages[-1]} {found[-1]}" if found else "the beginning"
