"""The documentation: it builds without a warning, its links lead somewhere, and its reference is complete."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unseen
from unseen.cli.demo import METHODS, OWN_FILES

ROOT = Path(unseen.__file__).parents[2]
MADE = ("run", "project", "tutorials", "gallery", "api")
"""Folders of docs/ that a build writes."""
PAGES = sorted(
    path
    for folder in ("docs", "paper/docs")
    for path in (ROOT / folder).rglob("*.md")
    if not set(MADE) & set(path.relative_to(ROOT / folder).parts)
) + [
    ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "paper/README.md")
]
pytestmark = pytest.mark.skipif(
    not (ROOT / "docs" / "conf.py").exists(), reason="needs the source tree, this is an installed copy"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    made = {ROOT / "docs" / "reference" / name for name in ("commands.md", "methods.md")}
    made |= {ROOT / "docs" / name / "index" for name in ("gallery", "tutorials")}
    text = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        goal = (page.parent / target).resolve()
        assert "://" in target or goal in made or goal.exists(), target


def test_no_text_installs_from_a_package_index() -> None:
    """Nothing is published there: texts name folders of a clone, as `unseen.errors.install_hint` does."""
    extras = "|".join(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    )
    forbidden = re.compile(rf"pip install (?:[^\n`#]*\s)?['\"]?unseen\b|\bunseen\[(?:{extras})[],]")
    for name in ("unseen", "unseen-paper"):
        assert forbidden.search(f"pip install -U {name}")
        assert forbidden.search(f"pip install '{name}[viz]'")
    for folder in ("src", "docs", "paper", "tests", "tools", "."):
        for path in (ROOT / folder).glob("*" if folder == "." else "**/*"):
            if path.suffix in (".py", ".md", ".rst", ".js", ".html") or path.name == "Makefile":
                assert not forbidden.search(path.read_text(encoding="utf-8")), path


def test_the_reference_has_every_public_name() -> None:
    listed = re.findall(
        r"(?m)^   (\w+)$", (ROOT / "docs" / "reference" / "api.rst").read_text(encoding="utf-8")
    )
    assert sorted([*listed, "__version__"]) == sorted(unseen.__all__)


def test_the_page_of_methods_has_every_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    made: Any = __import__("made")
    page = made.methods_page()
    for name in unseen.method_names():
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert re.findall(r"(?m)^\| `(\w+)` \|", section) == list(unseen.make_method(name)._parameters)


def test_links_of_a_site_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    build_docs: Any = __import__("build_docs")
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">b</a><a href="#here">a</a>')
    (tmp_path / "b.html").write_text('<p id="there"><a href="https://example.org/x">c</a>')
    assert build_docs.broken_links(tmp_path) == []
    (tmp_path / "b.html").write_text('<p id="elsewhere"><img src="none.png">')
    assert build_docs.broken_links(tmp_path) == ["a.html: b.html#there", "b.html: none.png"]


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("sphinx_gallery", reason="install the docs extra to build the site")
    command = [sys.executable, ROOT / "tools" / "build_docs.py", tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    for page in ("index", "tutorials/first_graph", "reference/api/unseen.Graph", "gallery/found_map"):
        assert (tmp_path / "site" / f"{page}.html").is_file()


@pytest.mark.slow
def test_the_numbers_of_the_readme_are_those_of_the_demo(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="the demo leaves out RECT and the GCN without torch")
    monkeypatch.chdir(tmp_path)
    report = json.loads(cli("demo", "--json", "--no-page").out)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (.*) \| (0\.\d\d) \| (0\.\d\d) \|$", readme.replace("**", ""))
    scores = report["methods"].items()
    assert rows == [
        (METHODS[name], f"{each['seen_f1']:.2f}", f"{each['unseen_f1']:.2f}") for name, each in scores
    ]
    found, truth = report["discovery"], report["discovery"]["truth"]
    assert f"about {found['expected']:,.0f} packages belong to {found['classes']} missing sections" in readme
    assert f"in truth, {truth['n_hidden']:,} packages belong to {truth['n_classes']}." in readme


def test_the_readme_is_one_screen_and_has_the_commands_that_the_demo_recommends() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 60
    assert len(re.sub(r"\]\([^)]*\)", "]", readme).split()) <= 420
    assert re.findall(r"(?m)^\$ (unseen .*)$", readme) == [line.strip() for line in OWN_FILES.splitlines()]
