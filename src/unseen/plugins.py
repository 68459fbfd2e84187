"""What other distributions add: commands, methods, data sets and folder layouts, by entry points.

The groups are ``unseen.commands`` (functions written like those of this package), ``unseen.methods`` (classes),
``unseen.datasets`` (modules with ``load_dataset(name, data_dir)`` and ``dataset_counts(name)``) and ``unseen.folders``
(functions ``read_folder(folder, options)``). Nothing is imported until it is used.
"""

from __future__ import annotations

import importlib.metadata
from importlib.metadata import EntryPoint
from typing import Any, Literal

from unseen.errors import UnseenError, install_hint

Kind = Literal["command", "method", "data set", "folder layout"]
_GROUPS: dict[Kind, str] = {
    "command": "unseen.commands",
    "method": "unseen.methods",
    "data set": "unseen.datasets",
    "folder layout": "unseen.folders",
}
IN_PAPER: dict[Kind, tuple[str, ...]] = {
    "command": ("reproduce", "bench"),
    "method": ("line", "lshm", "lde", "mmdw", "tadw", "dgi", "appnp"),
    "data set": (
        "citeseer", "cora", "wiki", "ppi", "blogcatalog", "photo", "coauthor-cs", "hgb-dblp", "hgb-acm", "fin-ynet",
    ),
    "folder layout": ("authors", "hgb", "ogb"),
}  # fmt: skip
"""What the distribution of the paper's experiments adds, in the order of lists."""


def find_plugins(kind: Kind) -> dict[str, EntryPoint]:
    """Return what other distributions add, by name, that of the paper first.

    Examples
    --------
    >>> "nonsense" in find_plugins("command")
    False
    """
    entries = {entry.name: entry for entry in importlib.metadata.entry_points(group=_GROUPS[kind])}
    first = [name for name in IN_PAPER[kind] if name in entries]
    return {name: entries[name] for name in dict.fromkeys([*first, *entries])}


def load_plugin(kind: Kind, name: str) -> Any:
    """Import what another distribution calls `name`, and return it; None if no distribution has that name.

    An `UnseenError` says what to install where the name comes with the paper's package, or that the distribution is
    broken.
    """
    entry = find_plugins(kind).get(name)
    if entry is None:
        if name in IN_PAPER[kind]:
            what = f"`unseen {name}`" if kind == "command" else f"the {kind} {name!r}"
            msg = f"{what} comes with the paper's package; {install_hint('paper')}"
            raise UnseenError(msg)
        return None
    try:
        return entry.load()
    except Exception as error:  # whatever the code of others does
        raise broken_plugin(kind, entry, f"{type(error).__name__}: {error}") from error


def broken_plugin(kind: Kind, entry: EntryPoint, why: str) -> UnseenError:
    """Return the error for an entry point that cannot be used."""
    owner = owner_of(entry)
    return UnseenError(
        f"the {kind} {entry.name!r} of {owner} cannot be loaded ({why}); reinstall {owner}, or uninstall it"
    )


def owner_of(entry: EntryPoint) -> str:
    """Return the distribution that an entry point belongs to, or its module where that is not known."""
    return entry.module if entry.dist is None else entry.dist.name
