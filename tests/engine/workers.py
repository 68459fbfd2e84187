"""Start real processes on 127.0.0.1."""

from __future__ import annotations

import subprocess
import sys

from unseen_paper.bench.processes import environment
from waiting import DEADLINE


def run_alone(*arguments: str, **environ: str) -> tuple[int, str]:
    """Run ``python -m unseen.scale`` alone; return its exit code and what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "unseen.scale", *arguments],
        env={**environment(), **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    return done.returncode, done.stdout
