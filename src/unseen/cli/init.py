"""`unseen init`: look at the files of a project, print what they hold, and write `unseen.toml`."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from dataclasses import fields
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unseen.cli import options
from unseen.cli.inputs import LoadedGraph, NewClasses, Settings, is_dataset
from unseen.cli.output import align_table, print_json, translate_flags
from unseen.cli.project import project_options
from unseen.data.files import STANDARD
from unseen.data.project import GRAPH, NAME, relative_path, split_type, write_project
from unseen.errors import InputError, OutputError, UsageError, counted, first_of, logger

if TYPE_CHECKING:
    from unseen.data.pieces import Reader

    Layouts = dict[tuple[str, str], Reader[Any]]

COLUMNS = {"src": "src", "dst": "dst", "weight": "weight", "node": "node_column", "label": "label_column"}
"""What a column is read as, and the option that names the column."""


@options.command
def init(
    source: options.Source,
    *,
    output: Annotated[Path, "Project file to write."] = Path(NAME),
    force: Annotated[bool, "Replace an existing project file."] = False,
    new: NewClasses,
    settings: Settings,
) -> None:
    """Look at your files, print what they hold, and write a project file, unseen.toml.

    In the folder of unseen.toml, other commands need no arguments. All options given here are stored in it.
    """
    inputs = settings.paths(source)
    if Path(STANDARD) in inputs:
        msg = "a project file names files, which the standard input (-) is not; name a file"
        raise UsageError(msg)
    if output.exists() and not force:
        msg = f"{output} exists already; --force replaces it, -o writes to another file"
        raise OutputError(msg)
    options.check_outputs(False, inputs, output, example=NAME)
    warnings = BufferingHandler(sys.maxsize)
    warnings.setLevel(logging.WARNING)
    logger.addHandler(warnings)
    try:
        data = settings.load(source)
        layouts = {} if is_dataset(source) else _inspect_files(source, settings, data)
    finally:
        logger.removeHandler(warnings)
    doubts = [warnings.format(record) for record in warnings.buffer]
    doubts += [line for each in layouts.values() if not each.names for line in each.notices]
    values = _collect_values(source, output.parent, settings, new, layouts)
    write_project(output, values)
    report = {**_describe(data, layouts), "not_sure": list(dict.fromkeys(map(translate_flags, doubts)))}
    if settings.json:
        print_json({"output": str(output), **report, "project": values})
        return
    sys.stdout.write(_format(report))
    logger.info("written to %s; in its folder, `unseen discover` needs no arguments", output)


def _inspect_files(source: str, settings: Settings, data: LoadedGraph) -> Layouts:
    """Return how each file was read, by its role and name."""
    from unseen.data.read import attribute_source, inspect_file

    labels = settings.labels or []
    if not labels and settings.label_column:  # a column of another file, or an attribute of the nodes
        labels = [attribute_source(Path(source), settings.sources()["features"], settings.text)]
    roles = [("edges", Path(source)), ("nodes", settings.nodes)]
    roles += [("features", path) for path in settings.feature_files().values()]
    roles += [("text", settings.text), *(("labels", path) for path in labels)]
    layouts = {}
    for role, path in roles:
        known_ids = None if role == "edges" else data.graph.node_ids
        if path is not None:
            with suppress(InputError):  # it was read; a folder of several files has no layout of its own
                layouts[role, str(path)] = inspect_file(path, role, settings.reading(), known_ids)
    return layouts


def _collect_values(
    source: str, folder: Path, settings: Settings, new: NewClasses, layouts: Layouts
) -> dict[str, Any]:
    """Return the graph and every option that differs from its default, with paths relative to the project file.

    Columns whose names are not the usual ones are options, too; files must agree on the column of the ids.
    """
    given = {each.name: getattr(group, each.name) for group in (settings, new) for each in fields(group)}
    for meaning, option in COLUMNS.items():
        readers = [each for each in layouts.values() if meaning in each.columns]
        names = {each.columns[meaning] for each in readers if each.names}
        if len(names) == 1 and names != {meaning}:
            given[option] = str(*names)
    values: dict[str, Any] = {GRAPH: source if is_dataset(source) else Path(source)}
    for key, parameter in project_options().items():
        if key in given and (given[key] != parameter.default or key == "seed"):
            values[key] = given[key]
    if "features" in values:
        typed = [split_type(each, Path()) for each in values["features"]]
        values["features"] = [kind + relative_path(Path(file), folder) for kind, file in typed]
    for key, value in values.items():
        entries = value if isinstance(value, list) else [value]
        entries = [relative_path(each, folder) if isinstance(each, Path) else each for each in entries]
        values[key] = entries[0] if len(entries) == 1 else entries
    return values


def _describe(data: LoadedGraph, layouts: Layouts) -> dict[str, Any]:
    graph, labels = data.graph, data.labels
    classes = {} if labels is None else dict(zip(labels.classes, labels.counts.tolist(), strict=True))
    return {
        "files": [
            {"file": file, "role": role, "header": bool(layout.names), "columns": layout.columns}
            for (role, file), layout in layouts.items()
        ],
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "isolated": int(graph.isolated.sum()),
        "features": 0 if graph.features is None else int(graph.features.shape[1]),
        "classes": classes,
        "unlabelled": graph.n_nodes - (0 if labels is None else len(labels.labelled)),
    }


def _format(report: dict[str, Any]) -> str:
    files = []
    for each in report["files"]:
        columns = each["columns"].items()
        names = [f"{what}: {name if each['header'] else f'column {name + 1}'}" for what, name in columns]
        files.append([each["file"], each["role"], ", ".join(names)])
    classes = [f"{name} ({n:,})" for name, n in report["classes"].items()]
    isolated = f", {report['isolated']:,} without an edge" if report["isolated"] else ""
    counts = [
        ["nodes", f"{report['nodes']:,}{isolated}"],
        ["edges", f"{report['edges']:,}"],
        ["features", f"{report['features']:,}" if report["features"] else "none"],
        ["labels", f"{counted(len(classes), 'class')}: {first_of(classes)}" if classes else "none"],
        ["unlabelled", counted(report["unlabelled"], "node")],
        *(["not sure", line] for line in report["not_sure"]),
    ]
    table = align_table(["file", "read as", "columns"], files, left=3) + "\n" if files else ""
    return table + align_table(counts[0], counts[1:], left=2)
