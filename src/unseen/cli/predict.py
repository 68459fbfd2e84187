"""`unseen predict`: a class for every node, the table that people take home."""

from __future__ import annotations

from collections import Counter

from unseen.cli import options
from unseen.cli.inputs import NewClasses, Search
from unseen.cli.output import tell_output
from unseen.data.files import STANDARD
from unseen.errors import logger


@options.command
def predict(
    source: options.Source, *, output: options.TableFile = None, new: NewClasses, search: Search
) -> None:
    """Write a class for every node: its label, the labelled class that fits best, or a candidate class."""
    data, labels, method = search.load_search(source, output)

    from unseen.discovery.predictions import labels_as_predictions
    from unseen.discovery.save import write_result

    if labels is not None and len(labels.labelled) == data.graph.n_nodes:
        logger.warning("every node has a label, so there is nothing to predict")
        table = labels_as_predictions(labels.align_to(data.graph))
    else:
        table = search.find_classes(data, labels, method, new).predictions()
    statuses = Counter(table["status"].to_pylist())
    counts = ", ".join(f"{statuses[name]:,} {name}" for name in ("labelled", "predicted", "candidate"))
    logger.info("%s", counts)
    if output is not None or not search.json:
        write_result(output or STANDARD, table)
    if output is not None:
        tell_output(output)
    if search.json:
        counts_of = {"status": dict(statuses), "classes": dict(Counter(table["class"].to_pylist()))}
        rows = {"predictions": table.to_pylist()} if output is None else {"output": str(output)}
        search.print_report(data, {**counts_of, **rows})
