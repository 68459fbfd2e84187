"""`unseen explore`: one HTML file that shows a graph, what its labels miss, and what to label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.discover import EmbeddingFile, MethodName
from unseen.cli.output import print_json, progress
from unseen.cli.sources import Input, hide, load_input
from unseen.errors import InputError, logger

if TYPE_CHECKING:
    from unseen.embedding import Embedding
    from unseen.explorer import Subject

OUTPUT = Path("explorer.html")
BUDGET = 20


def explore(
    source: Annotated[
        str | None,
        typer.Argument(
            help="A data set's name or an edge file; not needed with --embedding.", show_default=False
        ),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page to write.")] = OUTPUT,
    embedding: EmbeddingFile = None,
    method: MethodName = None,
    nodes: options.Nodes = None,
    features: options.Features = None,
    labels: options.LabelsFile = None,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    symmetrize: options.Symmetrize = "max",
    drop_negative: options.DropNegative = False,
    unseen: options.Unseen = None,
    label_rate: options.LabelRate = None,
    budget: Annotated[int, typer.Option(help="Number of nodes to suggest for labelling.", min=0)] = BUDGET,
    max_nodes: Annotated[
        int, typer.Option(help="Of more nodes than this the map shows a random sample.", min=1)
    ] = 50_000,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a page to look at: the map of all nodes, classes that nobody labelled, and what to label next."""
    from unseen.explorer import explore as prepare
    from unseen.explorer import write_explorer
    from unseen.explorer.layout import require_tsne
    from unseen.io.files import require_writable

    if embedding is not None and method is not None:
        msg = "--embedding brings its own vectors; leave out --method"
        raise InputError(msg)
    if source is None and embedding is None:
        msg = "name a data set or an edge file to explore, or give vectors with --embedding"
        raise InputError(msg)
    require_tsne()
    require_writable(output, example=OUTPUT.name)
    vectors = _vectors(embedding)
    if source is None:
        extra = {"--nodes": nodes, "--features": features}
        for flag in (flag for flag, value in extra.items() if value is not None):
            msg = f"{flag} goes with an edge file; name one before --embedding"
            raise InputError(msg)
        data = _bare(embedding, vectors, labels, header, options.character(delimiter))
    else:
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
    visible = hide(data, unseen, label_rate, seed)
    with progress("looking for missing classes") as move:
        subject = prepare(
            None if source is None else data.graph,
            visible.labels,
            embedding=vectors,
            method=method,
            truth=None if visible.labels is data.labels else data.labels,
            budget=budget,
            random_state=seed,
            on_step=move,
        )
    heading = title or _heading(data.name, subject)
    with progress("drawing the map") as move:
        page = write_explorer(
            subject, output, title=heading, max_nodes=max_nodes, random_state=seed, on_progress=move
        )
    logger.info("open it with a double click, or: xdg-open %s (open on a Mac, start on Windows)", page)
    if json:
        print_json(_as_json(page, subject))


def _vectors(path: Path | None) -> Embedding | None:
    from unseen.io.embeddings import read_embedding

    return None if path is None else read_embedding(path)


def _bare(
    path: Path | None,
    vectors: Embedding | None,
    labels: Path | None,
    header: bool | None,
    delimiter: str | None,
) -> Input:
    """Return what there is without a graph: nodes, and maybe labels."""
    import scipy.sparse as sp

    from unseen.graph import Graph
    from unseen.io.read import read_labels

    if path is None or vectors is None:  # the caller has looked; this tells the type checker
        msg = "without a graph there must be an embedding"
        raise InputError(msg)
    n = len(vectors.node_ids)
    nodes = Graph(sp.csr_array((n, n)), node_ids=vectors.node_ids)
    known = (
        None
        if labels is None
        else read_labels(labels, nodes, header=header, delimiter=delimiter, where="the embedding")
    )
    return Input(path.name, nodes, known)


def _heading(name: str, subject: Subject) -> str:
    return (
        f"{name}: what do the labels miss?" if subject.discovery is not None else f"{name}: map of the nodes"
    )


def _as_json(page: Path, subject: Subject) -> dict[str, Any]:
    found = subject.discovery
    return {
        "output": str(page),
        "bytes": page.stat().st_size,
        "nodes": len(subject.embedding.node_ids),
        "method": subject.embedding.method,
        "count": None if found is None else found.count.to_dict(),
        "classes": [] if found is None else [each.to_dict() for each in found.classes],
        "suggestions": [each.to_dict() for each in subject.suggestions or ()],
    }
