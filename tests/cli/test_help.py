"""The way in: `unseen` alone, its help with examples that work, completion, and progress."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unseen
from unseen.cli import output
from unseen.cli.app import COMMANDS
from unseen.data.write import write_graph, write_part

EXAMPLES = [line for _, lines in COMMANDS.values() for line in lines]


def test_alone_it_says_what_to_try(cli: Any) -> None:
    ran = cli(code=0)
    assert len(ran.out.splitlines()) == 5
    assert "unseen discover edges.csv --labels labels.csv" in ran.out


def test_help_in_every_spelling(cli: Any) -> None:
    assert cli("help", "embed").out == cli("embed", "--help").out == cli("embed", "-h").out
    assert cli("help").out == cli("--help").out
    assert cli("-V").out == cli("--version").out == f"unseen {unseen.__version__}\n"
    text = cli("help", "discover").out
    headings = ["Arguments:", "Options:", "Input:", "Hiding labels", "Embedding:", "General:", "Examples:"]
    places = [text.index(heading) for heading in headings]
    assert places == sorted(places)


def test_every_command_has_an_example(cli: Any) -> None:
    for name in COMMANDS:
        ran = cli(name, "--help", code=0)
        assert f"  unseen {name}" in ran.out.partition("Examples:")[2]


def test_options_are_declared_by_limits_and_meaning(cli: Any) -> None:
    text = cli("help", "suggest").out
    shown = ["-o, --output", "-m, --method", "--param NAME=VALUE", "--directed ", "--header / --no-header"]
    assert [each for each in shown if each not in text] == []
    assert "--no-directed" not in text  # it is there for project files
    assert cli("suggest", "edges.csv", "--budget", "0").code == 2
    assert cli("accept", "labels.csv", "nodes.csv", "new-1=a", "--at-least", "2").code == 2


@pytest.mark.slow
def test_a_shell_can_complete() -> None:
    for words, wanted in (("unseen dis", "discover"), ("unseen discover --lab", "--label-rate")):
        place = str(len(words.split()) - 1)
        asked = {"_UNSEEN_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": place}
        ran = subprocess.run(
            [sys.executable, "-m", "unseen"],
            env={**os.environ, **asked},
            capture_output=True,
            text=True,
            check=False,
        )
        assert wanted in ran.stdout.split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = unseen.planted_partition(150, 4, random_state=0)
    names = dict(zip(data.labels.classes, ("mail", "web", "x", "y"), strict=True))
    values = [names[data.labels.classes[k]] if i % 3 else None for i, k in enumerate(data.labels.codes)]
    place = tmp_path_factory.mktemp("own")
    for suffix in (".csv", ".parquet"):
        write_part(data.graph, "edges", place / f"edges{suffix}")
    write_part(data.graph, "features", place / "features.csv")
    write_graph(data.graph, place / "graph.graphml")
    unseen.Labels.from_values(values, data.graph.node_ids).save(place / "labels.csv")
    unseen.MFDW(n_components=4, random_state=0).fit_transform(data.graph).save(place / "vectors.parquet")
    nodes = {"node": [0, 3], "group": ["new-1", "new-2"], "unseen_probability": [0.9, 0.8]}
    pq.write_table(pa.table(nodes), place / "nodes.parquet")
    return place


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", [each for each in EXAMPLES if not re.search("debian|unseen label |unseen demo", each)]
)
def test_the_examples_work(line: str, folder: Path) -> None:
    command = re.sub(r"(?<!-)\bunseen\b", f"{sys.executable} -m unseen", line)
    ran = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_a_bar_shows_no_count_before_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    console = Console(record=True, width=100, force_terminal=True, file=io.StringIO())
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    monkeypatch.setattr(output.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with output.progress("reading") as move:
        assert move is not None
        move(1, 4)
    shown = console.export_text()
    assert "?" not in shown
    assert "1/4" in shown
