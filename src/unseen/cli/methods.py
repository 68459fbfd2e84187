"""`unseen methods`: which there are, and the parameters of one."""

from __future__ import annotations

import textwrap
from typing import Annotated, Any

from unseen.cli import options
from unseen.cli.output import print_json, print_table

MEANING_WIDTH = 70


@options.command
def methods(
    name: Annotated[str | None, "Method whose parameters to show, as `--param` takes them."] = None,
    *,
    messages: options.Messages,
) -> None:
    """List the methods by the names that `--method` takes, or the parameters of one method."""
    from unseen.methods.registry import all_methods, method_class

    rows: list[dict[str, Any]]
    if name is None:
        header = ["method", "class", "features", "labels", "extra", "what it does"]
        rows = [
            {
                "name": each,
                "class": cls.__name__,
                "features": cls._traits.uses_features,
                "labels": cls._traits.uses_labels,
                "extra": cls._traits.extra,
                "summary": cls._traits.summary,
            }
            for each, cls in all_methods().items()
        ]
        table = [
            {**row, **{key: "yes" if row[key] else "" for key in ("features", "labels")}} for row in rows
        ]
    else:
        header = ["parameter", "default", "allowed", "meaning"]
        rows = [
            {"name": p.name, "default": p.default, "allowed": str(p.allowed), "meaning": p.meaning}
            for p in method_class(name)._parameters.values()
        ]
        table = [{**row, "default": str(row["default"])} for row in rows]
    if messages.json:
        print_json(rows)
        return
    lines = []
    for row in table:
        *cells, meaning = (value.replace("``", "") for value in row.values())
        for line in textwrap.wrap(meaning, MEANING_WIDTH) or [""]:
            lines.append([*cells, line])
            cells = [""] * len(cells)  # the next lines have the rest of the meaning
    print_table(header, lines, left=len(header))
