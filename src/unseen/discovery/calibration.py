"""From scores to probabilities: a logistic curve learned on hidden classes, moved to the share of missing nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize
from scipy.special import expit

from unseen.discovery.signals import Mask
from unseen.discovery.space import Floats

USUAL_SHARE = 0.25
"""Share of missing nodes where nothing can be learned."""


def fit_slope(scores: Floats, new: Mask, weights: Floats) -> float:
    """Return the slope of a logistic regression that tells new nodes from others by their scores.

    Where there is nothing to learn from it is 3, a usual one. It is at least 0.3, so that the order of the scores is
    kept however badly the test went.

    Parameters
    ----------
    scores, new, weights : ndarray, shape (n,)
        Scores of nodes that are known to be new or not, and what each of them counts for.
    """
    if not new.any() or new.all():
        return 3.0
    balanced = np.where(new, weights / weights[new].sum(), weights / weights[~new].sum()) / 2

    def loss(x: Floats) -> tuple[float, Floats]:
        z = x[0] * scores + x[1]
        miss = expit(z) - new
        penalty = 1e-3 * (x[0] - 3.0)  # two classes of a few nodes each may be told apart without an error
        value = balanced @ (np.logaddexp(0, z) - np.where(new, z, 0.0)) + penalty * (x[0] - 3.0)
        return float(value), np.array([balanced @ (miss * scores) + 2 * penalty, balanced @ miss])

    fit = scipy.optimize.minimize(loss, np.array([3.0, 0.0]), jac=True, method="L-BFGS-B")
    return float(max(fit.x[0], 0.3))


def matched_share(scores: Floats, old: Floats, new: Floats, weights: Floats) -> float:
    """Return the share of new nodes with which `old` and `new` scores together are distributed as `scores` are.

    Least squares over the distribution functions: it needs no model of the scores.

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


def probabilities(scores: Floats, slope: float, share: float) -> Floats:
    """Return the probability of each node by a logistic curve whose mean is `share`.

    Examples
    --------
    >>> probabilities(np.array([-1.0, 1.0]), 2.0, 0.5).round(2).tolist()
    [0.12, 0.88]
    """
    steep = slope * scores
    middle = scipy.optimize.brentq(
        lambda x: expit(steep - x).mean() - share, steep.min() - 40, steep.max() + 40
    )
    return np.asarray(expit(steep - middle))


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
    """Return the reliability diagram: nodes in ten bins of their probability, and how many of them were new."""
    place = np.minimum((p * 10).astype(int), 9)
    return tuple(
        ReliabilityBin(k / 10, (k + 1) / 10, int(rows.sum()), float(p[rows].mean()), float(new[rows].mean()))
        for k in range(10)
        if (rows := place == k).any()
    )


def calibration_error(p: Floats, new: Mask) -> float:
    """Return the expected calibration error: mean distance of probability and truth over the bins."""
    bins = reliability(p, new)
    return float(sum(b.n * abs(b.predicted - b.observed) for b in bins) / max(len(p), 1))
