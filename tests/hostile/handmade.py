"""Files made by hand, each of which once crashed, spied, filled the memory or got a wrong answer."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anndata
import duckdb
import h5py
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from hostile.children import Case

SECRET = "do-not-tell-anyone"
Made = dict[str, Any]
"""What a case has beside its name and folder: `arguments`, and `truth` or `refused`."""
_MAKERS: dict[str, Callable[[Path], Made]] = {}
GOOD = [["a", "b", 1.0], ["b", "c", 1.0]]


def _case(maker: Callable[[Path], Made]) -> Callable[[Path], Made]:
    _MAKERS[maker.__name__.replace("_", " ").strip()] = maker
    return maker


def handmade(folder: Path) -> Iterator[Case]:
    """Yield all of them; a file with a secret lies beside the folder of each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "secret.csv").write_text(f"src,dst\n{SECRET},b\n", encoding="ascii")
    for k, name in enumerate([*DATABASES, *FILES, *_MAKERS]):
        own = folder / f"{k}"
        own.mkdir()
        if name in DATABASES:
            made = _make_database(own, name, *DATABASES[name])
        elif name in FILES:
            made = _make_files(own, *FILES[name])
        else:
            made = _MAKERS[name](own)
        yield Case(name, "made by hand", own, secret=SECRET, **made)


def _make_database(folder: Path, name: str, statements: list[str], expected: Any, *table: str) -> Made:
    path = folder / ("g.duckdb" if name.startswith("duckdb") else "g.sqlite")
    library: Any = duckdb if path.suffix == ".duckdb" else sqlite3
    with contextlib.closing(library.connect(str(path))) as database:
        for statement in statements:
            database.execute(statement.replace("SECRET", str(folder.parent / "secret.csv")))
        database.commit() if library is sqlite3 else None
    return _expect(path.name, expected, **({"edges_table": table[0]} if table else {}))


def _make_files(folder: Path, files: dict[str, str | bytes], expected: Any) -> Made:
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return _expect(next(iter(files)) if len(files) == 1 else "", expected)


def _expect(edges: str, expected: Any, **options: str) -> Made:
    """Return the arguments of a case, with the edges that it has, or a part of the message that refuses it."""
    outcome = {} if expected is None else {"refused" if isinstance(expected, str) else "truth": expected}
    return {"arguments": {"edges": edges, **options}, **outcome}


_NO_VIEWS = r"virtual tables are not read \('{}'\)"
_BOUND = "of memory or more, above the bound"
_TABLE = "CREATE TABLE {} AS SELECT * FROM (VALUES ('a', 'b'), ('b', 'c')) t(src, dst)"
_LITE = ["CREATE TABLE edges (src, dst)", "INSERT INTO edges VALUES ('a', 'b'), ('b', 'c')"]
_KINDS = ["now()", "uuid()", "3::HUGEINT", "1.5::DECIMAL(5, 2)", "DATE '2020-01-01'", "INTERVAL 1 DAY", "[1, 2]",
          "{'a': 1}", "MAP {'a': 1}", "'x'::BLOB"]  # fmt: skip
_ROWS = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r{}) {} SELECT i, i + 1 FROM r"
DATABASES: dict[str, tuple[Any, ...]] = {
    "duckdb view of a csv file": (
        ["CREATE VIEW edges AS SELECT * FROM read_csv('SECRET')"], _NO_VIEWS.format("edges")),
    "duckdb view of a text": (
        ["CREATE VIEW v AS SELECT content AS src, filename AS dst FROM read_text('SECRET')"],
        _NO_VIEWS.format("v"), "v"),
    "duckdb view of a glob": (
        ["CREATE VIEW v AS SELECT file AS src, file AS dst FROM glob('SECRET*')"], _NO_VIEWS.format("v")),
    "duckdb good table beside a spying view": (
        [_TABLE.format("links"), "CREATE VIEW v AS SELECT * FROM read_csv('SECRET')"], GOOD),
    "duckdb good table beside a broken view": (
        [_TABLE.format("edges"), "CREATE TABLE gone (x INT)", "CREATE VIEW broken AS SELECT * FROM gone",
         "DROP TABLE gone"], GOOD),
    "duckdb table in a second schema": (["CREATE SCHEMA other", _TABLE.format("other.links")], GOOD),
    "duckdb table in a second schema by name": (
        [_TABLE.format("edges"), "CREATE SCHEMA other", _TABLE.format("other.edges")], GOOD, "other.edges"),
    "duckdb columns of all types": (
        [_TABLE.format("plain"), "CREATE TABLE edges AS SELECT *, {} FROM plain".format(
            ", ".join(f"{each} AS c{k}" for k, each in enumerate(_KINDS))), "DROP TABLE plain"], GOOD),
    "duckdb weights of type hugeint": (
        ["CREATE TABLE edges AS SELECT 'a' AS src, 'b' AS dst, sum(3) AS weight"], [["a", "b", 3.0]]),
    "duckdb computed column of gigabytes": (
        ["CREATE TABLE edges (src INT, dst INT, x VARCHAR GENERATED ALWAYS AS (repeat('x', 1000000)))",
         "INSERT INTO edges SELECT i, i + 1 FROM range(10000) t(i)"],
        "'edges' has computed columns, which are not read"),
    "duckdb view of generated rows": (
        ["CREATE VIEW edges AS SELECT i AS src, i + 1 AS dst FROM range(10000000000) t(i)"], _NO_VIEWS.format("edges")),
    "sqlite view of recursive rows": (["CREATE VIEW edges AS " + _ROWS.format("", "")], _NO_VIEWS.format("edges")),
    "sqlite good table beside a broken view": ([*_LITE, "CREATE VIEW broken AS SELECT * FROM gone"], GOOD),
    "sqlite virtual table": (
        ["CREATE VIRTUAL TABLE edges USING fts5(src, dst)", "INSERT INTO edges VALUES ('a', 'b')"],
        _NO_VIEWS.format("edges")),
    "sqlite computed column of gigabytes": (
        ["CREATE TABLE edges (src, dst, x GENERATED ALWAYS AS (hex(zeroblob(2000000))))",
         _ROWS.format(" LIMIT 2000", "INSERT INTO edges (src, dst)")], "memory"),
    "sqlite table that calls an unsafe function": (
        [*_LITE, "CREATE TABLE other (src, dst, x GENERATED ALWAYS AS (upper(src)))"], GOOD),
}  # fmt: skip
"""Statements, what is expected, and perhaps the table of edges; SECRET is the path of the file with the secret."""
_MTX = "%%MatrixMarket matrix coordinate real {}\n{}\n"
_HGB = {"node.dat": "0\ta\t0\t1\n1\tb\t0\t2\n", "link.dat": "0\t1\t0\t1\n", "info.dat": "{}"}
FILES: dict[str, tuple[dict[str, str | bytes], Any]] = {
    "json lines nested deeply": (
        {"g.jsonl": '{"src": ' + "[" * 30_000 + "]" * 30_000 + ', "dst": 1}\n'}, "levels of nested brackets"),
    "json nested deeply": (
        {"g.json": '{"nodes": ' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}"}, "levels of nested brackets"),
    "graphml nested deeply": ({"g.graphml": "<graphml>" + "<graph>" * 200_000}, "not a readable"),
    "gml nested deeply": ({"g.gml": "graph [ " + "a [ " * 50_000 + "] " * 50_001}, "not a readable"),
    "matrix market with zero bytes": ({"g.mtx": _MTX.format("general", "3 3 2\n1 2 \0\0\n2 3 1")}, "has zero bytes"),
    "matrix market cut within an exponent": (
        {"g.mtx": _MTX.format("symmetric", "4 4 2\n2 1 2\n3 2 1E").rstrip("\n")}, "line 4: '3 2 1E' are not numbers"),
    "matrix market with letters behind a number": (
        {"g.mtx": _MTX.format("general", "3 3 2\n2 1 1e5x\n3 2 1")}, "line 3: '2 1 1e5x' are not numbers"),
    "matrix market of a billion rows": (
        {"g.mtx": _MTX.format("general", "1000000000 1000000000 1\n1 2 1")}, _BOUND),
    "sparse6 with letters of other formats": (
        {"g.s6": b">>sparse6<<:\xef\xbf\xbfDa@eN\n"}, "letters that the format does not use"),
    "sparse6 of a billion nodes": ({"g.s6": b">>sparse6<<:~~?zzzzzn\n"}, _BOUND),
    "several graphs in one graph6 file": (
        {"g.g6": b"".join(nx.to_graph6_bytes(nx.path_graph(n), header=False) for n in (3, 4))},
        "has 2 graphs; write one graph to a file"),
    "pajek names with apostrophes": (
        {"g.net": "*Vertices 2\n1 O'Neil 0.0 0.0 ellipse\n2 \"it's 'x'\"\n*Edges\n1 2 2.0\n"},
        [["O'Neil", "it's 'x'", 2.0]]),
    "pajek label of 2 megabytes": (
        {"g.net": f'*Vertices 2\n1 "{"x" * 2_000_000}"\n2 "b"\n*Edges\n1 2\n'}, "a line of more than"),
    "ogb": ({"edge.csv": "0,1\n1,2\n", "num-node-list.csv": "3\n"}, [["0", "1", 1.0], ["1", "2", 1.0]]),
    "ogb edge beyond the nodes": (
        {"edge.csv": "0,1\n1,3\n", "num-node-list.csv": "3\n"}, "'3' is not a node; .* from 0 to 2"),
    "ogb edges by names": ({"edge.csv": "0,1\nx,2\n", "num-node-list.csv": "3\n"}, "'x' is not a node"),
    "ogb of a billion nodes": ({"edge.csv": "0,1\n", "num-node-list.csv": "1000000000\n"}, _BOUND),
    "ogb number of 5000 digits": ({"edge.csv": "0,1\n", "num-node-list.csv": "9" * 5000}, "must hold one number"),
    "hgb id of 23 digits": (
        {**_HGB, "node.dat": f"{'1' * 23}\ta\t0\t1\n1\tb\t0\t1\n"}, "line 1 .* numbers of up to 18 digits"),
    "hgb values that are nan": (
        {**_HGB, "node.dat": "0\ta\t0\tnan,1\n1\tb\t0\t1,2\n"}, "line 1: the values are not a list"),
    "hgb with nested info": ({**_HGB, "info.dat": "[" * 100_000}, None),
    "ids of a million letters": (
        {"g.csv": f"src,dst\n{'x' * 1_000_000},b\n"}, [["b", "x" * 1_000_000, 1.0]]),
}  # fmt: skip
"""Files by their names, and what is expected; several are one folder."""


def _cells(folder: Path) -> Path:
    obs, var = (pd.DataFrame(index=pd.Index(each, dtype=object)) for each in (["a", "b", "c"], ["g"]))
    graph = sp.csr_matrix(np.array([[0, 1.0, 0], [1, 0, 1], [0, 1, 0]]))
    cells = anndata.AnnData(sp.csr_matrix(np.eye(3)[:, :1]), obs=obs, var=var, obsp={"connectivities": graph})
    cells.write_h5ad(folder / "g.h5ad")
    return folder / "g.h5ad"


@_case
def h5ad(folder: Path) -> Made:
    _cells(folder)
    return {"arguments": {"edges": "g.h5ad"}, "truth": GOOD}


@_case
def h5ad_with_an_external_link(folder: Path) -> Made:
    other = folder.parent / "other.h5"
    with h5py.File(other, "w") as file:
        file["names"] = np.array([SECRET.encode()] * 3)
    with h5py.File(_cells(folder), "a") as file:
        del file["obs/_index"]
        file["obs/_index"] = h5py.ExternalLink(str(other), "/names")
    return {"arguments": {"edges": "g.h5ad"}, "refused": "/obs/_index is a link.*not followed"}


@_case
def h5ad_with_external_storage(folder: Path) -> Made:
    with h5py.File(_cells(folder), "a") as file:
        del file["obs/_index"]
        size = (folder.parent / "secret.csv").stat().st_size // 3
        place = [(str(folder.parent / "secret.csv"), 0, 3 * size)]
        index = file.create_dataset("obs/_index", (3,), f"S{size}", external=place)
        index.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
    return {"arguments": {"edges": "g.h5ad"}, "refused": "values of /obs/_index are in another file"}


@_case
def h5ad_with_a_virtual_dataset(folder: Path) -> Made:
    other = folder.parent / "virtual.h5"
    with h5py.File(other, "w") as file:
        file["x"] = np.ones((3, 1))
    with h5py.File(_cells(folder), "a") as file:
        del file["X"]
        layout = h5py.VirtualLayout((3, 1), "f8")
        layout[:] = h5py.VirtualSource(str(other), "x", (3, 1))
        file.create_virtual_dataset("X", layout)
    return {"arguments": {"edges": "g.h5ad"}, "refused": "values of /X are in another file"}


_ARRAYS = {
    "h5ad with indices out of range": ("obsp/connectivities/indices", [1, 0, 2_000_000_000, 1]),
    "h5ad with negative indices": ("X/indices", -1_000_000),
    "h5ad with starts out of range": ("obsp/connectivities/indptr", [0, 1_000_000_000, 1_000_000_000, 4]),
}
"""An array in the file and what it is replaced by; features are read as well as edges."""


def _damage_array(folder: Path, name: str, values: Any) -> Made:
    with h5py.File(_cells(folder), "a") as file:
        file[name][:] = values
    (folder / "e.csv").write_text("a,b\nb,c\n")
    roles = {"edges": "e.csv", "features": "g.h5ad"} if name.startswith("X") else {"edges": "g.h5ad"}
    return {"arguments": roles, "refused": "not a readable .h5ad file"}


for _name, (_array, _values) in _ARRAYS.items():
    _MAKERS[_name] = partial(_damage_array, name=_array, values=_values)


@_case
def h5ad_whose_groups_contain_each_other(folder: Path) -> Made:
    with h5py.File(_cells(folder), "a") as file:
        file["uns/loop"] = file["uns"]
    return {"arguments": {"edges": "g.h5ad"}}


@_case
def json_with_brackets_in_texts(folder: Path) -> Made:
    links = [{"source": "[" * 500, "target": '"{\\' * 300}]
    nodes = [{"id": links[0]["source"]}, {"id": links[0]["target"]}]
    (folder / "g.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    return {
        "arguments": {"edges": "g.json"},
        "truth": [[*sorted((links[0]["source"], links[0]["target"])), 1.0]],
    }


@_case
def graphml_of_entities(folder: Path) -> Made:
    names = "abcdefghij"
    entities = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise(names))
    text = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "{"x" * 100}">{entities}]>'
    (folder / "g.graphml").write_text(f"{text}<graphml><graph><node id='&j;'/></graph></graphml>")
    return {"arguments": {"edges": "g.graphml"}, "refused": "not a readable"}


@_case
def graphml_with_an_external_entity(folder: Path) -> Made:
    start = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file://{folder.parent / "secret.csv"}">]>'
    text = '<graphml><graph edgedefault="undirected"><node id="a">&e;</node></graph></graphml>'
    (folder / "g.graphml").write_text(start + text)
    return {"arguments": {"edges": "g.graphml"}, "refused": "not a readable"}


@_case
def adjacency_list_with_directions(folder: Path) -> Made:
    edges = [("b", "a"), ("c", "a"), ("a", "d"), ("d", "b")]
    nx.write_adjlist(nx.DiGraph(edges), folder / "g.adjlist")
    truth = [[s, t, 1.0] for s, t in edges]
    return {"arguments": {"edges": "g.adjlist", "directed": True}, "truth": truth}


@_case
def multiline_adjacency_list_with_directions(folder: Path) -> Made:
    edges = [("b", "a", 2.0), ("c", "a", -1.0), ("a", "d", 1.0), ("d", "b", 0.5)]
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(edges)
    nx.write_multiline_adjlist(graph, folder / "g.multiline_adjlist")
    return {
        "arguments": {"edges": "g.multiline_adjlist", "directed": True},
        "truth": [list(each) for each in edges],
    }


@_case
def undirected_graphml_read_as_directed(folder: Path) -> Made:
    nx.write_graphml(nx.Graph([("b", "a"), ("a", "c")]), folder / "g.graphml")
    truth = [["a", "b", 1.0], ["a", "c", 1.0]]
    return {"arguments": {"edges": "g.graphml", "directed": True}, "truth": truth}


@_case
def parquet_of_long_texts(folder: Path) -> Made:
    texts = pa.array(["x" * 1_000_000]).take(pa.array(np.zeros(1000, np.int64)))
    table = pa.table({"src": texts, "dst": ["b"] * 1000})
    pq.write_table(table, folder / "g.parquet", compression="zstd")
    return {"arguments": {"edges": "g.parquet"}, "refused": "of memory or more, above the bound"}


@_case
def parquet_of_lists_of_long_texts(folder: Path) -> Made:
    values = pa.array(["x" * 1_000_000]).take(pa.array(np.zeros(1000, np.int64)))
    lists = pa.ListArray.from_arrays(pa.array([0, 1000], pa.int32()), values)
    pq.write_table(
        pa.table({"src": ["a"], "dst": ["b"], "label": lists}), folder / "g.parquet", compression="zstd"
    )
    return {"arguments": {"edges": "g.parquet"}, "refused": "of memory or more, above the bound"}


@_case
def npz_with_nested_metadata(folder: Path) -> Made:
    arrays = {"data": np.eye(2), "metadata": np.array("[" * 100_000)}
    np.savez(folder / "g.npz", **arrays)
    return {"arguments": {"edges": "g.npz"}, "truth": [["0", "0", 1.0], ["1", "1", 1.0]]}


@_case
def glob_with_a_dangling_link(folder: Path) -> Made:
    (folder / "a.csv").write_text("a,b\n")
    (folder / "b.csv").symlink_to(folder / "gone.csv")
    return {"arguments": {"edges": "*.csv"}, "refused": "b.csv' links to a file that does not exist"}


@_case
def glob_over_pipes_and_links_to_the_own_folder(folder: Path) -> Made:
    (folder / "sub").mkdir()
    (folder / "sub" / "a.csv").write_text("a,b\nb,c\n")
    os.mkfifo(folder / "sub" / "pipe.csv")
    for name in ("x", "y"):
        (folder / "sub" / name).symlink_to(folder, target_is_directory=True)
    (folder / "sub" / "again.csv").symlink_to(folder / "sub" / "a.csv")
    return {"arguments": {"edges": "**/*.csv", "symmetrize": "error"}, "truth": GOOD}


@_case
def glob_over_files_of_the_system(folder: Path) -> Made:
    (folder / "link").symlink_to("/proc/self", target_is_directory=True)
    return {"arguments": {"edges": "link/*"}, "refused": "no file has a name like"}


@_case
def folder_with_links_to_itself(folder: Path) -> Made:
    (folder / "sub").mkdir()
    (folder / "sub" / "a.csv").write_text("a,b\nb,c\n")
    (folder / "sub" / "self").symlink_to(folder / "sub", target_is_directory=True)
    (folder / "sub" / "b.csv").hardlink_to(folder / "sub" / "a.csv")
    return {"arguments": {"edges": "sub", "symmetrize": "error"}, "truth": GOOD}


@_case
def names_that_are_code(folder: Path) -> Made:
    names = ["'; DROP TABLE edges; --", "{0.__class__}", "%s%n", "$(id)", "__import__('os').system('id')"]
    edges = [[*sorted(pair), 1.0] for pair in itertools.pairwise(names)]
    pq.write_table(
        pa.table({"src": [e[0] for e in edges], "dst": [e[1] for e in edges]}), folder / "g.parquet"
    )
    return {"arguments": {"edges": "g.parquet"}, "truth": edges}


@_case
def gzip_of_a_gigabyte(folder: Path) -> Made:
    (folder / "g.csv.gz").write_bytes(gzip.compress(b"a,b\n" * 25_000_000, 1))
    return _expect("g.csv.gz", _BOUND)
