"""Bring paper/docs/results and its pages up to date with its runs.csv; runs nothing anew.

`paper/tools/results_page.py` rewrites the csv files and figures from `runs.csv` (the paper's graphs must be there,
see `UNSEEN_DATA`), then the tables between ``<!-- results: name -->`` and ``<!-- end of results -->`` in its
README.md. With `--pages` it only does the latter, from the csv files. Sentences around the tables are written by
hand: read them again afterwards.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import Any

from unseen_paper.experiments.catalog import EXPERIMENTS, Choice
from unseen_paper.experiments.evidence import collected
from unseen_paper.experiments.paper import DATASETS, RATES, TITLES
from unseen_paper.experiments.results import ResultTable
from unseen_paper.report.experiments import FILES, experiment_table, write_claims, write_report
from unseen_paper.report.tables import render

PAPER = Path(__file__).parents[1]
RESULTS = PAPER / "docs" / "results"
PAGE = RESULTS / "README.md"
PROTOCOL = {"citeseer": 15, "cora": 21, "wiki": 20, "ppi": 20, "blogcatalog": 5}
"""How many splits a row should rest on."""
FAR = 0.015
"""Figures that are so much below the paper's, or more, are listed."""
MARKED = re.compile(r"(?s)(<!-- results: ([\w-]+) -->\n)(.*?)(<!-- end of results -->)")

Row = dict[str, Any]


def main(*arguments: str) -> None:
    if "--pages" not in arguments:
        rebuild(RESULTS)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")


def rebuild(folder: Path) -> None:
    """Write the csv and the figure of every experiment, and the claims, from the runs in `folder`."""
    table = ResultTable(folder / "runs.csv")
    for name in EXPERIMENTS:
        write_report(name, collected(name, table, Choice()), folder)
    write_claims(table, Choice(), folder)


def filled(page: str, folder: Path) -> str:
    """Return the page with every marked table made anew from the csv files of `folder`."""
    return MARKED.sub(lambda match: f"{match[1]}{section(match[2], folder).strip()}\n{match[4]}", page)


def section(name: str, folder: Path) -> str:
    """Return what stands between the marks of that name."""
    own = {"state": state, "below": below, "claims": claims, "overview": overview}
    if name in own:
        return own[name](folder)
    return experiment_table(name, rows_of(name, folder), style="markdown")


def rows_of(name: str, folder: Path) -> list[Row]:
    """Read the csv of an experiment back."""
    with (folder / f"{FILES.get(name, name)}.csv").open(encoding="utf-8", newline="") as file:
        rows = [{key: _value(text) for key, text in row.items()} for row in csv.DictReader(file)]
    if name in FILES:
        rows = [{key: None if value == "" else value for key, value in row.items()} for row in rows]
    return rows


def state(folder: Path) -> str:
    """Return how much has been run, in a paragraph."""
    runs = len(ResultTable(folder / "runs.csv"))
    rows = _paper_rows(folder)
    done = sum(row["n_splits"] >= PROTOCOL[row["dataset"]] for row in rows)
    verdicts = [row["verdict"] for row in rows_of("claims", folder)]
    held, failed = verdicts.count("holds"), verdicts.count("does not hold")
    theirs = sum(row["paper_verdict"] == "does not hold" for row in rows_of("claims", folder))
    listed = rows_of("f1", folder)
    present = sum("0.1.0" not in row["version"] for row in listed)
    there = "all 201" if len(rows) == 201 else f"{len(rows)} of the 201"
    full = (
        "all of them with all splits of the protocol"
        if done == len(rows)
        else f"{done} of them with all splits of the protocol"
    )
    return (
        f"{runs:,} runs: {there} rows of Tables 3 and 4 are there, {full} "
        "(15 on Citeseer, 21 on Cora, 20 on Wiki and PPI, at least 5 on Blogcatalog); the number stands in every row. "
        f"With our own methods there are {len(listed)} rows; {present} are of the present rule for C, the others of "
        "those of version 0.1.0, as their last column says. "
        f"Of {len(verdicts)} claims {held} hold by our figures, {failed} do not, {len(verdicts) - held - failed} could "
        f"not be judged here; {theirs} do not hold by the paper's own tables."
    )


def below(folder: Path) -> str:
    """Return the figures that are more than 1.5 points below the paper's, the farthest first."""
    figures = []
    for row in _paper_rows(folder):
        for score in ("micro_f1", "macro_f1"):
            lead = row[score] - row[f"paper_{score}"]
            if lead < -FAR:
                figure = score.replace("_f1", " F1")
                cells = [row["dataset"], f"{row['label_rate']:.0%}", row["method"], figure]
                scores = [f"{row[score]:.4f}", f"{row[f'paper_{score}']:.4f}", f"{lead:+.4f}"]
                figures.append((lead, [*cells, *scores, str(row["n_splits"])]))
    header = ["data set", "labels", "method", "figure", "ours", "paper", "diff", "splits"]
    return render(header, [cells for _, cells in sorted(figures)], style="markdown", left=4)


def claims(folder: Path) -> str:
    """Return the verdicts on the paper's claims."""
    names = ("claim", "paper_verdict", "verdict", "ours")
    cells = [[row[name] for name in names] for row in rows_of("claims", folder)]
    return render(["claim", "by the paper's figures", "here", "ours"], cells, style="markdown", left=4)


def overview(folder: Path) -> str:
    """Return micro F1 of all methods beside the paper's RECT, a number per label rate, in bold where best at each."""
    rows = {(row["dataset"], row["method"], row["label_rate"]): row for row in rows_of("f1", folder)}
    methods = dict.fromkeys([*TITLES, *(method for _, method, _ in rows)])

    def scores(dataset: str, method: str, score: str = "micro_f1") -> list[float]:
        values = [rows.get((dataset, method, rate), {}).get(score) for rate in RATES]
        return [] if None in values else values

    def cell(values: list[float], best: list[float] | None = None) -> str:
        text = " / ".join(f"{value:.3f}".removeprefix("0") for value in values)
        return f"*{text}*" if values and values == best else text

    best = {
        dataset: [
            max(values) for values in zip(*filter(None, (scores(dataset, m) for m in methods)), strict=True)
        ]
        for dataset in DATASETS
    }
    paper = [cell(scores(dataset, "rect", "paper_micro_f1")) for dataset in DATASETS]
    lines = [
        [method, *(cell(scores(dataset, method), best[dataset]) for dataset in DATASETS)]
        for method in methods
    ]
    header = ["micro F1 at 10 / 30 / 50 % labels", *DATASETS]
    return render(header, [["RECT, the paper", *paper], *lines], style="markdown")


def _paper_rows(folder: Path) -> list[Row]:
    return [row for row in rows_of("f1", folder) if row["paper_micro_f1"] is not None]


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


if __name__ == "__main__":
    main(*sys.argv[1:])
