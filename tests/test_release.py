"""What a release must keep: the public names and their signatures, and dependencies that others can live with.

``python tests/test_release.py`` writes the names anew; a commit that changes them says so in the CHANGELOG.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import unseen

ROOT = Path(unseen.__file__).parents[2]
NAMES = Path(__file__).with_name("public_names.txt")


def public_names() -> list[str]:
    """Return every public name with its parameters, classes with their public methods and properties."""
    lines = []
    for name in sorted(unseen.__all__):
        value = getattr(unseen, name)
        if not inspect.isclass(value):
            lines.append(f"{name}{_signature(value)}")
            continue
        lines.append(f"class {name}{_signature(value)}")
        members = {
            key: each
            for kind in value.__mro__
            if kind.__module__.startswith("unseen")
            for key, each in vars(kind).items()
        }
        for key, member in sorted(members.items()):
            if not key.startswith("_"):
                lines.append(f"  {key}{_signature(getattr(member, '__func__', member))}")
    return lines


def _signature(value: Any) -> str:
    if not callable(value):
        return ""
    try:
        names = [
            f"{'*' * (each.kind == each.VAR_POSITIONAL)}{'**' * (each.kind == each.VAR_KEYWORD)}{name}"
            for name, each in inspect.signature(value).parameters.items()
            if name != "self"
        ]
    except ValueError:  # an exception has no signature of its own
        return ""
    return f"({', '.join(names)})"


def test_the_public_names_are_those_of_before() -> None:
    now = public_names()
    assert now == NAMES.read_text(encoding="utf-8").splitlines(), "run tests/test_release.py if that is meant"


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs the source tree")
def test_dependencies_have_lower_bounds_only() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(each for extra in extras.values() for each in extra)]
    for each in listed:
        assert re.fullmatch(r"unseen\[[\w,]+\]|[\w-]+>=[\d.]+", each), each


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs the source tree")
def test_the_project_says_what_it_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]
    assert project["license"]
    assert len(project["classifiers"]) >= 6
    assert "## 0.2.0" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    NAMES.write_text("\n".join(public_names()) + "\n", encoding="utf-8")
