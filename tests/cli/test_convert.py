"""`unseen convert`: there and back again, by the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import unseen


@pytest.mark.parametrize("target", ["g.parquet", "g.npz", "g.tsv.gz"])
def test_there_and_back(cli: Callable, files: Path, target: str) -> None:
    there = cli("convert", files / "edges.csv", files / target, "--nodes", files / "nodes.txt")
    assert there.code == 0, there.err
    assert target in there.err
    nodes = sorted(p for p in files.iterdir() if p.name.startswith("g.") and "nodes" in p.name)
    extra = ["--nodes", nodes[0]] if nodes else []
    back = cli("convert", files / target, files / "back.csv", *extra)
    assert back.code == 0, back.err
    first = unseen.read_graph(files / "edges.csv", nodes=files / "nodes.txt")
    again = sorted(p for p in files.iterdir() if p.name.startswith("back") and "nodes" in p.name)
    second = unseen.read_graph(files / "back.csv", nodes=again[0] if again else None)
    assert second.node_ids.tolist() == first.node_ids.tolist()
    assert np.array_equal(second.adjacency.toarray(), first.adjacency.toarray())


def test_a_data_set_can_be_written(cli: Callable, tmp_path: Path) -> None:
    ran = cli("convert", "debian", tmp_path / "debian.parquet")
    assert ran.code == 0, ran.err
    graph = unseen.read_graph(tmp_path / "debian.parquet")
    assert (graph.n_nodes, graph.n_edges) == (4852, 6928)


def test_a_format_that_cannot_hold_the_ids_says_so(cli: Callable, files: Path) -> None:
    ran = cli("convert", files / "edges.csv", files / "g.mat")
    assert ran.code == 1
    assert "row number only" in ran.err
    assert ".parquet" in ran.err
    assert not (files / "g.mat").exists()
