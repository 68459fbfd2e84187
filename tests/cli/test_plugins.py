"""Commands of other distributions: found by what is installed, imported when they are called, and never in the way."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from unseen.cli import plugins
from unseen.errors import install_hint

MODULE = """
import sys

sys.stderr.write("imported\\n")


def greet(name: str) -> None:
    "Greet somebody."
    sys.stdout.write(f"hello {name}\\n")


NUMBER = 3
"""


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make these, and no others, the commands that are installed: names and what they refer to."""

    def put(**commands: str) -> None:
        group = "unseen.commands"
        entries = [importlib.metadata.EntryPoint(name, value, group) for name, value in commands.items()]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries)

    return put


@pytest.mark.parametrize("words", [["reproduce", "f1", "--splits", "2"], ["bench"], ["bench", "--help"]])
def test_without_the_paper_its_commands_say_how_to_install_it(
    cli: Callable, install: Callable, words: list[str]
) -> None:
    install()
    done = cli(*words)
    sentence = f"`unseen {words[0]}` comes with the paper's package; {install_hint('paper')}"
    assert (done.code, done.out, done.err) == (1, "", f"unseen: {sentence}\n")


def test_without_the_paper_its_commands_are_listed_all_the_same(cli: Callable, install: Callable) -> None:
    install()
    listed = cli("--help").out
    assert listed.count(plugins.ABSENT) == 2
    assert "(pip install" not in cli("embed", "--help").out


def test_a_plug_in_is_listed_without_being_imported_and_runs(
    cli: Callable, install: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "greetings.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    install(greet="greetings:greet")
    listed = cli("--help")
    assert "A command of greetings." in listed.out
    assert "greetings" not in sys.modules
    assert cli("greet", "you").out == "hello you\n"
    assert "Greet somebody." in cli("greet", "--help").out
    assert cli("greet").code == 2
    del sys.modules["greetings"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("greetings:NUMBER", "TypeError: greetings:NUMBER is of type int, not a function"),
        ("greetings:nothing", "AttributeError: module 'greetings' has no attribute 'nothing'"),
        ("unfinished:greet", "RuntimeError: not yet"),
        ("nowhere:greet", "ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_a_broken_plug_in_is_one_line_and_stops_nothing_else(
    cli: Callable,
    install: Callable,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    value: str,
    why: str,
) -> None:
    (tmp_path / "greetings.py").write_text(MODULE.replace('sys.stderr.write("imported\\n")', ""))
    (tmp_path / "unfinished.py").write_text("raise RuntimeError('not yet')")
    monkeypatch.syspath_prepend(tmp_path)
    install(greet=value)
    done = cli("greet", "you")
    assert (done.code, done.out) == (1, "")
    owner = value.partition(":")[0]
    assert done.err == (
        f"unseen: the command 'greet' of {owner} cannot be loaded ({why}); "
        f"reinstall {owner}, or uninstall it\n"
    )
    assert cli("methods").code == 0
    assert cli("methods").err == ""
    listed = cli("--help")
    assert listed.code == 0
    assert "embed" in listed.out
    assert len(listed.err.splitlines()) == (1 if value.startswith("nowhere") else 0)
    sys.modules.pop("greetings", None)


def test_no_plug_in_takes_the_place_of_a_command(cli: Callable, install: Callable) -> None:
    install(embed="nowhere:embed")
    done = cli("--help")
    assert done.err == "the command 'embed' of nowhere is ignored: unseen has one\n"
    assert cli("embed", "--help").err == ""


@pytest.mark.slow
def test_a_plug_in_is_found_by_its_metadata(tmp_path: Path) -> None:
    """A folder as pip leaves it, and the command in a process of its own."""
    about = tmp_path / "greetings-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[unseen.commands]\ngreet = greetings:greet\n")
    (tmp_path / "greetings.py").write_text(MODULE)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])

    def unseen(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "unseen", *words]
        return subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120
        )

    listed = unseen("--help")
    assert "greet" in listed.stdout
    assert "A command of greetings." in listed.stdout
    assert "imported" not in listed.stderr
    assert unseen("greet", "you").stdout == "hello you\n"
