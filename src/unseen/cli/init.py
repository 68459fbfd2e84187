"""`unseen init`: look at the files of a project, print what they hold, and write `unseen.toml`."""

from __future__ import annotations

import logging
import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

from unseen.cli import options
from unseen.cli.inputs import Input, NewClasses, Settings, is_dataset
from unseen.cli.output import aligned, print_json
from unseen.cli.project import project_options
from unseen.data.files import STANDARD, refuse_overwriting, require_writable
from unseen.data.project import GRAPH, NAME, relative_path, split_type, write_project
from unseen.errors import OutputError, UsageError, counted, first_of, logger


@options.grouped
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
    refuse_overwriting(output, inputs)
    require_writable(output, example=NAME)
    warnings = _Warnings()
    logger.addHandler(warnings)
    try:
        data = settings.load(source)
    finally:
        logger.removeHandler(warnings)
    values = _values(source, output.parent, settings, new)
    write_project(output, values)
    report = _report(data)
    if settings.json:
        print_json({"output": str(output), **report, "warnings": warnings.lines, "project": values})
        return
    sys.stdout.write(_as_text(report, warnings.lines))
    logger.info("written to %s; now `unseen discover` needs no arguments in this folder", output)


class _Warnings(logging.Handler):
    """Collects warnings: what the readers were not sure of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def _values(source: str, folder: Path, settings: Settings, new: NewClasses) -> dict[str, Any]:
    """Return the graph and every option that differs from its default, with paths relative to the project file."""
    given = {each.name: getattr(group, each.name) for group in (settings, new) for each in fields(group)}
    values: dict[str, Any] = {GRAPH: source if is_dataset(source) else Path(source)}
    for key, parameter in project_options().items():
        if key in given and (given[key] != parameter.default or key == "seed"):
            values[key] = given[key]
    if "features" in values:
        values["features"] = [_relative_features(each, folder) for each in values["features"]]
    return {key: _relative(value, folder) for key, value in values.items()}


def _relative(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_relative(each, folder) for each in value]
    return relative_path(value, folder) if isinstance(value, Path) else value


def _relative_features(text: str, folder: Path) -> str:
    node_type, path = split_type(text, Path())
    return node_type + relative_path(Path(path), folder)


def _report(data: Input) -> dict[str, Any]:
    graph, labels = data.graph, data.labels
    classes = {} if labels is None else dict(zip(labels.classes, labels.counts.tolist(), strict=True))
    n_labelled = 0 if labels is None else len(labels.labelled)
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "isolated": int(graph.isolated.sum()),
        "features": 0 if graph.features is None else int(graph.features.shape[1]),
        "classes": classes,
        "unlabelled": graph.n_nodes - n_labelled,
    }


def _as_text(report: dict[str, Any], warnings: list[str]) -> str:
    classes = [f"{name} ({n:,})" for name, n in report["classes"].items()]
    isolated = f", {report['isolated']:,} without an edge" if report["isolated"] else ""
    rows = [
        ["nodes", f"{report['nodes']:,}{isolated}"],
        ["edges", f"{report['edges']:,}"],
        ["features", f"{report['features']:,}" if report["features"] else "none"],
        ["labels", f"{counted(len(classes), 'class')}: {first_of(classes)}" if classes else "none"],
        ["unlabelled", counted(report["unlabelled"], "node")],
        *(["not sure", line] for line in warnings),
    ]
    return aligned(["", ""], rows, left=2).lstrip()
