"""Writing graphs with their labels and features, and vectors, in every format that is read.

The suffix of the target names the format, as for reading; `FORMATS` has them all.

- ``.csv``, ``.tsv``, ``.txt`` (and other text, also ``.gz``) and ``.parquet`` hold the edges. Beside
  ``name.csv`` come, where there is something to put there, ``name.nodes.csv`` (when some nodes have no
  edge), ``name.labels.csv`` and ``name.features.csv`` (``.npz`` where the features are sparse).
- ``.npz`` holds the adjacency as scipy reads it, with an array ``ids``; labels and features beside it.
- A folder (a name without suffix) gets the authors' ``graph.txt`` and ``group.txt``, and ``features.npz``.
- Vectors: ``.parquet`` (columns `node` and `vector`; method, parameters, seed and version in the file's
  metadata), ``.npz``, ``.w2v.txt`` (word2vec text) and ``.tsv`` (projector pair with ``name.metadata.tsv``).

An edge is written once per pair, its weight only where some weight is not 1. A column ``type`` names its relation and
a column ``directed`` says whether it is directed, in graphs that have relations or directed edges. Types of nodes are a
column of the node list, and each type with features has a file of its own (``name.features.author.csv``).
All files of an output appear together or not at all.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.files import STANDARD, AnyPath, atomic_path, atomic_paths, new_folder, refuse_overwriting
from unseen.data.opened import PACKED, data_suffix, delimiter_of
from unseen.data.sources import Role, resolve, written_format
from unseen.data.writers import Files, as_folder
from unseen.embedding import Embedding
from unseen.errors import InputError, UnseenError, UnsupportedError, cannot_hold, logger
from unseen.graph import Graph
from unseen.ids import IdArray, as_ids
from unseen.labels import Labels, class_name_problem

_PACKED_FORMATS = ("text", "word2vec text", "groups")
STDOUT = (STANDARD, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
TABLES: dict[Role, str] = {
    "edges": "edges.csv",
    "nodes": "nodes.csv",
    "features": "features.parquet",
    "labels": "labels.csv",
}
"""The files of a graph that is written as tables."""


def write_graph(
    graph: Graph,
    target: AnyPath,
    *,
    labels: Labels | None = None,
    inputs: Iterable[object] = (),
    tables: bool = False,
) -> list[Path]:
    """Write a graph, its features and labels; all files or none. Return them, the edges first.

    Parameters
    ----------
    graph : Graph
        What to write.
    target : path
        File for the edges, or folder; the module says what comes beside it. ``-`` or ``/dev/stdout``: the
        standard output, which takes the edges only.
    labels : Labels, optional
        Of nodes of the graph.
    inputs : iterable of path, optional
        Files that must not be overwritten, since the graph was read from them.
    tables : bool
        `target` is a folder for ``edges.csv``, ``features.parquet`` and ``labels.csv``, what there is of them;
        ``nodes.csv`` comes with them where some nodes have no edge.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> graph = unseen.Graph.from_edges(["a"], ["b"], nodes=["alone"])
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> [path.name for path in write_graph(graph, folder / "edges.csv")]
    ['edges.csv', 'edges.nodes.csv']
    """
    names = [relation.name for relation in graph.relations]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        msg = f"cannot write {target}: two relations are called {twice!r}; files tell them apart by name, so rename one"
        raise UnsupportedError(msg)
    empty = [relation.name for relation in graph.relations if not relation.matrix.nnz]
    if empty and len(names) > 1:
        logger.warning("%s: relations without edges are not written: %s", target, ", ".join(empty))
    if str(target) in STDOUT:
        rest = {"features": graph.features is not None, "labels": labels is not None}
        rest["nodes without an edge"] = bool(graph.isolated.any())
        if any(rest.values()):
            left = ", ".join(part for part, there in rest.items() if there)
            logger.warning("the standard output takes the edges only, not the %s; name a file", left)
        return write_part(graph, "edges", target)
    path = Path(target)
    labels = None if labels is None else labels.align_to(graph)
    _require_names(graph if labels is None else labels, path)
    paths = {role: path / name for role, name in TABLES.items()} if tables else dict[Role, Path]()
    if tables:
        files = _files_of_graph(graph, labels, paths)
    elif is_folder(path):
        files = as_folder(graph, labels, path)
    else:
        paths = _paths_beside(graph, path)
        files = _files_of_graph(graph, labels, paths)
    _write_all(files, inputs, path if tables or is_folder(path) else None)
    if not tables and paths.get("nodes") in files:
        what = "the types of nodes" if graph.types != (None,) else "nodes without an edge"
        remedy = f"all nodes are listed in {paths['nodes']}; read it with nodes=... (--nodes)"
        logger.warning("%s cannot hold %s, so %s", path, what, remedy)
    return list(files)


def write_part(
    value: Graph | Labels | Embedding, role: Role, target: AnyPath, *, inputs: Iterable[object] = ()
) -> list[Path]:
    """Write one part alone, in the format that the suffix of `target` names.

    Labels are one row ``node, label`` per label, or the authors' ``group.txt``. Text formats print each
    float32 of vectors with the fewest digits that identify it. Sparse vectors stay sparse in ``.npz``; in
    ``.parquet`` they are written as dense lists, block by block, and come back sparse.

    Parameters
    ----------
    value : Graph, Labels or Embedding
        What holds the part: a graph its edges, nodes and features.
    role : {"edges", "nodes", "features", "labels", "vectors"}
        The part.
    target : path
        File to write; ``-`` or ``/dev/stdout`` for the standard output, as csv (vectors: word2vec text).
    inputs : iterable of path, optional
        Files that must not be overwritten, since the value was read from them.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> labels = unseen.Labels.from_values(["red", None, ["red", "blue"]], ["a", "b", "c"])
    >>> _ = write_part(labels, "labels", path)
    >>> path.read_text().split()
    ['node,label', 'a,red', 'c,blue', 'c,red']
    >>> graph = unseen.Graph([[0, 1], [1, 0]], [[0.5, 1.0], [0.0, 2.0]], ["a", "b"], ["tall", "old"])
    >>> _ = write_part(graph, "features", path.with_name("features.csv"))
    >>> path.with_name("features.csv").read_text().split()
    ['node,tall,old', 'a,0.5,1', 'b,0,2']
    """
    if str(target) in STDOUT:
        try:
            path = Path("vectors.w2v.txt" if role == "vectors" else f"{role}.csv")
            (fill,) = _check_part(value, role, path).values()
        except UnseenError as error:
            raise type(error)(str(error).replace(str(path), "the standard output")) from None
        with atomic_path(STANDARD) as temporary:
            fill(temporary)
        return []
    files = _check_part(value, role, Path(target))
    _write_all(files, inputs)
    return list(files)


def check_vectors(path: AnyPath, node_ids: IdArray) -> None:
    """Raise the error that saving vectors of these nodes to `path` would end in, before they are learnt."""
    ids = as_ids(node_ids)
    _check_part(Embedding(np.zeros((len(ids), 1), dtype=np.float32), ids), "vectors", Path(path))


def is_folder(path: Path) -> bool:
    """Return whether a graph written to `path` is a folder in the authors' format: it has no suffix, or is one."""
    return path.is_dir() or not data_suffix(path)


def _check_part(value: Graph | Labels | Embedding, role: Role, path: Path) -> Files:
    """Return the files of a part that is written alone, or raise the error for what cannot be written."""
    if isinstance(value, Graph) and role == "features" and value.features is None:
        msg = f"{path}: the graph has no features to write"
        raise InputError(msg)
    if isinstance(value, Embedding) and 0 in value.shape:
        n, width = value.shape
        msg = f"{path}: the embedding has {n} rows and {width} columns, so there is nothing to write"
        raise InputError(msg)
    _require_names(value, path)
    return _files_of(value, role, path)


def _files_of(value: Graph | Labels | Embedding, role: Role, path: Path) -> Files:
    """Return the files of one part, with the functions that fill them; only text is packed."""
    format_, packed = written_format(path, role), path.suffix.lower()
    if packed in PACKED and format_.name not in _PACKED_FORMATS:
        msg = f"{path}: {format_.name} is not packed as {packed}; leave {packed} out"
        raise UnsupportedError(msg)
    return cast(Files, resolve(format_.writers[role])(value, role, path))


def _files_of_graph(graph: Graph, labels: Labels | None, paths: Mapping[Role, Path]) -> Files:
    """Return a file for each part that is there and has a path."""
    files = _files_of(graph, "edges", paths["edges"])
    loops = np.any([relation.matrix.diagonal() != 0 for relation in graph.relations], axis=0)
    if "nodes" in paths and ((graph.isolated & ~loops).any() or graph.types != (None,)):
        files |= _files_of(graph, "nodes", paths["nodes"])
    for node_type, (matrix, names) in graph.stored_features.items():
        rows, path = graph.rows_of(node_type), paths["features"]
        if len(graph.types) > 1:
            if node_type is None or not re.fullmatch(r"[\w.-]+", node_type):
                what = f"the type {node_type!r} in its name"
                raise cannot_hold(path, "a file", what, "call it by letters, digits, _ and -")
            path = _sibling(path, node_type)
        own = Graph(sp.csr_array((len(rows), len(rows))), matrix, graph.node_ids[rows], names)
        files |= _files_of(own, "features", path)
    return files if labels is None else files | _files_of(labels, "labels", paths["labels"])


def _paths_beside(graph: Graph, path: Path) -> dict[Role, Path]:
    """Return where the parts go whose edges are in the file `path`; a format without node lists holds all nodes."""
    writers = written_format(path, "edges").writers
    dense = None if "features" in writers else ".parquet"
    has_sparse = any(sp.issparse(matrix) for matrix, _ in graph.stored_features.values())
    paths: dict[Role, Path] = {
        "edges": path,
        "features": _sibling(path, "features", ".npz" if has_sparse else dense),
        "labels": _sibling(path, "labels", None if "labels" in writers else ".csv"),
    }
    if "nodes" in writers:
        # a list of nodes is not split at blanks, which ids may have
        commas = graph.types != (None,) and delimiter_of(path) == " "
        paths["nodes"] = _sibling(path, "nodes", ".csv" if commas else None)
    return paths


def _sibling(path: Path, part: str, suffix: str | None = None) -> Path:
    packed = path.suffix if path.name.lower().endswith(PACKED) else ""
    stem, _, own = path.name[: len(path.name) - len(packed)].rpartition(".")
    return path.with_name(f"{stem}.{part}{suffix or f'.{own}{packed}'}")


def _write_all(files: Files, inputs: Iterable[object], folder: Path | None = None) -> None:
    """Write all files or none; `folder` is made for them."""
    sources = list(inputs)
    for path in files:
        refuse_overwriting(path, sources)
    with (
        contextlib.nullcontext() if folder is None else new_folder(folder),
        atomic_paths(*files) as temporaries,
    ):
        for fill, temporary in zip(files.values(), temporaries, strict=True):
            fill(temporary)


def _require_names(value: Graph | Labels | Embedding, path: Path) -> None:
    """Refuse ids and classes that no file gives back: empty ones, text that is not Unicode, marks of our own."""
    if value.node_ids.dtype != np.int64:
        try:
            ids = pa.array(value.node_ids, pa.large_string())
        except UnicodeEncodeError as error:
            msg = f"{path}: the id {error.object!r} is not valid Unicode text, so no file can hold it; change the id"
            raise UnsupportedError(msg) from None
        if pc.any(pc.equal(ids, ""), min_count=0).as_py():
            msg = f"{path}: one node has an empty id, which no reader takes; give it a name"
            raise UnsupportedError(msg)
    for name in value.classes if isinstance(value, Labels) else ():
        if refusal := class_name_problem(name):
            msg = f"{path}: {refusal}"
            raise UnsupportedError(msg)
