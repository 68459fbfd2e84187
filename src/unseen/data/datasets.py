"""Data sets by name: the bundled graph, folders of the user's, and what other distributions add.

Folders in the authors' format come in through :func:`unseen.read`, like any other file.
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
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.sources import FEATURE_FILE, GRAPH_FILE, GROUP_FILE
from unseen.errors import DatasetError, logger, unknown_name
from unseen.graph import Graph
from unseen.ids import IdArray, Value
from unseen.labels import Labels
from unseen.plugins import IN_PAPER, find_plugins, load_plugin

_UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
_COUNTED = ("nodes", "edges", "classes")
_NUMBER = re.compile("0|[1-9][0-9]{0,17}")  # as numbers are written; what fits into 64 bits


@dataclass(frozen=True, eq=False)
class Dataset(Value):
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
    """What a data set has to count: nodes, edges as listed in its source, classes, feature columns.

    Edges are None where a data set has another number every year.
    """

    nodes: int
    edges: int | None
    classes: int
    features: int

    @property
    def files(self) -> list[str]:
        """Files that a folder of such a data set must have."""
        return [GRAPH_FILE, GROUP_FILE, *([FEATURE_FILE] if self.features else [])]

    def require(self, counted: Counts, name: str, where: str) -> None:
        """Raise a `DatasetError` that says which numbers of `counted` differ from these."""
        known, found = asdict(self), asdict(counted)
        odd = [name for name, number in known.items() if number not in (None, found[name])]
        wrong = [f"{found[name]} {name} in place of {known[name]}" for name in odd]
        if wrong:
            msg = (
                f"the data set {name!r} in {where} has {', '.join(wrong)}: it is damaged or another data set "
                "of that name; remove it, or put the right one in its place"
            )
            raise DatasetError(msg)


DEBIAN_FILE = Path(__file__).with_name("debian.npz")
DEBIAN_SHA256 = "1fe3a7bde3dc075e45c5fa48206392852f748f7be954fce471d794fe2ce5ad80"
DEBIAN_COUNTS = Counts(nodes=4852, edges=6928, classes=12, features=1659)


def dataset_names(data_dir: str | PathLike[str] | None = None) -> tuple[str, ...]:
    """Return the names `load_dataset` takes.

    ``debian`` is part of the package, then come those of other distributions (the paper's graphs are in
    `unseen-paper`), then the other folders in the authors' format below `data_dir` or ``UNSEEN_DATA``.

    Examples
    --------
    >>> import unseen
    >>> unseen.dataset_names()[0]
    'debian'
    """
    parent = user_folder(data_dir)
    folders = [] if parent is None else sorted(place.parent for place in parent.glob(f"*/{GRAPH_FILE}"))
    own = [folder.name for folder in folders if (folder / GROUP_FILE).is_file()]
    return tuple(dict.fromkeys(["debian", *find_plugins("data set"), *own]))


def is_dataset_name(name: str) -> bool:
    """Whether a name is that of a data set, perhaps of a distribution that is not installed; a year may follow."""
    base = name.partition(":")[0]
    return base in dataset_names() or base in IN_PAPER["data set"]


def dataset_counts(name: str) -> dict[str, int | None]:
    """Return nodes, edges as listed, classes and features of a data set, without loading it.

    Of a folder of the user's, its ``meta.json`` is believed; what that leaves out is None.

    Examples
    --------
    >>> dataset_counts("debian")
    {'nodes': 4852, 'edges': 6928, 'classes': 12, 'features': 1659}
    """
    if name == "debian":
        return asdict(DEBIAN_COUNTS)
    base = name.partition(":")[0]
    if base in find_plugins("data set"):
        return asdict(load_plugin("data set", base).dataset_counts(name))
    parent = user_folder(None)
    return dict.fromkeys(asdict(DEBIAN_COUNTS)) if parent is None else stated_counts(parent / name)


def load_dataset(name: str, *, data_dir: str | PathLike[str] | None = None) -> Dataset:
    """Return a data set by its name.

    ``debian`` comes with the package, the paper's graphs and others with the distribution `unseen-paper`, which makes
    them of their publishers' files and downloads these if necessary. Any other name is looked up as a folder in the
    authors' format (``graph.txt``, ``group.txt`` and, where there are any, ``features.npz``, ``feature_names.txt`` and
    ``meta.json``) in `data_dir` or the folder that the environment variable ``UNSEEN_DATA`` names.
    Node ids are package names for ``debian``, the numbers 0 ... n - 1 for the paper's graphs, and those of the files
    for others. A data set with a graph for each year is called ``fin-ynet:2008``.

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
    unseen.errors.InputError: unknown data set 'debain'; did you mean 'debian'? Known: debian...
    """
    if name == "debian":
        return load_debian()
    base, parent = name.partition(":")[0], user_folder(data_dir)
    if base in find_plugins("data set"):
        return cast(Dataset, load_plugin("data set", base).load_dataset(name, data_dir))
    if name in dataset_names(data_dir) and parent is not None:
        return read_folder(parent / name)
    load_plugin("data set", base)  # the error says how to install it
    raise unknown_name("data set", name, dataset_names(data_dir))


def load_debian(path: Path = DEBIAN_FILE) -> Dataset:
    """Return the bundled graph: package names as ids, sections as classes, description words as features."""
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


def read_folder(folder: Path, counts: Counts | None = None) -> Dataset:
    """Return the data set of a folder in the authors' format, once its counts are right.

    Its files are read by :func:`unseen.read`. Nodes and classes that are called 0, 1, 2, ... come in that order.

    Parameters
    ----------
    folder : Path
        With ``graph.txt`` and ``group.txt``; ``features.npz``, ``feature_names.txt`` (a name per line) and
        ``meta.json`` (``class_names`` and counts) where there are any.
    counts : Counts, optional
        What the data set is known to count; else what ``meta.json`` says.
    """
    from unseen.data.read import read

    name, words, features = folder.name, folder / "feature_names.txt", folder / FEATURE_FILE
    required = (GRAPH_FILE, GROUP_FILE) if counts is None else counts.files
    missing = [file for file in required if not (folder / file).is_file()]
    if missing:
        msg = f"the data set {name!r} in {folder} lacks {' and '.join(missing)}; put the file there"
        raise DatasetError(msg)
    has_features = features.is_file() and (counts is None or counts.features > 0)
    rows_from = features if has_features else None
    try:
        meta = _read_meta(folder / "meta.json")
        feature_names = tuple(words.read_text(encoding="utf-8").splitlines()) if words.is_file() else None
        data = read(folder / GRAPH_FILE, None, rows_from, folder / GROUP_FILE, header=False)
    except (OSError, ValueError) as error:
        msg = f"the data set {name!r} in {folder} cannot be read: {error}"
        raise DatasetError(msg) from error
    graph, labels, class_names = data.graph, cast(Labels, data.labels), meta.get("class_names")
    stated = _counts_of(meta) if counts is None else asdict(counts)
    n, rows, ids = _by_number(graph.node_ids, stated.get("nodes"))
    n_classes = stated.get("classes", None if class_names is None else len(class_names))
    c, columns, classes = _by_number(labels.classes, n_classes)
    if counts is None:  # the last nodes and classes may have no line of their own
        n, c = max(n, rows.shape[0]), max(c, columns.shape[0])
    width = 0 if graph.features is None else graph.features.shape[1]
    counted = Counts(n, graph.n_edges + data.report.repeats, c, width)
    replace(counted, **stated).require(counted, name, str(folder))
    if class_names is not None and len(class_names) != c:
        msg = f"{folder / 'meta.json'} has {len(class_names)} class names, but there are {c} classes"
        raise DatasetError(msg)
    if feature_names is not None and len(feature_names) != width:
        msg = (
            f"{words} has {len(feature_names)} lines, but there are {width} features; one per line is needed"
        )
        raise DatasetError(msg)
    values = None if graph.features is None else sp.csr_array(rows @ graph.features).astype(np.float32)
    graph = Graph(rows @ graph.adjacency @ rows.T, values, ids, feature_names or graph.feature_names)
    classes = classes or class_names or map(str, range(c))
    return Dataset(name, graph, Labels(rows @ labels.indicator @ columns.T, tuple(classes), graph.node_ids))


def _by_number(names: Sequence[str] | IdArray, stated: int | None) -> tuple[int, sp.csr_array, Any]:
    """Return how many there are, the matrix that brings them into order, and their names.

    If they are called 0 ... n - 1, that is their order, and None stands for the names; `stated` is n if it is known.
    """
    numbers = np.array([int(name) for name in names if _NUMBER.fullmatch(str(name))], dtype=np.int64)
    n, top = stated or len(names), int(numbers.max(initial=-1)) + 1
    if len(numbers) < len(names) or top > n:
        count = len(names) if len(numbers) < len(names) or stated is None else top
        return count, sp.eye_array(len(names), format="csr"), names
    ones = np.ones(len(names), dtype=np.float32)
    return top, sp.csr_array((ones, (numbers, np.arange(len(names)))), shape=(n, len(names))), None


def stated_counts(folder: Path) -> dict[str, int | None]:
    """Return what a folder says of itself, without reading it: None where it says nothing."""
    counts: dict[str, int | None] = dict.fromkeys((*_COUNTED, "features"))
    with contextlib.suppress(OSError, ValueError):
        counts |= _counts_of(_read_meta(folder / "meta.json"))
    if not (folder / FEATURE_FILE).is_file():
        return counts | {"features": 0}
    with contextlib.suppress(*_UNREADABLE), np.load(folder / FEATURE_FILE, allow_pickle=False) as arrays:
        counts["features"] = int(arrays["shape"][1])
    return counts


def _counts_of(meta: dict[str, Any]) -> dict[str, int]:
    return {key: meta[key] for key in _COUNTED if isinstance(meta.get(key), int)}


def _read_meta(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not isinstance(content.get("class_names"), list | None):
        msg = f"{path.name} must hold an object whose class_names is a list or null"
        raise ValueError(msg)
    return content


def unweighted_adjacency(src: npt.ArrayLike, dst: npt.ArrayLike, n: int) -> sp.csr_array:
    """Return the symmetric adjacency of the listed edges, every weight 1; repeats count once."""
    rows = np.r_[np.asarray(src, dtype=np.int64), np.asarray(dst, dtype=np.int64)]
    columns = np.roll(rows, len(rows) // 2)
    adjacency = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()
    adjacency.sum_duplicates()
    adjacency.data[:] = 1.0
    return adjacency


def user_folder(data_dir: str | PathLike[str] | None) -> Path | None:
    """Return the folder of the user's data sets, `data_dir` or that of ``UNSEEN_DATA``, None if there is none."""
    place = os.environ.get("UNSEEN_DATA") if data_dir is None else os.fspath(data_dir)
    if not place:
        return None
    folder = Path(place)
    if folder.is_dir():
        return folder
    if data_dir is not None:
        msg = f"`data_dir` is {place!r}, which is not a folder"
        raise DatasetError(msg)
    logger.warning("UNSEEN_DATA is %r, which is not a folder", place)
    return None


def _lines(encoded: npt.NDArray[np.uint8]) -> list[str]:
    return encoded.tobytes().decode().split("\n")
