"""`unseen convert`: between the file formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from unseen.cli import options
from unseen.cli.inputs import GraphFiles, is_dataset
from unseen.errors import logger


@options.grouped
def convert(
    source: Annotated[str, "A data set's name, or a file: a graph, features, labels or an embedding."],
    target: Annotated[
        Path,
        "File to write; its suffix names the format; a folder for graph.txt and group.txt; - for stdout.",
    ],
    *,
    what: Annotated[
        str | None,
        options.As("graph|features|labels|embedding|all"),
        "What the source holds, where its name and its columns do not say it; all: edges.csv, features.parquet and "
        "labels.csv in the folder TARGET.",
    ] = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    files: GraphFiles,
) -> None:
    """Convert a graph (with its features and labels), features, labels or an embedding to another format."""
    from unseen.data.convert import convert_file, write_data

    if is_dataset(source):
        data = files.load(source)
        written = write_data(data.graph, data.labels, target, what)
    else:
        kind: Any = what  # checked there, with the kinds there are in the message
        written = convert_file(Path(source), target, what=kind, **files.sources(), options=files.reading())
    if written:
        logger.info("written: %s", ", ".join(str(path) for path in written))
