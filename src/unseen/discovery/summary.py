"""What was found, in words for the terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from unseen.discovery.result import CERTAIN, ClassCount, FoundClass

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery

WIDTH = 100
WITHHELD = (
    "Labelled classes that were hidden for a test were hardly found again, so it is not said here how many nodes and "
    "classes are new. The probabilities rank nodes at best; labels of other nodes would help more than a guess."
)
TYPICAL = 5
"""Typical members listed for each class."""


def summary(discovery: Discovery) -> str:
    """Return a page of text: the labels, the new nodes, their classes, and how far to trust it.

    Where the self-test hardly found hidden classes again, numbers and groups are withheld.
    """
    coverage = discovery.coverage
    counts = ", ".join(f"{name} {count}" for name, count in coverage.classes)
    many = "class" if len(coverage.classes) == 1 else "classes"
    shares = f"{coverage.n_labelled:,} of {coverage.n_nodes:,} nodes have a label"
    lines = textwrap.wrap(f"{shares}, of {len(coverage.classes)} {many}: {counts}.", WIDTH)
    if discovery.self_test.failed:
        lines += textwrap.wrap(WITHHELD, WIDTH)
    else:
        n = len(discovery.classes)  # the user may have asked for another number than the best
        groups = (
            "" if n == discovery.count.best else f" They were sorted into {n} group{'' if n == 1 else 's'}."
        )
        for part in (headline(discovery), counted(discovery.count) + groups):
            lines += textwrap.wrap(part, WIDTH)
        for each in discovery.classes:
            lines += ["", *_class_lines(each)]
    if discovery.absent:
        lines += ["", *textwrap.wrap(f"No node seems to be of: {', '.join(discovery.absent)}.", WIDTH)]
    lines += ["", *textwrap.wrap(f"How far to trust this: {discovery.self_test.verdict}", WIDTH)]
    for warning in coverage.warnings:
        if warning != discovery.self_test.verdict:
            lines += textwrap.wrap(f"Note: {warning}", WIDTH, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def headline(discovery: Discovery) -> str:
    """Return how many nodes are new, as a sentence whose numbers are sums of the probabilities."""
    p = discovery.nodes.column("unseen_probability").to_numpy()
    likely = p[p > CERTAIN]
    return (
        f"Of the {len(p):,} others, about {p.sum():,.0f} ({p.mean():.0%}) belong to no labelled class: about "
        f"{likely.sum():,.0f} of the {len(likely):,} with a probability above {CERTAIN:g}, and "
        f"{p.sum() - likely.sum():,.0f} of the rest."
    )


def counted(count: ClassCount) -> str:
    """Return the number of new classes as a sentence."""
    if not count.best:
        more = f" (at most {count.high})" if count.high else ""
        return f"That is too little to be a class of its own{more}."
    number = "1 new class" if count.best == 1 else f"{count.best} new classes"
    between = "" if count.low == count.high else f" (between {count.low} and {count.high})"
    proven = f" Answers prove {count.proven} of them." if count.proven else ""
    return f"That looks like {number}{between}.{proven}"


def _class_lines(each: FoundClass) -> list[str]:
    about = {"words": "words", "features": "features", "central nodes": "central"}[each.caption_kind]
    near = f", nearest to {each.nearest_seen}" if each.nearest_seen is not None else ""
    inside = "" if each.edge_ratio is None else f", {each.edge_ratio:.0%} of its edges inside"
    name = (
        "" if each.name_confidence is None else f" ({each.name}, which fits {each.name_confidence:.0%} of it)"
    )
    facts = f"{each.group}{name}: {each.size:,} nodes, mean probability {each.probability:.2f}{near}{inside}"
    lines = textwrap.wrap(facts, WIDTH, subsequent_indent="  ")
    typical = ", ".join(str(node) for node in each.members[:TYPICAL])
    for title, text in ((about, ", ".join(each.caption)), ("typical", typical)):
        if text:
            lines += textwrap.wrap(f"{title}: {text}", WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines
