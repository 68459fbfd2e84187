"""The same graph from every format, with its ids, weights and features in place."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import unseen
from reading import read_features

WEIGHTS = np.array([[0, 2, 0, 0], [2, 1, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]], dtype=float)
FEATURES = np.array([[1, 0, 2.5], [0, 0, 0], [0, -1, 0], [4, 0, 0]])


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_scipy_npz_and_matrix(tmp_path: Path, make: type) -> None:
    sp.save_npz(tmp_path / "a.npz", make(WEIGHTS))
    for source in (tmp_path / "a.npz", make(WEIGHTS)):
        graph = unseen.read_graph(source)
        assert graph.adjacency.toarray().tolist() == WEIGHTS.tolist()
        assert graph.node_ids.tolist() == [0, 1, 2, 3]
        assert (graph.n_self_loops, int(graph.isolated.sum())) == (1, 1)


@pytest.mark.parametrize(("symmetrize", "expected"), [("max", 5.0), ("sum", 7.0)])
def test_directed_matrix_follows_the_policy(symmetrize: str, expected: float) -> None:
    directed = sp.csr_array([[1.0, 5.0, 0.0], [2.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    graph = unseen.read_graph(directed, symmetrize=symmetrize)  # type: ignore[arg-type]
    wanted = [[1, expected, 0], [expected, 0, 4], [0, 4, 0]]
    assert graph.adjacency.toarray().tolist() == wanted
    with pytest.raises(unseen.InputError, match=r"not symmetric"):
        unseen.read_graph(directed, symmetrize="error")


@pytest.mark.parametrize("symmetrize", ["max", "sum", "error"])
def test_symmetric_matrix_is_taken_as_it_is(symmetrize: str) -> None:
    graph = unseen.read_graph(sp.csr_array(WEIGHTS), symmetrize=symmetrize)  # type: ignore[arg-type]
    assert graph.adjacency.toarray().tolist() == WEIGHTS.tolist()


def test_negative_entries_of_a_matrix_can_be_left_out() -> None:
    graph = unseen.read_graph(sp.csr_array([[0, -1.0, 0], [-1.0, 0, 2.0], [0, 2.0, 0]]), drop_negative=True)
    assert graph.adjacency.toarray().tolist() == [[0, 0, 0], [0, 0, 2], [0, 2, 0]]


@pytest.mark.parametrize("network", [sp.csc_array(WEIGHTS), WEIGHTS])
def test_mat(tmp_path: Path, network: object) -> None:
    group = sp.csc_array(np.array([[1, 0, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=float))
    content = {"network": network, "group": group, "attributes": sp.csc_array(FEATURES)}
    scipy.io.savemat(tmp_path / "b.mat", content)
    graph = unseen.read_graph(tmp_path / "b.mat", features=tmp_path / "b.mat")
    assert graph.adjacency.toarray().tolist() == WEIGHTS.tolist()
    assert sp.issparse(graph.features)
    assert graph.features.toarray().tolist() == FEATURES.tolist()
    labels = unseen.read_labels(tmp_path / "b.mat", graph)
    assert labels.classes == ("0", "2")
    assert labels.indicator.toarray().tolist() == [[True, False], [False, True], [True, True], [False, False]]


def test_mat_with_a_vector_of_class_numbers(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "b.mat", {"network": WEIGHTS, "labels": np.array([[3], [1], [-1], [3]])})
    labels = unseen.read_labels(tmp_path / "b.mat", unseen.read_graph(tmp_path / "b.mat"))
    assert (labels.classes, labels.codes.tolist()) == (("1", "3"), [1, 0, -1, 1])


TABLE = pa.table({"src": ["a b", "007", "ü"], "dst": ["007", "ü", "a b"], "weight": [1.5, 2.0, 1.0]})


@pytest.mark.parametrize("kind", ["parquet", "arrow", "batch", "pandas", "polars", "dictionary"])
def test_tables(tmp_path: Path, kind: str) -> None:
    pq.write_table(TABLE, tmp_path / "e.parquet")
    encoded = TABLE.set_column(0, "src", TABLE["src"].dictionary_encode())
    source = {
        "parquet": tmp_path / "e.parquet",
        "arrow": TABLE,
        "batch": TABLE.to_batches()[0],
        "pandas": TABLE.to_pandas(),
        "polars": pl.from_arrow(TABLE),
        "dictionary": encoded,
    }[kind]
    graph = unseen.read_graph(source)
    assert graph.node_ids.tolist() == ["a b", "007", "ü"]
    assert graph.adjacency.toarray().tolist() == [[0, 1.5, 1], [1.5, 0, 2], [1, 2, 0]]


def test_integer_ids_stay_integers_and_meet_text_by_string_form(tmp_path: Path) -> None:
    edges = pd.DataFrame({"source": [10, 2], "target": [2, 7]})
    assert unseen.read_graph(edges).node_ids.tolist() == [10, 2, 7]
    (tmp_path / "l.csv").write_text("node,label\n7,x\n007,y\n")
    graph = unseen.read_graph(edges, labels=tmp_path / "l.csv")
    assert graph.node_ids.tolist() == ["10", "2", "7", "007"]
    labels = unseen.read_labels(pa.table({"node": [7], "label": ["x"]}), unseen.read_graph(edges))
    assert labels.codes.tolist() == [-1, -1, 0]


def test_a_hive_style_folder_adds_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "weight=9"
    folder.mkdir()
    pq.write_table(TABLE.drop_columns(["weight"]), folder / "e.parquet")
    assert unseen.read_graph(folder / "e.parquet").adjacency.max() == 1


IDS = ["d", "b", "c", "a"]
EDGES = pa.table({"src": ["a", "c"], "dst": ["b", "d"]})


@pytest.mark.parametrize(
    "kind", ["columns", "list", "fixed", "pandas-index", "polars", "float32", "npz", "csv.gz"]
)
def test_features_with_ids(tmp_path: Path, kind: str) -> None:
    names = ["x", "y", "z"]
    columns = pa.table({"node": IDS, **{name: FEATURES[:, k] for k, name in enumerate(names)}})
    flat = pa.array(FEATURES.ravel())
    fixed = pa.FixedSizeListArray.from_arrays(flat, 3)
    if kind == "npz":
        csr = sp.csr_array(FEATURES)
        arrays = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape}
        path = tmp_path / "f.npz"
        np.savez(path, format=b"csr", ids=np.array(IDS), feature_names=np.array(names), **arrays)
        source: object = path
    elif kind == "csv.gz":
        path = tmp_path / "f.csv.gz"
        path.write_bytes(gzip.compress(columns.to_pandas().to_csv(index=False).encode()))
        source = path
    else:
        source = {
            "columns": columns,
            "list": pa.table({"node": IDS, "v": FEATURES.tolist()}),
            "fixed": pa.table({"node": IDS, "v": fixed}),
            "pandas-index": pd.DataFrame(FEATURES, columns=names, index=IDS),
            "polars": pl.from_arrow(columns),
            "float32": pa.table(
                {"node": IDS, **{n: FEATURES[:, k].astype("f4") for k, n in enumerate(names)}}
            ),
        }[kind]
    graph = unseen.read_graph(EDGES, features=source)
    assert graph.node_ids.tolist() == ["a", "b", "c", "d"]
    assert graph.features is not None
    dense = graph.features.toarray() if sp.issparse(graph.features) else np.asarray(graph.features)
    assert dense.tolist() == FEATURES[[3, 1, 2, 0]].tolist()
    assert graph.feature_names == (None if kind in ("list", "fixed") else tuple(names))
    assert dense.dtype == (np.float32 if kind == "float32" else np.float64)
    assert sp.issparse(graph.features) == (kind == "npz")


@pytest.mark.parametrize("kind", ["npz", "npy", "svmlight", "libsvm.gz", "array", "sparse"])
def test_features_by_node_number(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"f.{kind}"
    if kind == "npz":
        sp.save_npz(path, sp.csr_array(FEATURES))
    elif kind == "npy":
        np.save(path, FEATURES)
    elif kind == "svmlight":
        dump_svmlight_file(FEATURES, np.zeros(4), str(path), zero_based=False)
    elif kind == "libsvm.gz":
        dump_svmlight_file(FEATURES, np.zeros(4), str(tmp_path / "f"), zero_based=False, comment="by hand")
        path.write_bytes(gzip.compress((tmp_path / "f").read_bytes()))
    source = {"array": FEATURES, "sparse": sp.csr_array(FEATURES)}.get(kind, path)
    edges = tmp_path / "e.csv"
    edges.write_text("3,1\n0,3\n")  # node 2 has no edge: the features name it
    graph = unseen.read_graph(edges, features=source)
    assert graph.node_ids.tolist() == ["3", "1", "0", "2"]
    assert graph.features is not None
    dense = graph.features.toarray() if sp.issparse(graph.features) else np.asarray(graph.features)
    assert dense.tolist() == FEATURES[[3, 1, 0, 2]].tolist()
    assert sp.issparse(graph.features) == (kind not in ("npy", "array"))
    ids, matrix, names = read_features(source)
    assert (ids, matrix.shape, names) == (None, (4, 3), None)


def test_features_in_the_order_of_the_node_list(tmp_path: Path) -> None:
    graph = unseen.read_graph(EDGES, nodes=IDS, features=FEATURES)
    assert graph.node_ids.tolist() == IDS
    assert np.asarray(graph.features).tolist() == FEATURES.tolist()
    # ... but numbers are numbers, in whatever order they are listed
    numbered = unseen.read_graph(
        pa.table({"src": ["0"], "dst": ["1"]}), nodes=["3", "2", "1", "0"], features=FEATURES
    )
    assert np.asarray(numbered.features).tolist() == FEATURES[::-1].tolist()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("file", ["n 1", "a"]),
        ("series", [5, 4]),
        ("list", ["n 1", "a"]),
        ("table", [5, 4]),
        ("parquet", [5, 4]),
    ],
)
def test_node_lists(tmp_path: Path, kind: str, expected: list[object]) -> None:
    (tmp_path / "n.txt").write_text("n 1\na\nn 1\n")
    table = pa.table({"size": [1.0, 2.0], "id": [5, 4]})
    pq.write_table(table, tmp_path / "n.parquet")
    source = {
        "file": tmp_path / "n.txt",
        "series": pd.Series([5, 4]),
        "list": ["n 1", "a"],
        "table": table,
        "parquet": tmp_path / "n.parquet",
    }[kind]
    edges = pa.table({"src": expected[:1], "dst": expected[1:]})
    assert unseen.read_graph(edges, nodes=source).node_ids.tolist() == expected


def authors_folder(folder: Path) -> Path:
    (folder / "graph.txt").write_text("2\t0\n0\t2\n10\t10\n")
    (folder / "group.txt").write_text("0\t3 11\n1\t2\n2\t3\n10\t11\n")
    return folder


def test_authors_folder_as_any_other_source(tmp_path: Path) -> None:
    authors_folder(tmp_path)
    for edges, groups in ((tmp_path, tmp_path), (tmp_path / "graph.txt", tmp_path / "group.txt")):
        graph = unseen.read_graph(edges, labels=groups)
        assert graph.node_ids.tolist() == ["0", "1", "2", "10"]
        labels = unseen.read_labels(groups, graph)
        assert labels.classes == ("11", "2", "3")  # sorted as strings, as for every file
        assert labels.indicator.toarray().astype(int).tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
