"""Measurements with groups of processes: what they say is understood, and nothing of them is left on the machine."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from unseen.embedding import Embedding
from unseen.errors import InputError, UnseenError
from unseen_paper.bench import kill, ranks
from unseen_paper.bench.processes import Training, end, finished

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="workers are found by /proc"),
]
LAUNCHER = """
import subprocess, sys, time
worker = [sys.executable, "-c", "import time; time.sleep(60)"]
for _ in range(2):  # as torchrun does it, each in a session of its own
    print(subprocess.Popen(worker, start_new_session=True).pid, flush=True)
time.sleep(60)
"""


def _is_running(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_workers_in_sessions_of_their_own_end_with_their_launcher() -> None:
    command = [sys.executable, "-c", LAUNCHER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as launcher:
        assert launcher.stdout is not None
        workers = [int(launcher.stdout.readline()) for _ in range(2)]
        assert all(_is_running(worker) for worker in workers)
        end(launcher)
    deadline = time.monotonic() + 10  # they are gone once the system has come to it
    while any(_is_running(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(_is_running(worker) for worker in workers)


def test_a_launcher_that_has_ended_already_is_no_error() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], text=True, start_new_session=True) as launcher:
        launcher.wait(60)
        end(launcher)
    assert launcher.returncode == 0


def test_a_training_that_fails_is_an_error_with_its_last_line() -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('first\\nthe disk is full')"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process, pytest.raises(UnseenError, match=r"^this run failed: the disk is full$"):
        finished(process, "this run")


def test_a_run_that_went_on_says_from_where(tmp_path: Path) -> None:
    assert kill._resumed(Training(1.0, 1, 0, {"stage": "rect-n", "step": 5})) == "rect-n step 5"
    assert kill._resumed(Training(1.0, 1, 0)) == "the beginning"
    assert kill._done(tmp_path) == 0
    for step in ("rect-l-000100", "rect-n-000005"):
        (tmp_path / "_checkpoints" / "job" / step).mkdir(parents=True)
    (tmp_path / "_checkpoints" / "job" / "rect-l-000100" / "COMMIT").write_text("")
    assert kill._done(tmp_path) == 20
    (tmp_path / "_checkpoints" / "job" / "rect-n-000005" / "COMMIT").write_text("")
    assert kill._named(kill._done(tmp_path)) == "rect-n step 5"


def test_vectors_and_costs_of_several_processes_are_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ranks, "SAME_NODES", 60)
    vectors = {1: np.ones((2, 2)), 2: np.ones((2, 2)), 4: np.array([[1.0, 1.0], [1.0, 1.5]])}
    monkeypatch.setattr(ranks, "_train", lambda *_: Training(2.0, 10**9, 10**6))
    monkeypatch.setattr(
        ranks, "read_vectors", lambda path: Embedding(vectors[int(path.name[-1])], ["a", "b"])
    )
    rows = ranks.same_vectors(tmp_path, ["rect-n"], 3).rows
    assert rows == [("rect-n", "2", "0.0e+00", "0.0e+00"), ("rect-n", "4", "2.5e-01", "5.0e-01")]
    costs = ranks.costs(tmp_path, [100]).rows
    assert [row[:2] for row in costs] == [("100", "1"), ("100", "2"), ("100", "4")]
    assert costs[0][-1] == "1 MB"
    with pytest.raises(InputError, match="unknown method that trains on parts 'gcn'"):
        ranks.run(methods=["gcn"])
