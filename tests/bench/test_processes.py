"""Groups of processes are ended as a whole: nothing of them is left on the machine."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from unseen.bench.processes import end

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="workers are found by /proc")
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
