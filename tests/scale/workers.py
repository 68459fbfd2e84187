"""Start real processes on 127.0.0.1 and wait for what they do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

from unseen.bench.processes import environment

DEADLINE = 300
"""Seconds; a machine with ten times more to do than it has cores takes two minutes for what takes ten seconds."""


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


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds, or fail."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)
