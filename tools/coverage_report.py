"""Print the coverage of `coverage.json` beside the least that is allowed: `make coverage`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

LEAST = {"lines": (16199, 16740), "branches": (3183, 3436)}
"""Covered and all, of `src/` at commit 079c645, without a browser:
`pytest -n 2 --cov=src --cov-branch --cov-report=json`."""
PARTS = {"src/unseen": "src/", "paper/src": "paper/src/"}


def totals(
    report: dict[str, dict[str, dict[str, dict[str, int]]]], prefix: str
) -> dict[str, tuple[int, int]]:
    """Return covered and all lines and branches of the files below `prefix`."""
    sums = [about["summary"] for name, about in report["files"].items() if name.startswith(prefix)]
    return {
        "lines": (sum(s["covered_lines"] for s in sums), sum(s["num_statements"] for s in sums)),
        "branches": (sum(s["covered_branches"] for s in sums), sum(s["num_branches"] for s in sums)),
    }


def shown(name: str, numbers: dict[str, tuple[int, int]]) -> str:
    """Return one line of the table."""
    cells = [f"{100 * covered / max(total, 1):6.2f} % of {total:6,}" for covered, total in numbers.values()]
    return f"{name:24} {cells[0]:>20} {cells[1]:>20}\n"


def main(path: str = "coverage.json") -> int:
    """Print the shares; fail if fewer of the branches of `src/` are covered than the least that is allowed."""
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    sys.stdout.write(f"{'':24} {'lines':>20} {'branches':>20}\n")
    sys.stdout.write(shown("least, src", LEAST))
    coverage = {name: totals(report, prefix) for name, prefix in PARTS.items()}
    for name, numbers in coverage.items():
        sys.stdout.write(shown(name, numbers))
    covered, total = coverage["src/unseen"]["branches"]
    least, all_least = LEAST["branches"]
    if covered / max(total, 1) < least / all_least:
        sys.stderr.write("fewer of the branches of src/ are covered than the least that is allowed\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
