"""What an experiment leaves behind: rows as csv, a table to read, and a figure where the paper has one."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unseen.datasets import load_dataset
from unseen.experiments.catalog import ABLATIONS, EXPERIMENTS, Choice
from unseen.experiments.paper import paper_decline
from unseen.experiments.plan import as_params
from unseen.experiments.results import Result
from unseen.experiments.summary import best_rows, f1_rows, f1_table, setting_rows
from unseen.io.files import atomic_path
from unseen.report.figures import save_bars, save_lines
from unseen.report.tables import render

Row = dict[str, Any]
FILES = {"f1": "paper_tables", "f1, best of grid": "paper_tables_best_of_grid"}
"""Names of csv files that differ from the experiment's."""


def write_report(
    name: str, results: Sequence[Result], out: Path, *, style: str = "text"
) -> tuple[list[Row], str]:
    """Write the csv (and the figure) of an experiment to `out`; return its rows and its table as text."""
    if name == "f1":
        rows = f1_rows(results)
        text = f1_table(rows, style=style)
    elif name == "f1, best of grid":
        rows = best_rows(results)
        text = f1_table(rows, style=style)
    else:
        classes = {r.run.dataset: len(load_dataset(r.run.dataset).labels.classes) for r in results}
        rows = setting_rows(results, classes)
        if name == "decline":
            rows = _with_decline(rows)
        if name == "ablation":
            titles = {as_params(params): title for title, params in ABLATIONS.items()}
            rows = [{**row, "params": titles[row["params"]]} for row in rows]
        if name == "balanced":
            rows = _over_rates(rows)
        text = _table(rows, style)
    if rows:
        write_csv(rows, out / f"{FILES.get(name, name)}.csv")
        _draw(name, rows, out / name)
    return rows, text


def write_claims(results: Iterable[Result], choice: Choice, out: Path) -> str:
    """Judge the paper's claims by all results so far, write ``claims.csv``, and return one line about them."""
    from unseen.experiments.claims import FAILS, HOLDS, claim_rows
    from unseen.experiments.evidence import our_evidence

    rows = claim_rows(our_evidence(results, choice, out))
    write_csv(rows, out / "claims.csv")
    held, failed = (sum(row["verdict"] == verdict for row in rows) for verdict in (HOLDS, FAILS))
    return (
        f"claims of the paper: {held} hold here, {failed} do not, {len(rows) - held - failed} were not run; "
        f"see {out / 'claims.csv'}"
    )


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write rows of equal keys as csv, whole or not at all."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _draw(name: str, rows: Sequence[Row], path: Path) -> None:
    if name not in EXPERIMENTS:
        return
    experiment = EXPERIMENTS[name]
    if experiment.x:
        for dataset in dict.fromkeys(row["dataset"] for row in rows):
            chosen = [row for row in rows if row["dataset"] == dataset]
            target = path if dataset == "citeseer" else path.with_name(f"{path.name}-{dataset}")
            title = f"{experiment.title}, {dataset}"
            save_lines(
                chosen,
                x=experiment.x,
                series=experiment.series,
                title=title,
                path=target,
                log_x=name == "alpha",
            )
    elif name == "balanced":
        save_bars(
            rows, groups="dataset", series="method", score="micro_f1", title=experiment.title, path=path
        )


def _with_decline(rows: Sequence[Row]) -> list[Row]:
    """Add the relative decline against no unseen class, and the paper's accuracy."""
    whole = {(r["dataset"], r["method"], r["label_rate"]): r for r in rows if r["unseen_classes"] == 0}
    found = []
    for row in rows:
        base = whole.get((row["dataset"], row["method"], row["label_rate"]))
        decline = {
            f"{score}_decline": round(1 - row[score] / base[score], 4) if base and base[score] else ""
            for score in ("micro_f1", "macro_f1")
        }
        paper = paper_decline().get((row["method"], row["unseen_classes"], row["label_rate"]), "")
        found.append({**row, **decline, "paper_accuracy": paper if row["dataset"] == "citeseer" else ""})
    return found


def _over_rates(rows: Sequence[Row]) -> list[Row]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["dataset"], row["method"]), []).append(row)
    return [
        {
            "dataset": dataset,
            "method": method,
            **{
                score: round(float(np.mean([row[score] for row in group])), 6)
                for score in ("micro_f1", "macro_f1")
            },
            "label_rates": " ".join(f"{row['label_rate']:g}" for row in group),
            "n_splits": min(row["n_splits"] for row in group),
        }
        for (dataset, method), group in groups.items()
    ]


def _table(rows: Sequence[Row], style: str) -> str:
    if not rows:
        return ""
    always = ("method", "micro_f1", "macro_f1", "n_splits")
    names = [
        name
        for name in rows[0]
        if name in always or (name != "seconds" and len({str(row[name]) for row in rows}) > 1)
    ]
    cells = [[_cell(row[name]) for name in names] for row in rows]
    return render([name.replace("_", " ") for name in names], cells, style=style, left=1)


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) and not float(value).is_integer() else str(value)
