"""Training that can go on where it was interrupted: methods offer their state, and a keeper may store it.

Inside :func:`kept_by` every loop of a method asks the keeper for the state of its stage before it begins, and offers
it after each step. Outside of it nothing is kept and nothing is asked. States are named arrays; what they do not hold
(the graph, starting values) is computed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]


class Keeper(Protocol):
    """Stores the states of stages, "rect-l" and "rect-n" for instance."""

    def resume(self, stage: str) -> tuple[int, dict[str, npt.NDArray[Any]]] | None:
        """Return how many steps of a stage were done, and the arrays it had then; None to begin at the beginning."""

    def offer(self, stage: str, step: int, arrays: Arrays, *, last: bool) -> None:
        """Tell the state after `step` steps; the keeper stores it when it is time to, and always the last one."""


class NoKeeper:
    """Keeps nothing.

    Examples
    --------
    >>> NoKeeper().resume("rect-n") is None
    True
    """

    def resume(self, stage: str) -> None:
        """Return None: there is nothing to resume."""

    def offer(self, stage: str, step: int, arrays: Arrays, *, last: bool) -> None:
        """Keep nothing."""


_KEEPER: ContextVar[Keeper | None] = ContextVar("unseen_keeper", default=None)


def keeper() -> Keeper:
    """Return the keeper of the block this is called in."""
    return _KEEPER.get() or NoKeeper()


@contextmanager
def kept_by(found: Keeper) -> Iterator[None]:
    """Let `found` keep the states of all training inside this block.

    Examples
    --------
    >>> mine = NoKeeper()
    >>> with kept_by(mine):
    ...     keeper() is mine
    True
    """
    token = _KEEPER.set(found)
    try:
        yield
    finally:
        _KEEPER.reset(token)


def copied_into(arrays: Arrays, kept: Arrays) -> None:
    """Write kept values back where they came from.

    Examples
    --------
    >>> weight = np.zeros(2)
    >>> copied_into({"weight": weight}, {"weight": np.ones(2)})
    >>> weight.tolist()
    [1.0, 1.0]
    """
    for name, array in arrays.items():
        np.copyto(array, kept[name])
