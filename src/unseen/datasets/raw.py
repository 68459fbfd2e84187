"""A graph of the paper as its files list it, before anything is made undirected or dropped.

Three places give this value (a folder in the authors' format, the published sources, the cache), so
that all of them are held to the same counts and the same digest.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.datasets.dataset import Counts, Dataset, unweighted_adjacency
from unseen.datasets.registry import Entry
from unseen.errors import DatasetError
from unseen.graph import Graph
from unseen.labels import Labels

Pairs = npt.NDArray[np.int64]
"""Two columns of numbers: an edge's two nodes, or a node and one of its classes."""


@dataclass(frozen=True, eq=False)
class RawGraph:
    """Edges and labels in the order listed, and features by node number."""

    edges: Pairs
    labels: Pairs
    features: sp.csr_array | None = None

    @property
    def counts(self) -> Counts:
        """What is there: nodes and classes are numbered from 0, so the largest number tells."""
        rows, columns = (0, 0) if self.features is None else self.features.shape
        largest_node = max((int(a.max(initial=-1)) for a in (self.edges, self.labels[:, 0])), default=-1)
        classes = int(self.labels[:, 1].max(initial=-1)) + 1
        return Counts(max(largest_node + 1, rows), len(self.edges), classes, columns)

    @property
    def digest(self) -> str:
        """sha256 of the content, independent of the file format it came from."""
        order = np.lexsort((self.labels[:, 1], self.labels[:, 0]))
        parts: list[npt.NDArray[np.generic]] = [self.edges, self.labels[order]]
        if self.features is not None:
            f = self.features
            parts += [f.indptr.astype(np.int64), f.indices.astype(np.int64), f.data.astype(np.float32)]
        together = hashlib.sha256()
        for part in parts:
            together.update(f"{part.dtype.kind}{part.shape}".encode())
            together.update(np.ascontiguousarray(part, dtype=part.dtype.newbyteorder("<")).data)
        return together.hexdigest()

    def dataset(self, entry: Entry, where: str, class_names: Sequence[str] | None = None) -> Dataset:
        """Return the data set, made undirected, if the counts are those of `entry`."""
        entry.counts.require(self.counts, entry.name, where)
        n, c = entry.counts.nodes, entry.counts.classes
        names = class_names or entry.class_names or tuple(str(k) for k in range(c))
        graph = Graph(unweighted_adjacency(self.edges[:, 0], self.edges[:, 1], n), self.features)
        marks = np.ones(len(self.labels), dtype=bool)
        indicator = sp.coo_array((marks, (self.labels[:, 0], self.labels[:, 1])), shape=(n, c))
        return Dataset(entry.name, graph, Labels(indicator.tocsr(), tuple(names), graph.node_ids))


def feature_matrix(matrix: Any) -> sp.csr_array:
    """Return features as float32 CSR with sorted columns, the form whose digest is known."""
    csr = sp.csr_array(matrix).astype(np.float32)
    csr.sum_duplicates()
    return csr


def parse_pairs(text: str, where: str) -> Pairs:
    r"""Return the two numbers of each line.

    Examples
    --------
    >>> parse_pairs("0 1\n1 2\n", "graph.txt").tolist()
    [[0, 1], [1, 2]]
    """
    _require_lines(text, _PAIR, where, "two node numbers")
    if not text.strip():
        return np.zeros((0, 2), dtype=np.int64)
    return np.loadtxt(io.StringIO(text), dtype=np.int64, comments=None, ndmin=2)


def parse_groups(text: str, where: str) -> Pairs:
    r"""Return a pair for each class of each line ``node class [class ...]``.

    Examples
    --------
    >>> parse_groups("0\t3\n1\t0 2\n", "group.txt").tolist()
    [[0, 3], [1, 0], [1, 2]]
    """
    _require_lines(text, _GROUP, where, "a node number and its class numbers")
    lines = filter(None, (line.split() for line in text.splitlines()))
    pairs = [(int(node), int(name)) for node, *classes in lines for name in classes]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def parse_communities(text: str, where: str) -> Pairs:
    r"""Return a (node, class) pair for each number, sorted, where line c lists the nodes of class c.

    Examples
    --------
    >>> parse_communities("4 7\n4\n", "PPI.cmty").tolist()
    [[4, 0], [4, 1], [7, 0]]
    """
    _require_lines(text, _GROUP, where, "node numbers")
    pairs = [(int(node), c) for c, line in enumerate(text.splitlines()) for node in line.split()]
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


_NUMBER = "[0-9]{1,18}"  # what fits into 64 bits
_PAIR = re.compile(rf"^(?![ \t]*(?:{_NUMBER}[ \t]+{_NUMBER})?[ \t\r]*$).*", re.MULTILINE)
_GROUP = re.compile(rf"^(?![ \t]*(?:{_NUMBER}(?:[ \t]+{_NUMBER})*)?[ \t\r]*$).*", re.MULTILINE)


def _require_lines(text: str, odd_line: re.Pattern[str], where: str, what: str) -> None:
    odd = odd_line.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        msg = f"{where}, line {line}: {what} are expected (0, 1, 2, ...), found {odd.group().strip()[:60]!r}"
        raise DatasetError(msg)


def read_folder(folder: Path, entry: Entry) -> tuple[RawGraph, tuple[str, ...] | None]:
    """Return what a folder in the authors' format holds, and the class names its ``meta.json`` has."""
    missing = [file for file in entry.files if not (folder / file).is_file()]
    if missing:
        msg = f"the data set {entry.name!r} in {folder} lacks {' and '.join(missing)}; put the file there"
        raise DatasetError(msg)
    try:
        edges = parse_pairs((folder / "graph.txt").read_text(encoding="utf-8"), str(folder / "graph.txt"))
        labels = parse_groups((folder / "group.txt").read_text(encoding="utf-8"), str(folder / "group.txt"))
        features = None
        if entry.counts.features:
            features = feature_matrix(sp.load_npz(io.BytesIO((folder / "features.npz").read_bytes())))
        names = _class_names(folder / "meta.json")
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        msg = f"the data set {entry.name!r} in {folder} cannot be read: {error}"
        raise DatasetError(msg) from error
    return RawGraph(edges, labels, features), names


def _class_names(meta: Path) -> tuple[str, ...] | None:
    if not meta.is_file():
        return None
    known = json.loads(meta.read_text(encoding="utf-8"))
    names = known.get("class_names") if isinstance(known, dict) else known
    if names is None:
        return None
    if not isinstance(known, dict) or not isinstance(names, list):
        msg = f"{meta.name} must hold an object whose class_names is a list or null"
        raise ValueError(msg)
    return tuple(str(name) for name in names)


def write_npz(raw: RawGraph, path: Path) -> None:
    """Write the cached form: one file, no pickle."""
    arrays: dict[str, Any] = {"edges": raw.edges, "labels": raw.labels}
    if raw.features is not None:
        f = raw.features
        arrays |= {"data": f.data, "indices": f.indices, "indptr": f.indptr, "shape": np.array(f.shape)}
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_npz(path: Path) -> RawGraph | None:
    """Return the cached form, or None where there is none that can be read."""
    try:
        # From memory: a file that turns out to be damaged is closed all the same.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            features = None
            if "data" in arrays:
                shape = tuple(arrays["shape"].tolist())
                features = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
            edges, labels = arrays["edges"], arrays["labels"]
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    if any(pairs.dtype != np.int64 or pairs.ndim != 2 or pairs.shape[1] != 2 for pairs in (edges, labels)):
        return None
    return RawGraph(edges, labels, features)
