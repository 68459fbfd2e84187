"""Data sets by name: the bundled graph, folders of the user's, and what other distributions add.

The distribution `unseen-paper` has the paper's graphs, and names folders in its authors' format.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.sources import GRAPH_FILE, GROUP_FILE
from unseen.errors import DatasetError, logger, unknown_name
from unseen.graph import Graph
from unseen.ids import Value
from unseen.labels import Labels
from unseen.plugins import IN_PAPER, find_plugins, load_plugin

_COUNTED = ("nodes", "edges", "classes", "features")


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


DEBIAN_FILE = Path(__file__).with_name("debian.npz")
DEBIAN_SHA256 = "1fe3a7bde3dc075e45c5fa48206392852f748f7be954fce471d794fe2ce5ad80"
DEBIAN_COUNTS: dict[str, int | None] = {"nodes": 4852, "edges": 6928, "classes": 12, "features": 1659}


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
        return dict(DEBIAN_COUNTS)
    base, parent, meta = name.partition(":")[0], user_folder(None), {}
    if base in find_plugins("data set"):
        meta = load_plugin("data set", base).dataset_counts(name)
    elif parent is not None:
        with contextlib.suppress(OSError, ValueError, TypeError):
            meta = dict(json.loads((parent / name / "meta.json").read_bytes()))
    return {key: meta[key] if isinstance(meta.get(key), int) else None for key in _COUNTED}


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
        return cast(Dataset, load_plugin("folder layout", "authors")(parent / name))
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
        texts = (arrays[key].tobytes().decode() for key in ("nodes", "words", "sections"))
        nodes, words, sections = (text.split("\n") for text in texts)
        src, dst, section = arrays["src"], arrays["dst"], arrays["section"]
        word_counts, word_columns = arrays["word_counts"], arrays["word_columns"]
    indptr = np.r_[0, np.cumsum(word_counts, dtype=np.int64)]
    ones = np.ones(len(word_columns), dtype=np.float32)
    features = sp.csr_array((ones, word_columns.astype(np.int64), indptr), shape=(len(nodes), len(words)))
    graph = Graph(unweighted_adjacency(src, dst, len(nodes)), features, nodes, tuple(words))  # type: ignore[arg-type]
    labels = Labels.from_values([sections[k] for k in section], graph.node_ids, classes=sections)
    return Dataset("debian", graph, labels)


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
