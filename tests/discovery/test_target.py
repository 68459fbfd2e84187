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


def written(graph: unseen.Graph, labels: unseen.Labels, tmp_path: Path) -> list[Any]:
    """Write the graph, and return the arguments that read it."""
    coo = graph.relations[0].matrix.tocoo()
    ids = graph.node_ids
    lines = [f"{ids[i]},{ids[j]}\n" for i, j in zip(coo.row, coo.col, strict=True)]
    (tmp_path / "edges.csv").write_text("src,dst\n" + "".join(lines))
    assert graph.node_types is not None
    types = zip(ids, graph.node_types, strict=True)
    (tmp_path / "nodes.csv").write_text("node,type\n" + "".join(f"{a},{b}\n" for a, b in types))
    rows = [f"{ids[k]},{labels.classes[labels.codes[k]]}\n" for k in labels.labelled]
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(rows))
    return [tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--labels", tmp_path / "labels.csv"]


def test_the_command_takes_a_target(cli: Any, tmp_path: Path) -> None:
    graph, labels, _ = library()
    files = written(graph, labels, tmp_path)
    ran = cli("suggest", *files, "--target", "author", "--budget", "2", "--json")
    assert ran.code == 0
    assert all(each["node"].startswith("a") for each in json.loads(ran.out)["suggestions"])


@pytest.mark.slow
def test_the_page_draws_the_type_that_has_labels(cli: Any, tmp_path: Path) -> None:
    graph, labels, _ = library()
    files = written(graph, labels, tmp_path)
    ran = cli("explore", *files, "-o", tmp_path / "page.html", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["nodes"] == 90
