"""Malformed files thrown at every reader: a valid value or one of our sentences comes back, nothing else.

Warnings are errors in this suite, so a reader that warns fails here as well.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from reading import read_features
from unseen.data.convert import convert_file

pytestmark = pytest.mark.slow
ROUNDS = settings(max_examples=60, deadline=None, derandomize=True, database=None)
GRAPH = unseen.Graph.from_edges(["a", "0"], ["b", "1"])


def bytes_of(save: Callable[[io.BytesIO], Any]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


TABLE = pa.table(
    {"src": ["a", "b"], "dst": ["b", "c"], "weight": [1.0, 2.0], "node": ["a", "b"], "label": ["x", "y"]}
)
SPARSE = sp.csr_array([[0, 1.0, 0], [1, 0, 2], [0, 2, 0]])
MAT = {"network": SPARSE.tocsc(), "group": np.eye(3), "attributes": np.ones((3, 2))}
WHOLE = {
    "csv": b'src,dst,weight\na,b,1\nb,"c d",2.5\n',
    "tsv": b"node\tlabel\na\tx|y\nb\t\n",
    "txt": b"0 1\n1 2\n",
    "w2v.txt": b"2 2\na 0.5 1\nb 2 -1e-9\n",
    "csv.gz": gzip.compress(b"node,x,y\na,1,2\nb,2,3\n"),
    "parquet": bytes_of(lambda buffer: pq.write_table(TABLE, buffer)),
    "npz": bytes_of(lambda buffer: sp.save_npz(buffer, SPARSE, compressed=False)),
    "npy": bytes_of(lambda buffer: np.save(buffer, np.eye(3))),
    "mat": bytes_of(lambda buffer: scipy.io.savemat(buffer, MAT, do_compression=False)),
    "svmlight": b"1 1:2 3:1.5\n0\n1 qid:2 2:1 # c\n",
}

# Letters that make up the files readers are for: much of what is drawn gets past the first check.
TEXT = st.text(st.sampled_from(list("ab01 ,;\t\n\r\"#|.-+e:_x\u00fc\ufeff\u2028\x0b\x1f\x85'")), max_size=60)
WORDS = st.lists(
    st.sampled_from(["src", "dst", "weight", "node", "label", "a", "b", "7", "1e9", "nan", "inf", "-1", "", '"', '"a"',
                     ",", ",", ",", "\n", "\n", "\t", " ", "#", "\r\n", "|", ";"]),
    max_size=40,
).map("".join)  # fmt: skip


def attempt(name: str, content: bytes) -> None:
    """Read one file as everything it could be meant for."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        edges = pa.table({"src": ["a", "0"], "dst": ["b", "1"]})
        readers: list[Callable[[], Any]] = [
            lambda: unseen.read_graph(path),
            lambda: unseen.read_graph(path, header=True, symmetrize="sum", drop_negative=True),
            lambda: unseen.read_graph(edges, nodes=path),
            lambda: unseen.read_graph(edges, features=path),
            lambda: unseen.read_graph(edges, labels=path),
            lambda: unseen.read_labels(path, GRAPH),
            lambda: unseen.read_labels(path, GRAPH, delimiter=" ", header=False),
            lambda: read_features(path),
            lambda: unseen.read_embedding(path),
        ]
        for read in readers:
            try:
                value = read()
            except unseen.UnseenError:
                continue
            check(value)


def check(value: Any) -> None:
    if isinstance(value, unseen.Graph):
        assert value.n_nodes > 0
        assert np.isfinite(value.adjacency.data).all()
        assert (value.adjacency != value.adjacency.T).nnz == 0
        assert len(set(value.node_ids.tolist())) == value.n_nodes
        assert "" not in value.node_ids.tolist()
    elif isinstance(value, unseen.Labels):
        assert value.n_nodes == GRAPH.n_nodes
        assert not {"", "-1", "nan"} & set(value.classes)
    elif isinstance(value, unseen.Embedding):
        assert np.isfinite(np.asarray(value.vectors.data)).all()
    else:
        ids, matrix, names = value
        assert ids is None or len(ids) == matrix.shape[0]
        assert names is None or len(names) == matrix.shape[1]


@pytest.mark.parametrize("suffix", sorted(WHOLE))
@settings(ROUNDS, max_examples=40)
@given(data=st.data())
def test_damaged_files(suffix: str, data: st.DataObject) -> None:
    """Whole files with a few bytes changed, a part cut out, or an end that is missing."""
    content = bytearray(WHOLE[suffix])
    for _ in range(data.draw(st.integers(0, 3))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, min(len(content), start + 20)))
    del content[start:stop]
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content)))]
    attempt(f"x.{suffix}", bytes(content))


@ROUNDS
@given(
    TEXT | WORDS, st.sampled_from(["x.csv", "x.tsv", "x.txt", "x", "group.txt", "graph.txt", "x.svmlight"])
)
def test_odd_text(content: str, name: str) -> None:
    attempt(name, content.encode())


SMALL = st.integers(-3, 5)


@ROUNDS
@given(
    st.sampled_from([b"csr", b"csc", b"coo", b"dia", b"\xff", b""]),
    st.lists(SMALL, max_size=3),
    st.lists(SMALL, max_size=5),
    st.lists(SMALL, max_size=5),
    st.lists(st.floats() | SMALL, max_size=4),
    st.none() | st.lists(st.sampled_from(["a", "b", ""]), max_size=4),
)
def test_made_up_sparse_matrices(
    kind: bytes,
    shape: list[int],
    indptr: list[int],
    indices: list[int],
    values: list[float],
    ids: list[str] | None,
) -> None:
    arrays: dict[str, Any] = {"format": np.array(kind), "shape": np.array(shape, dtype=np.int64)}
    arrays |= {"indptr": np.array(indptr, dtype=np.int32), "indices": np.array(indices, dtype=np.int32)}
    arrays |= {"data": np.array(values, dtype=float), "row": arrays["indptr"], "col": arrays["indices"]}
    if ids is not None:
        arrays["ids"] = np.array(ids, dtype=str)
    attempt("x.npz", bytes_of(lambda buffer: np.savez(buffer, **arrays)))


COLUMN = st.sampled_from(
    [
        pa.array(["a", "b"]),
        pa.array(["a", None]),
        pa.array([1, 2]),
        pa.array([1, None]),
        pa.array([0.5, float("nan")]),
        pa.array([-1.0, 2.0]),
        pa.array([True, None]),
        pa.array([[1.0], [2.0]]),
        pa.array([["x"], None]),
        pa.array([[1.0], [2.0, 3.0]]),
        pa.nulls(2),
        pa.array([b"a", b"b"]),
        pa.array([{"k": 1}, {"k": 2}]),
        pa.array(["a", "a"]).dictionary_encode(),
        pa.array([0, 1], pa.timestamp("s")),
        pa.array([2**63, 1], pa.uint64()),
    ]
)
NAMES = st.lists(st.sampled_from(["src", "dst", "weight", "node", "label", "x", "", "type"]), max_size=4)


@ROUNDS
@given(NAMES, st.data())
def test_made_up_tables(names: list[str], data: st.DataObject) -> None:
    table = pa.Table.from_arrays([data.draw(COLUMN) for _ in names], names=names)
    attempt("x.parquet", bytes_of(lambda buffer: pq.write_table(table, buffer)))


@ROUNDS
@given(
    TEXT | st.binary(max_size=60),
    st.sampled_from(["csv", "tsv", "txt", "npz", "npy", "mat", "parquet", "txt.gz"]),
)
def test_convert_tells_what_any_file_is_or_refuses(content: str | bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{suffix}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        for target in ("y.csv", "y.w2v.txt", "y.svmlight", "group.txt"):
            with contextlib.suppress(unseen.UnseenError):
                convert_file(path, Path(folder) / target)
