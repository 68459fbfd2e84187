"""Embedding files: what is written comes back, what others wrote is read, what is broken is named."""

from __future__ import annotations

import gzip
import json
import logging
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import unseen
from unseen.errors import InputError, OutputError, UnsupportedError
from unseen.io import embeddings_npz, embeddings_parquet, embeddings_text
from unseen.io.embeddings import WRITTEN, check_writable, read_embedding, write_embedding

TEXT = (".w2v.txt", ".w2v.txt.gz", ".tsv")
floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


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


# --- there and back -------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("ids", [["007", "ü", "7", "NA"], [3, -1, 2**62, 0]], ids=["strings", "integers"])
def test_round_trip(tmp_path: Path, suffix: str, ids: list[Any]) -> None:
    written = unseen.Embedding(
        [[0.1, -0.0, 1e-38], [3.4028235e38, 1e-45, 1 / 3], [1, 16777216, 123456.79], [0, 0, 0]], node_ids=ids
    )
    written.save(tmp_path / f"v{suffix}")
    assert_same(read_embedding(tmp_path / f"v{suffix}"), written, text=suffix in TEXT)
    expected = [f"v{suffix}"] + (["v.metadata.tsv"] if suffix == ".tsv" else [])
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(expected)


@pytest.mark.parametrize("suffix", WRITTEN)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_embedding_round_trips_or_is_refused(suffix: str, data: st.DataObject) -> None:
    text = st.text(max_size=8) | st.sampled_from(
        ["a b", "a\0", "\ufeffa", '"', "a,b", "NaN", "#a", "\u2028", "\t", "x\r"]
    )
    ids = data.draw(
        st.lists(text, min_size=1, max_size=6, unique=True)
        | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6, unique=True)
    )
    width = data.draw(st.integers(1, 4))
    vectors = data.draw(
        st.lists(st.lists(floats, min_size=width, max_size=width), min_size=len(ids), max_size=len(ids))
    )
    written = unseen.Embedding(vectors, ids)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"v{suffix}"
        try:
            written.save(path)
        except UnsupportedError:
            with pytest.raises(UnsupportedError, match=r"save as \.parquet"):
                check_writable(path, written.node_ids)
            assert suffix in TEXT
            assert not list(Path(folder).iterdir())
            return
        assert_same(read_embedding(path), written, text=suffix in TEXT)


@pytest.mark.parametrize("suffix", WRITTEN)
def test_blocks_do_not_show(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more rows than a block holds, the blocks join without a gap."""
    monkeypatch.setattr(embeddings_parquet, "BLOCK_VALUES", 30)
    monkeypatch.setattr(embeddings_text, "BLOCK_VALUES", 30)
    written = random_embedding()
    written.save(tmp_path / f"v{suffix}")
    if suffix == ".parquet":
        assert pq.ParquetFile(tmp_path / "v.parquet").num_row_groups == 13
    assert_same(read_embedding(tmp_path / f"v{suffix}"), written)


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
@pytest.mark.parametrize("block", [10, 2**22])
def test_sparse_stays_sparse(
    tmp_path: Path, suffix: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings_parquet, "BLOCK_VALUES", block)
    matrix = sp.random_array(
        (40, 9), density=0.1, rng=np.random.default_rng(0), format="csr", dtype=np.float32
    )
    written = unseen.Embedding(matrix, [f"n{k}" for k in range(40)], "nodefeats")
    written.save(tmp_path / f"v{suffix}")
    read = read_embedding(tmp_path / f"v{suffix}")
    assert_same(read, written)
    assert read.method == "nodefeats"


def test_sparse_npz_is_scipys(tmp_path: Path) -> None:
    matrix = sp.csr_array([[0, 1.5], [0, 0]])
    unseen.Embedding(matrix, ["a", "b"]).save(tmp_path / "v.npz")
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
    read = read_embedding(tmp_path / "v.parquet")
    assert read.method == "rect"
    assert dict(read.params) == {"random_state": 7, "alpha": 0.5, "name": None, "object": "<class 'set'>"}


def test_npz_metadata(tmp_path: Path) -> None:
    random_embedding(3, 2, method="line", params={"random_state": 1}).save(tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz", allow_pickle=False) as file:
        assert sorted(file.files) == ["data", "ids", "metadata"]
        assert json.loads(str(file["metadata"]))["seed"] == 1
    assert read_embedding(tmp_path / "v.npz").method == "line"


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
    written = unseen.Embedding([[1.0], [2.0], [3.0]], ["x" * 1_000_000, "a\0", ""])
    written.save(tmp_path / f"v{suffix}")
    assert_same(read_embedding(tmp_path / f"v{suffix}"), written)


# --- what cannot be written -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "value", "sentence"),
    [
        (
            ".w2v.txt",
            "a b",
            r"word2vec text cannot hold the id 'a b', which has a blank; save as \.parquet, \.npz or \.tsv",
        ),
        (".w2v.txt.gz", "a\u00a0b", "which has a blank"),
        (".w2v.txt", "", r"cannot hold an empty id; save as \.parquet or \.npz"),
        (
            ".tsv",
            "a\tb",
            r"a projector file cannot hold the id 'a\\tb', which has a tab or a line break; save as \.parquet",
        ),
        (".tsv", "a\nb", "which has a tab or a line break"),
        (".tsv", "", "cannot hold an empty id"),
        (".parquet", "\ud800", "is not valid Unicode text, so no file can hold it; change the id"),
        (".npz", "\ud800", "is not valid Unicode text"),
    ],
)
def test_ids_a_format_cannot_hold(tmp_path: Path, suffix: str, value: str, sentence: str) -> None:
    with pytest.raises(UnsupportedError, match=sentence):
        unseen.Embedding([[1.0], [2.0]], ["ok", value]).save(tmp_path / f"v{suffix}")
    with pytest.raises(UnsupportedError, match=sentence):
        check_writable(tmp_path / f"v{suffix}", np.array(["ok", value], dtype=object))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", TEXT)
def test_sparse_text_is_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(UnsupportedError, match=r"text cannot hold sparse vectors \(3 x 3\); save as \.npz"):
        unseen.Embedding(sp.eye_array(3, format="csr")).save(tmp_path / f"v{suffix}")


def test_huge_sparse_parquet_is_refused(tmp_path: Path) -> None:
    huge = unseen.Embedding(sp.csr_array((100_000, 100_000), dtype=np.float32))
    with pytest.raises(
        UnsupportedError, match=r"too many for Parquet, which writes zeros too; save as \.npz instead"
    ):
        huge.save(tmp_path / "v.parquet")
    huge.save(tmp_path / "v.npz")
    assert read_embedding(tmp_path / "v.npz").vectors.shape == (100_000, 100_000)


@pytest.mark.parametrize("name", ["v.pkl", "v", "v.csv"])
def test_unknown_suffix_lists_the_known(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        InputError, match=r"use one of the suffixes \.parquet, \.npz, \.w2v\.txt, \.w2v\.txt\.gz, \.tsv"
    ):
        random_embedding().save(tmp_path / name)
    with pytest.raises(InputError, match="use one of the suffixes"):
        check_writable(tmp_path / name)


def test_txt_hints_at_word2vec(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"word2vec text: v\.w2v\.txt"):
        random_embedding().save(tmp_path / "v.txt")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_to_write(tmp_path: Path, shape: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="so there is nothing to write"):
        unseen.Embedding(np.zeros(shape)).save(tmp_path / "v.parquet")


def test_missing_folder_is_found_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="does not exist; create it first"):
        check_writable(tmp_path / "none" / "v.parquet")


@pytest.mark.parametrize("suffix", WRITTEN)
def test_interrupt_leaves_the_old_file(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = random_embedding(3)
    old.save(tmp_path / f"v{suffix}")
    before = sorted(file.name for file in tmp_path.iterdir())

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        random_embedding(5).save(tmp_path / f"v{suffix}")
    assert sorted(file.name for file in tmp_path.iterdir()) == before
    assert_same(read_embedding(tmp_path / f"v{suffix}"), old)


# --- other tools' files ---------------------------------------------------------------------------------

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
        ("v.csv", "\ufeffnode,x,y\r\n007,0.5,1\r\nb,2,-3\r\n", ["007", "b"]),
        ("v.csv", ",x,y\n007,0.5,1\nb,2,-3\n", ["007", "b"]),
        ("v.csv", "x,y,id\n0.5,1,007\n2,-3,b\n", ["007", "b"]),
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


# --- broken files ---------------------------------------------------------------------------------------


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file; check the name"):
        unseen.read_embedding(tmp_path / "none.parquet")


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "v.parquet").mkdir()
    with pytest.raises(InputError, match="this is a folder; name an embedding file in it"):
        read_embedding(tmp_path / "v.parquet")


def test_unknown_suffix_on_reading(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"names no known format of vectors; known are \.parquet, \.pq, \.npz"
    ):
        read_embedding(tmp_path / "v.pkl")


SUFFIXES = (".parquet", ".npz", ".npy", ".w2v.txt", ".w2v.txt.gz", ".tsv", ".csv", ".csv.gz")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_file(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"v{suffix}").write_bytes(b"")
    with pytest.raises(InputError, match="the file is empty"):
        read_embedding(tmp_path / f"v{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_foreign_bytes(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"v{suffix}").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe1 2 3")
    with pytest.raises(InputError, match=r"this is not a whole|this is not UTF-8 text"):
        read_embedding(tmp_path / f"v{suffix}")


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".w2v.txt", ".w2v.txt.gz"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 0.99])
def test_truncated(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"v{suffix}"
    random_embedding().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=r"this is not a whole|cut off|line \d+: \d+ columns where"):
        read_embedding(path)


def test_truncated_pair(tmp_path: Path) -> None:
    random_embedding().save(tmp_path / "v.tsv")
    (tmp_path / "v.metadata.tsv").write_text("n0\nn1\n")
    with pytest.raises(InputError, match="2 ids for 50 vectors; the two files do not belong together"):
        read_embedding(tmp_path / "v.tsv")
    (tmp_path / "v.metadata.tsv").unlink()
    with pytest.raises(InputError, match="the first column must hold ids, not fractions such as"):
        read_embedding(tmp_path / "v.tsv")


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", ids=np.array(["a", "b"], dtype=object), data=np.array(EXPECTED))
    with pytest.raises(
        InputError, match=r"pickled objects, which are never loaded because they can run code"
    ):
        read_embedding(tmp_path / "v.npz")
    (tmp_path / "p.npz").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(InputError, match="pickled objects"):
        read_embedding(tmp_path / "p.npz")
    np.save(tmp_path / "v.npy", np.array([[1, None]], dtype=object))
    with pytest.raises(InputError, match="pickled objects"):
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
        InputError, match=rf"v{suffix}: the vector of node '?[71]'? \(row 2\) holds NaN, infinity"
    ):
        read_embedding(path)


def test_not_finite_sparse(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "v.npz", sp.csr_array([[0.0, 0.0], [0.0, np.inf]]))
    with pytest.raises(InputError, match=r"the vector of node 1 .* holds NaN"):
        read_embedding(tmp_path / "v.npz")


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
    with pytest.raises(InputError, match=rf"v{suffix}: node ids must be unique, 'a' occurs more than once"):
        read_embedding(path)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("v.csv", "node,x,y\na,1,2\nb,1\n", r"v\.csv, line 3: 2 columns where every line must have 3"),
        ("v.csv", "node,x,y\na,1,2\n\nb,1,2,3\n", "line 4: 4 columns where"),
        ("v.csv", "node,x,y\na,1,2\nb,1,two\n", "line 3: 'two' in column 'y' is not a number"),
        ("v.csv", "node,x,y\na,1,\n", "line 2: '' in column 'y' is not a number"),
        ("v.csv", "node\na\n", "line 1 has one column; needed are an id and numbers, separated by commas"),
        ("v.csv", "node,x,y\n", "the file holds no vectors"),
        ("v.tsv", "a,1,2\n", "separated by tabs"),
        ("v.txt", "2 3\na 1 2 3\nb 1 2\n", "line 3: 3 columns where every line must have 4"),
        ("v.txt", "a 1 2\nb 1\n", "line 2: 2 columns where every line must have 3"),
        ("v.txt", "a 1 2\nb 1 x\n", "line 2: 'x' in column 'number 2' is not a number"),
        ("v.txt", "3 2\na 1 2\nb 1 2\n", "line 1 announces 3 vectors and 2 follow"),
        ("v.txt", "3 2\n", "line 1 announces 3 vectors and none follow"),
        ("v.txt", "\n \n", "the file holds no vectors"),
        ("v.txt", "a\nb\n", "the file holds no vectors"),
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
            "the vector of node 'b' has 2 numbers, those before it have 1",
        ),
        (
            {"node": ["a", "b"], "vector": [[1.0], None]},
            r"node 'b' \(row 2\) has an empty vector or an empty number",
        ),
        ({"node": ["a", "b"], "vector": [[1.0], [None]]}, "a vector has an empty number"),
        ({"node": ["a", None], "vector": [[1.0], [1.0]]}, "`node` has an empty id in row 2"),
        ({"node": ["a", "b"], "x": [1.0, None]}, "has an empty vector or an empty number"),
        (
            {"node": ["a", "b"], "label": ["x", "y"]},
            r"needed is a column `vector` .* found node \(string\), label \(string\)",
        ),
        ({"node": ["a"], "u": [[1.0]], "v": [[1.0]]}, r"several columns hold lists of numbers \(u, v\)"),
        (
            {"node": pa.array([], pa.string()), "vector": pa.array([], pa.list_(pa.float32()))},
            "the file holds no vectors",
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
        ({"ids": ["a"], "data": EXPECTED}, "there are 1 ids but 2 vectors"),
        (
            {"ids": ["a"], "data": [1.0]},
            r"no array `data` with two dimensions .* found ids \(1,\), data \(1,\)",
        ),
        ({"ids": [1.5, 2.5], "data": EXPECTED}, "`ids` must be all strings or all integers, found 1.5"),
        ({"ids": [b"\xff", b"a"], "data": EXPECTED}, "`ids` is not UTF-8 text"),
        ({"ids_utf8": np.array([255], np.uint8), "ids_offsets": [0, 1], "data": [[1.0]]}, "do not make ids"),
        (
            {"data": [1.0], "indices": [5], "indptr": [0, 1], "shape": [1, 2]},
            "do not make a CSR or CSC matrix",
        ),
        (
            {"data": ["a"], "indices": [0], "indptr": [0, 1], "shape": [1, 2]},
            "do not make a CSR or CSC matrix",
        ),
        ({"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1]}, "do not make a CSR or CSC matrix"),
    ],
)
def test_faulty_npz(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    np.savez(tmp_path / "v.npz", **{key: np.array(value) for key, value in arrays.items()})
    with pytest.raises(InputError, match=sentence):
        read_embedding(tmp_path / "v.npz")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b"(2, 2), }", b"(2, [   }", "this is not a whole numpy file"),
        (b"(2, 2), }", b"9**99,  }", "this is not a whole numpy file"),
        (b"(2, 2), }   ", b"(1" + b"0" * 7 + b",)}", "this is not a whole numpy file|more numbers than fit"),
    ],
)
def test_header_of_an_array_that_lies(tmp_path: Path, old: bytes, new: bytes, sentence: str) -> None:
    np.save(tmp_path / "v.npy", np.array(EXPECTED))
    whole = (tmp_path / "v.npy").read_bytes()
    assert old in whole
    (tmp_path / "v.npy").write_bytes(whole.replace(old, new))
    with pytest.raises(InputError, match=sentence):
        read_embedding(tmp_path / "v.npy")


def test_more_numbers_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "v.npy", np.array(EXPECTED))

    def no_memory(*args: object, **kwargs: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "load", no_memory)
    with pytest.raises(InputError, match="announces more numbers than fit into memory"):
        read_embedding(tmp_path / "v.npy")


def test_npz_under_the_name_npy(tmp_path: Path) -> None:
    random_embedding().save(tmp_path / "v.npz")
    (tmp_path / "v.npz").rename(tmp_path / "v.npy")
    with pytest.raises(InputError, match=r"this is an \.npz archive under the name \.npy; rename it"):
        read_embedding(tmp_path / "v.npy")


def assert_sentence_or_vectors(path: Path) -> None:
    message = ""
    try:
        assert np.isfinite(np.asarray(read_embedding(path).vectors.data)).all()
    except InputError as error:
        message = str(error)
    assert not message or (path.name in message and "\n" not in message)


def mutated(whole: bytes, data: st.DataObject) -> bytes:
    cut = data.draw(st.integers(0, len(whole)))
    place = data.draw(st.integers(0, len(whole)))
    return (
        whole[:place]
        + data.draw(st.binary(max_size=12))
        + whole[data.draw(st.integers(place, len(whole))) : cut]
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_malformed_files_give_sentences(suffix: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"v{suffix}"
        written = random_embedding(6, 3, method="line", params={"a": 1})
        if suffix == ".npy":
            np.save(path, written.vectors)
        elif suffix.startswith(".csv"):
            text = "node,a,b\n" + "\n".join(f"n{k},{k}.5,1e-3" for k in range(6))
            path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
        else:
            written.save(path)
        path.write_bytes(mutated(path.read_bytes(), data))
        assert_sentence_or_vectors(path)


@settings(max_examples=80, deadline=None)
@given(
    text=st.text(alphabet='ab1 .,\t\n\r"e-', max_size=40),
    suffix=st.sampled_from([".csv", ".tsv", ".txt", ".csv.gz"]),
)
@example(text='"', suffix=".csv")
def test_malformed_text_gives_sentences(text: str, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"v{suffix}"
        path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
        assert_sentence_or_vectors(path)


def test_ids_array_helper_refuses_nothing_it_wrote() -> None:
    ids = np.array(["", "a"], dtype=object)
    arrays = embeddings_npz.ids_to_arrays(ids)
    assert embeddings_npz.ids_from_arrays(arrays, Path("v.npz")).tolist() == ["", "a"]


def test_write_embedding_is_what_save_calls(tmp_path: Path) -> None:
    write_embedding(random_embedding(), str(tmp_path / "V.PARQUET"))
    assert read_embedding(str(tmp_path / "V.PARQUET")).vectors.shape == (50, 7)
