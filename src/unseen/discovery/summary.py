"""What the labels cover, and what was found, in words for the terminal, and as a table for notebooks."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.discovery.groups import FEW_LABELS, MAX_CLASSES, ClassCount
from unseen.discovery.result import CERTAIN
from unseen.discovery.validation import SelfTest
from unseen.errors import counted, first_of
from unseen.graph import Graph
from unseen.labels import Labels

if TYPE_CHECKING:
    from unseen.discovery.ranking import Ranking
    from unseen.discovery.result import Discovery, Node

WIDTH = 100
NO_ESTIMATE = (
    "How many nodes and classes are missing cannot be estimated. The probabilities only rank the nodes; "
    "most likely to belong to a missing class are:"
)

NOTHING_FOUND = (
    f"No missing class was found: no node has a probability above {CERTAIN:g}, and none is proven to belong to one. "
    "Classes may be missing all the same; answers to random questions tell how many nodes at most belong to them."
)


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


def summary(discovery: Discovery) -> str:
    """Return a page of text: the labels, the new nodes, their classes, and how far to trust it.

    Where nothing can be estimated there are no numbers and classes, only the first nodes of the ranking.
    """
    coverage, verdict, n = discovery.coverage, discovery.self_test.verdict, len(discovery.classes)
    counts = ", ".join(f"{name} {count}" for name, count in coverage.classes)
    shares = f"{coverage.n_labelled:,} of {counted(coverage.n_nodes, 'node')} have a label"
    estimates = estimate_sentences(discovery)
    if discovery.has_number and n != discovery.count.best:  # the user may have asked for another number
        estimates[-1] += f" They are sorted into {counted(n, 'candidate class')}."
    parts = [f"{shares} ({counted(len(coverage.classes), 'class')}: {counts}).", *estimates]
    lines: list[str] = []
    for part in (*parts, *error_sentences(discovery), *certificate_sentences(discovery)):
        lines += textwrap.wrap(part, WIDTH)
    for each in discovery.shown_classes:
        about = {"words": "words", "features": "features", "central nodes": "central"}[each.caption_kind]
        name = f" ({each.name}, which fits {100 * (each.name_confidence or 0):.0f} % of the nodes)"
        name = "" if each.name_confidence is None else name
        rate = "" if each.fdr is not None else ", no error rate"
        near = "" if each.nearest_seen is None else f", closest labelled class {each.nearest_seen}"
        inside = "" if each.edge_ratio is None else f", {100 * each.edge_ratio:.0f} % of its edges inside"
        facts = f"{counted(each.size, 'node')}{rate}, mean probability {each.probability:.2f}{near}{inside}"
        lines += ["", *textwrap.wrap(f"{each.group}{name}: {facts}", WIDTH, subsequent_indent="  ")]
        typical = ", ".join(str(node) for node in each.members[:5])
        for title, text in ((about, ", ".join(each.caption)), ("typical", typical)):
            if text:
                line = f"{title}: {text}"
                lines += textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent="    ")
    if not discovery.has_estimate:
        ranking = ", ".join(f"{node} ({p:.2f})" for node, p in top_nodes(discovery))
        lines += textwrap.wrap(NO_ESTIMATE, WIDTH)
        lines += textwrap.wrap(ranking, WIDTH, initial_indent="  ", subsequent_indent="  ")
    if discovery.absent:
        lines += ["", *textwrap.wrap(f"No node seems to belong to: {', '.join(discovery.absent)}.", WIDTH)]
    lines += ["", *textwrap.wrap(f"How far to trust this: {verdict}", WIDTH)]
    for warning in coverage.warnings:
        if warning != verdict:
            lines += textwrap.wrap(f"Note: {warning}", WIDTH, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def certificate_sentences(discovery: Discovery) -> list[str]:
    """Return what random answers prove and estimate; nothing without any."""
    certificate = discovery.certificate
    if certificate is None:
        return []
    answers = counted(certificate.n_answers, "random answer")
    parts = [f"{certificate.sentence} ({answers}, {certificate.n_new} with a new class)."]
    if certificate.expected_share:
        classes = counted(max(certificate.missing_classes, 1), "more class")
        parts.append(
            f"They suggest that about {100 * certificate.expected_share:.1f} % of the nodes without a label belong to "
            f"classes without one (Good-Turing), in at least {classes} (Chao's lower bound)."
        )
    return parts


def estimate_sentences(discovery: Discovery) -> list[str]:
    """Return how many nodes and classes are missing, also if they are hard to recognise; nothing without an estimate.

    Where that makes no difference, the second sentence is empty.
    """
    if not discovery.has_number:
        return [NOTHING_FOUND] if discovery.has_estimate else []
    expected, most = discovery.coverage.expected_unseen, discovery.coverage.expected_if_hard
    hard = ""
    if most >= 1.1 * expected and discovery.self_test.classes:
        hardest = min(discovery.self_test.classes, key=lambda each: each.auroc).name
        hard = f"If missing classes are as hard to recognise as {hardest}, about {most:,.0f} nodes belong to them."
    return [headline(discovery), hard, count_sentence(discovery.count)]


def headline(discovery: Discovery) -> str:
    """Return how many nodes are new, as sentences whose numbers are sums of the probabilities."""
    p = discovery.nodes.column("unseen_probability").to_numpy()
    likely = p[p > CERTAIN]
    total, more = f"{p.sum():,.0f}", f"{p.sum() - likely.sum():,.0f}"
    belong = "belongs" if total == "1" else "belong"
    start = f"About {total} of the other {counted(len(p), 'node')} ({100 * p.mean():.0f} %) {belong} to missing classes"
    if not len(likely):
        return f"{start}: no node has a probability above {CERTAIN:g}."
    have = "has" if len(likely) == 1 else "have"
    return (
        f"{start}: {counted(len(likely), 'node')} {have} a probability above {CERTAIN:g} "
        f"(about {likely.sum():,.0f} of them {'is' if round(likely.sum()) == 1 else 'are'} expected to be new); "
        f"about {more} more {'is' if more == '1' else 'are'} expected among the rest."
    )


def error_sentences(discovery: Discovery) -> list[str]:
    """Return the lower bound and the error rate of the list, or why there are none."""
    at_least, sentence = discovery.new_nodes.at_least, discovery.select().sentence
    bound = [discovery.new_nodes.sentence] if at_least else []
    shown = discovery.shown_classes
    no_rate = shown and all(each.fdr is None for each in shown)
    groups = f"The candidate classes consist of nodes with a probability above {CERTAIN:g}; they have no error rate."
    return [*bound, sentence, *([groups] if no_rate else [])]


def count_sentence(count: ClassCount) -> str:
    """Return the number of new classes as a sentence."""
    if not count.best:
        return "So few nodes are expected that the number of missing classes cannot be estimated."
    proven = f" Answers confirm {count.proven} of them." if count.proven else ""
    if count.high > MAX_CLASSES:
        return f"How many missing classes they form cannot be estimated.{proven}"
    between = "" if count.low == count.high else f" (between {count.low} and {count.high})"
    seem = "seem to" if count.low else "may"
    return f"They {seem} form {counted(count.best, 'missing class')}{between}.{proven}"


def top_nodes(discovery: Discovery) -> list[tuple[Node, float]]:
    """Return the ten nodes that are most likely of a missing class, with their probabilities."""
    p = discovery.nodes.column("unseen_probability").to_numpy()
    order = np.argsort(-p, kind="stable")[:10]
    nodes = discovery.nodes.column("node").take(order).to_pylist()
    return list(zip(nodes, p[order].tolist(), strict=True))


def as_table(discovery: Discovery) -> str:
    """Return the candidate classes as HTML, or the first nodes of the ranking where nothing can be estimated."""
    from unseen.notebook import html_table

    texts, shown, rates = discovery.texts, discovery.shown_classes, " ".join(error_sentences(discovery))
    columns: dict[str, list[object]]
    if not shown and not discovery.has_estimate:
        nodes, p = zip(*top_nodes(discovery), strict=True)
        columns = {"node": [*nodes], "probability": [*p]}
        if texts:
            columns["text"] = [texts.get(node) for node in nodes]
        return html_table(f"{rates} {NO_ESTIMATE} {discovery.self_test.verdict}", columns)
    columns = {
        "class": [c.group if c.name == c.group else f"{c.name} ({c.group})" for c in shown],
        "nodes": [c.size for c in shown],
        "probability": [c.probability for c in shown],
        "error rate": ["no error rate" if c.fdr is None else f"at most {100 * c.fdr:.3g} %" for c in shown],
        "about": [", ".join(c.caption) for c in shown],
        "typical members": [", ".join(str(node) for node in c.members[:5]) for c in shown],
    }
    if texts:
        columns["text of the first"] = [texts.get(c.members[0]) for c in shown]
    sentences = [*estimate_sentences(discovery), rates, discovery.self_test.verdict]
    return html_table(" ".join(filter(None, sentences)), columns)
