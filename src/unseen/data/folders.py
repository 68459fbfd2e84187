"""A data set as its files list it, before anything is made undirected or dropped.

Two places give this value, a folder in the authors' format and the published sources, so that both are
held to the same counts and the same digest.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.datasets import Counts, Dataset, unweighted_adjacency
from unseen.errors import DatasetError
from unseen.graph import Graph
from unseen.labels import Labels

GRAPH_FILE, GROUP_FILE, FEATURES_FILE = "graph.txt", "group.txt", "features.npz"

_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
_COUNTED = ("nodes", "edges", "classes")

Pairs = npt.NDArray[np.int64]
"""Two columns of numbers: an edge's two nodes, or a node and one of its classes."""


@dataclass(frozen=True, eq=False)
class ListedGraph:
    """Edges and labels in the order listed, features by node number, and names where there are any."""

    edges: Pairs
    labels: Pairs
    features: sp.csr_array | None = None
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None

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

    def dataset(self, name: str, counts: Counts) -> Dataset:
        """Return the data set, made undirected."""
        n, c = counts.nodes, counts.classes
        adjacency = unweighted_adjacency(self.edges[:, 0], self.edges[:, 1], n)
        graph = Graph(adjacency, self.features, feature_names=self.feature_names)
        marks = np.ones(len(self.labels), dtype=bool)
        indicator = sp.coo_array((marks, (self.labels[:, 0], self.labels[:, 1])), shape=(n, c))
        classes = self.class_names or tuple(str(k) for k in range(c))
        return Dataset(name, graph, Labels(indicator.tocsr(), classes, graph.node_ids))


def read_folder(folder: Path, counts: Counts | None = None) -> tuple[ListedGraph, Counts]:
    """Return what a folder in the authors' format holds and its counts, once they are right.

    Parameters
    ----------
    folder : Path
        With ``graph.txt`` and ``group.txt``; ``features.npz``, ``feature_names.txt`` (a name per line) and
        ``meta.json`` (``class_names`` and counts) where there are any.
    counts : Counts, optional
        What the data set is known to count; else what ``meta.json`` says.
    """
    name = folder.name
    needs_features = counts is not None and counts.features
    files = [GRAPH_FILE, GROUP_FILE, *([FEATURES_FILE] if needs_features else [])]
    missing = [file for file in files if not (folder / file).is_file()]
    if missing:
        msg = f"the data set {name!r} in {folder} lacks {' and '.join(missing)}; put the file there"
        raise DatasetError(msg)
    try:
        edges = parse_pairs((folder / GRAPH_FILE).read_text(encoding="utf-8"), str(folder / GRAPH_FILE))
        labels = parse_groups((folder / GROUP_FILE).read_text(encoding="utf-8"), str(folder / GROUP_FILE))
        features = None
        if (folder / FEATURES_FILE).is_file() and (counts is None or counts.features):
            features = feature_matrix(sp.load_npz(io.BytesIO((folder / FEATURES_FILE).read_bytes())))
        meta = _read_meta(folder / "meta.json")
        words = folder / "feature_names.txt"
        feature_names = tuple(words.read_text(encoding="utf-8").splitlines()) if words.is_file() else None
    except _UNREADABLE as error:
        msg = f"the data set {name!r} in {folder} cannot be read: {error}"
        raise DatasetError(msg) from error
    listed = ListedGraph(edges, labels, features)
    counted = listed.counts
    right = counts
    if right is None:
        right = replace(counted, **{key: meta[key] for key in _COUNTED if isinstance(meta.get(key), int)})
        # The last nodes and classes may have no line of their own.
        nodes, classes = max(counted.nodes, right.nodes), max(counted.classes, right.classes)
        counted = replace(counted, nodes=nodes, classes=classes)
    right.require(counted, name, str(folder))
    names = meta.get("class_names")
    class_names = None if names is None else tuple(str(each) for each in names)
    if class_names is not None and len(class_names) != right.classes:
        msg = f"{folder / 'meta.json'} has {len(class_names)} class names, but there are {right.classes} classes"
        raise DatasetError(msg)
    if feature_names is not None and len(feature_names) != right.features:
        msg = f"{words} has {len(feature_names)} lines, but there are {right.features} features; one per line is needed"
        raise DatasetError(msg)
    return replace(listed, class_names=class_names, feature_names=feature_names), right


def stated_counts(folder: Path) -> dict[str, int | None]:
    """Return what a folder says of itself, without reading it: None where it says nothing."""
    counts: dict[str, int | None] = dict.fromkeys((*_COUNTED, "features"))
    with contextlib.suppress(OSError, ValueError):
        meta = _read_meta(folder / "meta.json")
        counts |= {key: meta[key] for key in _COUNTED if isinstance(meta.get(key), int)}
    if not (folder / FEATURES_FILE).is_file():
        return counts | {"features": 0}
    with contextlib.suppress(*_UNREADABLE), np.load(folder / FEATURES_FILE, allow_pickle=False) as arrays:
        counts["features"] = int(arrays["shape"][1])
    return counts


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


_NUMBER = "[0-9]{1,18}"  # what fits into 64 bits
_PAIR = re.compile(rf"^(?![ \t]*(?:{_NUMBER}[ \t]+{_NUMBER})?[ \t\r]*$).*", re.MULTILINE)
_GROUP = re.compile(rf"^(?![ \t]*(?:{_NUMBER}(?:[ \t]+{_NUMBER})*)?[ \t\r]*$).*", re.MULTILINE)


def _require_lines(text: str, odd_line: re.Pattern[str], where: str, what: str) -> None:
    odd = odd_line.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        msg = f"{where}, line {line}: {what} are expected (0, 1, 2, ...), found {odd.group().strip()[:60]!r}"
        raise DatasetError(msg)


def _read_meta(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not isinstance(content.get("class_names"), list | None):
        msg = f"{path.name} must hold an object whose class_names is a list or null"
        raise ValueError(msg)
    return content
