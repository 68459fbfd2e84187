"""Folders in the format of the paper's authors: ``graph.txt``, ``group.txt`` and, where there are any, features.

Their files come in through :func:`unseen.read`, like any other file; then nodes and classes are put in order.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from unseen.data.datasets import Dataset, load_dataset
from unseen.data.read import read
from unseen.data.sources import FEATURE_FILE, GRAPH_FILE, GROUP_FILE
from unseen.data.words import words_of
from unseen.errors import DatasetError, InputError
from unseen.graph import Graph
from unseen.ids import IdArray
from unseen.labels import Labels
from unseen_paper.csv_files import read_csv

_COUNTED = ("nodes", "edges", "classes")
_NUMBER = re.compile("0|[1-9][0-9]{0,17}")  # as numbers are written, if they fit into 64 bits


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
    stated = (
        {key: meta[key] for key in _COUNTED if isinstance(meta.get(key), int)}
        if counts is None
        else asdict(counts)
    )
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


def load_texts(name: str) -> Dataset:
    """Return a data set; that of m10, papers from ten disciplines, with the words of its titles as features."""
    path = Path(os.environ.get("UNSEEN_DATA", ".")) / name / "texts.csv"
    if name != "m10":
        return load_dataset(name)
    if not path.exists():
        msg = f"{path} does not exist; set UNSEEN_DATA to a folder with the data set m10"
        raise InputError(msg)
    data, texts = load_dataset(name), {row["node"]: row["text"] for row in read_csv(path, ("node", "text"))}
    listed = [texts.get(str(node), "") for node in data.graph.node_ids]
    matrix, words = words_of(listed, path.name)
    return replace(data, graph=data.graph.with_features(matrix, words, listed))


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


def _read_meta(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not isinstance(content.get("class_names"), list | None):
        msg = f"{path.name} must hold an object whose class_names is a list or null"
        raise ValueError(msg)
    return content
