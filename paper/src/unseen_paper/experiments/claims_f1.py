"""Claims that Tables 1, 3 and 4 bear on."""

from __future__ import annotations

import numpy as np

from unseen_paper.experiments.claims import (
    BASELINES,
    SCORES,
    STRUCTURE,
    Finding,
    always,
    claim,
    compared,
    mostly,
    percent,
)
from unseen_paper.experiments.evidence import Evidence
from unseen_paper.experiments.paper import DATASETS, MULTI, RATES, TITLES

PERFORMANCE = "6.1.1 classification"
SEMI = ("lshm", "lde", "mmdw", "gcn", "appnp")


@claim(
    "1 problem (Table 1)",
    "LSHM and GCN lose accuracy on Citeseer when classes have no labels, with two unseen classes more than with one "
    "(by micro and by macro F1: the table's GCN row for two unseen classes repeats macro F1 of Table 4, its others are "
    "accuracy, so its decline of a third mixes the two)",
    "their performance declines noticeably compared with their counterparts trained with the balanced labels",
)
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


@claim(
    PERFORMANCE,
    "RECT has the best micro and macro F1 of all methods compared, on every graph and at every label rate",
    "always achieves the best results on all datasets",
)
def _rect_best(evidence: Evidence) -> Finding | None:
    return always(compared(evidence, ["rect"], [name for name in TITLES if name != "rect"]))


@claim(
    PERFORMANCE,
    "RECT-L is above GCN and APPNP in every cell",
    "always outperforms the compared semi-supervised GNNs",
)
def _rect_l_over_gnns(evidence: Evidence) -> Finding | None:
    return always(compared(evidence, ["rect-l"], ["gcn", "appnp"]))


@claim(
    PERFORMANCE,
    "RECT-L's relative gain in micro F1 over GCN and APPNP lies between 20 % and 300 % (read as 15 % to 330 %)",
    "by a large margin (around 20% to 300% relatively)",
)
def _rect_l_margin(evidence: Evidence) -> Finding | None:
    gains = [pair.gain for pair in compared(evidence, ["rect-l"], ["gcn", "appnp"], scores=["micro"])]
    return Finding(percent(gains), min(gains) >= 0.15 and max(gains) <= 3.3) if gains else None


@claim(
    PERFORMANCE,
    "RSDNE and RSDNE* are above every baseline that uses no node attributes, in every cell they were run on",
    "both perform much better than all baselines which do not use node attributes",
)
def _rsdne_over_structure(evidence: Evidence) -> Finding | None:
    return always(compared(evidence, ["rsdne", "rsdne-light"], STRUCTURE))


@claim(
    PERFORMANCE,
    "With 50 % labels RSDNE and RSDNE* are 7 to 12 % above MMDW in micro F1, relatively (read as 6.5 to 12.5 %)",
    "outperform the best baseline MMDW by 7--12% relatively in term of Micro-F1",
)
def _rsdne_over_mmdw(evidence: Evidence) -> Finding | None:
    pairs = compared(evidence, ["rsdne", "rsdne-light"], ["mmdw"], rates=[0.5], scores=["micro"])
    gains = [pair.gain for pair in pairs]
    return Finding(percent(gains), min(gains) >= 0.065 and max(gains) <= 0.125) if gains else None


@claim(
    PERFORMANCE,
    "With 50 % labels MMDW is the best of the baselines without attributes, in micro F1",
    "the best baseline MMDW",
)
def _mmdw_best_baseline(evidence: Evidence) -> Finding | None:
    others = [name for name in STRUCTURE if name != "mmdw"]
    return always(compared(evidence, ["mmdw"], others, rates=[0.5], scores=["micro"]))


@claim(
    PERFORMANCE,
    "RSDNE* comes close to RSDNE: micro and macro F1 are nowhere more than 1.5 points lower, in the cells where it has "
    "fewer candidates than a class has nodes (in the others both are the same by construction)",
    "is competitive with RSDNE",
)
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


@claim(PERFORMANCE, "RECT is above RSDNE in every cell", "is more powerful than our shallow method RSDNE")
def _rect_over_rsdne(evidence: Evidence) -> Finding | None:
    return always(compared(evidence, ["rect"], ["rsdne"]))


@claim(
    PERFORMANCE,
    "On Citeseer with 30 % labels RECT is 17.46 % above RSDNE in micro F1, relatively (read as 15.5 % at least)",
    "RECT outperforms RSDNE by 17.46% relatively",
)
def _rect_over_rsdne_citeseer(evidence: Evidence) -> Finding | None:
    pairs = compared(evidence, ["rect"], ["rsdne"], datasets=["citeseer"], rates=[0.3], scores=["micro"])
    return Finding(f"{100 * pairs[0].gain:.2f} %", pairs[0].gain >= 0.155) if pairs else None


@claim(
    PERFORMANCE,
    "RECT gains from labels where nodes have several: it is above RECT-N in every cell of PPI and Blogcatalog",
    "enables RECT to handle multi-label setting",
)
def _rect_multilabel(evidence: Evidence) -> Finding | None:
    return always(compared(evidence, ["rect"], ["rect-n"], datasets=MULTI))


@claim(
    PERFORMANCE,
    "No semi-supervised baseline gains from the labels: none is, averaged over its cells, more than a point of micro "
    "F1 above the best unsupervised method of the same input (MFDW and LINE; TADW and DGI)",
    "all compared semi-supervised baselines become ineffective",
)
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


@claim(
    PERFORMANCE,
    "LSHM and LDE have a lower micro F1 than MFDW in most cells",
    "LSHM and LDE achieve lower accuracy than MFDW in most cases",
)
def _lshm_lde_below_mfdw(evidence: Evidence) -> Finding | None:
    return mostly(compared(evidence, ["mfdw"], ["lshm", "lde"], scores=["micro"]), 0.5)


@claim(
    PERFORMANCE,
    "GCN and APPNP are below DGI almost always (read as 90 % of the cells)",
    "GCN and APPNP also perform worse than DGI almost all the time",
)
def _gnns_below_dgi(evidence: Evidence) -> Finding | None:
    return mostly(compared(evidence, ["dgi"], ["gcn", "appnp"]), 0.9)


@claim(
    "6.1.4 sensitivity",
    "With 200 columns in all, RECT is still above every baseline (Citeseer, 30 % labels)",
    "still outperforms all baselines when the embedding dimension is set to 200",
)
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
