"""Flags that several commands share, declared once."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.output import set_level
from unseen.errors import InputError


def _quiet(value: bool) -> bool:
    if value:
        set_level(logging.ERROR)
    return value


def _verbose(value: bool) -> bool:
    if value:
        set_level(logging.DEBUG)
    return value


def _threads(value: int | None) -> int | None:
    """Set the thread counts before the numerical libraries are loaded."""
    if value is not None:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = str(value)
    return value


def character(text: str | None) -> str | None:
    """Return the delimiter a user means, who can hardly type a tab."""
    return {"tab": "\t", "\\t": "\t", "blank": " ", "space": " "}.get(text, text) if text else None


def names(value: str | None) -> list[str]:
    """Split a comma-separated list of names."""
    return [part.strip() for part in value.split(",") if part.strip()] if value else []


Source = Annotated[str, typer.Argument(help="A data set's name (see `unseen datasets`) or an edge file.")]
Nodes = Annotated[Path | None, typer.Option(help="File of node ids, one a line; names isolated nodes too.")]
Features = Annotated[Path | None, typer.Option(help="File of node features.")]
LabelsFile = Annotated[Path | None, typer.Option("--labels", help="File of labels: node, label.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether text files start with a line of names; guessed if not given."
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What separates the columns of text files; guessed if not given.", metavar="CHAR"),
]
Symmetrize = Annotated[
    str, typer.Option(help="What becomes of a pair listed twice: max, sum or error.", metavar="max|sum|error")
]
DropNegative = Annotated[bool, typer.Option("--drop-negative", help="Leave out edges of negative weight.")]
Unseen = Annotated[str | None, typer.Option(help="Classes to hide from the embedding, separated by commas.")]
LabelRate = Annotated[
    float | None,
    typer.Option(help="Share of the labels to keep, the others being left for a test; all if not given."),
]
Dim = Annotated[int | None, typer.Option(help="Number of columns of the embedding.", min=1)]
Epochs = Annotated[int | None, typer.Option(help="Number of training epochs.", min=0)]
Seed = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]
Device = Annotated[str | None, typer.Option(help="auto, cpu or cuda.", metavar="auto|cpu|cuda")]
Threads = Annotated[
    int | None, typer.Option(help="Number of threads.", min=1, callback=_threads, is_eager=True)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", callback=_verbose, help="Say more.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", callback=_quiet, help="Say nothing but errors.")]


Scratch = Annotated[
    Path | None, typer.Option(help="Folder for arrays that do not fit in memory.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Begin even if the memory looks too small.")]


def parse_parameters(pairs: list[str]) -> dict[str, object]:
    """Turn `name=value` texts into keyword arguments; numbers, true, false and none are recognised."""
    parsed: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            msg = f"`--param` takes name=value, got {pair!r}"
            raise InputError(msg)
        parsed[name.strip().replace("-", "_")] = _value(text.strip())
    return parsed


def _value(text: str) -> object:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def numbers(text: str, flag: str) -> list[float]:
    """Split a comma-separated list of numbers."""
    try:
        return [float(part) for part in names(text)]
    except ValueError:
        msg = f"`{flag}` takes numbers separated by commas, got {text!r}"
        raise InputError(msg) from None
