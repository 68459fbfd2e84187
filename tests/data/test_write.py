"""Writing graphs, labels and features: whatever is written is read back, or refused before anything is written."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import unseen
from unseen import read_graph, read_labels
from unseen.data.convert import convert_file
from unseen.data.options import Options
from unseen.data.write import write_graph
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
    assert read.feature_names == ("tall", "old")
    if sparse:
        assert sp.issparse(read.features)


# --- convert --------------------------------------------------------------------------------------------


@pytest.mark.slow
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
    convert_file(tmp_path / "one" / first, tmp_path / "two" / second, what="graph", **parts)
    read, read_back_labels = read_back(tmp_path / "two", second)
    assert_same_graph(read, graph)
    assert read_back_labels is not None
    assert labels_of(read_back_labels) == labels_of(labels)


def test_convert_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file '.*none\.csv'"):
        convert_file(tmp_path / "none.csv", tmp_path / "g.parquet")


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


def test_a_mat_is_only_read_by_our_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, labels = example()
    content = {
        "network": graph.adjacency,
        "group": labels.indicator.astype(float),
        "attributes": graph.features,
    }
    scipy.io.savemat(tmp_path / "g.mat", content)

    def forbidden(*_: object, **__: object) -> None:
        pytest.fail("scipy's reader can crash the process on a damaged file")

    for name in ("whosmat", "loadmat"):
        monkeypatch.setattr(scipy.io, name, forbidden)
        monkeypatch.setattr(scipy.io.matlab, name, forbidden)
    assert len(convert_file(tmp_path / "g.mat", tmp_path / "g.csv")) == 4


def test_convert_of_a_broken_mat(tmp_path: Path) -> None:
    (tmp_path / "a.mat").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="not a readable Matlab file"):
        convert_file(tmp_path / "a.mat", tmp_path / "g.csv")


def test_convert_reads_as_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,1\nx,y,-2\ny,x,3\n")
    options = Options(header=False, symmetrize="sum", drop_negative=True)
    convert_file(tmp_path / "a.csv", tmp_path / "g.csv", options=options)
    assert (tmp_path / "g.csv").read_text() == "src,dst,weight\nx,y,4\n"


def test_convert_a_paper_graph(tmp_path: Path, paper_graph: Callable[[str], unseen.Dataset]) -> None:
    data = paper_graph("citeseer")
    write_graph(data.graph, tmp_path / "g.parquet", labels=data.labels)
    read, labels = read_back(tmp_path, "g.parquet")
    assert edges_of(read) == edges_of(data.graph)
    assert labels is not None
    assert labels_of(labels) == labels_of(data.labels)


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
