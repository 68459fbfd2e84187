"""A newcomer with files of their own: README's commands as they stand, no flag beyond file names, and the truth."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

import unseen
from scenarios.strangers import Stranger, make_bank, make_company, make_shop

ROOT = Path(unseen.__file__).parents[2]
MAKERS = {"shop": make_shop, "company": make_company, "bank": make_bank}
pytestmark = pytest.mark.slow


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def name_groups(stranger: Stranger, nodes: list[dict[str, str]]) -> dict[str, str]:
    """Return for every found group the true class that most of its nodes are of, as a person would name it."""
    members: dict[str, Counter[str]] = {}
    for row in nodes:
        if row["group"]:
            members.setdefault(row["group"], Counter())[stranger.truth[row["node"]]] += 1
    return {group: kinds.most_common(1)[0][0] for group, kinds in members.items()}


def label_to_the_end(stranger: Stranger, call: Callable[..., str]) -> None:
    """Run the commands of README's section on one's own files and compare what they write with the truth."""
    call("init", stranger.edges, *stranger.extra, "--labels", stranger.labels)
    before = stranger.labels.read_bytes()
    labelled = stranger.labelled
    report = json.loads(call("discover", "-o", "nodes.csv", "--json"))
    hidden = sum(kind in stranger.missing and node not in labelled for node, kind in stranger.truth.items())
    assert report["expected_unseen"] == pytest.approx(hidden, rel=0.15)

    names = name_groups(stranger, read_rows(Path("nodes.csv")))
    assert set(names.values()) == set(stranger.missing)
    words = [f"{group}={name}" for group, name in names.items()]
    call("accept", stranger.labels, "nodes.csv", *words, "--in-place")
    after = stranger.labels.read_bytes()
    assert after.startswith(before)  # nothing that was there has changed; new rows come last
    assert Path(f"{stranger.labels}.bak").read_bytes() == before
    accepted = [line.split(",")[:2] for line in after[len(before) :].decode().splitlines()]
    assert len(accepted) > 0.7 * hidden
    assert sum(stranger.truth[node] == kind for node, kind in accepted) >= 0.9 * len(accepted)

    call("predict", "-o", "classes.csv")
    rows = read_rows(Path("classes.csv"))
    assert list(rows[0]) == ["node", "class", "probability", "status"]
    assert {row["node"] for row in rows} == set(stranger.truth)
    assert sum(stranger.truth[row["node"]] == row["class"] for row in rows) >= 0.9 * len(rows)
    assert {row["status"] for row in rows} <= {"labelled", "predicted", "candidate"}


@pytest.mark.parametrize("kind", MAKERS)
def test_files_of_a_stranger_become_named_classes(
    kind: str, cli: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> str:
        ran = cli(*words)
        assert ran.code == 0, ran.err  # type: ignore[attr-defined]
        return ran.out  # type: ignore[attr-defined, no-any-return]

    label_to_the_end(MAKERS[kind](tmp_path), call)


def test_a_networkx_graph_with_attributes(tmp_path: Path) -> None:
    stranger = make_company(tmp_path)
    graph = nx.Graph(line.split() for line in stranger.edges.read_text(encoding="utf-8").splitlines())
    labelled = stranger.labelled
    for node in stranger.truth:
        graph.add_node(node, team=stranger.truth[node] if node in labelled else None, age=len(node))
    data = unseen.read(graph, features=graph, label_column="team")
    assert data.labels is not None
    found = unseen.discover(data.graph, data.labels, random_state=0)
    hidden = sum(kind in stranger.missing for kind in stranger.truth.values())
    assert found.coverage.expected_unseen == pytest.approx(hidden, rel=0.15)
    assert set(found.predictions().column("status").to_pylist()) == {"labelled", "predicted", "candidate"}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository, this is an installed copy")
def test_a_fresh_clone_installs_by_the_line_of_the_readme_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """README's line for one's own files, in an environment with nothing else."""
    line = 'pip install ".[viz,label]"'
    assert line in (ROOT / "README.md").read_text(encoding="utf-8")
    clone, home = tmp_path / "clone", tmp_path / "environment"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
    }

    def shell(command: str, folder: Path) -> str:
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    shell(f"git clone -q '{ROOT}' '{clone}'", tmp_path)
    shell(f"'{sys.executable}' -m venv '{home}'", tmp_path)
    if os.environ.get("CI") == "true":  # everything from the index, as a user gets it
        shell(line, clone)
    else:  # the dependencies of this environment, without its editable copy of the package
        shell("pip install -q --no-deps .", clone)
        site = Path(
            shell("python -c \"import sysconfig; print(sysconfig.get_path('purelib'))\"", tmp_path).strip()
        )
        (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    folder = tmp_path / "shop"
    folder.mkdir()
    stranger = make_shop(folder)

    def call(*words: object) -> str:
        return shell(" ".join(["unseen", *(f"'{word}'" for word in words)]), folder)

    monkeypatch.chdir(folder)
    label_to_the_end(stranger, call)
