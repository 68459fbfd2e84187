"""`unseen bench`: measurements as ratios from one run, because machines are shared and noisy."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Annotated

import typer

from unseen.cli import options
from unseen.cli.output import print_json
from unseen.errors import InputError, logger, unknown_name
from unseen_paper.cli import Output, numbers
from unseen_paper.report.tables import render

BENCHMARKS = {
    "rect": "RECT against a dense implementation and PyTorch Geometric's RECT_L",
    "default": "the default method beside others on eleven graphs, kept in the folder --out names",
    "few": "the default method with 30, 50 and 100 labels, kept in the folder --out names",
    "relations": "graphs with several types of nodes, kept in the folder --out names",
    "peers": "what a user would pick instead, each in an environment of its own below the folder --out names",
    "planted": "the default method on planted graphs of growing size: time, memory, F1",
    "rsdne": "RSDNE against a dense implementation",
    "gpu": "RECT and RECT(DW) on a GPU beside the processor, kept in scalability.csv of the folder --out names",
    "ranks": "one, two and four processes: the same vectors, memory of each, rows sent",
    "kill": "two processes, one of them killed at a random moment, twenty times",
    "discovery": "nine graphs, a third of the classes hidden; kept in discovery.csv, so that it can be taken up again",
    "reco_slip": "discovery beside RECO-SLIP, a published method; kept in reco_slip.csv",
    "constants": "what each constant of discovery is worth; kept in constants.csv, so that it can be taken up again",
    "guarantees": "error rates of discovery beside the truth; kept in guarantees.csv, so that it can be taken up again",
    "certificate": "how often the certificate of random answers is wrong, and labelling until it is given",
    "names": "missing classes that are known by name only; kept in names.csv",
    "loop": "a user who answers what suggest asks, beside random choice; kept in loop.csv",
}


@options.command
def bench(
    name: Annotated[str, typer.Argument(help=f"One of: {', '.join(BENCHMARKS)}.")],
    *,
    repeats: Annotated[int | None, typer.Option(help="How often each side is timed.", min=1)] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Numbers of nodes, separated by commas (planted, ranks, kill, gpu).")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Which methods, or tables of relations, separated by commas; all if not given."),
    ] = None,
    epochs: options.Epochs = None,
    before: Annotated[
        str | None, typer.Option(help="Python of the environment with the other version (default, few).")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(help="Folder of the runs, from which a later start goes on (default, peers)."),
    ] = None,
    scratch: Annotated[
        str | None,
        typer.Option(help="Folder for large graphs, arrays of the fit, vectors and a log (planted)."),
    ] = None,
    output: Output,
) -> None:
    """Measure speed and memory, and print the ratios with the machine they come from."""
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS)
    from unseen_paper.bench.report import machine

    run = importlib.import_module(f"unseen_paper.bench.{name}").run
    options_given = {
        "repeats": repeats,
        "sizes": None if sizes is None else [int(n) for n in numbers(sizes, "--sizes")],
        "methods": None if methods is None else options.split_names(methods),
        "epochs": epochs,
        "before": before,
        "out": out,
        "scratch": scratch,
    }
    arguments = {key: value for key, value in options_given.items() if value is not None}
    for key in arguments:
        if key not in inspect.signature(run).parameters:
            msg = f"the benchmark {name!r} has no --{key}"
            raise InputError(msg)
    logger.info("%s; this takes minutes", BENCHMARKS[name])
    tables = run(**arguments)
    if output.json:
        rows = [
            {"title": t.title, "rows": [dict(zip(t.header, row, strict=True)) for row in t.rows]}
            for t in tables
        ]
        print_json({"benchmark": name, "machine": machine(), "tables": rows})
        return
    for table in tables:
        sys.stdout.write(f"{table.title}\n\n{render(table.header, table.rows, style=output.style)}\n")
        sys.stdout.writelines(f"{note}\n" for note in table.notes)
    sys.stdout.write(f"\nMeasured on: {machine()}\n")
