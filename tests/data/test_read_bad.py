"""Bad input gets one sentence that names the place and the remedy, and nothing but that."""

from __future__ import annotations

import gzip
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

import unseen


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def assert_refused(match: str, *sources: Any, read: Any = unseen.read_graph, **options: Any) -> None:
    with pytest.raises(unseen.InputError, match=match):
        read(*sources, **options)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", r"e\.csv' is empty; a file without rows needs at least its header line$"),
        ("# nothing\n\n", r"e\.csv' is empty"),
        ("src,dst\n", r"e\.csv' lists no edge, and there is no other source that names a node"),
        ("a\nb\n", r"e\.csv', line 1 has 1 column; without a header, edges are src, dst"),
        ("# c\nsrc,dst\n\na,b\n# c\nc\n", r"e\.csv', line 6 has 1 column but the header has 2"),
        ("a,b\nb,c,d\n", r"e\.csv', line 2 has 3 columns but the first line has 2"),
        ("a,b,1,2\n", r"line 1 has 4 columns; without a header, edges are src, dst and perhaps weight"),
        ("src,dst,weight\n\na,b,1\na,c,heavy\n", r"line 4: the weight is 'heavy', which is not a number$"),
        ("a,b,strength\na,b,1\n", r"line 1: the weight is 'strength', .* header=True \(--header\)"),
        (
            "src;dst;weight\na;b;0,5\n",
            r"line 2: the weight is '0,5', which is not a number; decimals need a point",
        ),
        ("a;b;0,5\n", r"columns of .*e\.csv' may be separated by ',' or by ';'; say which with delimiter="),
        ("a,b,\n", r"line 1: the weight is empty; it must be a number"),
        ("a,b,1\n#\nb,c,nan\n", r"line 3: the weight is nan; edge weights must be finite numbers"),
        ("a,b,-inf\n", r"line 1: the weight is -inf; edge weights must be finite"),
        ("a,b\n,c\n", r"line 2: the id of `src` is empty"),
        ("src,dst\na,\n", r"line 2: the id of `dst` is empty"),
        ('a,b\n"c,d\ne,f\n', r"line 2: a quote opens there and is not closed before the file ends"),
        ('a,"b\nc,d\ne,f\n', r"line 1: a quote opens there and is not closed before the file ends"),
        ('src,"dst\nc,d\n', r"line 1: a quote opens there and is not closed before the file ends"),
        ('a,b\nc,"d\ne,f\ng,"h\n', r"line 2: a quote opens there and closes in a later line with more text"),
        ('a,"b\nc,d\ne,"f\ng,h\n', r"line 1: a quote opens there and closes in a later line with more text"),
        ("a,b\nü,c\n".encode("latin-1"), r"line 2 is not UTF-8 text \(byte 0xfc\); save the file as UTF-8"),
        ("a,b\n".encode("utf-16"), r"is UTF-16 text; save it as UTF-8"),
        (bytes(range(256)), r"is not a text file \(it holds zero bytes\)"),
    ],
)
def test_edges(tmp_path: Path, content: str | bytes, match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        unseen.read_graph(write(tmp_path / "e.csv", content))


def test_line_numbers_with_quoted_line_breaks(tmp_path: Path) -> None:
    assert_refused(
        r"line 6: the weight is 'x'", write(tmp_path / "e.csv", '# c\nsrc,dst,weight\n"a\nb",c,1\n\na,b,x\n')
    )


@pytest.mark.slow
def test_bad_row_far_down_a_large_file(tmp_path: Path) -> None:
    text = "a,b,1\n" * 400_000
    assert_refused(
        r"line 400001 has 2 columns but the first line has 3",
        write(tmp_path / "e.csv", text + "a,b\n" + text[:600_000]),
    )
    assert_refused(
        r"line 400001: the weight is 'x'", write(tmp_path / "e.csv", text + "a,b,x\n" + text[:600_000])
    )


def test_paths(tmp_path: Path) -> None:
    assert_refused(r"there is no file '.*no\.csv'; check the path given as `edges`", tmp_path / "no.csv")
    assert_refused(r"there is no file 'a.*0b'", "a\0b")
    assert_refused(r"is a folder without a graph\.txt and without Parquet or csv files; `edges`", tmp_path)
    edges = write(tmp_path / "e.csv", "a,b\n")
    (tmp_path / "empty").mkdir()
    for name in ("nodes", "features", "labels"):
        assert_refused(rf"there is no file '.*no\.csv'; .* `{name}`", edges, **{name: tmp_path / "no.csv"})
        assert_refused(rf"is a folder without .*; `{name}` needs a file", edges, **{name: tmp_path / "empty"})


@pytest.mark.parametrize("source", ["edges", "nodes", "features", "labels"])
def test_unknown_suffix_lists_the_known_ones(tmp_path: Path, source: str) -> None:
    strange = write(tmp_path / "x.sav", "a\0b\n")
    arguments: dict[str, Any] = {"edges": write(tmp_path / "e.csv", "a,b\n"), source: strange}
    assert_refused(rf"suffix '\.sav', which `{source}` cannot .* \.csv, .*\.parquet", **arguments)


def test_objects_that_are_no_source(tmp_path: Path) -> None:
    assert_refused(r"`edges` must be a path, a table .* got int; Graph\.from_pyg", 3)
    edges = write(tmp_path / "e.csv", "a,b\n")
    assert_refused(r"`features` must be a path, .* got int", edges, features=3)
    assert_refused(r"`labels` must be a path, .* got list; Labels\.from_values", edges, labels=[1])
    assert_refused(r"`nodes` must be a path, .* got int", edges, nodes=3)
    assert_refused(r"`delimiter` must be one character .* got ',,'", edges, delimiter=",,")


def test_gzip(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\nb,c\n" * 500)
    for cut in (packed[:-12], packed[:40], packed[:5]):
        assert_refused(r"e\.csv\.gz' is a damaged or cut-off gzip file", write(tmp_path / "e.csv.gz", cut))
    assert_refused(r"is not a gzip file, though its name ends in \.gz", write(tmp_path / "e.csv.gz", "a,b\n"))


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *args: Any, **options: Any) -> Any:
        if self == path:
            raise PermissionError(13, "Permission denied")
        return open_file(self, *args, **options)

    path, open_file = write(tmp_path / "e.csv", "a,b\n"), Path.open
    monkeypatch.setattr(Path, "open", refuse)
    assert_refused(r"e\.csv' cannot be read: Permission denied", path)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", r"f\.csv' is empty"),
        ("node\na\nb\n", r"has no column beside the node ids; features need at least one"),
        ("node,x\na,1\n", r"has no row for 1 of the 2 nodes, the first is 'b'; add rows for them"),
        ("node,x\na,1\nb,2\n# c\na,1\n", r"line 5: the node 'a' has features already"),
        ("a,1,2\nb,2,inf\n", r"line 2: the feature 2 is inf; features must be finite numbers"),
        ("node,x,y\na,1,2\nb,2,two\n", r"line 3: the feature 'y' is 'two', which is not a number"),
        ("node,x\na,1\nb,2,3\n", r"line 3 has 3 columns but the header has 2"),
        ("node,x\n,1\nb,2\n", r"line 2: the id of `node` is empty"),
    ],
)
def test_features(tmp_path: Path, content: str, match: str) -> None:
    edges = write(tmp_path / "e.csv", "a,b\n")
    with pytest.raises(unseen.InputError, match=match):
        unseen.read_graph(edges, features=write(tmp_path / "f.csv", content))


def test_features_without_ids_say_how_they_were_understood(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\n")
    assert_refused(r"names no nodes, so that its 2 rows are the nodes 0 to 1", edges, features=np.eye(2))
    assert_refused(r"`features` has shape \(2,\); features need two dimensions", edges, features=np.ones(2))
    assert_refused(
        r"`features`: row 0, column 1 is inf; features must be finite",
        edges,
        features=np.array([[0.0, np.inf]]),
    )


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", r"l\.csv' is empty"),
        ("a\nb\n", r"line 1 has 1 column; labels are `node, label`"),
        ("a,x,y\n", r"line 1 has 3 columns; labels are `node, label`: .* with \| between them"),
        ("node,label\na,x\nb\n", r"line 3 has 1 column but the header has 2"),
        ("# c\nnode,label\na,x\n\nq,y\nr,y\n", r"line 5: the graph has no node 'q', and 2 rows in all"),
        ("zig,zag\na,x\nq,x\n", r"line 1: the graph has no node 'zig'.* header=True \(--header\)"),
        ("node,label\n,x\n", r"line 2: the id of `node` is empty"),
    ],
)
def test_labels(tmp_path: Path, content: str, match: str) -> None:
    graph = unseen.Graph.from_edges(["a"], ["b"])
    with pytest.raises(unseen.InputError, match=match):
        unseen.read_labels(write(tmp_path / "l.csv", content), graph)


def test_nodes(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\n")
    assert_refused(
        r"n\.csv', line 1 has 2 columns; a node list has one column",
        edges,
        nodes=write(tmp_path / "n.csv", "a,1\nb,2\n"),
    )
    assert_refused(r"nodes must be all strings or all integers, found None", edges, nodes=["a", None])


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, ids=np.array(["a", None], dtype=object), data=np.eye(2))
    assert_refused(r"x\.npz' holds pickled Python objects, which are never loaded", path)
    assert_refused(r"holds pickled Python objects", write(path, pickle.dumps({"network": 1})))
    assert_refused(r"damaged or cut off: it does not begin as one does$", write(path, "node,label\n"))
    sp.save_npz(path, sp.csr_array([[0, 1.0], [1, 0]]))
    whole = path.read_bytes()
    for cut in (whole[:-50], whole[:30], b""):
        assert_refused(r"x\.npz' is not a readable numpy file, perhaps damaged", write(path, cut))
    sp.save_npz(path, sp.csr_array([[0, 1.0, 1], [1, 0, 0]]))
    assert_refused(r"has shape \(2, 3\); an adjacency matrix must be square", path)
    sp.save_npz(path, sp.csr_array([[0, -1.0], [1, 0]]))
    assert_refused(r"x\.npz', row 0, column 1: the pair 0 - 1 has the weight -1 here", path)
    sp.save_npz(path, sp.csr_array([[0, 0], [np.inf, 0]]))
    assert_refused(r"row 1, column 0: the weight is inf; edge weights must be finite", path)
    sp.save_npz(path, sp.dia_array(np.eye(2)))
    assert_refused(r"in the format 'dia'; save it as csr, csc or coo", path)
    np.savez(path, foo=np.eye(2), bar=np.eye(2))
    assert_refused(r"holds the arrays 'foo', 'bar'; expected a scipy sparse matrix", path)
    np.savez(path, data=np.eye(2), ids=np.array(["a"]))
    assert_refused(r"has ids of shape \(1,\) for 2 rows", path)


def test_npz_with_indices_out_of_range_is_refused_before_it_crashes(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    wrong = {
        "format": b"csr",
        "shape": [2, 2],
        "data": [1.0, 1.0],
        "indices": [1, 99999999],
        "indptr": [0, 1, 2],
    }
    np.savez(path, **{key: np.array(value) for key, value in wrong.items()})
    assert_refused(r"x\.npz' is not a readable scipy file", path)
    del wrong["indptr"]
    np.savez(path, **{key: np.array(value) for key, value in wrong.items()})
    assert_refused(r"not a whole scipy matrix, the array 'indptr' is missing", path)


def test_npy(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "0,1\n")
    np.save(tmp_path / "f.npy", np.array([["a"], ["b"]]))
    assert_refused(
        r"f\.npy' holds values of type <U1; real numbers are needed", edges, features=tmp_path / "f.npy"
    )
    np.save(tmp_path / "f.npy", np.array([[None]]))
    assert_refused(r"f\.npy' holds pickled Python objects", edges, features=tmp_path / "f.npy")


def test_mat(tmp_path: Path) -> None:
    path = tmp_path / "x.mat"
    scipy.io.savemat(path, {"network": sp.csc_array(np.ones((3, 3)))})
    whole = path.read_bytes()
    assert_refused(
        r"x\.mat' is not a readable Matlab file, perhaps damaged or cut off",
        write(path, whole[: len(whole) // 2]),
    )
    assert_refused(r"x\.mat' is not a readable Matlab file", write(path, "hello " * 100))
    hdf = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF" + bytes(500)
    assert_refused(r"it is of version 7\.3 or unknown, save it with `save -v7`", write(path, hdf))
    scipy.io.savemat(path, {"foo": np.eye(3)})
    assert_refused(r"has the variables 'foo'; edges are read from 'network'", path)
    scipy.io.savemat(path, {"network": np.array(["text"])})
    assert_refused(r"the variable 'network' is no matrix of real numbers", path)
    scipy.io.savemat(path, {"network": np.eye(2) * 1j})
    assert_refused(r"the variable 'network' is no matrix of real numbers", path)


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"src": ["a", None], "dst": ["b", "c"]}), path)
    assert_refused(r"x\.parquet', row 2: the id of `src` is empty", path)
    whole = path.read_bytes()
    assert_refused(r"x\.parquet' is not a readable Parquet file", write(path, whole[:-20]))
    pq.write_table(pa.table({"a": ["a"]}), path)
    assert_refused(r"has the columns 'a'; edges need two columns of ids", path)
    graph = unseen.Graph.from_edges(["a"], ["b"])
    pq.write_table(pa.table({"a": ["a"], "b": ["b"], "c": ["c"]}), path)
    assert_refused(
        r"has the columns 'a', 'b', 'c'; labels are `node, label`", path, graph, read=unseen.read_labels
    )
    pq.write_table(pa.table({"a": ["a"], "b": ["b"]}), path)
    assert_refused(
        r"has the columns 'a', 'b'; features need a column `node`",
        pa.table({"src": ["a"], "dst": ["b"]}),
        features=path,
    )


def test_tables() -> None:
    assert_refused(
        r"`edges`: the column of `src` has the type double; ids must be",
        pa.table({"src": [1.5], "dst": [2.0]}),
    )
    assert_refused(
        r"`edges`, row 2: the weight is nan; edge weights must be finite",
        pa.table({"src": ["a", "b"], "dst": ["b", "c"], "weight": [1.0, None]}),
    )
    assert_refused(
        r"`edges`: ids of `dst` do not fit into 64-bit integers",
        pa.table({"src": [1], "dst": pa.array([2**63], pa.uint64())}),
    )
    edges = pa.table({"src": ["a"], "dst": ["b"]})
    uneven = pa.table({"node": ["a", "b"], "x": [[1.0, 2.0], [3.0]]})
    assert_refused(r"`features`, row 2 has 1 numbers where the first row has 2", edges, features=uneven)
    gap = pa.table({"node": ["a", "b"], "x": [[1.0, 2.0], [3.0, None]]})
    assert_refused(r"`features`, row 2: the feature 1 is missing", edges, features=gap, missing="error")
    when = pa.array([0, 1], pa.date32())
    graph = unseen.read_graph(edges)
    assert_refused(
        r"`labels`: the labels have the type date32",
        pa.table({"node": ["a", "b"], "label": when}),
        graph,
        read=unseen.read_labels,
    )


def test_svmlight(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "0,1\n")
    assert_refused(
        r"f\.svmlight', line 3: 'foo' is not svmlight; expected `index:value`",
        edges,
        features=write(tmp_path / "f.svmlight", "# c\n1 1:2 3:1\n0 foo\n"),
    )
    assert_refused(
        r"line 1: 'x' is not svmlight; expected a number, the target",
        edges,
        features=write(tmp_path / "f.svmlight", "x 1:2\n"),
    )
    assert_refused(r"f\.svmlight' is empty", edges, features=write(tmp_path / "f.svmlight", ""))


def test_parquet_text_that_is_no_text(tmp_path: Path) -> None:
    offsets, data = pa.py_buffer(np.array([0, 1, 2], dtype=np.int32)), pa.py_buffer(b"a\xff")
    bad = pa.StringArray.from_buffers(2, offsets, data)
    pq.write_table(pa.table({"src": ["x", "y"], "dst": bad}), tmp_path / "e.parquet")
    assert_refused(
        r"e\.parquet': the column 'dst' holds text that is not UTF-8; write", tmp_path / "e.parquet"
    )


def test_files_of_a_folder_that_do_not_agree(tmp_path: Path) -> None:
    pq.write_table(pa.table({"src": ["x"], "dst": ["y"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"dst": [7], "src": [8]}), tmp_path / "b.parquet")
    graph = unseen.read_graph(tmp_path)
    assert graph.node_ids.tolist() == ["x", "y", "8", "7"]
    pq.write_table(pa.table({"src": ["x"], "dst": ["y"], "weight": [2.0]}), tmp_path / "c.parquet")
    assert_refused(r"c\.parquet': 'weight' is not a column of all files of", tmp_path)


def test_npz_packed_in_an_odd_way(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "plain.npz", sp.csr_array([[0, 1.0], [1, 0]]))
    with (
        zipfile.ZipFile(tmp_path / "plain.npz") as plain,
        zipfile.ZipFile(tmp_path / "odd.npz", "w", 12) as odd,
    ):
        for name in plain.namelist():
            odd.writestr(name, plain.read(name))
    assert_refused(r"odd\.npz' is not a readable numpy file, .* never does", tmp_path / "odd.npz")
