"""What discovery finds, as frozen values: nodes, found classes, their number, the test, what labels cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.certificate import Certificate
from unseen.discovery.guarantees import (
    FDR,
    ErrorRates,
    Guarantee,
    NewNodes,
    Selection,
    check_fdr,
    describe_list,
)
from unseen.embedding import Embedding
from unseen.errors import InputError, counted
from unseen.ids import as_ids, match_ids
from unseen.labels import Labels

if TYPE_CHECKING:
    import pyarrow as pa

    from unseen.discovery.groups import ClassCount, FoundClass
    from unseen.discovery.summary import LabelCoverage
    from unseen.discovery.validation import SelfTest
    from unseen.graph import Graph

Node = str | int
SENTENCES = {
    "no_class_fits": ("no labelled class fits it", "a labelled class fits it well"),
    "unlike_labelled": ("labels are rare among nodes like it", "many nodes like it are labelled"),
    "neighbourhood": ("its neighbours look new too", "its neighbours look like labelled classes"),
}
"""What a high and a low rank of each part of the evidence mean."""
EVIDENCE = tuple(SENTENCES)
"""Columns of `Discovery.evidence` beside ``node``; each is a rank among the unlabelled nodes, from 0 to 1."""
CERTAIN = 0.5
"""Probability from which a node counts as a member of a missing class."""


def texts_of(graph: Graph, nodes: Iterable[Node]) -> dict[Node, str]:
    """Return the texts of these nodes, of those that have one."""
    listed = list(dict.fromkeys(nodes))
    if graph.texts is None or not listed:
        return {}
    texts = graph.texts[match_ids(as_ids(listed), graph.node_ids)]
    return {node: text for node, text in zip(listed, texts, strict=True) if text}


@dataclass(frozen=True)
class Reason:
    """One part of the evidence about a node.

    Parameters
    ----------
    part : str
        One of `EVIDENCE`.
    rank : float
        Share of the unlabelled nodes for which this part speaks less for a new class.
    sentence : str
        The same in words.

    Examples
    --------
    >>> Reason("no_class_fits", 0.97, "no labelled class fits it").part
    'no_class_fits'
    """

    part: str
    rank: float
    sentence: str


@dataclass(frozen=True, eq=False)
class Discovery:
    """Everything that was found out about what the labels miss.

    Parameters
    ----------
    nodes : pyarrow.Table
        One row for each unlabelled node, in the order of the graph: ``node``, ``unseen_probability`` (of
        belonging to a missing class), ``likely_class`` (its class otherwise; null where no class is
        labelled), ``group`` (the found class it is in, null for none), ``name`` (the class known by name that
        it is of, null where none fits or none was given) and ``selected`` (whether it is in the list with the false
        discovery rate `fdr`). Groups consist of the selected nodes; where none is selected, of nodes with a
        probability above 0.5, which have no error rate.
    classes : tuple of FoundClass
        The found classes, the largest first.
    count : ClassCount
        How many there are.
    self_test : SelfTest
        How far to trust the probabilities.
    coverage : LabelCoverage
        What the labels cover.
    embedding : Embedding
        The vectors of all nodes that it worked with.
    evidence : pyarrow.Table
        Where the probabilities come from: ``node`` and the columns `EVIDENCE`, null where a part was not used; and
        ``doubt``, the probability of another labelled class than ``likely_class``, if it is of one; ``p_value``, the
        share of labelled nodes that score at least as high without their label, and ``q_value``, the lowest false
        discovery rate of a list that has the node; both null where the guarantee does not hold.
    labels : Labels
        The labels that it started from.
    guarantee : Guarantee
        Whether the list and the bounds have an error rate (``holds``), and why not (``reason``).
    fdr : float
        False discovery rate of the list of selected nodes.
    bounds : ErrorRates or None
        Bounds of the numbers of nodes; None where the guarantee does not hold.
    absent : tuple of str
        Classes given by name that no node seems to be of.
    questions : tuple
        Nodes whose classes settle how many classes are missing: a typical one of each fine group without an answer.
    texts : mapping
        Texts of the nodes that notebooks show, where the graph has texts.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(200, 4, random_state=0)
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
    >>> result = unseen.discover(data.graph, split.seen_labels, random_state=0)
    >>> result.nodes.column_names
    ['node', 'unseen_probability', 'likely_class', 'group', 'name', 'selected']
    >>> len(result.reasons(result.classes[0].members[0]))
    3
    """

    nodes: pa.Table
    classes: tuple[FoundClass, ...]
    count: ClassCount
    self_test: SelfTest
    coverage: LabelCoverage
    embedding: Embedding
    evidence: pa.Table
    labels: Labels
    guarantee: Guarantee
    fdr: float = FDR
    bounds: ErrorRates | None = None
    absent: tuple[str, ...] = ()
    questions: tuple[Node, ...] = ()
    texts: Mapping[Node, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        classes = ", ".join(f"{c.name}: {c.size}" for c in self.classes) or "none"
        found = f"candidate classes: {classes}" if self.has_estimate else "no estimate of missing classes"
        return f"Discovery({counted(self.nodes.num_rows, 'unlabelled node')}, {found})"

    def __str__(self) -> str:
        return self.summary().rstrip("\n")

    def _repr_html_(self) -> str:
        from unseen.discovery.summary import as_table

        return as_table(self)

    @property
    def has_estimate(self) -> bool:
        """Whether the number of missing nodes and classes is estimated; if not, probabilities only rank the nodes.

        False where the leave-one-class-out test could not run, or recovered the labelled classes poorly.
        """
        return self.self_test.auroc is not None and not self.self_test.failed

    @property
    def has_number(self) -> bool:
        """Whether the number of missing nodes is estimated.

        False without an estimate, and where no node is likely or proven to belong to a missing class: there may be
        none, or the missing classes may look like labelled ones.
        """
        is_likely = (self.nodes.column("unseen_probability").to_numpy() > CERTAIN).any()
        return self.has_estimate and bool(is_likely or self.bounds is None or self.bounds.at_least)

    @property
    def shown_classes(self) -> tuple[FoundClass, ...]:
        """The found classes that outputs show: none where nothing is estimated and no node is selected."""
        return tuple(each for each in self.classes if self.has_estimate or each.fdr is not None)

    @property
    def new_nodes(self) -> NewNodes:
        """How many unlabelled nodes belong to missing classes: the expected number and a lower bound."""
        expected: tuple[float | None, float | None] = (None, None)
        if self.has_number:
            expected = self.coverage.expected_unseen, self.coverage.expected_if_hard
        return NewNodes(*expected, None if self.bounds is None else self.bounds.at_least, self.guarantee)

    def select(self, fdr: float | None = None) -> Selection:
        """Return the nodes of a list with a false discovery rate, and a sentence about it.

        Parameters
        ----------
        fdr : float, optional
            Lists like this are on average at most this share false; that of :func:`unseen.discover` when not given.

        Examples
        --------
        >>> import unseen
        >>> data = unseen.planted_partition(200, 4, random_state=0)
        >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
        >>> result = unseen.discover(data.graph, split.seen_labels, random_state=0)
        >>> selected = result.select(fdr=0.2)
        >>> len(selected) >= len(result.select(fdr=0.1)), selected.sentence[-37:]
        (True, 'same rate, from the labelled classes.')
        """
        fdr = self.fdr if fdr is None else check_fdr(fdr)
        nodes: list[Node] = []
        if self.bounds is not None:
            rows = np.flatnonzero(self.evidence.column("q_value").to_numpy() <= fdr)
            nodes = self.evidence.column("node").take(rows).to_pylist()
        at_least = self.new_nodes.at_least
        return Selection(nodes, fdr=fdr, sentence=describe_list(len(nodes), fdr, at_least, self.guarantee))

    def at_most_false(self, above: float) -> int | None:
        """Return how many nodes with a probability above this belong to labelled classes, at most.

        The bound holds for all values of `above` at once, with a probability of 95 %. None where the guarantee does
        not hold.
        """
        if self.bounds is None:
            return None
        listed = self.nodes.column("unseen_probability").to_numpy() > above
        return self.bounds.at_most_false(self.evidence.column("p_value").to_numpy()[listed])

    def reasons(self, node: Node) -> tuple[Reason, ...]:
        """Return why an unlabelled node got its probability, the strongest part first."""
        nodes = self.evidence.column("node").to_numpy()
        row = int(match_ids(as_ids([node]), as_ids(nodes))[0]) if len(nodes) else -1
        if row < 0:
            msg = f"node {node!r} is not among the {len(nodes)} unlabelled nodes, so it has no probability"
            raise InputError(msg)
        reasons = []
        for part, sentences in SENTENCES.items():
            rank = self.evidence.column(part)[row].as_py()
            if rank is not None:
                more = f"more so than for {np.floor(100 * max(rank, 1 - rank)):.0f} % of the unlabelled nodes"
                reasons.append(Reason(part, rank, f"{sentences[rank < 0.5]} ({more})"))
        return tuple(sorted(reasons, key=lambda each: -abs(each.rank - 0.5)))

    def accept(self, names: Mapping[str, str], *, at_least: float = 0.0, fdr: float | None = None) -> Labels:
        """Return the labels with found groups added to them as classes.

        The labels of a group were not drawn at random. A later discovery with them has no error rate, and
        :meth:`predictions` reports no candidates for the groups without a name: name all that you can at once.

        Parameters
        ----------
        names : mapping of str to str
            From a group, such as ``new-1``, to the class that its nodes get. Several groups may get one name. A
            group without a name (an empty one, or none given) is left out.
        at_least : float
            Only nodes whose probability of being new is at least this.
        fdr : float, optional
            Only nodes of the list with this false discovery rate; those of the groups when not given.

        Examples
        --------
        >>> import unseen
        >>> data = unseen.planted_partition(200, 4, random_state=0)
        >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
        >>> result = unseen.discover(data.graph, split.seen_labels, random_state=0)
        >>> result.accept({"new-1": "mine"}, at_least=0.8).classes
        ('c1', 'c2', 'c3', 'mine')
        """
        from unseen.discovery.tables import accept

        return accept(self.labels, self.nodes_with_rates(), names, at_least=at_least, fdr=fdr)

    def nodes_with_rates(self) -> pa.Table:
        """Return `nodes` with the column ``q_value`` of `evidence`, as :meth:`save` writes it."""
        return self.nodes.append_column("q_value", self.evidence.column("q_value"))

    def predictions(self) -> pa.Table:
        """Return a class for every node, in the order of the graph.

        Returns
        -------
        pyarrow.Table
            ``node``, ``class``, ``probability`` and ``status``. The status is ``labelled`` (the given class, several
            joined by ``|``, with probability 1), ``predicted`` (the labelled class that fits best) or ``candidate``
            (a selected node: its found class such as ``new-1``, or the name of that). The probability of a predicted
            class is that of belonging to a labelled class, times that of this class among them; the probability of a
            candidate is that of belonging to a missing class.

        Examples
        --------
        >>> import unseen
        >>> data = unseen.planted_partition(200, 4, random_state=0)
        >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
        >>> table = unseen.discover(data.graph, split.seen_labels, random_state=0).predictions()
        >>> table.column_names, table.num_rows
        (['node', 'class', 'probability', 'status'], 200)
        """
        from unseen.discovery.tables import predict_classes

        return predict_classes(self.labels, self)

    def save_predictions(self, target: Any, graph: Any = None) -> None:
        """Write the table of :meth:`predictions` to a file, or into a networkx graph.

        Parameters
        ----------
        target : path or networkx graph
            By suffix: .csv, .tsv (also .gz), .parquet, .json; a SQLite (.db, .sqlite) or DuckDB (.duckdb) database,
            which gets the table ``unseen_predictions`` and keeps its others; .graphml. A networkx graph gets the node
            attributes ``unseen_class``, ``unseen_probability`` and ``unseen_status``, which a .graphml has, too.
        graph : Graph or networkx graph, optional
            The graph that was searched, for a .graphml, which holds its edges, too.

        Examples
        --------
        >>> import networkx, unseen
        >>> network = unseen.planted_partition(200, 4, random_state=0).graph.to_networkx()
        >>> found = unseen.discover(network, {0: "a", 1: "b"}, random_state=0)
        >>> found.save_predictions(network)
        >>> network.nodes[0]["unseen_class"], network.nodes[0]["unseen_status"]
        ('a', 'labelled')
        """
        from unseen.discovery.tables import write_predictions

        write_predictions(target, self.predictions(), graph)

    def summary(self) -> str:
        """Return what was found, in words for the terminal."""
        from unseen.discovery.summary import summary

        return summary(self)

    @property
    def certificate(self) -> Certificate | None:
        """What answers to random questions prove about the classes without a label; None without such answers."""
        certificate = self.labels.certificate()
        return certificate if certificate.n_answers else None

    def to_json(self, *, every_member: bool = False) -> dict[str, Any]:
        """Return everything but the table of nodes, for JSON; estimates are None where there is no basis for them.

        Parameters
        ----------
        every_member : bool
            List all nodes of a found class instead of the most typical ones.
        """
        known, new = self.has_estimate, self.new_nodes
        expected = {"expected_unseen": new.expected, "expected_if_hard": new.at_most_expected}
        return {
            "method": self.embedding.method,
            "unlabelled": self.nodes.num_rows,
            "has_estimate": known,
            "expected_unseen": new.expected,
            "guarantee": {
                **asdict(self.guarantee),
                "fdr": self.fdr,
                "selected": int(np.sum(self.nodes.column("selected").to_numpy())),
                "at_least": new.at_least,
                "sentence": self.select().sentence,
            },
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "count": self.count.to_dict() if known else None,
            "classes": [each.to_dict(every_member=every_member) for each in self.shown_classes],
            "absent": list(self.absent),
            "questions": list(self.questions),
            "self_test": {**asdict(self.self_test), "failed": self.self_test.failed},
            "coverage": self.coverage.to_dict() | expected,
        }

    def plot(self, *, ax: Any = None, random_state: Any = 0) -> Any:
        """Draw the map of the nodes, found classes in colour and all others grey; return matplotlib's axes."""
        groups = dict(zip(*(self.nodes[name].to_pylist() for name in ("node", "group")), strict=True))
        return self.embedding.plot(groups, ax=ax, random_state=random_state)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the nodes (.parquet, .csv, .tsv, also .gz) or, as .json, everything else with all members."""
        from unseen.discovery.tables import write_result

        write_result(path, self.nodes_with_rates(), self.to_json(every_member=True))
