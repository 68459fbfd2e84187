"""What written files look like, and what is refused before anything is written."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from reading import read_features
from unseen import read_graph
from unseen.data.write import write_graph, write_part
from unseen.errors import InputError, OutputError, UnsupportedError

TEXT = ("g.csv", "g.tsv", "g.txt", "g.edgelist", "g.csv.gz", "g.txt.gz")


def example(*, sparse: bool = True, ids: list[Any] | None = None) -> tuple[unseen.Graph, unseen.Labels]:
    features: Any = np.array([[0, 1.5], [2, 0], [0, 0], [1 / 3, 0]])
    graph = unseen.Graph.from_edges(
        [0, 1, 1],
        [1, 2, 1],
        [1.0, 0.1, 2.0],
        nodes=range(4),
        features=sp.csr_array(features) if sparse else features,
    )
    graph = unseen.Graph(graph.adjacency, graph.features, ids or [0, 1, 2, 3], ("tall", "old"))
    return graph, unseen.Labels.from_values(["0", None, ["0", "1"], "1"], graph.node_ids)


# --- what the files look like ---------------------------------------------------------------------------


def test_each_pair_once_and_weights_only_where_needed(tmp_path: Path) -> None:
    graph = unseen.Graph.from_edges(["b", "a", "c"], ["a", "c", "c"])
    write_graph(graph, tmp_path / "g.csv")
    assert (tmp_path / "g.csv").read_text() == "src,dst\nb,a\na,c\nc,c\n"
    weighted = unseen.Graph.from_edges(["b", "a"], ["a", "c"], [0.1, 1])
    write_graph(weighted, tmp_path / "g.txt")
    assert (tmp_path / "g.txt").read_text() == "b a 0.1\na c 1\n"


def test_header_of_blank_separated_text_only_where_needed(tmp_path: Path) -> None:
    write_graph(unseen.Graph.from_edges(["source"], ["target"]), tmp_path / "g.txt")
    assert (tmp_path / "g.txt").read_text() == "src dst\nsource target\n"
    assert read_graph(tmp_path / "g.txt").node_ids.tolist() == ["source", "target"]


def test_notice_says_where_isolated_nodes_went(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph, labels = example()
    with caplog.at_level(logging.INFO, "unseen"):
        write_graph(graph, tmp_path / "g.csv", labels=labels)
    assert "g.csv cannot hold nodes without an edge, so all nodes are listed in" in caplog.text
    assert "g.nodes.csv; read it with nodes=... (--nodes)" in caplog.text
    assert len(caplog.records) == 1


def test_no_nodes_file_without_need(tmp_path: Path) -> None:
    assert write_graph(unseen.Graph.from_edges([1], [2]), tmp_path / "g.parquet") == [tmp_path / "g.parquet"]


def test_npz_is_scipys(tmp_path: Path) -> None:
    graph, _ = example()
    write_graph(graph, tmp_path / "g.npz")
    assert (sp.load_npz(tmp_path / "g.npz") != graph.adjacency).nnz == 0


def test_authors_folder(tmp_path: Path) -> None:
    graph = unseen.Graph.from_edges([0, 2], [1, 1], nodes=range(4))
    write_graph(graph, tmp_path / "out", labels=unseen.Labels.from_values([["1", "2"], None, "2", "1"]))
    assert (tmp_path / "out" / "graph.txt").read_text() == "0\t1\n1\t2\n"
    assert (tmp_path / "out" / "group.txt").read_text() == "0\t1 2\n1\t\n2\t2\n3\t1\n"


def test_same_graph_same_bytes(tmp_path: Path) -> None:
    graph, labels = example()
    for name in (*TEXT, "g.parquet", "g.npz"):
        first = [path.read_bytes() for path in write_graph(graph, tmp_path / name, labels=labels)]
        assert [path.read_bytes() for path in write_graph(graph, tmp_path / name, labels=labels)] == first


def test_gz_is_gzip(tmp_path: Path) -> None:
    write_graph(unseen.Graph.from_edges(["a"], ["b"]), tmp_path / "g.csv.gz")
    assert gzip.decompress((tmp_path / "g.csv.gz").read_bytes()) == b"src,dst\na,b\n"


# --- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ids", "sentence"),
    [
        (
            "g.csv",
            ["a\nb", "c"],
            r"text cannot hold 'a\\nb', which has a line break or a zero character; use \.parquet",
        ),
        ("g.tsv", ["a\0", "c"], "has a line break or a zero character"),
        ("g.csv", ["", "c"], "one node has an empty id, which no reader takes; give it a name"),
        ("g.parquet", ["\ud800", "c"], "is not valid Unicode text, so no file can hold it"),
        ("folder", ["a b", "c"], "authors' format cannot hold the id 'a b', .*use .csv or .parquet"),
        ("folder", ["#a", "c"], "authors' format cannot hold the id '#a'"),
        ("folder", ["src", "dst"], "cannot hold a first edge that looks like a header"),
    ],
)
def test_ids_a_format_cannot_hold(tmp_path: Path, name: str, ids: list[Any], sentence: str) -> None:
    graph = unseen.Graph(sp.csr_array([[0, 1], [1, 0]]), None, ids)
    with pytest.raises(UnsupportedError, match=sentence):
        write_graph(graph, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a|b", " a", "nan", "-1"])
def test_class_names_that_would_not_come_back(tmp_path: Path, name: str) -> None:
    graph = unseen.Graph(sp.csr_array([[0, 1], [1, 0]]))
    labels = unseen.Labels(sp.csr_array([[True], [False]]), (name,))
    with pytest.raises(UnsupportedError, match=r"would not be read back: .* rename the class"):
        write_graph(graph, tmp_path / "g.csv", labels=labels)
    with pytest.raises(UnsupportedError, match="would not be read back"):
        write_part(labels, "labels", tmp_path / "labels.csv")
    assert not list(tmp_path.iterdir())


def test_unknown_suffixes_list_the_known(tmp_path: Path) -> None:
    graph, labels = example()
    with pytest.raises(
        InputError, match=r"not written with the suffix '\.xyz'; use one of \.csv, .*or a folder"
    ):
        write_graph(graph, tmp_path / "g.xyz")
    with pytest.raises(
        InputError, match=r"labels are not written with the suffix '\.xlsx'; use one of \.csv"
    ):
        write_part(labels, "labels", tmp_path / "l.xlsx")
    with pytest.raises(
        InputError, match=r"features are not written with the suffix '\.xlsx'; use one of .*\.npz"
    ):
        write_part(graph, "features", tmp_path / "f.xlsx")


@pytest.mark.parametrize("name", ["g.parquet.gz", "g.npz.gz"])
def test_only_text_is_packed(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsupportedError, match=r"is not packed as \.gz; leave \.gz out"):
        write_graph(example()[0], tmp_path / name)


def test_output_that_is_an_input(tmp_path: Path) -> None:
    graph, labels = example()
    write_graph(graph, tmp_path / "g.csv", labels=labels)
    for source in ("g.csv", "g.labels.csv"):
        with pytest.raises(OutputError, match=rf"cannot write .*{source}: .* overwritten"):
            write_graph(graph, tmp_path / "g.csv", labels=labels, inputs=[tmp_path / source])


def test_folder_that_could_not_be_filled_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OutputError, match="the disk is full"):
        write_graph(example()[0], tmp_path / "new" / "folder")
    assert not list(tmp_path.iterdir())


def test_no_features(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the graph has no features to write"):
        write_part(unseen.Graph.from_edges([0], [1]), "features", tmp_path / "f.csv")


@pytest.mark.parametrize("names", [["node", "x"], ["x", "x"]])
def test_features_whose_names_clash(tmp_path: Path, names: list[str]) -> None:
    graph = unseen.Graph(sp.csr_array((1, 1)), [[1.0, 2.0]], ["a"], names)
    with pytest.raises(
        UnsupportedError, match=rf"text cannot have a feature called '{names[0]}', .*\.parquet or"
    ):
        write_part(graph, "features", tmp_path / "f.csv")
    for suffix in (".npz", ".parquet"):
        write_part(graph, "features", tmp_path / f"f{suffix}")
        ids, values, read = read_features(tmp_path / f"f{suffix}")
        assert (list(ids), np.asarray(values).tolist(), read) == (["a"], [[1.0, 2.0]], tuple(names))


def test_labels_of_other_nodes(tmp_path: Path) -> None:
    graph, _ = example()
    with pytest.raises(InputError, match="labels name 1 nodes that the graph does not have"):
        write_graph(graph, tmp_path / "g.csv", labels=unseen.Labels.from_values(["x"], ["stranger"]))


def test_one_unwritable_file_and_none_is_written(tmp_path: Path) -> None:
    graph, labels = example()
    (tmp_path / "g.labels.csv").mkdir()
    with pytest.raises(OutputError, match="it is a folder"):
        write_graph(graph, tmp_path / "g.csv", labels=labels)
    assert [path.name for path in tmp_path.iterdir()] == ["g.labels.csv"]


def test_group_txt_of_labels_alone(tmp_path: Path) -> None:
    labels = unseen.Labels.from_values(["x", None, ["x", "y"]], ["a", "b", "c"])
    write_part(labels, "labels", tmp_path / "group.txt")
    assert (tmp_path / "group.txt").read_text() == "a\tx\nb\t\nc\tx y\n"
    with pytest.raises(UnsupportedError, match="cannot hold the class 'x y'"):
        write_part(unseen.Labels.from_values(["x y"], ["a"]), "labels", tmp_path / "group.txt")


@pytest.mark.parametrize("suffix", [".w2v.txt", ".w2v.txt.gz"])
def test_the_suffix_of_vectors_is_for_vectors(tmp_path: Path, suffix: str) -> None:
    graph, labels = example()
    target = tmp_path / f"x{suffix}"
    with pytest.raises(InputError, match=r"\.w2v.* is for vectors, and graphs are none; use \.csv"):
        write_graph(graph, target)
    with pytest.raises(InputError, match=r"\.w2v.* is for vectors, and features are none; use \.csv"):
        write_part(graph, "features", target)
    with pytest.raises(InputError, match=r"is for vectors, and labels are none"):
        write_part(labels, "labels", target)
