"""One declaration of a parameter: what a class body says is what constructor, checks, help and command line do."""

from __future__ import annotations

import inspect
import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from sklearn.base import clone

import unseen
from unseen.errors import InputError
from unseen.params import Allowed, Declared, Limits, Parameter

NAN = float("nan")
Width = Annotated[int | None, Limits(1), "Columns; None means {cls.usual}."]


class Small(Declared):
    """A small one.

    Notes
    -----
    Something to note.
    """

    usual: ClassVar[int] = 5
    width: Width = None
    rate: Annotated[float, Limits(0, 1, open_low=True), "Step."] = 0.5
    learnt_: int = 3


class Large(Small):
    """A large one."""

    usual: ClassVar[int] = 500
    kind: Annotated[Literal["a", "b"] | None, "Kind."] = "a"
    width: Annotated[Width, Limits(2)] = 7


def test_a_class_body_is_the_constructor() -> None:
    assert Small().get_params() == {"width": None, "rate": 0.5}
    assert vars(Small(rate=0.1)) == {"width": None, "rate": 0.1}
    assert Large(kind=None, rate=1).get_params(deep=False) == {"kind": None, "width": 7, "rate": 1}
    assert list(Large._parameters) == ["kind", "width", "rate"]
    kinds = "kind: Optional[Literal['a', 'b']] = 'a'"
    assert str(inspect.signature(Large)) == f"(*, {kinds}, width: int | None = 7, rate: float = 0.5)"
    with pytest.raises(TypeError):
        Large("a")


def test_what_scikit_learn_and_pickle_need() -> None:
    method = Large(kind="b").set_params(rate=0.25)
    for copy in (method, clone(method), pickle.loads(pickle.dumps(method))):
        assert repr(copy) == "Large(kind='b', rate=0.25)"
    assert repr(Small(width=np.int64(3))) == f"Small(width={np.int64(3)!r})"


@pytest.mark.parametrize("make", [Large, Large().set_params])
def test_an_unknown_name_gets_one_sentence(make: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="parameter of Large 'widht'; did you mean 'width'") as caught:
        make(widht=1)
    assert isinstance(caught.value, TypeError)


def test_the_docstring_has_the_parameters_in_their_place() -> None:
    assert Small.__doc__ == "\n".join(
        [
            *("A small one.", "", "Parameters", "----------"),
            *("width : int or None, default None", "    Columns; None means 5."),
            *("rate : float, default 0.5", "    Step.", "", "Notes", "-----", "Something to note."),
        ]
    )
    assert 'kind : {"a", "b", None}, default \'a\'\n    Kind.' in str(Large.__doc__)
    assert "Columns; None means 500." in str(Large.__doc__)


def test_a_declaration_without_a_meaning_is_refused() -> None:
    for hint, number in ((float, 0), (Annotated[float, "One.", "Two."], 2)):
        with pytest.raises(
            TypeError, match=f"`rate` needs exactly one meaning in its annotation, it has {number}"
        ):
            Parameter.from_hint("rate", hint, 1.0)


MANY, CHOICE = Sequence[int], Literal["auto"] | bool
READOUT = Literal["mean", "median"] | Callable[[Any], Any]
CASES = [
    # the type, its limits; in words, in a docstring; what is allowed, what is not
    (int, Limits(1), "an integer of at least 1", "int", [1, np.int64(2), 10**12],
     [0, -1, 1.0, NAN, math.inf, True, np.True_, "1", None, [1], 1j]),
    (float, Limits(0, open_low=True), "a number above 0", "float", [1, math.nextafter(0, 1), np.float32(0.5)],
     [0, -1, math.inf, NAN, np.float64(NAN), "1", None]),
    (float, Limits(0, 0.9), "a number of at least 0 and at most 0.9", "float", [0, 0.9],
     [math.nextafter(0, -1), math.nextafter(0.9, 1), np.float32(-1), True]),
    (int | None, Limits(0), "an integer of at least 0, or None", "int or None", [None, 0], [-1, 0.0, False, "none"]),
    (CHOICE, Limits(), "one of 'auto', True, False", '{"auto", True, False}', ["auto", True, False],
     ["x", "", 1, 0, None, NAN, b"auto", []]),
    (bool, Limits(), "one of True, False", "bool", [True], [1, None]),
    (Literal["a", "b"] | None, Limits(), "one of 'a', 'b', None", '{"a", "b", None}', ["a", None], ["c", 0]),
    (MANY, Limits(1), "a tuple, each entry of which is an integer of at least 1", "tuple of int",
     [(), [], (1,), [8, np.int64(2)]], [5, "88", (8, 0), ((8,),), (1.0,), None]),
    (Literal["auto"] | tuple[str, ...], Limits(), "one of 'auto' or a tuple, each entry of which is a text",
     '{"auto"} or tuple of str', ["auto", ("plain/near",), ()], ["plain/near", (1,), None, 3]),
    (READOUT, Limits(), "one of 'mean', 'median' or a function", '{"mean", "median"} or function',
     ["mean", len, np.mean], ["mode", None, 3, ()]),
    (int | np.random.Generator | None, Limits(0), "an integer of at least 0, a Generator, or None",
     "int or Generator or None", [None, 0, np.random.default_rng()], [-1, 1.5, "today", True, np.random]),
    (Iterable[Callable[[Any], Any]] | None, Limits(), "an iterable, or None", "iterable or None",
     [None, [len], (len,)], [3, len]),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "limits", "text", "numpydoc", "inside", "outside"), CASES)
def test_what_is_allowed_in_words_and_in_fact(
    hint: Any, limits: Limits, text: str, numpydoc: str, inside: list[Any], outside: list[Any]
) -> None:
    allowed = Allowed.of(hint, limits)
    assert (str(allowed), allowed.numpydoc) == (text, numpydoc)
    assert [value for value in inside if not allowed.accepts(value)] == []
    assert [value for value in outside if allowed.accepts(value)] == []


@pytest.mark.parametrize(
    ("hint", "texts", "bad"),
    [
        (int, {"12": 12}, ["0", "ten", "1.0", "", "nan"]),
        (float, {"1e-3": 0.001}, ["inf", "nan", "x"]),
        (int | None, {"None": None, "none": None, "3": 3}, ["x"]),
        (CHOICE, {"auto": "auto", "true": True, "False": False}, ["Auto", "1", "yes"]),
        (MANY, {"64, 32": (64, 32), "64": (64,), "": ()}, ["64,,32", "64;32", "0", "64,x"]),
        (Literal["auto"] | tuple[str, ...], {"auto": "auto", "a/b,c/d": ("a/b", "c/d")}, []),
        (READOUT, {"median": "median"}, ["len"]),
        (Iterable[Callable[[Any], Any]] | None, {}, ["print"]),
    ],
)
def test_the_command_line_reads_every_type(hint: Any, texts: dict[str, Any], bad: list[str]) -> None:
    allowed = Allowed.of(hint, Limits(0, open_low=True) if hint is float else Limits(1))
    for text, value in texts.items():
        assert allowed.parse(text) == value
        assert type(allowed.parse(text)) is type(value)
    for text in bad:
        with pytest.raises(InputError) as caught:
            Parameter("it", None, None, allowed, "Something.").parse(text, "RECT")
        assert str(caught.value) == f"`it` of RECT must be {allowed}, got {text!r}"


def test_a_value_beyond_the_limits_is_refused_by_name_when_it_is_checked() -> None:
    with pytest.raises(InputError, match=r"^`rate` of Large must be a number above 0 and at most 1, got 2$"):
        Large(rate=2)._check_params()
    with pytest.raises(InputError, match=r"^`width` of Large must be an integer of at least 2, or"):
        Large(width=1)._check_params()
    Small(width=1)._check_params()


@pytest.mark.slow
def test_a_type_checker_knows_the_constructor(tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(
        "from typing import Annotated, ClassVar\nfrom unseen.params import Declared, Limits\n\n"
        "class Small(Declared):\n    name: ClassVar[str] = 'small'\n"
        "    width: Annotated[int, Limits(1), 'Columns.'] = 3\n\n"
        "class Large(Small):\n    rate: Annotated[float, 'Step.'] = 0.5\n\n"
        "Large(width=2, rate=1)\nLarge(width='2')\nLarge(widht=2)\nLarge(name='x')\nLarge(2)\n"
    )
    options = ["--strict", "--no-incremental", "--follow-imports=silent", "example.py"]
    command, environ = (
        [sys.executable, "-m", "mypy", *options],
        {"MYPYPATH": str(Path(unseen.__file__).parents[1])},
    )
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in errors] == ["12", "13", "14", "15"], done.stdout
