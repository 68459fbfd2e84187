"""`convert_file` goes between the formats of graphs, features, labels and embeddings; names say which it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import unseen
from reading import read_features
from unseen.data.convert import convert_file, kind_of, write_data
from unseen.errors import InputError, OutputError, UnsupportedError

IDS = ["a", "007", "ü"]
VECTORS = np.array([[0.5, 1.25, -3], [1e-7, 2, 0], [1 / 3, 0, 1]], dtype=np.float32)
FEATURES = np.array([[0.5, 1.25, 1 / 3], [0, 2, 0], [1, 0, 1]])
CHAINS = {
    "embedding": (
        "v.parquet",
        "v.npz",
        "v.w2v.txt.gz",
        "v.tsv",
        "v.w2v.txt",
        "v.npz",
        "v.pq",
        "v.tsv",
        "v.parquet",
    ),
    "features": ("f.csv", "f.npz", "f.txt.gz", "f.parquet", "f.tsv", "f.npz", "f.csv"),
    "labels": ("l.csv", "group.txt", "l.parquet", "l.txt", "l.tsv.gz", "group.txt", "l.csv"),
}


@pytest.mark.parametrize("what", CHAINS)
def test_from_format_to_format_and_back(tmp_path: Path, what: str) -> None:
    path = tmp_path / CHAINS[what][0]
    if what == "embedding":
        unseen.Embedding(VECTORS, IDS, method="rect").save(path)
    elif what == "features":
        rows = (
            f"{node},{','.join(map(repr, row))}\n" for node, row in zip(IDS, FEATURES.tolist(), strict=True)
        )
        path.write_text("node,tall,old,wide\n" + "".join(rows), "utf-8")
    else:
        path.write_text("node,label\na,x\n007,x|y\nü,\n", "utf-8")
    for k, name in enumerate(CHAINS[what][1:]):
        (tmp_path / str(k)).mkdir()
        target = tmp_path / str(k) / name
        written = convert_file(path, target, what="features" if what == "features" else None)
        assert all(file.is_file() for file in written)
        assert len(written) == (2 if name == "v.tsv" else 1)
        path = target
        if what == "embedding":
            read = unseen.read_embedding(path)
            assert read.node_ids.tolist() == IDS
            assert np.array_equal(read.vectors, VECTORS)
        elif what == "features":
            ids, matrix, names = read_features(path)
            assert (list(ids), names) == (IDS, ("tall", "old", "wide"))
            assert np.array_equal(matrix.toarray() if sp.issparse(matrix) else matrix, FEATURES)
        else:
            labels = unseen.read_labels(path, unseen.Graph(sp.csr_array((3, 3)), None, IDS))
            assert labels.classes == ("x", "y")
            assert labels.indicator.toarray().astype(int).tolist() == [[1, 0], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("name", "text", "target", "kind"),
    [
        ("x.csv", "src,dst\na,b\n", "y.csv", "graph"),
        ("x.csv", "from,to\na,b\n", "y.csv", "graph"),
        ("x.csv", "person,friend\n1,2\n", "y.csv", "graph"),
        ("x.txt", "1 2\n2 3\n", "y.csv", "graph"),
        ("x.txt", "node_id node_id\n1 2\n", "y.csv", "graph"),
        ("x.txt", "a 0.5 1 2\nb 1 2 3\n", "y.csv", "graph"),
        ("x.txt", "2 3\na 0.5 1 2\nb 1 2 3\n", "y.w2v.txt", "embedding"),
        ("x.vec", "a 0.5 1 2\n", "y.parquet", "embedding"),
        ("x.w2v.txt", "a 0.5 1 2\n", "y.parquet", "embedding"),
        ("x.csv", "node,label\n1,2\n", "y.csv", "labels"),
        ("x.csv", "name,category\na,x\n", "y.csv", "labels"),
        ("x.csv", "paper,label\na,x\n", "y.csv", "labels"),
        ("x.csv", "a,x\n", "group.txt", "labels"),
        ("group.txt", "1 2 3\n", "y.csv", "labels"),
        ("x.csv", "node,x,y\na,1,2\n", "y.npz", "features"),
        ("x.csv", "node;x;y;label\na;1;2;3\n", "y.csv", "features"),
        ("x.csv", "a,0.5,1\n", "-", "graph"),
        ("x.svmlight", "0 1:2\n", "y.csv", "features"),
    ],
)
def test_names_say_what_a_file_holds(tmp_path: Path, name: str, text: str, target: str, kind: str) -> None:
    (tmp_path / name).write_text(text)
    assert kind_of(tmp_path / name, target) == kind


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ({"src": ["a"], "dst": ["b"]}, "graph"),
        ({"from": ["a"], "to": ["b"]}, "graph"),
        ({"node": ["a"], "label": ["x"]}, "labels"),
        ({"id": ["a"], "vector": [[0.5]]}, "embedding"),
        ({"node": ["a"], "features": [[0.5]]}, "features"),
        ({"node": ["a"], "x": [0.5], "y": [1.0]}, "features"),
    ],
)
def test_columns_of_parquet_say_it(tmp_path: Path, columns: dict[str, list[object]], kind: str) -> None:
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    assert kind_of(tmp_path / "x.parquet", "y.csv") == kind


def test_arrays_say_it_or_it_must_be_said(tmp_path: Path) -> None:
    ids = np.array(IDS)
    unseen.Embedding(VECTORS, IDS).save(tmp_path / "ours.npz")
    np.savez(tmp_path / "features.npz", ids=ids, data=VECTORS, feature_names=np.array(["x", "y", "z"]))
    np.savez(tmp_path / "plain.npz", ids=ids, data=VECTORS)
    kinds = [kind_of(tmp_path / f"{name}.npz", "y.parquet") for name in ("ours", "features", "plain")]
    assert kinds == ["embedding", "features", "graph"]
    convert_file(tmp_path / "plain.npz", tmp_path / "y.csv", what="features")
    assert (tmp_path / "y.csv").read_text().startswith("node,feature_0")
    np.save(tmp_path / "x.npy", VECTORS)
    with pytest.raises(
        InputError, match=r"may hold features or an embedding; say which with what=\.\.\. \(--what\)"
    ):
        convert_file(tmp_path / "x.npy", tmp_path / "y.csv")
    convert_file(tmp_path / "x.npy", tmp_path / "y.w2v.txt")
    assert (tmp_path / "y.w2v.txt").read_text().startswith("3 3\n")
    with pytest.raises(InputError, match="unknown kind of file 'vectors'"):
        convert_file(tmp_path / "x.npy", tmp_path / "y.csv", what="vectors")  # type: ignore[arg-type]


def test_a_table_of_numbers_becomes_vectors_where_the_target_says_so(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("node,x,y\n007,0.5,1\nb,2,3\n")
    convert_file(tmp_path / "f.csv", tmp_path / "v.w2v.txt")
    assert (tmp_path / "v.w2v.txt").read_text() == "2 2\n007 0.5 1\nb 2 3\n"


def test_what_a_target_cannot_hold(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("node,label\na,x\n")
    with pytest.raises(InputError, match=r"labels are not written with the suffix"):
        convert_file(tmp_path / "l.csv", tmp_path / "l.npz")
    with pytest.raises(
        InputError, match=r"`nodes` goes with a graph, and '.*l\.csv' is to be read as labels"
    ):
        convert_file(tmp_path / "l.csv", tmp_path / "m.csv", what="labels", nodes=["a"])
    with pytest.raises(InputError, match=r"there is no file '.*none\.csv'"):
        convert_file(tmp_path / "none.csv", tmp_path / "m.csv")
    (tmp_path / "p.txt").write_text("a b\nb c\n")
    with pytest.raises(InputError, match=r"o\.w2v\.txt: the suffix \.w2v\.txt is reserved for vectors"):
        convert_file(tmp_path / "p.txt", tmp_path / "o.w2v.txt", what="graph")
    assert not (tmp_path / "o.w2v.txt").exists()


def test_labels_without_a_header_must_be_said(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("a,x\nb,y\n")
    convert_file(tmp_path / "l.csv", tmp_path / "m.tsv", what="labels")
    assert (tmp_path / "m.tsv").read_text() == "node\tlabel\na\tx\nb\ty\n"
    convert_file(tmp_path / "l.csv", tmp_path / "group.txt")
    assert (tmp_path / "group.txt").read_text() == "a\tx\nb\ty\n"


def test_a_graph_with_its_parts(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src,dst\na,b\n")
    for name, node in (("k", "a"), ("l", "b")):
        (tmp_path / f"{name}.csv").write_text(f"node,label\n{node},x\n")
    parts = [tmp_path / "k.csv", tmp_path / "l.csv"]
    written = convert_file(tmp_path / "e.csv", tmp_path / "g.csv", labels=parts)
    assert [path.name for path in written] == ["g.csv", "g.labels.csv"]
    assert written[1].read_text() == "node,label\na,x\nb,x\n"
    with pytest.raises(OutputError, match="overwritten"):
        convert_file(tmp_path / "e.csv", tmp_path / "g.csv", labels=[*parts, written[1]])


def test_a_pattern_of_names_is_one_graph_and_none_of_its_files_is_overwritten(tmp_path: Path) -> None:
    for name, text in {"p1.csv": "src,dst\na,b\n", "p2.csv": "src,dst\nb,c\n"}.items():
        (tmp_path / name).write_text(text)
    convert_file(str(tmp_path / "p*.csv"), tmp_path / "whole.parquet")
    assert unseen.read_graph(tmp_path / "whole.parquet").node_ids.tolist() == ["a", "b", "c"]
    with pytest.raises(OutputError, match="the same file is read as input"):
        convert_file(str(tmp_path / "p*.csv"), tmp_path / "p2.csv")
    with pytest.raises(InputError, match=r"no file has a name like .*q\*\.csv"):
        convert_file(str(tmp_path / "q*.csv"), tmp_path / "whole.csv")


@pytest.mark.parametrize("target", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output(tmp_path: Path, target: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "l.csv").write_text("node,label\na,x|y\n")
    unseen.Embedding([[0.5]], ["a"]).save(tmp_path / "v.npz")
    assert convert_file(tmp_path / "l.csv", target) == []
    assert convert_file(tmp_path / "v.npz", target) == []
    assert capfdbinary.readouterr().out == b"node,label\na,x\na,y\n1 1\na 0.5\n"


def test_standard_output_takes_one_table(
    capfdbinary: pytest.CaptureFixture[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    graph = unseen.Graph.from_edges(["a"], ["b"], nodes=["alone"], features=[[1.0], [2.0], [3.0]])
    labels = unseen.Labels.from_values(["x", None, None], graph.node_ids)
    write_data(graph, labels, "-", None)
    assert "takes the edges only, not the features, labels, nodes without an edge; name a file" in caplog.text
    write_data(graph, labels, "-", "features")
    write_data(graph, labels, "-", "labels")
    with pytest.raises(
        UnsupportedError, match=r"^the standard output: text cannot have a feature called 'node'"
    ):
        write_data(graph.with_features(graph.features, ["node"]), labels, "-", "features")
    expected = b"src,dst\na,b\nnode,feature_0\nalone,1\na,2\nb,3\nnode,label\nalone,x\n"
    assert capfdbinary.readouterr().out == expected


@pytest.mark.slow
def test_the_bundled_graph_becomes_three_files_and_back(tmp_path: Path) -> None:
    data = unseen.load_dataset("debian")
    files = write_data(data.graph, data.labels, tmp_path / "debian", "all")
    assert [file.name for file in files] == ["edges.csv", "features.parquet", "labels.csv"]
    back = unseen.read(files[0], features=files[1], labels=files[2])
    assert back.graph.feature_names == data.graph.feature_names
    assert "node" in data.graph.feature_names
    order = {str(node): k for k, node in enumerate(back.graph.node_ids)}
    rows = [order[node] for node in data.graph.node_ids]
    assert (back.graph.adjacency[rows][:, rows] != data.graph.adjacency).nnz == 0
    assert (back.graph.features[rows] != data.graph.features).nnz == 0
    assert back.labels.classes == data.labels.classes
    assert (back.labels.indicator[rows] != data.labels.indicator).nnz == 0
