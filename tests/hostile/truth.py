"""Graphs whose edges are known, written by the real libraries and read by them."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anndata
import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.io
import scipy.sparse as sp

import unseen

ODD = (
    *("a b", "ü", "007", "x,y", "nan", "-1", "#c", "é|è", "日本", "a;b", "O'Neil"),
    *('say "hi"', "<b>&amp;", "A", "1e5"),
)
WEIGHTS = (0.5, 1.0, 2.0, 3.25, 0.001, 1e9)
Edge = list[Any]


def draw_edges(
    rng: np.random.Generator, *, directed: bool, weighted: bool, signed: bool, odd: bool
) -> list[Edge]:
    """Return edges as ``[src, dst, weight]`` with texts as ids; each pair once, and no node without an edge."""
    n = int(rng.integers(2, 9))
    ids = [str(each) for each in rng.permutation(ODD)[:n]] if odd else [str(each) for each in range(n)]
    edges: list[Edge] = []
    for i in range(n):
        j = int(rng.integers(n - 1))
        j += j >= i
        pairs = {(s, t) if directed else tuple(sorted((s, t))) for s, t, _ in edges}
        pair = (ids[i], ids[j]) if directed or i < j else (ids[j], ids[i])
        if (pair if directed else tuple(sorted(pair))) in pairs:
            continue
        weight = float(rng.choice(WEIGHTS)) if weighted else 1.0
        edges.append([*pair, -weight if signed and rng.random() < 0.5 else weight])
    if signed:
        edges[0][2] = -abs(edges[0][2])
    return edges


def canonical(src: Any, dst: Any, weight: float, *, directed: bool) -> Edge:
    """Return an edge in the form in which edges are compared."""
    ends = [str(src), str(dst)] if directed else sorted((str(src), str(dst)))
    return [*ends, float(weight)]


def edges_of(graph: unseen.Graph) -> list[Edge]:
    """Return the edges of a graph of ours."""
    edges = []
    for relation in graph.relations:
        matrix = (relation.matrix if relation.directed else sp.triu(relation.matrix)).tocoo()
        for i, j, weight in zip(matrix.row, matrix.col, matrix.data, strict=True):
            ends = graph.node_ids[i], graph.node_ids[j]
            edges.append(canonical(*ends, weight, directed=relation.directed))
    return edges


def graph_of(edges: list[Edge], *, directed: bool) -> unseen.Graph:
    """Return a graph of ours."""
    src, dst, weight = zip(*edges, strict=True)
    nodes = None
    # formats of matrices have no names
    if all(each.isdecimal() and str(int(each)) == each for each in (*src, *dst)):
        src, dst = ([int(each) for each in end] for end in (src, dst))
        nodes = list(range(1 + max(*src, *dst)))
    table = pa.table({"src": src, "dst": dst, "weight": weight})
    return unseen.read_graph(table, nodes=nodes, directed=directed)


def network_of(edges: list[Edge], *, directed: bool) -> Any:
    """Return a graph of networkx."""
    graph = nx.DiGraph() if directed else nx.Graph()
    for src, dst, weight in edges:
        graph.add_edge(src, dst, **({} if weight == 1 else {"weight": weight}))
    return graph


def _frame(edges: list[Edge]) -> pd.DataFrame:
    frame = pd.DataFrame(edges, columns=["src", "dst", "weight"])
    return frame if (frame["weight"] != 1).any() else frame.drop(columns="weight")


def _matrix(edges: list[Edge], *, directed: bool) -> tuple[list[str], Any]:
    ids = list(dict.fromkeys(each for edge in edges for each in edge[:2]))
    if all(each.isdecimal() for each in ids):  # rows without names are numbered
        ids = [str(k) for k in range(1 + max(map(int, ids)))]
    matrix = sp.lil_array((len(ids), len(ids)))
    for src, dst, weight in edges:
        matrix[ids.index(src), ids.index(dst)] = weight
        if not directed:
            matrix[ids.index(dst), ids.index(src)] = weight
    return ids, matrix.tocsr()


NETWORKS = {
    ".graphml": nx.write_graphml,
    ".gexf": nx.write_gexf,
    ".gml": nx.write_gml,
    ".net": nx.write_pajek,
    ".adjlist": nx.write_adjlist,
    ".multiline_adjlist": nx.write_multiline_adjlist,
    ".edgelist": nx.write_edgelist,
    ".json": lambda graph, path: Path(path).write_text(json.dumps(nx.node_link_data(graph, edges="links"))),
    ".g6": lambda graph, path: nx.write_graph6(_numbered(graph), path),
    ".s6": lambda graph, path: nx.write_sparse6(_numbered(graph), path),
}
TABLES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".feather": lambda frame, path: frame.to_feather(path),
    ".jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
}
MATRICES: dict[str, Callable[[Any, Path], Any]] = {
    ".npz": lambda matrix, path: sp.save_npz(path, matrix),
    ".mtx": lambda matrix, path: scipy.io.mmwrite(path, matrix),
    ".mat": lambda matrix, path: scipy.io.savemat(path, {"network": matrix.tocsc()}),
}
FORMATS = (*NETWORKS, *TABLES, *MATRICES, ".sqlite", ".duckdb", ".h5ad")
UNWEIGHTED = (".adjlist", ".g6", ".s6")
NUMBERED = (".g6", ".s6", *MATRICES)
UNDIRECTED = (".g6", ".s6")
WRITTEN = (".graphml", ".gexf", ".gml", ".net", ".json", *TABLES, ".npz", ".mtx")
"""What unseen writes, too."""
NO_DIRECTION = (".gexf", ".net", ".npz", ".mtx")
"""Of these, what it does not write with directions; ``.net`` has no double quotes in ids either."""


def _numbered(graph: Any) -> Any:
    n = 1 + max(map(int, graph))
    numbered = nx.empty_graph(n)
    numbered.add_edges_from((int(s), int(t)) for s, t in graph.edges)
    return numbered


def write_by_library(edges: list[Edge], path: Path, *, directed: bool) -> None:
    """Write edges in the format of the suffix, by the library that people use for it."""
    suffix = path.suffix
    if suffix in NETWORKS:
        with warnings.catch_warnings(action="ignore"):
            NETWORKS[suffix](network_of(edges, directed=directed), str(path))
    elif suffix in TABLES:
        TABLES[suffix](_frame(edges), path)
    elif suffix in MATRICES:
        MATRICES[suffix](_matrix(edges, directed=directed)[1], path)
    elif suffix == ".h5ad":
        ids, matrix = _matrix(edges, directed=directed)
        obs, var = (pd.DataFrame(index=pd.Index(names, dtype=object)) for names in (ids, []))
        links = {"connectivities": sp.csr_matrix(matrix)}
        anndata.AnnData(obs=obs, var=var, obsp=links).write_h5ad(path)
    elif suffix == ".duckdb":
        with duckdb.connect(str(path)) as database:
            database.register("frame", _frame(edges))
            database.execute("CREATE TABLE edges AS SELECT * FROM frame")
    else:
        with contextlib.closing(sqlite3.connect(path)) as database:
            _frame(edges).to_sql("edges", database, index=False)


def read_by_library(path: Path, *, directed: bool) -> list[Edge]:
    """Return the edges of a file, read by the library that people use for it."""
    suffix = path.suffix
    with warnings.catch_warnings(action="ignore"):
        if suffix in NETWORKS:
            graph = _read_network(path, directed)
            weighted = graph.edges(data="weight", default=1.0)
            return [canonical(src, dst, weight, directed=directed) for src, dst, weight in weighted]
        if suffix in TABLES:
            text = {"dtype": {"src": str, "dst": str}, "keep_default_na": False}
            as_it_is = {"orient": "records", "lines": True, "dtype": False, "convert_dates": False}
            read: dict[str, Callable[[], pd.DataFrame]] = {
                ".csv": lambda: pd.read_csv(path, **text),
                ".tsv": lambda: pd.read_csv(path, sep="\t", **text),
                ".parquet": lambda: pd.read_parquet(path),
                ".feather": lambda: pd.read_feather(path),
                ".jsonl": lambda: pd.read_json(path, **as_it_is),
            }
            frame = read[suffix]()
            weights = frame["weight"] if "weight" in frame else [1.0] * len(frame)
            rows = zip(frame["src"], frame["dst"], weights, strict=True)
            return [canonical(src, dst, weight, directed=directed) for src, dst, weight in rows]
        matrix = sp.load_npz(path) if suffix == ".npz" else scipy.io.mmread(path)
    ids: Any = range(matrix.shape[0])
    if suffix == ".npz":
        with np.load(path) as arrays:
            ids = arrays["ids"].tolist() if "ids" in arrays else ids
    matrix = sp.coo_array(matrix if directed else sp.triu(matrix))
    rows = zip(matrix.row, matrix.col, matrix.data, strict=True)
    return [canonical(ids[i], ids[j], weight, directed=directed) for i, j, weight in rows]


def _read_network(path: Path, directed: bool) -> Any:
    kind = nx.DiGraph if directed else nx.Graph
    with contextlib.suppress(KeyError):
        return {
            ".adjlist": lambda: nx.read_adjlist(path, create_using=kind),
            ".multiline_adjlist": lambda: nx.read_multiline_adjlist(path, create_using=kind),
            ".edgelist": lambda: nx.read_edgelist(path, create_using=kind),
            ".json": lambda: nx.node_link_graph(json.loads(path.read_text()), edges="links"),
            ".net": lambda: nx.read_pajek(path),
            ".g6": lambda: nx.read_graph6(path),
            ".s6": lambda: nx.read_sparse6(path),
        }[path.suffix]()
    return getattr(nx, f"read_{path.suffix[1:]}")(path)
