"""Tables and sentences of the pages about results, made of the csv files; no page has a number of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from unseen.errors import counted
from unseen_paper.csv_files import read_csv
from unseen_paper.experiments.claims import FAILS, HOLDS
from unseen_paper.experiments.paper import DATASETS, RATES, TITLES
from unseen_paper.experiments.plan import DRAWS, RULE
from unseen_paper.experiments.results import ResultTable
from unseen_paper.experiments.scalability import is_current
from unseen_paper.report.experiments import FILES, experiment_table
from unseen_paper.report.tables import render
from unseen_paper.report.words import words_table

PROTOCOL = {"citeseer": 15, "cora": 21, **dict.fromkeys(DATASETS[2:], DRAWS)}
"""How many splits the protocol has."""
FAR = 0.015
"""Figures that differ from the paper's by more are listed."""
SCORES = ("micro_f1", "macro_f1")
MARKED = re.compile(r"(?s)(<!-- results: ([\w-]+) -->\n)(.*?)(<!-- end of results -->)")
NUMBER = re.compile(r"(?<![\w.])\d*\.\d+(?!\w|\.\d)|\b\d+ of (?:the )?\d+\b|\b\d+ points\b")
Row = dict[str, Any]


def filled(page: str, folder: Path) -> str:
    """Return the page with every marked block made anew from the csv files of `folder`."""
    return MARKED.sub(lambda match: f"{match[1]}{block(match[2], folder).strip()}\n{match[4]}", page)


def block(name: str, folder: Path) -> str:
    """Return what stands between the marks of that name."""
    if name in BLOCKS:
        return BLOCKS[name](folder)
    if name in PIVOTS:
        return pivot(name, folder)
    return experiment_table(name, rows_of(name, folder), style="markdown")


def figures_in_sentences(page: str) -> list[str]:
    r"""Return the figures and counts that stand in the sentences of a page instead of in a marked block.

    Examples
    --------
    >>> figures_in_sentences("RECT has .719 with `alpha=0.5`.\n<!-- results: state -->\n.5\n<!-- end of results -->")
    ['.719']
    >>> figures_in_sentences("It is 4 points above RECT-N in 24 of 24 cells.")
    ['4 points', '24 of 24']
    """
    return NUMBER.findall(re.sub(r"(?s)```.*?```|`[^`]*`|\]\([^)]*\)", " ", MARKED.sub(" ", page)))


def rows_of(name: str, folder: Path) -> list[Row]:
    """Read the csv of an experiment back; none if it was not run."""
    path = folder / f"{FILES.get(name, name)}.csv"
    rows = read_csv(path, ()) if path.exists() else []
    return [
        {key: None if name in FILES and not text else _value(text) for key, text in row.items()}
        for row in rows
    ]


def state(folder: Path) -> str:
    """Return how much has been run, in a paragraph."""
    valid = [result for result in ResultTable(folder / "runs.csv") if result.rule == RULE]
    rows = _paper_rows(folder)
    full = sum(row["n_splits"] >= PROTOCOL[row["dataset"]] for row in rows)
    few = Counter(row["dataset"] for row in rows if row["n_splits"] < PROTOCOL[row["dataset"]])
    rest = ", ".join(f"{count} on {dataset}" for dataset, count in few.items())
    claims = rows_of("claims", folder)
    held, failed = (sum(row["verdict"] == verdict for row in claims) for verdict in (HOLDS, FAILS))
    text = (
        f"{len(valid):,} runs by one rule. {len(rows)} of the 201 rows of Tables 3 and 4 are there, {full} of them "
        "with all splits of the protocol (15 on Citeseer, 21 on Cora, 20 on the others)"
    )
    text += f"; rows with fewer splits: {rest}. " if rest else ". "
    theirs = sum(row["paper_verdict"] == FAILS for row in claims)
    return text + (
        f"Of {len(claims)} claims {held} hold by our figures, {failed} do not and {len(claims) - held - failed} could "
        f"not be judged; {theirs} do not hold by the paper's own tables."
    )


def below(folder: Path) -> str:
    """Return the figures that are more than 1.5 points below the paper's, the farthest first."""
    figures = []
    for row, score, lead in _leads(_paper_rows(folder)):
        if lead < -FAR:
            cells = [row["dataset"], f"{row['label_rate']:.0%}", row["method"], score.replace("_f1", " F1")]
            scores = [f"{row[score]:.4f}", f"{row[f'paper_{score}']:.4f}", f"{lead:+.4f}"]
            figures.append((lead, [*cells, *scores, str(row["n_splits"])]))
    header = ["data set", "labels", "method", "figure", "ours", "paper", "diff", "splits"]
    return render(header, [cells for _, cells in sorted(figures)], style="markdown", left=4)


def findings(folder: Path) -> str:
    """Return what the tables say of RECT, of the baselines and of our own methods, a sentence or two each."""
    rows = _paper_rows(folder)
    claims = {row["id"]: row for row in rows_of("claims", folder)}
    lines = [
        *(
            _against_paper(TITLES[name], [row for row in rows if row["method"] == name])
            for name in ("rect", "rect-l", "rect-n")
        ),
        _against_paper("RSDNE and RSDNE\\*", [row for row in rows if row["method"].startswith("rsdne")]),
        _against_paper(
            "The ten baselines", [row for row in rows if not row["method"].startswith(("rect", "rsdne"))]
        ),
        f"RECT is the best of the paper's methods in {claims['rect-best']['ours'].split(';')[0]} "
        f"(all in the paper), above RECT-N in {_wins(folder, 'rect', 'rect-n')} and above DGI in "
        f"{_wins(folder, 'rect', 'dgi')} (micro F1).",
        f"`smoothfeats`, without training and without labels, is above RECT in micro F1 of "
        f"{_wins(folder, 'smoothfeats', 'rect')}; `rect-plus` in {_wins(folder, 'rect-plus', 'rect')}, and above "
        f"`smoothfeats` in {_wins(folder, 'rect-plus', 'smoothfeats')}.",
    ]
    return "".join(f"- {line}\n" for line in lines if line)


def published(folder: Path) -> str:
    """Say how far from the paper's figures the baselines are with each classifier."""
    rows = rows_of("published-classifier", folder)
    classifiers = list(dict.fromkeys(row["classifier"] for row in rows))
    distances: dict[str, dict[tuple[str, float], dict[str, float]]] = {}
    for row in rows:
        name = TITLES[row["method"]] + (", hidden layer as it is" if "propagate" in row["params"] else "")
        if not row["method"].startswith("rect"):
            cell = distances.setdefault(name, {}).setdefault((row["dataset"], row["label_rate"]), {})
            cell[row["classifier"]] = row["micro_f1"] - row["paper_micro_f1"]
    texts = []
    for name, cells in distances.items():
        whole = [cell for cell in cells.values() if len(cell) == len(classifiers)]
        if whole:
            means = [100 * fmean(cell[each] for cell in whole) for each in classifiers]
            texts.append(
                f"{name} "
                + " / ".join(f"{round(mean, 1) + 0.0:+.1f}" for mean in means)
                + f" ({counted(len(whole), 'row')})"
            )
    return f"Mean points above the paper's micro F1, with {'; '.join(classifiers)}: {'; '.join(texts)}."


def failed_claims(folder: Path) -> str:
    """Return the claims that hold by the paper's figures, or have none, and do not hold here."""
    rows = [
        row for row in rows_of("claims", folder) if row["verdict"] == FAILS and row["paper_verdict"] != FAILS
    ]
    cells = [[row["quotation"], row["ours"].split(";")[0], str(row["splits"])] for row in rows]
    return render(["the paper", "here", "splits"], cells, style="markdown", left=3)


def excluded(folder: Path) -> str:
    """Return the single fits that were made to find out why a figure is below the paper's."""
    rows = read_csv(folder.parent / "notes" / "excluded.csv", ())
    return render(list(rows[0]), [list(row.values()) for row in rows], style="markdown", left=4)


def claims(folder: Path) -> str:
    """Return the verdicts on the paper's claims."""
    names = ("claim", "paper_verdict", "verdict", "ours", "splits")
    cells = [[str(row[name]) for name in names] for row in rows_of("claims", folder)]
    header = ["claim", "by the paper's figures", "here", "ours", "splits"]
    return render(header, cells, style="markdown", left=5)


def seen_gains(folder: Path) -> str:
    """Return what labels add to the methods that use none, by the number of seen classes."""
    micro = {(row["method"], row["seen_classes"]): row["micro_f1"] for row in rows_of("seen-classes", folder)}
    pairs = (("rsdne", "mfdw"), ("rsdne-light", "mfdw"), ("rect", "rect-n"), ("rect-l", "rect-n"))
    counts = sorted({count for _, count in micro}, reverse=True)
    cells = [
        [
            f"{TITLES[better]} above {TITLES[plain]}",
            *(
                f"{100 * (micro[better, k] - micro[plain, k]):+.1f}"
                if {(better, k), (plain, k)} <= micro.keys()
                else ""
                for k in counts
            ),
        ]
        for better, plain in pairs
    ]
    return render(["points of micro F1, seen classes:", *map(str, counts)], cells, style="markdown")


def overview(folder: Path) -> str:
    """Return micro F1 of all methods beside the paper's RECT, a number per label rate, in bold where best at each.

    The number of splits is in brackets where it is not that of the protocol.
    """
    rows = {(row["dataset"], row["method"], row["label_rate"]): row for row in rows_of("f1", folder)}
    methods = dict.fromkeys([*TITLES, *(method for _, method, _ in rows)])

    def scores(dataset: str, method: str, score: str = "micro_f1") -> list[float]:
        present = [rows[key] for rate in RATES if (key := (dataset, method, rate)) in rows]
        values = [row[score] for row in present if row[score] is not None]
        return values if len(values) == len(RATES) else []

    def cell(dataset: str, method: str, score: str = "micro_f1") -> str:
        values = scores(dataset, method, score)
        if not values:
            return ""
        text = " / ".join(_brief(value) for value in values)
        splits = min(rows[dataset, method, rate]["n_splits"] for rate in RATES)
        if score == "micro_f1" and splits < PROTOCOL[dataset]:
            text += f" ({splits})"
        return f"*{text}*" if values == best[dataset] else text

    best = {
        dataset: [
            max(values) for values in zip(*filter(None, (scores(dataset, m) for m in methods)), strict=True)
        ]
        for dataset in DATASETS
    }
    paper = ["RECT, the paper", *(cell(dataset, "rect", "paper_micro_f1") for dataset in DATASETS)]
    lines = [[method, *(cell(dataset, method) for dataset in DATASETS)] for method in methods]
    return render(["micro F1 at 10 / 30 / 50 % labels", *DATASETS], [paper, *lines], style="markdown")


def pivot(name: str, folder: Path) -> str:
    """Return a table of one of the `PIVOTS`: what is on its lines, in its columns and cells."""
    heading, line, column, cell = PIVOTS[name]
    rows = rows_of(name, folder)
    if name == "scalability":
        rows = [row for row in rows if not row["error"] and is_current(row["version"])]
    texts = {(line.format(**row), column.format(**row)): cell.format(**row) for row in rows}
    if not texts:
        return "No results by the present rule and version yet."
    columns = dict.fromkeys(key for _, key in texts)
    lines = dict.fromkeys(key for key, _ in texts)
    cells = [[each, *(texts.get((each, key), "") for key in columns)] for each in lines]
    return render([heading, *columns], cells, style="markdown")


PIVOTS = {
    "balanced": ("micro F1 (draws)", "{method}", "{dataset}", "{micro_f1:.4f} ({n_splits})"),
    "dimension": ("micro F1, columns:", "{method}", "{n_components}", "{micro_f1:.4f}"),
    "alpha": ("micro F1, alpha:", "{method}, {label_rate:.0%}", "{alpha}", "{micro_f1:.4f}"),
    "ablation": ("micro / macro F1", "{params}", "{label_rate:.0%}", "{micro_f1:.4f} / {macro_f1:.4f}"),
    "scalability": ("seconds, nodes:", "{method}, {device}", "{n_nodes}", "{seconds:.1f}"),
}
"""Tables with a line for each method or setting: heading, and what of a row is on the line, in the column, the cell."""


def layouts(folder: Path) -> str:
    """Return what the nearest neighbours of the maps' nodes have in common with them."""
    rows = rows_of("layouts_numbers", folder)
    names = ("seen_purity", "unseen_purity", "unseen_mixed")
    cells = [[row["method"], *(f"{row[name]:.3f}" for name in names)] for row in rows if row["rule"] == RULE]
    header = [
        "share of neighbours",
        "seen nodes: same class",
        "hidden: same class",
        "hidden: other hidden class",
    ]
    return render(header, cells, style="markdown")


BLOCKS: dict[str, Callable[[Path], str]] = {
    "state": state,
    "below": below,
    "findings": findings,
    "published": published,
    "failed-claims": failed_claims,
    "claims": claims,
    "excluded": excluded,
    "seen-gains": seen_gains,
    "overview": overview,
    "layouts": layouts,
    "words": lambda folder: words_table(rows_of("words", folder), style="markdown"),
}
"""What a page may ask for, besides the tables of experiments."""


def _against_paper(name: str, rows: Sequence[Row]) -> str:
    """Say how many figures are near the paper's, above or below, and which one is lowest."""
    leads = list(_leads(rows))
    if not leads:
        return ""
    above, under = sum(lead > FAR for *_, lead in leads), sum(lead < -FAR for *_, lead in leads)
    row, score, _ = min(leads, key=lambda each: each[2])
    lowest = (
        f"{score.replace('_f1', ' F1')} of {TITLES[row['method']]} on {row['dataset']} at {row['label_rate']:.0%} "
        f"({_brief(row[score])} against {_brief(row[f'paper_{score}'])}, {row['n_splits']} splits)"
    ).replace("*", "\\*")
    return (
        f"{name}: of {len(leads)} figures {len(leads) - above - under} are within 1.5 points of the paper's, {above} "
        f"are above and {under} below; the lowest is {lowest}."
    )


def _leads(rows: Iterable[Row]) -> Iterable[tuple[Row, str, float]]:
    return ((row, score, row[score] - row[f"paper_{score}"]) for row in rows for score in SCORES)


def _wins(folder: Path, better: str, worse: str) -> str:
    """Return in how many cells of Tables 3 and 4 the micro F1 of one method is above that of another."""
    (row,) = (
        row
        for row in rows_of("comparisons", folder)
        if (row["better"], row["worse"], row["score"]) == (better, worse, "micro_f1")
    )
    lost = row["lost"].split(", ") if row["lost"] else []
    return f"{row['won']} of {row['cells']} cells" + (f" (not: {row['lost']})" if 0 < len(lost) <= 4 else "")


def _paper_rows(folder: Path) -> list[Row]:
    return [row for row in rows_of("f1", folder) if row["paper_micro_f1"] is not None]


def _brief(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
