"""The means that the claims of section 6 are judged by: the paper's own, and ours from the table of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unseen.data.datasets import dataset_names
from unseen_paper.csv_files import read_csv
from unseen_paper.experiments.catalog import ABLATIONS, EXPERIMENTS, ROWS, Choice
from unseen_paper.experiments.paper import DATASETS, RATES, TITLES, paper_decline, paper_f1
from unseen_paper.experiments.plan import Run, as_params
from unseen_paper.experiments.results import Result, valid_results
from unseen_paper.experiments.summary import balanced_rows

Pair = tuple[float, float]
Cell = tuple[str, float, str]
"""Data set, label rate, method."""
COLLECTED = ("f1", "balanced")
"""Experiments of many methods on many graphs: their files hold all runs so far, whatever was asked for last."""


@dataclass(frozen=True)
class Evidence:
    """Means over splits, (micro F1, macro F1) unless said otherwise; what was not measured is not there.

    Parameters
    ----------
    f1 : mapping
        By (data set, label rate, method).
    splits : mapping of mapping
        The same split by split, where that is known.
    decline : mapping
        By (method, number of unseen classes, label rate).
    seen : mapping
        By (method, number of seen classes).
    ablation : mapping
        By (setting of RSDNE, label rate).
    alpha : mapping
        By (method, label rate, alpha).
    dimension : mapping
        By (method, number of columns).
    balanced : mapping
        By (data set, method), averaged over label rates.
    weights : mapping of list
        The weights that a method's runs chose inside the seen labels, by method.
    layouts : mapping
        Rows of numbers of the panels, by method.
    seconds : mapping of float
        Training time by (method, device, number of nodes).
    """

    f1: Mapping[Cell, Pair] = field(default_factory=dict)
    splits: Mapping[Cell, Mapping[int, Pair]] = field(default_factory=dict)
    decline: Mapping[tuple[str, int, float], Pair] = field(default_factory=dict)
    seen: Mapping[tuple[str, int], Pair] = field(default_factory=dict)
    ablation: Mapping[tuple[str, float], Pair] = field(default_factory=dict)
    alpha: Mapping[tuple[str, float, float], Pair] = field(default_factory=dict)
    dimension: Mapping[tuple[str, int], Pair] = field(default_factory=dict)
    balanced: Mapping[tuple[str, str], Pair] = field(default_factory=dict)
    weights: Mapping[str, list[float]] = field(default_factory=dict)
    layouts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    seconds: Mapping[tuple[str, str, int], float] = field(default_factory=dict)

    def both(self, first: Cell, second: Cell) -> tuple[Pair, Pair] | None:
        """Return the means of two cells of `f1`, over the splits that both have where splits are known.

        Examples
        --------
        >>> a, b = ("cora", 0.1, "rect"), ("cora", 0.1, "gcn")
        >>> splits = {a: {0: (0.5, 0.5), 1: (0.9, 0.9)}, b: {0: (0.25, 0.25)}}
        >>> Evidence(splits=splits).both(a, b)
        ((0.5, 0.5), (0.25, 0.25))
        """
        if first in self.splits and second in self.splits:
            left, right = self.splits[first], self.splits[second]
            common = sorted(left.keys() & right.keys())
            return (_mean([left[k] for k in common]), _mean([right[k] for k in common])) if common else None
        if first in self.f1 and second in self.f1:
            return self.f1[first], self.f1[second]
        return None


def paper_evidence() -> Evidence:
    """Return what the paper prints: Tables 1, 3 and 4. Its other results are figures without numbers.

    Examples
    --------
    >>> len(paper_evidence().f1)
    201
    """
    return Evidence(f1=paper_f1(), decline={key: (figure, figure) for key, figure in paper_decline().items()})


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
    ablations = {as_params(params): title for title, params in ABLATIONS.items()}
    n_classes = 6  # Citeseer's, the only graph of that experiment
    return Evidence(
        f1=_means(by_experiment["f1"], lambda r: (r.run.dataset, r.run.label_rate, r.run.method)),
        splits=_splits(by_experiment["f1"]),
        decline=_means(
            by_experiment["decline"], lambda r: (r.run.method, len(r.run.unseen), r.run.label_rate)
        ),
        seen=_means(by_experiment["seen-classes"], lambda r: (r.run.method, n_classes - len(r.run.unseen))),
        ablation=_means(by_experiment["ablation"], lambda r: (ablations[r.run.params], r.run.label_rate)),
        alpha=_means(
            by_experiment["alpha"],
            lambda r: (r.run.method, r.run.label_rate, r.run.keywords().get("alpha", 1.0)),
        ),
        dimension=_means(
            by_experiment["dimension"], lambda r: (r.run.method, r.run.keywords().get("n_components", 0))
        ),
        balanced={
            (row["dataset"], row["method"]): (row["micro_f1"], row["macro_f1"])
            for row in balanced_rows(by_experiment["balanced"])
        },
        weights=_weights(by_experiment["f1"]),
        layouts=_layouts(out / "layouts_numbers.csv"),
        seconds=_seconds(out / "scalability.csv"),
    )


def collected(name: str, results: Iterable[Result], choice: Choice) -> list[Result]:
    """Return the results of an experiment in the order of its plan, for those of `COLLECTED` of any method."""
    return _planned(name, valid_results(results), choice)


def _planned(name: str, good: Mapping[Any, Result], choice: Choice) -> list[Result]:
    """Return the results that belong to an experiment, by its full plan or by that of `choice`.

    Runs of Tables 3 and 4 count as they come in, those of balanced labels where a method has all label rates. The
    other experiments share some of them by chance, so there a mean is taken only where all of its splits are there.
    """
    present = {run.dataset for run in good}
    wanted = {"f1": dataset_names(), "balanced": DATASETS}.get(name, ("citeseer",))
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
            key = (run.dataset, run.method, run.params, run.label_rate, len(run.unseen))
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


def _means(results: Iterable[Result], key: Any) -> dict[Any, Pair]:
    groups: dict[Any, list[Pair]] = {}
    for result in results:
        if result.micro_f1 is not None and result.macro_f1 is not None:
            groups.setdefault(key(result), []).append((result.micro_f1, result.macro_f1))
    return {where: _mean(pairs) for where, pairs in groups.items()}


def _splits(results: Iterable[Result]) -> dict[Cell, dict[int, Pair]]:
    cells: dict[Cell, dict[int, Pair]] = {}
    for result in results:
        run = result.run
        if result.micro_f1 is not None and result.macro_f1 is not None:
            cell = cells.setdefault((run.dataset, run.label_rate, run.method), {})
            cell[run.seed] = (result.micro_f1, result.macro_f1)
    return cells


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
        for row in _rows(path, ("method", *names))
        if row["method"] in TITLES
        and row["unseen_purity"]  # the paper speaks of its own panels; some may have failed
    }


def _seconds(path: Path) -> dict[tuple[str, str, int], float]:
    return {
        (row["method"], row["device"], int(row["n_nodes"])): float(row["seconds"])
        for row in _rows(path, ("method", "device", "n_nodes", "seconds"))
        if row["seconds"]
    }


def _rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    return read_csv(path, columns) if path.exists() else []
