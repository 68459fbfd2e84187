"""Data sets by name: the bundled graph, folders of the user's, and the graphs of the paper.

Folders in the authors' format and the published sources both give a `ListedGraph`, so that both are held to
the same counts and the same digest.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import zipfile
import zlib
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.sources import FEATURE_FILE, GRAPH_FILE, GROUP_FILE
from unseen.errors import DatasetError, logger, unknown_name
from unseen.graph import Graph
from unseen.labels import Labels

if TYPE_CHECKING:
    from unseen.data.published import Entry

Pairs = npt.NDArray[np.int64]
"""Two columns of numbers: an edge's two nodes, or a node and one of its classes."""
_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
_COUNTED = ("nodes", "edges", "classes")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph and the labels of its nodes, under one name; frozen.

    Parameters
    ----------
    name : str
        What the data set is called in tables and files.
    graph : Graph
        Nodes, edges and, where there are any, features.
    labels : Labels
        Rows in the order of the graph's nodes.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.load_dataset("debian")
    >>> data.name, data.graph.n_nodes, len(data.labels.classes)
    ('debian', 4852, 12)
    """

    name: str
    graph: Graph
    labels: Labels

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.graph}, {self.labels})"


@dataclass(frozen=True)
class Counts:
    """What a data set has to count: nodes, edges as listed in its source, classes, feature columns."""

    nodes: int
    edges: int
    classes: int
    features: int

    @property
    def files(self) -> list[str]:
        """Files that a folder of such a data set must have."""
        return [GRAPH_FILE, GROUP_FILE, *([FEATURE_FILE] if self.features else [])]

    def require(self, counted: Counts, name: str, where: str) -> None:
        """Raise a `DatasetError` that says which numbers of `counted` differ from these."""
        wrong = [
            f"{getattr(counted, f.name)} {f.name} in place of {getattr(self, f.name)}"
            for f in fields(self)
            if getattr(counted, f.name) != getattr(self, f.name)
        ]
        if wrong:
            msg = (
                f"the data set {name!r} in {where} has {', '.join(wrong)}: it is damaged or another data set "
                "of that name; remove it, or put the right one in its place"
            )
            raise DatasetError(msg)


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


DEBIAN_FILE = Path(__file__).with_name("debian.npz")
DEBIAN_SHA256 = "1fe3a7bde3dc075e45c5fa48206392852f748f7be954fce471d794fe2ce5ad80"
DEBIAN_COUNTS = Counts(nodes=4852, edges=6928, classes=12, features=1659)


def dataset_names(data_dir: str | PathLike[str] | None = None) -> tuple[str, ...]:
    """Return the names `load_dataset` takes.

    ``debian`` is part of the package, then come the five graphs of the paper, then the other folders in
    the authors' format below `data_dir` or ``UNSEEN_DATA``.

    Examples
    --------
    >>> import unseen
    >>> unseen.dataset_names()[:6]
    ('debian', 'citeseer', 'cora', 'wiki', 'ppi', 'blogcatalog')
    """
    from unseen.data.published import PAPER_GRAPHS

    listed = ("debian", *PAPER_GRAPHS)
    parent = _user_folder(data_dir)
    if parent is None:
        return listed
    folders = sorted(place.parent.name for place in parent.glob(f"*/{GRAPH_FILE}"))
    return listed + tuple(
        name for name in folders if name not in listed and (parent / name / GROUP_FILE).is_file()
    )


def dataset_counts(name: str) -> dict[str, int | None]:
    """Return nodes, edges as listed, classes and features of a data set, without loading it.

    Of a folder of the user's, its ``meta.json`` is believed; what that leaves out is None.

    Examples
    --------
    >>> dataset_counts("cora")
    {'nodes': 2708, 'edges': 5429, 'classes': 7, 'features': 1433}
    """
    from unseen.data.published import PAPER_GRAPHS

    if name == "debian":
        return asdict(DEBIAN_COUNTS)
    if name in PAPER_GRAPHS:
        return asdict(PAPER_GRAPHS[name].counts)
    parent = _user_folder(None)
    return dict.fromkeys(asdict(DEBIAN_COUNTS)) if parent is None else stated_counts(parent / name)


def load_dataset(name: str, *, data_dir: str | PathLike[str] | None = None) -> Dataset:
    """Return a data set by its name.

    ``debian`` comes with the package. Any other name is looked up as a folder in the authors' format
    (``graph.txt``, ``group.txt`` and, where there are any, ``features.npz``, ``feature_names.txt`` and
    ``meta.json``) in `data_dir` or the folder that the environment variable ``UNSEEN_DATA`` names. The
    five graphs of the paper are else taken from the cache (``UNSEEN_CACHE``, or ``unseen`` in the user's
    cache folder) or downloaded from their public sources, checked, and kept in the cache. Node ids are
    package names for ``debian`` and the numbers 0 ... n - 1 for the others.

    Parameters
    ----------
    name : str
        One of `dataset_names`.
    data_dir : path, optional
        Folder with a folder per data set (``cora/graph.txt`` and so on).

    Returns
    -------
    Dataset
        Its counts have been compared with the published ones, or with those of its ``meta.json``.

    Examples
    --------
    >>> import unseen
    >>> unseen.load_dataset("debian").graph
    Graph(4852 nodes, 6928 edges, 1659 features)
    >>> unseen.load_dataset("debain")
    Traceback (most recent call last):
        ...
    unseen.errors.InputError: unknown data set 'debain'; did you mean 'debian'? Known: debian, ...
    """
    if name == "debian":
        return load_debian()
    if name not in dataset_names(data_dir):
        raise unknown_name("data set", name, dataset_names(data_dir))
    from unseen.data.published import PAPER_GRAPHS

    return find_dataset(name, PAPER_GRAPHS.get(name), data_dir)


def find_dataset(name: str, entry: Entry | None, data_dir: str | PathLike[str] | None = None) -> Dataset:
    """Return a data set from the user's folder, or by the registry's `entry` from the cache or the network."""
    from unseen.data.published import fetch_graph

    parent = _user_folder(data_dir)
    if entry is not None and (parent is None or not (parent / name).is_dir()):
        return fetch_graph(entry)
    place = Path(name) if parent is None else parent / name
    listed, counts = read_folder(place, None if entry is None else entry.counts)
    if entry is not None and listed.digest != entry.content_sha256:
        logger.warning("the data set %r in %s counts right but differs from the published one", name, place)
    return listed.dataset(name, counts)


def load_debian(path: Path = DEBIAN_FILE) -> Dataset:
    """Return the bundled graph: package names as ids, sections as classes, description words as features.

    Examples
    --------
    >>> load_debian().labels.classes[:4]
    ('database', 'editors', 'electronics', 'fonts')
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        msg = f"the bundled data set cannot be read from {path} ({error.strerror}); install the package again"
        raise DatasetError(msg) from None
    if hashlib.sha256(content).hexdigest() != DEBIAN_SHA256:
        msg = f"the bundled data set {path} is not the file that was published; install the package again"
        raise DatasetError(msg)
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        nodes, words, sections = (_lines(arrays[key]) for key in ("nodes", "words", "sections"))
        src, dst, section = arrays["src"], arrays["dst"], arrays["section"]
        word_counts, word_columns = arrays["word_counts"], arrays["word_columns"]
    DEBIAN_COUNTS.require(Counts(len(nodes), len(src), len(sections), len(words)), "debian", str(path))
    indptr = np.r_[0, np.cumsum(word_counts, dtype=np.int64)]
    ones = np.ones(len(word_columns), dtype=np.float32)
    features = sp.csr_array((ones, word_columns.astype(np.int64), indptr), shape=(len(nodes), len(words)))
    graph = Graph(unweighted_adjacency(src, dst, len(nodes)), features, nodes, tuple(words))  # type: ignore[arg-type]
    labels = Labels.from_values([sections[k] for k in section], graph.node_ids, classes=sections)
    return Dataset("debian", graph, labels)


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
    required = (GRAPH_FILE, GROUP_FILE) if counts is None else counts.files
    missing = [file for file in required if not (folder / file).is_file()]
    if missing:
        msg = f"the data set {name!r} in {folder} lacks {' and '.join(missing)}; put the file there"
        raise DatasetError(msg)
    try:
        edges = parse_pairs((folder / GRAPH_FILE).read_text(encoding="utf-8"), str(folder / GRAPH_FILE))
        labels = parse_groups((folder / GROUP_FILE).read_text(encoding="utf-8"), str(folder / GROUP_FILE))
        features = None
        if (folder / FEATURE_FILE).is_file() and (counts is None or counts.features):
            features = feature_matrix(sp.load_npz(io.BytesIO((folder / FEATURE_FILE).read_bytes())))
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
    if not (folder / FEATURE_FILE).is_file():
        return counts | {"features": 0}
    with contextlib.suppress(*_UNREADABLE), np.load(folder / FEATURE_FILE, allow_pickle=False) as arrays:
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


def unweighted_adjacency(src: npt.ArrayLike, dst: npt.ArrayLike, n: int) -> sp.csr_array:
    """Return the symmetric adjacency of the listed edges, every weight 1; repeats count once.

    Examples
    --------
    >>> unweighted_adjacency([0, 1, 1], [1, 0, 1], 3).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    rows = np.r_[np.asarray(src, dtype=np.int64), np.asarray(dst, dtype=np.int64)]
    columns = np.roll(rows, len(rows) // 2)
    adjacency = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()
    adjacency.sum_duplicates()
    adjacency.data[:] = 1.0
    return adjacency


def _user_folder(data_dir: str | PathLike[str] | None) -> Path | None:
    place = os.environ.get("UNSEEN_DATA") if data_dir is None else os.fspath(data_dir)
    if not place:
        return None
    folder = Path(place)
    if folder.is_dir():
        return folder
    if data_dir is not None:
        msg = f"`data_dir` is {place!r}, which is not a folder"
        raise DatasetError(msg)
    logger.warning("UNSEEN_DATA is %r, which is not a folder; looking in the cache instead", place)
    return None


def _lines(encoded: npt.NDArray[np.uint8]) -> list[str]:
    return encoded.tobytes().decode().split("\n")
