"""Classes are missed among the nodes of the types that have labels, or of the type that is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen


def library(n: int = 90) -> tuple[unseen.Graph, unseen.Labels, list[str]]:
    """Authors of three fields and their venues, two of each field; the last field has no label."""
    rng = np.random.default_rng(0)
    field = np.arange(n) % 3
    matrix = np.zeros((n + 6, n + 6))
    for author in range(n):
        for venue in rng.integers(0, 2, 3):
            matrix[author, n + 2 * field[author] + venue] += 1
    graph = unseen.Graph.from_relations(
        [unseen.Relation("in", "author", "venue", matrix)],  # type: ignore[arg-type]
        [f"a{k}" for k in range(n)] + [f"v{k}" for k in range(6)],
        ["author"] * n + ["venue"] * 6,
    )
    values = [f"f{field[k]}" if k < 45 and field[k] < 2 else None for k in range(n)]
    return graph, unseen.Labels.from_values(values + [None] * 6, graph.node_ids), [f"f{k}" for k in field]


def test_a_venue_is_no_author_of_an_unknown_class() -> None:
    graph, labels, fields = library()
    result = unseen.discover(graph, labels, random_state=0)
    nodes = result.nodes.to_pydict()
    assert all(node.startswith("a") for node in nodes["node"])
    assert not any("edges join" in note for note in result.coverage.warnings)  # no edge can join two authors
    new = {node for node, p in zip(nodes["node"], nodes["unseen_probability"], strict=True) if p > 0.5}
    assert len(new & {f"a{k}" for k in range(90) if fields[k] == "f2"}) > 0.9 * len(new) > 20
    asked = unseen.suggest(graph, labels, budget=3, random_state=0)
    assert all(each.node.startswith("a") for each in asked)
    venues = unseen.suggest(graph, None, budget=2, target="venue", random_state=0)
    assert all(each.node.startswith("v") for each in venues)


def test_types_that_are_not_there() -> None:
    graph, labels, _ = library()
    with pytest.raises(unseen.InputError, match="unknown node type 'auhtor'; did you mean 'author'"):
        unseen.discover(graph, labels, target="auhtor")
    with pytest.raises(
        unseen.InputError, match=r"no node of type .venue. has a label \(types with labels: .author.\)"
    ):
        unseen.discover(graph, labels, target="venue")
    plain = unseen.Graph.from_edges(["a"], ["b"])
    with pytest.raises(unseen.InputError, match="none is called 'author'; leave out `target`"):
        unseen.discover(plain, unseen.Labels.from_values(["x", None], plain.node_ids), target="author")


@pytest.fixture
def files(tmp_path: Path) -> list[Any]:
    """Write the graph, and return the arguments that read it."""
    graph, labels, _ = library()
    ids, types, coo = graph.node_ids, graph.node_types, graph.relations[0].matrix.tocoo()
    assert types is not None
    rows = {
        "edges": ["src,dst", *(f"{ids[i]},{ids[j]}" for i, j in zip(coo.row, coo.col, strict=True))],
        "nodes": ["node,type", *map(",".join, zip(ids, types, strict=True))],
        "labels": ["node,label", *(f"{ids[k]},{labels.classes[labels.codes[k]]}" for k in labels.labelled)],
    }
    for name, lines in rows.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    edges, nodes, given = (tmp_path / f"{name}.csv" for name in rows)
    return [edges, "--nodes", nodes, "--labels", given]


def test_the_command_takes_a_target(cli: Any, files: list[Any]) -> None:
    ran = cli("suggest", *files, "--target", "author", "--budget", "2", "--json")
    assert ran.code == 0
    assert all(each["node"].startswith("a") for each in json.loads(ran.out)["suggestions"])


@pytest.mark.slow
def test_the_page_draws_the_type_that_has_labels(cli: Any, files: list[Any], tmp_path: Path) -> None:
    ran = cli("explore", *files, "-o", tmp_path / "page.html", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["nodes"] == 90
