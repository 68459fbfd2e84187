"""`unseen datasets`: the graphs that can be named instead of a file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from unseen.cli import options
from unseen.cli.output import print_json, print_table


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="Load this one (downloading it if need be) and count it.")
    ] = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """List the data sets, or load one and say what it holds."""
    from unseen.datasets import dataset_names, load_dataset

    if name is None:
        rows = [_known(each) for each in dataset_names()]
        if json:
            print_json(rows)
        else:
            print_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])
        return
    data = load_dataset(name)
    counts = dict(zip(data.labels.classes, data.labels.counts.tolist(), strict=True))
    facts = {
        "dataset": data.name,
        "nodes": data.graph.n_nodes,
        "edges_listed": _known(name)["edges_listed"],
        "edges": data.graph.n_edges,
        "self_loops": data.graph.n_self_loops,
        "isolated": int(data.graph.isolated.sum()),
        "features": 0 if data.graph.features is None else data.graph.features.shape[1],
        "multi_label": data.labels.is_multilabel,
        "classes": counts,
    }
    if json:
        print_json(facts)
        return
    print_table(["", data.name], [[k, str(v)] for k, v in facts.items() if k not in ("dataset", "classes")])
    print_table(["class", "nodes"], [[k, str(v)] for k, v in counts.items()])


def _known(name: str) -> dict[str, object]:
    from unseen.datasets.bundled import DEBIAN_COUNTS
    from unseen.datasets.registry import PAPER_GRAPHS

    counts = DEBIAN_COUNTS if name == "debian" else PAPER_GRAPHS[name].counts
    known = asdict(counts)
    return {"dataset": name, "nodes": known["nodes"], "edges_listed": known["edges"]} | {
        key: known[key] for key in ("classes", "features")
    }
