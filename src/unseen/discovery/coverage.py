"""What the labels cover, and what about them and the graph should worry the reader."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from unseen.discovery.validation import SelfTest
from unseen.errors import first_of
from unseen.graph import Graph
from unseen.labels import Labels

if TYPE_CHECKING:
    from unseen.discovery.ranking import Ranking

FEW_LABELS = 5
"""A class with fewer labelled nodes gets a warning."""


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


def make_coverage(
    graph: Graph, labels: Labels, ranking: Ranking, expected: tuple[float, float], test: SelfTest
) -> LabelCoverage:
    """Return what the labels cover with its warnings, the gravest first; `expected` are the numbers of new nodes."""
    homophily, warnings = ranking.homophily, []
    counts = dict(zip(labels.classes, labels.counts.tolist(), strict=True))
    if ranking.is_learned and not ranking.learns:
        warnings.append(
            f"The embedding was made by {ranking.embedding.method}, which learns from labels: the leave-one-class-out "
            "test looks better than it should if the embedding was learned from these labels."
        )
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
    if empty := [name for name, count in counts.items() if not count]:
        warnings.append(
            f"No node is labelled {first_of(empty)}, so nothing is learned about it; describe such a class with "
            "`names` (--name) to look for it."
        )
    if single := [name for name, count in counts.items() if count == 1]:
        listed = first_of(single, 20)
        warnings.append(f"Not used in the leave-one-class-out test, because they have one label: {listed}.")
    if few := [f"{name} ({count})" for name, count in counts.items() if 1 < count < FEW_LABELS]:
        warnings.append(f"Few nodes are labelled {first_of(few)}; more labels there would help.")
    if labels.is_multilabel:
        warnings.append(
            "Nodes have several labels: the probability is that of having none of the labelled classes, so a node "
            "with a labelled and a missing class is not found."
        )
    return LabelCoverage(
        classes=tuple(counts.items()),
        n_nodes=graph.n_nodes,
        n_labelled=len(labels.labelled),
        homophily=homophily.share,
        expected_homophily=homophily.expected,
        reach=ranking.reach,
        expected_unseen=expected[0],
        warnings=tuple(warnings),
        is_concentrated=ranking.is_concentrated,
        expected_if_hard=expected[1],
    )
