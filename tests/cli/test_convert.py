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
    (files / "blanks.csv").write_text("src,dst\na b,c\n")
    ran = cli("convert", files / "blanks.csv", files / "g")
    assert ran.code == 1
    assert "cannot hold the id 'a b'" in ran.err
    assert ".parquet" in ran.err
    assert not (files / "g").exists()


def test_embedding_to_embedding(cli: Callable, tmp_path: Path) -> None:
    unseen.Embedding([[0.5, 1.0], [2.0, 3.0]], ["a", "007"], method="rect").save(tmp_path / "v.parquet")
    ran = cli("convert", tmp_path / "v.parquet", tmp_path / "v.w2v.txt")
    assert (ran.code, ran.err) == (0, f"written: {tmp_path / 'v.w2v.txt'}\n")
    assert (tmp_path / "v.w2v.txt").read_text() == "2 2\na 0.5 1\n007 2 3\n"


def test_features_and_labels_alone(cli: Callable, files: Path) -> None:
    ran = cli("convert", files / "features.csv", files / "f.npz")
    assert (ran.code, ran.err) == (0, f"written: {files / 'f.npz'}\n")
    ran = cli("convert", files / "labels.csv", files / "l.parquet")
    assert (ran.code, ran.err) == (0, f"written: {files / 'l.parquet'}\n")


def test_a_graph_is_not_written_as_vectors(cli: Callable, files: Path) -> None:
    ran = cli("convert", files / "edges.csv", files / "o.w2v.txt", "--what", "graph")
    assert ran.code == 1
    assert "is for vectors" in ran.err
    assert not (files / "o.w2v.txt").exists()


def test_what_is_said_counts(cli: Callable, files: Path) -> None:
    (files / "plain.csv").write_text("a,x\nb,y\n")
    assert cli("convert", files / "plain.csv", files / "out.tsv", "--what", "labels").code == 0
    assert (files / "out.tsv").read_text() == "node\tlabel\na\tx\nb\ty\n"
    ran = cli("convert", files / "plain.csv", files / "out.tsv", "--what", "label")
    assert ran.code == 1
    assert "did you mean 'labels'" in ran.err


def test_what_was_written_is_said_once(cli: Callable, files: Path) -> None:
    parts = (
        "--features",
        files / "features.csv",
        "--labels",
        files / "labels.csv",
        "--nodes",
        files / "nodes.txt",
    )
    ran = cli("convert", files / "edges.csv", files / "g.parquet", *parts)
    assert ran.code == 0, ran.err
    assert ran.err.count("g.features.parquet") == 1
    assert ran.err.count("g.labels.parquet") == 1


def test_a_part_of_a_data_set(cli: Callable, tmp_path: Path) -> None:
    assert cli("convert", "debian", tmp_path / "l.csv", "--what", "labels").code == 0
    assert (tmp_path / "l.csv").read_text().startswith("node,label\n")
    ran = cli("convert", "debian", tmp_path / "e.parquet", "--what", "embedding")
    assert ran.code == 1
    assert "unknown part of a graph 'embedding'" in ran.err


@pytest.mark.slow
def test_the_bundled_graph_as_three_files(cli: Callable, tmp_path: Path) -> None:
    ran = cli("convert", "debian", tmp_path / "debian", "--what", "all")
    assert ran.code == 0, ran.err
    assert sorted(path.name for path in (tmp_path / "debian").iterdir()) == [
        "edges.csv",
        "features.parquet",
        "labels.csv",
    ]
    assert cli("convert", "debian", tmp_path / "features.parquet", "--what", "features").code == 0


def test_dash_is_the_standard_output(cli: Callable, files: Path) -> None:
    ran = cli("convert", files / "labels.csv", "-")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("node,label\n")
    assert "007,y\n" in ran.out
    assert not Path("-").exists()


def test_an_input_is_not_overwritten(cli: Callable, files: Path) -> None:
    ran = cli("convert", files / "edges.csv", files / "edges.csv")
    assert ran.code == 1
    assert "would be overwritten" in ran.err
