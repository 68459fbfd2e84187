"""Embedding files: what is written comes back, what others wrote is read, what is broken is named."""

from __future__ import annotations

import gzip
import json
import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import unseen
from unseen.data import writers
from unseen.data.vectors import read_embedding
from unseen.data.write import check_vectors
from unseen.errors import InputError, UnsupportedError

WRITTEN = (".parquet", ".npz", ".w2v.txt", ".w2v.txt.gz", ".tsv")
TEXT = (".w2v.txt", ".w2v.txt.gz", ".tsv")
EXPECTED = [[0.5, 1.0], [2.0, -3.0]]


def random_embedding(n: int = 50, width: int = 7, ids: Any = None, **more: Any) -> unseen.Embedding:
    vectors = np.random.default_rng(0).standard_normal((n, width)).astype(np.float32)
    return unseen.Embedding(vectors, [f"n{k}" for k in range(n)] if ids is None else ids, **more)


def assert_same(read: unseen.Embedding, written: unseen.Embedding, *, text: bool = False) -> None:
    ids = written.node_ids
    assert read.node_ids.dtype == (object if text else ids.dtype)
    assert read.node_ids.tolist() == ([str(value) for value in ids] if text else ids.tolist())
    assert sp.issparse(read.vectors) == sp.issparse(written.vectors)
    if sp.issparse(read.vectors):
        assert (read.vectors != written.vectors).nnz == 0
    else:
        assert read.vectors.dtype == np.float32
        np.testing.assert_array_equal(read.vectors, written.vectors)


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("ids", [["007", "ü", "7", "NA"], [3, -1, 2**62, 0]], ids=["strings", "integers"])
def test_round_trip(tmp_path: Path, suffix: str, ids: list[Any]) -> None:
    written = unseen.Embedding(
        [[0.1, -0.0, 1e-38], [3.4028235e38, 1e-45, 1 / 3], [1, 16777216, 123456.79], [0, 0, 0]], node_ids=ids
    )
    written.save(tmp_path / f"v{suffix}")
    assert_same(unseen.read_embedding(tmp_path / f"v{suffix}"), written, text=suffix in TEXT)
    expected = [f"v{suffix}"] + (["v.metadata.tsv"] if suffix == ".tsv" else [])
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(expected)


@pytest.mark.parametrize("suffix", WRITTEN)
def test_blocks_do_not_show(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more rows than a block holds, the blocks join without a gap."""
    monkeypatch.setattr(writers, "_BLOCK_VALUES", 30)
    monkeypatch.setattr(writers, "_BLOCK_CELLS", 30)
    written = random_embedding()
    written.save(tmp_path / f"v{suffix}")
    if suffix == ".parquet":
        assert pq.ParquetFile(tmp_path / "v.parquet").num_row_groups == 13
    assert_same(unseen.read_embedding(tmp_path / f"v{suffix}"), written)


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
@pytest.mark.parametrize("block", [10, 2**22])
def test_sparse_stays_sparse(
    tmp_path: Path, suffix: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "_BLOCK_VALUES", block)
    matrix = sp.random_array(
        (40, 9), density=0.1, rng=np.random.default_rng(0), format="csr", dtype=np.float32
    )
    written = unseen.Embedding(matrix, [f"n{k}" for k in range(40)], "nodefeats")
    written.save(tmp_path / f"v{suffix}")
    read = unseen.read_embedding(tmp_path / f"v{suffix}")
    assert_same(read, written)
    assert read.method == "nodefeats"
    if suffix == ".npz":
        assert (sp.load_npz(tmp_path / "v.npz") != matrix).nnz == 0


def test_parquet_schema_and_metadata(tmp_path: Path) -> None:
    params = {"random_state": np.int64(7), "alpha": 0.5, "name": None, "object": {1, 2}.__class__}
    random_embedding(3, 2, method="rect", params=params).save(tmp_path / "v.parquet")
    schema = pq.read_schema(tmp_path / "v.parquet")
    assert schema.names == ["node", "vector"]
    assert schema.field("vector").type == pa.list_(pa.float32(), 2)
    stored = {key.decode(): json.loads(value) for key, value in schema.metadata.items()}
    assert stored["unseen.method"] == "rect"
    assert stored["unseen.seed"] == 7
    assert stored["unseen.version"] == unseen.__version__
    assert stored["unseen.params"]["alpha"] == 0.5
    read = unseen.read_embedding(tmp_path / "v.parquet")
    assert read.method == "rect"
    assert dict(read.params) == {"random_state": 7, "alpha": 0.5, "name": None, "object": "<class 'set'>"}


def test_projector_pair_is_what_the_projector_reads(tmp_path: Path) -> None:
    unseen.Embedding([[0.5, 1], [2, -1e-9]], ["a b", '"x"']).save(tmp_path / "v.tsv")
    assert (tmp_path / "v.tsv").read_text() == "0.5\t1\n2\t-1e-9\n"
    assert (tmp_path / "v.metadata.tsv").read_text() == 'a b\n"x"\n'


def test_word2vec_is_what_gensim_reads(tmp_path: Path) -> None:
    unseen.Embedding([[0.5, 1], [2, -1e-9]], ["a", "ü"]).save(tmp_path / "v.w2v.txt")
    assert (tmp_path / "v.w2v.txt").read_text(encoding="utf-8") == "2 2\na 0.5 1\nü 2 -1e-9\n"


def test_same_vectors_same_bytes(tmp_path: Path) -> None:
    for suffix in WRITTEN:
        random_embedding().save(tmp_path / f"a{suffix}")
        random_embedding().save(tmp_path / f"b{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_longest_ids_survive(tmp_path: Path, suffix: str) -> None:
    written = unseen.Embedding([[1.0], [2.0], [3.0]], ["x" * 1_000_000, "a\0", "b"])
    written.save(tmp_path / f"v{suffix}")
    assert_same(unseen.read_embedding(tmp_path / f"v{suffix}"), written)


@pytest.mark.parametrize(
    ("suffix", "value", "sentence"),
    [
        (
            ".w2v.txt",
            "a b",
            r"word2vec text cannot hold the id 'a b', which has a blank; save as \.parquet, \.npz or \.tsv",
        ),
        (".w2v.txt.gz", "a\u00a0b", "which has a blank"),
        (".w2v.txt", "\ufeffa", "which has a byte order mark at its start"),
        (".w2v.txt", "", "one node has an empty id, which no reader takes; give it a name"),
        (
            ".tsv",
            "a\tb",
            r"a projector file cannot hold the id 'a\\tb', which has a tab or a line break; save as \.parquet",
        ),
        (".tsv", "a\nb", "which has a tab or a line break"),
        (".parquet", "\ud800", "is not valid Unicode text, so no file can hold it; change the id"),
        (".npz", "\ud800", "is not valid Unicode text"),
    ],
)
def test_ids_a_format_cannot_hold(tmp_path: Path, suffix: str, value: str, sentence: str) -> None:
    with pytest.raises(UnsupportedError, match=sentence):
        unseen.Embedding([[1.0], [2.0]], ["ok", value]).save(tmp_path / f"v{suffix}")
    with pytest.raises(UnsupportedError, match=sentence):
        check_vectors(tmp_path / f"v{suffix}", np.array(["ok", value], dtype=object))
    assert not list(tmp_path.iterdir())


def test_huge_sparse_parquet_is_refused(tmp_path: Path) -> None:
    huge = unseen.Embedding(sp.csr_array((100_000, 100_000), dtype=np.float32))
    with pytest.raises(
        UnsupportedError, match=r"too many for Parquet, which writes zeros too; save as \.npz instead"
    ):
        huge.save(tmp_path / "v.parquet")
    huge.save(tmp_path / "v.npz")
    assert unseen.read_embedding(tmp_path / "v.npz").vectors.shape == (100_000, 100_000)


def test_what_is_not_written(tmp_path: Path) -> None:
    sparse = unseen.Embedding(sp.eye_array(3, format="csr"))
    for suffix in TEXT:
        with pytest.raises(
            UnsupportedError, match=r"text cannot hold sparse vectors \(3 x 3\); save as \.npz"
        ):
            sparse.save(tmp_path / f"v{suffix}")
    for name in ("v.pkl", "v", "v.mat"):
        with pytest.raises(
            InputError, match=r"vectors are not written with the suffix .*; use one of \.csv, .*"
        ):
            random_embedding().save(tmp_path / name)
    with pytest.raises(InputError, match=r"word2vec text: v\.w2v\.txt"):
        random_embedding().save(tmp_path / "v.txt")
    for shape in ((0, 3), (3, 0)):
        with pytest.raises(InputError, match="so there is nothing to write"):
            unseen.Embedding(np.zeros(shape)).save(tmp_path / "v.parquet")
    assert not list(tmp_path.iterdir())


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
def test_foreign_text(tmp_path: Path, name: str, text: str, ids: list[str]) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert_foreign(tmp_path / name, ids)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert_foreign(tmp_path / f"{name}.gz", ids)


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


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "v.sav").write_bytes(b"x")
    for name, sentence in {
        "none.parquet": r"there is no file '.*none\.parquet'; check the path",
        "folder.parquet": r"folder\.parquet' is a folder without Parquet or csv files; .* needs a file",
        "v.sav": r"'\.sav', which `vectors` cannot be read from; .*known are \.csv, .*\.parquet",
    }.items():
        with pytest.raises(InputError, match=sentence):
            read_embedding(tmp_path / name)
    for suffix in (*WRITTEN, ".npy", ".csv", ".csv.gz"):
        (tmp_path / f"v{suffix}").write_bytes(b"")
        with pytest.raises(InputError, match=r"is empty|holds no vectors|is not a readable"):
            read_embedding(tmp_path / f"v{suffix}")
        (tmp_path / f"v{suffix}").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe1 2 3")
        with pytest.raises(InputError, match=r"is not a (readable|text|gzip)|is not UTF-8 text"):
            read_embedding(tmp_path / f"v{suffix}")


def test_pairs_that_do_not_belong_together(tmp_path: Path) -> None:
    random_embedding().save(tmp_path / "v.tsv")
    (tmp_path / "v.metadata.tsv").write_text("n0\nn1\n")
    with pytest.raises(InputError, match=r"2 ids for 50 vectors of .*; the two files do not belong together"):
        read_embedding(tmp_path / "v.tsv")
    (tmp_path / "v.metadata.tsv").unlink()
    with pytest.raises(InputError, match="the first column must hold ids, not fractions such as"):
        read_embedding(tmp_path / "v.tsv")


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".w2v.txt", ".w2v.txt.gz"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 0.99])
def test_truncated(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"v{suffix}"
    random_embedding().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=r"is not a readable|cut.off|line \d+ has \d+ columns? but"):
        read_embedding(path)


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", ids=np.array(["a", "b"], dtype=object), data=np.array(EXPECTED))
    with pytest.raises(
        InputError, match=r"pickled Python objects, which are never loaded because they can run any program"
    ):
        read_embedding(tmp_path / "v.npz")
    (tmp_path / "p.npz").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(InputError, match="pickled Python objects"):
        read_embedding(tmp_path / "p.npz")
    np.save(tmp_path / "v.npy", np.array([[1, None]], dtype=object))
    with pytest.raises(InputError, match="pickled Python objects"):
        read_embedding(tmp_path / "v.npy")


@pytest.mark.parametrize("value", ["nan", "inf", "1e39"])
@pytest.mark.parametrize("suffix", [".csv", ".w2v.txt", ".parquet", ".npz", ".npy"])
def test_not_finite(tmp_path: Path, suffix: str, value: str) -> None:
    path, matrix = tmp_path / f"v{suffix}", np.array([[1.0, 2.0], [float(value), 1.0]])
    if suffix == ".csv":
        path.write_text(f"node,x,y\na,1,2\n7,{value},1\n")
    elif suffix == ".w2v.txt":
        path.write_text(f"2 2\na 1 2\n7 {value} 1\n")
    elif suffix == ".parquet":
        pq.write_table(pa.table({"node": ["a", "7"], "vector": matrix.tolist()}), path)
    elif suffix == ".npz":
        np.savez(path, ids=["a", "7"], data=matrix)
    else:
        np.save(path, matrix)
    with pytest.raises(
        InputError,
        match=rf"v{suffix}'.* (line [23]|row [12]).* is (missing|inf); vectors must be finite numbers that fit",
    ):
        read_embedding(path)


@pytest.mark.parametrize("suffix", [".csv", ".w2v.txt", ".parquet", ".npz", ".tsv"])
def test_duplicated_ids(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"v{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.table({"node": ["a", "a"], "vector": EXPECTED}), path)
    elif suffix == ".npz":
        np.savez(path, ids=["a", "a"], data=EXPECTED)
    else:
        separator = {".csv": ",", ".w2v.txt": " ", ".tsv": "\t"}[suffix]
        path.write_text(f"a {EXPECTED[0][0]} 1\na 2 3\n".replace(" ", separator))
    with pytest.raises(
        InputError,
        match=rf"v{suffix}'.*( 'a' has (vectors already|several rows)|unique, 'a' occurs more than once)",
    ):
        read_embedding(path)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("v.csv", "node,x,y\na,1,2\nb,1\n", r"v\.csv', line 3 has 2 columns but the header has 3"),
        ("v.csv", "node,x,y\na,1,2\n\nb,1,2,3\n", "line 4 has 4 columns but the header has 3"),
        ("v.csv", "node,x,y\na,1,2\nb,1,two\n", "line 3: the dimension 'y' is 'two', which is not a number"),
        ("v.csv", "node,x,y\na,1,\n", "line 2: the dimension 'y' is missing"),
        ("v.csv", "node\na\n", "has no column beside the node ids; vectors need at least one"),
        ("v.csv", "node,x,y\n", "holds no vectors"),
        ("v.tsv", "a\nb\n", "vectors need at least one"),
        ("v.txt", "2 3\na 1 2 3\nb 1 2\n", "line 3 has 3 columns but the first line has 4"),
        ("v.txt", "a 1 2\nb 1\n", "line 2 has 2 columns but the first line has 3"),
        ("v.txt", "a 1 2\nb 1 x\n", "line 2: the dimension '2' is 'x', which is not a number"),
        ("v.txt", "3 2\na 1 2\nb 1 2\n", "line 1 announces 3 vectors and 2 follow"),
        ("v.txt", "3 2\n", "line 1 announces 3 vectors and 0 follow"),
        ("v.txt", "3 2", "line 1 announces 3 vectors and 0 follow"),
        ("v.txt", "\n \n", "holds no vectors"),
        ("v.txt", "a\nb\n", "vectors need at least one"),
    ],
)
def test_faulty_text(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_embedding(tmp_path / name)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"node": ["a", "b"], "vector": [[1.0], [1.0, 2.0]]},
            "row 2 has 2 numbers where the first row has 1",
        ),
        (
            {"node": ["a", "b"], "vector": [[1.0], None]},
            "row 2: the dimension 0 is missing",
        ),
        ({"node": ["a", "b"], "vector": [[1.0], [None]]}, "row 2: the dimension 0 is missing"),
        ({"node": ["a", None], "vector": [[1.0], [1.0]]}, "row 2: the id of `node` is empty"),
        ({"node": ["a", "b"], "x": [1.0, None]}, "row 2: the dimension 'x' is missing"),
        (
            {"node": ["a", "b"], "label": ["x", "y"]},
            r"needed is a column `vector` .* found node \(string\), label \(string\)",
        ),
        ({"node": ["a"], "u": [[1.0]], "v": [[1.0]]}, r"several columns hold lists of numbers \(u, v\)"),
        (
            {"node": pa.array([], pa.string()), "vector": pa.array([], pa.list_(pa.float32()))},
            "holds no vectors",
        ),
    ],
)
def test_faulty_parquet(tmp_path: Path, columns: dict[str, Any], sentence: str) -> None:
    pq.write_table(pa.table(columns), tmp_path / "v.parquet")
    with pytest.raises(InputError, match=sentence):
        read_embedding(tmp_path / "v.parquet")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"ids": ["a"], "data": EXPECTED}, r"has ids of shape \(1,\) for 2 rows"),
        (
            {"ids": ["a"], "data": [1.0]},
            r"has shape \(1,\); vectors need two dimensions",
        ),
        ({"ids": [1.5, 2.5], "data": EXPECTED}, "must be all strings or all integers, found 1.5"),
        ({"ids": [b"\xff", b"a"], "data": EXPECTED}, "`ids` is not UTF-8 text"),
        ({"ids_utf8": np.array([255], np.uint8), "ids_offsets": [0, 1], "data": [[1.0]]}, "do not make text"),
        (
            {"data": [1.0], "indices": [5], "indptr": [0, 1], "shape": [1, 2]},
            "is not a readable scipy file|values of type|dimensions",
        ),
        (
            {"data": ["a"], "indices": [0], "indptr": [0, 1], "shape": [1, 2]},
            "is not a readable scipy file|values of type|dimensions",
        ),
        (
            {"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1]},
            "is not a readable scipy file|values of type|dimensions",
        ),
    ],
)
def test_faulty_npz(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    np.savez(tmp_path / "v.npz", **{key: np.array(value) for key, value in arrays.items()})
    with pytest.raises(InputError, match=sentence):
        read_embedding(tmp_path / "v.npz")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b"(2, 2), }", b"(2, [   }", "is not a readable numpy file"),
        (b"(2, 2), }", b"9**99,  }", "is not a readable numpy file"),
        (b"(2, 2), }   ", b"(1" + b"0" * 7 + b",)}", "is not a readable numpy file|more numbers than fit"),
    ],
)
def test_header_of_an_array_that_lies(tmp_path: Path, old: bytes, new: bytes, sentence: str) -> None:
    np.save(tmp_path / "v.npy", np.array(EXPECTED))
    whole = (tmp_path / "v.npy").read_bytes()
    assert old in whole
    (tmp_path / "v.npy").write_bytes(whole.replace(old, new))
    with pytest.raises(InputError, match=sentence):
        read_embedding(tmp_path / "v.npy")
