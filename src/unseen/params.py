"""One declaration of a parameter: type, limits, meaning and default are stated once, everything else follows.

A class says ``epochs: Annotated[int, Limits(0), "Passes over the graph."] = 200`` in its body. The constructor (which
only stores), `get_params` and `set_params`, the checks and their sentences, the Parameters section of the docstring
and the values that a command line takes all come from there.
"""

from __future__ import annotations

import inspect
import math
import numbers
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType, NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, dataclass_transform, get_type_hints
from typing import get_args as arguments_of
from typing import get_origin as origin_of

from unseen.errors import InputError, unknown_name

SECTIONS = ("Returns", "Attributes", "See Also", "Notes", "References", "Examples")
"""Headings of a docstring that come after its parameters."""
WORDS = {int: "an integer", float: "a number", str: "a text", Callable: "a function", Iterable: "an iterable"}
SHORT = {Callable: "function", Iterable: "iterable"}


class UnknownParameterError(InputError, TypeError):
    """A keyword that a class does not have; the message names the nearest, or what has replaced it."""


@dataclass(frozen=True)
class Limits:
    """Bounds of a number, or of each of several; `open_low` leaves out the lower bound itself."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False

    def hold(self, number: Any) -> bool:
        """Whether a number is finite and within the bounds."""
        above = number > self.low if self.open_low else number >= self.low
        return bool(above and number <= self.high and abs(number) < math.inf)

    def __str__(self) -> str:
        word = "above" if self.open_low else "of at least"
        bound = "" if self.low == -math.inf else f" {word} {self.low:g}"
        return bound + ("" if self.high == math.inf else f" and at most {self.high:g}")


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Allowed:
    """The values that a type with limits admits: some options, things of some kinds, or several values.

    Examples
    --------
    >>> allowed = Allowed.of(int | None, Limits(1))
    >>> str(allowed), allowed.numpydoc, allowed.parse("none"), allowed.accepts(0)
    ('an integer of at least 1, or None', 'int or None', None, False)
    >>> Allowed.of(Sequence[int]).parse("64, 32")
    (64, 32)
    """

    options: tuple[Any, ...] = ()
    kinds: tuple[Any, ...] = ()
    each: Allowed | None = None
    limits: Limits = NO_LIMITS

    @classmethod
    def of(cls, hint: Any, limits: Limits = NO_LIMITS) -> Allowed:
        """Read a type, member by member of a union."""
        options: list[Any] = []
        kinds: list[Any] = []
        each = None
        for member in arguments_of(hint) if origin_of(hint) in (Union, UnionType) else (hint,):
            origin, inner = origin_of(member), arguments_of(member)
            if origin is Literal:
                options += inner
            elif member in (bool, None, NoneType):
                options += (True, False) if member is bool else (None,)
            elif origin in (tuple, list, Sequence):
                each = cls.of(inner[0], limits)
            else:
                kinds.append(origin or member)
        return cls(tuple(options), tuple(kinds), each, limits)

    def accepts(self, value: Any) -> bool:
        """Whether `value` is allowed; True and 1 are different values."""
        if any(value is one or (type(value) is type(one) and value == one) for one in self.options):
            return True
        if self.each is not None and isinstance(value, (tuple, list)):
            return all(self.each.accepts(entry) for entry in value)
        for kind, number in ((int, numbers.Integral), (float, numbers.Real)):
            if kind in self.kinds and isinstance(value, number) and not isinstance(value, bool):
                return self.limits.hold(value)
        return isinstance(value, tuple(kind for kind in self.kinds if kind not in (int, float)))

    def parse(self, text: str) -> Any:
        """Return the value that a text on a command line means; a ValueError where it means none."""
        for option in self.options:
            if text == option or (not isinstance(option, str) and text.lower() == str(option).lower()):
                return option
        if self.each is not None:
            return tuple(self.each.parse(part.strip()) for part in text.split(",")) if text else ()
        kind = next((kind for kind in self.kinds if kind in (int, float, str)), None)
        value = None if kind is None else kind(text)
        if kind is None or not self.accepts(value):
            raise ValueError(text)
        return value

    def __str__(self) -> str:
        bounds = dict.fromkeys((int, float), self.limits)
        others = [f"{WORDS.get(kind, f'a {kind.__name__}')}{bounds.get(kind, '')}" for kind in self.kinds]
        if self.each is not None:
            others.append(f"a tuple, each entry of which is {self.each}")
        if self.options == (None,) and others:
            return f"{', '.join(others)}, or None"
        named = [f"one of {', '.join(map(repr, self.options))}"] if self.options else []
        return " or ".join([*named, *others])

    @property
    def numpydoc(self) -> str:
        """The type as numpydoc writes it."""
        listed = ", ".join(f'"{one}"' if isinstance(one, str) else repr(one) for one in self.options)
        named = {(True, False): "bool", (None,): "None"}.get(self.options, f"{{{listed}}}")
        others = [SHORT.get(kind, kind.__name__) for kind in self.kinds]
        others += [] if self.each is None else [f"tuple of {self.each.numpydoc}"]
        return " or ".join([*others, named] if self.options == (None,) else [named][: len(listed)] + others)


def check_argument(name: str, value: Any, hint: Any, limits: Limits = NO_LIMITS, note: str = "") -> None:
    """Raise an `InputError` that names an argument of a function, what is allowed (and why: `note`) and what came.

    Examples
    --------
    >>> check_argument("n_folds", 1, int, Limits(2))
    Traceback (most recent call last):
        ...
    unseen.errors.InputError: `n_folds` must be an integer of at least 2, got 1
    """
    allowed = Allowed.of(hint, limits)
    if not allowed.accepts(value):
        msg = f"`{name}` must be {allowed}{note}, got {value!r}"
        raise InputError(msg)


@dataclass(frozen=True)
class Parameter:
    """What a class says of one of its parameters.

    Attributes
    ----------
    name : str
        The keyword.
    type : Any
        Its type, without the annotations.
    default : Any
        What an object has if nothing else is given.
    allowed : Allowed
        The values it may have.
    meaning : str
        One or two sentences. ``{cls.attribute}`` stands for an attribute of the class it is read from.
    """

    name: str
    type: Any
    default: Any
    allowed: Allowed
    meaning: str

    @classmethod
    def from_hint(cls, name: str, hint: Any, default: Any) -> Parameter:
        """Read a declaration; of several limits the last one counts, so that a class can narrow a shared one.

        Examples
        --------
        >>> epochs = Annotated[int, Limits(0), "Passes over the graph."]
        >>> str(Parameter.from_hint("epochs", Annotated[epochs, Limits(1)], 5).allowed)
        'an integer of at least 1'
        """
        plain, *notes = arguments_of(hint) if origin_of(hint) is Annotated else (hint,)
        meanings = [note for note in notes if isinstance(note, str)]
        if len(meanings) != 1:
            msg = (
                f"the parameter `{name}` needs exactly one meaning in its annotation, it has {len(meanings)}"
            )
            raise TypeError(msg)
        limits = [NO_LIMITS, *(note for note in notes if isinstance(note, Limits))][-1]
        return cls(name, plain, default, Allowed.of(plain, limits), meanings[0])

    def check(self, value: Any, owner: str) -> None:
        """Raise an `InputError` that names parameter, owner, what is allowed and what came.

        Examples
        --------
        >>> Parameter.from_hint("epochs", Annotated[int, Limits(0), "Passes over the graph."], 9).check(-1, "RECT")
        Traceback (most recent call last):
            ...
        unseen.errors.InputError: `epochs` of RECT must be an integer of at least 0, got -1
        """
        if not self.allowed.accepts(value):
            raise self._refusal(value, owner)

    def parse(self, text: str, owner: str) -> Any:
        """Return the value that `text` means on a command line, or raise the error of :meth:`check`."""
        try:
            return self.allowed.parse(text)
        except ValueError:
            raise self._refusal(text, owner) from None

    def _refusal(self, value: Any, owner: str) -> InputError:
        return InputError(f"`{self.name}` of {owner} must be {self.allowed}, got {value!r}")

    @property
    def numpydoc(self) -> list[str]:
        """The lines of this parameter in a docstring."""
        meaning = textwrap.wrap(self.meaning, 106, break_on_hyphens=False)
        default = f", default {self.default!r}"
        return [f"{self.name} : {self.allowed.numpydoc}{default}", *(f"    {line}" for line in meaning)]


@dataclass_transform(kw_only_default=True, eq_default=False)
class Declared:
    """Base of classes whose body declares their parameters; a subclass adds some or changes a default.

    An annotated name with a value is a parameter, unless it is a ``ClassVar`` or ends in ``_``. scikit-learn's
    `clone` and pickle work.

    Examples
    --------
    >>> class Walk(Declared):
    ...     length: Annotated[int, Limits(2), "Nodes per walk."] = 40
    ...     seed: Annotated[int | None, Limits(0), "Seed."] = None
    >>> Walk(length=3)
    Walk(length=3)
    >>> Walk().set_params(seed=1).get_params()
    {'length': 40, 'seed': 1}
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = MappingProxyType({})
    """All parameters by name: those of the class itself first, then what it inherits."""
    _own: ClassVar[Mapping[str, Parameter]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        scope = vars(sys.modules[cls.__module__])
        declared = {
            name: hint
            for name, hint in inspect.get_annotations(cls).items()
            if name in vars(cls) and not name.endswith("_") and "ClassVar" not in str(hint)
        }
        hints = get_type_hints(SimpleNamespace(__annotations__=declared), scope, include_extras=True)
        cls._own = {name: Parameter.from_hint(name, hint, vars(cls)[name]) for name, hint in hints.items()}
        collected: dict[str, Parameter] = {}
        for base in cls.__mro__:
            for name, parameter in vars(base).get("_own", {}).items():
                collected.setdefault(name, replace(parameter, meaning=parameter.meaning.format(cls=cls)))
        cls._parameters = MappingProxyType(collected)
        kind, own = inspect.Parameter.KEYWORD_ONLY, collected.values()
        listed = [inspect.Parameter(p.name, kind, default=p.default, annotation=p.type) for p in own]
        cls.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]  # what `inspect` looks for
        if vars(cls).get("__doc__"):
            cls.__doc__ = with_parameters(str(cls.__doc__), collected.values())

    def __init__(self, **params: Any) -> None:
        for name in params:
            self._parameter(name)
        for name, parameter in self._parameters.items():
            setattr(self, name, params.get(name, parameter.default))

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # scikit-learn passes it
        """Return all parameters and their values."""
        return {name: getattr(self, name) for name in self._parameters}

    def set_params(self, **params: Any) -> Self:
        """Change some parameters and return the object."""
        for name, value in params.items():
            setattr(self, self._parameter(name).name, value)
        return self

    def _check_params(self) -> None:
        """Refuse values that are not allowed, see :meth:`Parameter.check`."""
        for name, parameter in self._parameters.items():
            parameter.check(getattr(self, name), type(self).__name__)

    @classmethod
    def _parameter(cls, name: str) -> Parameter:
        """Return a parameter by its name, or raise an error that lists all of them."""
        if name in cls._parameters:
            return cls._parameters[name]
        raise UnknownParameterError(str(unknown_name(f"parameter of {cls.__name__}", name, cls._parameters)))

    def __repr__(self) -> str:
        texts = {name: repr(value) for name, value in self.get_params().items()}
        usual = {name: repr(parameter.default) for name, parameter in self._parameters.items()}
        changed = [f"{name}={text}" for name, text in texts.items() if text != usual[name]]
        return f"{type(self).__name__}({', '.join(changed)})"


def with_parameters(doc: str, parameters: Iterable[Parameter]) -> str:
    """Return a docstring with its Parameters section in the place where numpydoc wants it.

    Examples
    --------
    >>> length = Parameter.from_hint("length", Annotated[int, Limits(2), "Nodes per walk."], 40)
    >>> with_parameters("A walk.", [length]).splitlines()[2:]
    ['Parameters', '----------', 'length : int, default 40', '    Nodes per walk.']
    """
    lines = inspect.cleandoc(doc).split("\n")
    entries = [line for parameter in parameters for line in parameter.numpydoc]
    ends = (k for k, line in enumerate(lines[1:]) if line == "-" * len(lines[k]) and lines[k] in SECTIONS)
    at = next(ends, len(lines))
    before, after = "\n".join(lines[:at]).rstrip(), "\n".join(lines[at:])
    section = "\n".join(["Parameters", "----------", *entries]) if entries else ""
    return "\n\n".join(part for part in (before, section, after) if part)
