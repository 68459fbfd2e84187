"""Every claim of the paper's section 6 (and of its Table 1), judged by the paper's own figures and by ours.

A claim is a sentence and a short quotation (``data/paper_claims.csv``), and a function from :class:`Evidence` to the
figures that bear on it and whether it holds. Where a sentence leaves room ("comparable", "not sensitive"), the reading
is in the claim's text. Cells that were not run are left out, and the figures say how many were compared; with none, the
claim was not run. Methods and settings are compared over the splits that all of them have (:meth:`Evidence.means`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from unseen_paper.experiments.evidence import Cell, Evidence, UnmatchedError, paper_evidence
from unseen_paper.experiments.paper import DATASETS, RATES, TITLES, paper_claims

HOLDS, FAILS, NOT_RUN, NO_FIGURES = "holds", "does not hold", "not run", "no figures printed"
UNMATCHED = "not comparable"
SCORES = ("micro", "macro")
PAIRS = (
    ("rect", "rect-n"),
    ("rect", "dgi"),
    ("smoothfeats", "rect"),
    ("rect-plus", "rect"),
    ("rect-plus", "smoothfeats"),
)
"""Methods whose rows are compared with each other, in addition to the paper's claims."""


@dataclass(frozen=True)
class Finding:
    """What the figures are, and whether the claim holds by them."""

    figures: str
    holds: bool


def claim_rows(ours: Evidence) -> list[dict[str, str]]:
    """Return one row a claim: text, quotation, the paper's figures and ours, and the verdict by each.

    Examples
    --------
    >>> rows = {row["id"]: row for row in claim_rows(Evidence())}
    >>> rows["rsdne-over-mmdw"]["paper_verdict"], rows["rsdne-over-mmdw"]["verdict"]
    ('does not hold', 'not run')
    """
    from unseen_paper.experiments.judges import JUDGES  # which are made of the functions below

    paper = paper_evidence()
    rows = []
    for text in paper_claims():
        judged_by = JUDGES[text["id"]]
        theirs = judged_by(paper)
        own = replace(ours, used=[])
        try:
            finding = judged_by(own)
            figures, verdict = finding.figures if finding else "", _verdict(finding, NOT_RUN)
        except UnmatchedError as error:
            figures, verdict = str(error), UNMATCHED
        rows.append(
            {
                **text,
                "paper": theirs.figures if theirs else "",
                "paper_verdict": _verdict(theirs, NO_FIGURES),
                "ours": figures,
                "splits": _from_to(own.used),
                "verdict": verdict,
            }
        )
    return rows


def comparison_rows(evidence: Evidence) -> list[dict[str, str]]:
    """Return in how many cells of Tables 3 and 4 a method is above another, for pairs that the pages speak of."""
    rows = []
    for better, worse in PAIRS:
        for score in SCORES:
            own = replace(evidence, used=[])
            pairs = compared(own, [better], [worse], scores=[score])
            lost = [pair.where.removesuffix(f" {score}") for pair in pairs if pair.left <= pair.right]
            rows.append(
                {
                    "better": better,
                    "worse": worse,
                    "score": f"{score}_f1",
                    "cells": str(len(pairs)),
                    "won": str(len(pairs) - len(lost)),
                    "lost": ", ".join(lost),
                    "splits": _from_to(own.used),
                }
            )
    return rows


def _from_to(counts: list[int]) -> str:
    if not counts:
        return ""
    return f"{max(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _verdict(finding: Finding | None, otherwise: str) -> str:
    return otherwise if finding is None else HOLDS if finding.holds else FAILS


@dataclass(frozen=True)
class Comparison:
    """One pair of scores: where, the two methods, and what they have."""

    where: str
    better: str
    worse: str
    left: float
    right: float

    @property
    def gain(self) -> float:
        """How much the first is above the second, relative to the second."""
        return self.left / self.right - 1 if self.right else float("inf")

    def __str__(self) -> str:
        better, worse = (TITLES.get(name, name) for name in (self.better, self.worse))
        return f"{better} {self.left:.4f}, {worse} {self.right:.4f} ({self.where})"


def compare(
    evidence: Evidence,
    where: str,
    names: tuple[str, str],
    cells: tuple[Cell, Cell],
    scores: Iterable[str] = SCORES,
) -> list[Comparison]:
    """Return the comparison of two cells, one a score, over their common splits; none if one was not run."""
    means = evidence.means(*cells)
    if means is None:
        return []
    left, right = means
    places = [(score, SCORES.index(score)) for score in scores]
    return [Comparison(f"{where} {score}", *names, left[k], right[k]) for score, k in places]


def compared(
    evidence: Evidence,
    better: Iterable[str],
    worse: Iterable[str],
    *,
    datasets: Iterable[str] = DATASETS,
    rates: Iterable[float] = RATES,
    scores: Iterable[str] = SCORES,
) -> list[Comparison]:
    """Return all pairs of the two groups of methods in Tables 3 and 4 that both have a score."""
    return [
        comparison
        for dataset in datasets
        for rate in rates
        for a in better
        for b in worse
        if a != b
        for comparison in compare(
            evidence,
            f"{dataset} {rate:.0%}",
            (a, b),
            (("f1", dataset, rate, a), ("f1", dataset, rate, b)),
            scores,
        )
    ]


def always(pairs: list[Comparison]) -> Finding | None:
    """Judge that the first is above the second in every pair."""
    return mostly(pairs, 1.0)


def mostly(pairs: list[Comparison], share: float) -> Finding | None:
    """Judge that the first is above the second in more than this share of the pairs, or in all of them."""
    if not pairs:
        return None
    against = sorted((pair for pair in pairs if pair.left <= pair.right), key=lambda pair: pair.gain)
    reached = 1 - len(against) / len(pairs)
    text = f"{len(pairs) - len(against)} of {len(pairs)} comparisons"
    if against:
        text += f"; most against: {against[0]}"
    return Finding(text, reached > share or not against)


def spread(values: dict[str, float], most: float, what: str) -> Finding | None:
    """Judge that no value is above `most`; the values are ranges of micro F1, each with its name."""
    if not values:
        return None
    worst = max(values, key=lambda name: values[name])
    return Finding(f"largest {what} {values[worst]:.5f} ({worst}), of {len(values)}", values[worst] <= most)


def between(pairs: list[Comparison], least: float, most: float) -> Finding | None:
    """Judge that all relative gains lie between two bounds."""
    gains = [pair.gain for pair in pairs]
    if not gains:
        return None
    text = f"{100 * min(gains):.1f} to {100 * max(gains):.1f} %"
    return Finding(text, min(gains) >= least and max(gains) <= most)
