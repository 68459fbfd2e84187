"""`unseen partition`: cut a graph into parts for training on several processes or machines."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from unseen.cli import options
from unseen.cli.output import print_json


def partition(
    edges: Annotated[Path, typer.Argument(help="Edges: Parquet (a file or a folder of files) or text.")],
    parts: Annotated[
        int, typer.Option(help="Number of parts, one for each process.", min=1, show_default=False)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the parts.", show_default=False)],
    nodes: options.Nodes = None,
    features: options.Features = None,
    labels: options.LabelsFile = None,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    symmetrize: options.Symmetrize = "max",
    drop_negative: options.DropNegative = False,
    memory: Annotated[
        str, typer.Option(help="Memory to work with, beside the program's own 200 MB.", metavar="SIZE")
    ] = "2GB",
    json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Cut a graph that need not fit in memory into row parts of equal work, for `python -m unseen.scale`."""
    from unseen.scale.partition import partition as cut
    from unseen.scale.sizes import parse_size

    meta = cut(
        edges,
        output,
        parts=parts,
        nodes=nodes,
        features=features,
        labels=labels,
        header=header,
        delimiter=options.character(delimiter),
        symmetrize=symmetrize,  # type: ignore[arg-type]  # checked by partition
        drop_negative=drop_negative,
        memory=parse_size(memory),
    )
    if json:
        rows = [{key: value for key, value in asdict(part).items() if key != "files"} for part in meta.parts]
        told = {"output": str(output), "nodes": meta.n_nodes, "edges": meta.n_edges, "classes": meta.classes}
        print_json({**told, "parts": rows})
