"""Declared constraints of constructor parameters, checked in `fit`, with one wording for all."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.errors import InputError


@dataclass(frozen=True)
class Interval:
    """A finite number between two bounds, an integer if `integer`; None too if `optional`."""

    low: float
    high: float = float("inf")
    integer: bool = False
    open_low: bool = False
    optional: bool = False

    def accepts(self, value: Any) -> bool:
        """Whether `value` satisfies the constraint."""
        if value is None:
            return self.optional
        kind = numbers.Integral if self.integer else numbers.Real
        if not isinstance(value, kind) or isinstance(value, (bool, np.bool_)):
            return False
        number: Any = value
        above = number > self.low if self.open_low else number >= self.low
        return bool(above and number <= self.high and number < math.inf)

    def __str__(self) -> str:
        kind = "an integer" if self.integer else "a number"
        bound = f"{'above' if self.open_low else 'of at least'} {self.low:g}"
        top = "" if self.high == float("inf") else f" and at most {self.high:g}"
        return f"{kind} {bound}{top}{', or None' if self.optional else ''}"


@dataclass(frozen=True)
class OneOf:
    """One of a few values; `or_callable` admits a function too, `or_type` instances of a type."""

    options: tuple[Any, ...]
    or_callable: bool = False
    or_type: type | None = None

    def accepts(self, value: Any) -> bool:
        """Whether `value` satisfies the constraint."""
        if any(
            value is option or (type(value) is type(option) and value == option) for option in self.options
        ):
            return True
        if self.or_type is not None and isinstance(value, self.or_type):
            return True
        return self.or_callable and callable(value)

    def __str__(self) -> str:
        listed = ", ".join(repr(option) for option in self.options)
        more = f" or a {self.or_type.__name__}" if self.or_type else ""
        return f"one of {listed}{more}{' or a function' if self.or_callable else ''}"


@dataclass(frozen=True)
class Several:
    """A tuple or a list, an empty one too, of values that all satisfy one constraint."""

    each: Interval

    def accepts(self, value: Any) -> bool:
        """Whether `value` satisfies the constraint."""
        return isinstance(value, (tuple, list)) and all(self.each.accepts(entry) for entry in value)

    def __str__(self) -> str:
        return f"a tuple, each entry of which is {self.each}"


Constraint = Interval | OneOf | Several


def check_parameters(owner: str, values: Mapping[str, Any], constraints: Mapping[str, Constraint]) -> None:
    """Raise an `InputError` that names parameter, owner, what is allowed and what came.

    Examples
    --------
    >>> check_parameters("RECT", {"epochs": -1}, {"epochs": Interval(0, integer=True)})
    Traceback (most recent call last):
        ...
    unseen.errors.InputError: `epochs` of RECT must be an integer of at least 0, got -1
    """
    for name, constraint in constraints.items():
        if not constraint.accepts(values[name]):
            msg = f"`{name}` of {owner} must be {constraint}, got {values[name]!r}"
            raise InputError(msg)
