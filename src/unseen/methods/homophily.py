"""Homophily: whether edges join nodes of one class, measured on edges between labelled nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.engine.run import Run
from unseen.engine.sparse import gather_rows
from unseen.graph import Graph
from unseen.labels import Labels

FEW_PAIRS = 20
"""With fewer edges between labelled nodes, homophily is not measured."""
HOMOPHILOUS = 0.2
"""Least adjusted homophily (0: edges ignore classes, 1: all edges stay inside) with which neighbours are used."""


@dataclass(frozen=True)
class Homophily:
    """Share of the edges between labelled nodes that join nodes of one class, and the share expected by chance."""

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
        """Whether to use neighbours; True unless the labels show heterophily."""
        return self.adjusted is None or self.adjusted >= HOMOPHILOUS


def measure_homophily(graph: Graph, labels: Labels, run: Run | None = None) -> Homophily:
    """Return how often an edge between two labelled nodes joins nodes that share a class.

    The graph may be spread over the processes of `run`; all of them call it.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> measure_homophily(graph, Labels.from_values(["a", "a", "b", None], graph.node_ids))
    Homophily(share=0.5, expected=0.625, n_pairs=2)
    """
    run, rows = run or Run(), labels.labelled
    adjacency = run.matrix(graph.adjacency)
    own = adjacency.layout.first + rows
    everywhere, indicator = run.gather(own), gather_rows(labels.indicator[rows].astype(np.int32), run)
    edges = adjacency.own_rows()[rows].tocoo()
    src, place = own[edges.row], np.searchsorted(everywhere, edges.col).clip(max=max(len(everywhere) - 1, 0))
    kept = (src < edges.col) & (everywhere[place] == edges.col) if edges.nnz else np.zeros(0, dtype=bool)
    src, dst = np.searchsorted(everywhere, src[kept]), place[kept]
    shared = np.asarray(indicator[src].multiply(indicator[dst]).sum(axis=1)).ravel() > 0
    ends = np.asarray(indicator[np.r_[src, dst]].sum(axis=0), dtype=np.float64).ravel()
    n_pairs, n_shared, *ends = run.total([[len(src), shared.sum(), *ends]])
    if not n_pairs:
        return Homophily(None, None, 0)
    expected = min(float(np.square(np.array(ends) / (2 * n_pairs)).sum()), 1.0)
    return Homophily(float(n_shared / n_pairs), expected, int(n_pairs))
