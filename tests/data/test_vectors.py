"""Embedding files: what others wrote is read, what is broken is named; round trips are in tests/laws."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import unseen
from reading import read_features, write
from unseen.data.vectors import read_embedding
from unseen.data.write import check_vectors
from unseen.errors import InputError, UnsupportedError

WRITTEN = (".parquet", ".npz", ".w2v.txt", ".w2v.txt.gz", ".tsv")
EXPECTED = [[0.5, 1.0], [2.0, -3.0]]


def random_embedding(n: int = 50, width: int = 7, **more: Any) -> unseen.Embedding:
    vectors = np.random.default_rng(0).standard_normal((n, width)).astype(np.float32)
    return unseen.Embedding(vectors, [f"n{k}" for k in range(n)], **more)


@pytest.mark.parametrize("suffix", WRITTEN)
def test_many_rows_come_back_and_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    written = random_embedding(3000, 400)  # more than a block
    for name in "ab":
        written.save(tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    read = read_embedding(tmp_path / f"a{suffix}")
    assert read.node_ids.tolist() == written.node_ids.tolist()
    np.testing.assert_array_equal(read.vectors, written.vectors)


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_sparse_stays_sparse(tmp_path: Path, suffix: str) -> None:
    draw = np.random.default_rng(0)
    matrix = sp.random_array((40, 9), density=0.1, rng=draw, format="csr", dtype=np.float32)
    ids = ["x" * 1_000_000, "a\0", *map(str, range(38))]
    unseen.Embedding(matrix, ids, "nodefeats").save(tmp_path / f"v{suffix}")
    read = read_embedding(tmp_path / f"v{suffix}")
    assert sp.issparse(read.vectors)
    assert (read.vectors != matrix).nnz == 0
    assert (read.node_ids.tolist(), read.method) == (ids, "nodefeats")
    if suffix == ".npz":
        assert (sp.load_npz(tmp_path / "v.npz") != matrix).nnz == 0


def test_what_other_tools_read(tmp_path: Path) -> None:
    params = {"random_state": np.int64(7), "alpha": 0.5, "name": None, "object": {1, 2}.__class__}
    embedding = unseen.Embedding([[0.5, 1], [2, -1e-9]], ["a", "ü"], "rect", params)
    for suffix in (".parquet", ".w2v.txt", ".tsv"):
        embedding.save(tmp_path / f"v{suffix}")
    assert (tmp_path / "v.w2v.txt").read_text(encoding="utf-8") == "2 2\na 0.5 1\nü 2 -1e-9\n"
    assert (tmp_path / "v.tsv").read_text() == "0.5\t1\n2\t-1e-9\n"
    assert (tmp_path / "v.metadata.tsv").read_text(encoding="utf-8") == "a\nü\n"
    schema = pq.read_schema(tmp_path / "v.parquet")
    assert (schema.names, schema.field("vector").type) == (["node", "vector"], pa.list_(pa.float32(), 2))
    stored = {key.decode(): json.loads(value) for key, value in schema.metadata.items()}
    assert (stored["unseen.method"], stored["unseen.seed"]) == ("rect", 7)
    assert stored["unseen.version"] == unseen.__version__
    read = read_embedding(tmp_path / "v.parquet")
    assert read.method == "rect"
    assert dict(read.params) == {"random_state": 7, "alpha": 0.5, "name": None, "object": "<class 'set'>"}


@pytest.mark.parametrize(
    ("suffix", "value", "sentence"),
    [
        (".w2v.txt", "a b", r"cannot hold the id 'a b', which has a blank; save as \.parquet, \.npz or"),
        (".w2v.txt", "\ufeffa", "which has a byte order mark at its start"),
        (".w2v.txt", "", "one node has an empty id"),
        (".tsv", "a\tb", r"cannot hold the id 'a\\tb', which has a tab or a line break"),
        (".parquet", "\ud800", "is not valid Unicode text, so no file can hold it"),
    ],
)
def test_ids_that_cannot_be_written_are_refused_before_the_work(
    tmp_path: Path, suffix: str, value: str, sentence: str
) -> None:
    with pytest.raises(UnsupportedError, match=sentence):
        unseen.Embedding([[1.0], [2.0]], ["ok", value]).save(tmp_path / f"v{suffix}")
    with pytest.raises(UnsupportedError, match=sentence):
        check_vectors(tmp_path / f"v{suffix}", np.array(["ok", value], dtype=object))
    assert not list(tmp_path.iterdir())


def test_what_is_not_written(tmp_path: Path) -> None:
    huge = unseen.Embedding(sp.csr_array((100_000, 100_000), dtype=np.float32))
    with pytest.raises(UnsupportedError, match=r"Parquet cannot hold .*; save as \.npz instead"):
        huge.save(tmp_path / "v.parquet")
    with pytest.raises(UnsupportedError, match=r"text cannot hold sparse vectors \(3 x 3\); save as \.npz"):
        unseen.Embedding(sp.eye_array(3, format="csr")).save(tmp_path / "v.tsv")
    for name, sentence in {"v.pkl": r"use one of \.csv, ", "v.txt": r"word2vec text: v\.w2v\.txt"}.items():
        with pytest.raises(InputError, match=sentence):
            random_embedding().save(tmp_path / name)
    for shape in ((0, 3), (3, 0)):
        with pytest.raises(InputError, match="so there is nothing to write"):
            unseen.Embedding(np.zeros(shape)).save(tmp_path / "v.parquet")
    assert not list(tmp_path.iterdir())
    huge.save(tmp_path / "v.npz")
    assert read_embedding(tmp_path / "v.npz").shape == (100_000, 100_000)


FOREIGN: list[tuple[str, Any, list[Any]]] = [
    ("v.parquet", {"id": ["a", "b"], "vector": EXPECTED}, ["a", "b"]),
    ("v.parquet", {"emb": EXPECTED, "node_id": [7, 3]}, [7, 3]),
    ("v.parquet", {"id": pa.array([7, 3], pa.uint16()), "0": [0.5, 2.0], "1": [1.0, -3.0]}, [7, 3]),
    ("v.parquet", {"package": ["a", "b"], "x": [0.5, 2.0], "y": [1, -3]}, ["a", "b"]),
    (
        "v.parquet",
        {"id": pa.array(["a", "b"]).dictionary_encode(), "vector": pa.array(EXPECTED, pa.list_(pa.float64(), 2))},
        ["a", "b"],
    ),
    ("v.parquet", {"node": ["a", "b"], "vector": EXPECTED, "label": ["x", "y"]}, ["a", "b"]),
    ("v.parquet", {"x": [0.5, 2.0], "y": [1.0, -3.0]}, [0, 1]),
    ("v.csv", "node,x,y\n007,0.5,1\nb,2,-3\n", ["007", "b"]),
    ("v.csv", "node;x;y\n007;0.5;1\nb;2;-3\n", ["007", "b"]),
    ("v.csv", "a, x;0.5;1\nb;2;-3\n", ["a, x", "b"]),
    ("v.tsv", "node,x,y\n007,0.5,1\nb,2,-3\n", ["007", "b"]),
    ("v.csv", "x,y,id\n0.5,1,007\n2,-3,b\n", ["007", "b"]),
    ("v.csv", "vertex,word,name\na,0.5,1\nb,2,-3\n", ["a", "b"]),
    ("v.csv", "\ufeffnode,x,y\r\n007,0.5,1\r\nb,2,-3\r\n", ["007", "b"]),
    ("v.csv", ",0,1\n007,0.5,1\nb,2,-3\n", ["007", "b"]),
    ("v.csv", 'package,x,y\n"a,1",0.5,1\n"b ""c""",2,-3\n', ["a,1", 'b "c"']),
    ("v.csv", "007,0.5,1\n8,2,-3", ["007", "8"]),
    ("v.tsv", "id\tx\ty\na b\t0.5\t1\nb\t2\t-3\n", ["a b", "b"]),
    ("v.w2v.txt", "2 2\n007 0.5 1\nb 2 -3\n", ["007", "b"]),
    ("v.txt", "2 2\n007 0.5 1 \nb 2 -3 \n", ["007", "b"]),
    ("v.vec", "007 0.5 1\nb 2 -3\n", ["007", "b"]),
    ("v.emb", "2 2\r\n1 5e-1 1.0\r\n0 2 -3\r\n", ["1", "0"]),
    ("v.npz", {"IDs": ["a", "b"], "data": EXPECTED}, ["a", "b"]),
    ("v.npz", {"names": [b"a", "ü".encode()], "embeddings": EXPECTED}, ["a", "ü"]),
    ("v.npz", {"node_ids": ["a", "b"], "data": EXPECTED}, ["a", "b"]),
    ("v.npz", {"whatever": EXPECTED}, [0, 1]),
    ("v.npz", {"arr_0": EXPECTED, "arr_1": np.zeros((2, 2))}, [0, 1]),
    ("v.npy", EXPECTED, [0, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "ids"), FOREIGN, ids=lambda value: str(value)[:30])
def test_files_of_other_tools(tmp_path: Path, name: str, content: Any, ids: list[Any]) -> None:
    path = write(tmp_path / name, content)
    paths = [path]
    if isinstance(content, str):
        paths.append(write(tmp_path / f"{name}.gz", gzip.compress(path.read_bytes())))
    for each in paths:
        read = read_embedding(each)
        assert (read.node_ids.tolist(), read.vectors.tolist()) == (ids, EXPECTED)
    if path.suffix in (".npz", ".npy"):  # features too, and either may go under the other's name
        assert np.asarray(read_features(path)[1]).tolist() == EXPECTED
        other = path.rename(path.with_suffix({".npz": ".npy", ".npy": ".npz"}[path.suffix]))
        assert read_embedding(other).vectors.tolist() == EXPECTED


@pytest.mark.parametrize("text", ["2 1\na 5\nb 6\n", "a 5\nb 6\n"])
def test_word2vec_with_one_number(tmp_path: Path, text: str) -> None:
    read = read_embedding(write(tmp_path / "v.txt", text))
    assert (read.node_ids.tolist(), read.vectors.tolist()) == (["a", "b"], [[5], [6]])


@pytest.mark.parametrize("text", ["a\nb\n", "a\r\nb\r\n", "label\tid\nx\ta\ny\tb\n", "name\na\nb\n"])
def test_projector_pairs(tmp_path: Path, text: str) -> None:
    path, ids = write(tmp_path / "v.tsv", "0.5\t1\n2\t-3\n"), write(tmp_path / "v.metadata.tsv", text)
    read = read_embedding(path)
    assert (read.node_ids.tolist(), read.vectors.tolist()) == (["a", "b"], EXPECTED)
    write(ids, "a\nb\nc\nd\n")
    with pytest.raises(InputError, match=r"4 ids for 2 vectors of .*; the two files do not belong together"):
        read_embedding(path)
    ids.unlink()
    write(path, "0.5\t1\n2.5\t-3\n")
    with pytest.raises(InputError, match="the first column must hold ids, not fractions such as"):
        read_embedding(path)


def test_unreadable_metadata_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"node": ["a", "b"], "vector": EXPECTED}, metadata={"unseen.params": "{"})
    write(tmp_path / "v.parquet", table)
    write(tmp_path / "v.npz", {"ids": ["a", "b"], "data": EXPECTED, "metadata": "["})
    for name in ("v.parquet", "v.npz"):
        caplog.clear()
        assert read_embedding(tmp_path / name).vectors.tolist() == EXPECTED
        assert "cannot be read and are left out" in caplog.text


@pytest.mark.parametrize("suffix", [*WRITTEN, ".npy", ".csv", ".csv.gz"])
def test_files_that_are_empty_cut_off_or_something_else(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"v{suffix}"
    for content in (b"", b"\x89PNG\r\n\x1a\n\x00\xff\xfe1 2 3"):
        with pytest.raises(InputError, match=r"is empty|holds no vectors|is not a |not UTF-8"):
            read_embedding(write(path, content))
    if suffix in WRITTEN[:4]:
        random_embedding().save(path)
        whole = path.read_bytes()
        for share in (0.05, 0.5, 0.9, 0.99):
            with pytest.raises(InputError, match=r"is not a readable|cut.off|line \d+ has \d+ columns? but"):
                read_embedding(write(path, whole[: int(len(whole) * share)]))


SPARSE = {"indices": [0], "indptr": [0, 1]}
FAULTY: list[tuple[str, Any, str]] = [
    ("v.sav", b"x", r"'\.sav', which `vectors` cannot be read from; .*known are \.csv, .*\.parquet"),
    ("v.csv", "node,x,y\na,1,2\nb,1,two\n", "line 3: the dimension 'y' is 'two', which is not a number"),
    ("v.csv", "node\na\n", "has no column beside the node ids; vectors need at least one"),
    ("v.csv", "node,x,y\n", "holds no vectors"),
    ("v.tsv", "a\nb\n", "vectors need at least one"),
    ("v.txt", "2 3\na 1 2 3\nb 1 2\n", "line 3 has 3 columns but the first line has 4"),
    ("v.txt", "a 1 2\nb 1 x\n", "line 2: the dimension '2' is 'x', which is not a number"),
    ("v.txt", "3 2\na 1 2\nb 1 2\n", "line 1 announces 3 vectors and 2 follow"),
    ("v.txt", "3 2", "line 1 announces 3 vectors and 0 follow"),
    ("v.txt", "\n \n", "holds no vectors"),
    ("v.parquet", {"node": ["a", "b"], "vector": [[1.0], None]}, "row 2: the dimension 0 is missing"),
    ("v.parquet", {"node": ["a", "b"], "x": [1.0, None]}, "row 2: the dimension 'x' is missing"),
    ("v.parquet", {"node": ["a"], "label": ["x"]}, r"needed is a column `vector` .* label \(string\)"),
    ("v.parquet", {"node": ["a"], "u": [[1.0]], "v": [[1.0]]}, r"several columns hold lists of numbers \(u, v\)"),
    ("v.parquet", {"node": pa.array([], pa.string()), "x": pa.array([], pa.float32())}, "holds no vectors"),
    ("v.npz", {"ids": ["a"], "data": [1.0]}, r"has shape \(1,\); vectors need two dimensions"),
    ("v.npz", {"ids": [1.5, 2.5], "data": EXPECTED}, "must be all strings or all integers, found 1.5"),
    ("v.npz", {"ids": [b"\xff", b"a"], "data": EXPECTED}, "`ids` is not UTF-8 text"),
    ("v.npz", {"ids_utf8": np.array([255], np.uint8), "ids_offsets": [0, 1], "data": [[1.0]]}, "not make text"),
    ("v.npz", {"data": ["a"], "shape": [1, 2], **SPARSE}, "is not a readable scipy file|values of type"),
    ("v.npz", {"data": [1.0], "shape": [1], **SPARSE}, "is not a readable scipy file|dimensions"),
    *(
        (name, content, f"{name}'.*( 'a' has (vectors already|several rows)|unique, 'a' occurs more than once)")
        for name, content in {
            "v.parquet": {"node": ["a", "a"], "vector": EXPECTED},
            "v.npz": {"ids": ["a", "a"], "data": EXPECTED},
            "v.csv": "a,0.5,1\na,2,3\n",
            "v.w2v.txt": "a 0.5 1\na 2 3\n",
        }.items()
    ),
    *(
        (name, content, f"{name}'.* (line [23]|row [12]).* is (missing|inf); vectors must be finite numbers")
        for value in ("nan", "inf", "1e39")
        for name, content in {
            "v.csv": f"node,x,y\na,1,2\n7,{value},1\n",
            "v.w2v.txt": f"2 2\na 1 2\n7 {value} 1\n",
            "v.parquet": {"node": ["a", "7"], "vector": [[1.0, 2.0], [float(value), 1.0]]},
            "v.npz": {"ids": ["a", "7"], "data": [[1.0, 2.0], [float(value), 1.0]]},
            "v.npy": [[1.0, 2.0], [float(value), 1.0]],
        }.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "sentence"), FAULTY, ids=lambda value: str(value)[:30])
def test_faulty_files(tmp_path: Path, name: str, content: Any, sentence: str) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(InputError, match=sentence):
        read_embedding(path)


@pytest.mark.parametrize("new", [b"(2, [   }", b"9**99,  }", b"(10**9,)}"])
def test_header_of_an_array_that_lies(tmp_path: Path, new: bytes) -> None:
    path = write(tmp_path / "v.npy", EXPECTED)
    whole = path.read_bytes()
    assert b"(2, 2), }" in whole
    with pytest.raises(InputError, match=r"is not a readable numpy file|more numbers than fit"):
        read_embedding(write(path, whole.replace(b"(2, 2), }", new)))
