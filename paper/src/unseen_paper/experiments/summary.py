"""From runs to the rows of a table: mean and standard deviation over splits, beside the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unseen.errors import UnseenError
from unseen_paper.experiments.paper import DATASETS, TITLES, paper_f1
from unseen_paper.experiments.plan import Run
from unseen_paper.experiments.results import Result

K = TypeVar("K")

NO_PAPER: dict[str, Any] = {"paper_micro_f1": None, "paper_macro_f1": None}
"""For rows of which the paper prints no figure."""

PROTOCOL_CLASSIFIER = "linear, C chosen inside L"
"""What the classifier of the protocol is called beside others."""


def f1_rows(results: Iterable[Result]) -> list[dict[str, Any]]:
    """Return one row for each (data set, label rate, method), in the order of the paper's tables.

    Examples
    --------
    >>> rows = f1_rows([Result(Run("cora", "rect", 0.1, k), 0.8 + k / 10, 0.7, seconds=1.0) for k in range(2)])
    >>> rows[0]["micro_f1"], rows[0]["n_splits"], rows[0]["paper_micro_f1"]
    (0.85, 2, 0.8197)
    """
    groups = _grouped(results, _cell)
    return [_row(key, groups[key]) for key in sorted(groups, key=_place)]


def _grouped(results: Iterable[Result], key: Callable[[Run], K]) -> dict[K, list[Result]]:
    """Return the results that have scores by what their runs have in common."""
    groups: dict[K, list[Result]] = {}
    for result in results:
        if not result.error:
            groups.setdefault(key(result.run), []).append(result)
    return groups


def _cell(run: Run) -> tuple[str, float, str]:
    return run.dataset, run.label_rate, run.method


def _row(key: tuple[str, float, str], results: list[Result]) -> dict[str, Any]:
    dataset, rate, method = key
    micro = np.array([result.micro_f1 for result in results], dtype=float)
    macro = np.array([result.macro_f1 for result in results], dtype=float)
    paper_micro, paper_macro = paper_f1().get(key, (None, None))
    rules = sorted({result.rule for result in results})
    if len(rules) > 1:
        msg = f"a mean of {method} on {dataset} would mix results of the rules {', '.join(rules)}"
        raise UnseenError(msg)
    return {
        "dataset": dataset,
        "label_rate": rate,
        "method": method,
        "micro_f1": _rounded(micro.mean()),
        "micro_f1_std": _rounded(_deviation(micro)),
        "macro_f1": _rounded(macro.mean()),
        "macro_f1_std": _rounded(_deviation(macro)),
        "n_splits": len(results),
        "paper_micro_f1": paper_micro,
        "paper_macro_f1": paper_macro,
        "seconds": _rounded(np.mean([result.seconds or 0.0 for result in results])),
        "rule": rules[0],
        "version": " ".join(sorted({result.version for result in results})),
    }


def _deviation(values: npt.NDArray[np.float64]) -> float:
    """Return the standard deviation as `ScoreSummary` does: n - 1 in the denominator, 0 for one split."""
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _rounded(value: Any) -> float:
    return round(float(value), 6)


def _place(key: tuple[str, float, str]) -> tuple[int, str, float, int, str]:
    dataset, rate, method = key
    order = list(TITLES)
    number = DATASETS.index(dataset) if dataset in DATASETS else len(DATASETS)
    return number, dataset, rate, order.index(method) if method in order else len(order), method


def setting_rows(results: Iterable[Result], n_classes: dict[str, int]) -> list[dict[str, Any]]:
    """Return one row for each (data set, method, parameters, label rate, number of unseen classes)."""
    groups = _grouped(results, lambda run: (_cell(run), run.params, len(run.unseen)))
    return [
        {
            **_row(cell, group),
            **NO_PAPER,
            "params": params,
            "unseen_classes": hidden,
            "seen_classes": n_classes[cell[0]] - hidden,
            "alpha": group[0].run.keywords().get("alpha", 1.0),
            "n_components": group[0].run.keywords().get("n_components", ""),
        }
        for (cell, params, hidden), group in groups.items()
    ]


def published_rows(results: Iterable[Result]) -> list[dict[str, Any]]:
    """Return one row for each (data set, label rate, method, parameters, classifier), beside the paper's figures."""
    groups = _grouped(results, lambda run: (_cell(run), run.params, run.classifier))
    return [
        {**_row(cell, group), "params": params, "classifier": classifier or PROTOCOL_CLASSIFIER}
        for (cell, params, classifier), group in groups.items()
    ]


def balanced_rows(results: Iterable[Result]) -> list[dict[str, Any]]:
    """Return one row for each (data set, method): means over label rates of the means over splits.

    The deviation is that of the draws, each averaged over label rates.

    Examples
    --------
    >>> results = [Result(Run("cora", "rect", rate, 0), 0.6 + rate, 0.5) for rate in (0.1, 0.3)]
    >>> balanced_rows(results)[0]["micro_f1"], balanced_rows(results)[0]["label_rates"]
    (0.8, '0.1 0.3')
    """
    groups = _grouped(results, lambda run: (run.dataset, run.method))
    rows = []
    for dataset, method in sorted(groups, key=lambda key: _place((key[0], 0.0, key[1]))):
        own = groups[dataset, method]
        cells, draws = f1_rows(own), _grouped(own, lambda run: run.seed).values()
        means: dict[str, Any] = {"dataset": dataset, "label_rate": None, "method": method}
        for score in ("micro_f1", "macro_f1"):
            means[score] = _rounded(np.mean([each[score] for each in cells]))
            whole = [np.mean([getattr(r, score) for r in draw]) for draw in draws if len(draw) == len(cells)]
            means[f"{score}_std"] = _rounded(_deviation(np.array(whole)))
        rows.append(
            {
                **means,
                "n_splits": min(each["n_splits"] for each in cells),
                **NO_PAPER,
                "seconds": _rounded(np.mean([each["seconds"] for each in cells])),
                "label_rates": " ".join(f"{each['label_rate']:g}" for each in cells),
                "rule": cells[0]["rule"],
            }
        )
    return rows
