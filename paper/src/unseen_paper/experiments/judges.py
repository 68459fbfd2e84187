"""How each claim of the paper is judged; for section 6.1.2 and on it prints figures without numbers, so only ours bear.

A judge takes :class:`Evidence` and returns the figures and whether the claim holds by them, or None where nothing that
bears on it was measured. `JUDGES`, at the end, has one for each claim of ``data/paper_claims.csv``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from unseen.errors import counted
from unseen_paper.experiments.catalog import ALPHAS, DIMENSIONS
from unseen_paper.experiments.claims import (
    SCORES,
    Comparison,
    Finding,
    always,
    between,
    compare,
    compared,
    mostly,
    spread,
)
from unseen_paper.experiments.evidence import Cell, Evidence
from unseen_paper.experiments.paper import DATASETS, MULTI, RATES, TITLES

STRUCTURE = ("mfdw", "line", "lshm", "lde", "mmdw")
"""Baselines that do not use node attributes."""
BASELINES = ("nodefeats", *STRUCTURE, "tadw", "dgi", "gcn", "appnp")
SEMI = ("lshm", "lde", "mmdw", "gcn", "appnp")
OURS = ("rsdne", "rsdne-light", "rect-n", "rect-l", "rect")
FAMILY = ("rect", "rect-n", "rect-l")
LEVEL = 0.05
"""Times that differ by no more than this share are level: each is one fit."""


def _decline(evidence: Evidence) -> Finding | None:
    steps, texts = [], []
    for method in ("lshm", "gcn"):
        for rate in RATES:
            means = evidence.means(*(("decline", method, hidden, rate) for hidden in (0, 1, 2)))
            if means is None:
                continue
            whole, one, two = means
            figures = []
            for k, score in enumerate(SCORES):
                steps += [whole[k] > one[k], one[k] > two[k]]
                figures.append(f"{score} {1 - one[k] / whole[k]:.1%}, {1 - two[k] / whole[k]:.1%}")
            one_figure = whole[0] == whole[1]  # the paper prints a single accuracy
            figures = [figures[0].removeprefix("micro ")] if one_figure else figures
            texts.append(f"{TITLES[method]} {rate:.0%} " + ", ".join(figures))
    if not steps:
        return None
    return Finding("relative decline with one and two unseen: " + "; ".join(texts), all(steps))


def _light_competitive(evidence: Evidence) -> Finding | None:
    pairs = compared(evidence, ["rsdne-light"], ["rsdne"])
    covered = [f"{dataset} {rate:.0%} " for dataset, rate in sorted(evidence.covered)]
    different = [pair for pair in pairs if not pair.where.startswith(tuple(covered))]
    if not different:
        return None
    lowest = min(different, key=lambda pair: pair.left - pair.right)
    lost = lowest.right - lowest.left
    much = f"at most {100 * lost:.2f} points lower" if lost > 0 else "nowhere lower"
    text = f"{much}, in {len(different)} of {len(pairs)} cells: {lowest}"
    same = f"; same by construction: {', '.join(name.strip() for name in covered)}" if covered else ""
    return Finding(text + same, lost <= 0.015)


def _rect_over_rsdne_citeseer(evidence: Evidence) -> Finding | None:
    pairs = compared(evidence, ["rect"], ["rsdne"], datasets=["citeseer"], rates=[0.3], scores=["micro"])
    return Finding(f"{100 * pairs[0].gain:.2f} %", pairs[0].gain >= 0.155) if pairs else None


def _semi_supervised_ineffective(evidence: Evidence) -> Finding | None:
    texts, gains = [], []
    for method in SEMI:
        plain = ("tadw", "dgi") if method in ("gcn", "appnp") else ("mfdw", "line")
        cells = []
        for dataset in DATASETS:
            for rate in RATES:
                means = evidence.means(*(("f1", dataset, rate, name) for name in (method, *plain)))
                if means:
                    own, *others = [micro for micro, _ in means]
                    cells.append(own - max(others))
        if cells:
            gains.append(float(np.mean(cells)))
            texts.append(f"{TITLES[method]} {100 * gains[-1]:+.1f}")
    return Finding("mean points of micro F1: " + ", ".join(texts), max(gains) <= 0.01) if gains else None


def _rect_at_200_columns(evidence: Evidence) -> Finding | None:
    present = [name for name in BASELINES if ("f1", "citeseer", 0.3, name) in evidence.scores]
    cells = [("f1", "citeseer", 0.3, name) for name in present]
    means = evidence.means(("dimension", "rect", 200), *cells) if present else None
    if means is None:
        return None
    (rect, _), *others = means
    micro = {name: pair[0] for name, pair in zip(present, others, strict=True)}
    best = max(micro, key=lambda name: micro[name])
    text = f"micro F1 {rect:.4f}, best of {len(micro)} baselines {TITLES[best]} {micro[best]:.4f}"
    return Finding(text, rect > micro[best])


def _panels(evidence: Evidence, number: str, higher: Iterable[str], lower: Iterable[str]) -> list[Comparison]:
    numbers = evidence.layouts
    return [
        Comparison(number.replace("_", " "), a, b, numbers[a][number], numbers[b][number])
        for a in higher
        for b in lower
        if a in numbers and b in numbers
    ]


def _layouts_rect_best(evidence: Evidence) -> Finding | None:
    both = {name: (row["seen_purity"] + row["unseen_purity"]) / 2 for name, row in evidence.layouts.items()}
    if "rect" not in both or len(both) < 2:
        return None
    best = max((name for name in both if name != "rect"), key=lambda name: both[name])
    text = f"RECT {both['rect']:.3f}, best other {TITLES.get(best, best)} {both[best]:.3f}"
    return Finding(text, both["rect"] > both[best])


def _layouts_baselines_mix(evidence: Evidence) -> Finding | None:
    pairs = _panels(evidence, "unseen_mixed", ("lshm", "lde", "gcn", "appnp"), ("rsdne", "rsdne-light"))
    if not pairs:
        return None
    mixed = {pair.better: pair.left for pair in pairs} | {pair.worse: pair.right for pair in pairs}
    text = ", ".join(f"{TITLES[name]} {value:.3f}" for name, value in mixed.items())
    return Finding(text, all(pair.left >= 2 * pair.right for pair in pairs))


def _layouts_rect_l_respects_classes(evidence: Evidence) -> Finding | None:
    row = evidence.layouts.get("rect-l")
    if row is None:
        return None
    seen, hidden = row["seen_purity"], row["unseen_purity"]
    return Finding(f"hidden {hidden:.3f}, seen {seen:.3f}", hidden >= seen - 0.05)


def _mmdw_small_weight(evidence: Evidence) -> Finding | None:
    weights = evidence.weights.get("mmdw", [])
    if not weights:
        return None
    small = float(np.mean(np.array(weights) <= 0.1))
    return Finding(f"{small:.0%} of {len(weights)} runs, median {np.median(weights):g}", small > 0.5)


def _each(evidence: Evidence, kind: str, places: dict[str, Any], better: str, worse: str) -> list[Comparison]:
    """Compare two methods or settings at every place of a figure."""
    return [
        comparison
        for where, place in places.items()
        for comparison in compare(
            evidence, where, (better, worse), ((kind, better, place), (kind, worse, place))
        )
    ]


def _by_seen(evidence: Evidence, better: str, worse: str, *counts: int) -> list[Comparison]:
    return _each(evidence, "seen", {f"{count} seen,": count for count in counts}, better, worse)


def _settings(evidence: Evidence, better: str, worse: str) -> list[Comparison]:
    return _each(evidence, "ablation", {f"{rate:.0%}": rate for rate in RATES}, better, worse)


def _rect_l_declines_smoothly(evidence: Evidence) -> Finding | None:
    means = evidence.means(*(("seen", "rect-l", count) for count in range(6, 0, -1)))
    if means is None:
        return None
    micro = [micro for micro, _ in means]
    steps = np.diff(micro)
    text = "six to one seen: " + ", ".join(f"{value:.3f}" for value in micro)
    return Finding(text, bool(steps.min() >= -0.03 and steps.max() <= 0.01))


def _random_neighbours_help_more_with_labels(evidence: Evidence) -> Finding | None:
    pairs = [p for p in _settings(evidence, "J_DW + random(J_intra)", "J_DW") if p.where.endswith("micro")]
    if len(pairs) < 2:
        return None
    gains = [pair.left - pair.right for pair in pairs]
    text = ", ".join(f"{100 * gain:+.2f} points ({p.where})" for gain, p in zip(gains, pairs, strict=True))
    return Finding(text, gains == sorted(gains))


def _ranges(evidence: Evidence, lines: dict[str, list[Cell]]) -> dict[str, float]:
    """Return the range of micro F1 of every line that was run whole."""
    means = {name: evidence.means(*cells) for name, cells in lines.items()}
    micro = {name: [score for score, _ in pairs] for name, pairs in means.items() if pairs}
    return {name: max(scores) - min(scores) for name, scores in micro.items()}


def _balanced_micro(evidence: Evidence, dataset: str, methods: Iterable[str]) -> dict[str, float]:
    """Return micro F1 of the methods that were run on a data set, over the draws that all of them have."""
    present = [name for name in methods if evidence.scores.get(("balanced", dataset, name))]
    means = evidence.means(*(("balanced", dataset, name) for name in present)) or []
    return {name: micro for name, (micro, _) in zip(present, means, strict=True)}


def _behind(evidence: Evidence, method: str, others: Iterable[str]) -> dict[str, float]:
    """Return how far a method's micro F1 is behind the best of the others, a data set each."""
    distances = {}
    for dataset in DATASETS:
        micro = _balanced_micro(evidence, dataset, [method, *others])
        own = micro.pop(method, None)
        if own is not None and micro:
            distances[f"{TITLES[method]}, {dataset}"] = max(micro.values()) - own
    return distances


def _balanced_stable(evidence: Evidence) -> Finding | None:
    shares: dict[str, dict[str, float]] = {name: {} for name in ("rect", "gcn", "appnp")}
    for dataset in DATASETS:
        scores = _balanced_micro(evidence, dataset, TITLES)
        for method in shares.keys() & scores.keys():
            shares[method][dataset] = scores[method] / max(scores.values())
    texts, held = [], []
    for other in ("gcn", "appnp"):
        common = shares["rect"].keys() & shares[other].keys()
        if common:
            own, theirs = (min(shares[name][dataset] for dataset in common) for name in ("rect", other))
            held.append(own >= theirs)
            texts.append(f"RECT {own:.0%}, {TITLES[other]} {theirs:.0%} ({counted(len(common), 'graph')})")
    return Finding("worst share of the best: " + ", ".join(texts), all(held)) if held else None


def _faster(evidence: Evidence, quick: tuple[str, str], slow: tuple[str, str]) -> Finding | None:
    """Compare two (method, device) at the largest graph that both did; within 5 % they are level."""
    sizes = {n for *key, n in evidence.seconds if tuple(key) == quick}
    common = [n for *key, n in evidence.seconds if tuple(key) == slow and n in sizes]
    if not common:
        return None
    n = max(common)
    left, right = evidence.seconds[(*quick, n)], evidence.seconds[(*slow, n)]
    names = [f"{name} on {device}" for name, device in (quick, slow)]
    level = ", level" if abs(left / right - 1) <= LEVEL else ""
    text = f"{names[0]} {left:.1f} s, {names[1]} {right:.1f} s, {n} nodes{level}"
    return Finding(text, left < right and not level)


def _gpu_faster(evidence: Evidence) -> Finding | None:
    both = [_faster(evidence, (name, "cuda"), (name, "cpu")) for name in ("rect", "rect-dw")]
    findings = [finding for finding in both if finding]
    text = "; ".join(finding.figures for finding in findings)
    return Finding(text, all(finding.holds for finding in findings)) if findings else None


JUDGES: dict[str, Callable[[Evidence], Finding | None]] = {
    "decline": _decline,
    "rect-best": lambda e: always(compared(e, ["rect"], [name for name in TITLES if name != "rect"])),
    "rect-l-over-gnns": lambda e: always(compared(e, ["rect-l"], ["gcn", "appnp"])),
    "rect-l-margin": lambda e: between(
        compared(e, ["rect-l"], ["gcn", "appnp"], scores=["micro"]), 0.15, 3.3
    ),
    "rsdne-over-structure": lambda e: always(compared(e, ["rsdne", "rsdne-light"], STRUCTURE)),
    "rsdne-over-mmdw": lambda e: between(
        compared(e, ["rsdne", "rsdne-light"], ["mmdw"], rates=[0.5], scores=["micro"]), 0.065, 0.125
    ),
    "mmdw-best-baseline": lambda e: always(compared(e, ["mmdw"], STRUCTURE, rates=[0.5], scores=["micro"])),
    "light-competitive": _light_competitive,
    "rect-over-rsdne": lambda e: always(compared(e, ["rect"], ["rsdne"])),
    "rect-over-rsdne-citeseer": _rect_over_rsdne_citeseer,
    "rect-multilabel": lambda e: always(compared(e, ["rect"], ["rect-n"], datasets=MULTI)),
    "semi-supervised-ineffective": _semi_supervised_ineffective,
    "lshm-lde-below-mfdw": lambda e: mostly(compared(e, ["mfdw"], ["lshm", "lde"], scores=["micro"]), 0.5),
    "gnns-below-dgi": lambda e: mostly(compared(e, ["dgi"], ["gcn", "appnp"]), 0.9),
    "rect-at-200-columns": _rect_at_200_columns,
    "layouts-rect-clearest": lambda e: always(
        _panels(e, "unseen_purity", FAMILY, [name for name in e.layouts if name not in FAMILY])
    ),
    "layouts-rect-best": _layouts_rect_best,
    "layouts-baselines-mix": _layouts_baselines_mix,
    "layouts-baselines-gather-seen": lambda e: always(
        _panels(e, "seen_purity", ("lshm", "lde"), ("rsdne", "rsdne-light"))
    ),
    "layouts-rect-l-respects-classes": _layouts_rect_l_respects_classes,
    "layouts-mmdw": lambda e: always(_panels(e, "unseen_purity", ["rsdne"], ["mmdw"])),
    "layouts-light-compact": lambda e: always(_panels(e, "seen_purity", ["rsdne-light"], ["rsdne"])),
    "mmdw-small-weight": _mmdw_small_weight,
    "benefit-at-any-number": lambda e: always(
        _by_seen(e, "rsdne", "mfdw", *range(1, 7)) + _by_seen(e, "rect", "rect-n", *range(1, 7))
    ),
    "one-seen-rsdne": lambda e: always(_by_seen(e, "rsdne", "mfdw", 1)),
    "one-seen-rect": lambda e: always(_by_seen(e, "rect", "rect-n", 1)),
    "rect-l-declines-smoothly": _rect_l_declines_smoothly,
    "both-parts-help": lambda e: always(
        _settings(e, "RSDNE", "J_DW + J_intra") + _settings(e, "RSDNE", "J_DW + J_inter")
    ),
    "random-neighbours-help": lambda e: always(_settings(e, "J_DW + random(J_intra)", "J_DW")),
    "random-neighbours-not-best": lambda e: always(_settings(e, "RSDNE", "J_DW + random(J_intra)")),
    "random-neighbours-help-more-with-labels": _random_neighbours_help_more_with_labels,
    "alpha-insensitive": lambda e: spread(
        _ranges(
            e,
            {
                f"{rate:.0%}": [("alpha", "rsdne", rate, alpha) for alpha in ALPHAS if alpha <= 10]
                for rate in RATES
            },
        ),
        0.02,
        "range",
    ),
    "dimension-insensitive": lambda e: spread(
        _ranges(e, {TITLES[name]: [("dimension", name, width) for width in DIMENSIONS] for name in OURS}),
        0.03,
        "range",
    ),
    "rect-over-halves-at-any-dimension": lambda e: always(
        [
            pair
            for width in DIMENSIONS
            for half in ("rect-n", "rect-l")
            for pair in _each(e, "dimension", {f"{width} columns,": width}, "rect", half)
        ]
    ),
    "balanced-shallow": lambda e: spread(
        _behind(e, "rsdne", ("lshm", "lde", "mmdw")) | _behind(e, "rsdne-light", ("lshm", "lde", "mmdw")),
        0.02,
        "distance behind",
    ),
    "balanced-deep": lambda e: spread(_behind(e, "rect", ("gcn", "appnp")), 0.02, "distance behind"),
    "balanced-gnns-poor": lambda e: always(
        [
            pair
            for dataset in MULTI
            for name in ("gcn", "appnp")
            for pair in compare(
                e,
                dataset,
                ("mfdw", name),
                (("balanced", dataset, "mfdw"), ("balanced", dataset, name)),
                ["micro"],
            )
        ]
    ),
    "balanced-stable": _balanced_stable,
    "light-faster": lambda e: _faster(e, ("rsdne-light", "cpu"), ("rsdne", "cpu")),
    "dw-faster": lambda e: _faster(e, ("rect-dw", "cpu"), ("rect", "cpu")),
    "gpu-faster": _gpu_faster,
}
