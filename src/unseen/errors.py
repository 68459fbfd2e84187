"""Errors and notices of the package: every message is a sentence a user can act on."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

logger = logging.getLogger("unseen")
"""The one logger. Notices are ``info``, anything a user should not miss is ``warning``."""
_FEW_IDS = 20_000


class UnseenError(Exception):
    """Base of every error this package raises on purpose.

    The command line shows the message alone, without a traceback.

    Examples
    --------
    >>> import unseen
    >>> issubclass(unseen.InputError, unseen.UnseenError)
    True
    """


class InputError(UnseenError, ValueError):
    """A file, a value or a parameter that cannot be used; the message says why and what to do.

    Examples
    --------
    >>> import unseen
    >>> unseen.make_method("rekt")
    Traceback (most recent call last):
        ...
    unseen.errors.InputError: unknown method 'rekt'; did you mean ...
    """


class UnknownNodeError(InputError, KeyError):
    """A node id that is not there; the message names the nearest one."""

    def __str__(self) -> str:
        return ValueError.__str__(self)  # KeyError would show the sentence in quotes


class UsageError(InputError):
    """Options of the command line that do not go together; the command exits with 2."""


class DatasetError(UnseenError):
    """A data set could not be found, downloaded or trusted.

    Examples
    --------
    >>> import unseen
    >>> issubclass(unseen.DatasetError, unseen.UnseenError)
    True
    """


class OutputError(UnseenError, OSError):
    """A result could not be written; nothing half-written is left behind.

    Examples
    --------
    >>> import unseen
    >>> issubclass(unseen.OutputError, OSError)
    True
    """


class UnsupportedError(UnseenError):
    """Something the method or format honestly cannot do; the message names what can.

    Examples
    --------
    >>> import unseen
    >>> issubclass(unseen.UnsupportedError, unseen.UnseenError)
    True
    """


def cannot_hold(
    path: object, format_: str, what: str, instead: str = "use .csv or .parquet instead"
) -> UnsupportedError:
    """Return the error for something that the format of a file to be written has no place for.

    Examples
    --------
    >>> str(cannot_hold("g.mtx", "Matrix Market", "names of columns"))
    'g.mtx: Matrix Market cannot hold names of columns; use .csv or .parquet instead'
    """
    return UnsupportedError(f"{path}: {format_} cannot hold {what}; {instead}")


def show_path(name: str) -> str:
    """Return the name of a source without the quotes around a path, for the beginning of a notice."""
    return name.strip("'")


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, as every notice says it.

    Examples
    --------
    >>> counted(1, "node"), counted(2000, "edge"), counted(0, "class")
    ('1 node', '2,000 edges', '0 classes')
    """
    ending = "" if n == 1 else "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun}{ending}"


def first_of(names: Sequence[str], most: int = 8) -> str:
    """Return names for a sentence, the first few of many.

    Examples
    --------
    >>> first_of("abcd", most=2)
    'a, b and 2 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def log_written(method: str, n_nodes: int, n_columns: int, seconds: float, output: object) -> None:
    """Log the size of an embedding, the time it took, and where it was written."""
    size = f"{counted(n_nodes, 'node')}, {counted(n_columns, 'dimension')}"
    logger.info("%s: embedding of %s, in %.1f s, written to %s", method, size, seconds, output)


def unknown_name(kind: str, name: object, names: Iterable[str]) -> InputError:
    """Return the error for a name that is not in `names`, with the nearest names suggested.

    Examples
    --------
    >>> str(unknown_name("method", "recct", ["rect", "rect-l", "line"]))
    "unknown method 'recct'; did you mean 'rect' or 'rect-l'? Known: rect, rect-l, line"
    >>> str(unknown_name("group", "new-1", []))
    "unknown group 'new-1'; there is none here"
    """
    names = list(names)
    if not names:
        return InputError(f"unknown {kind} {name!r}; there is none here")
    near = difflib.get_close_matches(str(name).lower(), [k.lower() for k in names], n=3, cutoff=0.6)
    by_lower = {k.lower(): k for k in names}
    hint = f"; did you mean {' or '.join(repr(by_lower[n]) for n in near)}?" if near else "."
    listed = ", ".join(names[:60]) + (f", ... ({len(names)} in all)" if len(names) > 60 else "")
    return InputError(f"unknown {kind} {name!r}{hint} Known: {listed}")


def unknown_type(
    node_type: object, types: Iterable[str | None], instead: str = "take graph.features"
) -> InputError:
    """Return the error for a type of nodes that a graph does not have; `instead`: what to do if it has none."""
    named = [each for each in types if each is not None]
    if named:
        return unknown_name("node type", node_type, named)
    return InputError(f"the nodes have no types, so that none is called {node_type!r}; {instead}")


def nearest_id(wanted: object, ids: Iterable[Any]) -> Any:
    """Return the id that is most like an unknown one, or None where there is none.

    Examples
    --------
    >>> nearest_id("exim", ["mutt", "exim4"]), nearest_id(7, [1, 5, 20])
    ('exim4', 5)
    """
    listed = list(ids)
    if isinstance(wanted, int) and all(isinstance(each, int) for each in listed):
        return min(listed, key=lambda each: abs(each - wanted), default=None)
    text = str(wanted)  # comparing texts takes a millisecond for a hundred of them
    alike = [each for each in listed if len(listed) <= _FEW_IDS or str(each)[:2].lower() == text[:2].lower()]
    by_text = {str(each): each for each in (alike or listed)[:_FEW_IDS]}
    return next(map(by_text.get, difflib.get_close_matches(text, by_text, n=1, cutoff=0.0)), None)


def install_hint(extra: str) -> str:
    """Return how to install an extra, or the package of the paper's experiments (``paper``).

    Examples
    --------
    >>> install_hint("viz")
    'run in your clone of unseen: pip install ".[viz]"'
    """
    return "run in your clone of unseen: pip install " + ("./paper" if extra == "paper" else f'".[{extra}]"')


def need_library(module: str, what: str, extra: str | None = None) -> Any:
    """Import a library that `what` needs; where it is missing, the error says how to install it.

    Parameters
    ----------
    module : str
        The library.
    what : str
        What needs it, as the error message says it.
    extra : str or None
        The extra of unseen that has the library; None if pip installs it by its own name.
    """
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        how = f"run: pip install {library}" if extra is None else install_hint(extra)
        msg = f"{what} needs {library}, which is not installed; {how}"
        raise UnsupportedError(msg) from None
