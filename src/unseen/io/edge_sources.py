"""Edges from every source: text, Parquet, Arrow tables, sparse matrices, and the authors' folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.errors import InputError
from unseen.graph import Symmetrize, symmetric
from unseen.ids import IdArray, default_ids
from unseen.io.columns import Edges, edge_columns, is_edge_header
from unseen.io.edges import id_column
from unseen.io.headers import may_be_edge_header, settle_edges
from unseen.io.label_rows import group_rows
from unseen.io.matrices import NETWORK_KEYS, read_mat, read_npz
from unseen.io.sources import (
    TEXT_NAMES,
    TEXT_SUFFIXES,
    data_suffix,
    existing,
    existing_file,
    is_path,
    unknown_suffix,
)
from unseen.io.tables import is_tabular, read_arrow, read_parquet
from unseen.io.text import read_text

GRAPH_FILE, GROUP_FILE = "graph.txt", "group.txt"


@dataclass(frozen=True)
class EdgeSource:
    """Edges as listed.

    `nodes` are those that the source itself names, in its order (None: no such list); `dropped` are the
    two cells of a first line that was taken as a header only because the user said so.
    """

    name: str
    edges: Edges
    nodes: pa.Array | None = None
    dropped: tuple[str, str] | None = None


def read_edges(
    source: Any, *, header: bool | None, delimiter: str | None, symmetrize: Symmetrize, drop_negative: bool
) -> EdgeSource:
    """Return the edges of a path, a table with the Arrow interface, or a scipy matrix."""
    if sp.issparse(source):
        return _from_matrix(source, None, "`edges`", symmetrize, drop_negative)
    if is_tabular(source):
        return EdgeSource("`edges`", edge_columns(read_arrow(source, "edges"), drop_negative=drop_negative))
    if not is_path(source):
        msg = (
            f"`edges` must be a path, a table with the Arrow interface or a scipy matrix, got {type(source).__name__}; "
            "Graph.from_edges, from_networkx and from_pyg take other objects"
        )
        raise InputError(msg)
    path = existing(source, "edges")
    if path.is_dir():
        if not (path / GRAPH_FILE).is_file():
            msg = f"{str(path)!r} is a folder without a {GRAPH_FILE}; `edges` needs a file, or a folder that has one"
            raise InputError(msg)
        path = path / GRAPH_FILE
    suffix, name = data_suffix(path), repr(str(path))
    if suffix == ".npz":
        ids, matrix, _ = read_npz(path)
        return _from_matrix(matrix, ids, name, symmetrize, drop_negative)
    if suffix == ".mat":
        return _from_matrix(read_mat(path, NETWORK_KEYS, "edges"), None, name, symmetrize, drop_negative)
    if suffix == ".parquet":
        table, dropped = read_parquet(existing_file(path, "edges")), None
    elif suffix in TEXT_SUFFIXES:
        read = read_text(
            path, is_edge_header, header=header, delimiter=delimiter, sniff_header=may_be_edge_header
        )
        table, dropped = settle_edges(read)
    else:
        raise unknown_suffix(path, "edges", [*TEXT_NAMES, ".parquet", ".npz", ".mat"])
    return EdgeSource(name, edge_columns(table, drop_negative=drop_negative), _companion_nodes(path), dropped)


def _companion_nodes(path: Path) -> pa.Array | None:
    """Return the nodes that a ``group.txt`` beside a ``graph.txt`` names: isolated ones stand only there."""
    beside = path.with_name(GROUP_FILE)
    if path.name != GRAPH_FILE or not beside.is_file():
        return None
    return group_rows(beside).ids


def _from_matrix(
    matrix: Any, ids: IdArray | None, name: str, symmetrize: Symmetrize, drop_negative: bool
) -> EdgeSource:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        msg = f"{name} has shape {matrix.shape}; an adjacency matrix must be square"
        raise InputError(msg)
    if matrix.dtype.kind not in "fiub":
        msg = f"{name} holds values of type {matrix.dtype}; edge weights must be real numbers"
        raise InputError(msg)
    csr = sp.csr_array(matrix, dtype=np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    _check_entries(csr, name, drop_negative=drop_negative)
    # Of a symmetric matrix one half lists every edge once; a directed one is a list of its entries.
    if symmetrize == "error":
        symmetric(csr, symmetrize)
    undirected = (csr != csr.T).nnz == 0
    coo = (sp.triu(csr) if undirected else csr).tocoo()
    nodes = id_column(default_ids(csr.shape[0]) if ids is None else ids, "ids")
    edges = Edges(nodes.take(pa.array(coo.row)), nodes.take(pa.array(coo.col)), coo.data)
    return EdgeSource(name, edges, nodes)


def _check_entries(csr: sp.csr_array, name: str, *, drop_negative: bool) -> None:
    bad = ~np.isfinite(csr.data)
    why = "edge weights must be finite numbers"
    if not bad.any() and not drop_negative:
        bad = csr.data < 0
        why = "negative weights are not supported yet, leave such edges out with drop_negative=True (--drop-negative)"
    if bad.any():
        k = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(csr.indptr, k, side="right")) - 1
        msg = f"{name}: the weight in row {row}, column {csr.indices[k]} is {csr.data[k]:g}; {why}"
        raise InputError(msg)
