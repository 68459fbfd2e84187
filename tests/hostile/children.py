"""Cases are tried in a child process, so that a crash of a foreign library is seen and counted."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unseen.data.opened import BASE, RATIO

SECONDS = 60.0
"""Time that one case may take."""
OVERHEAD = 32_000_000
"""Bytes that a child may take beside the content: libraries that are imported while a case runs."""


@dataclass(frozen=True)
class Case:
    """One thing to try."""

    name: str
    kind: str  # the row of the table that counts it
    folder: Path  # where its files are
    arguments: dict[str, Any] = field(default_factory=dict)  # of `unseen.read`; names of files become paths
    truth: list[Any] | None = None  # the edges that must come out; None: any graph, or an error message
    refused: str | None = None  # a pattern of the error message that must come
    may_refuse: bool = False  # whether an error message is right, too, where there is a truth
    secret: str | None = None  # a text from another file, which must never come out
    task: str = "read"  # or `write`: from the truth to the file `target`, and back by the other library

    @property
    def n_bytes(self) -> int:
        """The size of its files; what is in folders that only lie about is not read."""
        return sum(each.stat().st_size for each in self.folder.rglob("*") if each.is_file())


@dataclass(frozen=True)
class Result:
    """What came of a case: ``exact``, ``read``, ``refused``, ``wrong``, ``crash``, ``above`` the bound, or ``slow``."""

    case: Case
    outcome: str
    message: str
    peak: float
    seconds: float


class Child:
    """A process that tries one case after another; it is started again after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._errors.close()
            self._process = None

    def _start(self) -> subprocess.Popen[bytes]:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        tests = Path(__file__).parents[1]
        self._process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", str(Path(__file__).with_name("worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(tests), *sys.path]),
                "OMP_NUM_THREADS": "1",
            },
        )
        return self._process

    def run(self, case: Case) -> Result:
        """Try a case and judge it."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"task": case.task, "folder": str(case.folder)}
        asked |= {"arguments": case.arguments, "truth": case.truth}
        start = time.monotonic()
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        line = process.stdout.readline() if ready else b""
        seconds = time.monotonic() - start
        if not line:
            code = process.poll() if ready else None
            self._errors.seek(0)
            trace = self._errors.read().decode(errors="replace")[-2000:]
            self._end()
            if ready:
                return Result(case, "crash", f"exit code {code}: {trace}", 0, seconds)
            return Result(case, "slow", f"no answer after {SECONDS:.0f} s: {trace}", 0, seconds)
        answer = json.loads(line)
        outcome, message = _judge(case, answer)
        bound = RATIO * case.n_bytes + BASE
        if outcome not in ("wrong", "crash") and answer["peak"] > bound + OVERHEAD:
            outcome, message = "above", f"{answer['peak'] / 1e6:.0f} MB, the bound is {bound / 1e6:.0f} MB"
        return Result(case, outcome, message, answer["peak"], seconds)


def _judge(case: Case, answer: dict[str, Any]) -> tuple[str, str]:
    """Return the outcome of a case, and what is wrong with it."""
    text = answer["message"]
    if case.secret is not None and case.secret in json.dumps(answer):
        return "wrong", f"the content of another file came out: {text}"
    if answer["outcome"] == "error":
        return "wrong", text
    if answer["outcome"] == "refused":
        if case.refused is not None and not re.search(case.refused, text):
            return "wrong", f"the message should match {case.refused!r}: {text}"
        if case.truth is not None and not case.may_refuse:
            return "wrong", f"refused, though it can be read: {text}"
        return "refused", text
    if case.refused is not None:
        return "wrong", f"read, though it should be refused: {str(answer['edges'])[:200]}"
    if case.truth is None:
        return "read", ""
    if sorted(map(tuple, answer["edges"])) != sorted(map(tuple, case.truth)):
        return "wrong", f"came {str(answer['edges'])[:300]}, expected {str(case.truth)[:300]}"
    return "exact", ""


def run_all(cases: Iterable[Case]) -> list[Result]:
    """Try cases one after the other in one child."""
    with Child() as child:
        return [child.run(case) for case in cases]


def bad(results: Iterable[Result]) -> list[str]:
    """Return what is not as it should be, for the message of a test."""
    fine = ("exact", "read", "refused")
    return [
        f"{each.outcome}: {each.case.name}: {each.message}" for each in results if each.outcome not in fine
    ]
