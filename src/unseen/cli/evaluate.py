"""`unseen evaluate`: how well a linear classifier tells the classes apart in any embedding file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.output import print_json, print_table
from unseen.errors import InputError, logger

if TYPE_CHECKING:
    from unseen.embedding import Embedding
    from unseen.labels import Labels
    from unseen.splits import Split


def evaluate(
    embedding: Annotated[Path, typer.Argument(help="Embedding file, of this or any other tool.")],
    labels: Annotated[
        str, typer.Option(help="File of labels (node, label), or a data set's name.", show_default=False)
    ],
    unseen: options.Unseen = None,
    label_rate: options.LabelRate = None,
    splits: Annotated[int, typer.Option(help="Number of random splits.", min=1)] = 10,
    classifier: Annotated[
        str, typer.Option(help="linear, or rbf as in the released code.", metavar="linear|rbf")
    ] = "linear",
    scale: Annotated[bool, typer.Option("--scale", help="Scale every vector to length 1 first.")] = False,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Score an embedding file by classifying its nodes: micro and macro F1, overall and for hidden classes."""
    from unseen.evaluation import evaluate_many
    from unseen.io.embeddings import read_embedding

    vectors = read_embedding(embedding)
    truth = _labels(labels, vectors, header, options.character(delimiter))
    drawn = _splits(vectors, truth, unseen, label_rate, splits, seed)
    result = evaluate_many(vectors, truth, drawn, classifier=classifier, scale=scale, random_state=seed)
    report: dict[str, Any] = {
        "embedding": str(embedding),
        "unseen": list(drawn[0].unseen),
        **result.to_dict(),
    }
    if json:
        print_json(report)
        return
    print_table(*_table(report), left=1)


def _table(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    rows = [
        [name, f"{report[name]:.4f}", f"{report[name + '_std']:.4f}"]
        for name in (
            "micro_f1",
            "macro_f1",
            "seen_f1",
            "unseen_f1",
            "micro_f1_no_oracle",
            "macro_f1_no_oracle",
        )
        if report.get(name) is not None
    ]
    rows += [[f"F1 of {name}", f"{value:.4f}", ""] for name, value in report["per_class"].items()]
    return [f"{report['n_splits']} splits, {report['classifier']} SVM", "mean", "std"], rows


def _labels(source: str, vectors: Embedding, header: bool | None, delimiter: str | None) -> Labels:
    import scipy.sparse as sp

    from unseen.datasets import dataset_names, load_dataset
    from unseen.graph import Graph
    from unseen.io.read import read_labels

    if source in dataset_names() and not Path(source).exists():
        return load_dataset(source).labels
    n = len(vectors.node_ids)
    nodes = Graph(sp.csr_array((n, n)), node_ids=vectors.node_ids)
    return read_labels(source, nodes, header=header, delimiter=delimiter)


def _splits(
    vectors: Embedding, truth: Labels, unseen: str | None, label_rate: float | None, n: int, seed: int
) -> list[Split]:
    """Draw the splits asked for; vectors that have seen labels are tested on the split they were made for."""
    from unseen.methods.registry import METHODS, method_class
    from unseen.splits import completely_imbalanced_split

    made_for = vectors.params.get("split")
    if isinstance(made_for, dict):
        if unseen is not None or label_rate is not None:
            msg = (
                f"these vectors were learned with the labels of one split (unseen: "
                f"{', '.join(made_for['unseen'])}, label rate {made_for['label_rate']:g}) and can only be "
                "tested on that one; leave out --unseen and --label-rate"
            )
            raise InputError(msg)
        logger.info("tested on the split the vectors were learned for, so that no test label was seen")
        return [
            completely_imbalanced_split(
                truth,
                label_rate=made_for["label_rate"],
                unseen=made_for["unseen"],
                random_state=made_for["seed"],
            )
        ]
    if vectors.method in METHODS and method_class(vectors.method).uses_labels:
        logger.warning(
            "%s learns from labels: nodes whose labels it saw look better here than new ones would; "
            "embed with --label-rate to keep labels apart for the test",
            vectors.method,
        )
    hidden = options.names(unseen)
    rate = 0.5 if label_rate is None else label_rate
    return [
        completely_imbalanced_split(truth, label_rate=rate, unseen=hidden, random_state=seed + k)
        for k in range(n)
    ]
