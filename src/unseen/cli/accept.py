"""`unseen accept`: found groups become labels in one step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from unseen.cli import options, skip_pandas
from unseen.cli.output import print_json
from unseen.errors import UsageError, logger
from unseen.params import Limits


@options.grouped
def accept(
    labels: Annotated[Path, "File of labels: node, label."],
    nodes: Annotated[Path, "What `unseen discover -o nodes.parquet` wrote."],
    groups: Annotated[
        list[str], options.As("GROUP=CLASS..."), "A group and its class; without a class it is left out."
    ],
    *,
    at_least: Annotated[float, Limits(0, 1), "Only nodes that are new with this probability."] = 0.0,
    output: Annotated[Path | None, "Where to write all labels: .csv, .tsv or .parquet."] = None,
    in_place: Annotated[bool, "Write to the file of labels, and keep it as .bak."] = False,
    messages: options.Messages,
) -> None:
    """Make labels of the groups that `discover` found: new-1=sound gives its nodes the class sound."""
    if (output is None) != in_place:
        msg = "say where to write: either -o FILE or --in-place"
        raise UsageError(msg)
    skip_pandas()
    from unseen.data.files import keep_backup, refuse_overwriting, require_writable
    from unseen.data.read import read_label_list
    from unseen.data.write import write_part
    from unseen.discovery.accept import accept as add
    from unseen.discovery.accept import read_nodes

    target = labels if output is None else output
    refuse_overwriting(target, [nodes] if in_place else [labels, nodes])
    require_writable(target)
    known = read_label_list(labels)
    together = add(known, read_nodes(nodes), _names(groups), at_least=at_least)
    if in_place:
        keep_backup(target)
    write_part(together, "labels", target)
    logger.info("written to %s", target)
    if messages.json:
        added = together.indicator.nnz - known.indicator.nnz
        print_json({"output": str(target), "added": added, "classes": list(together.classes)})


def _names(groups: list[str]) -> dict[str, str]:
    """Return what the arguments say: a class for each group."""
    names: dict[str, str] = {}
    for text in groups:
        group, equals, name = text.partition("=")
        if not equals or not group.strip():
            msg = f"name a class for a group as new-1=sound (new-1= leaves it out), got {text!r}"
            raise UsageError(msg)
        if names.setdefault(group.strip(), name.strip()) != name.strip():
            msg = f"{group.strip()} is given two names, {names[group.strip()]!r} and {name.strip()!r}; choose one"
            raise UsageError(msg)
    return names
