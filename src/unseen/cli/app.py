"""All commands in one place, and the one place where errors become a line on stderr."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import traceback
from typing import Annotated, Any

import typer

import unseen
from unseen.cli.output import say, set_level
from unseen.data.files import remove_temporaries
from unseen.errors import UnseenError, UsageError, logger

FAILED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes; the last one is what typer and shells make of Ctrl-C."""

LOOKS: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""What our programs have in common."""
COMMANDS = {
    "demo": ("See on a bundled real graph what happens to hidden classes.", ()),
    "embed": (
        "Learn a vector for every node and write them to a file.",
        (
            "unseen embed debian -o vectors.parquet",
            "unseen embed edges.csv --features features.csv --labels labels.csv -o vectors.npz",
            "cat edges.csv | unseen embed - --method mfdw --dim 64 -o -",
        ),
    ),
    "evaluate": (
        "Score an embedding file by classifying its nodes.",
        ("unseen evaluate vectors.parquet --labels labels.csv --unseen mail,web",),
    ),
    "partition": (
        "Cut a graph that need not fit in memory into parts.",
        ("unseen partition edges.parquet -o parts --parts 4",),
    ),
    "discover": (
        "Find the nodes and classes that nobody labelled.",
        (
            "unseen discover edges.csv --labels labels.csv -o nodes.csv",
            "unseen discover debian --unseen mail,web --label-rate 0.3",
        ),
    ),
    "suggest": (
        "Say which nodes to label next, and why.",
        ("unseen suggest edges.csv --labels labels.csv --budget 10 -o ask.csv",),
    ),
    "audit": ("List the labels that are probably wrong.", ("unseen audit edges.csv --labels labels.csv",)),
    "accept": (
        "Make labels of the groups that discover found.",
        ("unseen accept labels.csv nodes.parquet new-1=sound new-2=mail -o labels-2.csv",),
    ),
    "explore": (
        "Write a page to look at: map, findings, what to label next.",
        ("unseen explore edges.csv --labels labels.csv -o page.html",),
    ),
    "label": (
        "Label nodes on a page that finds out anew what the labels miss.",
        ("unseen label edges.csv --features features.csv --labels labels.csv",),
    ),
    "convert": (
        "Convert a graph, features, labels or vectors.",
        ("unseen convert graph.graphml edges.parquet", "unseen convert vectors.parquet vectors.w2v.txt"),
    ),
    "datasets": ("List the data sets, or load one.", ("unseen datasets debian",)),
    "methods": ("List the methods, or the parameters of one.", ("unseen methods rect-plus",)),
}
"""Each is a function in a module of its own name; its line in the list of commands, and examples for its help."""
FIRST = """\
unseen finds the classes that the labels of a graph miss. To try:
  unseen demo                                                 a bundled graph, in a minute
  unseen embed edges.csv -o vectors.parquet                   a vector for every node of your graph
  unseen discover edges.csv --labels labels.csv               what your labels miss
  unseen explore edges.csv --labels labels.csv -o page.html   the same, to look at; unseen --help lists all
"""
"""What `unseen` alone says."""


class Command(typer.core.TyperCommand):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group, in the order in which they are declared."""
        headings = getattr(self.callback, "headings", {})
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            usual = "Arguments" if param.param_type_name == "argument" else "Options"
            heading = "General" if param.name == "help" else headings.get(param.name, usual)
            if record is not None:
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def make_app(word: str | None) -> typer.Typer:
    """Return the command line with one command, or with the names of all; others are looked for if it is not ours."""
    about = "Node embeddings for graphs whose labels miss whole classes."
    app = typer.Typer(name="unseen", help=about, **LOOKS)
    app.callback()(_common)
    completing = "_UNSEEN_COMPLETE" in os.environ  # a shell asks, for options of any command
    for name, (summary, examples) in COMMANDS.items():
        function: Any = _nothing
        if name == word or completing:
            function = getattr(importlib.import_module(f"unseen.cli.{name}"), name)
        epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples) if examples else None
        app.command(name, cls=Command, short_help=summary, epilog=epilog)(function)
    if word not in COMMANDS:
        from unseen.cli import plugins

        for name, (added, text) in plugins.commands(word, COMMANDS).items():
            app.command(name, help=text)(added or _nothing)
    return app


def _nothing() -> None:
    """Stand in the list of commands for one that is not called."""


def _version(show: bool) -> None:
    if show:
        sys.stdout.write(f"unseen {unseen.__version__}\n")
        raise typer.Exit


def _common(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


def run(
    argv: list[str],
    program: typer.Typer | None = None,
    name: str = "unseen",
    *,
    who: str = "unseen: ",
    level: int = logging.INFO,
) -> int:
    """Run one command and return its exit code; no user ever sees a traceback without asking for it."""
    set_level(level)
    try:
        if program is None and not argv and "_UNSEEN_COMPLETE" not in os.environ:
            sys.stdout.write(FIRST)
            return 0
        if program is None:
            argv = [*argv[1:], "--help"] if argv[:1] == ["help"] else argv
            program = make_app(argv[0] if argv and not argv[0].startswith("-") else None)
        program(argv, prog_name=name, standalone_mode=True)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            left = ", ".join(map(str, remove_temporaries()))
            outcome = (
                f"temporary files are left, remove them: {left}"
                if left
                else "no half-written file was left behind"
            )
            return _failed(f"interrupted; {outcome}", who, INTERRUPTED)
        return stop.code if isinstance(stop.code, int) else 1
    except UnseenError as error:
        return _failed(str(error), who, USAGE if isinstance(error, UsageError) else FAILED)
    except BrokenPipeError:
        # the reader has gone: be quiet about it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        return _failed(
            "out of memory; try fewer columns (--dim), or a method with less memory (unseen methods)", who
        )
    except Exception as error:  # noqa: BLE001  # the last line of defence
        return _failed(
            f"unexpected {type(error).__name__}: {error} "
            "(this is a bug in unseen; -v shows the traceback, please report it)",
            who,
        )
    return 0


def _failed(sentence: str, who: str, code: int = FAILED) -> int:
    if logger.level == logging.DEBUG:  # -v was given
        traceback.print_exc(file=sys.stderr)
    say(who + " ".join(sentence.split()))
    return code
