"""From four views of a node to one score, and whether the labels allow for all four."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from unseen.discovery.evidence import Evidence, Mask
from unseen.discovery.space import Floats
from unseen.linalg.normalize import row_normalized

VIEWS = ("unlike", "sparse", "misfit", "far")
RANDOM_WEIGHTS = np.array([1.0, 0.5, 0.5, 0.25])
"""Weights of the views where labels are spread over their classes."""
CORNER_WEIGHTS = np.array([0.0, 0.5, 1.0, 1.0])
"""Weights where labels come from a corner: that a node is unlike the labelled ones then says little."""
REACH_FROM, REACH_TO = 0.55, 0.7
"""Reach (see `label_reach`) at which the weights begin to move from the first to the second, and have arrived."""
NEIGHBOUR_SHARE = 0.3
"""Share of the neighbours' mean score in a node's own, on a homophilous graph."""


@dataclass(frozen=True, eq=False)
class Scoring:
    """How views become one score: learned on the labels at hand, then used unchanged whatever is hidden of them.

    Parameters
    ----------
    middle, spread : ndarray, shape (4,)
        Mean and standard deviation of each view over the unlabelled nodes.
    weights : ndarray, shape (4,)
        Weight of each view.
    neighbours : scipy CSR array or None
        Row-normalised adjacency; None where neighbours tell nothing about a node's class.
    """

    middle: Floats
    spread: Floats
    weights: Floats
    neighbours: sp.csr_array | None

    def own(self, evidence: Evidence) -> Floats:
        """Return the weighted views of every node, without its neighbours."""
        views = np.column_stack([getattr(evidence, name) for name in VIEWS])
        return np.asarray(((views - self.middle) / self.spread) @ self.weights)

    def around(self, own: Floats) -> Floats:
        """Return the mean of each node's neighbours, its own where it has none."""
        if self.neighbours is None:
            return own
        alone = np.diff(self.neighbours.indptr) == 0
        return np.where(alone, own, self.neighbours @ own)

    def score(self, evidence: Evidence) -> Floats:
        """Return the score of every node; larger means that a new class is more likely."""
        own = self.own(evidence)
        if self.neighbours is None:
            return own
        return (1 - NEIGHBOUR_SHARE) * own + NEIGHBOUR_SHARE * self.around(own)


def make_scoring(
    evidence: Evidence, labelled: Mask, adjacency: sp.csr_array, *, homophilous: bool
) -> tuple[Scoring, float | None]:
    """Return how to score these nodes, and the reach of the labels that decided on it."""
    views = np.column_stack([getattr(evidence, name) for name in VIEWS])[~labelled]
    spread = views.std(axis=0)
    reach = label_reach(evidence, labelled)
    corner = corner_share(reach)
    weights = (1 - corner) * RANDOM_WEIGHTS + corner * CORNER_WEIGHTS
    weights = np.where(spread > 1e-9, weights, 0.0)
    neighbours = row_normalized(adjacency) if homophilous else None
    return Scoring(views.mean(axis=0), np.where(spread > 1e-9, spread, 1.0), weights, neighbours), reach


def corner_share(reach: float | None) -> float:
    """Return how much the labels are taken to come from a corner, from 0 to 1.

    Examples
    --------
    >>> corner_share(0.5), corner_share(0.9)
    (0.0, 1.0)
    """
    return 0.0 if reach is None else float(np.clip((reach - REACH_FROM) / (REACH_TO - REACH_FROM), 0, 1))


def label_reach(evidence: Evidence, labelled: Mask) -> float | None:
    """Return how well labelled and unlabelled nodes can be told apart where both clearly fit one class.

    Among the nodes that fit a class at least as well as half of its labelled nodes do, labels drawn at random
    cannot be foretold: the AUROC is 0.5 or, since a node's own label is left out, a little less. Labels from a
    corner of the class can be. None where no class has enough nodes of both kinds.

    Examples
    --------
    >>> scores = np.ones((40, 1))
    >>> labelled = np.arange(40) < 20
    >>> view = np.linspace(0, 1, 40)
    >>> label_reach(Evidence(view, view, view, view, scores), labelled)
    1.0
    """
    from sklearn.metrics import roc_auc_score

    best, fit = evidence.scores.argmax(axis=1), evidence.scores.max(axis=1)
    figures, sizes = [], []
    for k in range(evidence.scores.shape[1]):
        known, other = np.flatnonzero(labelled & (best == k)), np.flatnonzero(~labelled & (best == k))
        if len(known):
            enough = np.median(fit[known])
            known, other = known[fit[known] >= enough], other[fit[other] >= enough]
        if min(len(known), len(other)) >= 3:
            rows = np.r_[known, other]
            figures.append(roc_auc_score(~labelled[rows], evidence.unlike[rows]))
            sizes.append(min(len(known), len(other)))
    return float(np.average(figures, weights=sizes)) if sum(sizes) >= 10 else None
