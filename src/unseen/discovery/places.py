"""Where the labels lie: all over their classes, as if drawn at random, or in a corner where somebody looked.

It matters because an unlabelled region is a sign of a missing class in the first case only. Two figures tell.
`gathered`: do labelled nodes have more labelled neighbours than edges have labelled ends? Labels drawn at random gather
too where classes are missing, but little while labels are few. `reach`: among the nodes that clearly fit a class, can
labelled ones be told from the others? With many labels both have to speak for a corner, since either may be misled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from unseen.discovery.evidence import Evidence, Mask

REACH = (0.55, 0.7)
"""Reach at which a corner begins to be likely, and at which it is certain."""
GATHERED, GATHERED_FEW = (0.2, 0.35), (0.1, 0.25)
"""The same for `gathered`, with many labels and with few."""
TIMES_FEW = (2.5, 3.5)
"""The same, with few labels, for how many times more labelled neighbours a labelled node has than any node: 2 where
labels are drawn at random and half of the nodes are of missing classes, more in a corner."""
FEW = 0.15
"""Share of edge ends that are labelled below which labels are few."""
FEW_EDGES = 20
"""With fewer edges at labelled nodes, `gathered` is an accident."""


@dataclass(frozen=True)
class LabelPlaces:
    """Where the labels lie.

    Parameters
    ----------
    reach : float or None
        See `label_reach`.
    gathered : float or None
        0 where labelled nodes have as many labelled neighbours as any, 1 where all of theirs are.
    density : float
        Share of edge ends that are labelled nodes.

    Examples
    --------
    >>> LabelPlaces(0.5, 0.02, 0.05).corner, LabelPlaces(0.5, 0.6, 0.05).corner, LabelPlaces(0.9, 0.0, 0.3).corner
    (0.0, 1.0, 0.0)
    """

    reach: float | None
    gathered: float | None
    density: float

    @property
    def corner(self) -> float:
        """How much the labels are taken to come from a corner, from 0 to 1."""
        by_reach = 0.0 if self.reach is None else _between(self.reach, REACH)
        if self.gathered is None:
            return by_reach
        if self.density < FEW:
            times = 1 + self.gathered * (1 - self.density) / max(self.density, 1e-12)
            return min(_between(self.gathered, GATHERED_FEW), _between(times, TIMES_FEW))
        return min(by_reach, _between(self.gathered, GATHERED))


def find_places(evidence: Evidence, labelled: Mask, adjacency: sp.csr_array) -> LabelPlaces:
    """Return where the labels lie, by the evidence and by the edges."""
    is_labelled = labelled.astype(np.float64)
    loops = (adjacency.diagonal() != 0).astype(np.float64)
    degree = np.diff(adjacency.indptr) - loops
    ends = float(degree @ is_labelled)
    density = ends / max(float(degree.sum()), 1.0)
    gathered = None
    if ends >= FEW_EDGES and density < 1:
        linked = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), adjacency.shape)
        both = float(is_labelled @ (linked @ is_labelled - loops * is_labelled))
        gathered = (both / ends - density) / (1 - density)
    return LabelPlaces(label_reach(evidence, labelled), gathered, density)


def label_reach(evidence: Evidence, labelled: Mask) -> float | None:
    """Return how well labelled and unlabelled nodes can be told apart where both clearly fit one class.

    Among the nodes that fit a class at least as well as half of its labelled nodes do, labels drawn at random
    cannot be predicted: the AUROC is 0.5 or, since a node's own label is left out, a little less. Labels from a
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
        inside, other = np.flatnonzero(labelled & (best == k)), np.flatnonzero(~labelled & (best == k))
        if len(inside):
            enough = np.median(fit[inside])
            inside, other = inside[fit[inside] >= enough], other[fit[other] >= enough]
        if min(len(inside), len(other)) >= 3:
            rows = np.r_[inside, other]
            figures.append(roc_auc_score(~labelled[rows], evidence.unlike[rows]))
            sizes.append(min(len(inside), len(other)))
    return float(np.average(figures, weights=sizes)) if sum(sizes) >= 10 else None


def _between(value: float, ends: tuple[float, float]) -> float:
    return float(np.clip((value - ends[0]) / (ends[1] - ends[0]), 0, 1))
