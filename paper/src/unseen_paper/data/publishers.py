"""What publishers' files hold: from their bytes to a graph and its labels, a function for each way of publishing."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from unseen.data.datasets import Dataset, unweighted_adjacency
from unseen.data.sources import GRAPH_FILE, GROUP_FILE
from unseen.graph import Graph
from unseen.ids import Ints
from unseen.labels import Labels
from unseen.weights import Relation
from unseen_paper.data.hgb import read_folder
from unseen_paper.data.published import Entry

Contents = Mapping[str, bytes]
"""Content of each published file by its name, in the order of the entry; checksums have been compared before."""
Pairs = Ints


def convert_published(entry: Entry, contents: Contents) -> Dataset:
    """Return the data set of published files."""
    graph, labels = _CONVERTERS[entry.name.partition(":")[0]](entry, contents)
    return Dataset(entry.name, graph, labels)


Parts = tuple[Graph, Labels]


def _build_graph(entry: Entry, edges: Pairs, labels: Pairs, features: sp.csr_array | None = None) -> Parts:
    """Return the graph of pairs of nodes, and the labels of pairs of a node and one of its classes."""
    n, c = entry.counts.nodes, entry.counts.classes
    graph = Graph(unweighted_adjacency(edges[:, 0], edges[:, 1], n), features)
    indicator = sp.coo_array((np.ones(len(labels), dtype=bool), labels.T), shape=(n, c))
    classes = entry.class_names or tuple(str(k) for k in range(c))
    return graph, Labels(indicator.tocsr(), classes, graph.node_ids)


def _convert_linked_pages(entry: Entry, contents: Contents, key: str = "attributes") -> Parts:
    archive, features = contents.values()
    # The checksum of the archive was compared: it is the published one, whose members are known.
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        edges, groups = (members.read(f"{entry.name}/{file}") for file in (GRAPH_FILE, GROUP_FILE))
    return _build_graph(
        entry, _read_pairs(edges), _read_members(groups), _read_matrices(features, key)[0].astype(np.float32)
    )


def _convert_ppi(entry: Entry, contents: Contents) -> Parts:
    """Line c of the second file lists the nodes of class c."""
    edges, listed = contents.values()
    groups = _read_members(b"".join(b"%d %s\n" % (c, line) for c, line in enumerate(listed.splitlines())))
    return _build_graph(entry, _read_pairs(edges), groups[:, ::-1])


def _read_pairs(content: bytes) -> Pairs:
    return np.loadtxt(io.BytesIO(content), dtype=np.int64, ndmin=2)


def _read_members(content: bytes) -> Pairs:
    """Return a pair for each further number of each line: its first number, and that one."""
    lines = filter(None, (line.split() for line in content.splitlines()))
    pairs = [(int(first), int(other)) for first, *others in lines for other in others]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _convert_blogcatalog(entry: Entry, contents: Contents) -> Parts:
    (content,) = contents.values()
    network, group = _read_matrices(content, "network", "group")
    edges, groups = (np.column_stack(matrix.nonzero()) for matrix in (sp.triu(network), group))
    return _build_graph(entry, edges, groups)


def _read_matrices(content: bytes, *keys: str) -> list[sp.csr_array]:
    from scipy.io import loadmat

    variables = loadmat(io.BytesIO(content), variable_names=keys)
    return [sp.csr_array(variables[key]) for key in keys]


def _convert_benchmark(entry: Entry, contents: Contents) -> Parts:
    """Three arrays for each sparse matrix, and one of class numbers."""
    with np.load(io.BytesIO(*contents.values()), allow_pickle=False) as arrays:
        parts = ("data", "indices", "indptr")
        edges, features = (
            sp.csr_array(tuple(arrays[f"{key}_{part}"] for part in parts), arrays[f"{key}_shape"])
            for key in ("adj", "attr")
        )
        names = tuple(arrays["attr_names"].tolist()) if "attr_names" in arrays else None
        numbers, own = arrays["labels"].tolist(), entry.class_names or ()
    src, dst = edges.nonzero()
    adjacency = unweighted_adjacency(src, dst, entry.counts.nodes)
    graph = Graph(adjacency, features.astype(np.float32), feature_names=names)
    return graph, Labels.from_values([own[k] for k in numbers], graph.node_ids, classes=own)


def _convert_signed(entry: Entry, contents: Contents) -> Parts:
    """Correlations of both signs, and the numbers of sectors."""
    adjacency, labels = (io.BytesIO(content) for content in contents.values())
    graph = Graph.from_relations([Relation("correlation", None, None, sp.load_npz(adjacency))])
    sectors = np.load(labels, allow_pickle=False).astype(np.int64).astype(str).tolist()
    classes = [str(k) for k in range(entry.counts.classes)]
    return graph, Labels.from_values(sectors, graph.node_ids, classes=classes)


def _convert_hgb(_: Entry, contents: Contents) -> Parts:
    with tempfile.TemporaryDirectory() as folder:
        for file, content in contents.items():
            (Path(folder) / file).write_bytes(content)
        data = read_folder(Path(folder))
    return data.graph, cast(Labels, data.labels)


_CONVERTERS: dict[str, Callable[[Entry, Contents], Any]] = {
    "citeseer": _convert_linked_pages,
    "cora": _convert_linked_pages,
    "wiki": partial(_convert_linked_pages, key="feature"),
    "ppi": _convert_ppi,
    "blogcatalog": _convert_blogcatalog,
    "photo": _convert_benchmark,
    "coauthor-cs": _convert_benchmark,
    "hgb-dblp": _convert_hgb,
    "hgb-acm": _convert_hgb,
    "fin-ynet": _convert_signed,
}
