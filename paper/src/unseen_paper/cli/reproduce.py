"""`unseen reproduce`: the paper's tables and figures, ours beside theirs."""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli import options
from unseen.cli.output import print_json, progress
from unseen.errors import InputError, UnseenError, counted, logger, need_library, unknown_name
from unseen_paper.cli import Output, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unseen_paper.experiments.catalog import Choice

NAMES = (
    "decline", "f1", "published-classifier", "words", "layouts", "seen-classes", "ablation", "alpha", "dimension",
    "balanced", "scalability", "all",
)  # fmt: skip
TABLES = ("decline", "f1", "published-classifier", "words")
"""Experiments without a figure."""
TITLE_LINES = {"text": "{}", "markdown": "## {}\n", "csv": "# {}", "latex": "% {}"}
"""What stands above each table of `all`."""
QUIET_SECONDS = 60
"""Where there is no bar, a line tells how far it is after so long, or after 25 runs."""


@options.command
def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(NAMES)}.")],
    *,
    dataset: Annotated[
        str | None, typer.Option(help="Data sets, separated by commas; the paper's if not given.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods, separated by commas; the paper's if not given (f1, balanced: and our own)."
        ),
    ] = None,
    rates: Annotated[
        str | None, typer.Option(help="Label rates, separated by commas; the paper's if not given.")
    ] = None,
    splits: Annotated[
        int | None, typer.Option(help="Number of splits; the paper's if not given.", min=1)
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Numbers of nodes of the scalability test, separated by commas.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = 1,
    cluster: Annotated[
        str | None,
        typer.Option(help="Dask scheduler whose workers do the runs: tcp://host:8786.", metavar="ADDRESS"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of results; a second start continues there.")] = Path(
        "unseen-results"
    ),
    output: Output,
) -> None:
    """Run an experiment of the paper; print its table beside the paper's figures, write csv and figures."""
    if experiment not in NAMES:
        raise unknown_name("experiment", experiment, NAMES)
    from unseen.data.datasets import dataset_names
    from unseen.data.files import make_folder
    from unseen.methods.registry import method_names
    from unseen_paper.experiments.catalog import EXPERIMENTS, Choice
    from unseen_paper.experiments.evidence import COLLECTED, collected
    from unseen_paper.experiments.results import ResultTable
    from unseen_paper.experiments.runner import on_cluster, run_all
    from unseen_paper.report.experiments import tabulated, write_claims, write_report
    from unseen_paper.report.figures import pyplot
    from unseen_paper.report.layouts import write_layouts
    from unseen_paper.report.scalability import write_scalability
    from unseen_paper.report.tables import STYLES
    from unseen_paper.report.words import write_words

    if output.style not in STYLES:
        raise unknown_name("style", output.style, STYLES)
    shares = None if rates is None else numbers(rates, "--rates")
    for rate in shares or ():
        if not 0 < rate < 1:
            msg = f"`--rates` takes shares between 0 and 1, such as 0.3, got {rate:g}"
            raise InputError(msg)
    choice = Choice(
        _checked(dataset, "data set", dataset_names()),
        _checked(methods, "method", method_names()),
        shares,
        splits,
    )
    nodes = None if sizes is None else numbers(sizes, "--sizes")
    if experiment not in TABLES:
        pyplot()  # rather say now than after hours of runs that figures cannot be drawn
    if experiment in ("layouts", "all"):
        need_library("openTSNE", "a map of the paper", "viz")
    make_folder(out)
    table = ResultTable(out / "runs.csv")

    def report(name: str) -> tuple[list[dict[str, object]], str]:
        alone = experiment == name
        if name == "words":  # of all experiments, this one has its own data sets
            return write_words(choice if alone else Choice(), out, style=output.style)
        with progress(name) as move, on_cluster(cluster):
            tell = move or _teller()
            if name == "scalability":  # of all experiments, this one has its own methods
                own = choice if alone else Choice()
                rows, text = write_scalability(own, out, sizes=nodes, style=output.style, on_progress=tell)
            if name == "layouts":
                rows, text = write_layouts(choice, out, style=output.style, on_progress=tell)
                _tell_left_out(name, choice, [(row["dataset"], row["method"]) for row in rows], alone)
            if name in ("layouts", "scalability"):
                _tell_failed(name, [row["error"] for row in rows], out, alone)
                return rows, text
            runs = EXPERIMENTS[name].runs(choice)
            _tell_left_out(name, choice, [(run.dataset, run.method) for run in runs], alone)
            left = len(table.missing(runs))
            logger.info("%s: %s, %d done before", name, counted(len(runs), "run"), len(runs) - left)
            results = run_all(runs, table, n_jobs=jobs, on_progress=tell)
        _tell_failed(name, [result.error for result in results], table.path, alone)
        all_so_far = collected(name, table, choice) if name in COLLECTED else []
        write_report(name, all_so_far or results, out)
        return tabulated(name, results, style=output.style)

    rows_of = {}
    for name in [name for name in NAMES if name != "all"] if experiment == "all" else [experiment]:
        rows_of[name], text = report(name)
        if not output.json:
            if experiment == "all":
                title = EXPERIMENTS[name].title if name in EXPERIMENTS else name
                sys.stdout.write(TITLE_LINES[output.style].format(title) + "\n")
            sys.stdout.write(text)
    if output.json:
        print_json(rows_of if experiment == "all" else rows_of[experiment])
    try:
        logger.info("%s", write_claims(table, choice, out))
    except UnseenError as error:  # the results are there; a graph that is not available shall not hide them
        logger.warning("the paper's claims could not be judged: %s", error)


def _tell_left_out(name: str, choice: Choice, pairs: Sequence[tuple[str, str]], alone: bool) -> None:
    """Say which methods an experiment does not run, on which data sets, of those that were asked for."""
    datasets = list(dict.fromkeys([*(choice.datasets or ()), *(dataset for dataset, _ in pairs)]))
    left_out = []
    for method in choice.methods or ():
        without = [dataset for dataset in datasets if (dataset, method) not in pairs]
        if len(without) == len(datasets):
            left_out.append(method)
        elif without:
            left_out.append(f"{method} on {', '.join(without)}")
    if not left_out:
        return
    msg = (
        f"{name} leaves out {', '.join(left_out)}: without the parameter that it varies, or made for "
        "one label per node where nodes have several"
    )
    if not pairs and alone:
        raise InputError(msg)
    logger.warning("%s", msg)


def _tell_failed(name: str, errors: Sequence[str], path: Path, alone: bool) -> None:
    failed = [" ".join(error.split()) for error in errors if error]
    if failed:
        msg = f"{len(failed)} of {len(errors)} runs of {name} failed, the first with {failed[0]}; see {path} for all"
        if alone and len(failed) == len(errors):
            raise UnseenError(msg)
        logger.warning("%s", msg)


def _checked(text: str | None, kind: str, names: object) -> list[str] | None:
    words = options.split_names(text)
    for name in words:
        if name not in names:  # type: ignore[operator]
            raise unknown_name(kind, name, names)  # type: ignore[arg-type]
    return words or None


def _teller() -> Callable[..., None]:
    """Return a function that writes how far a sweep is, a line now and then."""
    start = last = time.monotonic()

    def tell(done: int, total: int, failed: int = 0) -> None:
        nonlocal last
        now = time.monotonic()
        if (
            now - last > QUIET_SECONDS
            or done % 25 == 0
            or done == total
            or logger.isEnabledFor(logging.DEBUG)
        ):
            last = now
            left = f"{(now - start) / done * (total - done) / 60:.0f} min left" if done < total else "done"
            logger.info("%d of %d runs, %d failed, %s", done, total, failed, left)

    return tell
