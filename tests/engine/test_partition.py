"""A partition has the rows of the graph that is read in one piece, whatever the format, ids and memory."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import unseen
from reading import write
from unseen.data.write import write_part
from unseen.engine.comm import SOLO
from unseen.engine.partition import partition
from unseen.engine.parts import load_parts, part_folder, read_meta, verify_part
from unseen.errors import InputError, OutputError

rng = np.random.default_rng(0)


@pytest.mark.parametrize("strings", [True, False])
@pytest.mark.parametrize("symmetrize", ["max", "sum"])
def test_parquet_gives_the_rows_of_the_graph(tmp_path: Path, strings: bool, symmetrize: Any) -> None:
    ends = rng.integers(0, 200, (2, 900)) ** 2 % 200
    names = np.array([f"näme {k}" if k % 3 else str(k).zfill(30) for k in range(200)])
    src, dst = names[ends] if strings else ends * 7 - 50
    table = pa.table({"src": src, "dst": dst, "weight": rng.integers(0, 5, 900).astype(float)})
    pq.write_table(table, tmp_path / "edges.parquet", row_group_size=100)
    expected = unseen.read_graph(tmp_path / "edges.parquet", symmetrize=symmetrize)
    partition(tmp_path / "edges.parquet", tmp_path / "parts", parts=3, symmetrize=symmetrize)
    graph, _, meta = load_parts(tmp_path / "parts", SOLO)
    assert graph.node_ids.tolist() == expected.node_ids.tolist()
    assert graph.node_ids.dtype == expected.node_ids.dtype
    assert (graph.adjacency != expected.adjacency).nnz == 0
    assert (len(meta.parts), meta.n_edges) == (3, expected.n_edges)


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
    made: Any = sp.csr_array(values) if kind == "sparse" else values
    names_of = None if kind == "list" else list("wxyz")
    write_part(unseen.Graph(sp.csr_array((32, 32)), made, ids, names_of), "features", path)
    (tmp_path / "labels.csv").write_text("node,label\n5,red|blue\nalone,green\n7,\nlate,red\n5,red\n")
    sources = {"nodes": tmp_path / "nodes.txt", "labels": tmp_path / "labels.csv"}
    if kind == "columns":
        with pytest.raises(InputError, match=r"labels\.csv', line 5: the label names 'late'"):
            partition(edges, tmp_path / "parts", parts=3, features=path, **sources)
        assert not (tmp_path / "parts").exists()
    sources["labels"].write_text("node,label\n5,red|blue\nalone,green\n7,\n5,red\n")
    partition(edges, tmp_path / "parts", parts=3, features=path, **sources)
    graph, labels, _ = load_parts(tmp_path / "parts", SOLO)
    expected = unseen.read_graph(edges, features=path, **sources)
    assert graph.node_ids.tolist() == expected.node_ids.tolist()
    assert type(graph.features) is type(expected.features)
    assert graph.features.dtype == expected.features.dtype
    assert abs(graph.features - expected.features).max() == 0
    wanted = unseen.read_labels(tmp_path / "labels.csv", expected)
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
    for part in meta.parts:
        rows = graph.adjacency[part.start : part.stop]
        foreign = np.unique(rows.indices[(rows.indices < part.start) | (rows.indices >= part.stop)])
        assert part.halo == len(foreign)
        assert part.entries == rows.nnz


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_bytes(tmp_path: Path) -> None:
    m, n = 400_000, 60_000  # several row groups, so that threads share the work
    ends, weights = rng.integers(0, n, (2, m)) ** 2 % n, rng.random(m)
    ends[:, :2000] = [[1], [2]]  # a sum whose last bits depend on the order
    names = pa.array([f"n{k}" for k in range(n)])
    src, dst = (names.take(pa.array(end)) for end in ends)
    tables = {
        "edges": pa.table({"src": src, "dst": dst, "weight": weights}),
        "features": pa.table({"node": names, "x": list(rng.random((n, 3)))}),
        "labels": pa.table({"node": names, "label": weights[:n] > 0.5}),
    }
    paths: dict[str, Any] = {role: tmp_path / f"{role}.parquet" for role in tables}
    for role, table in tables.items():
        pq.write_table(table, paths[role])
    for threads in (1, 2):
        partition(output=tmp_path / f"parts-{threads}", parts=3, symmetrize="sum", threads=threads, **paths)
    one, two = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        for folder in (tmp_path / "parts-1", tmp_path / "parts-2")
    )
    assert one == two
    expected = unseen.read_graph(paths["edges"], features=paths["features"], symmetrize="sum")
    graph, _, _ = load_parts(tmp_path / "parts-1", SOLO)
    assert (graph.adjacency != expected.adjacency).nnz == 0  # the very bits


def test_what_was_left_out_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "edges.csv").write_text("src,dst,weight\na,b,1\nb,c,-1\nc,d,-2\nd,a,0\nb,a,2\nc,c,1\n")
    with caplog.at_level("INFO", logger="unseen"):
        meta = partition(tmp_path / "edges.csv", tmp_path / "parts", parts=2, drop_negative=True)
    assert (meta.n_nodes, meta.n_edges) == (4, 2)
    assert "2 edges of negative weight left out, 1 edge of weight 0 left out" in caplog.text
    assert "4 nodes, 2 edges, 1 repeat, 1 self-loop" in caplog.text
    assert "2 parts of 2 rows written to" in caplog.text


def test_labels_of_several_files_add_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    edges = write(tmp_path / "edges.csv", "src,dst\na,b\nb,c\n")
    labels = [
        write(tmp_path / "one.csv", "a,red\nb,blue\n"),
        write(tmp_path / "two.csv", "node,label\na,blue\nd,red\n"),
    ]
    meta = partition(edges, tmp_path / "parts", parts=1, labels=labels)
    _, found, _ = load_parts(tmp_path / "parts", SOLO)
    assert sum(part.labelled for part in meta.parts) == 3
    assert found.indicator.toarray().tolist() == [[True, True], [True, False], [False, False], [False, True]]
    unseen.read(edges, labels=labels)
    told = [message for message in caplog.messages if "the node 'a' is labelled red in" in message]
    assert len(told) == 2
    assert told[0] == told[1]


def test_an_interrupted_partition_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("unseen.engine.partition.write_rows", interrupt)
    with pytest.raises(KeyboardInterrupt):
        partition(write(tmp_path / "edges.csv", EDGES), tmp_path / "new" / "parts", parts=1)
    assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]


def test_damage_is_found_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    meta = partition(write(tmp_path / "edges.csv", EDGES), folder, parts=2)
    path = part_folder(folder, 1) / "adjacency_indices.npy"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert read_meta(folder) == meta
    verify_part(folder, 0, meta.parts[0])
    for change, message in (
        (lambda: None, r"part-00001/adjacency_indices\.npy' is damaged: its content has changed"),
        (lambda: path.write_bytes(data[:-4]), "bytes instead of"),
        (path.unlink, "is missing though META"),
    ):
        change()
        with pytest.raises(InputError, match=message):
            verify_part(folder, 1, meta.parts[1])
    (folder / "META.json").write_text('{"kind": "unseen partition"}')
    for place, message in ((folder, "is damaged"), (tmp_path / "nowhere", "no such folder")):
        with pytest.raises(InputError, match=message):
            read_meta(place)


def test_a_partition_replaces_an_older_one_and_nothing_else(tmp_path: Path) -> None:
    edges = write(tmp_path / "edges.csv", EDGES)
    for parts in (3, 1):
        partition(edges, tmp_path / "parts", parts=parts)
    with pytest.raises(OutputError, match="has files that are no partition"):
        partition(edges, tmp_path, parts=1)
    with pytest.raises(InputError, match="only 3 nodes"):
        partition(edges, tmp_path / "parts", parts=4)
    assert sorted(p.name for p in (tmp_path / "parts").iterdir()) == ["META.json", "part-00000"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["edges.csv", "parts"]
    assert read_meta(tmp_path / "parts").n_nodes == 3


EDGES = "src,dst\na,b\nb,c\nb,a\n"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (EDGES, {"parts": 0}, "`parts` must be an integer of at least 1"),
    (EDGES, {"parts": 4}, "only 3 nodes"),
    (EDGES, {"memory": 1000}, "the least is 256 MB"),
    (EDGES, {"symmetrize": "error"}, "the pair a - b is listed more than once"),
    (EDGES, {"symmetrize": "mean"}, "symmetrize"),
    (EDGES, {"directed": True}, r"^there are directions \(--directed\), but parts have neither"),
    (EDGES, {"features": {"x": Path("x.csv")}}, "^there are features by type"),
    (EDGES, {"nodes": "node,type\na,x\nb,y\n"}, r"nodes\.csv', line 2: there are several types \('x', 'y'\)"),
    ("src,dst,type\na,b,likes\nb,c,hates\n", {}, r"edges\.csv', line 2: there are several types \('likes', 'hates'\)"),
    ("src,dst,weight\na,b,1\nb,c,-1\n", {}, r"line 3: there are negative weights \(-1; --drop-negative"),
]  # fmt: skip


@pytest.mark.parametrize(("edges", "options", "message"), REFUSED)
def test_what_cannot_be_done_is_said(
    tmp_path: Path, edges: str, options: dict[str, Any], message: str
) -> None:
    if "nodes" in options:
        options = {"nodes": write(tmp_path / "nodes.csv", options["nodes"])}
    with pytest.raises(InputError, match=message):
        partition(write(tmp_path / "edges.csv", edges), tmp_path / "parts", **{"parts": 1, **options})
    assert not (tmp_path / "parts").exists()


def test_the_command_tells_what_it_wrote_and_writes_no_folder_called_minus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from unseen.cli.app import run

    monkeypatch.chdir(tmp_path)
    write(Path("edges.csv"), "src,dst\na,b\nb,c\n")
    assert run(["partition", "edges.csv", "--parts", "2", "-o", "parts", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["nodes"] == 3
    assert [part["start"] for part in told["parts"]] == [0, 2]
    assert run(["partition", "edges.csv", "--parts", "2", "-o", "-"]) == 1
    assert "cannot go to the standard output; give -o FOLDER" in capsys.readouterr().err
    assert not Path("-").exists()


def test_metis_groups_the_nodes_of_a_community_and_keeps_what_belongs_to_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = unseen.planted_partition(600, 2, degree_within=12, degree_between=0.3, random_state=0)
    edges, codes = sp.triu(data.graph.adjacency).tocoo(), data.labels.codes
    names = np.array([f"n{k}" for k in range(600)])
    pq.write_table(pa.table({"src": names[edges.row], "dst": names[edges.col]}), tmp_path / "edges.parquet")
    pq.write_table(pa.table({"node": names, "label": codes.astype(str)}), tmp_path / "labels.parquet")
    pq.write_table(pa.table({"node": names, "x": codes * 1.0, "y": np.arange(600.0)}), tmp_path / "x.parquet")
    sources = {"labels": tmp_path / "labels.parquet", "features": tmp_path / "x.parquet"}
    with caplog.at_level(logging.INFO, logger="unseen"):
        meta = partition(tmp_path / "edges.parquet", tmp_path / "parts", parts=2, cut="metis", **sources)
    graph, labels, _ = load_parts(tmp_path / "parts", SOLO)
    rows = np.array([int(name[1:]) for name in graph.node_ids])
    np.testing.assert_array_equal(graph.features, np.column_stack([codes[rows], rows]))
    assert (graph.adjacency != data.graph.adjacency[rows][:, rows]).nnz == 0
    assert labels.codes.tolist() == codes[rows].tolist()
    purity = [np.mean(codes[rows[part.start : part.stop]]) for part in meta.parts]
    assert min(purity) < 0.05 < 0.95 < max(purity)
    plain = partition(tmp_path / "edges.parquet", tmp_path / "plain", parts=2, **sources)
    halos = [sum(part.halo for part in each.parts) for each in (meta, plain)]
    assert halos[0] < halos[1] / 2
    assert f"{halos[0]:,} rows of each other, {halos[0] / halos[1]:.0%} of the {halos[1]:,}" in caplog.text
