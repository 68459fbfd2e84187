"""Change the code in small ways, one at a time, and see that the quick tests notice: `tools/mutants.py [number ...]`.

`tools/mutants.toml` lists the changes: a file, its text, the text that takes its place, and the tests that must fail.
Each is made in a copy of the tree, which is gone afterwards. A mutant is dead when a test fails; one that cannot be
imported proves nothing and counts as broken, one whose text is no longer in the file as lost. The exit code is 0 if
all are dead.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tools" / "mutants.toml"
COPIED = ("src", "paper", "tests", "conftest.py", "pyproject.toml", "CONTRIBUTING.md", "README.md", "docs")
QUICK = "not slow and not browser and not processes"
PASSED, FAILED = 0, 1
"""pytest's exit codes for tests that all passed, and for tests some of which failed."""
DEADLINE = 600


@dataclass(frozen=True)
class Mutant:
    """One change of one file, and the tests that must notice."""

    number: int
    file: str
    original: str
    mutated: str
    tests: tuple[str, ...]
    why: str

    def problem(self, root: Path) -> str:
        """Return why the change cannot be made, nothing if it can."""
        path = root / self.file
        if not path.is_file():
            return f"lost: there is no {self.file}"
        count = path.read_text(encoding="utf-8").count(self.original)
        if count != 1:
            return f"lost: its original text is {count} times in {self.file}, not once"
        missing = [test for test in self.tests if not (root / test.partition("::")[0]).exists()]
        return f"lost: there is no {missing[0]}" if missing else ""


def read_mutants(path: Path = LIST) -> list[Mutant]:
    """Read the list."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [
        Mutant(number, **{**entry, "tests": tuple(entry["tests"])}) for number, entry in enumerate(entries, 1)
    ]


def copy_tree(folder: Path) -> None:
    """Copy what the tests need."""
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "runs.csv", "*.png", "*.svg")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        elif source.is_file():
            shutil.copy(source, folder / name)


def run_tests(folder: Path, tests: Sequence[str]) -> int:
    """Run tests in the copy and return pytest's exit code; a run that does not end counts as failed."""
    paths = os.pathsep.join(str(folder / name) for name in ("src", "paper/src"))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("UNSEEN_DATA", None)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", QUICK, *tests]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=DEADLINE, check=False
        )
    except subprocess.TimeoutExpired:
        return FAILED
    return done.returncode


def verdict(mutant: Mutant, folder: Path) -> str:
    """Make the change in the copy, run its tests, take the change back, and say what happened."""
    path = folder / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(mutant.original, mutant.mutated), encoding="utf-8")
    try:
        code = run_tests(folder, mutant.tests)
    finally:
        path.write_text(text, encoding="utf-8")
    if code == PASSED:
        return "ALIVE"
    return "dead" if code == FAILED else f"broken: pytest ended with {code}"


def main(arguments: Sequence[str]) -> int:
    """Run all mutants, or those whose numbers are given; print a table."""
    mutants = [m for m in read_mutants() if not arguments or str(m.number) in arguments]
    verdicts = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        copy_tree(folder)
        usable = [mutant for mutant in mutants if not mutant.problem(folder)]
        needed = sorted({test for mutant in usable for test in mutant.tests})
        if needed and run_tests(folder, needed) != PASSED:
            sys.stderr.write("the tests fail without any mutant; mend that first\n")
            return 1
        for mutant in mutants:
            start = time.monotonic()
            verdicts[mutant.number] = mutant.problem(folder) or verdict(mutant, folder)
            took = f"{verdicts[mutant.number]:6} {time.monotonic() - start:5.1f} s"
            sys.stdout.write(f"{mutant.number:3}  {took}  {mutant.file}: {mutant.why}\n")
            sys.stdout.flush()
    dead = sum(word == "dead" for word in verdicts.values())
    sys.stdout.write(f"{dead} of {len(mutants)} mutants are dead\n")
    return 0 if dead == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
