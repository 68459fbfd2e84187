"""`unseen suggest`: which nodes to label next, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli import options
from unseen.cli.discover import EmbeddingFile, MethodName, Param, chosen_vectors
from unseen.cli.output import print_json, print_table
from unseen.cli.sources import hide, load_input
from unseen.errors import logger


def suggest(
    source: options.Source,
    budget: Annotated[int, typer.Option(help="How many nodes.", min=1)] = 20,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write: .csv, .tsv, .parquet or .json.")
    ] = None,
    method: MethodName = None,
    embedding: EmbeddingFile = None,
    nodes: options.Nodes = None,
    features: options.Features = None,
    labels: options.LabelsFile = None,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    symmetrize: options.Symmetrize = "max",
    drop_negative: options.DropNegative = False,
    unseen: options.Unseen = None,
    label_rate: options.LabelRate = None,
    param: Param = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Say which nodes to label next, so that missing classes are found with few questions."""
    from unseen.discovery.save import check_target, save_suggestions
    from unseen.discovery.suggest import suggest as choose
    from unseen.labels import Labels

    if output is not None:
        check_target(output)
    vectors = chosen_vectors(method, embedding, param, seed)
    data = load_input(
        source,
        nodes=nodes,
        features=features,
        labels=labels,
        header=header,
        delimiter=options.character(delimiter),
        symmetrize=symmetrize,
        drop_negative=drop_negative,
    )
    visible = hide(data, unseen, label_rate, seed).labels
    if visible is None:
        visible = Labels.from_values([None] * data.graph.n_nodes, data.graph.node_ids)
    chosen = choose(data.graph, visible, budget=budget, method=vectors, random_state=seed)
    if output is not None:
        save_suggestions(chosen, output)
        logger.info("%d nodes written to %s", len(chosen), output)
    if json:
        print_json({"source": data.name, "seed": seed, "suggestions": [one.to_dict() for one in chosen]})
    elif output is None:
        rows = [
            [
                str(one.node),
                one.group or "",
                one.likely_class or "",
                one.reason,
                f"{one.unseen_probability:.3f}",
            ]
            for one in chosen
        ]
        print_table(["node", "group", "likely_class", "reason", "unseen_probability"], rows, left=4)
