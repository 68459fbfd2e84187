"""`unseen audit`: which labels are probably wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli import options
from unseen.cli.inputs import GraphFiles, VectorSource
from unseen.cli.output import print_json, print_table
from unseen.errors import InputError, logger


@options.grouped
def audit(
    source: options.Source,
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write: .csv, .tsv, .parquet or .json.")
    ] = None,
    files: GraphFiles,
    vectors: VectorSource,
    common: options.Common,
) -> None:
    """List the labels that are probably wrong, the most doubtful first."""
    from unseen.discovery.save import check_target, save_doubts

    if output is not None:
        check_target(output, files.paths(source))
    method = vectors.choose(common.seed)
    data = files.load(source)
    if data.labels is None:
        msg = "an audit looks at labels; give them with --labels"
        raise InputError(msg)
    from unseen.discovery.audit import audit as find

    doubts = find(data.graph, data.labels, method=method, random_state=common.seed)
    logger.info("%d of %d labels are probably wrong", doubts.num_rows, data.labels.indicator.nnz)
    if output is not None:
        save_doubts(doubts, output)
        logger.info("written to %s", output)
    if common.json:
        print_json({"source": data.name, "seed": common.seed, "doubts": doubts.to_pylist()})
    elif output is None:
        *words, probability = doubts.column_names
        rows = [
            [*(str(row[name]) for name in words), f"{row[probability]:.3f}"] for row in doubts.to_pylist()
        ]
        print_table([*words, probability], rows, left=3)
