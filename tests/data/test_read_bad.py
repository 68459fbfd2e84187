"""Bad input gets one sentence that names the place and the remedy, and nothing but that."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
import zstandard

import unseen
from reading import write
from unseen.engine.partition import partition


def saved(save: Callable[..., Any], *values: Any, **named: Any) -> bytes:
    """Return what a library writes; it takes the file first."""
    buffer = io.BytesIO()
    save(buffer, *values, **named)
    return buffer.getvalue()


def npz(**arrays: Any) -> bytes:
    return saved(np.savez, **{name: np.array(values) for name, values in arrays.items()})


def parquet(**columns: Any) -> bytes:
    return saved(lambda file: pq.write_table(pa.table(columns), file))


def mat(**variables: Any) -> bytes:
    return saved(scipy.io.savemat, variables)


def packed_oddly(plain: bytes) -> bytes:
    def save(file: Any) -> None:
        with zipfile.ZipFile(io.BytesIO(plain)) as source, zipfile.ZipFile(file, "w", 12) as odd:
            for name in source.namelist():
                odd.writestr(name, source.read(name))

    return saved(save)


EDGES, GRAPH = pa.table({"src": ["a"], "dst": ["b"]}), unseen.Graph.from_edges(["a"], ["b"])
NOT_UTF8 = pa.StringArray.from_buffers(
    2, pa.py_buffer(np.array([0, 1, 2], dtype=np.int32)), pa.py_buffer(b"a\xff")
)
SPARSE = sp.csr_array([[0, 1.0], [1, 0]])
OUT_OF_RANGE = {"format": b"csr", "shape": [2, 2], "data": [1.0, 1.0], "indices": [1, 99999999]}
GZIP, ZSTD = gzip.compress(b"a,b\nb,c\n" * 500, mtime=0), zstandard.compress(b"a,b\nb,c\n" * 500)
NO_SUCH_ROW = mat(network=SPARSE.tocsc()).replace(b"\1\0\0\0\0\0\0\0", b"\1\0\0\0\0\0\0\x7f")
HDF = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF" + bytes(500)
REFUSED: list[tuple[str, str, str | bytes, str]] = [
    ("edges", "e.csv", "", r"e\.csv' is empty; a file without rows needs at least its header line$"),
    ("edges", "e.csv", "# nothing\n\n", r"e\.csv' is empty"),
    ("edges", "e.csv", "src,dst\n", r"lists no edge, and there is no other source that names a node"),
    ("edges", "e.csv", "a\nb\n", r"e\.csv', line 1 has 1 column; without a header, edges are src, dst"),
    ("edges", "e.csv", "# c\nsrc,dst\n\na,b\n# c\nc\n", r"line 6 has 1 column but the header has 2"),
    ("edges", "e.csv", "a,b\nb,c,d\n", r"line 2 has 3 columns but the first line has 2"),
    ("edges", "e.csv", "a,b,1,2\n", r"line 1 has 4 columns; without a header"),
    ("edges", "e.csv", "src,dst,weight\n\na,b,1\na,c,heavy\n", r"line 4: the weight is 'heavy'"),
    ("edges", "e.csv", '# c\nsrc,dst,weight\n"a\nb",c,1\n\na,b,x\n', r"line 6: the weight is 'x'"),
    ("edges", "e.csv", "a,b,strength\na,b,1\n", r"line 1: the weight is 'strength', .*--header"),
    ("edges", "e.csv", "src;dst;weight\na;b;0,5\n", r"line 2: the weight is '0,5', .*; decimals need a point"),
    ("edges", "e.csv", "a;b;0,5\n", r"may be separated by ',' or by ';'; say which with delimiter="),
    ("edges", "e.csv", "a,b,\n", r"line 1: the weight is empty"),
    ("edges", "e.csv", "a,b,1\n#\nb,c,nan\n", r"line 3: the weight is nan; edge weights must be finite"),
    ("edges", "e.csv", "a,b,-inf\n", r"line 1: the weight is -inf"),
    ("edges", "e.csv", "a,b\n,c\n", r"line 2: the cell of `src` is empty"),
    ("edges", "e.csv", "src,dst\na,\n", r"line 2: the cell of `dst` is empty"),
    ("edges", "e.csv", 'a,b\n"c,d\ne,f\n', r"line 2: a quote opens there and is not closed"),
    ("edges", "e.csv", 'src,"dst\nc,d\n', r"line 1: a quote opens there and is not closed"),
    ("edges", "e.csv", 'a,b\nc,"d\ne,f\ng,"h\n', r"line 2: a quote opens there and closes in a later line"),
    ("edges", "e.csv", 'a,"b\nc,d\ne,"f\ng,h\n', r"line 1: a quote opens there and closes in a later line"),
    ("edges", "e.csv", "a,b\nü,c\n".encode("latin-1"), r"line 2 is not UTF-8 text \(byte 0xfc\)"),
    ("edges", "e.csv", "a,b\n".encode("utf-16"), r"is UTF-16 text; save it as UTF-8"),
    ("edges", "e.csv", bytes(range(256)), r"is not a text file \(it holds zero bytes\)"),
    ("edges", "e.csv.gz", GZIP[:-12], r"damaged or cut-off gzip file"),
    ("edges", "e.csv.gz", GZIP[:5], r"damaged or cut-off gzip file"),
    ("edges", "e.csv.gz", "a,b\n", r"is not a gzip file, though its name ends in \.gz"),
    ("edges", "e.csv.zst", ZSTD[:-9], "damaged or cut-off zstd file"),
    ("edges", "e.csv.zst", "a,b\n", r"is not a zstd file, though its name ends in \.zst"),
    ("edges", "e.sav", "a\0b\n", r"suffix '\.sav', which `edges` cannot .* \.csv, .*\.parquet"),
    ("edges", "e.xlsx", "PK", r"save the sheet as \.csv, or run: .*read_excel\('.*e\.xlsx'"),
    ("nodes", "n.csv", "a,1\nb,2\n", r"line 1 has 2 columns; a node list has one column"),
    ("nodes", "n.csv", 'node\na\n"b\nc\n', r"line 3: a quote opens there and is not closed"),
    ("nodes", "n.sav", "a\0b\n", r"suffix '\.sav', which `nodes` cannot"),
    ("features", "f.csv", "", r"f\.csv' is empty"),
    ("features", "f.csv", "node\na\nb\n", r"has no column beside the node ids; features need at least one"),
    ("features", "f.csv", "node,x\na,1\n", r"has no row for 1 of the 2 nodes, the first is 'b'"),
    ("features", "f.csv", "node,x\na,1\nb,2\n# c\na,1\n", r"line 5: the node 'a' has features already"),
    ("features", "f.csv", "a,1,2\nb,2,inf\n", r"line 2: the feature 2 is inf; features must be finite"),
    ("features", "f.csv", "node,x,y\na,1,2\nb,2,two\n", r"line 3: the feature 'y' is 'two'"),
    ("features", "f.csv", "node,x\na,1\nb,2,3\n", r"line 3 has 3 columns but the header has 2"),
    ("features", "f.csv", "node,x\n,1\nb,2\n", r"line 2: the cell of `node` is empty"),
    ("features", "f.csv", 'node,x\na,1\nb,"1\nc,2\n', r"line 3: a quote opens there and is not closed"),
    ("features", "f.npy", saved(np.save, np.array([["a"], ["b"]])), r"values of type <U1; real numbers"),
    ("features", "f.npy", saved(np.save, np.array([[None]])), r"f\.npy' holds pickled Python objects"),
    ("features", "f.parquet", parquet(a=["a"], b=["b"]), r"columns 'a', 'b'; features need a column `node`"),
    ("features", "f.svmlight", "", r"f\.svmlight' is empty"),
    ("features", "f.svmlight", "# c\n1 1:2 3:1\n0 foo\n", r"f\.svmlight' is not a readable svmlight file"),
    ("labels", "l.csv", "", r"l\.csv' is empty"),
    ("labels", "l.csv", "a\nb\n", r"line 1 has 1 column; labels are `node, label`"),
    ("labels", "l.csv", "a,x,y\n", r"line 1 has 3 columns; labels are `node, label`: .* with \| between them"),
    ("labels", "l.csv", "node,label\na,x\nb\n", r"line 3 has 1 column but the header has 2"),
    ("labels", "l.csv", "# c\nnode,label\na,x\n\nq,y\nr,y\n", r"line 5: the graph has no node 'q', and 2 rows"),
    ("labels", "l.csv", "zig,zag\na,x\nq,x\n", r"line 1: the graph has no node 'zig'.* header=True \(--header\)"),
    ("labels", "l.csv", "node,label\n,x\n", r"line 2: the cell of `node` is empty"),
    ("labels", "l.csv", "a,1,2,red\n", r"has 4 columns; labels are .*--label-column"),
    ("labels", "l.csv", "node,label,status\na,,skipped\nb,,skiped\n", "line 3: the status is 'skiped'"),
    ("labels", "l.parquet", parquet(a=["a"], b=["b"], c=["c"]), r"'a', 'b', 'c'; labels are `node, label`"),
    ("edges", "e.npz", npz(ids=np.array(["a", None], dtype=object), data=np.eye(2)), "pickled Python objects"),
    ("edges", "e.npz", pickle.dumps({"network": 1}), r"holds pickled Python objects"),
    ("edges", "e.npz", "node,label\n", r"damaged or cut off: it does not begin as one does$"),
    ("edges", "e.npz", saved(sp.save_npz, SPARSE)[:-50], r"is not a readable numpy file, perhaps damaged"),
    ("edges", "e.npz", packed_oddly(saved(sp.save_npz, SPARSE)), r"is not a readable numpy file, .* never does"),
    ("edges", "e.npz", saved(sp.save_npz, sp.csr_array([[0, 1.0, 1], [1, 0, 0]])), r"shape \(2, 3\); .* square"),
    ("edges", "e.npz", saved(sp.save_npz, sp.csr_array([[0, -1.0], [1, 0]])), r"row 0, column 1: the pair 0 - 1"),
    ("edges", "e.npz", saved(sp.save_npz, sp.csr_array([[0, 0], [np.inf, 0]])), r"row 1, column 0: .* is inf"),
    ("edges", "e.npz", saved(sp.save_npz, sp.dia_array(np.eye(2))), r"'dia'; save it as csr, csc or coo"),
    ("edges", "e.npz", npz(foo=np.eye(2), bar=np.eye(2)), r"holds the arrays 'foo', 'bar'; expected"),
    ("edges", "e.npz", npz(data=np.eye(2), ids=["a"]), r"has ids of shape \(1,\) for 2 rows"),
    ("edges", "e.npz", npz(data=np.eye(2), ids=["a", "a"]), r"must be unique, 'a' occurs more than once"),
    ("edges", "e.npz", npz(**OUT_OF_RANGE, indptr=[0, 1, 2]), r"is not a readable scipy file"),
    ("edges", "e.npz", npz(**OUT_OF_RANGE), r"not a whole scipy matrix, the array 'indptr' is missing"),
    ("edges", "e.mat", mat(network=sp.csc_array(np.ones((3, 3))))[:200], r"is not a readable Matlab file"),
    ("edges", "e.mat", b"x" * 200, r"it has no header"),
    ("edges", "e.mat", b"MATLAB".ljust(124) + b"\0\1IM" + b"\x0e\0\0\0" + b"\xff" * 4, "it ends within an element"),
    ("edges", "e.mat", NO_SUCH_ROW, r"is not a readable Matlab file"),
    ("edges", "e.mat", HDF, r"it is of version 7\.3 or unknown, save it with `save -v7`"),
    ("edges", "e.mat", mat(foo=np.eye(3)), r"has the variables 'foo'; edges are read from 'network'"),
    ("edges", "e.mat", mat(network=np.eye(2) * 1j), r"'network' is no matrix of real numbers"),
    ("edges", "e.parquet", parquet(src=["a", None], dst=["b", "c"]), r"row 2: the cell of `src` is empty"),
    ("edges", "e.parquet", parquet(src=["a"], dst=["b"])[:-20], r"is not a readable Parquet file"),
    ("edges", "e.parquet", parquet(a=["a"]), r"has the columns 'a'; edges need two columns of ids"),
    ("edges", "e.parquet", parquet(src=["x", "y"], dst=NOT_UTF8), r"column 'dst' holds text that is not UTF-8"),
    *(
        ("edges", f"g{suffix}", "]]<x", rf"g{suffix}' is (not a readable|no)")
        for suffix in (".graphml", ".gexf", ".gml", ".json", ".h5ad", ".feather", ".jsonl", ".mtx")
    ),
]  # fmt: skip


@pytest.mark.parametrize(("role", "name", "content", "match"), REFUSED, ids=lambda value: str(value)[:30])
def test_files(tmp_path: Path, role: str, name: str, content: str | bytes, match: str) -> None:
    sources: dict[str, Any] = {"edges": EDGES, role: write(tmp_path / name, content)}
    with pytest.raises(unseen.InputError, match=match):
        unseen.read_labels(sources["labels"], GRAPH) if role == "labels" else unseen.read_graph(**sources)


@pytest.mark.parametrize(
    ("sources", "match"),
    [
        ({"edges": 3}, r"`edges` must be a path, a table .* got int; Graph\.from_pyg"),
        ({"edges": "a\0b"}, r"there is no file 'a.*0b'"),
        ({"features": 3}, r"`features` must be a path, .* got int"),
        ({"labels": [1]}, r"`labels` must be a path, .* got list; Labels\.from_values"),
        ({"nodes": 3}, r"`nodes` must be a path, .* got int"),
        ({"nodes": ["a", None]}, r"nodes must be all strings or all integers, found None"),
        ({"delimiter": ",,"}, r"`delimiter` must be one character .* got ',,'"),
        ({"missing": "mean"}, r"`missing` \(--missing\) must be 'median', 'zero' or 'error', got 'mean'"),
        ({"drop_negative": True, "absolute": True}, r"`absolute` \(--absolute\) do not go together"),
        ({"features": np.eye(2)}, r"names no nodes, so that its 2 rows are the nodes 0 to 1"),
        ({"features": np.ones(2)}, r"`features` has shape \(2,\); features need two dimensions"),
        ({"features": np.array([[0.0, np.inf], [np.nan, 1]])}, r"`features`: row 0, column 1 is inf"),
        ({"features": pa.table({"node": ["a", "b"], "x": [None, np.inf]})}, "row 2: the feature 'x' is inf"),
        (
            {"features": pa.table({"node": ["a", "b"], "x": pa.nulls(2)})},
            "no column beside ids and labels that can be",
        ),
        (
            {"features": pa.table({"node": ["a", "b"], "x": ["1", "x"]})},
            "row 2: the feature 'x' is 'x', which is",
        ),
        ({"edges": pa.table({"src": [1.5], "dst": [2.0]})}, r"`src` has the type double; it must hold"),
        (
            {"edges": pa.table({"src": ["a", "b"], "dst": ["b", "c"], "weight": [1.0, None]})},
            r"`edges`, row 2: the weight is nan",
        ),
        (
            {"edges": pa.table({"src": [1], "dst": pa.array([2**63], pa.uint64())})},
            r"`edges`: ids of `dst` do not fit into 64-bit integers",
        ),
        (
            {"features": pa.table({"node": ["a", "b"], "x": [[1.0, 2.0], [3.0]]})},
            r"`features`, row 2 has 1 numbers where the first row has 2",
        ),
        (
            {"features": pa.table({"node": ["a", "b"], "x": [[1.0], [None]]}), "missing": "error"},
            r"`features`, row 2: the feature 0 is missing",
        ),
        (
            {"labels": pa.table({"node": ["a", "b"], "label": pa.array([0, 1], pa.date32())})},
            r"`labels`: the labels have the type date32",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_objects(sources: dict[str, Any], match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        unseen.read(**{"edges": EDGES, **sources})


@pytest.mark.slow
@pytest.mark.parametrize(("row", "match"), [("a,b", "has 2 columns but"), ("a,b,x", ": the weight is 'x'")])
def test_bad_row_far_down_a_large_file(tmp_path: Path, row: str, match: str) -> None:
    text = "a,b,1\n" * 400_000
    with pytest.raises(unseen.InputError, match=f"line 400001{'' if ':' in match else ' '}{match}"):
        unseen.read(write(tmp_path / "e.csv", f"{text}{row}\n{text[:600_000]}"))


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(
        unseen.InputError, match=r"folder without a graph\.txt and without Parquet or csv files"
    ):
        unseen.read_graph(tmp_path)
    (tmp_path / "empty").mkdir()
    for role in ("nodes", "features", "labels"):
        with pytest.raises(unseen.InputError, match=rf"there is no file '.*no\.csv'; .* `{role}`"):
            unseen.read(EDGES, **{role: tmp_path / "no.csv"})
        with pytest.raises(unseen.InputError, match=rf"is a folder without .*; `{role}` needs a file"):
            unseen.read(EDGES, **{role: tmp_path / "empty"})
    write(tmp_path / "edges.csv", "a,b\n")
    for name in ("edge.csv", "Edges.tsv", "edgse.csv"):
        with pytest.raises(unseen.InputError, match=rf"{name}'; the nearest name .* is 'edges\.csv'"):
            unseen.read_graph(tmp_path / name)
    with pytest.raises(unseen.InputError, match=r"words\.csv'; check the path given as `edges`"):
        unseen.read_graph(tmp_path / "words.csv")  # only the suffix is the same
    with pytest.raises(unseen.InputError, match=r"and no folder '.*nowhere'"):
        unseen.read_graph(tmp_path / "nowhere" / "edges.csv")
    for device in filter(Path.exists, map(Path, ("/dev/zero", "/dev/stdout", "/dev/null"))):
        with pytest.raises(unseen.InputError, match=rf"'{device}' is a device, not a file"):
            unseen.read(device)


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *args: Any, **options: Any) -> Any:
        if self == path:
            raise PermissionError(13, "Permission denied")
        return open_file(self, *args, **options)

    path, open_file = write(tmp_path / "e.csv", "a,b\n"), Path.open
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(unseen.InputError, match=r"e\.csv' cannot be read: Permission denied"):
        unseen.read(path)


def test_files_of_a_folder_that_do_not_agree(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", parquet(src=["x"], dst=["y"]))
    write(tmp_path / "b.parquet", parquet(dst=[7], src=[8]))
    assert unseen.read_graph(tmp_path).node_ids.tolist() == ["x", "y", "8", "7"]
    write(tmp_path / "c.parquet", parquet(src=["x"], dst=["y"], weight=[2.0]))
    with pytest.raises(unseen.InputError, match=r"c\.parquet': 'weight' is not a column of all files"):
        unseen.read_graph(tmp_path)


def test_a_label_of_a_node_that_nothing_else_names(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    edges = write(tmp_path / "e.csv", "a,b\nb,c\n")
    labels = write(tmp_path / "l.csv", "node,label\na,x\nb0b,y\nc,x\nz,x\n")
    assert unseen.read(edges, labels=labels).graph.n_nodes == 5
    assert "line 3: the label names 'b0b', a node that has no edge; only labels name 2 nodes" in caplog.text
    with pytest.raises(unseen.InputError, match=r"line 3: the label names 'b0b', a node that has no edge"):
        unseen.read(edges, labels=labels, strict=True)
    features = write(tmp_path / "f.csv", "node,x\na,1\nb,2\nc,3\n")
    with pytest.raises(unseen.InputError, match=r"line 3: .*'b0b', a node that has no edge and no features"):
        unseen.read(edges, features=features, labels=labels)


def test_no_id_in_common_is_an_error_with_three_of_each(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "src,dst\nn1,n2\nn3,n4\n")
    rows = {"labels": "x\n2,y\n3,y\n4,x", "features": "0\n2,0\n3,0\n4,1", "text": "old oak\n2,old elm\n3,oak"}
    for role, cells in rows.items():
        path = write(tmp_path / f"{role}.csv", f"node,{role[:-1]}\n1,{cells}\n")
        both = rf"{role}\.csv' have no id in common: .* has 'n1', 'n2', 'n3', .* has '1', '2', '3'"
        with pytest.raises(unseen.InputError, match=both):
            unseen.read(edges, **{role: path})
        if role != "text":
            with pytest.raises(unseen.InputError, match=both):
                partition(edges, tmp_path / "parts", parts=1, **{role: path})
    with pytest.raises(unseen.InputError, match=r"the graph and .*labels\.csv' have no id in common"):
        unseen.read_labels(tmp_path / "labels.csv", unseen.read_graph(edges))
