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
from unseen.errors import UnseenError, UsageError, logger

FAILED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes; the last one is what typer and shells make of Ctrl-C."""

LOOKS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""What our programs have in common."""
COMMANDS = (
    "demo",
    "embed",
    "evaluate",
    "partition",
    "discover",
    "suggest",
    "audit",
    "explore",
    "convert",
    "datasets",
    "methods",
)
"""Each is a function in a module of its own name, so that a command imports itself only."""


def make_app(word: str | None) -> typer.Typer:
    """Return the command line; commands of other distributions are looked for unless `word` is one of our own."""
    about = "Node embeddings for graphs whose labels miss whole classes."
    app = typer.Typer(name="unseen", help=about, no_args_is_help=True, **LOOKS)
    app.callback()(_common)
    for name in [word] if word in COMMANDS else COMMANDS:
        app.command(name)(getattr(importlib.import_module(f"unseen.cli.{name}"), str(name)))
    if word not in COMMANDS:
        from unseen.cli import plugins

        for name, (function, text) in plugins.commands(word, COMMANDS).items():
            app.command(name, help=text)(function)
    return app


def _version(show: bool) -> None:
    if show:
        sys.stdout.write(f"unseen {unseen.__version__}\n")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
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
        if program is None:
            program = make_app(argv[0] if argv and not argv[0].startswith("-") else None)
        program(argv, prog_name=name, standalone_mode=True)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            return _failed("interrupted; no half-written file was left behind", who, INTERRUPTED)
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
