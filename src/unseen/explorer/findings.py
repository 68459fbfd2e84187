"""What discovery found, for the panel and for the nodes drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.discovery.result import SENTENCES, LabelAudit
from unseen.explorer.content import Content, Ints, packed
from unseen.ids import IdArray, match_ids
from unseen.labels import Labels

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.discovery.suggest import Suggestion

TYPICAL = 10
"""Members listed for a found class."""


def rows_of(nodes: Sequence[Any], ids: IdArray) -> Ints:
    """Return the row of each node among `ids`, -1 where it is not there.

    Examples
    --------
    >>> from unseen.ids import as_ids
    >>> rows_of([3, 9], as_ids([1, 3])).tolist()
    [1, -1]
    """
    texts = np.empty(len(nodes), dtype=object)
    texts[:] = [str(node) for node in nodes]
    return match_ids(texts, ids)


class Verdicts:
    """What discovery says of the nodes drawn, in their order."""

    def __init__(self, discovery: Discovery, ids: IdArray, labels: Labels | None) -> None:
        rows = match_ids(ids, discovery.nodes.column("node").to_numpy(zero_copy_only=False))
        inside = rows >= 0

        def column(name: str) -> list[Any]:
            values = discovery.nodes.column(name).to_pylist()
            return [values[row] if row >= 0 else None for row in rows.tolist()]

        self.classes = discovery.classes
        self.probability = np.array([np.nan if p is None else p for p in column("unseen_probability")])
        self.likely: list[str | None] = column("likely_class")
        self.group: list[str | None] = column("group")
        if labels is not None:
            for row in labels.labelled.tolist():  # what is known needs no guess
                self.likely[row] = labels.classes[labels.indicator.indices[labels.indicator.indptr[row]]]
        parts = [part for part in SENTENCES if part in discovery.evidence.column_names]
        ranks = np.full((len(ids), len(parts)), np.nan)
        for k, part in enumerate(parts):
            values = np.array(
                [np.nan if v is None else v for v in discovery.evidence.column(part).to_pylist()]
            )
            ranks[inside, k] = values[rows[inside]]
        self.evidence: Content = {  # why nodes got their probabilities; ranks run from 0 to 254, 255 is none
            "parts": [dict(zip(("strong", "weak"), SENTENCES[part], strict=True)) for part in parts],
            "ranks": packed(np.where(np.isnan(ranks), 255, ranks * 254), "<u1"),
        }


def found_classes(discovery: Discovery, ids: IdArray) -> Content:
    """Return how many classes were found and what is said of each; members as rows of the page."""
    classes = []
    for each in discovery.classes:
        rows = rows_of(each.members[:TYPICAL], ids)
        classes.append(
            {
                "name": each.name,
                "size": each.size,
                "caption": list(each.caption),
                "captionKind": each.caption_kind,
                "members": rows[rows >= 0].tolist(),
                "nearest": each.nearest_seen,
                "edgeRatio": _number(each.edge_ratio),
                "probability": _number(each.probability),
            }
        )
    count = discovery.count
    curve = [[int(k), float(score)] for k, score in count.curve if np.isfinite(score)]
    return {
        "count": {"best": count.best, "low": count.low, "high": count.high, "curve": curve},
        "classes": classes,
    }


def audit_of(discovery: Discovery | None, labels: Labels | None) -> Content | None:
    """Return what the labels cover; without discovery, their counts alone."""
    if discovery is not None:
        audit = discovery.audit
    elif labels is None:
        return None
    else:
        counts = tuple(zip(labels.classes, labels.counts.tolist(), strict=True))
        audit = LabelAudit(counts, labels.n_nodes, len(labels.labelled), None, None, None, np.nan, ())
    return {
        "classes": [[name, int(count)] for name, count in audit.classes],
        "nodes": audit.n_nodes,
        "labelled": audit.n_labelled,
        "homophily": _number(audit.homophily),
        "expectedHomophily": _number(audit.expected_homophily),
        "expectedUnseen": _number(audit.expected_unseen),
        "warnings": list(audit.warnings),
    }


def self_test_of(discovery: Discovery) -> Content:
    """Return how far the probabilities can be trusted."""
    test = discovery.self_test
    classes = [
        {"name": c.name, "labels": c.n_labels, "auroc": float(c.auroc)}
        for c in test.classes
        if np.isfinite(c.auroc)
    ]
    return {"verdict": test.verdict, "classes": classes}


def suggested(suggestions: Sequence[Suggestion], ids: IdArray) -> list[Content]:
    """Return the suggestions, each with its row of the page."""
    rows = rows_of([s.node for s in suggestions], ids).tolist()
    return [
        {
            "node": str(s.node),
            "row": row if row >= 0 else None,
            "reason": s.reason,
            "probability": _number(s.unseen_probability) or 0.0,
            "likely": s.likely_class,
            "group": s.group,
        }
        for s, row in zip(suggestions, rows, strict=True)
    ]


def _number(value: float | None) -> float | None:
    return round(float(value), 4) if value is not None and np.isfinite(value) else None
