"""Writing and converting: what is beside what, and what is refused before anything is written.

That everything comes back from every format is a law (tests/laws/test_round_trips.py).
"""

from __future__ import annotations

import gzip
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from reading import dense, edges_of, labels_of, read_features, write
from unseen import read_graph
from unseen.data.convert import convert_file, kind_of, write_data
from unseen.data.sources import Options
from unseen.data.write import write_graph, write_part
from unseen.errors import InputError, OutputError, UnsupportedError

TEXT = ("g.csv", "g.tsv", "g.txt", "g.edgelist", "g.csv.gz", "g.txt.gz")


def example(*, sparse: bool = True, ids: Any = (0, 1, 2, 3)) -> tuple[unseen.Graph, unseen.Labels]:
    """Weights, a self-loop, an isolated node, unlabelled and multi-label nodes, features with names."""
    adjacency = np.array([[0, 1, 0, 0], [1, 2, 0.1, 0], [0, 0.1, 0, 0], [0, 0, 0, 0]])
    features: Any = np.array([[0, 1.5], [2, 0], [0, 0], [1 / 3, 0]])
    graph = unseen.Graph(adjacency, sp.csr_array(features) if sparse else features, ids, ("tall", "old"))
    return graph, unseen.Labels.from_values(["0", None, ["0", "1"], "1"], graph.node_ids)


@pytest.mark.parametrize("name", [*TEXT, "g.parquet", "g.npz", "folder"])
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_parts_lie_beside_the_edges(tmp_path: Path, name: str, sparse: bool) -> None:
    graph, labels = example(sparse=sparse)
    files = write_graph(graph, tmp_path / name, labels=labels)
    assert sorted(files) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    first = [path.read_bytes() for path in files]
    assert [path.read_bytes() for path in write_graph(graph, tmp_path / name, labels=labels)] == first
    parts: dict[str, Any] = {
        part: next(tmp_path.glob(f"g.{part}.*"), None) for part in ("nodes", "features", "labels")
    }
    if name == "folder":
        parts = {"features": tmp_path / name / "features.npz", "labels": tmp_path / name}
    back = unseen.read(tmp_path / name, **parts)
    assert edges_of(back.graph) == edges_of(graph)
    assert labels_of(back.labels) == labels_of(labels)
    order = [int(node) for node in back.graph.node_ids]
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_array_equal(dense(back.graph.features), dense(graph.features)[order])
    assert back.graph.feature_names == ("tall", "old")
    assert sp.issparse(back.graph.features) or not sparse


def test_directions_signs_and_types_are_columns_of_edges(tmp_path: Path) -> None:
    knows, wrote = np.zeros((2, 4, 4))
    knows[0, 1], wrote[0, 2], wrote[1, 3] = 1, -2.5, 1
    relations = [
        unseen.Relation("knows", "a", "a", knows, directed=True),
        unseen.Relation("wrote", "a", "p", wrote),
    ]  # type: ignore[arg-type]
    ids, features, names = ["ann", "bob", "p1", "p2"], {"p": [[1.0], [2.0]]}, {"p": ["year"]}
    graph = unseen.Graph.from_relations(relations, ids, ["a", "a", "p", "p"], features, names)
    files = write_graph(graph, tmp_path / "edges.csv")
    assert [file.name for file in files] == ["edges.csv", "edges.nodes.csv", "edges.features.p.csv"]
    assert files[0].read_text().splitlines() == [
        "src,dst,weight,type,directed",
        "ann,bob,1,knows,true",
        "ann,p1,-2.5,wrote,false",
        "bob,p2,1,wrote,false",
    ]
    assert files[1].read_text().splitlines()[:2] == ["node,type", "ann,a"]
    back = read_graph(files[0], nodes=files[1], features={"p": files[2]})
    assert [repr(each) for each in (back, *back.relations)] == [
        repr(each) for each in (graph, *graph.relations)
    ]


def test_each_pair_once_and_weights_only_where_needed(tmp_path: Path) -> None:
    header = unseen.Graph.from_edges(["source"], ["target"])
    cases: list[tuple[str, unseen.Graph, str]] = [
        ("g.csv", unseen.Graph.from_edges(["b", "a", "c"], ["a", "c", "c"]), "src,dst\nb,a\na,c\nc,c\n"),
        ("g.txt", unseen.Graph.from_edges(["b", "a"], ["a", "c"], [0.1, 1]), "b a 0.1\na c 1\n"),
        ("g.txt", header, "src dst\nsource target\n"),
    ]
    for name, graph, text in cases:
        assert write_graph(graph, tmp_path / name) == [tmp_path / name]
        assert (tmp_path / name).read_text() == text
        assert edges_of(read_graph(tmp_path / name)) == edges_of(graph)
    write_graph(cases[0][1], tmp_path / "g.csv.gz")
    assert gzip.decompress((tmp_path / "g.csv.gz").read_bytes()).decode() == cases[0][2]
    graph = unseen.Graph.from_edges([0, 2], [1, 1], nodes=range(4))
    write_graph(graph, tmp_path / "out", labels=unseen.Labels.from_values([["1", "2"], None, "2", "1"]))
    assert (tmp_path / "out" / "graph.txt").read_text() == "0\t1\n1\t2\n"
    assert (tmp_path / "out" / "group.txt").read_text() == "0\t1 2\n1\t\n2\t2\n3\t1\n"


def test_a_notice_says_where_isolated_nodes_went(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph, labels = example(ids=["a", "b b", "c", "d"])
    with caplog.at_level(logging.INFO, "unseen"):
        with pytest.raises(UnsupportedError, match="cannot hold the id 'b b'"):
            write_graph(graph, tmp_path / "g", labels=labels)
        with pytest.raises(OutputError, match="does not exist"):
            write_graph(graph, tmp_path / "none" / "g.csv", labels=labels)
        assert not caplog.text  # nothing is announced that was not written
        write_graph(graph, tmp_path / "g.csv", labels=labels)
    assert "g.csv cannot hold nodes without an edge, so all nodes are listed in" in caplog.text
    assert len(caplog.records) == 1


GRAPH, LABELS = example()
NAMED = GRAPH.with_features(GRAPH.features, ["node", "x"])
DIRECTED = unseen.Graph.from_relations(
    [unseen.Relation("r", None, None, sp.csr_array([[0, -1.0], [0, 0]]), directed=True)]
)


def pair(*ids: Any) -> unseen.Graph:
    return unseen.Graph(np.array([[0, 1], [1, 0]]), None, ids)


REFUSED: list[tuple[str, Any, str, str]] = [
    ("graph", pair("a\nb", "c"), "g.csv", r"text cannot hold 'a\\nb', which has a line break .*; use \.parquet"),
    ("graph", pair("", "c"), "g.csv", "one node has an empty id, which no reader takes; give it a name"),
    ("graph", pair("\ud800", "c"), "g.parquet", "is not valid Unicode text, so no file can hold it"),
    ("graph", pair("a\x07", "b"), "g.gexf", r"\.gexf cannot hold the id 'a\\x07'; use \.csv or \.parquet"),
    ("graph", pair("a", "b"), "g.mtx", "Matrix Market cannot hold ids but the row numbers"),
    ("graph", pair("a b", "c"), "folder", "authors' format cannot hold the id 'a b', .*use .csv or .parquet"),
    ("graph", pair("src", "dst"), "folder", "cannot hold a first edge that looks like a header"),
    *(
        ("graph", DIRECTED, name, r"edge directions and .*; use .csv, .parquet")
        for name in ("edges.npz", "edges.mtx", "folder", "edges.net", "edges.gexf")
    ),
    ("graph", GRAPH, "g.xyz", r"graphs are not written with the suffix '\.xyz'; use one of \.csv, .*or a folder"),
    ("graph", GRAPH, "g.w2v.txt", r"\.w2v\.txt is reserved for vectors; use \.csv or \.parquet for graphs"),
    ("graph", GRAPH, "g.parquet.gz", r"Parquet is not packed as \.gz; leave \.gz out"),
    ("labels", LABELS, "l.xlsx", r"labels are not written with the suffix '\.xlsx'; use one of \.csv"),
    ("labels", unseen.Labels.from_values(["x y"], ["a"]), "group.txt", "cannot hold the class 'x y'"),
    *(
        ("labels", unseen.Labels(sp.csr_array([[True]]), (name,)), "l.csv", r"would not be read back: .* rename")
        for name in ("a|b", " a", "nan", "-1")
    ),
    ("features", GRAPH, "f.w2v.txt.gz", r"is reserved for vectors; use \.csv or \.parquet for features"),
    ("features", GRAPH, "f.mtx", "Matrix Market cannot hold names of columns"),
    ("features", NAMED, "f.csv", r"text cannot hold a feature called 'node', .*\.parquet or"),
    ("features", GRAPH.with_features(None), "f.csv", "the graph has no features to write"),
]  # fmt: skip


@pytest.mark.parametrize(("role", "value", "name", "sentence"), REFUSED, ids=lambda value: str(value)[:30])
def test_what_a_format_cannot_hold_is_refused(
    tmp_path: Path, role: Any, value: Any, name: str, sentence: str
) -> None:
    path = tmp_path / name
    with pytest.raises((InputError, UnsupportedError), match=sentence):
        write_graph(value, path) if role == "graph" else write_part(value, role, path)
    assert not list(tmp_path.iterdir())


def test_features_whose_names_clash_have_a_format(tmp_path: Path) -> None:
    for suffix in (".npz", ".parquet"):
        write_part(NAMED, "features", tmp_path / f"f{suffix}")
        ids, values, names = read_features(tmp_path / f"f{suffix}")
        assert (list(ids), names) == ([0, 1, 2, 3], ("node", "x"))
        assert dense(values).tolist() == dense(GRAPH.features).tolist()


def test_all_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_graph(GRAPH, tmp_path / "g.csv", labels=LABELS)
    for source in ("g.csv", "g.labels.csv"):
        with pytest.raises(OutputError, match=rf"cannot write .*{source}: .* overwritten"):
            write_graph(GRAPH, tmp_path / "g.csv", labels=LABELS, inputs=[tmp_path / source])
    with pytest.raises(InputError, match="labels name 1 nodes that the graph does not have"):
        write_graph(GRAPH, tmp_path / "h.csv", labels=unseen.Labels.from_values(["x"], ["stranger"]))
    before = sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / "h.labels.csv").mkdir()
    with pytest.raises(OutputError, match="it is a folder"):
        write_graph(GRAPH, tmp_path / "h.csv", labels=LABELS)

    def fill_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", fill_disk)
    with pytest.raises(OutputError, match="the disk is full"):
        write_graph(GRAPH, tmp_path / "new" / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "h.labels.csv"])


VECTORS = np.array([[0.5, 1.25, -3], [1e-7, 2, 0], [1 / 3, 0, 1]], dtype=np.float32)
KINDS: list[tuple[str, Any, str, str]] = [
    ("x.csv", "src,dst\na,b\n", "y.csv", "graph"),
    ("x.csv", "person,friend\n1,2\n", "y.csv", "graph"),
    ("x.txt", "1 2\n2 3\n", "y.csv", "graph"),
    ("x.txt", "node_id node_id\n1 2\n", "y.csv", "graph"),
    ("x.txt", "a 0.5 1 2\nb 1 2 3\n", "y.csv", "graph"),
    ("x.txt", "2 3\na 0.5 1 2\nb 1 2 3\n", "y.w2v.txt", "embedding"),
    ("x.vec", "a 0.5 1 2\n", "y.parquet", "embedding"),
    ("x.csv", "node,label\n1,2\n", "y.csv", "labels"),
    ("x.csv", "name,category\na,x\n", "y.csv", "labels"),
    ("x.csv", "a,x\n", "group.txt", "labels"),
    ("group.txt", "1 2 3\n", "y.csv", "labels"),
    ("x.csv", "node,x,y\na,1,2\n", "y.npz", "features"),
    ("x.csv", "node;x;y;label\na;1;2;3\n", "y.csv", "features"),
    ("x.csv", "a,0.5,1\n", "-", "graph"),
    ("x.svmlight", "0 1:2\n", "y.csv", "features"),
    ("x.parquet", {"from": ["a"], "to": ["b"]}, "y.csv", "graph"),
    ("x.parquet", {"node": ["a"], "label": ["x"]}, "y.csv", "labels"),
    ("x.parquet", {"id": ["a"], "vector": [[0.5]]}, "y.csv", "embedding"),
    ("x.parquet", {"node": ["a"], "features": [[0.5]]}, "y.csv", "features"),
    ("x.npz", {"data": VECTORS, "feature_names": np.array(["a", "b", "c"])}, "y.csv", "features"),
    ("x.npz", {"data": VECTORS, "metadata": np.array("{}")}, "y.csv", "graph"),
    ("x.npz", {"data": VECTORS, "metadata": np.array('{"method": "rect"}')}, "y.csv", "embedding"),
]


@pytest.mark.parametrize(("name", "content", "target", "kind"), KINDS, ids=lambda value: str(value)[:20])
def test_names_say_what_a_file_holds(tmp_path: Path, name: str, content: Any, target: str, kind: str) -> None:
    assert kind_of(write(tmp_path / name, content), target) == kind


def test_what_convert_refuses(tmp_path: Path) -> None:
    write(tmp_path / "x.npy", VECTORS)
    labels, pairs = write(tmp_path / "l.csv", "node,label\na,x\n"), write(tmp_path / "p.txt", "a b\nb c\n")
    broken = write(tmp_path / "broken.csv", b"\xff")
    graph: Any = {"what": "graph"}
    for source, target, options, sentence in (
        (tmp_path / "x.npy", "y.csv", {}, r"may hold features or an embedding; say which with what="),
        (tmp_path / "x.npy", "y.csv", {"what": "vectors"}, "unknown kind of file 'vectors'"),
        (labels, "l.npz", {}, r"labels are not written with the suffix"),
        (
            labels,
            "m.csv",
            {"what": "labels", "nodes": ["a"]},
            r"`nodes` goes with a graph, and '.*l\.csv' is to",
        ),
        (tmp_path / "none.csv", "m.csv", {}, r"there is no file '.*none\.csv'"),
        (pairs, "o.w2v.txt", graph, r"the suffix \.w2v\.txt is reserved for vectors"),
        (broken, "g.xyz", graph, r"graphs are not written with the suffix '\.xyz'"),  # before it reads
        (broken, "broken.csv", graph, "overwritten"),
    ):
        with pytest.raises((InputError, OutputError), match=sentence):
            convert_file(source, tmp_path / target, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.csv", "l.csv", "p.txt", "x.npy"]


def test_convert_reads_as_told_several_files_and_their_parts(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "x,y,1\nx,y,-2\ny,x,3\n")
    options = Options(symmetrize="sum", drop_negative=True)
    parts = [write(tmp_path / f"{node}.csv", f"node,label\n{node},k\n") for node in "xy"]
    written = convert_file(edges, tmp_path / "g.csv", labels=parts, options=options)
    assert [path.name for path in written] == ["g.csv", "g.labels.csv"]
    assert [path.read_text() for path in written] == ["src,dst,weight\nx,y,4\n", "node,label\nx,k\ny,k\n"]
    with pytest.raises(OutputError, match="overwritten"):
        convert_file(edges, tmp_path / "g.csv", labels=[*parts, written[1]])
    for name, text in {"p1.csv": "src,dst\na,b\n", "p2.csv": "src,dst\nb,c\n"}.items():
        write(tmp_path / name, text)
    convert_file(str(tmp_path / "p*.csv"), tmp_path / "whole.parquet")
    assert read_graph(tmp_path / "whole.parquet").node_ids.tolist() == ["a", "b", "c"]
    with pytest.raises(OutputError, match="the same file is read as input"):
        convert_file(str(tmp_path / "p*.csv"), tmp_path / "p2.csv")


@pytest.mark.parametrize("target", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output_takes_one_table(
    tmp_path: Path, target: str, capfdbinary: pytest.CaptureFixture[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    unseen.Embedding([[0.5]], ["a"]).save(tmp_path / "v.npz")
    assert convert_file(write(tmp_path / "l.csv", "node,label\na,x|y\n"), target) == []
    assert convert_file(tmp_path / "v.npz", target) == []
    assert convert_file(write(tmp_path / "f.csv", "node,tall\na,0.5\n"), target, what="features") == []
    graph = unseen.Graph.from_edges(["a"], ["b"], nodes=["alone"], features=[[1.0], [2.0], [3.0]])
    labels = unseen.Labels.from_values(["x", None, None], graph.node_ids)
    for what in (None, "features", "labels"):
        write_data(graph, labels, target, what)
    assert "takes the edges only, not the features, labels, nodes without an edge; name a file" in caplog.text
    with pytest.raises(UnsupportedError, match=r"^the standard output: text cannot hold a feature called"):
        write_data(graph.with_features(graph.features, ["node"]), labels, target, "features")
    converted = b"node,label\na,x\na,y\n1 1\na 0.5\nnode,tall\na,0.5\n"
    written = b"src,dst\na,b\nnode,feature_0\nalone,1\na,2\nb,3\nnode,label\nalone,x\n"
    assert capfdbinary.readouterr().out == converted + written
