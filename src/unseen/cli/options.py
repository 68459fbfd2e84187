"""Options that several commands share, declared once, and the groups of them that commands take as values."""

from __future__ import annotations

import inspect
import logging
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

import typer

from unseen.cli.output import set_level
from unseen.data.files import STANDARD
from unseen.errors import InputError, UsageError
from unseen.params import Limits, Parameter

SHORT = {"output": "-o", "method": "-m"}
"""Short flags of options, the same in every command."""
METAVARS = {Path: "FILE", int: "N", float: "NUMBER", str: "TEXT"}
"""What the help shows for a value, unless :class:`As` says it."""
PARAMETERS = {
    "dim": "n_components",
    "classes": "n_classes",
    "seed": "random_state",
    "source": "edges",
    "embedding": "vectors",
}
"""Options that a parameter of another name takes; a message that names the parameter shows the flag."""


@dataclass(frozen=True)
class As:
    """What the help shows for a value."""

    text: str


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


def refuse_two_outputs(json: bool, *outputs: Path | None) -> None:
    """Raise a `UsageError` where a file and the report, or two files, would go to the standard output."""
    count = sum(str(output) == STANDARD for output in outputs)
    if count > 1 or (count and json):
        msg = "only one result can go to the standard output: leave out --json, or name a file instead of -"
        raise UsageError(msg)


def names(value: str | None) -> list[str]:
    """Split a comma-separated list of names."""
    return [part.strip() for part in value.split(",") if part.strip()] if value else []


Source = Annotated[str, "An edge file, or the name of a data set (see `unseen datasets`)."]
LabelFiles = Annotated[list[Path] | None, "Label file (node, label). Repeat it to combine several files."]
Header = Annotated[bool | None, "Whether text files begin with column names. Default: detected."]
Delimiter = Annotated[
    str | None, As("CHAR"), "Character between the columns of text files. Default: detected."
]
Project = Annotated[
    Path | None,
    As("[FILE]"),
    "Project file to use, also where a graph is given. Default: unseen.toml, where no graph is given.",
]
Dim = Annotated[int | None, Limits(1), "Number of dimensions of the embedding."]
Epochs = Annotated[int | None, Limits(0), "Number of training epochs."]
Param = Annotated[
    list[str] | None,
    As("NAME=VALUE"),
    "Another parameter, see `unseen methods NAME`. Repeatable.",
]
Seed = Annotated[int, Limits(0), "Random seed."]
Device = Annotated[str | None, As("auto|cpu|cuda|cuda:1"), "Device to train on; cuda:1 is the second GPU."]
Threads = Annotated[
    int | None, typer.Option(help="Number of threads.", min=1, callback=_threads, is_eager=True)
]
Scratch = Annotated[Path | None, "Folder for arrays that do not fit in memory."]
Force = Annotated[bool, "Start even if the memory is estimated to be too small."]
TableFile = Annotated[Path | None, "Output file (.csv, .tsv, .parquet or .json); - writes csv to stdout."]
Json = Annotated[bool, "Print a JSON report to stdout."]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", callback=_verbose, help="Print more messages.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", callback=_quiet, help="Print errors only.")]
Debug = Annotated[
    bool,
    typer.Option("--debug", callback=_verbose, help="Print more messages, and the traceback of an error."),
]


@dataclass(frozen=True)
class Messages:
    """What a command prints; the callbacks of -v, -q and --debug have run before the command does."""

    heading: ClassVar[str] = "General"

    json: Json = False
    verbose: Verbose = False
    quiet: Quiet = False
    debug: Debug = False


@dataclass(frozen=True)
class Common(Messages):
    """The options of every command that computes."""

    seed: Seed = 0
    threads: Threads = None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its option groups as parameters, which is what typer reads.

    A group is a dataclass with the heading that its fields have in the help. So what several commands share is declared
    once, and arrives as one value. A parameter is annotated as typer wants it, or with its limits and its meaning, as
    those of methods are (:mod:`unseen.params`), and perhaps with :class:`As`.

    Examples
    --------
    >>> def command(seed: int, common: Messages) -> None: ...
    >>> list(inspect.signature(grouped(command)).parameters)
    ['seed', 'json', 'verbose', 'quiet', 'debug']
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        group = groups.get(parameter.name)
        listed = [parameter] if group is None else inspect.signature(group).parameters.values()
        annotations = hints if group is None else get_type_hints(group, include_extras=True)
        argument = group is None and parameter.kind is not inspect.Parameter.KEYWORD_ONLY
        for each in listed:
            annotation = _for_typer(annotations[each.name], each, argument=argument)
            parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation))

    def call(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{each.name: values.pop(each.name) for each in fields(group)})
        command(**values)

    own = {each.name: each for each in parameters}
    if "project" in own and own["source"].default is inspect.Parameter.empty:
        call.needs_graph = True  # type: ignore[attr-defined]
        own["source"] = own["source"].replace(default=None)  # the project file may name it
        parameters = list(own.values())
    call.headings = {  # type: ignore[attr-defined]
        each: next(kind.heading for kind in group.__mro__ if each in vars(kind).get("__annotations__", {}))
        for group in groups.values()
        for each in inspect.signature(group).parameters
    }
    call.__name__, call.__doc__ = command.__name__, command.__doc__
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call


def _for_typer(hint: Any, parameter: inspect.Parameter, *, argument: bool) -> Any:
    """Return an annotation as typer wants it, given one with limits and a meaning; others as they are."""
    if not any(isinstance(note, str) for note in getattr(hint, "__metadata__", ())):
        return hint
    declared = Parameter.declared(parameter.name, hint, parameter.default)
    limits = {"min": declared.allowed.limits.low, "max": declared.allowed.limits.high}
    given: dict[str, Any] = {name: limit for name, limit in limits.items() if abs(limit) < math.inf}
    kinds = (declared.allowed.each or declared.allowed).kinds
    usual = parameter.name.upper() if argument else next((METAVARS[kind] for kind in kinds), None)
    given["metavar"] = next((note.text for note in hint.__metadata__ if isinstance(note, As)), usual)
    if parameter.default is False:
        given["show_default"] = False
    flags = [SHORT[parameter.name]] if parameter.name in SHORT else []
    flag = parameter.name.replace("_", "-")
    if parameter.default is False and not flag.startswith("no-"):
        flags.append(f"--{flag}/--no-{flag}")  # the negation overrides a project file, and is not in the help
    elif flags or parameter.default is False:
        flags.append(f"--{flag}")
    make = typer.Argument if argument else typer.Option
    return Annotated[declared.type, make(*flags, help=declared.meaning, **given)]


def parameter_names(pairs: list[str] | None) -> list[str]:
    """Return the names of `name=value` texts."""
    return [pair.partition("=")[0].strip().replace("-", "_") for pair in pairs or []]


def parse_parameters(pairs: list[str] | None, method: str, **flags: Any) -> dict[str, Any]:
    """Turn `name=value` texts into keyword arguments of a method, by what its class declares.

    They come after the values of those `flags` that were given.
    """
    from unseen.methods.registry import method_class

    parsed = {name: value for name, value in flags.items() if value is not None}
    for name, pair in zip(parameter_names(pairs), pairs or [], strict=True):
        cls = method_class(method)
        _, equals, text = pair.partition("=")
        if not equals or not name:
            msg = f"--param takes NAME=VALUE, got {pair!r}"
            raise InputError(msg)
        parameter = cls.parameter(name)
        parsed[parameter.name] = parameter.parse(text.strip(), cls.__name__)
    return parsed
