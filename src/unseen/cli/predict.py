"""`unseen predict`: a class for every node, the table that people take home."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from unseen.cli import options
from unseen.cli.inputs import NewClasses, Search
from unseen.cli.output import log_output
from unseen.data.files import STANDARD
from unseen.errors import logger


@options.command
def predict(
    source: options.Source,
    *,
    output: Annotated[
        Path | None,
        "Output file: .csv, .tsv, .parquet, .json, .graphml, or a database (.db, .sqlite, .duckdb) that gets a table; "
        "- writes csv to stdout.",
    ] = None,
    new: NewClasses,
    search: Search,
) -> None:
    """Write a class for every node: its label, the labelled class that fits best, or a candidate class."""
    data, labels, method = search.load_search(source, output, every_node=True)

    from unseen.discovery.tables import predict_classes, write_predictions
    from unseen.discovery.targets import NETWORK

    if labels is not None and len(labels.labelled) == data.graph.n_nodes:
        logger.warning("every node has a label, so there is nothing to predict")
        table = predict_classes(labels.align_to(data.graph))
    else:
        table = search.find_classes(data, labels, method, new).predictions()
    statuses = Counter(table["status"].to_pylist())
    counts = ", ".join(f"{statuses[name]:,} {name}" for name in ("labelled", "predicted", "candidate"))
    logger.info("%s", counts)
    if output is not None or not search.json:
        is_network = Path(source).suffix.lower() == NETWORK
        write_predictions(output or STANDARD, table, Path(source) if is_network else data.graph)
    if output is not None:
        log_output(output)
    if search.json:
        classes = Counter(table["class"].to_pylist())
        report: dict[str, Any] = {"status": dict(statuses), "classes": dict(classes)}
        report |= {"predictions": table.to_pylist()} if output is None else {"output": str(output)}
        search.print_report(data, report)
