"""`unseen evaluate`: how well a linear classifier tells the classes apart in any embedding file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from unseen.cli import options
from unseen.cli.inputs import GraphFiles, is_dataset, load_embedding
from unseen.cli.output import print_json, print_table, progress
from unseen.errors import InputError, counted, logger
from unseen.params import Limits

if TYPE_CHECKING:
    from unseen.embedding import Embedding
    from unseen.labels import Labels
    from unseen.splits import Split

SPLITS = 10


@options.command
def evaluate(
    embedding: Annotated[Path, "Embedding file, of this or any other tool."],
    *,
    labels: Annotated[list[str], "Label file (node, label), repeatable; or the name of a data set."],
    unseen: Annotated[str | None, "Classes to score as hidden, separated by commas."] = None,
    label_rate: Annotated[
        float | None, "Share of the labels that the classifier learns from. Default: 0.5."
    ] = None,
    splits: Annotated[int | None, Limits(1), "Number of random splits. Default: 10."] = None,
    classifier: Annotated[
        str, options.As("linear|rbf"), "Kernel of the SVM; rbf is that of the authors' code."
    ] = "linear",
    scale: Annotated[bool, "Scale the embedding to unit-norm rows first."] = False,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    common: options.Common,
) -> None:
    """Score an embedding file by classifying its nodes: micro and macro F1, overall and for hidden classes."""
    vectors = load_embedding(embedding)
    if len(labels) == 1 and is_dataset(labels[0]):
        from unseen.data.datasets import load_dataset

        truth = load_dataset(labels[0]).labels
    else:
        files = GraphFiles(labels=[Path(each) for each in labels], header=header, delimiter=delimiter)
        truth = cast("Labels", files.load_without_graph(embedding, vectors).labels)  # typer asks for --labels
    all_splits = _draw_splits(vectors, truth, unseen, label_rate, splits, common.seed)

    from unseen.evaluation import ScoreSummary
    from unseen.evaluation import evaluate as score_split
    from unseen.evaluation.scores import FIGURES

    scores = []
    settings: dict[str, Any] = {"classifier": classifier, "scale": scale, "random_state": common.seed}
    with progress("splits") as move:
        for k, split in enumerate(all_splits):
            scores.append(score_split(vectors, truth, split, **settings))
            if move:
                move(k + 1, len(all_splits))
    report: dict[str, Any] = {
        "embedding": str(embedding),
        "method": vectors.method,
        "unseen": list(all_splits[0].unseen),
        "split_seeds": [split.random_state for split in all_splits],
        **ScoreSummary(tuple(scores)).to_dict(),
    }
    if common.json:
        print_json(report)
        return
    figures = [name for name in FIGURES if report[name] is not None]
    rows = [[name, f"{report[name]:.4f}", f"{report[name + '_std']:.4f}"] for name in figures]
    rows += [[f"F1 of {name}", f"{value:.4f}", ""] for name, value in report["per_class"].items()]
    print_table([f"{counted(report['n_splits'], 'split')}, {report['classifier']} SVM", "mean", "std"], rows)


def _draw_splits(
    vectors: Embedding, truth: Labels, unseen: str | None, label_rate: float | None, n: int | None, seed: int
) -> list[Split]:
    """Draw the splits asked for; vectors that have seen labels are tested on the split they were made for."""
    from unseen.methods.registry import find_method
    from unseen.splits import completely_imbalanced_split, redraw_split

    record = vectors.params.get("split")
    if isinstance(record, dict):
        split = redraw_split(truth, record)
        if (unseen, label_rate, n) != (None, None, None):
            classes = ", ".join(split.unseen) or "none"
            msg = (
                f"these vectors were learned with the labels of one split (unseen: {classes}, "
                f"label rate {record['label_rate']:g}) and can only be tested on that one; leave out --unseen, "
                "--label-rate and --splits"
            )
            raise InputError(msg)
        logger.info("tested on the split the vectors were learned for, so that no test label was seen")
        return [split]
    cls = find_method(vectors.method)
    if cls is not None and cls._traits.uses_labels:
        logger.warning(
            "%s may have learned from these labels, and then the scores are too good for nodes without a label; "
            "embed with --label-rate to keep labels apart for the test",
            vectors.method,
        )
    rates: dict[str, Any] = {"label_rate": 0.5 if label_rate is None else label_rate}
    rates["unseen"] = options.split_names(unseen)
    seeds = range(seed, seed + (SPLITS if n is None else n))
    return [completely_imbalanced_split(truth, **rates, random_state=each) for each in seeds]
