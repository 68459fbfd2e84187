"""`unseen datasets`: the graphs that can be named instead of a file."""

from __future__ import annotations

from typing import Annotated

from unseen.cli import options
from unseen.cli.output import print_json, print_table


@options.command
def datasets(
    name: Annotated[str | None, "Data set to load (it is downloaded if necessary) and describe."] = None,
    *,
    messages: options.Messages,
) -> None:
    """List the data sets, or load one and describe it."""
    from unseen.data.datasets import dataset_counts, dataset_names, load_dataset
    from unseen.errors import first_of, install_hint, logger
    from unseen.plugins import IN_PAPER, find_plugins

    if name is None:
        columns = {"nodes": "nodes", "edges_listed": "edges", "classes": "classes", "features": "features"}
        rows = [
            {"dataset": each, **{column: dataset_counts(each)[key] for column, key in columns.items()}}
            for each in dataset_names()
        ]
        if messages.json:
            print_json(rows)
        else:
            table = [["?" if value is None else value for value in row.values()] for row in rows]
            print_table(list(rows[0]), table)
        missing = [each for each in IN_PAPER["data set"] if each not in find_plugins("data set")]
        if missing:
            logger.info("%s come with the paper's package; %s", first_of(missing), install_hint("paper"))
        return
    data = load_dataset(name)
    classes = dict(zip(data.labels.classes, data.labels.counts.tolist(), strict=True))
    facts = {
        "dataset": data.name,
        "nodes": data.graph.n_nodes,
        "edges_listed": dataset_counts(name)["edges"],
        "edges": data.graph.n_edges,
        "self_loops": data.graph.n_self_loops,
        "isolated": int(data.graph.isolated.sum()),
        "features": 0 if data.graph.features is None else data.graph.features.shape[1],
        "multi_label": data.labels.is_multilabel,
        "classes": classes,
    }
    if messages.json:
        print_json(facts)
        return
    print_table(["", data.name], [row for row in facts.items() if row[0] not in ("dataset", "classes")])
    print_table(["class", "nodes"], list(classes.items()))
