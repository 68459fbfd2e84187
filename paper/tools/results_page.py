"""Bring paper/docs/results and the pages about it up to date with its runs.csv; runs nothing anew.

`paper/tools/results_page.py` rewrites the csv files and figures from `runs.csv` (the paper's graphs must be there, see
`UNSEEN_DATA`), then what stands between ``<!-- results: name -->`` and ``<!-- end of results -->`` on the pages. With
`--pages` it only does the latter, from the csv files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from unseen_paper.experiments.catalog import EXPERIMENTS, Choice
from unseen_paper.experiments.evidence import collected
from unseen_paper.experiments.results import ResultTable
from unseen_paper.experiments.scalability import is_current, read_times
from unseen_paper.report.experiments import write_claims, write_report
from unseen_paper.report.pages import filled
from unseen_paper.report.scalability import draw_times

PAPER = Path(__file__).parents[1]
RESULTS = PAPER / "docs" / "results"
NOTES = PAPER / "docs" / "notes"
PAGES = (
    RESULTS / "README.md",
    NOTES / "tables.md",
    NOTES / "claims.md",
    NOTES / "figures.md",
)


def main(*arguments: str) -> None:
    if "--pages" not in arguments:
        rebuild(RESULTS)
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")


def rebuild(folder: Path) -> None:
    """Write the csv and the figure of every experiment, and the claims, from the runs and times in `folder`."""
    table = ResultTable(folder / "runs.csv")
    for name in EXPERIMENTS:
        write_report(name, collected(name, table, Choice()), folder)
    times = read_times(folder / "scalability.csv")
    draw_times(
        [row for row in times if not row["error"] and is_current(row["version"])], folder / "scalability"
    )
    write_claims(table, Choice(), folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
