"""`unseen embed`: from an edge list to an embedding file."""

from __future__ import annotations

import inspect
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.output import print_json, progress
from unseen.cli.sources import Input, fingerprint, hide, load_input
from unseen.errors import InputError, logger

if TYPE_CHECKING:
    from unseen.embedding import Embedding
    from unseen.methods.base import Method

DEFAULT_METHOD = "rect-plus"
WORDS = 8
"""How many words of a class are told."""


def embed(
    source: options.Source,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="Where to write: .parquet, .npz, .w2v.txt or .tsv.", show_default=False
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option("-m", "--method", help=f"See `unseen methods`; {DEFAULT_METHOD} if not given."),
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
    dim: options.Dim = None,
    epochs: options.Epochs = None,
    param: Annotated[
        list[str] | None, typer.Option(help="Further parameter of the method, name=value; repeatable.")
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Saved model to embed this graph with, new nodes included, without training."),
    ] = None,
    save_model: Annotated[Path | None, typer.Option(help="Where to keep the trained model (.npz).")] = None,
    scratch: options.Scratch = None,
    force: options.Force = False,
    seed: options.Seed = 0,
    device: options.Device = None,
    threads: options.Threads = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn a vector for every node of a graph and write them to a file."""
    from unseen.io.embeddings import check_writable

    asked: dict[str, Any] = {"n_components": dim, "epochs": epochs, "device": device}
    params = {name: value for name, value in asked.items() if value is not None}
    params |= options.parse_parameters(param or [])
    estimator = _estimator(method, model, save_model, params, seed)
    check_writable(output)
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
    check_writable(output, data.graph.node_ids)
    start = time.perf_counter()
    if model is not None:
        embedding = estimator.transform(data.graph)
    else:
        from unseen.linalg.scratch import scratch as on_disk

        _check_fits(estimator, data, scratch=scratch is not None, force=force)
        with on_disk(scratch):
            embedding = _trained(estimator, data, unseen, label_rate, seed)
    seconds = time.perf_counter() - start
    embedding.save(output)
    if save_model is not None:
        estimator.save(save_model)  # type: ignore[attr-defined]  # checked by _estimator
    rows, columns = embedding.vectors.shape
    described = _described(estimator)
    logger.info(
        "%s: %d vectors of %d columns in %.1f s, written to %s",
        estimator.name,
        rows,
        columns,
        seconds,
        output,
    )
    if json:
        told = {"method": estimator.name, "nodes": rows, "columns": columns, "seconds": round(seconds, 3)}
        print_json({**told, "output": str(output), "class_descriptions": described})


def _estimator(
    method: str | None, model: Path | None, save_model: Path | None, params: dict[str, Any], seed: int
) -> Method:
    """Make the method asked for, or load it; everything that can be wrong is said before any work."""
    from unseen.io.files import require_writable
    from unseen.methods.registry import make_method, method_class

    if model is not None:
        from unseen.methods.saving import load_method

        if method is not None or params:
            msg = "a saved model has its own parameters; leave out --method, --dim, --epochs, --device and --param"
            raise InputError(msg)
        return load_method(model)
    chosen = method or DEFAULT_METHOD
    takes = inspect.signature(method_class(chosen)).parameters
    for flag in [name for name in ("epochs", "device") if name in params and name not in takes]:
        logger.warning("--%s changes nothing: %s has no such parameter", flag, chosen)
        del params[flag]
    estimator = make_method(chosen, **params, random_state=seed)
    if save_model is not None:
        if not hasattr(estimator, "save"):
            msg = f"--save-model: only methods of the RECT family can be kept in a file so far, not {estimator.name}"
            raise InputError(msg)
        require_writable(save_model)
    return estimator


def _trained(
    estimator: Method, data: Input, unseen: str | None, label_rate: float | None, seed: int
) -> Embedding:
    from unseen.embedding import Embedding

    visible = hide(data, unseen, label_rate, seed)
    with progress(estimator.name) as move:
        if move and "callbacks" in inspect.signature(type(estimator)).parameters:
            estimator.set_params(callbacks=[lambda epoch: move(epoch.number, epoch.total)])
        made = estimator.fit_transform(data.graph, visible.labels)
    if visible.split is None or not estimator.uses_labels or data.labels is None:
        return made
    made_for = {
        "unseen": list(visible.split.unseen),
        "label_rate": label_rate,
        "seed": seed,
        "labelled": fingerprint(data.labels, visible.split),
    }
    return Embedding(made.vectors, made.node_ids, made.method, {**made.params, "split": made_for})


def _check_fits(estimator: Method, data: Input, *, scratch: bool, force: bool) -> None:
    from unseen.scale.estimate import check_fits, sizes_of

    features = None
    if data.graph.features is not None:
        entries = getattr(data.graph.features, "nnz", data.graph.features.size)
        features = {"columns": int(data.graph.features.shape[1]), "entries": int(entries)}
    sizes = sizes_of(estimator, data.graph.n_nodes, int(data.graph.adjacency.nnz), features)
    check_fits(estimator.name, sizes, scratch=scratch, force=force)


def _described(estimator: Method) -> dict[str, list[str]]:
    """Tell the strongest words of each class that the method learned from, where features have names."""
    found: dict[str, list[tuple[str, float]]] = getattr(estimator, "class_descriptions_", {})
    words = {name: [word for word, _ in strongest[:WORDS]] for name, strongest in found.items()}
    for name, listed in words.items():
        logger.info("what it knows of %s: %s", name, ", ".join(listed))
    return words
