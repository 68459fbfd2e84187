"""Columns by the names that the user gave: `src`, `dst`, `weight`, `label_column`, `node_column`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unseen.data.columns import listed
from unseen.data.headers import DST, LABEL, NODE, SRC, WEIGHT, id_position
from unseen.data.options import Options
from unseen.data.sources import Role
from unseen.data.tables import Table
from unseen.errors import InputError

_USUAL = {"src": SRC, "dst": DST, "weight": WEIGHT, "label": LABEL, "node": NODE}


def given_names(role: Role, options: Options) -> dict[str, str]:
    """Return the names that were given for columns of a role, by what they stand for."""
    if role == "edges":
        named = {"src": options.src, "dst": options.dst, "weight": options.weight}
    else:
        named = {"node": options.node_column, "label": options.label_column if role == "labels" else None}
    return {usual: name for usual, name in named.items() if name is not None}


def renamed(table: Table, role: Role, options: Options) -> Table:
    """Return a table whose columns have the usual names where the user gave theirs.

    Another column that has the usual name is called differently then, so that it is not taken.
    """
    names = table.names
    given = given_names(role, options)
    if names is None or not given:
        return table
    own = list(names)
    for usual, name in given.items():
        if name not in names:
            if usual == "node" and id_position(names) is not None:
                continue
            raise lacks(table.source, usual, name, names)
        for k, other in enumerate(own):
            if other.strip().lower() in _USUAL[usual] and names[k] != name:
                own[k] = f"{other} (not used)"
        own[names.index(name)] = usual
    return replace(table, names=tuple(own))


def lacks(source: str, usual: str, name: str, names: Sequence[str]) -> InputError:
    """Return the error for a column that the user named and a file does not have."""
    option = f"{usual}_column" if usual in ("node", "label") else usual
    flag = option.replace("_", "-")
    return InputError(f"{source} has no column {name!r} ({option}=..., --{flag}); it has {listed(names)}")
