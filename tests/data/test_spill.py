"""Reading keeps to its memory: files within their bounds, and a database that spills to disk."""

from __future__ import annotations

import gzip
import os
import re
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io

import unseen
from unseen.data.build import Numbering
from unseen.data.spill import Database, SpilledNumbering
from unseen.errors import InputError, OutputError, UnsupportedError, install_hint

LONG = "create table x as select count(*) from range(100000000) a, range(1000) b where (a.range * b.range) % 7 = 3"


@pytest.mark.parametrize("is_spilled", [False, True])
@pytest.mark.parametrize(
    ("nodes", "edges", "expected"),
    [
        (["n", "e"], [(["b", "a"], ["c", "b"]), (["e"], ["a"])], ["n", "e", "b", "c", "a"]),
        ([9], [([7, 8], [8, 9])], [9, 7, 8]),
        ([9], [([7, 8], [8, 9]), (["x", "007"], ["7", "y"])], ["9", "7", "8", "x", "007", "y"]),
        ([8], [(["7", "07"], ["8", "x"])], ["8", "7", "07", "x"]),
    ],
)
def test_ids_are_numbered_by_first_appearance_and_integers_meet_texts(
    tmp_path: Path, is_spilled: bool, nodes: list[Any], edges: list[Any], expected: list[Any]
) -> None:
    with Database(tmp_path, memory=10**8, threads=1) as database:
        numbering = SpilledNumbering(database) if is_spilled else Numbering()
        numbering.number(pa.array(nodes))
        for src, dst in edges:
            for ids, numbers in zip((src, dst), numbering.number(pa.array(src), pa.array(dst)), strict=True):
                assert [str(numbering.name(k)) for k in numbers] == list(map(str, ids))
        assert numbering.ids.tolist() == expected
        assert numbering.find(pa.array(["nobody"])).tolist() == [-1]


@pytest.mark.parametrize("symmetrize", ["max", "sum"])
@pytest.mark.parametrize("weights", [False, True])
def test_edges_beyond_the_memory_give_the_same_graph(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, symmetrize: Any, weights: bool
) -> None:
    rng = np.random.default_rng(0)
    rows = [f"n{a},n{b}" + f",{a % 4}" * weights for a, b in rng.integers(0, 300, (3000, 2))]
    path = tmp_path / "edges.csv"
    path.write_text("\n".join(["src,dst" + ",weight" * weights, *rows]) + "\n")
    whole = unseen.read(path, symmetrize=symmetrize)
    with caplog.at_level("INFO", logger="unseen"):
        spilled = unseen.read(path, symmetrize=symmetrize, max_memory="200kB")
    assert "sorted on disk" in caplog.text
    assert spilled.report == whole.report
    assert spilled.graph.node_ids.tolist() == whole.graph.node_ids.tolist()
    assert (spilled.graph.adjacency != whole.graph.adjacency).nnz == 0
    with pytest.raises(InputError, match="is listed more than once"):
        unseen.read(path, symmetrize="error", max_memory="200kB")


def test_edges_with_signs_stay_in_memory_or_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"n{k},n{k + 1},{-1 if k == 10 else 2}" for k in range(3000)]
    path = tmp_path / "edges.csv"
    path.write_text("\n".join(["src,dst,weight", *rows]) + "\n")
    assert unseen.read_graph(path, max_memory="200kB").is_signed
    path.write_text("\n".join(["src,dst,weight", *reversed(rows)]) + "\n")
    monkeypatch.setattr("unseen.data.pieces.PIECE_ROWS", 1)
    monkeypatch.setattr("unseen.data.text.BLOCK", 30_000)
    monkeypatch.setattr("unseen.data.text.HEAD", 64)
    with pytest.raises(InputError, match=r"edges\.csv', line \d+: from here on edges have negative weights"):
        unseen.read_graph(path, max_memory="200kB")


def bomb(path: Path) -> Path:
    """Write a small file that unpacks to 400 MB or more."""
    if path.suffix == ".gz":
        with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1) as file:
            for _ in range(40):
                file.write(b"a,b\n" * 2_500_000)
    elif path.suffix == ".mat":
        scipy.io.savemat(path, {"network": np.zeros((7100, 7100))}, do_compression=True)
    elif path.suffix == ".parquet":
        column = pa.chunked_array([pa.array(np.zeros(5_000_000, dtype=np.int64))] * 10)
        pq.write_table(pa.table({"src": column, "dst": column}), path)
    elif path.stem == "coo":
        parts = {"data": [1.0], "row": [0], "col": [1], "shape": [10**9, 10**9], "format": b"coo"}
        np.savez(path, **{key: np.array(value) for key, value in parts.items()})
    else:
        np.savez_compressed(path, data=np.zeros((7100, 7100)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["e.csv.gz", "e.mat", "e.parquet", "coo.npz", "dense.npz"])
def test_small_files_that_would_take_gigabytes(tmp_path: Path, name: str) -> None:
    path = bomb(tmp_path / name)
    assert path.stat().st_size < 2_000_000
    with pytest.raises(InputError, match=r"needs .* of memory or more, above the bound of .* max_memory="):
        unseen.read(path)


def test_the_bound_on_memory_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "e.npz", data=np.eye(100))
    with pytest.raises(InputError, match=r"above `max_memory` of 10 kB"):
        unseen.read(tmp_path / "e.npz", max_memory="10kB")
    monkeypatch.setenv("UNSEEN_MAX_MEMORY", "10kB")
    with pytest.raises(InputError, match=r"above UNSEEN_MAX_MEMORY of 10 kB"):
        unseen.read(tmp_path / "e.npz")
    assert unseen.read(tmp_path / "e.npz", max_memory=1_000_000).graph.n_nodes == 100
    monkeypatch.setenv("UNSEEN_MAX_MEMORY", "much")
    with pytest.raises(
        InputError, match=r"`UNSEEN_MAX_MEMORY` takes a size such as 500MB or 2GB, got 'much'"
    ):
        unseen.read(tmp_path / "e.npz")


@pytest.mark.slow
def test_a_database_keeps_to_its_memory_and_its_folder(tmp_path: Path) -> None:
    with Database(tmp_path, memory=100_000_000, threads=1) as database:
        database.run("create table x as select range as a, hash(range) as b from range(12000000)")
        assert any((tmp_path / "spill").iterdir())
        (counts,) = database.run("select count(*) as n, sum(a)::bigint as total from x").to_pylist()
        assert counts == {"n": 12_000_000, "total": 12_000_000 * 11_999_999 // 2}
        with pytest.raises(InputError, match=r"`memory` \(--memory\) is too small"):
            database.run("create table y as select list(b) from x")
        with pytest.raises(duckdb.PermissionException):  # no other file is read
            database.run(f"create table y as select * from read_csv('{__file__}')")
        database.run("drop table x")
        database.run("set max_temp_directory_size = '1MB'")
        with pytest.raises(OutputError, match="the disk is full"):
            database.run("create table y as select range as a, hash(range) as b from range(12000000)")


def test_pieces_have_the_size_that_was_asked_for(tmp_path: Path) -> None:
    with Database(tmp_path, memory=10**8, threads=2) as database:
        database.run("create table x (a bigint)")
        for start in range(0, 9000, 3000):
            database.run("insert into x from arriving", pa.table({"a": range(start, start + 3000)}))
        pieces = list(database.rows("select a from x order by a", 2500))
        assert [len(piece) for piece in pieces] == [2500, 2500, 2500, 1500]
        assert pa.concat_tables(pieces)["a"].to_pylist() == list(range(9000))


def test_ctrl_c_ends_a_query_at_once(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        with Database(tmp_path, memory=10**8, threads=1) as database:
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                database.run(LONG)
            assert len(database.run("select 1")) == 1  # it would still be busy otherwise
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def test_without_duckdb_the_line_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UnsupportedError, match=re.escape(install_hint("scale"))):
        Database(tmp_path, memory=10**8, threads=1)
