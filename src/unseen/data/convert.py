"""One file format into another, whatever the file holds: a graph, features, labels or an embedding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, get_args

import scipy.sparse as sp

from unseen.data.arrays import MAT_KEYS, mat_variables
from unseen.data.features import FeatureReader
from unseen.data.files import AnyPath, refuse_overwriting
from unseen.data.folders import files_of
from unseen.data.names import LABEL, find_ends, has_id_word, has_sure_names, id_position, is_label_name, lower
from unseen.data.opened import File, data_suffix
from unseen.data.pieces import read_whole
from unseen.data.read import read, read_label_list
from unseen.data.sources import (
    FEATURE_FILE,
    GRAPH_FILE,
    GROUP_FILE,
    Options,
    Role,
    Source,
    find_file,
    find_format,
    is_pattern,
    match_formats,
    metadata_path,
    written_format,
)
from unseen.data.tables import MatrixBatch, is_list
from unseen.data.vectors import read_embedding
from unseen.data.write import STDOUT, is_folder, write_graph, write_part
from unseen.errors import InputError, unknown_name
from unseen.graph import Graph
from unseen.labels import Labels

What = Literal["graph", "features", "labels", "embedding", "all"]
_ROLES: dict[Role, What] = {
    "edges": "graph",
    "features": "features",
    "labels": "labels",
    "vectors": "embedding",
}


def convert_file(
    source: AnyPath,
    target: AnyPath,
    *,
    what: What | None = None,
    nodes: Any = None,
    features: Any = None,
    labels: Any = None,
    options: Options | None = None,
) -> list[Path]:
    r"""Read a file of any kind and write it in the format that the suffix of `target` names.

    Parameters
    ----------
    source : path
        A file, or a folder in the authors' format.
    target : path
        A file, or a folder; ``-`` or ``/dev/stdout`` for the standard output, as csv (vectors: word2vec text).
    what : {"graph", "features", "labels", "embedding", "all"}, optional
        What `source` holds; see :func:`kind_of` where it is not given. ``"all"`` is a graph, written into
        the folder `target` as ``edges.csv``, ``features.parquet`` and ``labels.csv``.
    nodes, features, labels
        Go with a graph, as in :func:`unseen.read_graph`. Labels and features that `source` holds itself (a
        ``.mat`` file, a folder with ``group.txt``) need not be named.
    options : Options, optional
        How sources are read.

    Returns
    -------
    list of Path
        The files that were written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "labels.csv").write_text("node,label\na,red|blue\nb,red\n")
    >>> [path.name for path in convert_file(folder / "labels.csv", folder / "group.txt")]
    ['group.txt']
    >>> (folder / "group.txt").read_text()
    'a\tblue red\nb\tred\n'
    """
    if what is not None and what not in get_args(What):
        raise unknown_name("kind of file", what, get_args(What))
    options = Options() if options is None else options
    path, to = Path(source), Path(target)
    parts = {"nodes": nodes, "features": features, "labels": labels}
    extra = next((name for name, part in parts.items() if part is not None), None)
    kind = what or ("graph" if extra else kind_of(path, to, options))
    if extra and kind not in ("graph", "all"):
        msg = f"`{extra}` goes with a graph, and {str(path)!r} is to be read as {kind}; leave it out"
        raise InputError(msg)
    if kind == "embedding":
        return write_part(read_embedding(path), "vectors", to, inputs=[path])
    if kind == "features":
        rows = read_whole(FeatureReader(path, options))
        n = rows.values.shape[0]
        graph = Graph(sp.csr_array((n, n)), rows.values, rows.node_ids, rows.names)
        return write_part(graph, "features", to, inputs=[path])
    if kind == "labels":
        return write_part(read_label_list(path, options), "labels", to, inputs=[path])
    files = files_of(path, "edges") if is_pattern(path) else [find_file(path, "edges")]
    parts = _own_parts(files[0]) | {name: part for name, part in parts.items() if part is not None}
    sources: list[Any] = [path, *files]
    for part in parts.values():
        entries = part.values() if isinstance(part, Mapping) else part
        sources += entries if isinstance(part, (Mapping, list, tuple)) else [part]
    if kind == "graph" and str(to) not in STDOUT:  # what is wrong with it is told before the work
        if not is_folder(to):
            written_format(to, "edges")
        refuse_overwriting(to, sources)
    data = read(path, **parts, **asdict(options))
    return write_data(data.graph, data.labels, to, kind, inputs=sources)


def write_data(
    graph: Graph, labels: Labels | None, target: AnyPath, what: str | None, *, inputs: Iterable[object] = ()
) -> list[Path]:
    """Write a graph with its labels, or the part of it that `what` names; see :func:`convert_file`."""
    if what == "features":
        return write_part(graph, "features", target, inputs=inputs)
    if what == "labels" and labels is not None:
        return write_part(labels, "labels", target, inputs=inputs)
    if what not in (None, "graph", "all"):
        available = ["graph", "features", *(["labels"] if labels is not None else []), "all"]
        raise unknown_name("part of a graph", what, available)
    tables = what == "all" and str(target) not in STDOUT
    return write_graph(graph, target, labels=labels, inputs=inputs, tables=tables)


def kind_of(source: AnyPath, target: AnyPath, options: Options | None = None) -> What:
    r"""Return what a file holds, by its name, the names of its columns or arrays, or the name of the target.

    Without any of these it is a graph; what it holds else has to be said.
    """
    path = files_of(source, "edges")[0] if is_pattern(source) else find_file(source, "source")
    format_ = find_format(path, "edges")
    if path.is_dir() or (format_ is not None and format_.graph):
        return "graph"
    for name, is_written in ((path, False), (Path(target), True)):
        lengths = dict[Role, int]()
        for suffix, each in match_formats(name):
            for role in _ROLES.keys() & (each.writers if is_written else each.roles):
                lengths.setdefault(role, len(suffix))
        longest = [role for role, length in lengths.items() if length == max(lengths.values())]
        if len(longest) == 1:
            return _ROLES[longest[0]]
    kind = _named_kind(path, Options() if options is None else options) if path.is_file() else None
    if kind is None and data_suffix(path) == ".npy":
        msg = f"{str(path)!r} may hold features or an embedding; say which with what=... (--what)"
        raise InputError(msg)
    return kind or "graph"


def _named_kind(path: Path, options: Options) -> What | None:
    """Return what the names in a file say: of its columns, its arrays, or our own metadata."""
    if metadata_path(path).is_file():  # the ids of a projector pair
        return "embedding"
    role: Role = "features" if data_suffix(path) in (".npz", ".npy") else "labels"
    table = next(Source(path, role, options).batches(1 << 16), None)
    if isinstance(table, MatrixBatch):
        return "embedding" if table.metadata else "features" if table.names is not None else None
    if table is None:
        return None
    first = () if table.layout is None else table.layout.first or ()
    names = lower(table.names or first)
    lists = [name for name, column in zip(names, table.columns, strict=False) if is_list(column.type)]
    if "method" in table.metadata or "vector" in lists:
        return "embedding"
    if has_sure_names("edges", names) or find_ends(names) is not None:
        return "graph"
    alone = len(names) == 2 and is_label_name(names[1]) and (id_position(names) == 0 or has_id_word(names[0]))
    if alone or (len(names) in (2, 3) and any(name in LABEL for name in names)):
        return "labels"
    own = id_position(names)  # `node_id node_id` names the two ends of an edge
    return "features" if len(names) > 1 and own is not None and names.count(names[own]) == 1 else None


def _own_parts(source: Path) -> dict[str, Any]:
    """Return the sources of labels and features that a graph source holds itself."""
    if source.is_dir() or source.name == GRAPH_FILE:
        folder = source if source.is_dir() else source.parent
        beside = {"labels": folder / GROUP_FILE, "features": folder / FEATURE_FILE}
        return {part: path for part, path in beside.items() if path.is_file()}
    if data_suffix(source) != ".mat":
        return {}
    variables = mat_variables(File(source, "edges"))
    parts: tuple[Role, ...] = ("labels", "features")
    return {part: source for part in parts if any(key in variables for key in MAT_KEYS[part])}
