"""`python -m unseen.scale`: train on a partition, in one process or in those that torchrun started."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.app import SETTINGS, Command, run
from unseen.cli.output import print_json
from unseen.errors import logger
from unseen.params import Limits


@dataclass(frozen=True)
class PartsLearning(options.Learning):
    """How an embedding is learned from parts."""

    method: Annotated[str, "Method that can train on parts (see docs/howto)."] = "rect-plus"


app = typer.Typer(name="unseen.scale", add_completion=False, **SETTINGS)


@app.command(cls=Command)
@options.command
def scale(
    parts: Annotated[Path, "Folder that `unseen partition` wrote."],
    *,
    output: Annotated[Path, "Folder for the embedding, as Parquet parts."],
    checkpoint_every: Annotated[int, Limits(0), "Number of epochs between checkpoints; 0 writes none."] = 10,
    timeout: Annotated[
        float, Limits(1), "Seconds to wait for another process before the training fails."
    ] = 300,
    scratch: options.Scratch = None,
    force: options.Force = False,
    learning: PartsLearning,
    common: options.Common,
) -> None:
    """Train on the parts of a graph and write the embedding of every node.

    A single process trains on the whole graph; with torchrun, each process trains on its own parts.
    """
    from unseen.engine.comm import connect
    from unseen.engine.train import train
    from unseen.methods.registry import method_class

    method = learning.method
    flags: dict[str, Any] = {"n_components": learning.dim, "device": learning.device}
    rounds = [name for name in ("epochs", "max_iter") if name in method_class(method)._parameters]
    if rounds:
        flags[rounds[0]] = learning.epochs  # rounds of a factorisation are epochs, too
    elif learning.epochs is not None:
        logger.warning("--epochs has no effect: %s is not trained", method)
    params = options.parse_parameters(learning.param, method, **flags)
    with connect(timeout) as comm:
        machine: dict[str, Any] = {"threads": common.threads, "scratch": scratch, "force": force}
        report = print_json if common.json else None
        learned: dict[str, Any] = {"method": method, "params": params, "seed": common.seed}
        train(parts, output, comm, **learned, **machine, checkpoint_every=checkpoint_every, on_end=report)


def main(argv: list[str]) -> int:
    """Run the command and return its exit code; a message names the process it comes from."""
    if not {"-v", "--verbose", "--debug"} & set(argv):
        # pages of C++ names around every lost connection
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")
    rank, size = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    who = f"unseen: process {rank}: " if size > 1 else "unseen: "
    # process 0 tells for all; the others are silent unless something is wrong
    level = logging.INFO if rank == 0 else logging.ERROR
    return run(argv, app, "python -m unseen.scale", who=who, level=level)
