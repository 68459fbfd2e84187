"""Run a function in a process of its own, so that its peak memory and its warm-up are its own.

``python -m unseen.bench.isolated module function arguments`` is what runs there.
"""

from __future__ import annotations

import importlib
import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from unseen.errors import UnseenError


@dataclass(frozen=True)
class Measured:
    """Seconds of the function alone, without imports and preparation, and the peak memory of its process."""

    seconds: float
    megabytes: float
    result: Any


def measure(module: str, function: str, **arguments: Any) -> Measured:
    """Return what ``prepare``d work costs: `function` of `module` returns the function that is timed.

    Examples
    --------
    >>> measure("unseen.bench.isolated", "nothing", answer=42).result
    42
    """
    command = [sys.executable, "-m", "unseen.bench.isolated", module, function, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"the measurement of {module}.{function} failed: {done.stderr.strip().splitlines()[-1:]}"
        raise UnseenError(msg)
    found = json.loads(done.stdout.splitlines()[-1])
    return Measured(found["seconds"], found["megabytes"], found["result"])


def nothing(answer: int) -> Any:
    """Prepare work that does nothing, for trying things out."""
    return lambda: answer


def main(module: str, function: str, arguments: str) -> None:
    """Prepare, time and print as JSON."""
    work = getattr(importlib.import_module(module), function)(**json.loads(arguments))
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kilobytes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    sys.stdout.write(json.dumps({"seconds": seconds, "megabytes": peak, "result": result}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
