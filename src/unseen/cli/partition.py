"""`unseen partition`: cut a graph into parts for training on several processes or machines."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from unseen.cli import options
from unseen.cli.inputs import GraphFiles
from unseen.cli.output import print_json
from unseen.errors import InputError
from unseen.params import Limits


@options.command
def partition(
    edges: Annotated[Path, "Edge file: Parquet (a file or a folder of files) or text."],
    *,
    parts: Annotated[int, Limits(1), "Number of parts, at most one process for each."],
    output: Annotated[Path, "Folder for the parts."],
    memory: Annotated[
        str, options.As("SIZE"), "Memory for sorting, in addition to the 300 MB of the program."
    ] = "2GB",
    cut: Annotated[
        str, "Assign rows in their order (rows), or so that parts share few edges (metis, in memory)."
    ] = "rows",
    threads: options.Threads = None,
    files: GraphFiles,
    messages: options.Messages,
) -> None:
    """Split a graph, which may be larger than memory, into parts for `python -m unseen.scale`."""
    from unseen.data.opened import parse_size
    from unseen.engine.partition import partition as write_parts

    if str(output) == "-":
        msg = "parts are a folder of files, which cannot go to the standard output; give -o FOLDER"
        raise InputError(msg)
    given = {**files.sources(), **asdict(files.reading())}
    meta = write_parts(
        edges, output, parts=parts, memory=parse_size(memory), threads=threads, cut=cut, **given
    )
    if messages.json:
        rows = [{key: value for key, value in asdict(part).items() if key != "files"} for part in meta.parts]
        summary = {"nodes": meta.n_nodes, "edges": meta.n_edges, "classes": meta.classes}
        print_json({"output": str(output), **summary, "parts": rows})
