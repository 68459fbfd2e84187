"""`unseen convert`: between the file formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from unseen.cli import options
from unseen.cli.inputs import GraphFiles, is_dataset
from unseen.cli.output import print_json
from unseen.errors import logger


@options.command
def convert(
    source: Annotated[str, "A file (graph, features, labels or an embedding), or the name of a data set."],
    target: Annotated[
        Path,
        "File to write, whose suffix is the format; a folder gets graph.txt and group.txt; - writes to stdout.",
    ],
    *,
    what: Annotated[
        str | None,
        options.As("graph|features|labels|embedding|all"),
        "What the source holds, if its name and columns do not show it. all writes edges.csv, features.parquet "
        "and labels.csv to the folder TARGET.",
    ] = None,
    files: GraphFiles,
    messages: options.Messages,
) -> None:
    """Convert a graph (with its features and labels), features, labels or an embedding to another format."""
    from unseen.data.convert import convert_file, write_data

    options.refuse_two_outputs(messages.json, target)
    if is_dataset(source):
        data = files.load(source)
        written = write_data(data.graph, data.labels, target, what)
    else:
        kind: Any = what  # checked there, with the kinds there are in the message
        written = convert_file(Path(source), target, what=kind, **files.sources(), options=files.reading())
    if written:
        logger.info("written: %s", ", ".join(str(path) for path in written))
    if messages.json:
        print_json({"output": [str(path) for path in written]})
