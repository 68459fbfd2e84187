"""Claims that the paper's figures bear on; it prints no numbers for them, so only ours can be judged."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from unseen_paper.experiments.catalog import ALPHAS, DIMENSIONS
from unseen_paper.experiments.claims import Comparison, Finding, always, claim, compare, spread
from unseen_paper.experiments.evidence import Evidence, Pair
from unseen_paper.experiments.paper import DATASETS, MULTI, RATES, TITLES

LAYOUTS, SEEN = "6.1.2 layouts", "6.1.3 seen classes"
ABLATION, SENSITIVITY = "6.1.3 ablation", "6.1.4 sensitivity"
BALANCED, SCALABILITY = "6.2 balanced labels", "6.3 scalability"
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


@claim(
    LAYOUTS,
    "RECT, RECT-N and RECT-L show the clearest groups: neighbours of hidden nodes share their class more often than "
    "for any other method",
    "exhibit the most discernible clustering",
)
def _layouts_rect_clearest(evidence: Evidence) -> Finding | None:
    others = [name for name in evidence.layouts if name not in ("rect", "rect-n", "rect-l")]
    return always(_panels(evidence, "unseen_purity", ("rect", "rect-n", "rect-l"), others))


@claim(
    LAYOUTS,
    "RECT separates all classes best: its neighbours share a class most often, averaged over seen and hidden nodes",
    "obtains the best visualization result",
)
def _layouts_rect_best(evidence: Evidence) -> Finding | None:
    both = {name: (row["seen_purity"] + row["unseen_purity"]) / 2 for name, row in evidence.layouts.items()}
    if "rect" not in both or len(both) < 2:
        return None
    best = max((name for name in both if name != "rect"), key=lambda name: both[name])
    text = f"RECT {both['rect']:.3f}, best other {TITLES.get(best, best)} {both[best]:.3f}"
    return Finding(text, both["rect"] > both[best])


@claim(
    LAYOUTS,
    "LSHM, LDE, GCN and APPNP mix the two hidden classes, RSDNE and RSDNE* do not: each of the former has at least "
    "twice as many neighbours from the other hidden class",
    "their two kinds of unseen class nodes heavily mix together",
)
def _layouts_baselines_mix(evidence: Evidence) -> Finding | None:
    pairs = _panels(evidence, "unseen_mixed", ("lshm", "lde", "gcn", "appnp"), ("rsdne", "rsdne-light"))
    if not pairs:
        return None
    mixed = {pair.better: pair.left for pair in pairs} | {pair.worse: pair.right for pair in pairs}
    text = ", ".join(f"{TITLES[name]} {value:.3f}" for name, value in mixed.items())
    return Finding(text, all(pair.left >= 2 * pair.right for pair in pairs))


@claim(
    LAYOUTS,
    "LSHM and LDE gather the seen classes better than RSDNE and RSDNE*: neighbours of seen nodes share their class "
    "more often",
    "LSHM and LDE better cluster and separate the nodes from different seen classes",
)
def _layouts_baselines_gather_seen(evidence: Evidence) -> Finding | None:
    return always(_panels(evidence, "seen_purity", ("lshm", "lde"), ("rsdne", "rsdne-light")))


@claim(
    LAYOUTS,
    "RECT-L respects all six classes: neighbours of hidden nodes share their class as often as those of seen nodes "
    "(read as at most 5 points less)",
    "successfully respects the six topic classes",
)
def _layouts_rect_l_respects_classes(evidence: Evidence) -> Finding | None:
    row = evidence.layouts.get("rect-l")
    if row is None:
        return None
    seen, hidden = row["seen_purity"], row["unseen_purity"]
    return Finding(f"hidden {hidden:.3f}, seen {seen:.3f}", hidden >= seen - 0.05)


@claim(
    LAYOUTS,
    "MMDW does not gain from the labels: hidden nodes have fewer neighbours of their class than with RSDNE",
    "MMDW also fails to benefit from the completely-imbalanced labels",
)
def _layouts_mmdw(evidence: Evidence) -> Finding | None:
    return always(_panels(evidence, "unseen_purity", ["rsdne"], ["mmdw"]))


@claim(
    LAYOUTS,
    "RSDNE* gathers the seen classes more closely than RSDNE: neighbours of seen nodes share their class more often",
    "seem to lie on more compact manifolds",
)
def _layouts_light_compact(evidence: Evidence) -> Finding | None:
    return always(_panels(evidence, "seen_purity", ["rsdne-light"], ["rsdne"]))


@claim(
    LAYOUTS,
    "MMDW has to take a very small weight: most runs choose 0.1 or less of 0.01 to 100 inside the seen labels",
    "MMDW has to use a very small weight",
)
def _mmdw_small_weight(evidence: Evidence) -> Finding | None:
    weights = evidence.weights.get("mmdw", [])
    if not weights:
        return None
    small = float(np.mean(np.array(weights) <= 0.1))
    return Finding(f"{small:.0%} of {len(weights)} runs, median {np.median(weights):g}", small > 0.5)


def _by_seen(evidence: Evidence, better: str, worse: str, counts: Iterable[int]) -> list[Comparison]:
    return [
        comparison
        for count in counts
        for comparison in compare(
            evidence, f"{count} seen,", (better, worse), (("seen", better, count), ("seen", worse, count))
        )
    ]


@claim(
    SEEN,
    "RSDNE stays above MFDW and RECT above RECT-N at every number of seen classes (Citeseer, 50 % labels)",
    "can constantly benefit from the completely-imbalanced labels",
)
def _benefit_at_any_number(evidence: Evidence) -> Finding | None:
    counts = range(1, 7)
    return always(_by_seen(evidence, "rsdne", "mfdw", counts) + _by_seen(evidence, "rect", "rect-n", counts))


@claim(
    SEEN,
    "With one seen class RSDNE is still above MFDW",
    "even with only one seen class, RSDNE still outperforms ... MFDW",
)
def _one_seen_rsdne(evidence: Evidence) -> Finding | None:
    return always(_by_seen(evidence, "rsdne", "mfdw", [1]))


@claim(
    SEEN,
    "With one seen class RECT is still above RECT-N",
    "RECT still outperforms (its unsupervised version) RECT-N",
)
def _one_seen_rect(evidence: Evidence) -> Finding | None:
    return always(_by_seen(evidence, "rect", "rect-n", [1]))


@claim(
    SEEN,
    "RECT-L declines smoothly as classes are hidden: none costs more than 3 points of micro F1, or brings more than 1",
    "declines smoothly when the unseen class number grows",
)
def _rect_l_declines_smoothly(evidence: Evidence) -> Finding | None:
    means = evidence.means(*(("seen", "rect-l", count) for count in range(6, 0, -1)))
    if means is None:
        return None
    micro = [micro for micro, _ in means]
    steps = np.diff(micro)
    text = "six to one seen: " + ", ".join(f"{value:.3f}" for value in micro)
    return Finding(text, bool(steps.min() >= -0.03 and steps.max() <= 0.01))


def _settings(evidence: Evidence, better: str, worse: str) -> list[Comparison]:
    return [
        comparison
        for rate in RATES
        for comparison in compare(
            evidence, f"{rate:.0%}", (better, worse), (("ablation", better, rate), ("ablation", worse, rate))
        )
    ]


@claim(
    ABLATION,
    "RSDNE without its intra-class or without its inter-class part scores less, at every label rate",
    "when either eliminating the effect of intra-class or inter-class modeling part, the performance degrades",
)
def _both_parts_help(evidence: Evidence) -> Finding | None:
    parts = ("J_DW + J_intra", "J_DW + J_inter")
    return always([pair for part in parts for pair in _settings(evidence, "RSDNE", part)])


@claim(
    ABLATION,
    "Intra-class neighbours drawn at random are still better than none",
    "still outperforms modeling graph structure alone",
)
def _random_neighbours_help(evidence: Evidence) -> Finding | None:
    return always(_settings(evidence, "J_DW + random(J_intra)", "J_DW"))


@claim(
    ABLATION,
    "Intra-class neighbours drawn at random are not the best setting: RSDNE is above it at every label rate",
    "does not show the best result",
)
def _random_neighbours_not_best(evidence: Evidence) -> Finding | None:
    return always(_settings(evidence, "RSDNE", "J_DW + random(J_intra)"))


@claim(
    ABLATION,
    "What random neighbours gain in micro F1 grows with the number of labels",
    "especially when the labeled dataset becomes larger",
)
def _random_neighbours_help_more_with_labels(evidence: Evidence) -> Finding | None:
    pairs = [p for p in _settings(evidence, "J_DW + random(J_intra)", "J_DW") if p.where.endswith("micro")]
    if len(pairs) < 2:
        return None
    gains = [pair.left - pair.right for pair in pairs]
    text = ", ".join(f"{100 * gain:+.2f} points ({p.where})" for gain, p in zip(gains, pairs, strict=True))
    return Finding(text, gains == sorted(gains))


def _range(means: Iterable[Pair]) -> float:
    micro = [micro for micro, _ in means]
    return max(micro) - min(micro)


@claim(
    SENSITIVITY,
    "RSDNE's micro F1 differs by at most 2 points for alpha from 0.01 to 10, at each label rate",
    "our method is not sensitive to α especially when α ∈ [10^-2, ..., 10^1]",
)
def _alpha_insensitive(evidence: Evidence) -> Finding | None:
    ranges = {}
    for rate in RATES:
        means = evidence.means(*(("alpha", "rsdne", rate, alpha) for alpha in ALPHAS if alpha <= 10))
        if means:
            ranges[f"{rate:.0%}"] = _range(means)
    return spread(ranges, 0.02, "range")


@claim(
    SENSITIVITY,
    "Micro F1 of each of the paper's methods differs by at most 3 points between 100 and 500 columns",
    "all our methods are not very sensitive to the embedding dimension",
)
def _dimension_insensitive(evidence: Evidence) -> Finding | None:
    ranges = {}
    for method in OURS:
        means = evidence.means(*(("dimension", method, columns) for columns in DIMENSIONS))
        if means:
            ranges[TITLES[method]] = _range(means)
    return spread(ranges, 0.03, "range")


@claim(
    SENSITIVITY,
    "RECT is above RECT-N and RECT-L at every number of columns",
    "RECT always outperforms its two sub-methods RECT-N and RECT-L",
)
def _rect_over_halves_at_any_dimension(evidence: Evidence) -> Finding | None:
    return always(
        [
            comparison
            for columns in DIMENSIONS
            for half in ("rect-n", "rect-l")
            for comparison in compare(
                evidence,
                f"{columns} columns,",
                ("rect", half),
                (("dimension", "rect", columns), ("dimension", half, columns)),
            )
        ]
    )


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


@claim(
    BALANCED,
    "With balanced labels RSDNE and RSDNE* are at most 2 points of micro F1 behind the best of LSHM, LDE and MMDW",
    "RSDNE and RSDNE* obtain comparable performance to LSHM, LDE and MMDW",
)
def _balanced_shallow(evidence: Evidence) -> Finding | None:
    others = ("lshm", "lde", "mmdw")
    behind = _behind(evidence, "rsdne", others) | _behind(evidence, "rsdne-light", others)
    return spread(behind, 0.02, "distance behind")


@claim(
    BALANCED,
    "With balanced labels RECT is at most 2 points of micro F1 behind the better of GCN and APPNP on any graph",
    "obtains comparable (and sometimes much superior) results to GCN and APPNP",
)
def _balanced_deep(evidence: Evidence) -> Finding | None:
    return spread(_behind(evidence, "rect", ("gcn", "appnp")), 0.02, "distance behind")


@claim(
    BALANCED,
    "With balanced labels GCN and APPNP do poorly on PPI and Blogcatalog: they are below the unsupervised MFDW there",
    "GCN and APPNP perform poorly on two multi-label datasets",
)
def _balanced_gnns_poor(evidence: Evidence) -> Finding | None:
    return always(
        [
            comparison
            for dataset in MULTI
            for name in ("gcn", "appnp")
            for comparison in compare(
                evidence,
                dataset,
                ("mfdw", name),
                (("balanced", dataset, "mfdw"), ("balanced", dataset, name)),
                ["micro"],
            )
        ]
    )


@claim(
    BALANCED,
    "With balanced labels RECT is the steadiest of RECT, GCN and APPNP: its worst share of the best micro F1 that a "
    "method of the paper has on a graph is the highest, on the graphs that both were run on",
    "our method RECT is much more stable on all datasets",
)
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
            texts.append(f"RECT {own:.0%}, {TITLES[other]} {theirs:.0%} ({len(common)} graphs)")
    return Finding("worst share of the best: " + "; ".join(texts), all(held)) if held else None


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


@claim(
    SCALABILITY,
    "RSDNE* trains faster than RSDNE, on the largest graph that both were run on",
    "RSDNE* is more efficient than RSDNE",
)
def _light_faster(evidence: Evidence) -> Finding | None:
    return _faster(evidence, ("rsdne-light", "cpu"), ("rsdne", "cpu"))


@claim(SCALABILITY, "RECT(DW) trains faster than RECT", "RECT(DW) is more efficient than RECT")
def _dw_faster(evidence: Evidence) -> Finding | None:
    return _faster(evidence, ("rect-dw", "cpu"), ("rect", "cpu"))


@claim(
    SCALABILITY,
    "RECT and RECT(DW) train faster on a GPU than on the processor",
    "the GPU implementation of GNN methods can largely accelerate the training speed",
)
def _gpu_faster(evidence: Evidence) -> Finding | None:
    all_findings = [_faster(evidence, (name, "cuda"), (name, "cpu")) for name in ("rect", "rect-dw")]
    findings = [finding for finding in all_findings if finding]
    if not findings:
        return None
    return Finding(
        "; ".join(finding.figures for finding in findings), all(finding.holds for finding in findings)
    )
