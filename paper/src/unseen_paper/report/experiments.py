"""What an experiment leaves behind: rows as csv, a table to read, and a figure where the paper has one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from unseen.data.datasets import load_dataset
from unseen_paper.csv_files import write_csv
from unseen_paper.experiments.catalog import ABLATIONS, EXPERIMENTS, Choice, Experiment
from unseen_paper.experiments.paper import TITLES, paper_decline
from unseen_paper.experiments.plan import as_params
from unseen_paper.experiments.results import Result
from unseen_paper.experiments.summary import balanced_rows, f1_rows, published_rows, setting_rows
from unseen_paper.report.figures import save_bars, save_lines
from unseen_paper.report.tables import render

Row = dict[str, Any]
FILES = {"f1": "paper_tables"}
"""Names of csv files that differ from the experiment's."""
ROWS_OF = {"f1": f1_rows, "balanced": balanced_rows, "published-classifier": published_rows}
"""What makes the rows of experiments that do not vary a setting."""
AXES = {
    "seen_classes": "seen classes",
    "label_rate": "share of labelled nodes",
    "alpha": "alpha",
    "n_components": "columns in all",
}


def tabulated(name: str, results: Sequence[Result], *, style: str = "text") -> tuple[list[Row], str]:
    """Return the rows of an experiment, and its table as text."""
    rows = experiment_rows(name, results)
    return rows, experiment_table(name, rows, style=style)


def experiment_rows(name: str, results: Sequence[Result]) -> list[Row]:
    """Return the rows of an experiment, as they stand in its csv."""
    if name in ROWS_OF:
        return ROWS_OF[name](results)
    classes = {r.run.dataset: len(load_dataset(r.run.dataset).labels.classes) for r in results}
    rows = setting_rows(results, classes)
    if name == "decline":
        rows = _with_decline(rows)
    if name == "ablation":
        titles = {as_params(params): title for title, params in ABLATIONS.items()}
        rows = [{**row, "params": titles[row["params"]]} for row in rows]
    return rows


def experiment_table(name: str, rows: Sequence[Row], *, style: str = "text") -> str:
    """Return an experiment's rows as a table to read."""
    return {"published-classifier": _published_table, "f1": f1_table}.get(name, _table)(rows, style)


def write_report(name: str, results: Sequence[Result], out: Path) -> None:
    """Write the csv of an experiment, and the figure where the paper has one, to `out`."""
    rows, experiment = experiment_rows(name, results), EXPERIMENTS[name]
    if not rows:
        return
    write_csv(rows, out / f"{FILES.get(name, name)}.csv")
    if name == "balanced":
        save_bars(
            rows, groups="dataset", series="method", score="micro_f1", title=experiment.title, path=out / name
        )
    if not experiment.x:
        return
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        own = [row for row in rows if row["dataset"] == dataset]
        save_lines(
            own,
            line_names(own, experiment),
            x=experiment.x,
            x_label=AXES[experiment.x],
            title=f"{experiment.title}, {dataset}",
            path=out / (name if dataset == "citeseer" else f"{name}-{dataset}"),
            log_x=name == "alpha",
        )


def write_claims(results: Iterable[Result], choice: Choice, out: Path) -> str:
    """Judge the paper's claims by all results so far, write csv files of them, and return one line about them."""
    from unseen_paper.experiments.claims import FAILS, HOLDS, claim_rows, comparison_rows
    from unseen_paper.experiments.evidence import our_evidence

    evidence = our_evidence(results, choice, out)
    rows = claim_rows(evidence)
    write_csv(rows, out / "claims.csv")
    write_csv(comparison_rows(evidence), out / "comparisons.csv")
    held, failed = (sum(row["verdict"] == verdict for row in rows) for verdict in (HOLDS, FAILS))
    return (
        f"claims of the paper: {held} hold here, {failed} do not, {len(rows) - held - failed} were not run; "
        f"see {out / 'claims.csv'}"
    )


def line_names(rows: Sequence[Row], experiment: Experiment) -> list[str]:
    """Return the name of each row's line in the figure: its method or setting, and its label rate if there are more.

    Examples
    --------
    >>> rows = [{"method": "rect", "label_rate": rate} for rate in (0.1, 0.5)]
    >>> line_names(rows, EXPERIMENTS["alpha"])
    ['RECT, 10% labels', 'RECT, 50% labels']
    """
    names = [TITLES.get(str(row[experiment.series]), str(row[experiment.series])) for row in rows]
    if experiment.x == "label_rate" or len({row["label_rate"] for row in rows}) == 1:
        return names
    return [f"{name}, {row['label_rate']:.0%} labels" for name, row in zip(names, rows, strict=True)]


def _with_decline(rows: Sequence[Row]) -> list[Row]:
    """Add the relative decline against no unseen class, and what Table 1 says of Citeseer."""
    whole = {(r["dataset"], r["method"], r["label_rate"]): r for r in rows if r["unseen_classes"] == 0}
    declined = []
    for row in rows:
        base = whole.get((row["dataset"], row["method"], row["label_rate"]))
        more: Row = {"paper_accuracy": "", "difference": "", "paper_decline": ""}
        keys = [(row["method"], hidden, row["label_rate"]) for hidden in (0, row["unseen_classes"])]
        first, left = (paper_decline().get(key) if row["dataset"] == "citeseer" else None for key in keys)
        if first is not None and left is not None:
            figures = (left, round(row["micro_f1"] - left, 6), round(1 - left / first, 6))
            more = dict(zip(more, figures, strict=True))
        decline = {
            f"{score}_decline": round(1 - row[score] / base[score], 6) if base and base[score] else ""
            for score in ("micro_f1", "macro_f1")
        }
        declined.append({**row, **decline, **more})
    return declined


WORDS = {"dataset": "data set", "method": "method", "params": "setting"}
SETTINGS = {
    "unseen_classes": "unseen",
    "seen_classes": "seen",
    "alpha": "alpha",
    "n_components": "columns",
    "label_rate": "labels",
}
FIGURES = {
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "micro_f1_decline": "micro decline",
    "macro_f1_decline": "macro decline",
    "paper_accuracy": "paper",
    "difference": "micro diff",
    "paper_decline": "paper decline",
    "label_rates": "label rates",
    "n_splits": "splits",
}
TOLD_BY = {"params": ("alpha", "n_components"), "seen_classes": ("paper_accuracy",)}
"""Columns that another one makes superfluous."""


def _table(rows: Sequence[Row], style: str) -> str:
    """Return the columns in which rows differ, what was varied first; deviations stand beside their means."""
    if not rows:
        return ""
    differ = {name for name in rows[0] if len({str(row[name]) for row in rows}) > 1}
    names = [name for name in (*WORDS, *SETTINGS) if name == "method" or name in differ]
    names = [name for name in names if differ.isdisjoint(TOLD_BY.get(name, ()))]
    if "seen_classes" in names:
        names.remove("unseen_classes")
    left = sum(name in WORDS for name in names)
    names += [name for name in FIGURES if name in rows[0]]
    titles = {**WORDS, **SETTINGS, **FIGURES}
    best = _best(rows)
    cells = [
        [
            f"*{_cell(row, name)}*" if row[name] == best.get((name, _place(row))) else _cell(row, name)
            for name in names
        ]
        for row in rows
    ]
    return render([titles[name] for name in names], cells, style=style, left=left)


PLACE = ("dataset", "label_rate", "unseen_classes", "n_components")
"""Rows that have these in common are compared with each other: methods, or settings of one."""


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in PLACE)


def _best(rows: Sequence[Row]) -> dict[tuple[str, tuple[Any, ...]], float]:
    """Return the best of each score, by its name and the place of its row."""
    scores = [((score, _place(row)), row[score]) for row in rows for score in ("micro_f1", "macro_f1")]
    return dict(sorted(scores, key=lambda each: each[1]))


def _cell(row: Row, name: str) -> str:
    value = row[name]
    if value in ("", None):
        return ""
    if name == "difference":
        return f"{value:+.4f}"
    if name == "label_rate" or name.endswith("decline"):
        return f"{value:.0%}" if name == "label_rate" else f"{value:.1%}"
    if f"{name}_std" in row:
        return f"{value:.4f} ± {row[f'{name}_std']:.4f}"
    return f"{value:g}" if name == "alpha" else f"{value:.4f}" if isinstance(value, float) else str(value)


def _published_table(rows: Sequence[Row], style: str) -> str:
    """Return micro F1 of the paper beside ours with each classifier; in bold what is closest to the paper."""
    classifiers = list(dict.fromkeys(row["classifier"] for row in rows))
    lines: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        key = (row["dataset"], row["label_rate"], row["method"], row["params"])
        lines.setdefault(key, {})[row["classifier"]] = row
    cells = []
    for (dataset, rate, method, params), own in lines.items():
        paper = next(iter(own.values()))["paper_micro_f1"]
        closest = min(own, key=lambda name: abs(own[name]["micro_f1"] - paper))
        figures = {name: f"{row['micro_f1']:.4f}" for name, row in own.items()}
        figures[closest] = f"*{figures[closest]}*"
        settings = ", ".join(f"{key}={value}" for key, value in json.loads(params).items())
        texts = [figures.get(name, "") for name in classifiers]
        splits = str(min(row["n_splits"] for row in own.values()))
        cells.append([dataset, f"{rate:.0%}", method, settings, f"{paper:.4f}", *texts, splits])
    header = ["data set", "labels", "method", "setting", "paper", *classifiers, "splits"]
    return render(header, cells, style=style, left=4)


def f1_table(rows: Sequence[Row], style: str = "text") -> str:
    """Return the rows as a table: our mean and deviation, the paper's figure, the difference, best of a row in bold."""
    best = _best(rows)
    lines = []
    for row in rows:
        cells = [row["dataset"], f"{row['label_rate']:.0%}", row["method"]]
        for score in ("micro_f1", "macro_f1"):
            ours = f"{row[score]:.4f} ± {row[score + '_std']:.4f}"
            cells.append(f"*{ours}*" if row[score] == best[score, _place(row)] else ours)
            paper = row[f"paper_{score}"]
            cells += ["", ""] if paper is None else [f"{paper:.4f}", f"{row[score] - paper:+.4f}"]
        lines.append([*cells, str(row["n_splits"]), f"{row['seconds']:.1f}", row["version"]])
    scores = ("micro F1", "paper", "diff", "macro F1", "paper", "diff")
    header = ("data set", "labels", "method", *scores, "splits", "seconds", "version")
    return render(header, lines, style=style, left=3)
