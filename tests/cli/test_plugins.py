"""Commands of other distributions: listed by what is installed, imported when they are called."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from unseen.cli.app import ABSENT
from unseen.errors import install_hint

MODULE = """
import sys

sys.stderr.write("imported\\n")


def greet(name: str) -> None:
    "Greet somebody."
    sys.stdout.write(f"hello {name}\\n")
"""


def test_without_the_paper_its_commands_are_listed_and_say_how_to_install_it(
    cli: Callable, install: Callable
) -> None:
    install("unseen.commands")
    assert cli("--help").out.count(ABSENT) == 2
    for words in (["reproduce", "f1", "--splits", "2"], ["bench"], ["bench", "--help"]):
        done = cli(*words)
        assert (done.code, done.out) == (1, "")
        assert install_hint("paper") in done.err


@pytest.mark.parametrize("value", ["greetings:nothing", "unfinished:greet", "nowhere:greet"])
def test_a_broken_plug_in_is_one_line_and_stops_nothing_else(
    cli: Callable, install: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    (tmp_path / "greetings.py").write_text("")
    (tmp_path / "unfinished.py").write_text("raise RuntimeError('not yet')")
    monkeypatch.syspath_prepend(tmp_path)
    install("unseen.commands", greet=value)
    done = cli("greet", "you")
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)
    assert f"the command 'greet' of {value.partition(':')[0]} cannot be loaded" in done.err
    assert cli("methods").code == cli("--help").code == 0
    sys.modules.pop("greetings", None)


def test_no_plug_in_takes_the_place_of_a_command(cli: Callable, install: Callable) -> None:
    install("unseen.commands", embed="nowhere:embed")
    assert "the command 'embed' of nowhere is ignored" in cli("--help").err
    assert cli("embed", "--help").err == ""


@pytest.mark.slow
def test_a_plug_in_is_found_by_its_metadata_and_imported_when_it_is_called(tmp_path: Path) -> None:
    """A folder as pip leaves it, and the command in a process of its own."""
    about = tmp_path / "greetings-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[unseen.commands]\ngreet = greetings:greet\n")
    (tmp_path / "greetings.py").write_text(MODULE)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])

    def unseen(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "unseen", *words]
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    listed = unseen("--help")
    assert "A command of greetings." in listed.stdout
    assert "imported" not in listed.stderr
    assert unseen("greet", "you").stdout == "hello you\n"
    assert "Greet somebody." in unseen("greet", "--help").stdout
    assert unseen("greet").returncode == 2
