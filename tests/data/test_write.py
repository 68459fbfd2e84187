"""Writing graphs, labels and features: whatever is written is read back, or refused before anything is written."""

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
from unseen import read_graph, read_labels
from unseen.data.convert import convert_file
from unseen.data.options import Options
from unseen.data.write import write_graph, write_part
from unseen.errors import InputError, OutputError, UnsupportedError

TEXT = ("g.csv", "g.tsv", "g.txt", "g.edgelist", "g.csv.gz", "g.txt.gz")
TARGETS = (*TEXT, "g.parquet", "g.npz", "folder")


def edges_of(graph: unseen.Graph) -> dict[tuple[str, ...], float]:
    upper = sp.triu(graph.adjacency, format="coo")
    names = [str(value) for value in graph.node_ids]
    pairs = zip(upper.row, upper.col, upper.data, strict=True)
    return {tuple(sorted((names[i], names[j]))): weight for i, j, weight in pairs}


def labels_of(labels: unseen.Labels) -> dict[str, set[str]]:
    rows, columns = labels.indicator.nonzero()
    found: dict[str, set[str]] = {}
    for row, column in zip(rows, columns, strict=True):
        found.setdefault(str(labels.node_ids[row]), set()).add(labels.classes[column])
    return found


def assert_same_graph(read: unseen.Graph, written: unseen.Graph) -> None:
    assert sorted(map(str, read.node_ids)) == sorted(map(str, written.node_ids))
    assert edges_of(read) == edges_of(written)
    assert (read.features is None) == (written.features is None)
    if read.features is not None and written.features is not None:
        order = [[str(v) for v in written.node_ids].index(str(value)) for value in read.node_ids]
        a, b = (m.toarray() if sp.issparse(m) else m for m in (read.features, written.features))
        np.testing.assert_array_equal(a, b[order])


def read_back(folder: Path, name: str) -> tuple[unseen.Graph, unseen.Labels | None]:
    """Read everything that lies beside the edges, as a user would name it."""
    target = folder / name
    if name == "folder":
        features = target / "features.npz"
        graph = read_graph(target, features=features if features.exists() else None)
        return graph, read_labels(target, graph)
    parts = {part: next(folder.glob(f"g.{part}.*"), None) for part in ("nodes", "features", "labels")}
    graph = read_graph(target, parts["nodes"], parts["features"], parts["labels"])
    return graph, None if parts["labels"] is None else read_labels(parts["labels"], graph)


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


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_round_trip_of_everything(tmp_path: Path, name: str, sparse: bool) -> None:
    """Weights, a self-loop, an isolated node, unlabelled and multi-label nodes, features with names."""
    graph, labels = example(sparse=sparse)
    files = write_graph(graph, tmp_path / name, labels=labels)
    assert sorted(files) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    read, read_back_labels = read_back(tmp_path, name)
    assert_same_graph(read, graph)
    assert read_back_labels is not None
    assert labels_of(read_back_labels) == labels_of(labels)
    assert read.feature_names == ("tall", "old")
    if sparse:
        assert sp.issparse(read.features)


def test_convert_refuses_a_target_before_it_reads(tmp_path: Path) -> None:
    (tmp_path / "broken.csv").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"graphs are not written with the suffix '\.xyz'"):
        convert_file(tmp_path / "broken.csv", tmp_path / "g.xyz", what="graph")
    with pytest.raises(OutputError, match="overwritten"):
        convert_file(tmp_path / "broken.csv", tmp_path / "broken.csv", what="graph")


def test_nothing_is_announced_that_was_not_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph, labels = example(ids=["a", "b b", "c", "d"])
    with caplog.at_level(logging.INFO, "unseen"):
        with pytest.raises(UnsupportedError, match="cannot hold the id 'b b'"):
            write_graph(graph, tmp_path / "g", labels=labels)
        with pytest.raises(OutputError, match="does not exist"):
            write_graph(graph, tmp_path / "none" / "g.csv", labels=labels)
    assert not caplog.text


def test_convert_reads_as_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,1\nx,y,-2\ny,x,3\n")
    options = Options(header=False, symmetrize="sum", drop_negative=True)
    convert_file(tmp_path / "a.csv", tmp_path / "g.csv", options=options)
    assert (tmp_path / "g.csv").read_text() == "src,dst,weight\nx,y,4\n"


@pytest.mark.parametrize("name", ["edges.npz", "edges.mtx", "folder", "edges.net", "edges.gexf"])
def test_formats_that_cannot_hold_directions_and_names_say_so(tmp_path: Path, name: str) -> None:
    matrix = np.array([[0, -1.0], [0, 0]])
    graph = unseen.Graph.from_relations([unseen.Relation("r", None, None, matrix, directed=True)])  # type: ignore[arg-type]
    with pytest.raises(unseen.UnsupportedError, match=r"edge directions and .*; use .csv, .parquet"):
        write_graph(graph, tmp_path / name)
    assert not any(tmp_path.iterdir())


def test_directions_signs_and_types_are_columns_of_edges(tmp_path: Path) -> None:
    knows, wrote = np.zeros((2, 4, 4))
    knows[0, 1], wrote[0, 2], wrote[1, 3] = 1, -2.5, 1
    graph = unseen.Graph.from_relations(
        [unseen.Relation("knows", "a", "a", knows, directed=True), unseen.Relation("wrote", "a", "p", wrote)],  # type: ignore[arg-type]
        ["ann", "bob", "p1", "p2"],
        ["a", "a", "p", "p"],
        {"p": [[1.0], [2.0]]},
        {"p": ["year"]},
    )
    files = write_graph(graph, tmp_path / "edges.csv")
    assert [file.name for file in files] == ["edges.csv", "edges.nodes.csv", "edges.features.p.csv"]
    assert files[0].read_text().splitlines() == [
        "src,dst,weight,type,directed",
        "ann,bob,1,knows,true",
        "ann,p1,-2.5,wrote,false",
        "bob,p2,1,wrote,false",
    ]
    assert files[1].read_text().splitlines()[:2] == ["node,type", "ann,a"]
    back = unseen.read_graph(files[0], nodes=files[1], features={"p": files[2]})
    assert repr(back) == repr(graph)
    assert [repr(each) for each in back.relations] == [repr(each) for each in graph.relations]


def test_each_pair_once_and_weights_only_where_needed(tmp_path: Path) -> None:
    graph = unseen.Graph.from_edges(["b", "a", "c"], ["a", "c", "c"])
    write_graph(graph, tmp_path / "g.csv")
    assert (tmp_path / "g.csv").read_text() == "src,dst\nb,a\na,c\nc,c\n"
    weighted = unseen.Graph.from_edges(["b", "a"], ["a", "c"], [0.1, 1])
    write_graph(weighted, tmp_path / "g.txt")
    assert (tmp_path / "g.txt").read_text() == "b a 0.1\na c 1\n"
    odd = unseen.Graph.from_edges(["source"], ["target"])  # would be taken for a header
    assert write_graph(odd, tmp_path / "g.txt") == [tmp_path / "g.txt"]
    assert (tmp_path / "g.txt").read_text() == "src dst\nsource target\n"
    assert read_graph(tmp_path / "g.txt").node_ids.tolist() == ["source", "target"]
    write_graph(odd, tmp_path / "g.csv.gz")
    assert gzip.decompress((tmp_path / "g.csv.gz").read_bytes()) == b"src,dst\nsource,target\n"


def test_notice_says_where_isolated_nodes_went(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph, labels = example()
    with caplog.at_level(logging.INFO, "unseen"):
        write_graph(graph, tmp_path / "g.csv", labels=labels)
    assert "g.csv cannot hold nodes without an edge, so all nodes are listed in" in caplog.text
    assert "g.nodes.csv; read it with nodes=... (--nodes)" in caplog.text
    assert len(caplog.records) == 1


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


@pytest.mark.parametrize(
    ("part", "name", "sentence"),
    [
        (
            "graph",
            "g.xyz",
            r"graphs are not written with the suffix '\.xyz'; use one of \.csv, .*or a folder",
        ),
        ("labels", "l.xlsx", r"labels are not written with the suffix '\.xlsx'; use one of \.csv"),
        ("features", "f.xlsx", r"features are not written with the suffix '\.xlsx'; use one of .*\.npz"),
        (
            "graph",
            "g.w2v.txt",
            r"the suffix \.w2v\.txt is reserved for vectors; use \.csv or \.parquet for graphs",
        ),
        ("features", "f.w2v.txt.gz", r"is reserved for vectors; use \.csv or \.parquet for features"),
        ("labels", "l.w2v.txt", r"is reserved for vectors; use \.csv or \.parquet for labels"),
        ("graph", "g.parquet.gz", r"Parquet is not packed as \.gz; leave \.gz out"),
        ("graph", "g.npz.zst", r"numpy is not packed as \.zst; leave \.zst out"),
        ("no features", "f.csv", "the graph has no features to write"),
        ("strangers", "g.csv", "labels name 1 nodes that the graph does not have"),
    ],
)
def test_targets_that_are_refused(tmp_path: Path, part: str, name: str, sentence: str) -> None:
    graph, labels = example()
    strangers = unseen.Labels.from_values(["x"], ["stranger"])
    write = {
        "graph": lambda path: write_graph(graph, path),
        "labels": lambda path: write_part(labels, "labels", path),
        "features": lambda path: write_part(graph, "features", path),
        "no features": lambda path: write_part(unseen.Graph.from_edges([0], [1]), "features", path),
        "strangers": lambda path: write_graph(graph, path, labels=strangers),
    }[part]
    with pytest.raises((InputError, UnsupportedError), match=sentence):
        write(tmp_path / name)
    assert not list(tmp_path.iterdir())
