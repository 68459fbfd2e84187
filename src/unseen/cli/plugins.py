"""Commands that other distributions add: entry points of the group ``unseen.commands``.

An entry point names a function that is written like those of this package.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Container
from typing import Any

import typer

from unseen.errors import logger
from unseen.plugins import IN_PAPER, broken_plugin, find_plugins, load_plugin, owner_of

PAPER_COMMANDS = {
    "reproduce": "The paper's tables and figures, ours beside theirs.",
    "bench": "Measure speed and memory, and print the ratios.",
}
"""Help of the commands of the paper's package, which are listed whether it is installed or not."""
ABSENT = "Comes with the paper's package, which is not installed."
"""Help of these commands where it is missing; calling one of them says how to install it."""
Command = tuple[Callable[..., Any] | None, str | None]
"""A function, None where it is not called, and its help, None where that of the function counts."""


def commands(word: str | None, own: Container[str]) -> dict[str, Command]:
    """Return the commands that other distributions add; the one that is called is imported, the others are not.

    Parameters
    ----------
    word : str or None
        What the command line calls.
    own : container of str
        Names that no plug-in may take.
    """
    entries = find_plugins("command")
    added: dict[str, Command] = {name: (None, ABSENT) for name in IN_PAPER["command"] if name not in entries}
    if word in added:
        load_plugin("command", word)  # the error says how to install it
    for name, entry in entries.items():
        if name in own:
            logger.warning("the command %r of %s is ignored: unseen has one", name, owner_of(entry))
        elif name == word:
            function = load_plugin("command", name)
            try:  # can a command be made of it?
                if not callable(function):
                    msg = f"{entry.value} is of type {type(function).__name__}, not a function"
                    raise TypeError(msg)
                trial = typer.Typer()
                trial.command()(function)
                typer.main.get_command(trial)
            except Exception as error:  # whatever the code of others does
                raise broken_plugin("command", entry, f"{type(error).__name__}: {error}") from error
            added[name] = (function, None)
        elif importlib.util.find_spec(entry.module.partition(".")[0]) is None:
            logger.warning("%s", broken_plugin("command", entry, f"there is no module {entry.module!r}"))
        else:
            added[name] = (None, PAPER_COMMANDS.get(name, f"A command of {owner_of(entry)}."))
    return added
