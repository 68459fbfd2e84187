"""The commands that this distribution adds to `unseen`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from unseen.cli import options
from unseen.errors import InputError


@dataclass(frozen=True)
class Output(options.Messages):
    """How tables are printed, and how many threads make them."""

    style: Annotated[str, typer.Option("--format", help="text, markdown, csv or latex.", metavar="STYLE")] = (
        "text"
    )
    threads: options.Threads = None


def numbers(text: str, flag: str) -> list[float]:
    """Split a comma-separated list of numbers."""
    try:
        return [float(part) for part in options.split_names(text)]
    except ValueError:
        msg = f"`{flag}` takes numbers separated by commas, got {text!r}"
        raise InputError(msg) from None
