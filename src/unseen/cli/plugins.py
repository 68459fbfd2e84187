"""Commands that other distributions add: entry points of the group ``unseen.commands``.

An entry point names a function that is written like those of this package. Nothing is imported until its own command
is called: for the list of commands, what is installed says enough.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Container
from typing import Any

import typer

from unseen.errors import UnseenError, install_hint, logger

GROUP = "unseen.commands"
PAPER_COMMANDS = {
    "reproduce": "The paper's tables and figures, ours beside theirs.",
    "bench": "Measure speed and memory, and print the ratios.",
}
"""Commands of the distribution that holds the paper's experiments, listed whether it is installed or not."""
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
    entries = {entry.name: entry for entry in importlib.metadata.entry_points(group=GROUP)}
    if word in PAPER_COMMANDS and word not in entries:
        msg = f"`unseen {word}` comes with the paper's package; {install_hint('paper')}"
        raise UnseenError(msg)
    absent = [name for name in PAPER_COMMANDS if name not in entries]
    added: dict[str, Command] = dict.fromkeys(absent, (None, ABSENT))
    for name, entry in entries.items():
        if name in own:
            logger.warning("the command %r of %s is ignored: unseen has one", name, _owner(entry))
        elif name == word:
            added[name] = (_loaded(entry), None)
        elif importlib.util.find_spec(entry.module.partition(".")[0]) is None:
            logger.warning("%s", _broken(entry, f"there is no module {entry.module!r}"))
        else:
            added[name] = (None, PAPER_COMMANDS.get(name, f"A command of {_owner(entry)}."))
    return dict(sorted(added.items(), key=lambda item: item[0] not in PAPER_COMMANDS))


def _loaded(entry: importlib.metadata.EntryPoint) -> Callable[..., Any]:
    """Import the function of an entry point, and see that a command can be made of it."""
    try:
        function: Callable[..., Any] = entry.load()
        if not callable(function):
            msg = f"{entry.value} is no function but of type {type(function).__name__}"
            raise TypeError(msg)
        trial = typer.Typer()
        trial.command()(function)
        typer.main.get_command(trial)
    except Exception as error:  # whatever a stranger's code does
        raise UnseenError(_broken(entry, f"{type(error).__name__}: {error}")) from error
    return function


def _broken(entry: importlib.metadata.EntryPoint, why: str) -> str:
    owner = _owner(entry)
    return (
        f"the command {entry.name!r} of {owner} cannot be loaded ({why}); reinstall {owner}, or uninstall it"
    )


def _owner(entry: importlib.metadata.EntryPoint) -> str:
    return entry.module if entry.dist is None else entry.dist.name
