"""One class for every node: the label it has, the labelled class that fits best, or a candidate class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from unseen.errors import logger
from unseen.labels import Labels

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery


def predict_classes(labels: Labels, found: Discovery | None = None) -> pa.Table:
    """Return the table of :meth:`unseen.Discovery.predictions`; without `found` all nodes have a label."""
    rows = {} if found is None else _predict_unlabelled(found)
    rows |= {node: ("|".join(classes), 1.0, "labelled") for node, classes in labels.to_lists().items()}
    nodes = labels.node_ids.tolist()
    classes, probabilities, statuses = zip(*(rows[node] for node in nodes), strict=True)
    return pa.table(
        {
            "node": nodes,
            "class": pa.array(classes, pa.string()),
            "probability": pa.array(probabilities, pa.float64()),
            "status": pa.array(statuses, pa.string()),
        }
    )


def _predict_unlabelled(found: Discovery) -> dict[Any, tuple[str, float | None, str]]:
    """Return class, probability and status of the unlabelled nodes; the selected ones are candidates."""
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
    rows: dict[Any, tuple[str, float | None, str]] = {}
    for node, doubt in zip(found.nodes.to_pylist(), found.evidence["doubt"].to_pylist(), strict=True):
        p = node["unseen_probability"]
        if node["selected"] and node["group"] is not None:
            rows[node["node"]] = (node["name"] or node["group"], p, "candidate")
        else:
            fits = (1 - p if has_estimate else 1.0) * (1 - doubt) if has_probability else None
            rows[node["node"]] = (node["likely_class"], fits, "predicted")
    return rows
