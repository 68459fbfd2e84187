"""Options from a project file: which there are, and how they meet those of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

from unseen.cli.explore import PageOptions
from unseen.cli.inputs import NewClasses, Settings
from unseen.cli.options import Common, Learning, Source
from unseen.data.project import GRAPH, NAME, Project, read_project
from unseen.errors import InputError, UsageError
from unseen.params import Parameter

REPLACED = {
    "source": ("src", "dst", "weight", "edges_table"),
    "labels": ("label_column",),
    "embedding": ("method", "param"),
    "method": ("embedding",),
    "param": ("embedding",),
    "absolute": ("drop_negative",),
    "drop_negative": ("absolute",),
}
"""Options of the project file that an option on the command line replaces: columns of a file that is not read, and
options that cannot be combined with it."""
NODE_FILES = {"nodes", "features", "text", "labels"}
"""Files that may have the column `node_column`."""


def project_options() -> dict[str, Parameter]:
    """Return what a project file may hold: the graph, and the options that several commands share."""
    declared = {GRAPH: Parameter.from_hint(GRAPH, Source, None)}
    for group in (Settings, NewClasses, PageOptions, Learning):
        hints = get_type_hints(group, include_extras=True)
        for each in fields(group):
            if each.name == "seed" or each.name not in Common.__dataclass_fields__:
                declared.setdefault(each.name, Parameter.from_hint(each.name, hints[each.name], each.default))
    return declared


def find_project(given: Mapping[str, Any], *, needs_graph: bool) -> Project | None:
    """Return the project file that is named, or else that of this folder; None if there is none and none is needed."""
    path = Path(given.get("project") or NAME)
    if "project" in given or path.exists():
        project = read_project(path / NAME if path.is_dir() else path, project_options())
        if "method" in project.values:
            from unseen.methods.registry import method_class

            try:
                method_class(project.values["method"])
            except InputError as error:
                msg = f"{project.place('method')}: {error}"
                raise InputError(msg) from None
        return project
    if needs_graph or given.get("embedding") is None:
        msg = (
            "there is no graph: name an edge file or a data set, or write a project file for this folder with "
            "`unseen init edges.csv --labels labels.csv`"
        )
        raise UsageError(msg)
    return None


def project_defaults(project: Project, given: Mapping[str, Any], command: str | None) -> dict[str, Any]:
    """Return the values that options of a command have if the command line does not give them."""
    values = {"source" if key == GRAPH else key: value for key, value in project.values.items()}
    typed = {name for name, value in given.items() if value}
    replaced = {other for name in typed for other in REPLACED.get(name, ())}
    own_files = NODE_FILES & values.keys()
    if own_files and own_files <= typed:
        replaced.add("node_column")
    values = {key: value for key, value in values.items() if key not in replaced}
    return values | ({"output": "vectors.parquet"} if command == "embed" else {})  # it needs an output
