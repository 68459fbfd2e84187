"""`unseen embed`: from an edge list to an embedding file."""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import unseen
from unseen.cli import options
from unseen.cli.inputs import GraphFiles, Hiding, LoadedGraph
from unseen.cli.output import print_json, progress
from unseen.errors import UsageError, log_written, logger

if TYPE_CHECKING:
    from unseen.embedding import Embedding
    from unseen.methods.base import Method

DEFAULT_METHOD = "rect-plus"
N_WORDS = 8
"""Features of a class that are listed."""
TRAINING = (
    *(each.name for each in fields(options.Learning)),
    *("unseen", "label_rate", "seed", "scratch", "force", "save_model"),
)
"""Options that change nothing where a saved model is used."""


@options.command
def embed(
    context: typer.Context,
    source: options.Source,
    *,
    output: Annotated[Path, "Output file (.parquet, .npz, .csv, .w2v.txt or .tsv); - writes to stdout."],
    model: Annotated[Path | None, "Saved model: embed the nodes, also new ones, without training."] = None,
    save_model: Annotated[Path | None, "File for the trained model (.npz)."] = None,
    scratch: options.Scratch = None,
    force: options.Force = False,
    learning: options.Learning,
    project: options.Project = None,
    files: GraphFiles,
    hiding: Hiding,
    common: options.Common,
) -> None:
    """Learn an embedding of the nodes of a graph and write it to a file."""
    from unseen.data.sources import written_format

    if model is not None:
        sources = {name: context.get_parameter_source(name) for name in TRAINING}
        flags = [
            f"--{name.replace('_', '-')}"
            for name, source_of in sources.items()
            if source_of and source_of.name == "COMMANDLINE"
        ]
        if flags:
            them = "it" if len(flags) == 1 else "them"
            msg = f"--model uses a trained model, so {' and '.join(flags)} would change nothing; leave {them} out"
            raise UsageError(msg)
    written_format(output, "vectors")
    inputs = [*files.paths(source), model]
    options.check_outputs(common.json, inputs, output, save_model, example="vectors.parquet")
    if save_model is not None and save_model.absolute() == output.absolute():
        msg = f"--output and --save-model name the same file, {output}; choose different files"
        raise UsageError(msg)
    estimator = _make_estimator(learning, common.seed) if model is None else unseen.load_method(model)
    traits = estimator._traits
    if save_model is not None and not traits.can_be_saved:
        msg = f"--save-model: only methods of the RECT family can be saved, not {traits.name}"
        raise UsageError(msg)
    from unseen.data.write import check_vectors

    data = files.load(source)
    check_vectors(output, data.graph.node_ids)
    start = time.perf_counter()
    if model is None:
        _check_memory(estimator, data, scratch=scratch is not None, force=force)
        embedding = _train(estimator, data, hiding, common.seed, scratch)
    else:
        embedding = estimator.transform(data.graph)
    seconds = time.perf_counter() - start
    embedding.save(output)
    if save_model is not None:
        estimator.save(save_model)
    rows, columns = embedding.vectors.shape
    strongest: dict[str, list[tuple[str, float]]] = getattr(estimator, "class_descriptions_", {})
    words = {name: [word for word, _ in pairs[:N_WORDS]] for name, pairs in strongest.items()}
    for name, typical in words.items():
        if typical:
            logger.info("features typical of class %r: %s", name, ", ".join(typical))
    log_written(traits.name, rows, columns, seconds, output)
    if common.json:
        report = {"method": traits.name, "nodes": rows, "columns": columns, "seconds": round(seconds, 3)}
        print_json({**report, "output": str(output), "class_descriptions": words})


def _make_estimator(learning: options.Learning, seed: int) -> Method:
    """Return the method with its parameters, which are checked here, before any work."""
    from unseen.methods.registry import make_method, method_class

    method = learning.method or DEFAULT_METHOD
    flags = {"n_components": learning.dim, "epochs": learning.epochs, "device": learning.device}
    params = options.parse_parameters(learning.param, method, **flags)
    for flag in ("epochs", "device"):
        if flag in params and flag not in method_class(method)._parameters:
            logger.warning("--%s has no effect: %s has no such parameter", flag, method)
            del params[flag]
    return make_method(method, **params, random_state=seed)


def _check_memory(estimator: Method, data: LoadedGraph, *, scratch: bool, force: bool) -> None:
    from unseen.engine.memory import check_memory, make_job

    given = data.graph.features
    features = (0, 0) if given is None else (int(given.shape[1]), int(getattr(given, "nnz", given.size)))
    sizes = {"scratch": scratch, "labelled": 0 if data.labels is None else len(data.labels.labelled)}
    job = make_job(estimator, data.graph.n_nodes, int(data.graph.adjacency.nnz), features, **sizes)
    check_memory(estimator, job, force=force)


def _train(
    estimator: Method, data: LoadedGraph, hiding: Hiding, seed: int, scratch: Path | None
) -> Embedding:
    from unseen.embedding import Embedding
    from unseen.engine.run import Run

    labels, record = hiding.hide_labels(data, seed)
    with progress(estimator._traits.name) as move:
        if move and "callbacks" in estimator._parameters:
            estimator.set_params(callbacks=[lambda epoch: move(epoch.number, epoch.total)])
        embedding = estimator._fit_run(data.graph, labels, Run(scratch=scratch)).embedding_
    if record is None or not estimator._traits.uses_labels:
        return embedding
    params: dict[str, Any] = {**embedding.params, "split": record}
    return Embedding(embedding.vectors, embedding.node_ids, embedding.method, params)
