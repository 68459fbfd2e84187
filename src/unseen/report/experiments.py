"""What an experiment leaves behind: rows as csv, a table to read, and a figure where the paper has one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from unseen.datasets import load_dataset
from unseen.experiments.catalog import ABLATIONS, EXPERIMENTS, Choice
from unseen.experiments.paper import paper_decline
from unseen.experiments.plan import as_params
from unseen.experiments.results import Result
from unseen.experiments.summary import balanced_rows, best_rows, f1_rows, setting_rows
from unseen.io.files import write_csv
from unseen.report.figures import save_bars, save_lines
from unseen.report.tables import render

Row = dict[str, Any]
FILES = {"f1": "paper_tables", "f1, best of grid": "paper_tables_best_of_grid"}
"""Names of csv files that differ from the experiment's."""


def tabulated(name: str, results: Sequence[Result], *, style: str = "text") -> tuple[list[Row], str]:
    """Return the rows of an experiment, and its table as text."""
    if name == "f1":
        rows = f1_rows(results)
        return rows, f1_table(rows, style=style)
    if name == "f1, best of grid":
        rows = best_rows(results)
        return rows, f1_table(rows, style=style)
    if name == "balanced":
        rows = balanced_rows(results)
        return rows, _table(rows, style)
    classes = {r.run.dataset: len(load_dataset(r.run.dataset).labels.classes) for r in results}
    rows = setting_rows(results, classes)
    if name == "decline":
        rows = _with_decline(rows)
    if name == "ablation":
        titles = {as_params(params): title for title, params in ABLATIONS.items()}
        rows = [{**row, "params": titles[row["params"]]} for row in rows]
    return rows, _table(rows, style)


def write_report(name: str, results: Sequence[Result], out: Path) -> None:
    """Write the csv of an experiment, and the figure where the paper has one, to `out`."""
    rows, _ = tabulated(name, results)
    if rows:
        write_csv(rows, out / f"{FILES.get(name, name)}.csv")
        _draw(name, rows, out / name)


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
    """Add the relative decline against no unseen class, and the paper's accuracy and decline."""
    whole = {(r["dataset"], r["method"], r["label_rate"]): r for r in rows if r["unseen_classes"] == 0}
    found = []
    for row in rows:
        base = whole.get((row["dataset"], row["method"], row["label_rate"]))
        decline = {
            f"{score}_decline": round(1 - row[score] / base[score], 4) if base and base[score] else ""
            for score in ("micro_f1", "macro_f1")
        }
        found.append({**row, **decline, **_paper_decline(row)})
    return found


def _paper_decline(row: Row) -> Row:
    """Return what Table 1 says of Citeseer, and nothing of other graphs."""
    keys = [(row["method"], hidden, row["label_rate"]) for hidden in (0, row["unseen_classes"])]
    whole, left = (paper_decline().get(key) if row["dataset"] == "citeseer" else None for key in keys)
    if whole is None or left is None:
        return {"paper_accuracy": "", "paper_decline": ""}
    return {"paper_accuracy": left, "paper_decline": round(1 - left / whole, 4)}


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


def f1_table(rows: list[dict[str, Any]], *, style: str = "text") -> str:
    """Return the rows as a table: our mean and deviation, the paper's figure, the difference, best of a row in bold."""
    header = [
        "data set",
        "labels",
        "method",
        "micro F1",
        "paper",
        "diff",
        "macro F1",
        "paper",
        "diff",
        "splits",
        "seconds",
    ]
    best: dict[tuple[str, str, float], float] = {}
    for score in ("micro_f1", "macro_f1"):
        for row in rows:
            cell = (score, row["dataset"], row["label_rate"])
            best[cell] = max(best.get(cell, 0.0), row[score])
    lines = []
    for row in rows:
        cells = [row["dataset"], f"{row['label_rate']:.0%}", row["method"]]
        for score in ("micro_f1", "macro_f1"):
            ours = f"{row[score]:.4f} ± {row[score + '_std']:.4f}"
            cells.append(
                f"*{ours}*" if row[score] == best[score, row["dataset"], row["label_rate"]] else ours
            )
            paper = row[f"paper_{score}"]
            cells += ["", ""] if paper is None else [f"{paper:.4f}", f"{row[score] - paper:+.4f}"]
        lines.append([*cells, str(row["n_splits"]), f"{row['seconds']:.1f}"])
    return render(header, lines, style=style, left=3)
