"""`unseen discover`: which nodes belong to a class nobody labelled, how many such classes, what they are about."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.output import print_json, progress
from unseen.cli.sources import Input, hide, load_input
from unseen.errors import InputError, logger

if TYPE_CHECKING:
    from unseen.discovery.result import Discovery
    from unseen.discovery.truth import Truth
    from unseen.embedding import Embedding
    from unseen.labels import Labels
    from unseen.methods.base import Method

MethodName = Annotated[
    str | None,
    typer.Option(
        "-m", "--method", help="Method of the vectors, see `unseen methods`; smoothfeats if not given."
    ),
]
EmbeddingFile = Annotated[
    Path | None, typer.Option("--embedding", help="File of vectors to work with, of this or any other tool.")
]
Param = Annotated[
    list[str] | None, typer.Option(help="Further parameter of the method, name=value; repeatable.")
]


def discover(
    source: options.Source,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--output",
            help="Where to write: nodes as .parquet, .csv or .tsv, everything else as .json; repeatable.",
        ),
    ] = None,
    method: MethodName = None,
    embedding: EmbeddingFile = None,
    classes: Annotated[
        int | None,
        typer.Option(help="Number of new classes to sort nodes into; found out if not given.", min=0),
    ] = None,
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
    """Find the nodes of classes that nobody labelled, sort them into groups and say what these are about."""
    from unseen.discovery.discover import discover as find
    from unseen.discovery.save import check_target

    for path in output or []:
        check_target(path)
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
    visible = visible_labels(data, unseen, label_rate, seed)
    with progress("hiding every class in turn") as move:
        found = find(data.graph, visible, method=vectors, n_classes=classes, random_state=seed, on_step=move)
    truth = _truth(found, data, hidden=unseen is not None or label_rate is not None)
    for path in output or []:
        found.save(path)
        logger.info("written to %s", path)
    if json:
        told = {"source": data.name, "seed": seed, **found.to_json()}
        print_json(told if truth is None else {**told, "truth": truth.to_dict()})
        return
    sys.stdout.write(found.summary())
    if truth is not None:
        sys.stdout.write("\n" + _told(truth, found))


def chosen_vectors(
    method: str | None, embedding: Path | None, param: list[str] | None, seed: int
) -> Method | Embedding | None:
    """Return what the flags say about the vectors: a method, a file's vectors, or nothing."""
    if embedding is not None:
        if method is not None or param:
            msg = "--embedding brings its own vectors; leave out --method and --param"
            raise InputError(msg)
        from unseen.io.embeddings import read_embedding

        return read_embedding(embedding)
    if method is None and not param:
        return None
    from unseen.methods.registry import make_method

    return make_method(method or "smoothfeats", **options.parse_parameters(param or []), random_state=seed)


def visible_labels(data: Input, unseen: str | None, label_rate: float | None, seed: int) -> Labels:
    """Return the labels that discovery may see."""
    labels = hide(data, unseen, label_rate, seed).labels
    if labels is None:
        msg = "discovery needs labels of at least one class; give them with --labels"
        raise InputError(msg)
    return labels


def _truth(found: Discovery, data: Input, *, hidden: bool) -> Truth | None:
    if not hidden or data.labels is None:
        return None
    from unseen.discovery.truth import compare

    return compare(found, data.labels)


def _told(truth: Truth, found: Discovery) -> str:
    """Tell how right it was, since the labels were hidden and not missing."""
    lines = [
        f"The truth, which was hidden: {truth.n_hidden:,} of {truth.n_nodes:,} nodes are of "
        f"{truth.n_classes} new {'class' if truth.n_classes == 1 else 'classes'}."
    ]
    figures: dict[str, Any] = {
        "AUROC of the probabilities": truth.auroc,
        "expected calibration error": truth.ece,
        "right among nodes of labelled classes": truth.accuracy_seen,
        "right among nodes of hidden classes": truth.accuracy_unseen,
        "right among all": truth.accuracy_all,
        "NMI of groups and hidden classes": truth.nmi,
        "ARI of groups and hidden classes": truth.ari,
    }
    lines += [f"  {what}: {value:.3f}" for what, value in figures.items() if value is not None]
    sizes = {found_class.name: found_class.size for found_class in found.classes}
    lines += [
        f"  {group} is matched with {name}: {n:,} of its {sizes[group]:,} nodes"
        for group, name, n in truth.matches
    ]
    return "\n".join(lines) + "\n"
