"""One file format into another, whatever the file holds: a graph, features, labels or an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from unseen.data.files import AnyPath
from unseen.data.options import Options
from unseen.data.read import read, read_features, read_label_list
from unseen.data.write import check_graph_target, write_embedding, write_features, write_graph, write_labels
from unseen.errors import InputError, unknown_name
from unseen.graph import Graph, Symmetrize
from unseen.ids import default_ids
from unseen.io.columns import LABEL, id_position
from unseen.io.edge_sources import GRAPH_FILE, GROUP_FILE
from unseen.io.embeddings import read_embedding
from unseen.io.embeddings_npz import VECTOR_KEYS, load_arrays
from unseen.io.embeddings_text import metadata_path
from unseen.io.features import SVMLIGHT_SUFFIXES
from unseen.io.headers import LABEL_TOO, may_be_edge_header, may_be_label_header, may_be_node_header
from unseen.io.label_rows import is_group_layout
from unseen.io.matrices import FEATURE_KEYS, GROUP_KEYS, NETWORK_KEYS, mat_names
from unseen.io.sources import TEXT_SUFFIXES, data_suffix, existing, is_path
from unseen.io.tables import first_line
from unseen.io.text import first_rows

What = Literal["graph", "features", "labels", "embedding"]

_WORD2VEC = (".w2v", ".vec", ".emb", ".embeddings")


def convert_file(
    source: AnyPath,
    target: AnyPath,
    *,
    what: What | None = None,
    nodes: Any = None,
    features: Any = None,
    labels: Any = None,
    header: bool | None = None,
    delimiter: str | None = None,
    symmetrize: Symmetrize = "max",
    drop_negative: bool = False,
) -> list[Path]:
    r"""Read a file of any kind and write it in the format that the suffix of `target` names.

    Parameters
    ----------
    source, target : path
        Files, or folders in the authors' format.
    what : {"graph", "features", "labels", "embedding"}, optional
        What `source` holds; found out by :func:`kind_of` when not given.
    nodes, features, labels, symmetrize, drop_negative
        Go with a graph, as in :func:`unseen.read_graph`.
    header, delimiter
        For text, as in :func:`unseen.read_graph`.

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
    path, to = Path(source), Path(target)
    parts = {"nodes": nodes, "features": features, "labels": labels}
    given = next((name for name, part in parts.items() if part is not None), None)
    kind = what or ("graph" if given else kind_of(path, to, header=header, delimiter=delimiter))
    if given and kind != "graph":
        msg = f"`{given}` goes with a graph, and {str(path)!r} is to be read as {_spoken(kind)}; leave it out"
        raise InputError(msg)
    if kind == "graph":
        text: dict[str, Any] = {"header": header, "delimiter": delimiter}
        return convert_graph(path, to, symmetrize=symmetrize, drop_negative=drop_negative, **parts, **text)
    if kind == "embedding":
        return write_embedding(read_embedding(path), to)
    if kind == "features":
        ids, matrix, names = read_features(path, header=header, delimiter=delimiter)
        rows = default_ids(matrix.shape[0]) if ids is None else ids
        write_features(Graph(_no_edges(len(rows)), matrix, rows, names), to)
        return [to]
    write_labels(read_label_list(path, Options(header, delimiter)), to)
    return [to]


def kind_of(
    source: AnyPath,
    target: AnyPath | None = None,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
) -> What:
    r"""Return what a file holds, by its name, its columns or its arrays.

    Nodes with numbers are features, or an embedding where `target` has a format of embeddings only. A file
    that could be two things is an error that says how to tell.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
    >>> _ = path.write_text("from,to\na,b\n")
    >>> kind_of(path)
    'graph'
    """
    path = existing(source, "source")
    wanted = _kind_of_target(None if target is None else Path(target))
    suffix = data_suffix(path)
    if path.is_dir():
        return "graph"
    if is_group_layout(path):
        return "labels"
    if suffix in _WORD2VEC or ".w2v" in path.suffixes or _is_pair(path):
        return "embedding"
    if suffix in SVMLIGHT_SUFFIXES:
        return "features"
    if suffix == ".npy":
        return wanted if wanted in ("features", "embedding") else _ambiguous(path)
    if suffix == ".mat":
        return _in_mat(path)
    if suffix == ".npz":
        return _in_npz(path, wanted)
    if suffix == ".parquet":
        return _in_parquet(path, wanted)
    if suffix in TEXT_SUFFIXES:
        return _in_text(path, wanted, header, delimiter)
    return "graph"  # whose reader names the suffixes it knows


def _kind_of_target(target: Path | None) -> What | None:
    """Return what a format can hold alone; None for one that several kinds come in."""
    if target is None:
        return None
    if is_group_layout(target):
        return "labels"
    if ".w2v" in target.suffixes:
        return "embedding"
    return "features" if data_suffix(target) in SVMLIGHT_SUFFIXES else None


def _is_pair(path: Path) -> bool:
    return path.name.lower().endswith(".tsv") and metadata_path(path).is_file()


def _in_mat(path: Path) -> What:
    names = mat_names(path)
    kinds: dict[What, tuple[str, ...]] = {
        "graph": NETWORK_KEYS,
        "labels": GROUP_KEYS,
        "features": FEATURE_KEYS,
    }
    return next((kind for kind, keys in kinds.items() if names.intersection(keys)), "graph")


def _in_npz(path: Path, wanted: What | None) -> What:
    arrays = load_arrays(path)
    if "metadata" in arrays:
        return "embedding"
    if "feature_names" in arrays:
        return _numbers(wanted)
    if {"format", "shape"} <= arrays.keys():
        square = len(set(arrays["shape"].ravel().tolist())) == 1
        return "graph" if square and wanted is None else _numbers(wanted)
    keys = [key for key in arrays if key.lower() in VECTOR_KEYS]
    if wanted in ("features", "embedding"):
        return wanted
    if any(key.lower() not in ("data", "x", "arr_0") for key in keys):
        return "embedding"  # an array called `vectors`, `emb`, ...
    single = any(arrays[key].dtype.itemsize <= 4 for key in keys)
    return "embedding" if single and "ids" in arrays else _ambiguous(path)


def _in_parquet(path: Path, wanted: What | None) -> What:
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        msg = f"{str(path)!r} is not a readable Parquet file: {first_line(error)}"
        raise InputError(msg) from None
    names = [str(name).strip().lower() for name in schema.names]
    ours = any(key.startswith(b"unseen.") for key in schema.metadata or {})
    if ours or ("vector" in names and _is_list(schema.field(names.index("vector")).type)):
        return "embedding"
    if may_be_edge_header(names):
        return "graph"
    return "labels" if is_label_table(names) else _numbers(wanted)


def _in_text(path: Path, wanted: What | None, header: bool | None, delimiter: str | None) -> What:
    rows = first_rows(path, may_be_header, delimiter=delimiter)
    if not rows:
        return "graph"
    names = [cell.lower() for cell in rows[0]]
    body = rows[1:] or rows
    width = len(body[0])
    numeric = width > 1 and all(_is_number(cell) for row in body for cell in row[1:])
    if header is not False and len(names) > 1:
        if may_be_edge_header(names):
            return "graph"
        if is_label_table(names) or (id_position(names) is not None and not numeric):
            return "labels"
        if id_position(names) is not None:
            return _numbers(wanted)
    if _is_word2vec(rows):
        return "embedding"
    if wanted == "labels" and width == 2:
        return "labels"
    fractions = any(_is_number(cell) and not cell.isdecimal() for row in rows for cell in row[1:2])
    return _numbers(wanted) if numeric and (width > 3 or fractions) else "graph"


def may_be_header(cells: Sequence[str]) -> bool:
    """Return whether these lower-case cells could be the names of columns of any kind of file."""
    return may_be_edge_header(cells) or may_be_label_header(cells) or may_be_node_header(cells)


def is_label_table(names: Sequence[str]) -> bool:
    """Return whether a table with these lower-case names holds labels: their column alone beside the ids.

    Examples
    --------
    >>> is_label_table(["name", "category"]), is_label_table(["node", "x", "y"])
    (True, False)
    """
    if len(names) == 2:
        return any(name in LABEL for name in names) or (id_position(names) == 0 and names[1] in LABEL_TOO)
    return len(names) == 3 and any(name in LABEL for name in names)


def _is_word2vec(rows: list[list[str]]) -> bool:
    sizes = rows[0]
    if len(rows) < 2 or len(sizes) != 2 or not all(size.isdecimal() for size in sizes):
        return False
    return len(rows[1]) > 2 and len(rows[1]) == int(sizes[1]) + 1


def _numbers(wanted: What | None) -> What:
    return "embedding" if wanted == "embedding" else "features"


def _ambiguous(path: Path) -> What:
    msg = f"{str(path)!r} may hold features or an embedding; say which with what=... (--what)"
    raise InputError(msg)


def _spoken(kind: What) -> str:
    return {"graph": "a graph", "embedding": "an embedding"}.get(kind, kind)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _no_edges(n: int) -> sp.csr_array:
    return sp.csr_array((n, n))


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
    check_graph_target(Path(target))  # a wrong suffix is told before the work, not after it
    if is_path(source):
        found_labels, found_features = _own_parts(existing(source, "edges"))
        labels = found_labels if labels is None else labels
        features = found_features if features is None else features
    text: dict[str, Any] = {"header": header, "delimiter": delimiter}
    data = read(source, nodes, features, labels, symmetrize=symmetrize, drop_negative=drop_negative, **text)
    return write_graph(data.graph, target, labels=data.labels)


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
