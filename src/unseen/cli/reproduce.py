"""`unseen reproduce`: the paper's tables and figures, ours beside theirs."""

from __future__ import annotations

import csv
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.output import print_json, progress
from unseen.errors import logger, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.experiments.runner import Progress

EXPERIMENTS = ("f1",)


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(EXPERIMENTS)}.")],
    dataset: Annotated[
        str | None, typer.Option(help="Data sets, separated by commas; all five if not given.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Methods, separated by commas; those of the paper if not given.")
    ] = None,
    rates: Annotated[str, typer.Option(help="Label rates, separated by commas.")] = "0.1,0.3,0.5",
    splits: Annotated[
        int | None, typer.Option(help="Number of splits; all of the protocol if not given.", min=1)
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = 1,
    out: Annotated[Path, typer.Option(help="Folder of results; a second start continues there.")] = Path(
        "unseen-results"
    ),
    style: Annotated[
        str, typer.Option("--format", help="text, markdown, csv or latex.", metavar="STYLE")
    ] = "text",
    json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Run an experiment of the paper and print its table beside the paper's figures."""
    from unseen.cli.folders import make_folder
    from unseen.datasets import dataset_names, load_dataset
    from unseen.experiments.paper import DATASETS, TITLES
    from unseen.experiments.plan import f1_runs
    from unseen.experiments.results import ResultTable
    from unseen.experiments.runner import run_all
    from unseen.experiments.summary import f1_rows, f1_table
    from unseen.methods.registry import METHODS

    if experiment not in EXPERIMENTS:
        raise unknown_name("experiment", experiment, EXPERIMENTS)
    chosen = options.names(dataset) or list(DATASETS)
    wanted = options.names(methods) or [name for name in TITLES if name in METHODS]
    for name in chosen:
        if name not in dataset_names():
            raise unknown_name("data set", name, dataset_names())
    for name in wanted:
        if name not in METHODS:
            raise unknown_name("method", name, METHODS)
    make_folder(out)
    runs = [
        run
        for name in chosen
        for run in f1_runs(name, load_dataset(name).labels, wanted, options.numbers(rates, "--rates"), splits)
    ]
    table = ResultTable(out / "runs.csv")
    logger.info("%d runs, %d of them done before", len(runs), len(runs) - len(table.missing(runs)))
    with progress("runs") as move:
        results = run_all(runs, table, n_jobs=jobs, on_progress=_teller(move))
    rows = f1_rows(results)
    _write_csv(rows, out / f"{experiment}.csv")
    if json:
        print_json(rows)
    else:
        sys.stdout.write(f1_table(rows, style=style))


def _teller(move: Callable[[int, int], None] | None) -> Callable[[Progress], None]:
    def tell(state: Progress) -> None:
        if move:
            move(state.done, state.total)
        elif logger.isEnabledFor(logging.DEBUG) or state.done % 25 == 0 or state.done == state.total:
            left = f"{state.seconds_left / 60:.0f} min left" if state.done < state.total else "done"
            logger.info("%d of %d runs, %d failed, %s", state.done, state.total, state.failed, left)

    return tell


def _write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    from unseen.io.files import atomic_path

    if not rows:
        return
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
