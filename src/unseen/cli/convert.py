"""`unseen convert`: between the file formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli import options
from unseen.cli.sources import is_dataset, load_input
from unseen.errors import logger


def convert(
    source: options.Source,
    target: Annotated[
        Path,
        typer.Argument(
            help="File to write; its suffix names the format; a folder for graph.txt and group.txt."
        ),
    ],
    nodes: options.Nodes = None,
    features: options.Features = None,
    labels: options.LabelsFile = None,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    symmetrize: options.Symmetrize = "max",
    drop_negative: options.DropNegative = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Convert a graph, with its features and labels, to another format."""
    from unseen.io.write import convert_graph, write_graph

    if is_dataset(source):
        data = load_input(source, nodes=nodes, features=features, labels=labels)
        written = write_graph(data.graph, target, labels=data.labels)
    else:
        written = convert_graph(
            Path(source),
            target,
            nodes=nodes,
            features=features,
            labels=labels,
            header=header,
            delimiter=options.character(delimiter),
            symmetrize=symmetrize,  # type: ignore[arg-type]  # checked by the reader
            drop_negative=drop_negative,
        )
    logger.info("written: %s", ", ".join(str(path) for path in written))
