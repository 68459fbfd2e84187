"""What was found, in words for the terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from unseen.discovery.result import CERTAIN, ClassCount, FoundClass

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery

WIDTH = 100
TYPICAL = 5
"""Typical members told of each class."""


def summary(found: Discovery) -> str:
    """Return a page of text: the labels, the new nodes, their classes, and how far to trust it.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(300, 5, random_state=0)
    >>> split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c4"], random_state=0)
    >>> print(summary(unseen.discover(data.graph, split.seen_labels, random_state=0)).splitlines()[0])
    70 of 300 nodes have a label, of 4 classes: c0 17, c1 18, c2 19, c3 16.
    """
    audit = found.audit
    counts = ", ".join(f"{name} {count}" for name, count in audit.classes)
    certain = sum(found_class.size for found_class in found.classes)
    many = "class" if len(audit.classes) == 1 else "classes"
    parts = [
        f"{audit.n_labelled:,} of {audit.n_nodes:,} nodes have a label, of {len(audit.classes)} {many}: {counts}.",
        f"Of the {found.nodes.num_rows:,} others, about {audit.expected_unseen:,.0f} belong to no labelled class; "
        f"{certain:,} of them with a probability above {CERTAIN:g}.",
        counted(found.count) + _sorted(found),
    ]
    lines = [line for part in parts for line in textwrap.wrap(part, WIDTH)]
    for found_class in found.classes:
        lines += ["", *_class_lines(found_class)]
    lines += ["", *textwrap.wrap(f"How far to trust this: {found.self_test.verdict}", WIDTH)]
    for warning in audit.warnings:
        if warning != found.self_test.verdict:
            lines += textwrap.wrap(f"Note: {warning}", WIDTH, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def counted(count: ClassCount) -> str:
    """Return the number of new classes as a sentence.

    Examples
    --------
    >>> counted(ClassCount(2, 1, 4))
    'That looks like 2 new classes (between 1 and 4).'
    """
    if not count.best:
        more = f" (at most {count.high})" if count.high else ""
        return f"That is too little to be a class of its own{more}."
    number = "1 new class" if count.best == 1 else f"{count.best} new classes"
    between = "" if count.low == count.high else f" (between {count.low} and {count.high})"
    return f"That looks like {number}{between}."


def _sorted(found: Discovery) -> str:
    """Return what there is to say where the user asked for another number of groups."""
    n = len(found.classes)
    return "" if n == found.count.best else f" They were sorted into {n} group{'' if n == 1 else 's'}."


def _class_lines(found: FoundClass) -> list[str]:
    about = {"words": "words", "features": "features", "central nodes": "central"}[found.caption_kind]
    near = f", nearest to {found.nearest_seen}" if found.nearest_seen is not None else ""
    inside = "" if found.edge_ratio is None else f", {found.edge_ratio:.0%} of its edges inside"
    lines = [f"{found.name}: {found.size:,} nodes, mean probability {found.probability:.2f}{near}{inside}"]
    typical = ", ".join(str(node) for node in found.members[:TYPICAL])
    for title, text in ((about, ", ".join(found.caption)), ("typical", typical)):
        if text:
            lines += textwrap.wrap(f"{title}: {text}", WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines
