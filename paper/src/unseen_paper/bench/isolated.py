"""Run a function in a process of its own, so that its peak memory and its warm-up are its own.

``python -m unseen_paper.bench.isolated module function arguments`` is what runs there.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unseen.engine.memory import peak_bytes
from unseen.errors import UnseenError


@dataclass(frozen=True)
class Measured:
    """Seconds of the function alone, without imports and preparation, and memory.

    `processor` has the seconds of all its threads, which other work on the machine disturbs less. `megabytes` is the
    peak of the process, `added` how much of it came on top of what the process held when the function was called:
    libraries and input.
    """

    seconds: float
    megabytes: float
    added: float
    result: Any
    processor: float = 0.0


def measure(module: str, function: str, **arguments: Any) -> Measured:
    """Return what ``prepare``d work costs: `function` of `module` returns the function that is timed.

    Where that returns a function in its turn, this gives the result, and is neither timed nor weighed.

    Examples
    --------
    >>> measure("unseen_paper.bench.isolated", "nothing", answer=42).result
    42
    """
    command = [sys.executable, "-m", "unseen_paper.bench.isolated", module, function, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        msg = f"the measurement of {module}.{function} failed: {why}"
        raise UnseenError(msg)
    facts = json.loads(done.stdout.splitlines()[-1])
    return Measured(facts["seconds"], facts["megabytes"], facts["added"], facts["result"], facts["processor"])


def nothing(answer: int) -> Any:
    """Prepare work that does nothing, for trying things out."""
    return lambda: answer


@contextmanager
def watched(every: float = 0.1) -> Iterator[list[float]]:
    """Give a list whose one number is the most memory, in MB and without pages of files, held inside the block (Linux).

    Examples
    --------
    >>> with watched(0.001) as most:
    ...     block = b"x" * 50_000_000
    >>> most[0] > 50
    True
    """
    most, over = [_own_megabytes()], threading.Event()

    def look() -> None:
        while not over.wait(every):
            most[0] = max(most[0], _own_megabytes())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()
        most[0] = max(most[0], _own_megabytes())


def _own_megabytes() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) * 1024 / 1e6


def main(module: str, function: str, arguments: str) -> None:
    """Prepare, time and print as JSON."""
    work = getattr(importlib.import_module(module), function)(**json.loads(arguments))
    held = peak_bytes() / 1e6
    start, used = time.perf_counter(), time.process_time()
    result = work()
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    peak = peak_bytes() / 1e6
    facts = {
        "seconds": seconds,
        "processor": processor,
        "megabytes": peak,
        "added": peak - held,
        "result": result() if callable(result) else result,
    }
    sys.stdout.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
