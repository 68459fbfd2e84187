"""The scores that the claims of section 6 are judged by: the paper's own, and ours from the table of results."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unseen import RSDNELight
from unseen.data.datasets import dataset_names
from unseen.errors import UnseenError
from unseen_paper.csv_files import read_csv
from unseen_paper.experiments.catalog import ABLATIONS, EXPERIMENTS, ROWS, Choice, labels_of
from unseen_paper.experiments.paper import DATASETS, RATES, TITLES, paper_decline, paper_f1
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
    for name, own in by_experiment.items():
        for result in own if name in CELLS else ():
            split = result.run.seed if name in NESTED else (result.run.seed, result.run.unseen)
            scores.setdefault(_cell(name, result.run), {})[split] = _pair(result)
    return Evidence(
        scores={**scores, **_balanced(by_experiment["balanced"])},
        covered=_covered(
            {result.run for result in by_experiment["f1"] if result.run.method == "rsdne-light"}
        ),
        weights=_weights(by_experiment["f1"]),
        layouts=_layouts(out / "layouts_numbers.csv"),
        seconds=_seconds(out / "scalability.csv"),
    )


CANDIDATES = 20 * RSDNELight().n_neighbors
"""How many candidates a labelled node of RSDNE* has by default."""
CELLS = ("f1", "decline", "seen-classes", "ablation", "alpha", "dimension")
"""Experiments whose runs are scores of cells as they are."""
NESTED = ("decline", "seen-classes")
"""Experiments that compare different numbers of hidden classes of the same draw, which its seed names."""


def _cell(name: str, run: Run) -> Cell:
    if name == "f1":
        return name, run.dataset, run.label_rate, run.method
    if name == "decline":
        return name, run.method, len(run.unseen), run.label_rate
    if name == "seen-classes":
        return "seen", run.method, len(labels_of(run.dataset).classes) - len(run.unseen)
    if name == "ablation":
        titles = {as_params(params): title for title, params in ABLATIONS.items()}
        return name, titles[run.params], run.label_rate
    if name == "alpha":
        return name, run.method, run.label_rate, run.keywords().get("alpha", 1.0)
    return name, run.method, run.keywords().get("n_components", 0)


def _balanced(results: Iterable[Result]) -> dict[Cell, dict[Hashable, Pair]]:
    """Return the mean over label rates of every draw that has all of them."""
    draws: dict[Cell, dict[Hashable, dict[float, Pair]]] = {}
    for result in results:
        run = result.run
        draw = draws.setdefault(("balanced", run.dataset, run.method), {}).setdefault(run.seed, {})
        draw[run.label_rate] = _pair(result)
    return {
        cell: {
            seed: _mean(list(by_rate.values())) for seed, by_rate in own.items() if len(by_rate) == len(RATES)
        }
        for cell, own in draws.items()
    }


def _covered(runs: Iterable[Run]) -> frozenset[tuple[str, float]]:
    """Return where no class of any split has more labelled nodes than RSDNE* has candidates for one of them."""
    largest: dict[tuple[str, float], int] = {}
    for run in runs:
        labels = run.split(labels_of(run.dataset)).seen_labels
        key = (run.dataset, run.label_rate)
        largest[key] = max(largest.get(key, 0), int(labels.counts.max()))
    return frozenset(key for key, size in largest.items() if size - 1 <= CANDIDATES)


def collected(name: str, results: Iterable[Result], choice: Choice) -> list[Result]:
    """Return the results of an experiment in the order of its plan, for those of `COLLECTED` of any method."""
    return _planned(name, valid_results(results), choice)


def _planned(name: str, good: Mapping[Any, Result], choice: Choice) -> list[Result]:
    """Return the results that belong to an experiment, by its full plan or by that of `choice`.

    Runs of Tables 3 and 4 count as they come in, those of balanced labels where a method has all label rates. The
    other experiments share some of them by chance, so there a mean is taken only where all of its splits are there.
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
            groups.setdefault(key, []).append(run)
        for runs in groups.values():
            if name in COLLECTED or all(run in good for run in runs):
                planned |= dict.fromkeys(runs)
    present_results = [good[run] for run in planned if run in good]
    return _with_all_rates(present_results) if name == "balanced" else present_results


def _with_all_rates(results: Iterable[Result]) -> list[Result]:
    """Leave out what a method did on a graph where a label rate is missing: its mean would not compare."""
    results = list(results)
    have: dict[tuple[str, str], set[float]] = {}
    for result in results:
        have.setdefault((result.run.dataset, result.run.method), set()).add(result.run.label_rate)
    return [result for result in results if set(RATES) <= have[result.run.dataset, result.run.method]]


def _pair(result: Result) -> Pair:
    assert result.micro_f1 is not None
    assert result.macro_f1 is not None
    return result.micro_f1, result.macro_f1


def _mean(pairs: Sequence[Pair]) -> Pair:
    micro, macro = zip(*pairs, strict=True)
    return float(np.mean(micro)), float(np.mean(macro))


def _weights(results: Iterable[Result]) -> dict[str, list[float]]:
    import json

    weights: dict[str, list[float]] = {}
    for result in results:
        for value in json.loads(result.setting or "{}").values():
            weights.setdefault(result.run.method, []).append(float(value))
    return weights


def _layouts(path: Path) -> dict[str, dict[str, float]]:
    names = ("seen_purity", "unseen_purity", "unseen_mixed")
    return {
        row["method"]: {name: float(row[name]) for name in names}
        for row in _rows(path, ("method", "rule", *names))
        if row["method"] in TITLES
        and row["rule"] == RULE
        and row["unseen_purity"]  # the paper speaks of its own panels; some may have failed
    }


def _seconds(path: Path) -> dict[tuple[str, str, int], float]:
    return {
        (row["method"], row["device"], int(row["n_nodes"])): float(row["seconds"])
        for row in _rows(path, ("method", "device", "n_nodes", "seconds", "version"))
        if row["seconds"] and is_current(row["version"])
    }


def _rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    return read_csv(path, columns) if path.exists() else []
