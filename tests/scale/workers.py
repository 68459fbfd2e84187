"""Start real processes on 127.0.0.1."""

from __future__ import annotations

import subprocess
import sys
import time

from unseen_paper.bench.processes import environment
from waiting import DEADLINE


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
