"""A worker is killed at a random moment, again and again: `unseen bench kill`.

Two processes train RECT under torchrun with checkpoints. In every run one of them gets SIGKILL, at a moment drawn
from the time that the undisturbed training took; the run has to end, with the vectors of the undisturbed one. A run
that was faster than the drawn moment does not count, and is made again.
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
        code, said = run_group(2, *job, "-o", str(folder / "whole"))
        if code:
            msg = f"the undisturbed run failed: {said.strip().splitlines()[-1]}"
            raise UnseenError(msg)
        length = _seconds(said)
        expected = read_vectors(folder / "whole").vectors
        rows: list[tuple[str, ...]] = []
        while len(rows) < repeats:
            output = folder / f"run-{len(rows)}"
            moment, worker = rng.uniform(0, length), int(rng.integers(2))
            heard = _disturbed(job, output, moment, worker)
            if heard is None:
                continue
            found = read_vectors(output).vectors
            off = float(np.linalg.norm(found - expected) / np.linalg.norm(expected))
            rows.append((str(len(rows) + 1), f"{moment:.1f}", _resumed(heard), f"{off:.1e}"))
            logger.info(
                "run %d: killed after %.1f s, went on after %s, off by %.1e",
                len(rows),
                moment,
                rows[-1][2],
                off,
            )
    header = ("run", "killed after s", "went on after", "relative difference")
    note = f"The undisturbed training took {length:.1f} s. All {repeats} runs finished."
    return [Table("RECT on two processes, one of them killed at a random moment", header, rows, (note,))]


def _disturbed(job: list[str], output: Path, moment: float, worker: int) -> str | None:
    """Run the job, kill one of its workers; return what it said, None where it was done before the moment came."""
    with group(2, *job, "-o", str(output), restarts=3) as process:
        while not output.exists() and process.poll() is None:  # it is made when the processes have met
            time.sleep(0.01)
        time.sleep(moment)
        workers = worker_ids(process.pid)
        killed = len(workers) > worker and not (output / "_SUCCESS").exists()
        if killed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(workers[worker], signal.SIGKILL)
        said, _ = process.communicate(timeout=DEADLINE)
        if process.returncode:
            msg = (
                f"a run did not survive a worker killed after {moment:.1f} s: {said.strip().splitlines()[-1]}"
            )
            raise UnseenError(msg)
    return said if killed else None


def _seconds(said: str) -> float:
    """Return how long the training took, from what it said."""
    line = next(line for line in said.splitlines() if "written to" in line and " columns in " in line)
    return float(line.split(" columns in ")[1].split(" s,")[0])


def _resumed(said: str) -> str:
    found = [
        line.split(": going on after ")[-1].split(",")[0]
        for line in said.splitlines()
        if "going on after" in line
    ]
    stages = [line.split(":")[0] for line in said.splitlines() if "going on after" in line]
    return f"{stages[-1]} {found[-1]}" if found else "the beginning"
