"""Every parameter of every method has limits, and a value beyond them is refused by name before any work."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import unseen
from unseen.methods.base import Method
from unseen.methods.parameters import Constraint, Interval, OneOf, Several
from unseen.methods.registry import method_class

NAMES = unseen.method_names()
CHECKED_BY_THEMSELVES = {"callbacks", "random_state"}
NAN = float("nan")
GRAPH = unseen.Graph.from_edges(range(5), range(1, 6))
LABELS = ["a", "b", "a", "b", None, None]


def parameters_of(name: str) -> list[str]:
    return [p for p in inspect.signature(method_class(name)).parameters if p not in CHECKED_BY_THEMSELVES]


LIMITED = [(name, p) for name in NAMES for p in method_class(name).constraints]


def beyond(constraint: Constraint) -> list[Any]:
    """Return values that the constraint must not accept."""
    if isinstance(constraint, OneOf):
        wrong: list[Any] = ["x", "", NAN, -1, 0.5, None, True, False, 0, 1, [], b"cpu"]
        return [value for value in wrong if not any(value is option for option in constraint.options)]
    if isinstance(constraint, Several):
        entries = beyond(constraint.each)
        alone = [entry for entry in entries if not isinstance(entry, (tuple, list))]
        return [*alone, *((entry,) for entry in entries), (8, 0), ((8,),), 5, "88"]
    assert isinstance(constraint, Interval)
    low, high = constraint.low, constraint.high
    wrong = [int(low) - 1, -math.inf, math.inf, NAN, True, False, np.True_, "x", "1", [1], (), 1j]
    if constraint.open_low:
        wrong.append(int(low) if constraint.integer else low)
    if constraint.integer:
        wrong += [low + 1.0, low + 1.5]
    else:
        wrong += [math.nextafter(low, -math.inf), np.float32(low - 1), np.float64(NAN)]
    if high < math.inf:
        wrong += [math.floor(high) + 1, math.nextafter(high, math.inf)]
    if not constraint.optional:
        wrong.append(None)
    return wrong


def within(constraint: Constraint) -> list[Any]:
    """Return values at the very ends of what is allowed."""
    if isinstance(constraint, OneOf):
        return [*constraint.options, *([len] if constraint.or_callable else [])]
    if isinstance(constraint, Several):
        return [(), [], *([entry] for entry in within(constraint.each)), tuple(within(constraint.each))]
    low, high = constraint.low, constraint.high
    lowest = math.nextafter(low, math.inf) if constraint.open_low else low
    allowed = (
        [int(low) + constraint.open_low, np.int64(low + 1)]
        if constraint.integer
        else [lowest, np.float32(low + 0.5)]
    )
    return [*allowed, *([high] if high < math.inf else []), *([None] if constraint.optional else [])]


def refusal(name: str, parameter: str, value: Any) -> str:
    """Return what is said of this value at fit time; the constructor only stores it."""
    method = unseen.make_method(name, **{parameter: value})
    assert method.get_params()[parameter] is value
    with pytest.raises(unseen.InputError) as caught:
        method.fit(GRAPH, LABELS)
    return str(caught.value)


def not_to_be_reached(self: Method, *_: object) -> None:
    pytest.fail(f"{self!r} was not refused")


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_limits_and_only_parameters_have_them(name: str) -> None:
    cls = method_class(name)
    assert set(cls.constraints) == set(parameters_of(name))
    assert all(isinstance(constraint, (Interval, OneOf, Several)) for constraint in cls.constraints.values())


@pytest.mark.parametrize(("name", "parameter"), LIMITED)
def test_what_is_taken_unasked_and_the_ends_are_within_the_limits(name: str, parameter: str) -> None:
    cls = method_class(name)
    default = inspect.signature(cls).parameters[parameter].default
    for value in (default, *within(cls.constraints[parameter])):
        assert cls.constraints[parameter].accepts(value), value


@pytest.mark.parametrize(("name", "parameter"), LIMITED)
def test_a_value_beyond_the_limits_is_refused_by_name_before_any_work(
    name: str, parameter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cls = method_class(name)
    monkeypatch.setattr(cls, "_fit", not_to_be_reached)
    for value in beyond(cls.constraints[parameter]):
        wanted = f"`{parameter}` of {cls.__name__} must be {cls.constraints[parameter]}, got {value!r}"
        assert refusal(name, parameter, value) == wanted
