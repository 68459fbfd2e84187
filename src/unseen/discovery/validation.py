"""The leave-one-class-out test: how well a labelled class is recovered without its labels, and what a score is worth.

A class that is left out loses all its labels; so do a quarter of the labelled nodes of the other classes, which must
not be taken for new. The scores of both make probabilities: a logistic curve, moved to the share of missing nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.optimize
from scipy.special import expit

from unseen.ids import Floats, Ints, Mask, Singles

GOOD, FAIR = 0.85, 0.75
"""Mean AUROC of the left-out classes, less its standard error, from which they are recovered well, or moderately well;
below, poorly."""
FEW = 3
"""A class with fewer labels is not left out: its AUROC would be an accident."""
USUAL_SHARE = 0.25
"""Share of missing nodes where nothing can be learned."""


@dataclass(frozen=True)
class ReliabilityBin:
    """Nodes of the leave-one-class-out test whose probability fell into one interval, and how many were really hidden.

    Examples
    --------
    >>> ReliabilityBin(0.0, 0.1, 50, 0.04, 0.06).observed
    0.06
    """

    low: float
    high: float
    n: int
    predicted: float
    observed: float


@dataclass(frozen=True)
class HiddenClass:
    """One fold of the leave-one-class-out test: a labelled class treated as if it had no label.

    Parameters
    ----------
    name : str
        The class.
    n_labels : int
        How many labelled nodes it has, all of them hidden in its fold.
    auroc : float
        Probability that a node of it gets a higher score than a held-out node of a class that was kept.
    similarity : float
        Cosine of its mean and that of the labelled class nearest to it; -1 where that is unknown.

    Examples
    --------
    >>> HiddenClass("net", 40, 0.93).auroc
    0.93
    """

    name: str
    n_labels: int
    auroc: float
    similarity: float = -1.0


@dataclass(frozen=True)
class SelfTest:
    """How far to trust the probabilities, measured on the available labels: every class was hidden in turn.

    Parameters
    ----------
    classes : tuple of HiddenClass
        One entry per class that could be hidden; empty where no test was possible.
    auroc : float or None
        Mean over the classes: 1 is perfect, 0.5 is chance.
    brier, ece : float or None
        Mean squared error of the probabilities, and their expected calibration error; 0 is perfect. Each
        class is judged with probabilities calibrated on the other classes.
    bins : tuple of ReliabilityBin
        The reliability diagram.
    verdict : str
        One sentence for the reader.

    Examples
    --------
    >>> SelfTest((), None, None, None, (), "There is one labelled class.").auroc
    """

    classes: tuple[HiddenClass, ...]
    auroc: float | None
    brier: float | None
    ece: float | None
    bins: tuple[ReliabilityBin, ...]
    verdict: str

    @property
    def failed(self) -> bool:
        """Whether classes that were left out were recovered poorly, so that numbers and groups mean little."""
        return self.auroc is not None and _at_least(self.classes) < FAIR


@dataclass(frozen=True, eq=False)
class Fold:
    """What came of hiding one class: the scores of its nodes and of held-out nodes of the others."""

    column: int
    scores: Floats
    new: Mask

    @property
    def auroc(self) -> float:
        """How well the hidden class is told from the others."""
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(self.new, self.scores))


def leave_out_classes(
    indicator: Mask,
    score: Callable[[Mask, Ints], Floats],
    rng: np.random.Generator,
    *,
    most: int,
    on_step: Callable[[int, int], None] | None = None,
) -> list[Fold]:
    """Hide the labelled classes one after another and score their nodes as if nobody had labelled them.

    `score` returns the scores of all nodes by other labels and the columns of their classes. Of more than `most`
    classes, those with most labels are hidden.
    """
    has_one = indicator.sum(axis=1) == 1
    sizes = (indicator & has_one[:, None]).sum(axis=0)
    order = np.argsort(-sizes, kind="stable")[:most]
    columns = sorted(int(k) for k in order if sizes[k] >= FEW and indicator.shape[1] > 1)
    folds = []
    for done, column in enumerate(columns, start=1):
        visible = indicator.copy()
        visible[:, column] = False
        hidden = np.flatnonzero(indicator.any(axis=1) & ~visible.any(axis=1))
        is_held_out = np.zeros(len(indicator), dtype=bool)  # a quarter of the labels of each other class
        for members in visible.T:
            rows = np.flatnonzero(members)
            count = min(max(int(len(rows) / 4 + 0.5), 1), len(rows) - 1)
            if count > 0:
                is_held_out[rng.choice(rows, count, replace=False)] = True
        # with several labels per node a class may have lost all of them: it gets them back
        lost = ~(visible & ~is_held_out[:, None]).any(axis=0)
        is_held_out &= ~visible[:, lost].any(axis=1)
        if is_held_out.any():
            visible[is_held_out] = False
            left, rows = np.flatnonzero(visible.any(axis=0)), np.r_[hidden, np.flatnonzero(is_held_out)]
            folds.append(
                Fold(column, score(visible[:, left], left)[rows], np.arange(len(rows)) < len(hidden))
            )
        if on_step:
            on_step(done, len(columns))
    return folds


def learn_slope(folds: list[Fold]) -> float:
    """Return the slope of the logistic curve that the folds give, every hidden class counting the same.

    Without any it is 3, a usual one. It is at least 0.3, so that the order of the scores is kept however badly the
    test went.
    """
    if not folds:
        return 3.0
    scores, new = np.concatenate([t.scores for t in folds]), np.concatenate([t.new for t in folds])
    weights = np.concatenate([np.where(t.new, 1 / t.new.sum(), 1 / (~t.new).sum()) for t in folds])
    balanced = np.where(new, weights / weights[new].sum(), weights / weights[~new].sum()) / 2

    def loss(x: Floats) -> tuple[float, Floats]:
        z = x[0] * scores + x[1]
        miss = expit(z) - new
        penalty = 1e-3 * (x[0] - 3.0)  # two classes of a few nodes each may be told apart without an error
        value = balanced @ (np.logaddexp(0, z) - np.where(new, z, 0.0)) + penalty * (x[0] - 3.0)
        return float(value), np.array([balanced @ (miss * scores) + 2 * penalty, balanced @ miss])

    fit = scipy.optimize.minimize(loss, np.array([3.0, 0.0]), jac=True, method="L-BFGS-B")
    return float(max(fit.x[0], 0.3))


def match_share(scores: Floats, folds: list[Fold], hidden: list[Fold] | None = None) -> float:
    """Return the share of new nodes with which held-out and hidden nodes together are distributed as these scores are.

    Least squares over the distribution functions: it needs no model of the scores. New nodes are like the hidden
    classes of the folds `hidden`, of all folds when not given; without any fold, the usual share is returned.
    """
    if not folds:
        return USUAL_SHARE
    hidden = folds if hidden is None else hidden
    old = np.concatenate([t.scores[~t.new] for t in folds])
    new = np.concatenate([t.scores[t.new] for t in hidden])
    weights = np.concatenate([np.full(t.new.sum(), 1 / t.new.sum()) for t in hidden])
    places = np.quantile(np.r_[old, scores], np.linspace(0.02, 0.98, 49))
    order = np.argsort(new)
    below = np.r_[0.0, np.cumsum(weights[order])][np.searchsorted(new[order], places, side="right")]
    of_old, of_all = (np.searchsorted(np.sort(x), places, side="right") / len(x) for x in (old, scores))
    apart = below / weights.sum() - of_old
    return float(np.clip((of_all - of_old) @ apart / max(float(apart @ apart), 1e-9), 0.002, 0.98))


def probabilities(scores: Floats, slope: float, share: float) -> Floats:
    """Return the probability of each node by a logistic curve whose mean is `share`."""
    steep = slope * scores
    low, high = steep.min() - 40, steep.max() + 40
    middle = scipy.optimize.brentq(lambda x: expit(steep - x).mean() - share, low, high)
    return np.asarray(expit(steep - middle))


def reliability(p: Floats, new: Mask) -> tuple[tuple[ReliabilityBin, ...], float]:
    """Return the reliability diagram, ten bins of probability, and the expected calibration error."""
    place = np.minimum((p * 10).astype(int), 9)
    bins = tuple(
        ReliabilityBin(k / 10, (k + 1) / 10, int(rows.sum()), float(p[rows].mean()), float(new[rows].mean()))
        for k in range(10)
        if (rows := place == k).any()
    )
    return bins, float(sum(b.n * abs(b.predicted - b.observed) for b in bins) / max(len(p), 1))


def judge(
    folds: list[Fold],
    classes: tuple[str, ...],
    counts: Ints,
    means: Singles | None = None,
    *,
    doubt: str = "",
) -> SelfTest:
    """Return the report of the leave-one-class-out test; each class is judged by probabilities learned from the others.

    `counts` and `means` are the numbers of labels and the unit means of the labelled classes; `doubt` says why the test
    says little about missing classes, and is empty where it does.
    """
    if not folds:
        why, advice = "There is one labelled class", f"Label at least {FEW} nodes of a second class"
        if len(classes) > 1:
            single = " with no other label" if counts.max(initial=0) >= FEW else ""
            why = f"No class has {FEW} or more labelled nodes{single}"
            advice = f"Label at least {FEW} nodes of each of two classes"
        verdict = (
            f"{why}, so the leave-one-class-out test could not run: the probabilities only rank the nodes. {advice}; "
            "`suggest` lists nodes worth a label."
        )
        return SelfTest((), None, None, None, (), verdict)
    p = []
    for fold in folds:
        others = [other for other in folds if other is not fold]
        p.append(probabilities(fold.scores, learn_slope(others), match_share(fold.scores, others)))
    guess, truth = np.concatenate(p), np.concatenate([fold.new for fold in folds])
    similarity = np.full((len(classes), len(classes)), -1.0) if means is None else means @ means.T
    np.fill_diagonal(similarity, -1.0)
    hidden = tuple(
        HiddenClass(classes[t.column], int(counts[t.column]), t.auroc, float(similarity[t.column].max()))
        for t in folds
    )
    bins, ece = reliability(guess, truth)
    auroc, brier = float(np.mean([h.auroc for h in hidden])), float(np.mean(np.square(guess - truth)))
    return SelfTest(hidden, auroc, brier, ece, bins, _verdict(hidden, doubt))


def _at_least(hidden: tuple[HiddenClass, ...]) -> float:
    """Return the mean AUROC less its standard error: few classes that differ much say little about another one."""
    aurocs = [h.auroc for h in hidden]
    error = np.std(aurocs, ddof=1) / len(aurocs) ** 0.5 if len(aurocs) > 1 else 0.0
    return float(np.mean(aurocs) - error)


def _verdict(hidden: tuple[HiddenClass, ...], doubt: str) -> str:
    worst, nearest = min(hidden, key=lambda h: h.auroc), max(hidden, key=lambda h: h.similarity)
    mean, at_least = np.mean([h.auroc for h in hidden]), _at_least(hidden)
    how = (
        " poorly" if at_least < FAIR else "" if doubt else " well" if at_least >= GOOD else " moderately well"
    )
    similar = ""
    if nearest.similarity > -1:
        similar = "" if nearest is worst else f"; {nearest.auroc:.2f} for {nearest.name}"
        similar += ", which is the most similar to another class"
    if len(hidden) == 1:
        sentence = (
            f"The one class that could be left out ({worst.name}) was recovered{how} (AUROC {mean:.2f})"
        )
    else:
        sentence = (
            f"Each of {len(hidden)} labelled classes was left out in turn and recovered{how} (mean AUROC "
            f"{mean:.2f}; lowest {worst.auroc:.2f} for {worst.name}{similar})"
        )
    if at_least < FAIR:
        advice = "Labels of more nodes, above all of further classes, would help."
        return f"{sentence}: the probabilities only rank the nodes. {advice}"
    return (
        f"{sentence}. This says little about missing classes, because {doubt}." if doubt else f"{sentence}."
    )
