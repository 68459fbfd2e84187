"""Writing graphs with their labels and features, and vectors, in every format that is read.

The suffix of the target names the format, as for reading; `FORMATS` has them all.

- ``.csv``, ``.tsv``, ``.txt`` (and other text, also ``.gz``) and ``.parquet`` hold the edges. Beside
  ``name.csv`` come, where there is something to put there, ``name.nodes.csv`` (when some nodes have no
  edge), ``name.labels.csv`` and ``name.features.csv`` (``.npz`` where the features are sparse).
- ``.npz`` holds the adjacency as scipy reads it, with an array ``ids``; labels and features beside it.
- ``.mat`` holds ``network``, ``group`` and ``attributes`` in one file, for nodes 0 ... n - 1.
- A folder (a name without suffix) gets the authors' ``graph.txt`` and ``group.txt``, and ``features.npz``.
- Vectors: ``.parquet`` (columns `node` and `vector`; method, parameters, seed and version in the file's
  metadata), ``.npz``, ``.w2v.txt`` (word2vec text) and ``.tsv`` (projector pair with ``name.metadata.tsv``).

An edge is written once per pair, its weight only where some weight is not 1. All files of an output appear
together or not at all.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import numpy as np
import scipy.sparse as sp

from unseen.data.files import (
    AnyPath,
    atomic_paths,
    new_folder,
    refuse_overwriting,
)
from unseen.data.sources import Role, data_suffix, find_format, resolve, written_format
from unseen.data.writers import Files, as_folder
from unseen.embedding import Embedding
from unseen.errors import InputError, UnsupportedError, logger
from unseen.graph import Graph
from unseen.ids import IdArray, as_ids
from unseen.labels import MISSING_WORDS, UNLABELLED, Labels


def write_graph(
    graph: Graph, target: AnyPath, *, labels: Labels | None = None, inputs: Iterable[object] = ()
) -> list[Path]:
    """Write a graph, its features and labels; all files or none. Return them, the edges first.

    Parameters
    ----------
    graph : Graph
        What to write.
    target : path
        File for the edges, or folder; the module says what comes beside it.
    labels : Labels, optional
        Of nodes of the graph.
    inputs : iterable of path, optional
        Files that must not be overwritten, since the graph was read from them.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> graph = unseen.Graph.from_edges(["a"], ["b"], nodes=["alone"])
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> [path.name for path in write_graph(graph, folder / "edges.csv")]
    ['edges.csv', 'edges.nodes.csv']
    """
    path = Path(target)
    check_graph_target(path)
    _require_ids(graph.node_ids, path)
    labels = None if labels is None else labels.aligned(graph)
    if labels is not None:
        _require_class_names(labels, path)
    whole = find_format(path, "graph", written=True)
    if is_folder(path):
        files = as_folder(graph, labels, path)
    elif whole is not None:
        files = cast(Files, resolve(whole.writers["graph"])(graph, labels, path))
    else:
        files = _separate_files(graph, labels, path)
    _write_all(files, inputs, folder=path if is_folder(path) else None)
    _warn_of_losses(graph, labels, list(files), whole=whole is not None)
    return list(files)


def write_tables(
    graph: Graph, folder: AnyPath, *, labels: Labels | None = None, inputs: Iterable[object] = ()
) -> list[Path]:
    """Write ``edges.csv``, ``features.parquet`` and ``labels.csv`` into a folder, what there is of them.

    ``nodes.csv`` comes with them where some nodes have no edge.

    Examples
    --------
    >>> import tempfile, unseen
    >>> data = unseen.planted_partition(60, 3, random_state=0)
    >>> [path.name for path in write_tables(data.graph, tempfile.mkdtemp(), labels=data.labels)]
    ['edges.csv', 'features.parquet', 'labels.csv']
    """
    place = Path(folder)
    _require_ids(graph.node_ids, place)
    files = _files_of(graph, "edges", place / "edges.csv")
    if _has_lonely_nodes(graph):
        files |= _files_of(graph, "nodes", place / "nodes.csv")
    if graph.features is not None:
        files |= _files_of(graph, "features", place / "features.parquet")
    if labels is not None:
        _require_class_names(labels, place)
        files |= _files_of(labels.aligned(graph), "labels", place / "labels.csv")
    return _write_all(files, inputs, folder=place)


def write_edges(graph: Graph, target: AnyPath) -> list[Path]:
    """Write the edges of a graph alone."""
    _require_ids(graph.node_ids, Path(target))
    return _write_all(_files_of(graph, "edges", Path(target)), ())


def write_labels(labels: Labels, target: AnyPath, *, inputs: Iterable[object] = ()) -> list[Path]:
    """Write one row ``node, label`` per label, as text or Parquet; or the authors' ``group.txt``.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = write_labels(unseen.Labels.from_values(["red", None, ["red", "blue"]], ["a", "b", "c"]), path)
    >>> path.read_text().split()
    ['node,label', 'a,red', 'c,blue', 'c,red']
    """
    path = Path(target)
    _require_ids(labels.node_ids, path)
    _require_class_names(labels, path)
    return _write_all(_files_of(labels, "labels", path), inputs)


def write_features(graph: Graph, target: AnyPath, *, inputs: Iterable[object] = ()) -> list[Path]:
    """Write the features of a graph: text, Parquet, ``.npz``, or svmlight for nodes 0 ... n - 1.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> graph = unseen.Graph([[0, 1], [1, 0]], [[0.5, 1.0], [0.0, 2.0]], ["a", "b"], ["tall", "old"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "features.csv"
    >>> _ = write_features(graph, path)
    >>> path.read_text().split()
    ['node,tall,old', 'a,0.5,1', 'b,0,2']
    """
    path = Path(target)
    if graph.features is None:
        msg = f"{path}: the graph has no features to write"
        raise InputError(msg)
    _require_ids(graph.node_ids, path)
    return _write_all(_files_of(graph, "features", path), inputs)


def write_embedding(embedding: Embedding, target: AnyPath, *, inputs: Iterable[object] = ()) -> list[Path]:
    """Write vectors in the format that the suffix of `target` names.

    Text formats print each float32 with the fewest digits that identify it. Sparse vectors stay sparse in
    ``.npz``; in ``.parquet`` they are written as dense lists, block by block, and come back sparse.

    Examples
    --------
    >>> import unseen
    >>> embedding = unseen.Embedding([[0.5, 1.0]], node_ids=["a b"])
    >>> write_embedding(embedding, "vectors.w2v.txt")
    Traceback (most recent call last):
        ...
    unseen.errors.UnsupportedError: vectors.w2v.txt: word2vec text cannot hold the id 'a b', which has a
    blank; save as .parquet, .npz or .tsv instead
    """
    path = Path(target)
    n, width = embedding.vectors.shape
    if not n or not width:
        msg = f"{path}: the embedding has {n} rows and {width} columns, so there is nothing to write"
        raise InputError(msg)
    _require_ids(embedding.node_ids, path)
    return _write_all(_files_of(embedding, "vectors", path), inputs)


def check_vectors(path: AnyPath, node_ids: IdArray) -> None:
    """Raise the error that saving vectors of these nodes to `path` would end in, before they are learnt.

    Examples
    --------
    >>> check_vectors("vectors.w2v.txt", as_ids(["a b"]))
    Traceback (most recent call last):
        ...
    unseen.errors.UnsupportedError: vectors.w2v.txt: word2vec text cannot hold the id 'a b', which has a
    blank; save as .parquet, .npz or .tsv instead
    """
    target, ids = Path(path), as_ids(node_ids)
    _require_ids(ids, target)
    _files_of(Embedding(np.zeros((len(ids), 1), dtype=np.float32), ids), "vectors", target)


def check_graph_target(path: Path) -> None:
    """Raise the error that a graph's file of this name would end in."""
    if not is_folder(path) and find_format(path, "graph", written=True) is None:
        written_format(path, "edges")


def is_folder(path: Path) -> bool:
    """Return whether a graph written to `path` is a folder in the authors' format: it has no suffix, or is one."""
    return path.is_dir() or not data_suffix(path)


def _files_of(value: Graph | Labels | Embedding, role: Role, path: Path) -> Files:
    return cast(Files, resolve(written_format(path, role).writers[role])(value, role, path))


def _separate_files(graph: Graph, labels: Labels | None, path: Path) -> Files:
    """Return the files of a format that holds the edges only, and what goes beside it."""
    files = _files_of(graph, "edges", path)
    keeps_nodes = data_suffix(path) == ".npz"
    if not keeps_nodes and _has_lonely_nodes(graph):
        files |= _files_of(graph, "nodes", _beside(path, "nodes"))
    if graph.features is not None:
        npz = keeps_nodes or sp.issparse(graph.features)
        files |= _files_of(graph, "features", _beside(path, "features", ".npz" if npz else None))
    if labels is not None:
        files |= _files_of(labels, "labels", _beside(path, "labels", ".csv" if keeps_nodes else None))
    return files


def _beside(path: Path, part: str, suffix: str | None = None) -> Path:
    packed = ".gz" if path.name.lower().endswith(".gz") else ""
    stem, _, own = path.name[: len(path.name) - len(packed)].rpartition(".")
    return path.with_name(f"{stem}.{part}{suffix or f'.{own}{packed}'}")


def _has_lonely_nodes(graph: Graph) -> bool:
    return bool((graph.isolated & (graph.adjacency.diagonal() == 0)).any())


def _write_all(files: Files, inputs: Iterable[object], *, folder: Path | None = None) -> list[Path]:
    """Write all files or none; `folder` is made for them."""
    paths, sources = list(files), list(inputs)
    for path in paths:
        refuse_overwriting(path, sources)
    with (
        contextlib.nullcontext() if folder is None else new_folder(folder),
        atomic_paths(*paths) as temporaries,
    ):
        for fill, temporary in zip(files.values(), temporaries, strict=True):
            fill(temporary)
    return paths


def _warn_of_losses(graph: Graph, labels: Labels | None, files: list[Path], *, whole: bool) -> None:
    nodes = next((file for file in files if ".nodes." in file.name), None)
    if nodes is not None and _has_lonely_nodes(graph):
        logger.warning(
            "%s cannot say that a node has no edge, so all nodes are listed in %s; read it with nodes=... (--nodes)",
            files[0],
            nodes,
        )
    if whole and labels is not None and labels.classes != tuple(map(str, range(len(labels.classes)))):
        numbered = ", ".join(f"{k} = {name}" for k, name in enumerate(labels.classes))
        logger.warning("%s holds classes as column numbers: %s", files[0], numbered)


def _require_ids(ids: IdArray, path: Path) -> None:
    """Refuse ids that no file gives back: empty ones, and text that is not Unicode."""
    for value in ids if ids.dtype != np.int64 else ():
        try:
            value.encode()
        except UnicodeEncodeError:
            msg = f"{path}: the id {value!r} is not valid Unicode text, so no file can hold it; change the id"
            raise UnsupportedError(msg) from None
        if not value:
            msg = f"{path}: one node has an empty id, which no reader takes; give it a name"
            raise UnsupportedError(msg)


def _require_class_names(labels: Labels, path: Path) -> None:
    for name in labels.classes:
        if "|" in name or name != name.strip() or name.lower() in UNLABELLED or name in MISSING_WORDS:
            words = ", ".join(map(repr, (*UNLABELLED, *MISSING_WORDS)))
            msg = (
                f"{path}: the class name {name!r} would not be read back: | separates classes, blanks at the ends "
                f"are dropped, and {words} mean no label; rename the class"
            )
            raise UnsupportedError(msg)
