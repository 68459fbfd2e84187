"""Writing graphs with their labels and features, in every format that is read; behind ``unseen convert``.

The suffix of the target names the format, as for reading:

- ``.csv``, ``.tsv``, ``.txt`` (and other text, also ``.gz``) and ``.parquet`` hold the edges. Beside
  ``name.csv`` come, where there is something to put there, ``name.nodes.csv`` (when some nodes have no
  edge), ``name.labels.csv`` and ``name.features.csv`` (``.npz`` where the features are sparse).
- ``.npz`` holds the adjacency as scipy reads it, with an array ``ids``; labels and features beside it.
- ``.mat`` holds ``network``, ``group`` and ``attributes`` in one file, for nodes 0 ... n - 1.
- A folder (a name without suffix) gets the authors' ``graph.txt`` and ``group.txt``, and ``features.npz``.

An edge is written once for a pair, its weight only where some weight is not 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.errors import InputError, UnsupportedError, logger
from unseen.graph import Graph, Symmetrize
from unseen.io.edge_sources import GRAPH_FILE, GROUP_FILE
from unseen.io.features import SVMLIGHT_SUFFIXES
from unseen.io.files import AnyPath, atomic_paths, make_folder
from unseen.io.headers import may_be_edge_header
from unseen.io.label_rows import is_group_layout
from unseen.io.matrices import FEATURE_KEYS, GROUP_KEYS, mat_names
from unseen.io.sources import TEXT_NAMES, data_suffix, existing, is_path
from unseen.io.write_formats import (
    Writer,
    feature_columns,
    id_array,
    is_text,
    joined,
    lines_writer,
    mat_writer,
    npz_writer,
    require_bare,
    require_ids,
    svmlight_writer,
    table_writer,
)
from unseen.labels import Labels

GRAPH_SUFFIXES = (*TEXT_NAMES, ".parquet", ".npz", ".mat")


def convert_graph(
    source: Any,
    target: AnyPath,
    *,
    nodes: Any = None,
    features: Any = None,
    labels: Any = None,
    header: bool | None = None,
    delimiter: str | None = None,
    symmetrize: Symmetrize = "max",
    drop_negative: bool = False,
) -> list[Path]:
    r"""Read a graph and write it in another format; return the files that were written.

    Parameters
    ----------
    source, nodes, features, labels, header, delimiter, symmetrize, drop_negative
        As for :func:`unseen.read_graph`. Labels and features that `source` holds itself (a ``.mat``
        file, a folder with ``group.txt``) need not be named.
    target : path
        File, or folder for the authors' format; see this module for the formats.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("src,dst\na b,007\n")
    >>> [path.name for path in convert_graph(folder / "edges.csv", folder / "graph.tsv")]
    ['graph.tsv']
    >>> (folder / "graph.tsv").read_text()
    'src\tdst\n"a b"\t007\n'
    """
    from unseen.io.read import read_graph, read_labels

    _target_kind(Path(target))  # a wrong suffix is told before the work, not after it
    if is_path(source):
        found_labels, found_features = _own_parts(existing(source, "edges"))
        labels = found_labels if labels is None else labels
        features = found_features if features is None else features
    text: dict[str, Any] = {"header": header, "delimiter": delimiter}
    graph = read_graph(
        source, nodes, features, labels, symmetrize=symmetrize, drop_negative=drop_negative, **text
    )
    known = None if labels is None else read_labels(labels, graph, **text)
    return write_graph(graph, target, labels=known)


def write_graph(graph: Graph, target: AnyPath, *, labels: Labels | None = None) -> list[Path]:
    """Write a graph, its features and labels; all files or none. Return them, the edges first.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> graph = unseen.Graph.from_edges(["a"], ["b"], nodes=["alone"])
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> [path.name for path in write_graph(graph, folder / "edges.csv")]
    ['edges.csv', 'edges.nodes.csv']
    """
    path = Path(target)
    require_ids(graph.node_ids, path)
    labels = None if labels is None else labels.aligned(graph)
    if labels is not None:
        _require_class_names(labels, path)
    kind = _target_kind(path)
    if kind == "folder":
        files = _authors_files(graph, labels, path)
        make_folder(path)
    elif kind == "mat":
        files = {path: _mat_file(graph, labels, path)}
    else:
        files = _separate_files(graph, labels, path)
    _write_all(files)
    _warn_of_losses(labels, list(files), kind)
    return list(files)


def write_labels(labels: Labels, target: AnyPath) -> None:
    """Write one row ``node, label`` for each label, as text or Parquet; or the authors' ``group.txt``.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> write_labels(unseen.Labels.from_values(["red", None, ["red", "blue"]], ["a", "b", "c"]), path)
    >>> path.read_text().split()
    ['node,label', 'a,red', 'c,blue', 'c,red']
    """
    path = Path(target)
    require_ids(labels.node_ids, path)
    _require_class_names(labels, path)
    _require_suffix(path, "labels", (".parquet",))
    writer = _group_file(labels, path) if is_group_layout(path) else _labels_file(labels, path)
    _write_all({path: writer})


def write_features(graph: Graph, target: AnyPath) -> None:
    """Write the features of a graph: text, Parquet, ``.npz``, or svmlight for nodes 0 ... n - 1.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> graph = unseen.Graph([[0, 1], [1, 0]], [[0.5, 1.0], [0.0, 2.0]], ["a", "b"], ["tall", "old"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "features.csv"
    >>> write_features(graph, path)
    >>> path.read_text().split()
    ['node,tall,old', 'a,0.5,1', 'b,0,2']
    """
    path = Path(target)
    if graph.features is None:
        msg = f"{path}: the graph has no features to write"
        raise InputError(msg)
    require_ids(graph.node_ids, path)
    _require_suffix(path, "features", (".parquet", ".npz", *SVMLIGHT_SUFFIXES))
    _write_all({path: _features_file(graph, path)})


def _target_kind(path: Path) -> str:
    suffix = data_suffix(path)
    _refuse_vectors_suffix(path, "graphs")
    if path.is_dir() or not suffix:
        return "folder"
    if suffix in GRAPH_SUFFIXES or is_text(path):
        return "mat" if suffix == ".mat" else "files"
    msg = (
        f"{path}: graphs are not written with the suffix {suffix!r}; use one of {', '.join(GRAPH_SUFFIXES)} "
        "(text also with .gz), or a folder for graph.txt and group.txt"
    )
    raise InputError(msg)


def _warn_of_losses(labels: Labels | None, files: list[Path], kind: str) -> None:
    nodes = next((file for file in files if file.name.rpartition(".nodes.")[0]), None)
    if kind == "files" and nodes is not None:
        logger.warning(
            "%s cannot say that a node has no edge, so all nodes are listed in %s; read it with nodes=... (--nodes)",
            files[0],
            nodes,
        )
    if kind == "mat" and labels is not None and labels.classes != tuple(map(str, range(len(labels.classes)))):
        numbered = ", ".join(f"{k} = {name}" for k, name in enumerate(labels.classes))
        logger.warning("%s holds classes as column numbers: %s", files[0], numbered)


def _own_parts(source: Path) -> tuple[Path | None, Path | None]:
    """Return the sources of labels and features that a graph source holds itself."""
    if source.is_dir() or source.name == GRAPH_FILE:
        folder = source if source.is_dir() else source.parent
        group, features = folder / GROUP_FILE, folder / "features.npz"
        return (group if group.is_file() else None), (features if features.is_file() else None)
    if data_suffix(source) != ".mat":
        return None, None
    names = mat_names(source)
    return (
        source if names.intersection(GROUP_KEYS) else None,
        source if names.intersection(FEATURE_KEYS) else None,
    )


def _write_all(files: dict[Path, Writer]) -> None:
    with atomic_paths(*files) as temporaries:
        for writer, temporary in zip(files.values(), temporaries, strict=True):
            writer(temporary)


def _separate_files(graph: Graph, labels: Labels | None, path: Path) -> dict[Path, Writer]:
    """Return the files of a format that holds the edges only, and what goes beside it."""
    if data_suffix(path) == ".npz":
        files = {path: npz_writer(graph.adjacency, graph.node_ids, path)}
    else:
        files = {path: _edges_file(graph, path)}
        alone = graph.isolated & (graph.adjacency.diagonal() == 0)
        if alone.any():
            beside = _beside(path, "nodes")
            files[beside] = table_writer({"node": id_array(graph.node_ids)}, beside)
    if graph.features is not None:
        beside = _beside(path, "features", sparse=sp.issparse(graph.features))
        files[beside] = _features_file(graph, beside)
    if labels is not None:
        beside = _beside(path, "labels")
        files[beside] = _labels_file(labels, beside)
    return files


def _beside(path: Path, part: str, *, sparse: bool = False) -> Path:
    packed = ".gz" if path.name.lower().endswith(".gz") else ""
    stem, _, suffix = path.name[: len(path.name) - len(packed)].rpartition(".")
    if suffix.lower() == "npz":
        suffix, packed = "npz" if part == "features" else "csv", ""
    elif sparse:
        suffix, packed = "npz", ""
    return path.with_name(f"{stem}.{part}.{suffix}{packed}")


def _edges_file(graph: Graph, path: Path) -> Writer:
    columns = _edge_columns(graph)
    header = is_text(path) and data_suffix(path) not in (".csv", ".tsv", ".tab")
    # Other programs want blank-separated edges without a header; one is needed where there is no
    # edge, or where the first could be mistaken for a header.
    return table_writer(columns, path, header=not header or _needs_header(columns))


def _edge_columns(graph: Graph) -> dict[str, pa.Array]:
    upper = sp.triu(graph.adjacency, format="coo")
    ids = id_array(graph.node_ids)
    columns = {"src": ids.take(pa.array(upper.row)), "dst": ids.take(pa.array(upper.col))}
    if (upper.data != 1).any():
        columns["weight"] = pa.array(upper.data)
    return columns


def _needs_header(columns: dict[str, pa.Array]) -> bool:
    if not len(columns["src"]):
        return True
    return may_be_edge_header([str(column[0].as_py()).strip().lower() for column in columns.values()])


def _labels_file(labels: Labels, path: Path) -> Writer:
    rows, columns = labels.indicator.nonzero()
    names = pa.array(list(labels.classes), pa.large_string()).take(pa.array(columns))
    return table_writer({"node": id_array(labels.node_ids).take(pa.array(rows)), "label": names}, path)


def _features_file(graph: Graph, path: Path) -> Writer:
    matrix, suffix = graph.features, data_suffix(path)
    if suffix == ".npz":
        return npz_writer(matrix, graph.node_ids, path, names=graph.feature_names)
    if suffix in SVMLIGHT_SUFFIXES:
        return svmlight_writer(matrix, graph.node_ids, path)
    dense = np.asarray(matrix.toarray() if isinstance(matrix, sp.csr_array) else matrix)
    names = feature_columns(graph.feature_names, dense.shape[1], path)
    columns = {"node": id_array(graph.node_ids)}
    columns |= {name: pa.array(np.ascontiguousarray(dense[:, k])) for k, name in enumerate(names)}
    return table_writer(columns, path)


def _mat_file(graph: Graph, labels: Labels | None, path: Path) -> Writer:
    variables: dict[str, Any] = {"network": sp.csc_matrix(graph.adjacency)}
    if labels is not None:
        variables["group"] = sp.csc_matrix(labels.indicator.astype(np.float64))
    if graph.features is not None:
        variables["attributes"] = (
            sp.csc_matrix(graph.features) if sp.issparse(graph.features) else graph.features
        )
    return mat_writer(variables, graph.node_ids, path)


def _authors_files(graph: Graph, labels: Labels | None, folder: Path) -> dict[Path, Writer]:
    columns = _edge_columns(graph)
    if _needs_header(columns):
        what = "a graph without edges" if not len(columns["src"]) else "a first edge that looks like a header"
        msg = f"{folder}: the authors' format cannot hold {what}; use .csv or .parquet instead"
        raise UnsupportedError(msg)
    edges = joined([column.cast(pa.large_string()) for column in columns.values()], "\t")
    # group.txt names every node, so that isolated ones are not lost; without labels it stands for a node list.
    listed = Labels.from_values([None] * graph.n_nodes, graph.node_ids) if labels is None else labels
    group = _group_file(listed, folder / GROUP_FILE)
    files = {folder / GRAPH_FILE: lines_writer(edges, folder / GRAPH_FILE), folder / GROUP_FILE: group}
    if graph.features is not None:
        path = folder / "features.npz"
        files[path] = npz_writer(graph.features, graph.node_ids, path, names=graph.feature_names)
    return files


def _group_file(labels: Labels, path: Path) -> Writer:
    ids = id_array(labels.node_ids).cast(pa.large_string())
    require_bare(ids.to_pylist(), path, "id")
    require_bare(labels.classes, path, "class")
    return lines_writer(joined([ids, _class_lists(labels)], "\t") if labels.classes else ids, path)


def _class_lists(labels: Labels) -> pa.Array:
    indicator = labels.indicator
    names = np.array([*labels.classes, ""], dtype=object)
    return pa.array(
        [
            " ".join(names[indicator.indices[a:b]])
            for a, b in zip(indicator.indptr[:-1], indicator.indptr[1:], strict=True)
        ],
        pa.large_string(),
    )


def _require_class_names(labels: Labels, path: Path) -> None:
    for name in labels.classes:
        if "|" in name or name != name.strip() or name.lower() in ("", "nan", "-1"):
            msg = (
                f"{path}: the class name {name!r} would not be read back: | separates classes, blanks at the ends "
                "are dropped, and '', 'nan' and '-1' mean no label; rename the class"
            )
            raise UnsupportedError(msg)


def _refuse_vectors_suffix(path: Path, what: str) -> None:
    if ".w2v" in path.suffixes:
        msg = f"{path}: the suffix .w2v.txt is that of vectors, and {what} are none; use .txt, .csv or .parquet instead"
        raise InputError(msg)


def _require_suffix(path: Path, what: str, others: Iterable[str]) -> None:
    _refuse_vectors_suffix(path, what)
    if is_text(path) or data_suffix(path) in others:
        return
    known = ", ".join((*TEXT_NAMES, *others))
    msg = f"{path}: {what} are not written with this suffix; use one of {known} (text also with .gz)"
    raise InputError(msg)
