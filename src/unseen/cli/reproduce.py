"""`unseen reproduce`: the paper's tables and figures, ours beside theirs."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli import options
from unseen.cli.output import print_json, progress
from unseen.errors import InputError, UnseenError, logger, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen.experiments.results import Result
    from unseen.experiments.runner import Progress

NAMES = (
    "decline", "f1", "layouts", "seen-classes", "ablation", "alpha", "dimension", "balanced", "scalability", "all",
)  # fmt: skip
TABLES = ("decline", "f1")
"""Experiments without a figure."""
GRID_CHOICES = ("inside", "best")


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(NAMES)}.")],
    dataset: Annotated[
        str | None, typer.Option(help="Data sets, separated by commas; the paper's if not given.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Methods, separated by commas; the paper's if not given.")
    ] = None,
    rates: Annotated[
        str | None, typer.Option(help="Label rates, separated by commas; the paper's if not given.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(help="Number of splits; the paper's if not given.", min=1)
    ] = None,
    grid: Annotated[
        str,
        typer.Option(
            help="f1: weights from a grid are chosen inside the seen labels, or, for comparison, best on test nodes.",
            metavar="inside|best",
        ),
    ] = "inside",
    sizes: Annotated[
        str | None, typer.Option(help="Numbers of nodes of the scalability test, separated by commas.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = 1,
    cluster: Annotated[
        str | None,
        typer.Option(help="Dask scheduler whose workers do the runs: tcp://host:8786.", metavar="ADDRESS"),
    ] = None,
    threads: options.Threads = None,
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
    """Run an experiment of the paper; print its table beside the paper's figures, write csv and figures."""
    if experiment not in NAMES:
        raise unknown_name("experiment", experiment, NAMES)
    from unseen.datasets import dataset_names
    from unseen.experiments.catalog import EXPERIMENTS, Choice
    from unseen.experiments.evidence import COLLECTED, collected
    from unseen.experiments.results import ResultTable
    from unseen.experiments.runner import run_all
    from unseen.io.files import make_folder
    from unseen.methods.registry import METHODS
    from unseen.report.experiments import tabulated, write_claims, write_report
    from unseen.report.figures import pyplot
    from unseen.report.layouts import write_layouts
    from unseen.report.scalability import write_scalability
    from unseen.report.tables import STYLES
    from unseen.scale.cluster import on_cluster

    if grid not in GRID_CHOICES:
        raise unknown_name("way to choose from a grid", grid, GRID_CHOICES)
    if style not in STYLES:
        raise unknown_name("style", style, STYLES)
    choice = Choice(
        _checked(dataset, "data set", dataset_names()),
        _checked(methods, "method", METHODS),
        None if rates is None else _shares(rates),
        splits,
        grid,
    )
    nodes = None if sizes is None else options.numbers(sizes, "--sizes")
    if experiment not in TABLES:
        pyplot()  # rather say now than after hours of runs that figures cannot be drawn
    make_folder(out)
    table = ResultTable(out / "runs.csv")

    def report(name: str) -> tuple[list[dict[str, object]], str]:
        with progress(name) as move, on_cluster(cluster):
            if name == "layouts":
                return write_layouts(choice, out, style=style, n_jobs=jobs, on_progress=move or _tell)
            if name == "scalability":
                asked = (
                    choice if experiment == name else Choice()
                )  # of all experiments, this one has its own methods
                return write_scalability(asked, out, sizes=nodes, style=style, on_progress=move or _tell)
            runs = EXPERIMENTS[name].runs(choice)
            left_out = sorted(set(choice.methods or ()) - {run.method for run in runs})
            if left_out:
                msg = (
                    f"{name} leaves out {', '.join(left_out)}: without the parameter that it varies, or made for "
                    "one label a node where nodes have several"
                )
                if not runs and experiment == name:
                    raise InputError(msg)
                logger.warning("%s", msg)
            left = len(table.missing(runs))
            logger.info("%s: %d runs, %d of them done before", name, len(runs), len(runs) - left)
            results = run_all(runs, table, n_jobs=jobs, on_progress=_teller(move))
        _tell_failed(name, results, table.path, alone=experiment == name)
        kind = "f1, best of grid" if name == "f1" and grid == "best" else name
        write_report(kind, collected(name, table, choice) if kind in COLLECTED else results, out)
        return tabulated(kind, results, style=style)

    found = {}
    for name in [name for name in NAMES if name != "all"] if experiment == "all" else [experiment]:
        found[name], text = report(name)
        if not json:
            sys.stdout.write(text)
    logger.info("%s", write_claims(table, choice, out))
    if json:
        print_json(found if experiment == "all" else found[experiment])


def _tell(done: int, total: int) -> None:
    logger.info("%d of %d done", done, total)


def _tell_failed(name: str, results: Sequence[Result], path: Path, *, alone: bool) -> None:
    failed = [" ".join(result.error.split()) for result in results if result.error]
    if failed:
        msg = f"{len(failed)} of {len(results)} runs of {name} failed, the first with {failed[0]}; see {path} for all"
        if alone and len(failed) == len(results):
            raise UnseenError(msg)
        logger.warning("%s", msg)


def _checked(text: str | None, kind: str, known: object) -> list[str] | None:
    chosen = options.names(text)
    for name in chosen:
        if name not in known:  # type: ignore[operator]
            raise unknown_name(kind, name, known)  # type: ignore[arg-type]
    return chosen or None


def _shares(text: str) -> list[float]:
    rates = options.numbers(text, "--rates")
    for rate in rates:
        if not 0 < rate < 1:
            msg = f"`--rates` takes shares between 0 and 1, such as 0.3, got {rate:g}"
            raise InputError(msg)
    return rates


def _teller(move: Callable[..., None] | None) -> Callable[[Progress], None]:
    def tell(state: Progress) -> None:
        if move:
            move(state.done, state.total, state.failed)
        elif logger.isEnabledFor(logging.DEBUG) or state.done % 25 == 0 or state.done == state.total:
            left = f"{state.seconds_left / 60:.0f} min left" if state.done < state.total else "done"
            logger.info("%d of %d runs, %d failed, %s", state.done, state.total, state.failed, left)

    return tell
