"""A method is one file or a plug-in: its name leads to it, and all that is told of it stands in its class."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unseen
from unseen import methods
from unseen.errors import install_hint
from unseen.methods import vocabulary
from unseen.methods.base import Method
from unseen.methods.registry import all_methods, find_method, make_method, method_class
from unseen.params import Limits
from unseen.plugins import IN_PAPER
from unseen_paper.methods import vocabulary as paper_vocabulary

SOURCE = Path(unseen.__file__).parent
METHODS = all_methods()
GUIDE = SOURCE.parents[1] / "CONTRIBUTING.md"
SAMPLE = re.search(r"^```python\n(.*?)^```", GUIDE.read_text("utf-8") if GUIDE.exists() else "", re.S | re.M)
"""The method that CONTRIBUTING shows: powers of the degrees."""
needs_guide = pytest.mark.skipif(SAMPLE is None, reason="needs the source tree, this is an installed copy")
MEANINGS = {
    name: next(note for note in alias.__metadata__ if isinstance(note, str))
    for name, alias in {**vars(vocabulary), **vars(paper_vocabulary)}.items()
    if hasattr(alias, "__metadata__")
}


@pytest.mark.parametrize("name", METHODS)
def test_a_name_leads_to_its_class_and_the_class_to_its_name(name: str) -> None:
    cls = METHODS[name]
    for found in (
        method_class(name),
        find_method(name),
        find_method(cls.__name__),
        getattr(unseen, cls.__name__),
    ):
        assert found is cls
    assert (cls._traits.name, cls.__name__.lower()) == (name, name.replace("-", ""))
    assert (cls.__name__ in unseen.__all__) == (name not in IN_PAPER["method"])
    cls()._check_params()  # defaults are within their own limits


@pytest.mark.slow
def test_one_method_is_found_without_importing_the_others() -> None:
    code = (
        "import sys, unseen\nunseen.make_method('smoothfeats')\nunseen.MFDW\n"
        "print(sorted(m for m in sys.modules if m.startswith('unseen.methods.') and m.rpartition('.')[2] in "
        f"{[module.replace('-', '_') for module in METHODS]}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "['unseen.methods.mfdw', 'unseen.methods.smoothfeats']"


@pytest.mark.parametrize("name", ["rekt", "RECT", "rect-quantum", "", "base", "rect_plus"])
def test_an_unknown_method_or_parameter_gets_a_hint(name: str) -> None:
    with pytest.raises(unseen.InputError, match=rf"unknown method '{name}'.*Known: .*gcn"):
        make_method(name)
    with pytest.raises(unseen.InputError, match="did you mean 'teleport'"):
        make_method("smoothfeats", teleprot=0.1)


@pytest.mark.parametrize("name", IN_PAPER["method"])
def test_a_baseline_without_the_paper_says_how_to_install_it(
    name: str, install: Callable[..., None], cli: Callable[..., Any]
) -> None:
    install("unseen.methods")
    sentence = f"the method '{name}' comes with the paper's package; {install_hint('paper')}"
    with pytest.raises(unseen.UnseenError, match=re.escape(sentence)):
        make_method(name)
    assert name not in unseen.method_names()
    assert cli("embed", "debian", "--method", name, "-o", "-").err == f"unseen: {sentence}\n"


@needs_guide
def test_a_plug_in_adds_a_method_and_a_broken_one_stops_nothing(
    install: Callable[..., None],
    cli: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "added_methods.py").write_text(SAMPLE[1])
    monkeypatch.syspath_prepend(tmp_path)
    value = "added_methods:Degrees"
    install("unseen.methods", degrees=value, other=value, mfdw=value, absent="nowhere:Absent")
    graph = unseen.Graph.from_edges([0, 1], [1, 2])
    assert make_method("degrees", n_components=1).fit_transform(graph).vectors.tolist() == [[0.5], [1], [0.5]]
    assert find_method("Degrees") is method_class("degrees")
    names = unseen.method_names()
    assert "degrees" in names
    assert "other" not in names
    assert method_class("mfdw") is unseen.MFDW
    assert "the method 'mfdw' of added_methods is ignored: unseen has one" in caplog.messages
    with pytest.raises(unseen.UnseenError, match="the method 'other' of added_methods cannot be loaded"):
        make_method("other")
    assert "powers of the degrees" in cli("methods").out
    sys.modules.pop("added_methods")


def test_every_parameter_is_declared_by_the_vocabulary_alone() -> None:
    told = {p.meaning for cls in METHODS.values() for p in cls._parameters.values()}
    known = {meaning.format(cls=cls) for meaning in MEANINGS.values() for cls in METHODS.values()}
    assert told <= known
    used = {
        name
        for name, meaning in MEANINGS.items()
        for cls in METHODS.values()
        if meaning.format(cls=cls) in told
    }
    assert used == set(MEANINGS)


@needs_guide
def test_adding_a_method_is_adding_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "degrees.py").write_text(SAMPLE[1])
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    monkeypatch.delattr(unseen, "__all__", raising=False)
    graph = unseen.Graph.from_edges([0, 1], [1, 2])
    try:
        method = make_method("degrees", n_components=2)
        assert isinstance(method, Method)
        assert method.fit_transform(graph).vectors.tolist() == [[0.5, 0.25], [1, 1], [0.5, 0.25]]
        assert repr(unseen.Degrees(n_components=3)) == "Degrees(n_components=3)"
        assert "degrees" in unseen.method_names()
        assert "Degrees" in unseen.__all__
        assert method_class("degrees")._parameters["n_components"].allowed.limits == Limits(1)
    finally:
        sys.modules.pop("unseen.methods.degrees", None)
        vars(unseen).pop("Degrees", None)
        vars(unseen).pop("__all__", None)
