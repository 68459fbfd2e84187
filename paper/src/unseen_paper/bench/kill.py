"""A worker is killed at a random moment, again and again: `unseen bench kill`.

Two processes run under torchrun: the default method, which begins again, or RECT, which has checkpoints. In every run
one of them gets SIGKILL, at a moment drawn from the whole run: after so many checkpoints, and a random part of the time
to the next one. The run has to end, with the vectors of the undisturbed one. A run that ended before its moment came
does not count, and is made again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unseen.engine.train import CHECKPOINTS, SUCCESS, read_vectors
from unseen.errors import logger, unknown_name
from unseen_paper.bench.processes import Training, finished, group, run_group, worker_ids, write_parts
from unseen_paper.bench.report import Table

EPOCHS, EVERY = 100, 5
METHODS = ("rect-plus", "rect")
STAGES = ("rect-l", "rect-n")
"""What RECT trains, one after the other."""


@dataclass(frozen=True)
class Moment:
    """When to kill: after so many checkpoints and `wait` seconds, the worker with this number."""

    checkpoints: int
    wait: float
    worker: int


def run(
    *, repeats: int = 20, methods: Sequence[str] = METHODS, sizes: Sequence[int] = (3000,)
) -> list[Table]:
    """Return for each method and size one row per run: when a worker was killed, and how far the vectors are off."""
    for method in methods:
        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
    return [_kill_workers(method, repeats, nodes) for method in methods for nodes in sizes]


def _kill_workers(method: str, repeats: int, nodes: int) -> Table:
    rng = np.random.default_rng(0)
    total = len(STAGES) * EPOCHS // EVERY if method == "rect" else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = write_parts(folder, nodes, parts=2)
        job = [str(parts), "--method", method, "--dim", "64"]
        job += ["--epochs", str(EPOCHS), "--checkpoint-every", str(EVERY)] if method == "rect" else []
        step = run_group(2, *job, "-o", str(folder / "whole")).seconds / total
        expected = read_vectors(folder / "whole").vectors
        rows: list[tuple[str, ...]] = []
        while len(rows) < repeats:
            output = folder / f"run-{len(rows)}"
            moment = Moment(int(rng.integers(total)), rng.uniform(0, step), int(rng.integers(2)))
            disturbed = _disturbed(job, output, moment)
            if disturbed is None:
                shutil.rmtree(output)  # the next one begins without vectors
                continue
            reached, training = disturbed
            vectors = read_vectors(output).vectors
            off = np.linalg.norm(vectors - expected) / np.linalg.norm(expected)
            rows.append((str(len(rows) + 1), str(moment.worker), reached, _resumed(training), f"{off:.1e}"))
            logger.info("run %s: process %s killed after %s, went on after %s, off by %s", *rows[-1])
    header = ("run", "process", "last checkpoint before the kill", "went on after", "relative difference")
    note = f"All {repeats} runs finished. The undisturbed run took {step * total:.1f} s, loading included."
    return Table(f"{method} on two processes, {nodes:,} nodes, one process killed", header, rows, (note,))


def _disturbed(job: list[str], output: Path, moment: Moment) -> tuple[str, Training] | None:
    """Run the job and kill a worker; return how far it was then and what it took, None where it was done before."""
    with group(2, *job, "-o", str(output), restarts=3) as process:
        # the folder is made when the processes have met
        while process.poll() is None and not (output.exists() and _done(output) >= moment.checkpoints):
            time.sleep(0.005)
        time.sleep(moment.wait)
        workers = worker_ids(process.pid)
        killed = len(workers) > moment.worker and not (output / SUCCESS).exists()
        reached = _named(_done(output))
        if killed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(workers[moment.worker], signal.SIGKILL)
        training = finished(process, f"the run with a worker killed after {reached}")
    return (reached, training) if killed else None


def _done(output: Path) -> int:
    """Return how many checkpoints a run has got to; of older ones nothing is left."""
    newest = 0
    for commit in output.glob(f"{CHECKPOINTS}/*/*/COMMIT"):
        stage, _, step = commit.parent.name.rpartition("-")
        newest = max(newest, STAGES.index(stage) * EPOCHS // EVERY + int(step) // EVERY)
    return newest


def _named(checkpoints: int) -> str:
    """Return the stage and step of a checkpoint by its number.

    Examples
    --------
    >>> _named(0), _named(20), _named(21)
    ('the beginning', 'rect-l step 100', 'rect-n step 5')
    """
    if not checkpoints:
        return "the beginning"
    before, step = divmod((checkpoints - 1) * EVERY, EPOCHS)
    return f"{STAGES[before]} step {step + EVERY}"


def _resumed(training: Training) -> str:
    """Return the stage and step after which a run went on."""
    if training.resumed is None:
        return "the beginning"
    return f"{training.resumed['stage']} step {training.resumed['step']}"
