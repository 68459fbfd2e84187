"""`unseen convert`: between the file formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli import options
from unseen.cli.inputs import GraphFiles, Input, is_dataset
from unseen.errors import logger, unknown_name


@options.grouped
def convert(
    source: Annotated[
        str, typer.Argument(help="A data set's name, or a file: a graph, features, labels or an embedding.")
    ],
    target: Annotated[
        Path,
        typer.Argument(
            help="File to write; its suffix names the format; a folder for graph.txt and group.txt."
        ),
    ],
    *,
    what: Annotated[
        str | None,
        typer.Option(
            help="What the source holds; found out if not given.", metavar="graph|features|labels|embedding"
        ),
    ] = None,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    files: GraphFiles,
) -> None:
    """Convert a graph (with its features and labels), features, labels or an embedding to another format."""
    from unseen.io.convert_files import convert_file

    if is_dataset(source):
        data = files.load(source)
        written = _write(data, target, what)
    else:
        written = convert_file(
            Path(source),
            target,
            what=what,  # type: ignore[arg-type]  # checked there, with the known kinds in the message
            nodes=files.nodes,
            features=files.features,
            labels=files.labels or None,
            header=files.header,
            delimiter=options.character(files.delimiter),
            symmetrize=files.symmetrize,  # type: ignore[arg-type]  # checked by the reader
            drop_negative=files.drop_negative,
        )
    logger.info("written: %s", ", ".join(str(path) for path in written))


def _write(data: Input, target: Path, what: str | None) -> list[Path]:
    """Write a data set, or the part of it that was asked for."""
    from unseen.data.write import write_features, write_graph, write_labels

    if what in (None, "graph"):
        return write_graph(data.graph, target, labels=data.labels)
    if what == "features":
        write_features(data.graph, target)
    elif what == "labels" and data.labels is not None:
        write_labels(data.labels, target)
    else:
        raise unknown_name("part of a data set", what, ["graph", "features", "labels"])
    return [target]
