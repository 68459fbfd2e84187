"""From scores to probabilities: a logistic curve learned on hidden classes, moved to the share there really is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize
from scipy.special import expit, logit

from unseen.discovery.signals import Mask
from unseen.discovery.space import Floats

USUAL = (1.5, -1.0)
"""Slope and offset where nothing can be learned: about the mean of what other graphs gave."""
TRUST = 20.0
"""How many nodes of each kind `USUAL` counts for."""
MIN_SLOPE = 0.3
"""However badly the test went, the order of the scores is kept."""
USUAL_SHARE = 0.25
"""Share of new nodes where nothing can be learned."""
MAX_ODDS = 1e3
"""No score speaks louder than this."""
N_BINS = 10


@dataclass(frozen=True)
class Curve:
    """P(new) = logistic(slope * score + offset), as if half of the nodes were new."""

    slope: float
    offset: float

    def odds(self, scores: Floats) -> Floats:
        """Return how many times more likely each score is for a new node than for another."""
        odds: Floats = np.exp(np.clip(self.slope * scores + self.offset, -np.log(MAX_ODDS), np.log(MAX_ODDS)))
        return odds


def fit_curve(scores: Floats, new: Mask, weights: Floats) -> Curve:
    """Learn the curve from scores of nodes that are known to be new or not.

    Parameters
    ----------
    scores, new, weights : ndarray, shape (n,)
        The weights balance classes; both kinds are given the same weight here.
    """
    if not new.any() or new.all():
        return Curve(*USUAL)
    size = min(int(new.sum()), int((~new).sum()))
    balanced = np.where(new, weights / weights[new].sum(), weights / weights[~new].sum()) / 2
    pull = TRUST / (size + TRUST) * 0.1

    def loss(x: Floats) -> tuple[float, Floats]:
        z = x[0] * scores + x[1]
        p = expit(z)
        miss = np.logaddexp(0, z) - np.where(new, z, 0.0)
        away = x - np.array(USUAL)
        gradient = np.array([balanced @ ((p - new) * scores), balanced @ (p - new)]) + 2 * pull * away
        return float(balanced @ miss + pull * away @ away), gradient

    fit = scipy.optimize.minimize(loss, np.array(USUAL), jac=True, method="L-BFGS-B")
    return Curve(float(max(fit.x[0], MIN_SLOPE)), float(fit.x[1]))


def matched_share(scores: Floats, old: Floats, new: Floats, weights: Floats) -> float:
    """Return the share of new nodes with which `old` and `new` scores together are distributed as `scores` are.

    Least squares over the distribution functions: it needs no model of the scores, unlike the odds.

    Parameters
    ----------
    scores, old, new : ndarray
        Scores of nodes of both kinds, of old ones, and of new ones.
    weights : ndarray
        How much each of the new ones counts.
    """
    places = np.quantile(np.r_[old, scores], np.linspace(0.02, 0.98, 49))
    order = np.argsort(new)
    below = np.r_[0.0, np.cumsum(weights[order])][np.searchsorted(new[order], places, side="right")]
    of_old = np.searchsorted(np.sort(old), places, side="right") / len(old)
    of_all = np.searchsorted(np.sort(scores), places, side="right") / len(scores)
    apart = below / weights.sum() - of_old
    return float(np.clip((of_all - of_old) @ apart / max(float(apart @ apart), 1e-9), 0.002, 0.98))


def probabilities(
    odds: Floats, *, prior: float | None = None, at_most: float = 1.0, max_iter: int = 500
) -> tuple[Floats, float]:
    """Return the probability of each node, and the share of new ones that makes them most likely (by EM).

    A `prior` share counts as much as the nodes together. Where the share would exceed `at_most`, all odds are
    lowered until it does not.
    """
    if not len(odds):
        return odds, 0.0
    share = 0.3
    for _ in range(max_iter):
        p = share * odds / (share * odds + 1 - share)
        mean = p.mean() if prior is None else (p.mean() + prior) / 2
        moved = float(np.clip(mean, 1e-4, 1 - 1e-4))
        if abs(moved - share) < 1e-6:
            break
        share = moved
    p = share * odds / (share * odds + 1 - share)
    return (move_share(p, at_most), at_most) if share > at_most else (p, share)


def move_share(p: Floats, share: float) -> Floats:
    """Return the probabilities with all odds multiplied by one factor, so that their mean is `share`.

    Examples
    --------
    >>> move_share(np.array([0.2, 0.8]), 0.4).round(3).tolist()
    [0.118, 0.682]
    """
    logs = logit(np.clip(p, 1e-12, 1 - 1e-12))
    factor = scipy.optimize.brentq(lambda x: expit(logs + x).mean() - share, -80, 80)
    return np.asarray(expit(logs + factor))


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


def reliability(p: Floats, new: Mask) -> tuple[ReliabilityBin, ...]:
    """Return the reliability diagram: nodes by their probability, and how many of them were new."""
    place = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    return tuple(
        ReliabilityBin(
            k / N_BINS, (k + 1) / N_BINS, int(rows.sum()), float(p[rows].mean()), float(new[rows].mean())
        )
        for k in range(N_BINS)
        if (rows := place == k).any()
    )


def calibration_error(p: Floats, new: Mask) -> float:
    """Return the expected calibration error: mean distance of probability and truth over the bins."""
    bins = reliability(p, new)
    return float(sum(b.n * abs(b.predicted - b.observed) for b in bins) / max(len(p), 1))
