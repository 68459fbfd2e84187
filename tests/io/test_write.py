"""Writing graphs, labels and features: whatever is written is read back, or refused before anything is written."""

from __future__ import annotations

import gzip
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.errors import InputError, OutputError, UnsupportedError
from unseen.io.features import read_features
from unseen.io.read import read_graph, read_labels
from unseen.io.write import convert_graph, write_features, write_graph, write_labels

TEXT = ("g.csv", "g.tsv", "g.txt", "g.edgelist", "g.csv.gz", "g.txt.gz")
TARGETS = (*TEXT, "g.parquet", "g.npz", "g.mat", "folder")


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
    if name == "g.mat":
        variables = {key for key, _, _ in scipy.io.whosmat(target)}
        graph = read_graph(target, features=target if "attributes" in variables else None)
        return graph, read_labels(target, graph) if "group" in variables else None
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


# --- there and back -------------------------------------------------------------------------------------


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
    if name != "g.mat":
        assert read.feature_names == ("tall", "old")
    if sparse:
        assert sp.issparse(read.features)


odd_ids = st.text(max_size=6) | st.sampled_from(
    [
        "a b",
        "007",
        "ü",
        "#a",
        '"',
        "a,b",
        "a;b",
        "src",
        "dst",
        "from",
        "to",
        "node",
        " a",
        "a ",
        "\ufeffa",
        "a\tb",
        "NaN",
        "|",
    ]
)


@st.composite
def graphs(draw: Callable[..., Any], numbered: bool) -> unseen.Graph:
    if numbered:
        ids: list[Any] = list(range(draw(st.integers(1, 6))))
    else:
        ids = draw(
            st.lists(odd_ids, min_size=1, max_size=6, unique=True)
            | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6, unique=True)
        )
    n = len(ids)
    weights = st.sampled_from([0, 0, 1, 1]) | st.floats(0, 1e300)
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            matrix[i, j] = matrix[j, i] = draw(weights)
    return unseen.Graph(sp.csr_array(matrix), None, ids)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_graph_round_trips_or_is_refused(name: str, data: st.DataObject) -> None:
    graph = data.draw(graphs(numbered=name == "g.mat"))
    with tempfile.TemporaryDirectory() as folder:
        try:
            write_graph(graph, Path(folder) / name)
        except UnsupportedError as error:
            message = str(error)
            assert not list(Path(folder).iterdir()), message
            assert name != "g.mat"
            return
        read, _ = read_back(Path(folder), name)
        assert_same_graph(read, graph)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".csv.gz", ".parquet"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_labels_round_trip_or_are_refused(suffix: str, data: st.DataObject) -> None:
    classes = st.text(max_size=4) | st.sampled_from(["mail", "a b", "0", "node", "label", "a,b", "#", "nan"])
    values = data.draw(st.lists(st.lists(classes, max_size=3), min_size=1, max_size=5))
    ids = data.draw(st.lists(odd_ids, min_size=len(values), max_size=len(values), unique=True))
    labels = unseen.Labels.from_values(values, ids)
    graph = unseen.Graph(sp.csr_array((len(ids), len(ids))), None, ids)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"labels{suffix}"
        try:
            write_labels(labels, path)
        except UnsupportedError:
            assert not list(Path(folder).iterdir())
            return
        assert labels_of(read_labels(path, graph)) == labels_of(labels)


@pytest.mark.parametrize(
    "suffix", [".csv", ".tsv", ".txt", ".csv.gz", ".parquet", ".npz", ".svmlight", ".libsvm.gz"]
)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_any_features_round_trip_or_are_refused(suffix: str, data: st.DataObject) -> None:
    n, width = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    numbers = st.sampled_from([0.0, 1.0, 0.1]) | st.floats(allow_nan=False, allow_infinity=False)
    matrix = np.array(data.draw(st.lists(numbers, min_size=n * width, max_size=n * width))).reshape(n, width)
    sparse = data.draw(st.booleans())
    ids: Any = list(range(n))
    if "svm" not in suffix and data.draw(st.booleans()):
        ids = data.draw(st.lists(odd_ids, min_size=n, max_size=n, unique=True))
    names = data.draw(st.none() | st.lists(odd_ids, min_size=width, max_size=width))
    graph = unseen.Graph(sp.csr_array((n, n)), sp.csr_array(matrix) if sparse else matrix, ids, names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"f{suffix}"
        try:
            write_features(graph, path)
        except UnsupportedError:
            assert not list(Path(folder).iterdir())
            return
        read_ids, read, read_names = read_features(path)
        np.testing.assert_array_equal(read.toarray() if sp.issparse(read) else read, matrix)
        if read_ids is not None:
            assert [str(value) for value in read_ids] == [str(value) for value in ids]
        if suffix == ".npz":
            assert read_names == graph.feature_names


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
    assert "g.csv cannot say that a node has no edge, so all nodes are listed in" in caplog.text
    assert "g.nodes.csv; read it with nodes=... (--nodes)" in caplog.text
    assert "g.features.npz goes with" in caplog.text
    assert "g.labels.csv goes with" in caplog.text


def test_no_nodes_file_without_need(tmp_path: Path) -> None:
    assert write_graph(unseen.Graph.from_edges([1], [2]), tmp_path / "g.parquet") == [tmp_path / "g.parquet"]


def test_npz_is_scipys(tmp_path: Path) -> None:
    graph, _ = example()
    write_graph(graph, tmp_path / "g.npz")
    assert (sp.load_npz(tmp_path / "g.npz") != graph.adjacency).nnz == 0


def test_mat_is_the_blogcatalog_layout(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph, _ = example()
    write_graph(graph, tmp_path / "g.mat", labels=unseen.Labels.from_values(["red", None, "blue", "red"]))
    found = scipy.io.loadmat(tmp_path / "g.mat")
    assert found["network"].shape == (4, 4)
    assert found["group"].toarray().tolist() == [[0, 1], [0, 0], [1, 0], [0, 1]]
    assert "holds classes as column numbers: 0 = blue, 1 = red" in caplog.text


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
        ("g.npz", ["a\0", "c"], r"\.npz cannot hold 'a\\x00', which ends in a zero character"),
        (
            "g.mat",
            ["a", "c"],
            r"row number only, and the ids here are not 0 \.\.\. 1 \(the first is 'a'\); use \.parquet",
        ),
        ("g.mat", [1, 0], "row number only"),
        ("folder", ["a b", "c"], "authors' format cannot hold the id 'a b' .*use .csv or .parquet"),
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
        write_labels(labels, tmp_path / "labels.csv")
    assert not list(tmp_path.iterdir())


def test_unknown_suffixes_list_the_known(tmp_path: Path) -> None:
    graph, labels = example()
    with pytest.raises(
        InputError, match=r"not written with the suffix '\.gml'; use one of \.csv, .*or a folder"
    ):
        write_graph(graph, tmp_path / "g.gml")
    with pytest.raises(InputError, match=r"labels are not written with this suffix; use one of \.csv"):
        write_labels(labels, tmp_path / "l.xlsx")
    with pytest.raises(
        InputError, match=r"features are not written with this suffix; use one of .*\.svmlight"
    ):
        write_features(graph, tmp_path / "f.xlsx")


def test_no_features(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the graph has no features to write"):
        write_features(unseen.Graph.from_edges([0], [1]), tmp_path / "f.csv")


def test_features_named_like_the_ids(tmp_path: Path) -> None:
    graph = unseen.Graph(sp.csr_array((1, 1)), [[1.0]], ["a"], ["Node"])
    with pytest.raises(
        UnsupportedError, match=r"a feature called 'Node', .*write the features as \.npz instead"
    ):
        write_features(graph, tmp_path / "f.csv")
    write_features(graph, tmp_path / "f.npz")
    assert read_features(tmp_path / "f.npz")[2] == ("Node",)


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


# --- convert --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", TARGETS)
@pytest.mark.parametrize("second", TARGETS)
def test_convert_goes_between_all_formats(tmp_path: Path, first: str, second: str) -> None:
    graph, labels = example(sparse=True)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write_graph(graph, tmp_path / "one" / first, labels=labels)
    parts = {
        part: next((tmp_path / "one").glob(f"g.{part}.*"), None) for part in ("nodes", "features", "labels")
    }
    if second == "g.mat":
        # Text gives strings and its own order; a .mat needs the nodes 0 ... n - 1 in order.
        parts["nodes"] = tmp_path / "order.csv"
        parts["nodes"].write_text("node\n0\n1\n2\n3\n")
    convert_graph(tmp_path / "one" / first, tmp_path / "two" / second, **parts)
    read, read_back_labels = read_back(tmp_path / "two", second)
    assert_same_graph(read, graph)
    assert read_back_labels is not None
    assert labels_of(read_back_labels) == labels_of(labels)


def test_convert_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file '.*none\.csv'"):
        convert_graph(tmp_path / "none.csv", tmp_path / "g.parquet")


def test_convert_refuses_a_target_before_it_reads(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"graphs are not written with the suffix '\.gml'"):
        convert_graph(tmp_path / "none.csv", tmp_path / "g.gml")


def test_nothing_is_announced_that_was_not_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph, labels = example(ids=["a", "b", "c", "d"])
    with caplog.at_level(logging.INFO, "unseen"):
        with pytest.raises(UnsupportedError, match="row number only"):
            write_graph(graph, tmp_path / "g.mat", labels=labels)
        with pytest.raises(OutputError, match="does not exist"):
            write_graph(graph, tmp_path / "none" / "g.csv", labels=labels)
    assert not caplog.text


def test_convert_of_a_broken_mat(tmp_path: Path) -> None:
    (tmp_path / "a.mat").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="not a readable Matlab file"):
        convert_graph(tmp_path / "a.mat", tmp_path / "g.csv")


def test_convert_reads_as_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,1\nx,y,-2\ny,x,3\n")
    convert_graph(tmp_path / "a.csv", tmp_path / "g.csv", header=False, symmetrize="sum", drop_negative=True)
    assert (tmp_path / "g.csv").read_text() == "src,dst,weight\nx,y,4\n"


def test_convert_a_paper_graph(tmp_path: Path, paper_graph: Callable[[str], unseen.Dataset]) -> None:
    data = paper_graph("citeseer")
    write_graph(data.graph, tmp_path / "g.parquet", labels=data.labels)
    read, labels = read_back(tmp_path, "g.parquet")
    assert edges_of(read) == edges_of(data.graph)
    assert labels is not None
    assert labels_of(labels) == labels_of(data.labels)
