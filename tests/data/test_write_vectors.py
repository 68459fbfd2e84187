"""Embedding files: what is written comes back, what others wrote is read, what is broken is named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

import unseen
from unseen.data import writers
from unseen.data.write import check_vectors, write_part
from unseen.errors import InputError, UnsupportedError

WRITTEN = (".parquet", ".npz", ".w2v.txt", ".w2v.txt.gz", ".tsv")
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
    read = unseen.read_embedding(tmp_path / "v.parquet")
    assert read.method == "rect"
    assert dict(read.params) == {"random_state": 7, "alpha": 0.5, "name": None, "object": "<class 'set'>"}


def test_npz_metadata(tmp_path: Path) -> None:
    random_embedding(3, 2, method="line", params={"random_state": 1}).save(tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz", allow_pickle=False) as file:
        assert sorted(file.files) == ["data", "ids", "metadata"]
        assert json.loads(str(file["metadata"]))["seed"] == 1
    assert unseen.read_embedding(tmp_path / "v.npz").method == "line"


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
    assert unseen.read_embedding(tmp_path / "v.npz").vectors.shape == (100_000, 100_000)


@pytest.mark.parametrize("name", ["v.pkl", "v", "v.mat"])
def test_unknown_suffix_lists_the_known(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        InputError, match=r"vectors are not written with the suffix .*; use one of \.csv, .*\.w2v\.txt, "
    ):
        random_embedding().save(tmp_path / name)


def test_txt_hints_at_word2vec(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"word2vec text: v\.w2v\.txt"):
        random_embedding().save(tmp_path / "v.txt")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_to_write(tmp_path: Path, shape: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="so there is nothing to write"):
        unseen.Embedding(np.zeros(shape)).save(tmp_path / "v.parquet")


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
    assert_same(unseen.read_embedding(tmp_path / f"v{suffix}"), old)


def test_write_embedding_is_what_save_calls(tmp_path: Path) -> None:
    write_part(random_embedding(), "vectors", str(tmp_path / "V.PARQUET"))
    assert unseen.read_embedding(str(tmp_path / "V.PARQUET")).vectors.shape == (50, 7)
