"""The leave-one-class-out test: how well a labelled class is recovered without its labels, and what a score is worth.

A class that is left out loses all its labels; so do some nodes of the other classes, which must not be taken for new.
Where the labels are concentrated in one region, those are neighbours of each other (the nodes most like one of them),
because nodes far from any label of their class are what the real task has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unseen.discovery.calibration import (
    USUAL_SHARE,
    Curve,
    ReliabilityBin,
    calibration_error,
    fit_curve,
    matched_share,
    probabilities,
    reliability,
)
from unseen.discovery.signals import Mask, Scoring, gather
from unseen.discovery.space import Axes, Floats, Matrix, Space

Respace = Callable[[Mask, list[int]], Space]

GOOD, FAIR = 0.9, 0.75
"""AUROC from which classes that were left out are recovered well, or moderately well; where the mean less its standard
error over the classes is below the latter, poorly."""
HELD_OUT = 0.25
"""Share of the other classes' labels that is hidden beside a class."""
MAX_CLASSES_LEFT_OUT = 20
"""At most so many classes are hidden in turn, those with most labels: enough to calibrate by."""
MAX_REFITS = 5
"""The same where each fold trains a method."""
BETTER = 0.005
"""By how much another way of scoring has to be better than the first: less is an accident of the test."""
FEW = 3
"""A class with fewer labels is not hidden: its AUROC would be an accident."""


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


def mean_auroc(folds: list[Fold]) -> float:
    """Return how well hidden classes are told from the others on average; 0 without any."""
    return float(np.mean([fold.auroc for fold in folds])) if folds else 0.0


def leave_out_classes(
    space: Space,
    indicator: Mask,
    scorings: list[Scoring],
    bias: float,
    rng: np.random.Generator,
    *,
    surroundings: Axes | None = None,
    weights: Floats | None = None,
    respace: Respace | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> tuple[Scoring, list[Fold]]:
    """Hide the labelled classes one after another and score their nodes as if nobody had labelled them.

    The first way of scoring is returned with its scores, or another one that finds them better; the middle one where
    none can be hidden.
    `respace` makes the space from the labels that are left, for vectors that were learned from labels.
    """
    alone = indicator.sum(axis=1) == 1
    sizes = (indicator & alone[:, None]).sum(axis=0)
    order = np.argsort(-sizes, kind="stable")[: MAX_CLASSES_LEFT_OUT if respace is None else MAX_REFITS]
    columns = sorted(int(k) for k in order if sizes[k] >= FEW)
    if indicator.shape[1] < 2:
        columns = []
    folds: list[list[Fold]] = [[] for _ in scorings]
    for done, column in enumerate(columns, start=1):
        visible = indicator.copy()
        visible[:, column] = False
        hidden = np.flatnonzero(indicator.any(axis=1) & ~visible.any(axis=1))
        held_out = _held_out(space, visible, bias > 0, rng)
        if len(held_out):
            visible[held_out] = False
            left = np.flatnonzero(visible.any(axis=0))
            visible = visible[:, left]
            own = space if respace is None else respace(visible, left.tolist())
            rows = np.r_[hidden, held_out]
            mixed = scorings[0].mixed(gather(own, visible, surroundings, weights).views)[rows]
            for scoring, of_scoring in zip(scorings, folds, strict=True):
                of_scoring.append(Fold(column, scoring.score(mixed), np.arange(len(rows)) < len(hidden)))
        if on_step:
            on_step(done, len(columns))
    aurocs = [mean_auroc(of_scoring) for of_scoring in folds]
    best = int(np.argmax(aurocs)) if folds[0] else len(scorings) // 2
    if folds[0] and aurocs[best] < aurocs[0] + BETTER:
        best = 0
    return scorings[best], folds[best]


def _held_out(
    space: Space, indicator: Mask, by_block: bool, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return the rows of some labelled nodes of each class, at random or around one of them."""
    is_held_out = np.zeros(len(indicator), dtype=bool)
    for column in indicator.T:
        rows = np.flatnonzero(column)
        count = int(len(rows) * HELD_OUT + 0.5)
        count = min(max(count, 1), len(rows) - 1)
        if count < 1:
            continue
        if by_block:
            near = space.centred[rows] @ space.centred[rng.choice(rows)]
            is_held_out[rows[np.argsort(-near, kind="stable")[:count]]] = True
        else:
            is_held_out[rng.choice(rows, count, replace=False)] = True
    # with several labels per node a class may have lost all of them: it gets them back
    left = (indicator & ~is_held_out[:, None]).any(axis=0)
    is_held_out &= ~indicator[:, ~left].any(axis=1)
    return np.flatnonzero(is_held_out)


def learn_curve(folds: list[Fold], without: Fold | None = None) -> Curve:
    """Return the curve that the folds give, every hidden class counting the same."""
    others = [fold for fold in folds if fold is not without]
    if not others:
        return fit_curve(np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0))
    scores, new = np.concatenate([t.scores for t in others]), np.concatenate([t.new for t in others])
    weights = np.concatenate([np.where(t.new, 1 / t.new.sum(), 1 / (~t.new).sum()) for t in others])
    return fit_curve(scores, new, weights)


def usual_share(scores: Floats, folds: list[Fold]) -> float:
    """Return the share of new nodes to begin with: halfway between what the folds say and what is usual."""
    if not folds:
        return USUAL_SHARE
    old, new = (np.concatenate([t.scores[t.new == kind] for t in folds]) for kind in (False, True))
    weights = np.concatenate([np.full(t.new.sum(), 1 / t.new.sum()) for t in folds])
    return float(np.sqrt(matched_share(scores, old, new, weights) * USUAL_SHARE))


def share_if_hard(scores: Floats, folds: list[Fold]) -> float:
    """Return the share of new nodes if they score as those of the class that was recovered worst; 0 without folds."""
    if not folds:
        return 0.0
    old = np.concatenate([fold.scores[~fold.new] for fold in folds])
    hard = min(folds, key=lambda fold: fold.auroc)
    return matched_share(scores, old, hard.scores[hard.new], np.ones(int(hard.new.sum())))


def judge(
    folds: list[Fold],
    classes: tuple[str, ...],
    counts: npt.NDArray[np.int64],
    means: Matrix | None = None,
    *,
    is_concentrated: bool = False,
) -> SelfTest:
    """Return the report of the leave-one-class-out test; each class is judged by probabilities learned from the others.

    Parameters
    ----------
    folds : list of Fold
        What came of leaving out each class.
    classes, counts
        Names of the labelled classes and their numbers of labels.
    means : ndarray, shape (c, d), optional
        Unit means of the labelled classes: which of them is the most similar to another.
    is_concentrated : bool
        Whether labels lie in one region, so that the test says little.
    """
    if not folds:
        single = " with no other label" if counts.max(initial=0) >= FEW else ""
        why, advice = (
            ("There is one labelled class", f"Label at least {FEW} nodes of a second class")
            if len(classes) < 2
            else (
                f"No class has {FEW} or more labelled nodes{single}",
                f"Label at least {FEW} nodes of each of two classes",
            )
        )
        verdict = (
            f"{why}, so the leave-one-class-out test could not run: the probabilities only rank the nodes. {advice}; "
            "`suggest` lists nodes worth a label."
        )
        return SelfTest((), None, None, None, (), verdict)
    p, new = [], []
    for fold in folds:
        odds = learn_curve(folds, without=fold).odds(fold.scores)
        p.append(probabilities(odds)[0])
        new.append(fold.new)
    guess, truth = np.concatenate(p), np.concatenate(new)
    similarity = np.full((len(classes), len(classes)), -1.0) if means is None else means @ means.T
    np.fill_diagonal(similarity, -1.0)
    hidden = tuple(
        HiddenClass(classes[t.column], int(counts[t.column]), t.auroc, float(similarity[t.column].max()))
        for t in folds
    )
    auroc = float(np.mean([h.auroc for h in hidden]))
    return SelfTest(
        hidden,
        auroc,
        float(np.mean(np.square(guess - truth))),
        calibration_error(guess, truth),
        reliability(guess, truth),
        _verdict(auroc, hidden, is_concentrated),
    )


def _at_least(hidden: tuple[HiddenClass, ...]) -> float:
    """Return the mean AUROC less its standard error: few classes that differ much say little about another one."""
    each = [h.auroc for h in hidden]
    error = np.std(each, ddof=1) / len(each) ** 0.5 if len(each) > 1 else 0.0
    return float(np.mean(each) - error)


def _verdict(auroc: float, hidden: tuple[HiddenClass, ...], is_concentrated: bool) -> str:
    worst, nearest = min(hidden, key=lambda h: h.auroc), max(hidden, key=lambda h: h.similarity)
    failed = _at_least(hidden) < FAIR
    how = " poorly" if failed else " well" if auroc >= GOOD else " moderately well"
    if is_concentrated and not failed:
        how = ""
    alike = ""
    if nearest.similarity > -1:
        is_worst = "" if nearest is worst else f"; {nearest.auroc:.2f} for {nearest.name}"
        alike = f"{is_worst}, which is the most similar to another class"
    if len(hidden) == 1:
        sentence = (
            f"The one class that could be left out ({worst.name}) was recovered{how} (AUROC {auroc:.2f})"
        )
    else:
        sentence = (
            f"Each of {len(hidden)} labelled classes was left out in turn and recovered{how} (mean AUROC "
            f"{auroc:.2f}; lowest {worst.auroc:.2f} for {worst.name}{alike})"
        )
    if is_concentrated and not failed:
        return f"{sentence}. This says little about missing classes, because the labels are concentrated in one region."
    advice = ": the probabilities only rank the nodes. Labels of more nodes, above all of further classes, would help."
    return sentence + (advice if failed else ".")
