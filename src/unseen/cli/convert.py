"""`unseen convert`: between the file formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli import options


def convert(
    source: options.Source,
    target: Annotated[Path, typer.Argument(help="File to write; its suffix names the format.")],
    nodes: options.Nodes = None,
    features: options.Features = None,
    labels: options.LabelsFile = None,
    header: options.Header = None,
    symmetrize: options.Symmetrize = "max",
    drop_negative: options.DropNegative = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Convert a graph, with its features and labels, to another format."""
    raise NotImplementedError
