"""Whether nodes of one class are linked to each other, measured on labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from unseen.graph import Graph

if TYPE_CHECKING:
    from unseen.labels import Labels

FEW_PAIRS = 20
"""With fewer edges between labelled nodes, whether alike nodes are linked cannot be measured."""
HOMOPHILOUS = 0.2
"""Adjusted homophily (0: edges ignore classes, 1: all edges stay inside) from which neighbours are listened to."""


@dataclass(frozen=True)
class Homophily:
    """Whether nodes of one class are linked, measured on edges between labelled nodes."""

    share: float | None
    expected: float | None
    n_pairs: int

    @property
    def adjusted(self) -> float | None:
        """0 where edges ignore classes, 1 where all stay inside; None where it cannot be measured."""
        if self.share is None or self.expected is None or self.n_pairs < FEW_PAIRS or self.expected >= 1:
            return None
        return (self.share - self.expected) / (1 - self.expected)

    @property
    def holds(self) -> bool:
        """Whether neighbours may be listened to; they are where nothing speaks against it."""
        return self.adjusted is None or self.adjusted >= HOMOPHILOUS


def measure_homophily(graph: Graph, labels: Labels) -> Homophily:
    """Return how often an edge between two labelled nodes joins nodes that share a class.

    Examples
    --------
    >>> from unseen import Labels
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> measure_homophily(graph, Labels.from_values(["a", "a", "b", None], graph.node_ids))
    Homophily(share=0.5, expected=0.625, n_pairs=2)
    """
    rows = labels.labelled
    edges = sp.triu(graph.adjacency[rows][:, rows], 1).tocoo()
    if not edges.nnz:
        return Homophily(None, None, 0)
    indicator = labels.indicator[rows].astype(np.int32)
    src, dst = edges.row, edges.col
    shared = np.asarray(indicator[src].multiply(indicator[dst]).sum(axis=1)).ravel() > 0
    ends = np.asarray(indicator[np.r_[src, dst]].sum(axis=0)).ravel() / (2 * len(src))
    return Homophily(float(shared.mean()), float(min(np.square(ends).sum(), 1.0)), len(src))
