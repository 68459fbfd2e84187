"""The scores that the claims of section 6 are judged by: the paper's own, and ours from the table of results."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unseen import RSDNELight
from unseen.data.datasets import dataset_names
from unseen.errors import UnseenError
from unseen_paper.csv_files import read_csv
from unseen_paper.experiments.catalog import ABLATIONS, EXPERIMENTS, ROWS, Choice, labels_of
from unseen_paper.experiments.paper import DATASETS, TITLES, paper_decline, paper_f1
from unseen_paper.experiments.plan import RULE, Run, as_params
from unseen_paper.experiments.results import Result, valid_results
from unseen_paper.experiments.scalability import is_current

Pair = tuple[float, float]
Cell = tuple[Hashable, ...]
"""The name of an experiment, and what tells its means apart."""
PRINTED = "printed"
"""Stands for the splits behind a figure that the paper prints."""
COLLECTED = ("f1", "balanced")
"""Experiments of many methods on many graphs: their files hold all runs so far, whatever was asked for last."""


class UnmatchedError(UnseenError):
    """Scores were to be compared that have no split in common."""


@dataclass(frozen=True)
class Evidence:
    """What claims are judged by; what was not measured is not there.

    Parameters
    ----------
    scores : mapping of mapping
        (micro F1, macro F1) by cell and split. Cells are ("f1", data set, label rate, method), ("decline", method,
        unseen classes, label rate), ("seen", method, seen classes), ("ablation", setting of RSDNE, label rate),
        ("alpha", method, label rate, alpha), ("dimension", method, columns) and ("balanced", data set, method).
    covered : set of (str, float)
        Data sets and label rates at which RSDNE* has every node of a class among its candidates.
    weights : mapping of list
        The weights that a method's runs chose inside the seen labels, by method.
    layouts : mapping
        Rows of numbers of the panels, by method.
    seconds : mapping of float
        Training time by (method, device, number of nodes).
    used : list of int
        Over how many splits each of the means was taken that were asked for.
    """

    scores: Mapping[Cell, Mapping[Hashable, Pair]] = field(default_factory=dict)
    covered: frozenset[tuple[str, float]] = frozenset()
    weights: Mapping[str, list[float]] = field(default_factory=dict)
    layouts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    seconds: Mapping[tuple[str, str, int], float] = field(default_factory=dict)
    used: list[int] = field(default_factory=list)

    def means(self, *cells: Cell) -> list[Pair] | None:
        """Return the mean of each cell over the splits that all of them have; None if one of them was not run.

        All comparisons go through here. Cells without a common split are refused.

        Examples
        --------
        >>> rect, gcn = ("f1", "cora", 0.1, "rect"), ("f1", "cora", 0.1, "gcn")
        >>> evidence = Evidence({rect: {0: (0.5, 0.5), 1: (0.9, 0.9)}, gcn: {0: (0.25, 0.25)}})
        >>> evidence.means(rect, gcn)
        [(0.5, 0.5), (0.25, 0.25)]
        """
        if not cells or not all(self.scores.get(cell) for cell in cells):
            return None
        common = set.intersection(*(set(self.scores[cell]) for cell in cells))
        if not common:
            named = " and ".join(" ".join(map(str, cell)) for cell in cells)
            msg = f"{named} have no split in common, so they cannot be compared"
            raise UnmatchedError(msg)
        self.used.append(len(common))
        ordered = sorted(common, key=repr)
        return [_mean([self.scores[cell][split] for split in ordered]) for cell in cells]


def paper_evidence() -> Evidence:
    """Return what the paper prints: Tables 1, 3 and 4. Its other results are figures without numbers.

    Examples
    --------
    >>> len(paper_evidence().scores)
    219
    """
    printed: dict[Cell, Pair] = {("f1", *key): pair for key, pair in paper_f1().items()}
    printed |= {("decline", *key): (figure, figure) for key, figure in paper_decline().items()}
    return Evidence({cell: {PRINTED: pair} for cell, pair in printed.items()})


def our_evidence(results: Iterable[Result], choice: Choice, out: Path) -> Evidence:
    """Return what the table of results, and the files of layouts and scalability in `out`, have to say.

    Parameters
    ----------
    results : iterable of Result
        The whole table; runs that belong to no experiment are left out.
    choice : Choice
        Of which the number of splits counts: a plan of few splits is not always a part of the full one.
    out : Path
        Folder of results.
    """
    good = valid_results(results)
    by_experiment = {name: _planned(name, good, choice) for name in EXPERIMENTS}
    scores: dict[Cell, dict[Hashable, Pair]] = {}
    for name, cell_of in CELLS.items():
        for result in by_experiment[name]:
            split = result.run.seed if name in NESTED else (result.run.seed, result.run.unseen)
            scores.setdefault(cell_of(result.run), {})[split] = _pair(result)
    draws: dict[Cell, dict[int, list[Pair]]] = {}
    for result in by_experiment["balanced"]:
        drawn: Cell = ("balanced", result.run.dataset, result.run.method)
        draws.setdefault(drawn, {}).setdefault(result.run.seed, []).append(_pair(result))
    for drawn, own in draws.items():
        scores[drawn] = {seed: _mean(pairs) for seed, pairs in own.items()}

    largest: dict[tuple[str, float], int] = {}
    weights: dict[str, list[float]] = {}
    for result in by_experiment["f1"]:
        for value in json.loads(result.setting or "{}").values():
            weights.setdefault(result.run.method, []).append(float(value))
        if result.run.method == "rsdne-light":
            key = (result.run.dataset, result.run.label_rate)
            counts = result.run.split(labels_of(result.run.dataset)).seen_labels.counts
            largest[key] = max(largest.get(key, 0), int(counts.max()))

    panels, times = out / "layouts_numbers.csv", out / "scalability.csv"
    names = ("seen_purity", "unseen_purity", "unseen_mixed")
    maps = read_csv(panels, ("method", "rule", *names)) if panels.exists() else []
    fits = read_csv(times, ("method", "device", "n_nodes", "seconds", "version")) if times.exists() else []
    return Evidence(
        scores=scores,
        covered=frozenset(key for key, size in largest.items() if size - 1 <= CANDIDATES),
        weights=weights,
        layouts={
            row["method"]: {name: float(row[name]) for name in names}
            for row in maps
            if row["method"] in TITLES
            and row["rule"] == RULE
            and row["unseen_purity"]  # the paper speaks of its own panels; some may have failed
        },
        seconds={
            (row["method"], row["device"], int(row["n_nodes"])): float(row["seconds"])
            for row in fits
            if row["seconds"] and is_current(row["version"])
        },
    )


CANDIDATES = 20 * RSDNELight().n_neighbors
"""How many candidates a labelled node of RSDNE* has by default."""
TITLE_OF_SETTING = {as_params(params): title for title, params in ABLATIONS.items()}
CELLS: dict[str, Callable[[Run], Cell]] = {
    "f1": lambda run: ("f1", run.dataset, run.label_rate, run.method),
    "decline": lambda run: ("decline", run.method, len(run.unseen), run.label_rate),
    "seen-classes": lambda run: ("seen", run.method, len(labels_of(run.dataset).classes) - len(run.unseen)),
    "ablation": lambda run: ("ablation", TITLE_OF_SETTING[run.params], run.label_rate),
    "alpha": lambda run: ("alpha", run.method, run.label_rate, run.keywords().get("alpha", 1.0)),
    "dimension": lambda run: ("dimension", run.method, run.keywords().get("n_components", 0)),
}
"""The cell of each run, by experiment; of `balanced`, a draw is the mean over its label rates."""
NESTED = ("decline", "seen-classes")
"""Experiments that compare different numbers of hidden classes of the same draw, which its seed names."""


def collected(name: str, results: Iterable[Result], choice: Choice) -> list[Result]:
    """Return the results of an experiment in the order of its plan, for those of `COLLECTED` of any method."""
    return _planned(name, valid_results(results), choice)


def _planned(name: str, good: Mapping[Any, Result], choice: Choice) -> list[Result]:
    """Return the results that belong to an experiment, by its full plan or by that of `choice`.

    Runs of Tables 3 and 4 count as they come in, draws of balanced labels where all label rates are there. The other
    experiments share some of them by chance, so there a mean is taken only where all of its splits are there.
    """
    present = {run.dataset for run in good}
    wanted = {"f1": dataset_names(), "balanced": DATASETS, "published-classifier": DATASETS}.get(
        name, ("citeseer",)
    )
    datasets = [dataset for dataset in wanted if dataset in present]
    if not datasets:
        return []
    methods = [m for m in ROWS if m in {run.method for run in good}] if name in COLLECTED else None
    rates = sorted({run.label_rate for run in good}) if name == "f1" else None
    plans = [Choice(datasets, methods, rates)]
    if choice.splits is not None:
        plans.append(Choice(datasets, methods, rates, choice.splits))
    planned: dict[Run, None] = {}
    for plan in plans:
        groups: dict[Any, list[Run]] = {}
        for run in EXPERIMENTS[name].runs(plan):
            key = (run.dataset, run.method, run.params, run.classifier, run.label_rate, len(run.unseen))
            draw = (run.dataset, run.method, run.seed)
            groups.setdefault(draw if name == "balanced" else key, []).append(run)
        for runs in groups.values():
            if name == "f1" or all(run in good for run in runs):
                planned |= dict.fromkeys(runs)
    return [good[run] for run in planned if run in good]


def _pair(result: Result) -> Pair:
    assert result.micro_f1 is not None
    assert result.macro_f1 is not None
    return result.micro_f1, result.macro_f1


def _mean(pairs: Sequence[Pair]) -> Pair:
    micro, macro = zip(*pairs, strict=True)
    return float(np.mean(micro)), float(np.mean(macro))
