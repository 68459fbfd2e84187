"""What was found, in words for the terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from unseen.discovery.result import CERTAIN, ClassCount, FoundClass

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery

WIDTH = 100
TYPICAL = 5
"""Typical members listed for each class."""


def summary(discovery: Discovery) -> str:
    """Return a page of text: the labels, the new nodes, their classes, and how far to trust it."""
    audit = discovery.audit
    counts = ", ".join(f"{name} {count}" for name, count in audit.classes)
    certain = sum(each.size for each in discovery.classes)
    many = "class" if len(audit.classes) == 1 else "classes"
    n = len(discovery.classes)  # the user may have asked for another number than the best
    groups = "" if n == discovery.count.best else f" They were sorted into {n} group{'' if n == 1 else 's'}."
    parts = [
        f"{audit.n_labelled:,} of {audit.n_nodes:,} nodes have a label, of {len(audit.classes)} {many}: {counts}.",
        f"Of the {discovery.nodes.num_rows:,} others, about {audit.expected_unseen:,.0f} belong to no labelled class; "
        f"{certain:,} of them with a probability above {CERTAIN:g}.",
        counted(discovery.count) + groups,
    ]
    lines = [line for part in parts for line in textwrap.wrap(part, WIDTH)]
    for each in discovery.classes:
        lines += ["", *_class_lines(each)]
    lines += ["", *textwrap.wrap(f"How far to trust this: {discovery.self_test.verdict}", WIDTH)]
    for warning in audit.warnings:
        if warning != discovery.self_test.verdict:
            lines += textwrap.wrap(f"Note: {warning}", WIDTH, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def counted(count: ClassCount) -> str:
    """Return the number of new classes as a sentence."""
    if not count.best:
        more = f" (at most {count.high})" if count.high else ""
        return f"That is too little to be a class of its own{more}."
    number = "1 new class" if count.best == 1 else f"{count.best} new classes"
    between = "" if count.low == count.high else f" (between {count.low} and {count.high})"
    return f"That looks like {number}{between}."


def _class_lines(each: FoundClass) -> list[str]:
    about = {"words": "words", "features": "features", "central nodes": "central"}[each.caption_kind]
    near = f", nearest to {each.nearest_seen}" if each.nearest_seen is not None else ""
    inside = "" if each.edge_ratio is None else f", {each.edge_ratio:.0%} of its edges inside"
    lines = [f"{each.name}: {each.size:,} nodes, mean probability {each.probability:.2f}{near}{inside}"]
    typical = ", ".join(str(node) for node in each.members[:TYPICAL])
    for title, text in ((about, ", ".join(each.caption)), ("typical", typical)):
        if text:
            lines += textwrap.wrap(f"{title}: {text}", WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines
