"""Broken embedding files get one sentence that names what is wrong and where."""

from __future__ import annotations

import gzip
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
from unseen.data.vectors import read_embedding
from unseen.errors import InputError

EXPECTED = [[0.5, 1.0], [2.0, -3.0]]


def random_embedding(n: int = 50, width: int = 7, ids: Any = None, **more: Any) -> unseen.Embedding:
    vectors = np.random.default_rng(0).standard_normal((n, width)).astype(np.float32)
    return unseen.Embedding(vectors, [f"n{k}" for k in range(n)] if ids is None else ids, **more)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file '.*none\.parquet'; check the path"):
        unseen.read_embedding(tmp_path / "none.parquet")


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "v.parquet").mkdir()
    with pytest.raises(
        InputError, match=r"v\.parquet' is a folder without Parquet or csv files; .* needs a file"
    ):
        read_embedding(tmp_path / "v.parquet")


def test_unknown_suffix_on_reading(tmp_path: Path) -> None:
    (tmp_path / "v.sav").write_bytes(b"x")
    with pytest.raises(
        InputError, match=r"'\.sav', which `vectors` cannot be read from; .*known are \.csv, .*\.parquet"
    ):
        read_embedding(tmp_path / "v.sav")


SUFFIXES = (".parquet", ".npz", ".npy", ".w2v.txt", ".w2v.txt.gz", ".tsv", ".csv", ".csv.gz")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_file(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"v{suffix}").write_bytes(b"")
    with pytest.raises(InputError, match=r"is empty|holds no vectors|is not a readable"):
        read_embedding(tmp_path / f"v{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_foreign_bytes(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"v{suffix}").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe1 2 3")
    with pytest.raises(InputError, match=r"is not a (readable|text|gzip)|is not UTF-8 text"):
        read_embedding(tmp_path / f"v{suffix}")


@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".w2v.txt", ".w2v.txt.gz"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9, 0.99])
def test_truncated(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"v{suffix}"
    random_embedding().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=r"is not a readable|cut.off|line \d+ has \d+ columns? but"):
        read_embedding(path)


def test_truncated_pair(tmp_path: Path) -> None:
    random_embedding().save(tmp_path / "v.tsv")
    (tmp_path / "v.metadata.tsv").write_text("n0\nn1\n")
    with pytest.raises(InputError, match=r"2 ids for 50 vectors of .*; the two files do not belong together"):
        read_embedding(tmp_path / "v.tsv")
    (tmp_path / "v.metadata.tsv").unlink()
    with pytest.raises(InputError, match="the first column must hold ids, not fractions such as"):
        read_embedding(tmp_path / "v.tsv")


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


def test_not_finite_sparse(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "v.npz", sp.csr_array([[0.0, 0.0], [0.0, np.inf]]))
    with pytest.raises(InputError, match=r"row 1, column 1 is inf; vectors must be finite"):
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


def test_more_numbers_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "v.npy", np.array(EXPECTED))

    def no_memory(*args: object, **kwargs: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "load", no_memory)
    with pytest.raises(InputError, match="announces more numbers than fit into memory"):
        read_embedding(tmp_path / "v.npy")


def test_npz_under_the_name_npy(tmp_path: Path) -> None:
    embedding = random_embedding()
    embedding.save(tmp_path / "v.npz")
    (tmp_path / "v.npz").rename(tmp_path / "v.npy")
    back = read_embedding(tmp_path / "v.npy")
    assert back.node_ids.tolist() == embedding.node_ids.tolist()
    assert np.array_equal(back.vectors, embedding.vectors)


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


@pytest.mark.slow
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
