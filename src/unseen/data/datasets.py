"""Data sets by name: the bundled graph, folders of the user's, and the graphs of the paper."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import asdict, dataclass, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.errors import DatasetError, logger, unknown_name
from unseen.graph import Graph
from unseen.labels import Labels

if TYPE_CHECKING:
    from unseen.data.published import Entry


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
    from unseen.data.folders import GRAPH_FILE, GROUP_FILE
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
    from unseen.data.folders import stated_counts
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
    from unseen.data.folders import read_folder
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
