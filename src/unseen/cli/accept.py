"""`unseen accept`: candidate classes become labels in one step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from unseen.cli import options, skip_pandas
from unseen.cli.output import print_json
from unseen.errors import UsageError, logger
from unseen.params import Limits


@options.command
def accept(
    labels: Annotated[Path, "Label file: node, label."],
    nodes: Annotated[Path, "The file that `unseen discover -o nodes.parquet` wrote."],
    groups: Annotated[
        list[str],
        options.As("GROUP=CLASS..."),
        "A candidate class and its name; without a name it is left out.",
    ],
    *,
    at_least: Annotated[float, Limits(0, 1), "Least probability of belonging to a missing class."] = 0.0,
    fdr: Annotated[
        float | None, Limits(0, 1), "False discovery rate of the accepted nodes. Default: that of `discover`."
    ] = None,
    output: Annotated[Path | None, "Write the changed labels here: .csv, .tsv or .parquet."] = None,
    in_place: Annotated[bool, "Change the label file itself; .bak keeps the first version."] = False,
    header: options.Header = None,
    delimiter: options.Delimiter = None,
    node_column: Annotated[str | None, options.NAME, "Column of the ids in the label file."] = None,
    label_column: Annotated[str | None, options.NAME, "Column of the labels."] = None,
    messages: options.Messages,
) -> None:
    """Label the candidate classes that `discover` found: new-1=sound gives its nodes the class sound.

    Nothing but labels changes in your file: columns, comments and the order of rows stay as they are.
    """
    if (output is None) != in_place:
        msg = "say where to write the labels: either -o FILE or --in-place"
        raise UsageError(msg)
    skip_pandas()
    from unseen.data.files import keep_backup
    from unseen.data.labels_file import answers_of, write_answers
    from unseen.data.read import read_label_list
    from unseen.data.sources import Options
    from unseen.discovery.tables import accept as add
    from unseen.discovery.tables import read_nodes

    target = labels if output is None else output
    options.check_outputs(False, [nodes] if in_place else [labels, nodes], target)
    columns = {"header": header, "delimiter": options.as_delimiter(delimiter)}
    columns |= {"node_column": node_column, "label_column": label_column}
    known_columns = _read_project(labels, list(columns))
    reading = Options(**{**known_columns, **{k: v for k, v in columns.items() if v is not None}})
    known = read_label_list(labels, reading)
    all_labels = add(known, read_nodes(nodes), _parse_names(groups), at_least=at_least, fdr=fdr)
    before, after = answers_of(known), answers_of(all_labels)
    added = {node: answer for node, answer in after.items() if answer != before.get(node)}
    if in_place:
        keep_backup(target)
    write_answers(labels, target, added, all_labels, reading)
    logger.info("written to %s", target)
    if messages.json:
        print_json({"output": str(target), "added": len(added), "classes": list(all_labels.classes)})


def _read_project(labels: Path, names: list[str]) -> dict[str, Any]:
    """Return how the project file of this folder reads the label file; nothing if it does not name that file."""
    from unseen.data.project import NAME

    if not Path(NAME).exists():
        return {}
    from unseen.cli.project import find_project

    project = find_project({}, needs_graph=False)
    values = {} if project is None else project.values
    is_named = any(Path(file).resolve() == labels.resolve() for file in values.get("labels", ()))
    return {name: values[name] for name in names if is_named and name in values}


def _parse_names(groups: list[str]) -> dict[str, str]:
    """Return what the arguments say: a class for each group."""
    names: dict[str, str] = {}
    for text in groups:
        group, equals, name = (part.strip() for part in text.partition("="))
        if not equals or not group:
            msg = f"name a candidate class as new-1=sound (new-1= leaves it out), got {text!r}"
            raise UsageError(msg)
        if names.setdefault(group, name) != name:
            msg = f"{group} has two names, {names[group]!r} and {name!r}; choose one"
            raise UsageError(msg)
    return names
