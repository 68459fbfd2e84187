"""Options that several commands share, declared once, and the groups of them that commands take as values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

import typer

from unseen.data.files import STANDARD
from unseen.errors import InputError, UsageError
from unseen.params import Limits, Parameter

SHORT = {"output": "-o", "method": "-m", "verbose": "-v", "quiet": "-q"}
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
"""Options whose parameter in the library has another name; a message that names the parameter shows the flag."""


@dataclass(frozen=True)
class As:
    """What the help shows for a value."""

    text: str


NAME = As("NAME")
Source = Annotated[str, "An edge file, or the name of a data set (see `unseen datasets`)."]
Header = Annotated[bool | None, "Whether text files begin with column names. Default: detected."]
Delimiter = Annotated[
    str | None, As("CHAR"), "Character between the columns of text files. Default: detected."
]
Project = Annotated[
    Path | None,
    As("[FILE]"),
    "Project file to use, also where a graph is given. Default: unseen.toml, where no graph is given.",
]
Output = Annotated[Path | None, "Output file (.csv, .tsv, .parquet or .json); - writes csv to stdout."]
Epochs = Annotated[int | None, Limits(0), "Number of training epochs."]
Param = Annotated[
    list[str] | None, As("NAME=VALUE"), "Another parameter, see `unseen methods NAME`. Repeatable."
]
Threads = Annotated[int | None, Limits(1), "Number of threads."]
Scratch = Annotated[Path | None, "Folder for arrays that do not fit in memory."]
Force = Annotated[bool, "Start even if the memory is estimated to be too small."]


@dataclass(frozen=True)
class Messages:
    """What a command prints; the level of messages is set before the command runs."""

    heading: ClassVar[str] = "General"

    json: Annotated[bool, "Print a JSON report to stdout."] = False
    verbose: Annotated[bool, "Print more messages."] = False
    quiet: Annotated[bool, "Print errors only."] = False
    debug: Annotated[bool, "Print more messages, and the traceback of an error."] = False


@dataclass(frozen=True)
class Common(Messages):
    """The options of every command that computes."""

    seed: Annotated[int, Limits(0), "Random seed."] = 0
    threads: Threads = None


@dataclass(frozen=True)
class Learning:
    """How an embedding is learned."""

    heading: ClassVar[str] = "Learning"

    method: Annotated[str | None, "Method, see `unseen methods`. Default: rect-plus."] = None
    dim: Annotated[int | None, Limits(1), "Number of dimensions of the embedding."] = None
    epochs: Epochs = None
    device: Annotated[
        str | None, As("auto|cpu|cuda|cuda:1"), "Device to train on; cuda:1 is the second GPU."
    ] = None
    param: Param = None


def as_delimiter(text: str | None) -> str | None:
    """Return the delimiter a user means, who cannot easily type a tab."""
    return {"tab": "\t", "\\t": "\t", "blank": " ", "space": " "}.get(text, text) if text else None


def refuse_two_outputs(json: bool, *outputs: Path | None) -> None:
    """Raise a `UsageError` where a file and the report, or two files, would go to the standard output."""
    count = sum(str(output) == STANDARD for output in outputs)
    if count > 1 or (count and json):
        msg = "only one result can go to the standard output: leave out --json, or name a file instead of -"
        raise UsageError(msg)


def check_outputs(
    json: bool, inputs: Iterable[object], *outputs: Path | None, example: str | None = None
) -> None:
    """Raise the error that writing these files would end in, before any work; `inputs` are files that are read."""
    from unseen.data.files import refuse_overwriting, require_writable

    refuse_two_outputs(json, *outputs)
    read = list(inputs)
    for path in filter(None, outputs):
        refuse_overwriting(path, read)
        require_writable(path, example=example)


def split_names(value: str | None) -> list[str]:
    """Split a comma-separated list of names."""
    return [part.strip() for part in value.split(",") if part.strip()] if value else []


def parameter_names(pairs: list[str] | None) -> list[str]:
    """Return the names of `name=value` texts."""
    return [pair.partition("=")[0].strip().replace("-", "_") for pair in pairs or []]


def parse_parameters(pairs: list[str] | None, method: str, **flags: Any) -> dict[str, Any]:
    """Turn `name=value` texts into keyword arguments of a method, by what its class declares.

    `flags` are parameters that have options of their own; those that are None are left out.
    """
    from unseen.methods.registry import method_class

    parsed = {name: value for name, value in flags.items() if value is not None}
    for name, pair in zip(parameter_names(pairs), pairs or [], strict=True):
        cls = method_class(method)
        _, equals, text = pair.partition("=")
        if not equals or not name:
            msg = f"--param takes NAME=VALUE, got {pair!r}"
            raise InputError(msg)
        parameter = cls._parameter(name)
        parsed[parameter.name] = parameter.parse(text.strip(), cls.__name__)
    return parsed


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function as typer reads it, with the fields of its option groups as parameters.

    A group is a dataclass with the heading that its fields have in the help. So what several commands share is declared
    once, and arrives as one value. A parameter is annotated with its limits and its meaning, as those of methods are
    (:mod:`unseen.params`), and perhaps with :class:`As`.

    Examples
    --------
    >>> def example(budget: int, messages: Messages) -> None: ...
    >>> list(inspect.signature(command(example)).parameters)
    ['budget', 'json', 'verbose', 'quiet', 'debug']
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: dict[str, inspect.Parameter] = {}
    headings: dict[str, str] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in groups:
            parameters[parameter.name] = _for_typer(parameter, hints[parameter.name])
            continue
        group = groups[parameter.name]
        annotations = get_type_hints(group, include_extras=True)
        for each in inspect.signature(group).parameters.values():
            option = each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            parameters[each.name] = _for_typer(option, annotations[each.name])
            owner = next(cls for cls in group.__mro__ if each.name in vars(cls).get("__annotations__", {}))
            headings[each.name] = owner.heading

    def call(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{each.name: values.pop(each.name) for each in fields(group)})
        function(**values)

    if "project" in parameters and parameters["source"].default is inspect.Parameter.empty:
        call.needs_graph = True  # type: ignore[attr-defined]
        parameters["source"] = parameters["source"].replace(default=None)  # the project file may name it
    call.headings = headings  # type: ignore[attr-defined]
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    call.__annotations__ = {name: each.annotation for name, each in parameters.items()}
    return call


def _for_typer(parameter: inspect.Parameter, hint: Any) -> inspect.Parameter:
    """Return a parameter with the annotation that typer reads, made of its limits and its meaning."""
    is_argument = parameter.kind is not inspect.Parameter.KEYWORD_ONLY
    parameter = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hint)
    if not any(isinstance(note, str) for note in getattr(hint, "__metadata__", ())):
        return parameter  # typer's own, such as the context
    declared = Parameter.from_hint(parameter.name, hint, parameter.default)
    limits = {"min": declared.allowed.limits.low, "max": declared.allowed.limits.high}
    settings: dict[str, Any] = {name: limit for name, limit in limits.items() if abs(limit) < math.inf}
    kinds = (declared.allowed.each or declared.allowed).kinds
    usual = parameter.name.upper() if is_argument else next((METAVARS[kind] for kind in kinds), None)
    settings["metavar"] = next((note.text for note in hint.__metadata__ if isinstance(note, As)), usual)
    if parameter.default is False:
        settings["show_default"] = False
    flags = [SHORT[parameter.name]] if parameter.name in SHORT else []
    flag = parameter.name.replace("_", "-")
    if parameter.default is False and not flag.startswith("no-"):
        flags.append(f"--{flag}/--no-{flag}")  # the negation overrides a project file, and is not in the help
    elif flags or parameter.default is False:
        flags.append(f"--{flag}")
    make = typer.Argument if is_argument else typer.Option
    annotation: Any = Annotated[declared.type, make(*flags, help=declared.meaning, **settings)]
    return parameter.replace(annotation=annotation)
