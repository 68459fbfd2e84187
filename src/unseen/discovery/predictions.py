"""One class for every node: the label it has, the labelled class that fits best, or a candidate class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from unseen.errors import logger
from unseen.labels import Labels

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery

Row = tuple[str, float | None, str]
"""Class, probability and status of a node."""


def predict_classes(found: Discovery) -> pa.Table:
    """Return the table of :meth:`unseen.Discovery.predictions`."""
    rows = dict(zip(found.nodes["node"].to_pylist(), _unlabelled_rows(found), strict=True))
    labels = found.labels
    return _table(
        found.embedding.node_ids.tolist(), rows if labels is None else rows | _labelled_rows(labels)
    )


def labels_as_predictions(labels: Labels) -> pa.Table:
    """Return the same table for a graph whose nodes all have labels, where there is nothing to predict."""
    return _table(labels.node_ids.tolist(), _labelled_rows(labels))


def _labelled_rows(labels: Labels) -> dict[Any, Row]:
    return {node: ("|".join(classes), 1.0, "labelled") for node, classes in labels.to_lists().items()}


def _unlabelled_rows(found: Discovery) -> list[Row]:
    """Return a row for each entry of `found.nodes`; selected nodes are candidates, all others are predicted."""
    has_estimate = found.has_estimate
    # with one labelled class and no estimate there is nothing that a probability could be based on
    has_probability = has_estimate or len(found.coverage.classes) > 1
    if not has_estimate:
        limit = "its probability assumes that the node belongs to a labelled class"
        every = (
            "every node without a label that is not selected"
            if found.select()
            else "every node without a label"
        )
        logger.warning(
            "missing classes could not be estimated, so %s gets the labelled class that fits best; %s",
            every,
            limit if has_probability else "with one labelled class, there is no probability",
        )
    elif not found.select():
        logger.warning("no candidates are reported. %s", found.select().sentence)
    names = ("selected", "group", "name", "likely_class", "unseen_probability")
    columns = [found.nodes[name].to_pylist() for name in names]
    rows: list[Row] = []
    doubts = found.evidence["doubt"].to_pylist()
    for selected, group, name, likely, p, doubt in zip(*columns, doubts, strict=True):
        if selected and group is not None:
            rows.append((name or group, p, "candidate"))
        else:
            labelled = 1 - p if has_estimate else 1.0
            rows.append((likely, labelled * (1 - doubt) if has_probability else None, "predicted"))
    return rows


def _table(nodes: list[Any], rows: dict[Any, Row]) -> pa.Table:
    classes, probabilities, statuses = zip(*(rows[node] for node in nodes), strict=True)
    return pa.table(
        {
            "node": nodes,
            "class": pa.array(classes, pa.string()),
            "probability": pa.array(probabilities, pa.float64()),
            "status": pa.array(statuses, pa.string()),
        }
    )
