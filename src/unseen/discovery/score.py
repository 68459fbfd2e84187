"""From four views of a node to one score."""

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
NEIGHBOUR_SHARE = 0.3
"""Share of the neighbours' mean score in a node's own, on a homophilous graph."""


@dataclass(frozen=True, eq=False)
class Scoring:
    """How views become one score: learned on the available labels, then used unchanged whatever is hidden of them.

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
    evidence: Evidence, labelled: Mask, adjacency: sp.csr_array, corner: float, *, homophilous: bool
) -> Scoring:
    """Return how to score these nodes; `corner` says how much the labels come from a corner, from 0 to 1."""
    views = np.column_stack([getattr(evidence, name) for name in VIEWS])[~labelled]
    spread = views.std(axis=0)
    weights = (1 - corner) * RANDOM_WEIGHTS + corner * CORNER_WEIGHTS
    weights = np.where(spread > 1e-9, weights, 0.0)
    neighbours = row_normalized(adjacency) if homophilous else None
    return Scoring(views.mean(axis=0), np.where(spread > 1e-9, spread, 1.0), weights, neighbours)
