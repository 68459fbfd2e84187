"""`make hostile`: every generator in large numbers, and a table of what came of it.

``python tests/hostile/run.py [CASES] [--seed SEED] [--out FILE]``; the exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from hostile import generators
from hostile.children import Child, Result, bad
from hostile.handmade import handmade

OUTCOMES = ("exact", "read", "refused", "wrong", "crash", "above", "slow")
SHARES = {"their_files": 0.25, "our_files": 0.2, "damaged_files": 0.5, "declared_sizes": 0.05}
START = """# Hostile files

`make hostile` tries files that could crash, spy on or fill the memory of their reader, and round trips through the
libraries that people use (networkx, pandas, scipy, DuckDB, SQLite, AnnData). Cases run in a child process under
`faulthandler`; memory is the peak of the resident set above what the process held before.

- *exact*: the edges are those that were written. *read*: damaged, and still a graph. *refused*: an error message.
- *wrong*: other edges, another exception than `UnseenError`, or text of another file. *crash*: the process died.
- *above*: more memory than 1,000 times the file's size plus 256 MB. *slow*: more than 60 s.

"""


def main() -> int:
    """Run everything and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    results: list[Result] = []
    with Child() as child:
        for name, share in {"handmade": 0.0, **SHARES}.items():
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder)
                make = getattr(generators, name, None)
                count = round(share * asked.cases)
                for case in handmade(place) if make is None else make(place, count, asked.seed):
                    results.append(child.run(case))
                    if len(results) % 500 == 0:
                        print(f"{len(results):,} cases", file=sys.stderr, flush=True)
    text = START + table(results, f"python tests/hostile/run.py {asked.cases} --seed {asked.seed}")
    print(text)
    if asked.out is not None:
        asked.out.write_text(text, encoding="utf-8")
    wrong = bad(results)
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


def table(results: list[Result], command: str) -> str:
    """Return the counts of outcomes by kind of case, as Markdown."""
    counts: dict[str, Counter[str]] = {}
    for each in results:
        counts.setdefault(each.case.kind, Counter())[each.outcome] += 1
    counts["all"] = sum(counts.values(), Counter())
    lines = [f"`{command}`", "", f"| kind | tried | {' | '.join(OUTCOMES)} |"]
    lines.append("|---|" + "---:|" * (1 + len(OUTCOMES)))
    for kind, row in counts.items():
        lines.append(f"| {kind} | {row.total():,} | {' | '.join(f'{row[each]:,}' for each in OUTCOMES)} |")
    peak = max(results, key=lambda each: each.peak)
    slowest = max(results, key=lambda each: each.seconds)
    lines += ["", f"Most memory: {peak.peak / 1e6:,.0f} MB ({peak.case.name}). "]
    lines[-1] += f"Longest: {slowest.seconds:.1f} s ({slowest.case.name})."
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
