"""Two versions side by side, the other one in an environment of its own: ``python tools/versions.py --before PYTHON``.

Every task is run by both in turn, one thread each, and the medians of their processor seconds are compared. A task is
a script that uses public names only. Parts that are timed alone leave out the imports and the reading of data; whole
commands have everything in them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

_TIMED = """
import time, sys, unseen
{prepare}
start = time.process_time()
{work}
print("seconds", time.process_time() - start)
"""
_FIT = "data = unseen.load_dataset({graph!r})\n"
_SPLIT = (
    _FIT + "split = unseen.completely_imbalanced_split("
    "data.labels, label_rate={rate}, unseen=data.labels.classes[:2], random_state=0)\n"
)

PARTS = {
    "rect, Citeseer, 30 % labels": (
        _SPLIT.format(graph="citeseer", rate=0.3),
        "unseen.RECT(random_state=0).fit_transform(data.graph, split.seen_labels)",
    ),
    "rsdne, Citeseer, 30 % labels": (
        _SPLIT.format(graph="citeseer", rate=0.3),
        "unseen.RSDNE(random_state=0).fit_transform(data.graph, split.seen_labels)",
    ),
    "rect-plus, debian, 30 % labels": (
        _SPLIT.format(graph="debian", rate=0.3),
        "unseen.RECTPlus(random_state=0).fit_transform(data.graph, split.seen_labels)",
    ),
    "smoothfeats, Citeseer": (
        _FIT.format(graph="citeseer"),
        "unseen.SmoothFeats(random_state=0).fit_transform(data.graph)",
    ),
    "mfdw, Blogcatalog": (
        _FIT.format(graph="blogcatalog"),
        "unseen.MFDW(random_state=0).fit_transform(data.graph)",
    ),
    "classifier, Wiki, 30 % labels, choice of C": (
        _SPLIT.format(graph="wiki", rate=0.3)
        + "embedding = unseen.SmoothFeats(random_state=0).fit_transform(data.graph)\n",
        "unseen.evaluate(embedding, data.labels, split, random_state=0)",
    ),
    "read_graph, a million csv edges": ("", "unseen.read_graph({edges!r})"),
}
"""What is timed alone: preparation and work."""
COMMANDS = {
    "unseen embed of four nodes, mfdw": ["embed", "{small}", "--method", "mfdw", "--dim", "2", "-o", "{out}"],
    "unseen embed debian (rect-plus)": ["embed", "debian", "-o", "{out}"],
    "unseen --help": ["--help"],
}
"""Whole commands, imports included."""


def main() -> None:
    """Print medians of processor seconds before and after, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", required=True, help="Python of the environment with the other version")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("tasks", nargs="*", help="words of the tasks to run; all tasks if none is given")
    asked = parser.parse_args()
    sides = (asked.before, sys.executable)
    versions = [_ask(python, "import unseen; print(unseen.__version__)") for python in sides]
    print(
        f"processor seconds of unseen {versions[0]} and {versions[1]}, medians of {asked.repeats} runs in turn\n"
    )
    print("| task | before | after | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        files = _files(Path(folder))
        for task in (*PARTS, *COMMANDS):
            if asked.tasks and not any(word in task for word in asked.tasks):
                continue
            # in turn, so that a busy minute meets both
            pairs = [[_seconds(python, task, files) for python in sides] for _ in range(asked.repeats)]
            old, new = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
            print(f"| {task} | {old:.2f} | {new:.2f} | {new / old:.2f} |", flush=True)


def _files(folder: Path) -> dict[str, str]:
    """Write the input of the tasks and return their names."""
    small, large = folder / "small.csv", folder / "edges.csv"
    small.write_text("src,dst\na,b\nb,c\nc,d\n")
    ends = np.random.default_rng(0).integers(0, 200_000, (1_000_000, 2))
    large.write_text("src,dst\n" + "".join(f"n{a},n{b}\n" for a, b in ends.tolist()))
    return {"small": str(small), "edges": str(large), "out": str(folder / "vectors.parquet")}


def _seconds(python: str, task: str, files: dict[str, str]) -> float:
    if task in PARTS:
        prepare, work = PARTS[task]
        script = _TIMED.format(prepare=prepare, work=work.format(**files))
        return float(_ask(python, script).split()[-1])
    command = [python, "-m", "unseen", *(word.format(**files) for word in COMMANDS[task])]
    usage = _children()
    _checked(command)
    return _children() - usage


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _ask(python: str, script: str) -> str:
    return _checked([python, "-c", script]).strip()


def _checked(command: list[str]) -> str:
    hidden = {"PYTHONPATH", "PYTHONHOME"} if command[0] != sys.executable else set()
    settings = {key: value for key, value in os.environ.items() if key not in hidden}
    settings |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as elsewhere:  # not a checkout, whose folders Python would import
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=settings, cwd=elsewhere
        )
    if done.returncode:
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        sys.exit(f"{command[0]} failed: {why}")
    return done.stdout


if __name__ == "__main__":
    main()
