"""What discovery found, for the panel and for the nodes drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pyarrow as pa

from unseen.discovery.result import SENTENCES, Discovery
from unseen.discovery.sampling import LabelCoverage
from unseen.explorer.content import Content, pack, pack_probabilities
from unseen.ids import IdArray, Ints, match_ids
from unseen.labels import Labels

TYPICAL = 10
"""Members listed for a found class."""


def find_rows(nodes: Sequence[Any], ids: IdArray) -> Ints:
    """Return the row of each node among `ids`, -1 where it is not there."""
    texts = np.empty(len(nodes), dtype=object)
    texts[:] = [str(node) for node in nodes]
    return match_ids(texts, ids)


class Verdicts:
    """What discovery says of the nodes drawn, in their order."""

    def __init__(self, discovery: Discovery, ids: IdArray, labels: Labels | None) -> None:
        rows = match_ids(ids, discovery.nodes.column("node").to_numpy(zero_copy_only=False)).tolist()

        def column(table: pa.Table, name: str) -> list[Any]:
            values = table.column(name).to_pylist()
            return [values[row] if row >= 0 else None for row in rows]

        self.classes = discovery.classes
        # in numbers, None becomes NaN
        self.probability = np.array(column(discovery.nodes, "unseen_probability"), dtype=np.float64)
        self.likely: list[str | None] = column(discovery.nodes, "likely_class")
        self.group: list[str | None] = column(discovery.nodes, "group")
        if labels is not None:
            for row in labels.labelled.tolist():  # what is known needs no guess
                self.likely[row] = labels.classes[labels.indicator.indices[labels.indicator.indptr[row]]]
        parts = [part for part in SENTENCES if part in discovery.evidence.column_names]
        ranks = np.array([column(discovery.evidence, part) for part in parts], dtype=np.float64).T
        self.evidence: Content = {  # why nodes got their probabilities; ranks run from 0 to 254, 255 is none
            "parts": [dict(zip(("strong", "weak"), SENTENCES[part], strict=True)) for part in parts],
            "ranks": pack(np.where(np.isnan(ranks), 255, ranks * 254)),
        }


def describe_classes(discovery: Discovery, ids: IdArray) -> Content:
    """Return how many classes were found and their descriptions; members and questions as rows of the page."""
    classes = []
    for each in discovery.classes:
        rows = find_rows(each.members[:TYPICAL], ids)
        classes.append({**as_content(replace(each, members=())), "members": rows[rows >= 0].tolist()})
    curve = tuple(point for point in discovery.count.curve if np.isfinite(point[1]))
    questions = find_rows(discovery.questions, ids)
    return {
        "count": as_content(replace(discovery.count, curve=curve)) if discovery.has_number else None,
        "classes": classes,
        "failed": not discovery.has_estimate,
        "questions": questions[questions >= 0].tolist(),
    }


def error_rates(discovery: Discovery, ids: IdArray) -> Content:
    """Return bounds for every position of a slider, and lists at several error rates; `q` is that of each node."""
    sentence = discovery.new_nodes.sentence
    if not discovery.guarantee.holds:
        return {"holds": False, "sentence": sentence}
    probability = discovery.nodes.column("unseen_probability").to_numpy()
    places = [k / 100 for k in range(100)]
    rows = match_ids(ids, discovery.evidence.column("node").to_numpy(zero_copy_only=False))
    q = discovery.evidence.column("q_value").to_numpy()
    lists = [discovery.select(fdr) for fdr in dict.fromkeys((0.05, discovery.fdr, 0.2))]
    return {
        "holds": True,
        "sentence": sentence,
        "above": [int((probability > place).sum()) for place in places],
        "at_most_false": [discovery.at_most_false(place) for place in places],
        "lists": [{"fdr": each.fdr, "sentence": each.sentence} for each in lists],
        "q": pack_probabilities(np.where(rows >= 0, q[rows], np.nan)),
    }


def describe_coverage(discovery: Discovery | None, labels: Labels | None) -> Content | None:
    """Return what the labels cover; without discovery, their counts alone."""
    if discovery is not None:
        expected = discovery.coverage.expected_unseen if discovery.has_number else np.nan
        if_hard = discovery.coverage.expected_if_hard if discovery.has_number else np.nan
        return as_content(replace(discovery.coverage, expected_unseen=expected, expected_if_hard=if_hard))
    if labels is None:
        return None
    counts = tuple(zip(labels.classes, labels.counts.tolist(), strict=True))
    return as_content(
        LabelCoverage(counts, labels.n_nodes, len(labels.labelled), None, None, None, np.nan, ())
    )


def locate_entries(entries: Sequence[Content], ids: IdArray) -> list[Content]:
    """Return suggestions, or doubtful labels, each with the row of its node on the page, None where it is not drawn."""
    rows = find_rows([each["node"] for each in entries], ids).tolist()
    return [
        {**_plain(each), "node": str(each["node"]), "row": row if row >= 0 else None}
        for each, row in zip(entries, rows, strict=True)
    ]


def as_content(result: Any) -> Content:
    """Return the fields of a result under their own names; a number that is not finite is none."""
    content: Content = _plain(asdict(result))
    return content


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return round(float(value), 4) if np.isfinite(value) else None
    return value
