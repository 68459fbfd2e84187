"""`unseen export`: the map and the findings as a file that another tool opens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from unseen.cli import options
from unseen.cli.explore import PageOptions, load_subject
from unseen.cli.inputs import NewClasses, Search
from unseen.cli.output import log_output, print_json, progress
from unseen.errors import OutputError, logger


@options.command
def export(
    tool: Annotated[Literal["atlas"], "The tool that opens the file: atlas is Embedding Atlas."],
    source: options.Source,
    *,
    output: Annotated[Path, "File to write (.parquet)."] = Path("map.parquet"),
    shown: PageOptions,
    new: NewClasses,
    search: Search,
) -> None:
    """Write the map of all nodes, with labels, predicted and candidate classes, for another tool."""
    if output.suffix.lower() != ".parquet":
        msg = f"cannot write {output}: Embedding Atlas reads Parquet; name a file that ends in .parquet"
        raise OutputError(msg)
    options.check_outputs(False, [*search.paths(source), search.embedding], output, example="map.parquet")
    _, subject = load_subject(search, source, 0, new)

    import pyarrow.parquet as pq

    from unseen.data.files import atomic_path
    from unseen.explorer.atlas import FLAGS, atlas_table

    with progress("drawing the map") as move:
        table = atlas_table(subject, max_nodes=shown.max_nodes, random_state=search.seed, on_progress=move)
    with atomic_path(output) as temporary:
        pq.write_table(table, temporary)
    log_output(output)
    logger.info("open it with: embedding-atlas %s %s", output, FLAGS)
    if search.json:
        print_json({"output": str(output), "nodes": table.num_rows, "columns": table.column_names})
