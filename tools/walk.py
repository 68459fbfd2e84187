"""Trace a command on a small csv, and print how many calls, functions, files and hops between files it takes.

    python tools/walk.py                  embed, discover and predict, phase by phase
    python tools/walk.py --src OTHER/src  the same of another checkout
    python tools/walk.py --files          the files that each phase touches

Only functions of `unseen` count; modules, class bodies, list comprehensions and other anonymous code do not. A hop is a
call from one file to another. The phases of a command are its start, reading (`unseen.read`), and work.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

PHASES = ("start", "read", "work")

COMMANDS = {
    "embed": ["edges.csv", "--labels", "labels.csv", "-o", "embedding.csv", "--seed", "0"],
    "discover": ["edges.csv", "--labels", "labels.csv", "-o", "nodes.csv", "--seed", "0"],
    "predict": ["edges.csv", "--labels", "labels.csv", "-o", "classes.csv", "--seed", "0"],
}


def write_files(folder: Path) -> None:
    """Write a small graph: three rings of ten nodes, joined at one node each, half of two rings labelled."""
    edges = [
        (f"{ring}{i}", f"{ring}{(i + step) % 10}") for ring in "abc" for i in range(10) for step in (1, 2, 3)
    ]
    edges += [("a0", "b0"), ("b0", "c0")]
    (folder / "edges.csv").write_text("src,dst\n" + "".join(f"{a},{b}\n" for a, b in edges))
    labels = [(f"{ring}{i}", f"team {ring}") for ring in "ab" for i in range(6)]
    (folder / "labels.csv").write_text(
        "node,label\n" + "".join(f"{node},{label}\n" for node, label in labels)
    )


def trace(command: str) -> list[dict[str, Any]]:
    """Run one command in this process, and return a row of counts for each phase."""
    import unseen
    from unseen.cli import main

    root = str(Path(unseen.__file__).parent)
    counts = {phase: {"calls": 0, "hops": 0} for phase in PHASES}
    functions: dict[str, set[tuple[str, int]]] = {phase: set() for phase in PHASES}
    phase = PHASES[0]

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal phase
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<")
        if not is_function or not code.co_filename.startswith(root):
            return
        if code.co_name == "read" and code.co_filename.endswith("/data/read.py"):
            phase = "work" if event == "return" else "read"
        if event != "call":
            return
        counts[phase]["calls"] += 1
        functions[phase].add((code.co_filename, code.co_firstlineno))
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(root):
            caller = caller.f_back
        counts[phase]["hops"] += caller is not None and caller.f_code.co_filename != code.co_filename

    sys.setprofile(profile)
    try:
        main([command, *COMMANDS[command], "-q"])
    except SystemExit as stop:
        if stop.code:
            raise
    finally:
        sys.setprofile(None)
    functions["all"] = set().union(*functions.values())
    counts["all"] = {name: sum(counts[phase][name] for phase in PHASES) for name in ("calls", "hops")}
    return [
        {
            "command": command,
            "phase": name,
            "calls": counts[name]["calls"],
            "functions": len(functions[name]),
            "files": sorted({Path(file).relative_to(root).as_posix() for file, _ in functions[name]}),
            "hops": counts[name]["hops"],
        }
        for name in (*PHASES, "all")
    ]


def measure(command: str, src: Path) -> list[dict[str, Any]]:
    """Return the rows of one command, run in a process of its own with the sources in `src`."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        env = {**os.environ, "PYTHONPATH": str(src.resolve())}
        words = [sys.executable, str(Path(__file__).resolve()), "--trace", command]
        done = subprocess.run(words, cwd=folder, env=env, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"`unseen {command}` of {src} failed:\n{done.stderr}")
    rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--src", type=Path, default=Path(__file__).resolve().parents[1] / "src")
    parser.add_argument("--files", action="store_true", help="print the files of each phase")
    parser.add_argument("--trace", choices=COMMANDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.trace:
        sys.stdout.write("\n" + json.dumps(trace(options.trace)) + "\n")
        return
    print("| command | phase | calls | functions | files | hops |\n|---|---|---|---|---|---|")
    for command in COMMANDS:
        for row in measure(command, options.src):
            figures = (row["calls"], row["functions"], len(row["files"]), row["hops"])
            print(f"| {command} | {row['phase']} | " + " | ".join(f"{figure:,}" for figure in figures) + " |")
            if options.files:
                print(*(f"    {file}" for file in row["files"]), sep="\n")


if __name__ == "__main__":
    main()
