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
    rows = _methods() if name is None else _parameters(name)
    if messages.json:
        print_json(rows)
        return
    header = ["method", "class", "features", "labels", "extra", "what it does"]
    if name is not None:
        header = ["parameter", "default", "allowed", "meaning"]
    shown = ([_shown(value, column) for column, value in row.items()] for row in rows)
    lines = [line for row in shown for line in _lines(row)]
    print_table(header, lines, left=len(header))


def _methods() -> list[dict[str, Any]]:
    from unseen.methods.registry import all_methods

    return [
        {
            "name": name,
            "class": cls.__name__,
            "features": cls._traits.uses_features,
            "labels": cls._traits.uses_labels,
            "extra": cls._traits.extra,
            "summary": cls._traits.summary,
        }
        for name, cls in all_methods().items()
    ]


def _parameters(method: str) -> list[dict[str, Any]]:
    from unseen.methods.registry import method_class

    return [
        {"name": p.name, "default": p.default, "allowed": str(p.allowed), "meaning": p.meaning}
        for p in method_class(method)._parameters.values()
    ]


def _shown(value: Any, column: str) -> str:
    if column in ("features", "labels"):
        return "yes" if value else ""
    return value.replace("``", "") if isinstance(value, str) else repr(value)


def _lines(row: list[str]) -> list[list[str]]:
    """Break the last column into lines, so that a table of sentences stays readable."""
    first, *others = textwrap.wrap(row[-1], MEANING_WIDTH) or [""]
    return [[*row[:-1], first], *([*([""] * (len(row) - 1)), line] for line in others)]
