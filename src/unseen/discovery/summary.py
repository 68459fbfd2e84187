"""What was found, in words for the terminal, and as a table for notebooks."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from unseen.discovery.groups import MAX_CLASSES
from unseen.discovery.result import CERTAIN, ClassCount, FoundClass
from unseen.errors import counted

if TYPE_CHECKING:
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


def summary(discovery: Discovery) -> str:
    """Return a page of text: the labels, the new nodes, their classes, and how far to trust it.

    Where nothing can be estimated there are no numbers and classes, only the first nodes of the ranking.
    """
    coverage = discovery.coverage
    counts = ", ".join(f"{name} {count}" for name, count in coverage.classes)
    shares = f"{coverage.n_labelled:,} of {counted(coverage.n_nodes, 'node')} have a label"
    lines = textwrap.wrap(f"{shares} ({counted(len(coverage.classes), 'class')}: {counts}).", WIDTH)
    estimates, n = estimate_sentences(discovery), len(discovery.classes)
    if discovery.has_number and n != discovery.count.best:  # the user may have asked for another number
        estimates[-1] += f" They are sorted into {counted(n, 'candidate class')}."
    for part in (*estimates, *error_sentences(discovery), *certificate_sentences(discovery)):
        lines += textwrap.wrap(part, WIDTH)
    for each in discovery.shown_classes:
        lines += ["", *_class_lines(each)]
    if not discovery.has_estimate:
        lines += textwrap.wrap(NO_ESTIMATE, WIDTH)
        ranking = ", ".join(f"{node} ({p:.2f})" for node, p in top_nodes(discovery))
        lines += textwrap.wrap(ranking, WIDTH, initial_indent="  ", subsequent_indent="  ")
    if discovery.absent:
        lines += ["", *textwrap.wrap(f"No node seems to belong to: {', '.join(discovery.absent)}.", WIDTH)]
    lines += ["", *textwrap.wrap(f"How far to trust this: {discovery.self_test.verdict}", WIDTH)]
    for warning in coverage.warnings:
        if warning != discovery.self_test.verdict:
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
    """Return how many nodes and classes are missing; nothing without an estimate."""
    if not discovery.has_number:
        return [NOTHING_FOUND] if discovery.has_estimate else []
    return [headline(discovery), hard_sentence(discovery), count_sentence(discovery.count)]


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


def hard_sentence(discovery: Discovery) -> str:
    """Return how many nodes are new if they are hard to recognise; nothing where that makes no difference."""
    expected, most = discovery.coverage.expected_unseen, discovery.coverage.expected_if_hard
    if most < 1.1 * expected or not discovery.self_test.classes:
        return ""
    hardest = min(discovery.self_test.classes, key=lambda each: each.auroc).name
    return (
        f"If missing classes are as hard to recognise as {hardest}, about {most:,.0f} nodes belong to them."
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

    texts = discovery.texts
    rates = " ".join(error_sentences(discovery))
    if not discovery.shown_classes and not discovery.has_estimate:
        ranking = top_nodes(discovery)
        columns: dict[str, list[object]] = {
            "node": [node for node, _ in ranking],
            "probability": [p for _, p in ranking],
        }
        if texts:
            columns["text"] = [texts.get(node) for node, _ in ranking]
        return html_table(f"{rates} {NO_ESTIMATE} {discovery.self_test.verdict}", columns)
    shown = discovery.shown_classes
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


def _class_lines(each: FoundClass) -> list[str]:
    about = {"words": "words", "features": "features", "central nodes": "central"}[each.caption_kind]
    near = f", closest labelled class {each.nearest_seen}" if each.nearest_seen is not None else ""
    inside = "" if each.edge_ratio is None else f", {100 * each.edge_ratio:.0f} % of its edges inside"
    name = ""
    if each.name_confidence is not None:
        name = f" ({each.name}, which fits {100 * each.name_confidence:.0f} % of the nodes)"
    rate = "" if each.fdr is not None else ", no error rate"
    size = f"{counted(each.size, 'node')}{rate}"
    facts = f"{each.group}{name}: {size}, mean probability {each.probability:.2f}{near}{inside}"
    lines = textwrap.wrap(facts, WIDTH, subsequent_indent="  ")
    typical = ", ".join(str(node) for node in each.members[:5])
    for title, text in ((about, ", ".join(each.caption)), ("typical", typical)):
        if text:
            lines += textwrap.wrap(f"{title}: {text}", WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines
