"""From the published files to the graphs of the paper; node and edge order as published."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from unseen.datasets import registry
from unseen.datasets.archive import read_members
from unseen.datasets.raw import Pairs, RawGraph, feature_matrix, parse_communities, parse_groups, parse_pairs
from unseen.datasets.registry import Source

Contents = Mapping[str, bytes]
"""Content of each published file by its name; checksums have been compared before."""


def convert(name: str, contents: Contents) -> RawGraph:
    """Return the graph `name` made of its published files."""
    return _CONVERTERS[name](contents)


def _linked_pages(name: str, features: Source, key: str) -> Callable[[Contents], RawGraph]:
    archive = registry.RSDNE_ZIP.file

    def made(contents: Contents) -> RawGraph:
        members = read_members(contents[archive], [f"{name}/graph.txt", f"{name}/group.txt"], archive)
        graph, group = (content.decode("ascii", "replace") for content in members.values())
        return RawGraph(
            parse_pairs(graph, f"{archive}/{name}/graph.txt"),
            parse_groups(group, f"{archive}/{name}/group.txt"),
            feature_matrix(_matrices(contents[features.file], key)[0]),
        )

    return made


def _ppi(contents: Contents) -> RawGraph:
    edges, groups = registry.PPI_EDGES.file, registry.PPI_GROUPS.file
    return RawGraph(
        parse_pairs(contents[edges].decode("ascii", "replace"), edges),
        parse_communities(contents[groups].decode("ascii", "replace"), groups),
    )


def _blogcatalog(contents: Contents) -> RawGraph:
    network, group = _matrices(contents[registry.BLOGCATALOG_MAT.file], "network", "group")
    return RawGraph(_positions(sp.triu(network, format="csr")), _positions(group))


def _matrices(content: bytes, *keys: str) -> list[sp.csr_array]:
    found = scipy.io.loadmat(io.BytesIO(content), variable_names=keys)
    return [sp.csr_array(found[key]) for key in keys]


def _positions(matrix: Any) -> Pairs:
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    entries = csr.tocoo()
    return np.column_stack([entries.row, entries.col]).astype(np.int64)


_CONVERTERS: dict[str, Callable[[Contents], RawGraph]] = {
    "citeseer": _linked_pages("citeseer", registry.CITESEER_MAT, "attributes"),
    "cora": _linked_pages("cora", registry.CORA_MAT, "attributes"),
    "wiki": _linked_pages("wiki", registry.WIKI_MAT, "feature"),
    "ppi": _ppi,
    "blogcatalog": _blogcatalog,
}
