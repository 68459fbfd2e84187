"""Embedding files of other tools are read, whatever they call things."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from unseen.data.vectors import read_embedding

EXPECTED = [[0.5, 1.0], [2.0, -3.0]]


def assert_foreign(path: Path, ids: list[Any]) -> None:
    read = read_embedding(path)
    assert read.node_ids.tolist() == ids
    assert read.vectors.tolist() == EXPECTED


@pytest.mark.parametrize(
    ("columns", "ids"),
    [
        ({"id": ["a", "b"], "vector": EXPECTED}, ["a", "b"]),
        ({"emb": EXPECTED, "node_id": [7, 3]}, [7, 3]),
        ({"id": pa.array([7, 3], pa.uint16()), "0": [0.5, 2.0], "1": [1.0, -3.0]}, [7, 3]),
        ({"package": ["a", "b"], "x": [0.5, 2.0], "y": [1, -3]}, ["a", "b"]),
        (
            {
                "id": pa.array(["a", "b"]).dictionary_encode(),
                "vector": pa.array(EXPECTED, pa.list_(pa.float64(), 2)),
            },
            ["a", "b"],
        ),
        ({"node": ["a", "b"], "vector": EXPECTED, "label": ["x", "y"]}, ["a", "b"]),
        ({"x": [0.5, 2.0], "y": [1.0, -3.0]}, [0, 1]),
    ],
    ids=["list", "other names", "columns", "text column", "dictionary", "extra column", "no ids"],
)
def test_foreign_parquet(tmp_path: Path, columns: dict[str, Any], ids: list[Any]) -> None:
    pq.write_table(pa.table(columns), tmp_path / "v.parquet")
    assert_foreign(tmp_path / "v.parquet", ids)


def test_parquet_of_pandas_with_an_index(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(EXPECTED, index=["a", "b"], columns=["x", "y"]).to_parquet(tmp_path / "v.parquet")
    assert_foreign(tmp_path / "v.parquet", ["a", "b"])


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("v.csv", "node,x,y\n007,0.5,1\nb,2,-3\n", ["007", "b"]),
        ("v.csv", "node;x;y\n007;0.5;1\nb;2;-3\n", ["007", "b"]),
        ("v.csv", "a, x;0.5;1\nb;2;-3\n", ["a, x", "b"]),
        ("v.tsv", "node,x,y\n007,0.5,1\nb,2,-3\n", ["007", "b"]),
        ("v.csv", "x,y,id\n0.5,1,007\n2,-3,b\n", ["007", "b"]),
        ("v.csv", "vertex,word,name\na,0.5,1\nb,2,-3\n", ["a", "b"]),
        ("v.csv", "\ufeffnode,x,y\r\n007,0.5,1\r\nb,2,-3\r\n", ["007", "b"]),
        ("v.csv", ",x,y\n007,0.5,1\nb,2,-3\n", ["007", "b"]),
        ("v.csv", 'package,x,y\n"a,1",0.5,1\n"b ""c""",2,-3\n', ["a,1", 'b "c"']),
        ("v.csv", "007,0.5,1\n8,2,-3", ["007", "8"]),
        ("v.tsv", "id\tx\ty\na b\t0.5\t1\nb\t2\t-3\n", ["a b", "b"]),
        ("v.w2v.txt", "2 2\n007 0.5 1\nb 2 -3\n", ["007", "b"]),
        ("v.txt", "2 2\n007 0.5 1 \nb 2 -3 \n", ["007", "b"]),
        ("v.vec", "007 0.5 1\nb 2 -3\n", ["007", "b"]),
        ("v.emb", "2 2\r\n1 5e-1 1.0\r\n0 2 -3\r\n", ["1", "0"]),
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_foreign_text(tmp_path: Path, name: str, text: str, ids: list[str], packed: bool) -> None:
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert_foreign(path, ids)


@pytest.mark.parametrize("text", ["2 1\na 5\nb 6\n", "a 5\nb 6\n"])
def test_word2vec_with_one_number(tmp_path: Path, text: str) -> None:
    (tmp_path / "v.txt").write_text(text)
    read = read_embedding(tmp_path / "v.txt")
    assert read.node_ids.tolist() == ["a", "b"]
    assert read.vectors.tolist() == [[5], [6]]


@pytest.mark.parametrize(
    ("vectors", "metadata", "text"),
    [
        ("v.tsv", "v.metadata.tsv", "a\nb\n"),
        ("vectors.tsv", "metadata.tsv", "a\nb"),
        ("w_tensor.tsv", "w_metadata.tsv", "a\r\nb\r\n"),
        ("v.tsv", "v.metadata.tsv", "label\tid\nx\ta\ny\tb\n"),
        ("v.tsv", "v.metadata.tsv", "name\na\nb\n"),
    ],
)
def test_foreign_projector_pair(tmp_path: Path, vectors: str, metadata: str, text: str) -> None:
    (tmp_path / vectors).write_text("0.5\t1\n2\t-3\n")
    (tmp_path / metadata).write_bytes(text.encode())
    assert_foreign(tmp_path / vectors, ["a", "b"])


@pytest.mark.parametrize(
    ("arrays", "ids"),
    [
        ({"IDs": np.array(["a", "b"]), "data": np.array(EXPECTED)}, ["a", "b"]),
        ({"names": np.array([b"a", "ü".encode()]), "embeddings": np.array(EXPECTED)}, ["a", "ü"]),
        ({"whatever": np.array(EXPECTED)}, [0, 1]),
        ({"arr_0": np.array(EXPECTED), "arr_1": np.zeros((2, 2))}, [0, 1]),
    ],
)
def test_foreign_npz(tmp_path: Path, arrays: dict[str, Any], ids: list[Any]) -> None:
    np.savez(tmp_path / "v.npz", **arrays)
    assert_foreign(tmp_path / "v.npz", ids)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_scipy_npz(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    matrix = sp.random_array((5, 4), density=0.5, rng=np.random.default_rng(0), format=kind)
    sp.save_npz(tmp_path / "v.npz", matrix)
    with caplog.at_level(logging.WARNING, "unseen"):
        read = read_embedding(tmp_path / "v.npz")
    np.testing.assert_array_equal(read.vectors.toarray(), matrix.toarray().astype(np.float32))
    assert "the file has no ids; its rows are taken as the nodes 0 ... 4" in caplog.text


def test_npy(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array(EXPECTED))
    assert_foreign(tmp_path / "v.npy", [0, 1])
    (tmp_path / "v.npy").rename(tmp_path / "v.npz")
    assert_foreign(tmp_path / "v.npz", [0, 1])


def test_unreadable_metadata_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"node": ["a", "b"], "vector": EXPECTED})
    pq.write_table(table.replace_schema_metadata({"unseen.params": "{"}), tmp_path / "v.parquet")
    np.savez(tmp_path / "v.npz", ids=["a", "b"], data=EXPECTED, metadata="[")
    for name in ("v.parquet", "v.npz"):
        caplog.clear()
        assert_foreign(tmp_path / name, ["a", "b"])
        assert "cannot be read and are left out" in caplog.text
