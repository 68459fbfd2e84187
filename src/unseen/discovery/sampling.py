"""What the labels cover, where they lie, and what about them and the graph should worry the reader.

Labels lie all over their classes, as if drawn at random, or in one region where somebody looked (sampling bias).
It matters because an unlabelled region is a sign of a missing class in the first case only. Three figures tell.
`gathered`: do labelled nodes have more labelled neighbours than edges have labelled ends? Labels drawn at random gather
too where classes are missing: three times as many where two thirds of the nodes are of missing classes. `reach`: among
the nodes that clearly fit a class, can labelled ones be told from the others? `fitting`: how many of these nodes have a
label? Labels drawn at random are as frequent there as around labelled nodes, whatever is missing. With many labels all
have to show it, since each may be misled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.discovery.signals import Evidence, Mask
from unseen.discovery.validation import SelfTest
from unseen.errors import first_of
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.homophily import Homophily

FEW_LABELS = 5
"""A class with fewer labelled nodes gets a warning."""
REACH = (0.55, 0.7)
"""Reach at which sampling bias begins to be likely, and at which it is certain."""
GATHERED, GATHERED_FEW = (0.2, 0.35), (0.1, 0.25)
"""The same for `gathered`, with many labels and with few."""
TIMES_FEW = (3.0, 4.0)
"""The same, with few labels, for how many times more labelled neighbours a labelled node has than any node: 2.5 where
labels are drawn at random and 60 % of the nodes are of missing classes, more where they are concentrated."""
TOGETHER = (0.28, 0.45)
"""The same, with many labels, for reach - 0.5 and what is gathered beyond `fitting` together."""
FEW_ENDS = 0.15
"""Share of edge ends that are labelled below which labels are few."""
FEW_EDGES = 20
"""With fewer edges at labelled nodes, `gathered` is an accident."""


@dataclass(frozen=True)
class LabelCoverage:
    """What the labels cover, and what about them should worry the reader.

    Parameters
    ----------
    classes : tuple of (str, int)
        Every labelled class with its number of labelled nodes.
    n_nodes, n_labelled : int
        All nodes, and those with a label.
    homophily : float or None
        Share of the edges between two labelled nodes whose ends share a class; None without such edges.
    expected_homophily : float or None
        The share that edges drawn without regard to classes would have.
    reach : float or None
        How well a label can be predicted from where a node lies inside its own class (AUROC): about 0.5 when labels
        were drawn at random, 1 when they are concentrated in one region.
    expected_unseen : float
        Sum of the probabilities: how many unlabelled nodes belong to no labelled class. It means little where the
        test failed.
    warnings : tuple of str
        One sentence each.
    gathered : float or None
        0 where labelled nodes have as many labelled neighbours as any node has, 1 where all theirs are labelled.
    sampling_bias : float
        How likely the labels are concentrated in one region of their classes, from 0 to 1.
    expected_if_hard : float
        `expected_unseen`, if missing classes are as hard to recognise as the hardest one of the leave-one-class-out
        test.

    Examples
    --------
    >>> LabelCoverage((("a", 3), ("b", 2)), 20, 5, 0.8, 0.5, 0.52, 4.0, ()).coverage
    0.25
    """

    classes: tuple[tuple[str, int], ...]
    n_nodes: int
    n_labelled: int
    homophily: float | None
    expected_homophily: float | None
    reach: float | None
    expected_unseen: float
    warnings: tuple[str, ...]
    gathered: float | None = None
    sampling_bias: float = 0.0
    expected_if_hard: float = 0.0

    @property
    def coverage(self) -> float:
        """Share of the nodes that have a label."""
        return self.n_labelled / self.n_nodes if self.n_nodes else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        report = asdict(self)
        return {**report, "classes": dict(self.classes), "coverage": self.coverage}


@dataclass(frozen=True)
class SamplingBias:
    """Where the labels lie.

    Parameters
    ----------
    reach : float or None
        See `_reach`.
    gathered : float or None
        0 where labelled nodes have as many labelled neighbours as any, 1 where all of theirs are.
    density : float
        Share of edge ends that are labelled nodes.
    fitting : float
        Share of labelled nodes among those that clearly fit a class.
    """

    reach: float | None
    gathered: float | None
    density: float
    fitting: float = 0.0

    @property
    def strength(self) -> float:
        """How likely the labels are concentrated in one region, from 0 to 1."""
        by_reach = 0.0 if self.reach is None else _between(self.reach, REACH)
        if self.gathered is None:
            return by_reach
        if self.density < FEW_ENDS:
            times = 1 + self.gathered * (1 - self.density) / max(self.density, 1e-12)
            return min(_between(self.gathered, GATHERED_FEW), _between(times, TIMES_FEW))
        around = self.gathered * (1 - self.density) + self.density
        usual = min(max(self.density, self.fitting), 0.99)
        together = (self.reach or 0.5) - 0.5 + (around - usual) / (1 - usual)
        return min(by_reach, _between(self.gathered, GATHERED), _between(together, TOGETHER))


def find_sampling_bias(evidence: Evidence, labelled: Mask, adjacency: sp.csr_array) -> SamplingBias:
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
    reach, fitting = _reach(evidence, labelled)
    return SamplingBias(reach, gathered, density, fitting)


def _reach(evidence: Evidence, labelled: Mask) -> tuple[float | None, float]:
    """Return how well labelled nodes are told from others where both clearly fit one class, and their share there.

    Among the nodes that fit a class at least as well as half of its labelled nodes do, labels drawn at random
    cannot be predicted: the AUROC is 0.5 or, since a node's own label is left out, a little less. Labels
    from one region of the class can be. None where no class has enough nodes of both kinds.
    """
    from sklearn.metrics import roc_auc_score

    best, fit = evidence.scores.argmax(axis=1), evidence.scores.max(axis=1)
    figures, sizes = [], []
    clear = np.zeros(2)
    for k in range(evidence.scores.shape[1]):
        inside, other = np.flatnonzero(labelled & (best == k)), np.flatnonzero(~labelled & (best == k))
        if len(inside):
            enough = np.median(fit[inside])
            inside, other = inside[fit[inside] >= enough], other[fit[other] >= enough]
            clear += len(inside), len(inside) + len(other)
        if min(len(inside), len(other)) >= 3:
            rows = np.r_[inside, other]
            figures.append(roc_auc_score(~labelled[rows], evidence.views[rows, 0]))
            sizes.append(min(len(inside), len(other)))
    reach = float(np.average(figures, weights=sizes)) if sum(sizes) >= 10 else None
    return reach, float(clear[0] / max(clear[1], 1))


def _between(value: float, ends: tuple[float, float]) -> float:
    return float(np.clip((value - ends[0]) / (ends[1] - ends[0]), 0, 1))


def make_coverage(
    graph: Graph,
    labels: Labels,
    homophily: Homophily,
    bias: SamplingBias,
    expected: tuple[float, float],
    test: SelfTest,
    notes: Sequence[str] = (),
) -> LabelCoverage:
    """Return the audit with its warnings, the gravest first."""
    counts = dict(zip(labels.classes, labels.counts.tolist(), strict=True))
    n_labelled = len(labels.labelled)
    warnings = list(notes)
    if bias.strength > 0:
        warnings.append(
            "The labels are concentrated in one region of their classes (sampling bias): nodes far from any label are "
            "hard to distinguish from missing classes, so the probabilities rank the nodes but their level is a guess. "
            "The leave-one-class-out test, which only knows these labels, cannot show that. Label randomly drawn nodes."
        )
    if (
        homophily.adjusted is None and graph.adjacency.nnz
    ):  # types of nodes may be linked through others alone
        decided = "neighbours are used"
        if test.auroc is not None:
            decided = "the leave-one-class-out test decided whether neighbours are used"
        warnings.append(
            f"Too few edges ({homophily.n_pairs}) join two labelled nodes to tell whether linked nodes tend to share "
            f"a class; {decided}, unless an embedding was given."
        )
    elif not homophily.holds:
        warnings.append(
            f"Linked nodes rarely share a class ({100 * (homophily.share or 0):.0f} % of the edges between labelled "
            f"nodes, {100 * (homophily.expected or 0):.0f} % by chance): the graph is heterophilous, so neighbours are "
            "not used."
        )
    if test.auroc is None or test.failed:
        warnings.append(test.verdict)
    empty = [name for name, count in counts.items() if not count]
    if empty:
        warnings.append(
            f"No node is labelled {first_of(empty)}, so nothing is learned about it; describe such a class with "
            "`names` (--name) to look for it."
        )
    single = [name for name, count in counts.items() if count == 1]
    if single:
        warnings.append(
            f"Not used in the leave-one-class-out test, because they have one label: {first_of(single, 20)}."
        )
    few = [f"{name} ({count})" for name, count in counts.items() if 1 < count < FEW_LABELS]
    if few:
        warnings.append(f"Few nodes are labelled {first_of(few)}; more labels there would help.")
    if labels.is_multilabel:
        warnings.append(
            "Nodes have several labels: the probability is that of having none of the labelled classes, so a node "
            "with a labelled and a missing class is not found."
        )
    return LabelCoverage(
        tuple(counts.items()),
        graph.n_nodes,
        n_labelled,
        homophily.share,
        homophily.expected,
        bias.reach,
        expected[0],
        tuple(warnings),
        bias.gathered,
        bias.strength,
        expected[1],
    )
