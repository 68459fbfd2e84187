"""A newcomer with files of their own: README's commands as they stand, no flag beyond file names, and the truth."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

import unseen
from scenarios.strangers import Stranger, make_bank, make_company, make_shop

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
