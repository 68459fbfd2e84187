"""`unseen embed`: from an edge list to an embedding file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.output import print_json
from unseen.cli.sources import hide, load_input
from unseen.errors import logger


def embed(
    source: options.Source,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="Where to write: .parquet, .npz, .w2v.txt or .tsv.", show_default=False
        ),
    ],
    method: Annotated[str, typer.Option("-m", "--method", help="See `unseen methods`.")] = "smoothfeats",
    nodes: options.Nodes = None,
    features: options.Features = None,
    labels: options.LabelsFile = None,
    header: options.Header = None,
    symmetrize: options.Symmetrize = "max",
    drop_negative: options.DropNegative = False,
    unseen: options.Unseen = None,
    label_rate: options.LabelRate = None,
    dim: options.Dim = None,
    epochs: options.Epochs = None,
    param: Annotated[
        list[str] | None, typer.Option(help="Further parameter of the method, name=value; repeatable.")
    ] = None,
    seed: options.Seed = 0,
    device: options.Device = None,
    threads: options.Threads = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn a vector for every node of a graph and write them to a file."""
    from unseen.embedding import Embedding
    from unseen.io.embeddings import check_writable
    from unseen.methods.registry import make_method

    asked: dict[str, Any] = {"n_components": dim, "epochs": epochs, "device": device}
    params = {name: value for name, value in asked.items() if value is not None}
    estimator = make_method(method, **params, **options.parse_parameters(param or []), random_state=seed)
    check_writable(output)
    data = load_input(
        source,
        nodes=nodes,
        features=features,
        labels=labels,
        header=header,
        symmetrize=symmetrize,
        drop_negative=drop_negative,
    )
    check_writable(output, data.graph.node_ids)
    split = hide(data, unseen, label_rate, seed)
    visible = data.labels if split is None else split.seen_labels
    start = time.perf_counter()
    embedding = estimator.fit_transform(data.graph, visible)
    seconds = time.perf_counter() - start
    if split is not None and estimator.uses_labels:
        made_for = {"unseen": list(split.unseen), "label_rate": label_rate or 0.5, "seed": seed}
        embedding = Embedding(
            embedding.vectors, embedding.node_ids, method, {**embedding.params, "split": made_for}
        )
    embedding.save(output)
    rows, columns = embedding.vectors.shape
    logger.info(
        "%s: %d vectors of %d columns in %.1f s, written to %s", method, rows, columns, seconds, output
    )
    if json:
        print_json(
            {
                "method": method,
                "nodes": rows,
                "columns": columns,
                "seconds": round(seconds, 3),
                "output": str(output),
            }
        )
