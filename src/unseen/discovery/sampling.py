"""What the labels cover, where they lie, and what about them and the graph should worry the reader.

Labels lie all over their classes, as if drawn at random, or in one region where somebody looked (sampling bias). It
matters because an unlabelled region is a sign of a missing class in the first case only. Among the nodes that clearly
fit a class, whatever else is missing, labels drawn at random are as frequent around labelled nodes as around others.
Labels from one region are not.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.discovery.signals import Evidence
from unseen.discovery.validation import SelfTest
from unseen.errors import first_of
from unseen.graph import Graph
from unseen.ids import Floats, Mask
from unseen.labels import Labels
from unseen.linalg.normalize import l1_rows

if TYPE_CHECKING:
    from unseen.discovery.ranking import Ranking

FEW_LABELS = 5
"""A class with fewer labelled nodes gets a warning."""
REACH = 0.65
"""Labels are concentrated if `LabelCoverage.reach` is at least this, three standard errors above one half."""


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
        How well labelled nodes are told from others by the labels around them, among nodes that clearly fit a class
        (AUROC): about 0.5 where labels were drawn at random, near 1 where they are concentrated in one region.
    expected_unseen : float
        Sum of the probabilities: how many unlabelled nodes belong to no labelled class. It means little where the
        test failed.
    warnings : tuple of str
        One sentence each.
    is_concentrated : bool
        Whether the labels are concentrated in one region of their classes (sampling bias).
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
    is_concentrated: bool = False
    expected_if_hard: float = 0.0

    @property
    def coverage(self) -> float:
        """Share of the nodes that have a label."""
        return self.n_labelled / self.n_nodes if self.n_nodes else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        report = asdict(self)
        return {**report, "classes": dict(self.classes), "coverage": self.coverage}


def find_concentration(
    evidence: Evidence, labelled: Mask, adjacency: sp.csr_array
) -> tuple[float | None, bool]:
    """Return how well labelled nodes are told from others where both clearly fit a class, and whether too well.

    Nodes that fit a class at least as well as half of its labelled nodes do are compared within the class, by the share
    of labelled nodes one and two steps away (without edges, by the predicted label propensity), and by their AUROC.
    None where no class has enough nodes of both kinds.
    """
    from sklearn.metrics import roc_auc_score

    around = _labels_around(labelled, adjacency) if adjacency.nnz else -evidence.views[:, 0]
    best, fit = evidence.scores.argmax(axis=1), evidence.scores.max(axis=1)
    known = np.isfinite(around)
    figures, sizes = [], []
    for k in range(evidence.scores.shape[1]):
        inside, others = (np.flatnonzero(known & (best == k) & rows) for rows in (labelled, ~labelled))
        if len(inside):
            enough = np.median(fit[inside])
            inside, others = inside[fit[inside] >= enough], others[fit[others] >= enough]
        if min(len(inside), len(others)) >= 3:
            rows = np.r_[inside, others]
            figures.append(roc_auc_score(labelled[rows], around[rows]))
            sizes.append(min(len(inside), len(others)))
    if sum(sizes) < 10:
        return None, False
    reach = float(np.average(figures, weights=sizes))
    return reach, reach >= max(REACH, 0.5 + 3 / (12 * sum(sizes)) ** 0.5)


def _labels_around(labelled: Mask, adjacency: sp.csr_array) -> Floats:
    """Return the share of labelled neighbours plus that two steps away, without the node; NaN without neighbours."""
    links = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), adjacency.shape)
    links.setdiag(0)
    links.eliminate_zeros()
    walk = l1_rows(links)
    near = walk @ labelled.astype(np.float64)
    back = np.asarray(walk.multiply(walk.T).sum(axis=1)).ravel()
    others = np.where(np.diff(links.indptr) > 0, 1 - back, 0.0)
    far = np.divide(
        walk @ near - back * labelled, others, out=np.full(len(near), np.nan), where=others > 1e-6
    )
    return np.asarray(near + far)


def make_coverage(
    graph: Graph, labels: Labels, ranking: Ranking, expected: tuple[float, float], test: SelfTest
) -> LabelCoverage:
    """Return what the labels cover with its warnings, the gravest first; `expected` are the numbers of new nodes."""
    homophily = ranking.homophily
    counts = dict(zip(labels.classes, labels.counts.tolist(), strict=True))
    warnings = list(ranking.notes)
    if ranking.is_concentrated:
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
        len(labels.labelled),
        homophily.share,
        homophily.expected,
        ranking.reach,
        expected[0],
        tuple(warnings),
        ranking.is_concentrated,
        expected[1],
    )
