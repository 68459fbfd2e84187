"""What the labels cover, and what about them and the graph should worry the reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from unseen.discovery.places import LabelPlaces
from unseen.discovery.result import LabelAudit, SelfTest
from unseen.graph import Graph
from unseen.labels import Labels

FEW_PAIRS = 20
"""With fewer edges between labelled nodes, whether alike nodes are linked cannot be measured."""
HOMOPHILOUS = 0.2
"""Adjusted homophily (0: edges ignore classes, 1: all edges stay inside) from which neighbours are listened to."""
FEW_LABELS = 5
"""A class with fewer labelled nodes gets a warning."""


@dataclass(frozen=True)
class Homophily:
    """Whether nodes of one class are linked, measured on edges between labelled nodes.

    Examples
    --------
    >>> Homophily(0.9, 0.5, 100).adjusted
    0.8
    """

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
    >>> import unseen
    >>> data = unseen.planted_partition(300, 3, random_state=0)
    >>> 0.6 < measure_homophily(data.graph, data.labels).share < 0.9
    True
    """
    edges = sp.triu(graph.adjacency, 1).tocoo()
    is_labelled = np.diff(labels.indicator.indptr) > 0
    both = is_labelled[edges.row] & is_labelled[edges.col]
    if not both.any():
        return Homophily(None, None, 0)
    src, dst = edges.row[both], edges.col[both]
    indicator = labels.indicator.astype(np.int32)
    shared = np.asarray(indicator[src].multiply(indicator[dst]).sum(axis=1)).ravel() > 0
    ends = np.asarray(indicator[np.r_[src, dst]].sum(axis=0)).ravel() / (2 * len(src))
    return Homophily(float(shared.mean()), float(min(np.square(ends).sum(), 1.0)), len(src))


def make_audit(
    graph: Graph,
    labels: Labels,
    homophily: Homophily,
    places: LabelPlaces,
    expected: float,
    test: SelfTest,
    notes: Sequence[str] = (),
) -> LabelAudit:
    """Return the audit with its warnings, the gravest first."""
    counts = dict(zip(labels.classes, labels.counts.tolist(), strict=True))
    n_labelled = len(labels.labelled)
    warnings = list(notes)
    if places.corner > 0:
        warnings.append(
            "The labels seem to come from one corner of their classes and not from all over them: nodes far from "
            "any label are hard to tell from new classes, so the probabilities rank nodes but their level is a "
            "guess, and the self-test is too optimistic. Labels drawn at random would help."
        )
    if homophily.adjusted is None:
        warnings.append(
            f"Only {homophily.n_pairs} edges join two labelled nodes, too few to tell whether linked nodes tend to "
            "share a class; it is assumed that they do."
        )
    elif not homophily.holds:
        warnings.append(
            f"Linked nodes hardly share a class ({homophily.share:.0%} of the edges between labelled nodes, "
            f"{homophily.expected:.0%} by chance): the graph is not homophilous, so neighbours were not listened to."
        )
    if test.auroc is None or test.auroc < 0.75:
        warnings.append(test.verdict)
    empty = [name for name, count in counts.items() if not count]
    if empty:
        warnings.append(f"No node is labelled {_listed(empty)}: nothing can be known of that.")
    few = [f"{name} ({count})" for name, count in counts.items() if 0 < count < FEW_LABELS]
    if few:
        warnings.append(f"Few nodes are labelled {_listed(few)}; more labels there would help.")
    if labels.is_multilabel:
        warnings.append(
            "Nodes have several labels: a probability is that of having none of the labelled classes, so a node "
            "with a labelled and a missing class is not found."
        )
    return LabelAudit(
        tuple(counts.items()),
        graph.n_nodes,
        n_labelled,
        homophily.share,
        homophily.expected,
        places.reach,
        expected,
        tuple(warnings),
        places.gathered,
        places.corner,
    )


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
