"""A partition has the rows of the graph that is read in one piece, whatever the format, ids and memory."""

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
from unseen.comm import SOLO
from unseen.errors import InputError, OutputError
from unseen.scale.hashing import id_keys
from unseen.scale.layout import part_folder, read_meta, verify_part
from unseen.scale.load import load_parts
from unseen.scale.numbering import Numbering
from unseen.scale.partition import Budget, partition
from unseen.scale.sizes import parse_size
from unseen_paper.bench.isolated import measure

rng = np.random.default_rng(0)


def _edges(n: int = 200, m: int = 900, *, strings: bool = True) -> pa.Table:
    ends = rng.integers(0, n, (2, m)) ** 2 % n
    name = [f"näme {k}" if k % 3 else str(k).zfill(30) for k in range(n)]
    columns = {
        key: pa.array([name[k] for k in end]) if strings else pa.array(end * 7 - 50)
        for key, end in zip(("src", "dst"), ends, strict=True)
    }
    return pa.table({**columns, "weight": rng.integers(0, 5, m).astype(float)})


def _assert_same(folder: Path, expected: unseen.Graph, parts: int) -> None:
    graph, _, meta = load_parts(folder, SOLO)
    assert graph.node_ids.tolist() == expected.node_ids.tolist()
    assert graph.node_ids.dtype == expected.node_ids.dtype
    assert isinstance(graph, unseen.Graph)
    assert (graph.adjacency != expected.adjacency).nnz == 0
    assert len(meta.parts) == parts
    assert meta.n_edges == expected.n_edges


@pytest.mark.parametrize("strings", [True, False])
@pytest.mark.parametrize("symmetrize", ["max", "sum"])
def test_parquet_gives_the_rows_of_the_graph(tmp_path: Path, strings: bool, symmetrize: Any) -> None:
    pq.write_table(_edges(strings=strings), tmp_path / "edges.parquet", row_group_size=100)
    expected = unseen.read_graph(tmp_path / "edges.parquet", symmetrize=symmetrize)
    partition(tmp_path / "edges.parquet", tmp_path / "parts", parts=3, symmetrize=symmetrize)
    _assert_same(tmp_path / "parts", expected, 3)


def test_many_buckets_and_small_batches_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Budget, "of", classmethod(lambda cls, memory: cls(batch=500, bucket=2000)))
    pq.write_table(_edges(), tmp_path / "edges.parquet")
    partition(tmp_path / "edges.parquet", tmp_path / "parts", parts=5)
    _assert_same(tmp_path / "parts", unseen.read_graph(tmp_path / "edges.parquet"), 5)


@pytest.mark.parametrize("packed", [False, True])
def test_text_is_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    monkeypatch.setattr(Budget, "of", classmethod(lambda cls, memory: cls(batch=60, bucket=2000)))
    lines = [
        "# comment",
        "from\tto",
        *(f"{a}\t {b}" for a, b in rng.integers(100, 140, (120, 2))),
        '"a b"\t007',
    ]
    data = "\n".join(lines).encode()
    path = tmp_path / ("edges.tsv.gz" if packed else "edges.tsv")
    path.write_bytes(gzip.compress(data) if packed else data)
    partition(path, tmp_path / "parts", parts=2)
    _assert_same(tmp_path / "parts", unseen.read_graph(path), 2)


def test_a_folder_of_parquet_files_is_one_graph(tmp_path: Path) -> None:
    table = _edges()
    (tmp_path / "edges").mkdir()
    for k in range(3):
        pq.write_table(table.slice(k * 300, 300), tmp_path / "edges" / f"{k}.parquet")
    pq.write_table(table, tmp_path / "whole.parquet")
    partition(tmp_path / "edges", tmp_path / "parts", parts=2)
    _assert_same(tmp_path / "parts", unseen.read_graph(tmp_path / "whole.parquet"), 2)


@pytest.mark.parametrize("kind", ["columns", "list", "text", "sparse"])
def test_features_labels_and_isolated_nodes_go_along(tmp_path: Path, kind: str) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("src,dst\n" + "".join(f"{a},{b}\n" for a, b in rng.integers(0, 30, (60, 2))))
    (tmp_path / "nodes.txt").write_text("alone\n3\n")
    names = [*map(str, range(31)), "alone"]
    order = rng.permutation(32)
    ids = [names[k] for k in order]
    values = rng.random((32, 4)).astype(np.float32) * (rng.random((32, 4)) < 0.5)
    path = tmp_path / f"features.{'csv' if kind == 'text' else 'npz' if kind == 'sparse' else 'parquet'}"
    if kind == "sparse":
        csr = sp.csr_array(values)
        np.savez(
            path,
            ids=np.array(ids),
            data=csr.data,
            indices=csr.indices,
            indptr=csr.indptr,
            shape=csr.shape,
            format=np.array(b"csr"),
        )
    elif kind == "text":
        rows = [",".join([i, *map(repr, map(float, row))]) for i, row in zip(ids, values, strict=True)]
        path.write_text("node,w,x,y,z\n" + "\n".join(rows) + "\n")
    elif kind == "list":
        pq.write_table(pa.table({"node": ids, "x": list(values)}), path)
    else:
        pq.write_table(pa.table({"node": ids, **{f"f{k}": values[:, k] for k in range(4)}}), path)
    (tmp_path / "labels.csv").write_text("node,label\n5,red|blue\nalone,green\n7,\nlate,red\n5,red\n")
    sources = {"nodes": tmp_path / "nodes.txt", "labels": tmp_path / "labels.csv"}
    if kind == "columns":
        with pytest.raises(InputError, match="has no row for the node 'late'"):
            partition(edges, tmp_path / "parts", parts=3, features=path, **sources)
        assert not (tmp_path / "parts").exists()
    sources["labels"].write_text("node,label\n5,red|blue\nalone,green\n7,\n5,red\n")
    partition(edges, tmp_path / "parts", parts=3, features=path, **sources)
    graph, labels, _ = load_parts(tmp_path / "parts", SOLO)
    expected = unseen.read_graph(edges, features=path, **sources)
    assert graph.node_ids.tolist() == expected.node_ids.tolist()
    assert graph.features is not None
    assert expected.features is not None
    assert type(graph.features) is type(expected.features)
    assert graph.features.dtype == expected.features.dtype
    assert abs(graph.features - expected.features).max() == 0
    wanted = unseen.read_labels(tmp_path / "labels.csv", expected)
    assert labels is not None
    assert labels.classes == wanted.classes
    assert (labels.indicator != wanted.indicator).nnz == 0


def test_parts_are_balanced_and_know_their_halo(tmp_path: Path) -> None:
    n = 60_000
    hub = np.arange(1, n // 2)  # the first node alone has a quarter of the entries
    ends = np.vstack([np.c_[np.zeros(len(hub), dtype=int), hub], rng.integers(0, n, (n // 2, 2))])
    table = pa.table({"src": ends[:, 0], "dst": ends[:, 1]})
    pq.write_table(table, tmp_path / "edges.parquet")
    meta = partition(tmp_path / "edges.parquet", tmp_path / "parts", parts=4)
    work = [part.entries + 4 * part.n_rows for part in meta.parts]
    assert max(work) < 1.15 * sum(work) / 4  # parts begin where blocks of 4096 rows do
    graph = unseen.read_graph(tmp_path / "edges.parquet")
    for k, part in enumerate(meta.parts):
        rows = graph.adjacency[part.start : part.stop]
        foreign = np.unique(rows.indices[(rows.indices < part.start) | (rows.indices >= part.stop)])
        assert np.load(part_folder(tmp_path / "parts", k) / "halo.npy").tolist() == foreign.tolist()
        assert part.halo == len(foreign)
        assert part.entries == rows.nnz


def test_damage_is_found_and_named(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("src,dst\na,b\nb,c\n")
    folder = tmp_path / "parts"
    partition(tmp_path / "edges.csv", folder, parts=2)
    path = part_folder(folder, 1) / "indices.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    verify_part(folder, 0, read_meta(folder).parts[0])
    with pytest.raises(InputError, match=r"part-00001/indices\.npy' is damaged: its content has changed"):
        load_parts(folder, SOLO)
    path.write_bytes(data[:-4])
    with pytest.raises(InputError, match="bytes instead of"):
        load_parts(folder, SOLO)
    path.unlink()
    with pytest.raises(InputError, match="is missing though META"):
        load_parts(folder, SOLO)
    (folder / "META.json").write_text('{"kind": "unseen partition"}')
    with pytest.raises(InputError, match="is damaged"):
        read_meta(folder)
    with pytest.raises(InputError, match="no such folder"):
        read_meta(tmp_path / "nowhere")


def test_a_partition_replaces_an_older_one_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("src,dst\na,b\nb,c\n")
    partition(tmp_path / "edges.csv", tmp_path / "parts", parts=3)
    partition(tmp_path / "edges.csv", tmp_path / "parts", parts=1)
    assert sorted(p.name for p in (tmp_path / "parts").iterdir()) == ["META.json", "part-00000"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["edges.csv", "parts"]
    with pytest.raises(OutputError, match="has files that are no partition"):
        partition(tmp_path / "edges.csv", tmp_path, parts=1)
    (tmp_path / "bad.csv").write_text("src,dst,weight\na,b,1\nb,c,-1\n")
    with pytest.raises(InputError, match=r"bad\.csv', line 3: the weight is -1"):
        partition(tmp_path / "bad.csv", tmp_path / "parts", parts=1)
    assert read_meta(tmp_path / "parts").n_nodes == 3
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".unseen")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": 0}, "`parts` must be at least 1"),
        ({"parts": 4}, "only 3 nodes"),
        ({"parts": 1, "memory": 1000}, "the least is 64.0 MB"),
        ({"parts": 1, "symmetrize": "error"}, "the pair a - b is listed more than once"),
        ({"parts": 1, "symmetrize": "mean"}, "symmetrize"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    (tmp_path / "edges.csv").write_text("src,dst\na,b\nb,c\nb,a\n")
    with pytest.raises(InputError, match=message):
        partition(tmp_path / "edges.csv", tmp_path / "parts", **options)


def test_two_ids_with_one_key_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.scale.numbering.id_keys", lambda ids: id_keys(ids) & np.uint64(1))
    numbering = Numbering(tmp_path, integer=False, buckets=1)
    numbering.see(pa.array(["a", "b", "c"], pa.large_string()))
    numbering.see(pa.array(["d", "e"], pa.large_string()))
    with pytest.raises(InputError, match="have the same 64-bit key by chance"):
        numbering.finish()


def test_keys_depend_on_the_text_alone() -> None:
    texts = ["", "a", "a\0", "abcdefgh", "abcdefghi", "ü" * 50, "x" * 1000]
    array = pa.array(["pad", *texts, "pad"], pa.large_string())
    keys = id_keys(array)
    assert len(set(keys[1:-1].tolist())) == len(texts)
    assert (id_keys(array.slice(1, len(texts))) == keys[1:-1]).all()
    assert id_keys(pa.array(["a"])).tolist() == [keys[2]]


def test_memory_stays_within_its_bound(tmp_path: Path) -> None:
    m = 1_200_000
    ends = np.random.default_rng(0).integers(0, m // 2, (2, m))
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"src": ends[0], "dst": ends[1]}), path, row_group_size=50_000)
    found = measure("unseen_paper.bench.outofcore", "cut", path=str(path), memory=64_000_000)
    assert found.result == len(np.unique(ends))
    assert found.megabytes < 200 + 64  # unbounded, it takes far more


def test_sizes_are_read() -> None:
    assert parse_size("64 MB") == 64_000_000
    with pytest.raises(InputError, match="`--memory` takes a size such as 500MB"):
        parse_size("much")


def test_the_command_tells_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from unseen.cli.app import run

    (tmp_path / "edges.csv").write_text("src,dst\na,b\nb,c\n")
    assert (
        run(["partition", str(tmp_path / "edges.csv"), "--parts", "2", "-o", str(tmp_path / "p"), "--json"])
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["nodes"] == 3
    assert [part["start"] for part in told["parts"]] == [0, 2]
