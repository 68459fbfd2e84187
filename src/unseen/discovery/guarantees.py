"""Lists of nodes with a false discovery rate, and bounds that hold with a probability of 95 %.

The labels are dealt into folds. The nodes of a fold are scored without the labels of the fold, as unlabelled nodes are,
so that their scores show how high a node of a labelled class may score. The p-value of an unlabelled node is the share
of labelled nodes that score at least as high (Bates et al. 2023; AdaDetect, 2022). Lists by Benjamini and Hochberg's
rule are false in at most the chosen share on average, and the bounds hold for all lists at once, if labels were drawn
at random from the labelled classes. Folds share labels, so this is measured and not a theorem:
docs/explanation/guarantees.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import poisson

from unseen.errors import InputError, counted
from unseen.ids import Floats, Ints, Mask

FDR = 0.1
"""False discovery rate of a list where no other is asked for."""
SURE = 0.95
"""Probability with which all bounds hold together."""
MIN_LABELS = 20
"""With fewer labels there is no guarantee."""


@dataclass(frozen=True)
class Guarantee:
    """Whether lists and bounds have an error rate, and under which assumption.

    Parameters
    ----------
    holds : bool
        Whether they have one.
    reason : str
        Why they have none; empty where they have one.
    assumption : str
        What has to be true of the labels.

    Examples
    --------
    >>> Guarantee(False, "There are fewer than 20 labels.").sentence
    'No error rate: there are fewer than 20 labels.'
    """

    holds: bool
    reason: str = ""
    assumption: str = ""

    @property
    def sentence(self) -> str:
        """The reason or the assumption as a sentence."""
        if self.holds:
            return f"Error rates hold if {self.assumption}."
        return f"No error rate: {self.reason[0].lower()}{self.reason[1:]}"


@dataclass(frozen=True)
class NewNodes:
    """How many unlabelled nodes belong to missing classes.

    Parameters
    ----------
    expected : float or None
        Sum of the probabilities; None where nothing can be estimated, and where nothing is likely or proven.
    at_most_expected : float or None
        The expected number if missing classes are as hard to recognise as the hardest one of the leave-one-class-out
        test.
    at_least : int or None
        Lower bound, 95 % sure; None where the guarantee does not hold.
    guarantee : Guarantee
        Under which assumption.

    Examples
    --------
    >>> NewNodes(610.2, 702.5, 509, Guarantee(True, assumption="labels were drawn at random")).sentence
    'At least 509 nodes belong to classes without a label (95 % sure, if labels were drawn at random).'
    """

    expected: float | None
    at_most_expected: float | None
    at_least: int | None
    guarantee: Guarantee

    @property
    def sentence(self) -> str:
        """The lower bound as a sentence."""
        if self.at_least is None:
            return self.guarantee.sentence
        verb = "belongs" if self.at_least == 1 else "belong"
        return (
            f"At least {counted(self.at_least, 'node')} {verb} to classes without a label "
            f"({100 * SURE:.0f} % sure, if {self.guarantee.assumption})."
        )


class Selection(tuple[str | int, ...]):
    """The nodes of a list, in the order of the graph, and a sentence about its error rate.

    Examples
    --------
    >>> selection = Selection(["a", "b"], fdr=0.1, sentence="2 nodes are listed.")
    >>> len(selection), "a" in selection, selection.nodes
    (2, True, ('a', 'b'))
    """

    fdr: float
    sentence: str

    def __new__(cls, nodes: list[str | int], *, fdr: float, sentence: str) -> Selection:  # noqa: D102
        selection = super().__new__(cls, nodes)
        selection.fdr, selection.sentence = fdr, sentence
        return selection

    @property
    def nodes(self) -> tuple[str | int, ...]:
        """The ids as a plain tuple."""
        return tuple(self)

    def __repr__(self) -> str:
        return f"Selection({counted(len(self), 'node')}, false discovery rate {self.fdr:g})"

    __str__ = __repr__


NO_RATE = {
    "is_concentrated": "The labels are concentrated in one region of their classes.",
    "has_one_class": "There is one labelled class.",
    "has_few_labels": f"There are fewer than {MIN_LABELS} labels.",
    "has_names": "Missing classes were given by name.",
    "is_heterophilous": "The graph is heterophilous.",
    "has_several": "Nodes have several labels.",
    "has_types": "Nodes have types.",
    "has_begun": "Answers named classes that have fewer than 5 labels.",
    "is_learned": "The embedding was learned from labels.",
    "has_accepted": "A class has labels for most of its nodes, unlike the others, as after accepting a group.",
}
"""Conditions under which nothing has an error rate, and their reasons; the first one that is true is named."""


def find_guarantee(conditions: Mapping[str, bool], *, rates_differ: bool) -> Guarantee:
    """Return whether error rates hold where these conditions of `NO_RATE` are true or not."""
    for name, reason in NO_RATE.items():
        if conditions[name]:
            return Guarantee(False, reason)
    same = "your labels were drawn at random, at about the same rate, from the labelled classes"
    return Guarantee(True, "", "your labels were drawn at random within each class" if rates_differ else same)


def check_fdr(fdr: object) -> float:
    """Return a false discovery rate, or raise an error that says what is allowed."""
    if isinstance(fdr, bool) or not isinstance(fdr, (int, float)) or not 0 < fdr < 1:
        msg = f"`fdr` is a share between 0 and 1, such as 0.1, got {fdr!r}"
        raise InputError(msg)
    return float(fdr)


def describe_list(n_selected: int, fdr: float, at_least: int | None, guarantee: Guarantee) -> str:
    """Return what can be said of a list of so many nodes."""
    percent = f"{100 * fdr:.3g} %"
    if not guarantee.holds:
        return guarantee.sentence
    if n_selected:
        verb = "is" if n_selected == 1 else "are"
        return (
            f"{counted(n_selected, 'node')} {verb} selected; lists like this are on average at most {percent} false, "
            f"if {guarantee.assumption}."
        )
    if at_least:
        return f"Too few labels for a list at {percent}: no node is selected."
    return f"No node is selected at {percent}: no class is missing, or there are too few labels to show it."


def has_full_class(nearest: Ints, indicator: Mask) -> bool:
    """Return whether a class has labels for most of its nodes, and for clearly more of them than the other classes.

    Such labels were not drawn at random: they come from accepting a group. Their scores are low, and would make those
    of other labelled classes look high. `nearest` is the number of the class whose mean is nearest to each node.
    """
    labels = indicator.sum(axis=0)
    sizes = labels + np.bincount(nearest[~indicator.any(axis=1)], minlength=len(labels))
    rates = labels / np.maximum(sizes, 1)
    for k in np.flatnonzero(rates > 0.5):
        others = np.delete(np.arange(len(labels)), k)
        usual = np.median(np.repeat(rates[others], labels[others]))
        if rates[k] > 1.5 * usual and poisson.sf(labels[k] - 1, usual * sizes[k]) < 1e-5:
            return True
    return False


def class_weights(nearest: Ints, indicator: Mask) -> Floats:
    """Return how many nodes each labelled node stands for: unlabelled nodes nearest to its class, per label of it."""
    labelled = indicator.any(axis=1)
    n, m = int(labelled.sum()), int((~labelled).sum())
    near = np.bincount(nearest[~labelled], minlength=indicator.shape[1])
    stands_for = (near + 2 * m / n) / (indicator.sum(axis=0) + 2)
    return np.asarray(stands_for[indicator[labelled].argmax(axis=1)])


def fold_scores(
    indicator: Mask, scores: Floats, score: Callable[[Mask], Floats], rng: np.random.Generator
) -> Floats:
    """Return a score for each labelled node that does not know the node's label.

    The labelled nodes of each class are dealt into folds. A node gets its rank among the unlabelled nodes, scored
    without the labels of its fold, and the score at this rank of `scores`, those of the unlabelled nodes by all labels:
    scores of folds differ a little, which would break ties of nodes that nothing distinguishes.
    """
    unlabelled = ~indicator.any(axis=1)
    labelled = np.flatnonzero(~unlabelled)
    order = labelled[np.lexsort((rng.random(len(labelled)), indicator[labelled].argmax(axis=1)))]
    fold = (np.arange(len(order)) + rng.integers(20)) % 20  # each costs one more scoring of all nodes
    levels = np.r_[-np.inf, np.sort(scores)]
    matched = np.full(len(indicator), np.nan)
    for k in np.unique(fold):
        rows = order[fold == k]
        left = indicator.copy()
        left[rows] = False
        of_fold = score(left[:, left.any(axis=0)])
        others, tie = np.sort(of_fold[unlabelled]), 1e-9 * np.ptp(of_fold)
        matched[rows] = levels[np.searchsorted(others, of_fold[rows] + tie, side="right")]
    return matched[labelled]


@dataclass(frozen=True, eq=False)
class ErrorRates:
    """p-values of the unlabelled nodes, and what follows from them for every cut of the ranking.

    Parameters
    ----------
    p : ndarray, shape (m,)
        One p-value for each unlabelled node: small where a missing class is likely.
    q : ndarray, shape (m,)
        The lowest false discovery rate of a list that has the node.
    n_old : int
        The largest number of nodes of labelled classes that the p-values do not contradict.
    places, exceeded : ndarray
        At most `exceeded` of the nodes of labelled classes have a p-value of at most `places`; all at once.
    """

    p: Floats
    q: Floats
    n_old: int
    places: Floats
    exceeded: Floats

    @property
    def share(self) -> float:
        """Share of the nodes that belong to missing classes, by the p-values above one half (Storey)."""
        return min(max(1 - 2 * float(np.mean(self.p > 0.5)), 0.002), 0.95)

    @property
    def at_least(self) -> int:
        """How many nodes belong to classes without a label, at least."""
        return len(self.p) - self.n_old

    def at_most_false(self, listed: Floats) -> int:
        """Return how many nodes with the p-values `listed` belong to labelled classes, at most; for all cuts at once.

        `listed` is a cut of the ranking: the smallest p-values of all.
        """
        outside = [int((listed > place).sum()) for place in self.places]
        bound = (self.exceeded + outside).min() if len(self.places) else len(listed)
        return int(min(len(listed), self.n_old, bound))


def make_error_rates(
    scores: Floats, labelled_scores: Floats, weights: Floats | None = None, *, seed: int
) -> ErrorRates:
    """Return the error rates of unlabelled nodes with these scores.

    Those of the labelled nodes do not know the node's own label; `weights` say how many nodes each labelled node stands
    for, where classes were labelled at different rates.
    """
    w = np.ones(len(labelled_scores)) if weights is None else weights
    scores = scores - 1e-9 * np.ptp(scores)  # equal scores differ by rounding
    order = np.argsort(labelled_scores)
    above = np.r_[np.cumsum(w[order][::-1])[::-1], 0.0]
    reached = above[np.searchsorted(labelled_scores[order], scores, side="left")]
    p = (w.mean() + reached) / (w.mean() + w.sum())
    n_effective = float(w.sum() ** 2 / np.square(w).sum())
    # Scores depend on each other, so the bounds count three times fewer labels. With half of them and nothing hidden,
    # the lower bound was 0 in 93 of 102 draws, and in 13 of 17 on debian with 5 % of the labels.
    n, m = int(n_effective / 3), len(p)
    steps, k = [], 1.0
    while k <= n:  # 1, 2, 3, ... and then numbers that grow by 30 %
        steps.append(int(k))
        k = max(k + 1, k * 1.3)
    grid = np.array(steps, dtype=np.int64)
    places = grid / (n + 1)
    # 1,000 paths of the chance that a number above one of the n smallest uniform ones is below the next one
    shapes = np.diff(np.r_[0, grid, n + 1])
    shares = np.random.default_rng(seed).standard_gamma(shapes, (1000, len(shapes)))
    chances = (shares / np.cumsum(shares[:, ::-1], axis=1)[:, ::-1])[:, :-1]
    counts = np.searchsorted(np.sort(p), places, side="right")
    n_old, highest = (0, m) if len(grid) else (m, m)
    while n_old < highest:  # bisection: no node of a labelled class is always possible
        middle = (n_old + highest + 1) // 2
        if (counts <= _exceeded(middle, chances, seed) + m - middle).all():
            n_old = middle
        else:
            highest = middle - 1
    # Benjamini and Hochberg's adjusted p-values, times the share of nodes of labelled classes (Storey); it is raised by
    # two standard errors, for the same reason
    share_old = min(1.0, (1 + 2 / np.sqrt(n_effective)) * (1 + int((p > 0.5).sum())) / max(m / 2, 1))
    order, q = np.argsort(p, kind="stable"), np.empty(m)
    ratios = share_old * p[order] * m / np.arange(1, m + 1)
    q[order] = np.minimum(np.minimum.accumulate(ratios[::-1])[::-1], 1.0)
    return ErrorRates(p, q, n_old, places, _exceeded(n_old, chances, seed))


def _exceeded(n_old: int, chances: Floats, seed: int) -> Floats:
    """Return for each k how many of `n_old` uniform numbers lie below the k-th smallest of n others, at most.

    One simulated path in twenty exceeds the returned bound anywhere on the grid.
    """
    if not chances.size:
        return np.zeros(0)
    rng, counts = np.random.default_rng(seed), np.zeros(chances.shape, dtype=np.int64)
    total = np.zeros(len(chances), dtype=np.int64)
    for k, chance in enumerate(chances.T):
        total = total + rng.binomial(n_old - total, chance)
        counts[:, k] = total
    ordered = np.sort(counts, axis=0)
    ranks = [np.searchsorted(*columns) for columns in zip(ordered.T, counts.T, strict=True)]
    rank = np.sort(np.max(ranks, axis=0))[int(np.ceil(SURE * len(chances))) - 1]
    return np.asarray(ordered[rank], dtype=np.float64)
