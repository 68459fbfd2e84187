"""The project file `unseen.toml`: which files a project consists of and how they are read.

Each key is the name of an option of the command line, and `graph` is the file of edges. Paths are relative to the
project file. Every mistake in it is an error that names the line and the key.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unseen.data.files import atomic_path
from unseen.data.sources import missing_file
from unseen.errors import InputError, unknown_name
from unseen.params import Parameter

NAME = "unseen.toml"
GRAPH = "graph"
HEADING = """\
# Project file of unseen. In this folder `unseen discover`, `embed`, `predict`, `suggest`, `audit`, `explore` and
# `label` need no arguments. Each key is an option of these commands (`unseen discover --help`); an option on the
# command line overrides it. Paths are relative to this file.
"""
EXPECTED = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: 'a text in quotes, e.g. "{0}"',
    Path: 'a file name in quotes, e.g. "{0}.csv"',
}
"""What each type of value is called in an error message."""


@dataclass(frozen=True)
class Project:
    """A project file that was read: its values by key, with paths that are valid in the current folder."""

    path: Path
    values: Mapping[str, Any]
    text: str

    def place(self, key: str) -> str:
        """Return where a key or a table begins, for a message."""
        start = re.search(rf"""^[ \t]*\[*[ \t]*["']?{re.escape(key)}(?![\w-])""", self.text, re.MULTILINE)
        return f"{self.path}, line {self.text.count(chr(10), 0, start.end()) + 1 if start else 1}"


def read_project(path: Path, declared: Mapping[str, Parameter]) -> Project:
    """Read a project file; every key must be one of `declared`, and every file must exist."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        values = tomllib.loads(text)
    except FileNotFoundError:
        raise missing_file(path, "`unseen init` writes a project file") from None
    except UnicodeDecodeError as error:
        msg = f"{path} is not a text in UTF-8 (byte {error.start}); save it as UTF-8"
        raise InputError(msg) from None
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise InputError(msg) from None
    except tomllib.TOMLDecodeError as error:
        # the message of the parser ends in the place
        what, number = str(error), len(text.split("\n"))
        if (place := re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", what)) is not None:
            what, number = what[: place.start()], int(place[1] or number)
        line = text.split("\n")[number - 1].strip()
        advice = 'texts and file names need quotes, e.g. graph = "edges.csv"'
        msg = f"{path}, line {number}: this is not valid TOML ({what}): {line!r}; {advice}"
        raise InputError(msg) from None
    project = Project(path, {}, text)
    checked = {}
    for key, value in values.items():
        if key not in declared:
            kind = "table" if isinstance(value, dict) else "key"
            msg = f"{project.place(key)}: {unknown_name(kind, key, declared)}"
            raise InputError(msg)
        checked[key] = _check_value(project, declared[key], value)
    if GRAPH not in checked:
        msg = f'{path}: the key {GRAPH!r} is missing; add a line such as {GRAPH} = "edges.csv"'
        raise InputError(msg)
    return Project(path, checked, text)


def write_project(path: Path, values: Mapping[str, Any]) -> None:
    """Write a project file."""
    lines = [f"{key} = {_as_toml(value)}\n" for key, value in values.items()]
    with atomic_path(path) as temporary:
        temporary.write_text(HEADING + "\n" + "".join(lines), encoding="utf-8", newline="\n")


def relative_path(path: Path, folder: Path) -> str:
    """Return a path as the project file in `folder` has it."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.absolute().as_posix()


def split_type(text: str, folder: Path) -> tuple[str, str]:
    """Return the prefix ``TYPE=`` of a feature file, or an empty text, and the file."""
    node_type, equals, file = text.partition("=")
    return (node_type + equals, file) if equals and not (folder / text).exists() else ("", text)


def _check_value(project: Project, parameter: Parameter, value: Any) -> Any:
    """Return a value with its paths joined to the folder of the project; a single value may stand for a list of one."""
    is_list = parameter.allowed.each is not None
    kind = next(iter((parameter.allowed.each or parameter.allowed).kinds), bool)
    entries = value if is_list and isinstance(value, list) else [value]
    limits = parameter.allowed.limits
    for entry in entries:
        wanted = {float: (int, float), Path: (str,)}.get(kind, (kind,))
        is_right = isinstance(entry, wanted) and isinstance(entry, bool) == (kind is bool)
        if not is_right or (kind in (int, float) and not limits.hold(entry)):
            expected = EXPECTED[kind].format(parameter.name) + (str(limits) if kind in (int, float) else "")
            many = ", or a list of them" if is_list else ""
            shown = json.dumps(entry, default=str, ensure_ascii=False)
            msg = f"{project.place(parameter.name)}: {parameter.name} must be {expected}{many}, got {shown}"
            raise InputError(msg)
    if kind is Path or parameter.name in (GRAPH, "features"):
        entries = [_find_file(project, parameter.name, entry) for entry in entries]
    return entries if is_list else entries[0]


def _find_file(project: Project, key: str, text: str) -> str:
    """Return a file of the project as a path from the current folder; `graph` may name a data set instead."""
    folder = project.path.parent
    node_type, name = split_type(text, folder) if key == "features" else ("", text)
    if (folder / name).exists():
        return f"{node_type}{folder / name}"
    from unseen.data.datasets import is_dataset_name

    if key == GRAPH and is_dataset_name(name):
        return name
    msg = f"{project.place(key)}: {missing_file(folder / name, f'correct the value of {key}')}"
    raise InputError(msg)


def _as_toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_as_toml(each) for each in value)}]"
    if isinstance(value, str):
        # JSON and TOML escape the same characters but one
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return str(value).lower() if isinstance(value, bool) else repr(value)
