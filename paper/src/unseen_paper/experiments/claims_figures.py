"""Claims that the paper's figures bear on; it prints no numbers for them, so only ours can be judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from unseen.errors import counted
from unseen_paper.experiments.catalog import ALPHAS, DIMENSIONS
from unseen_paper.experiments.claims import JUDGES, Comparison, Finding, always, compare, judge, spread
from unseen_paper.experiments.evidence import Cell, Evidence
from unseen_paper.experiments.paper import DATASETS, MULTI, RATES, TITLES

LEVEL = 0.05
"""Times that differ by no more than this share are level: each is one fit."""
OURS = ("rsdne", "rsdne-light", "rect-n", "rect-l", "rect")


def _panels(evidence: Evidence, number: str, higher: Iterable[str], lower: Iterable[str]) -> list[Comparison]:
    numbers = evidence.layouts
    return [
        Comparison(number.replace("_", " "), a, b, numbers[a][number], numbers[b][number])
        for a in higher
        for b in lower
        if a in numbers and b in numbers
    ]


@judge
def _layouts_rect_clearest(evidence: Evidence) -> Finding | None:
    others = [name for name in evidence.layouts if name not in ("rect", "rect-n", "rect-l")]
    return always(_panels(evidence, "unseen_purity", ("rect", "rect-n", "rect-l"), others))


@judge
def _layouts_rect_best(evidence: Evidence) -> Finding | None:
    both = {name: (row["seen_purity"] + row["unseen_purity"]) / 2 for name, row in evidence.layouts.items()}
    if "rect" not in both or len(both) < 2:
        return None
    best = max((name for name in both if name != "rect"), key=lambda name: both[name])
    text = f"RECT {both['rect']:.3f}, best other {TITLES.get(best, best)} {both[best]:.3f}"
    return Finding(text, both["rect"] > both[best])


@judge
def _layouts_baselines_mix(evidence: Evidence) -> Finding | None:
    pairs = _panels(evidence, "unseen_mixed", ("lshm", "lde", "gcn", "appnp"), ("rsdne", "rsdne-light"))
    if not pairs:
        return None
    mixed = {pair.better: pair.left for pair in pairs} | {pair.worse: pair.right for pair in pairs}
    text = ", ".join(f"{TITLES[name]} {value:.3f}" for name, value in mixed.items())
    return Finding(text, all(pair.left >= 2 * pair.right for pair in pairs))


@judge
def _layouts_rect_l_respects_classes(evidence: Evidence) -> Finding | None:
    row = evidence.layouts.get("rect-l")
    if row is None:
        return None
    seen, hidden = row["seen_purity"], row["unseen_purity"]
    return Finding(f"hidden {hidden:.3f}, seen {seen:.3f}", hidden >= seen - 0.05)


@judge
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


@judge
def _benefit_at_any_number(evidence: Evidence) -> Finding | None:
    counts = range(1, 7)
    return always(
        _by_seen(evidence, "rsdne", "mfdw", *counts) + _by_seen(evidence, "rect", "rect-n", *counts)
    )


@judge
def _rect_l_declines_smoothly(evidence: Evidence) -> Finding | None:
    means = evidence.means(*(("seen", "rect-l", count) for count in range(6, 0, -1)))
    if means is None:
        return None
    micro = [micro for micro, _ in means]
    steps = np.diff(micro)
    text = "six to one seen: " + ", ".join(f"{value:.3f}" for value in micro)
    return Finding(text, bool(steps.min() >= -0.03 and steps.max() <= 0.01))


@judge
def _both_parts_help(evidence: Evidence) -> Finding | None:
    parts = ("J_DW + J_intra", "J_DW + J_inter")
    return always([pair for part in parts for pair in _settings(evidence, "RSDNE", part)])


@judge
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


@judge
def _balanced_shallow(evidence: Evidence) -> Finding | None:
    others = ("lshm", "lde", "mmdw")
    behind = _behind(evidence, "rsdne", others) | _behind(evidence, "rsdne-light", others)
    return spread(behind, 0.02, "distance behind")


@judge
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


@judge
def _gpu_faster(evidence: Evidence) -> Finding | None:
    all_findings = [_faster(evidence, (name, "cuda"), (name, "cpu")) for name in ("rect", "rect-dw")]
    findings = [finding for finding in all_findings if finding]
    if not findings:
        return None
    return Finding(
        "; ".join(finding.figures for finding in findings), all(finding.holds for finding in findings)
    )


JUDGES.update(
    {
        "layouts-baselines-gather-seen": lambda e: always(
            _panels(e, "seen_purity", ("lshm", "lde"), ("rsdne", "rsdne-light"))
        ),
        "layouts-mmdw": lambda e: always(_panels(e, "unseen_purity", ["rsdne"], ["mmdw"])),
        "layouts-light-compact": lambda e: always(_panels(e, "seen_purity", ["rsdne-light"], ["rsdne"])),
        "one-seen-rsdne": lambda e: always(_by_seen(e, "rsdne", "mfdw", 1)),
        "one-seen-rect": lambda e: always(_by_seen(e, "rect", "rect-n", 1)),
        "random-neighbours-help": lambda e: always(_settings(e, "J_DW + random(J_intra)", "J_DW")),
        "random-neighbours-not-best": lambda e: always(_settings(e, "RSDNE", "J_DW + random(J_intra)")),
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
        "light-faster": lambda e: _faster(e, ("rsdne-light", "cpu"), ("rsdne", "cpu")),
        "dw-faster": lambda e: _faster(e, ("rect-dw", "cpu"), ("rect", "cpu")),
    }
)
