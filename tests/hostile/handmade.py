"""Files made by hand, each of which once crashed, spied, filled the memory or got a wrong answer."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
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
    for k, (name, maker) in enumerate(_MAKERS.items()):
        own = folder / f"{k}"
        own.mkdir()
        yield Case(name, "made by hand", own, secret=SECRET, **maker(own))


def _duck(folder: Path, *statements: str) -> Path:
    path = folder / "g.duckdb"
    with duckdb.connect(str(path)) as database:
        for statement in statements:
            database.execute(statement)
    return path


def _lite(folder: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "g.sqlite")) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


_GOOD_TABLE = "CREATE TABLE {} AS SELECT * FROM (VALUES ('a', 'b'), ('b', 'c')) t(src, dst)"


@_case
def duckdb_view_of_a_csv_file(folder: Path) -> Made:
    _duck(folder, f"CREATE VIEW edges AS SELECT * FROM read_csv('{folder.parent / 'secret.csv'}')")
    return {
        "arguments": {"edges": "g.duckdb"},
        "refused": "virtual tables are not read \\('edges'\\)",
    }


@_case
def duckdb_view_of_a_text(folder: Path) -> Made:
    query = f"SELECT content AS src, filename AS dst FROM read_text('{folder.parent / 'secret.csv'}')"
    _duck(folder, f"CREATE VIEW v AS {query}")
    return {"arguments": {"edges": "g.duckdb", "edges_table": "v"}, "refused": "virtual tables are not read"}


@_case
def duckdb_view_of_a_glob(folder: Path) -> Made:
    _duck(folder, f"CREATE VIEW v AS SELECT file AS src, file AS dst FROM glob('{folder.parent}/*')")
    return {"arguments": {"edges": "g.duckdb"}, "refused": "virtual tables are not read \\('v'\\)"}


@_case
def duckdb_good_table_beside_a_spying_view(folder: Path) -> Made:
    query = f"SELECT * FROM read_csv('{folder.parent / 'secret.csv'}')"
    _duck(folder, _GOOD_TABLE.format("links"), f"CREATE VIEW v AS {query}")
    return {"arguments": {"edges": "g.duckdb"}, "truth": GOOD}


@_case
def duckdb_good_table_beside_a_broken_view(folder: Path) -> Made:
    _duck(
        folder,
        _GOOD_TABLE.format("edges"),
        "CREATE TABLE gone (x INT)",
        "CREATE VIEW broken AS SELECT * FROM gone",
        "DROP TABLE gone",
    )
    return {"arguments": {"edges": "g.duckdb"}, "truth": GOOD}


@_case
def duckdb_table_in_a_second_schema(folder: Path) -> Made:
    _duck(folder, "CREATE SCHEMA other", _GOOD_TABLE.format("other.links"))
    return {"arguments": {"edges": "g.duckdb"}, "truth": GOOD}


@_case
def duckdb_table_in_a_second_schema_by_name(folder: Path) -> Made:
    _duck(folder, _GOOD_TABLE.format("edges"), "CREATE SCHEMA other", _GOOD_TABLE.format("other.edges"))
    return {"arguments": {"edges": "g.duckdb", "edges_table": "other.edges"}, "truth": GOOD}


@_case
def duckdb_columns_of_all_types(folder: Path) -> Made:
    kinds = (
        "now()",
        "uuid()",
        "3::HUGEINT",
        "1.5::DECIMAL(5, 2)",
        "DATE '2020-01-01'",
        "INTERVAL 1 DAY",
        "[1, 2]",
    )
    more = ", ".join(
        f"{each} AS c{k}" for k, each in enumerate((*kinds, "{'a': 1}", "MAP {'a': 1}", "'x'::BLOB"))
    )
    _duck(
        folder,
        _GOOD_TABLE.format("plain"),
        f"CREATE TABLE edges AS SELECT *, {more} FROM plain",
        "DROP TABLE plain",
    )
    return {"arguments": {"edges": "g.duckdb"}, "truth": GOOD}


@_case
def duckdb_weights_of_type_hugeint(folder: Path) -> Made:
    _duck(folder, "CREATE TABLE edges AS SELECT 'a' AS src, 'b' AS dst, sum(3) AS weight")
    return {"arguments": {"edges": "g.duckdb"}, "truth": [["a", "b", 3.0]]}


@_case
def duckdb_computed_column_of_gigabytes(folder: Path) -> Made:
    _duck(
        folder,
        "CREATE TABLE edges (src INT, dst INT, x VARCHAR GENERATED ALWAYS AS (repeat('x', 1000000)))",
        "INSERT INTO edges SELECT i, i + 1 FROM range(10000) t(i)",
    )
    return {"arguments": {"edges": "g.duckdb"}, "refused": "'edges' has computed columns, which are not read"}


@_case
def duckdb_view_of_generated_rows(folder: Path) -> Made:
    _duck(folder, "CREATE VIEW edges AS SELECT i AS src, i + 1 AS dst FROM range(10000000000) t(i)")
    return {"arguments": {"edges": "g.duckdb"}, "refused": "virtual tables are not read"}


@_case
def sqlite_view_of_recursive_rows(folder: Path) -> Made:
    rows = (
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT i AS src, i + 1 AS dst FROM r"
    )
    _lite(folder, f"CREATE VIEW edges AS {rows}")
    return {"arguments": {"edges": "g.sqlite"}, "refused": "virtual tables are not read \\('edges'\\)"}


@_case
def sqlite_good_table_beside_a_broken_view(folder: Path) -> Made:
    _lite(
        folder,
        "CREATE TABLE edges (src, dst)",
        "INSERT INTO edges VALUES ('a', 'b'), ('b', 'c')",
        "CREATE VIEW broken AS SELECT * FROM gone",
    )
    return {"arguments": {"edges": "g.sqlite"}, "truth": GOOD}


@_case
def sqlite_virtual_table(folder: Path) -> Made:
    _lite(folder, "CREATE VIRTUAL TABLE edges USING fts5(src, dst)", "INSERT INTO edges VALUES ('a', 'b')")
    return {"arguments": {"edges": "g.sqlite"}, "refused": "virtual tables are not read \\('edges'\\)"}


@_case
def sqlite_computed_column_of_gigabytes(folder: Path) -> Made:
    _lite(
        folder,
        "CREATE TABLE edges (src, dst, x GENERATED ALWAYS AS (hex(zeroblob(2000000))))",
        "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 2000) "
        "INSERT INTO edges (src, dst) SELECT i, i + 1 FROM r",
    )
    return {"arguments": {"edges": "g.sqlite"}, "refused": "memory"}


@_case
def sqlite_table_that_calls_an_unsafe_function(folder: Path) -> Made:
    _lite(
        folder,
        "CREATE TABLE edges (src, dst)",
        "INSERT INTO edges VALUES ('a', 'b'), ('b', 'c')",
        "CREATE TABLE other (src, dst, x GENERATED ALWAYS AS (upper(src)))",
    )
    return {"arguments": {"edges": "g.sqlite"}, "truth": GOOD}


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


@_case
def h5ad_with_indices_out_of_range(folder: Path) -> Made:
    with h5py.File(_cells(folder), "a") as file:
        file["obsp/connectivities/indices"][:] = [1, 0, 2_000_000_000, 1]
    return {"arguments": {"edges": "g.h5ad"}, "refused": "not a readable .h5ad file"}


@_case
def h5ad_with_negative_indices(folder: Path) -> Made:
    with h5py.File(_cells(folder), "a") as file:
        file["X/indices"][:] = -1_000_000
    (folder / "e.csv").write_text("a,b\nb,c\n")
    return {"arguments": {"edges": "e.csv", "features": "g.h5ad"}, "refused": "not a readable .h5ad file"}


@_case
def h5ad_with_starts_out_of_range(folder: Path) -> Made:
    with h5py.File(_cells(folder), "a") as file:
        file["obsp/connectivities/indptr"][:] = [0, 1_000_000_000, 1_000_000_000, 4]
    return {"arguments": {"edges": "g.h5ad"}, "refused": "not a readable .h5ad file"}


@_case
def h5ad_whose_groups_contain_each_other(folder: Path) -> Made:
    with h5py.File(_cells(folder), "a") as file:
        file["uns/loop"] = file["uns"]
    return {"arguments": {"edges": "g.h5ad"}}


@_case
def json_lines_nested_deeply(folder: Path) -> Made:
    (folder / "g.jsonl").write_text('{"src": ' + "[" * 30_000 + "]" * 30_000 + ', "dst": 1}\n')
    return {"arguments": {"edges": "g.jsonl"}, "refused": "levels of nested brackets"}


@_case
def json_nested_deeply(folder: Path) -> Made:
    (folder / "g.json").write_text('{"nodes": ' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}")
    return {"arguments": {"edges": "g.json"}, "refused": "levels of nested brackets"}


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
def graphml_nested_deeply(folder: Path) -> Made:
    (folder / "g.graphml").write_text("<graphml>" + "<graph>" * 200_000)
    return {"arguments": {"edges": "g.graphml"}, "refused": "not a readable"}


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
def gml_nested_deeply(folder: Path) -> Made:
    (folder / "g.gml").write_text("graph [ " + "a [ " * 50_000 + "] " * 50_001)
    return {"arguments": {"edges": "g.gml"}, "refused": "not a readable"}


@_case
def matrix_market_with_zero_bytes(folder: Path) -> Made:
    (folder / "g.mtx").write_bytes(
        b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 \x00\x00\n2 3 1\n"
    )
    return {"arguments": {"edges": "g.mtx"}, "refused": "has zero bytes"}


@_case
def matrix_market_cut_within_an_exponent(folder: Path) -> Made:
    (folder / "g.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n4 4 2\n2 1 2\n3 2 1E")
    return {"arguments": {"edges": "g.mtx"}, "refused": "line 4: '3 2 1E' are not numbers"}


@_case
def matrix_market_with_letters_behind_a_number(folder: Path) -> Made:
    (folder / "g.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 1e5x\n3 2 1\n")
    return {"arguments": {"edges": "g.mtx"}, "refused": "line 3: '2 1 1e5x' are not numbers"}


@_case
def sparse6_with_letters_of_other_formats(folder: Path) -> Made:
    (folder / "g.s6").write_bytes(b">>sparse6<<:\xef\xbf\xbfDa@eN\n")
    return {"arguments": {"edges": "g.s6"}, "refused": "letters that the format does not use"}


@_case
def matrix_market_of_a_billion_rows(folder: Path) -> Made:
    size = "1000000000 1000000000 1"
    (folder / "g.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{size}\n1 2 1\n")
    return {"arguments": {"edges": "g.mtx"}, "refused": "of memory or more, above the bound"}


@_case
def sparse6_of_a_billion_nodes(folder: Path) -> Made:
    (folder / "g.s6").write_bytes(b">>sparse6<<:~~?zzzzzn\n")
    return {"arguments": {"edges": "g.s6"}, "refused": "of memory or more, above the bound"}


@_case
def several_graphs_in_one_graph6_file(folder: Path) -> Made:
    graphs = (nx.to_graph6_bytes(nx.path_graph(n), header=False) for n in (3, 4))
    (folder / "g.g6").write_bytes(b"".join(graphs))
    return {"arguments": {"edges": "g.g6"}, "refused": "has 2 graphs; write one graph to a file"}


@_case
def pajek_names_with_apostrophes(folder: Path) -> Made:
    (folder / "g.net").write_text("*Vertices 2\n1 O'Neil 0.0 0.0 ellipse\n2 \"it's 'x'\"\n*Edges\n1 2 2.0\n")
    return {"arguments": {"edges": "g.net"}, "truth": [["O'Neil", "it's 'x'", 2.0]]}


@_case
def pajek_label_of_2_megabytes(folder: Path) -> Made:
    (folder / "g.net").write_text(f'*Vertices 2\n1 "{"x" * 2_000_000}"\n2 "b"\n*Edges\n1 2\n')
    return {"arguments": {"edges": "g.net"}, "refused": "a line of more than"}


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


def _ogb(folder: Path, nodes: str, edges: str) -> Made:
    (folder / "edge.csv").write_text(edges)
    (folder / "num-node-list.csv").write_text(nodes)
    return {"arguments": {"edges": ""}}


@_case
def ogb_edge_beyond_the_nodes(folder: Path) -> Made:
    return {**_ogb(folder, "3\n", "0,1\n1,3\n"), "refused": "'3' is not a node; .* from 0 to 2"}


@_case
def ogb_edges_by_names(folder: Path) -> Made:
    return {**_ogb(folder, "3\n", "0,1\nx,2\n"), "refused": "'x' is not a node"}


@_case
def ogb_of_a_billion_nodes(folder: Path) -> Made:
    return {**_ogb(folder, "1000000000\n", "0,1\n"), "refused": "of memory or more, above the bound"}


@_case
def ogb_number_of_5000_digits(folder: Path) -> Made:
    return {**_ogb(folder, "9" * 5000, "0,1\n"), "refused": "must hold one number"}


@_case
def ogb(folder: Path) -> Made:
    return {**_ogb(folder, "3\n", "0,1\n1,2\n"), "truth": [["0", "1", 1.0], ["1", "2", 1.0]]}


def _hgb(folder: Path, nodes: str, links: str, info: str = "{}") -> Made:
    for name, text in (("node.dat", nodes), ("link.dat", links), ("info.dat", info)):
        (folder / name).write_text(text)
    return {"arguments": {"edges": ""}}


@_case
def hgb_id_of_23_digits(folder: Path) -> Made:
    nodes = f"{'1' * 23}\ta\t0\t1\n1\tb\t0\t1\n"
    return {**_hgb(folder, nodes, "0\t1\t0\t1\n"), "refused": "line 1 .* numbers of up to 18 digits"}


@_case
def hgb_values_that_are_nan(folder: Path) -> Made:
    return {
        **_hgb(folder, "0\ta\t0\tnan,1\n1\tb\t0\t1,2\n", "0\t1\t0\t1\n"),
        "refused": "line 1: the values are not a list",
    }


@_case
def hgb_with_nested_info(folder: Path) -> Made:
    return _hgb(folder, "0\ta\t0\t1\n1\tb\t0\t2\n", "0\t1\t0\t1\n", "[" * 100_000)


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
def gzip_of_a_gigabyte(folder: Path) -> Made:
    (folder / "g.csv.gz").write_bytes(gzip.compress(b"a,b\n" * 25_000_000, 1))
    return {"arguments": {"edges": "g.csv.gz"}, "refused": "of memory or more, above the bound"}


@_case
def ids_of_a_million_letters(folder: Path) -> Made:
    long = "x" * 1_000_000
    (folder / "g.csv").write_text(f"src,dst\n{long},b\n")
    return {"arguments": {"edges": "g.csv"}, "truth": [["b", long, 1.0]]}


@_case
def names_that_are_code(folder: Path) -> Made:
    names = ["'; DROP TABLE edges; --", "{0.__class__}", "%s%n", "$(id)", "__import__('os').system('id')"]
    edges = [[*sorted(pair), 1.0] for pair in itertools.pairwise(names)]
    pq.write_table(
        pa.table({"src": [e[0] for e in edges], "dst": [e[1] for e in edges]}), folder / "g.parquet"
    )
    return {"arguments": {"edges": "g.parquet"}, "truth": edges}
