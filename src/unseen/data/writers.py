"""How the formats are filled: one function per format, which `FORMATS` names.

Each takes a value (a graph for edges, nodes and features; labels; an embedding for vectors), its role and
the path of the file to be. It checks first what its format cannot hold, and returns the files with the
functions that fill them, so that nothing is written at all unless everything can be.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from unseen.data.ids import id_array, is_string, text_arrays
from unseen.data.objects import arrow_table, feature_table
from unseen.data.opened import data_suffix, delimiter_of
from unseen.data.sources import GRAPH_FILE, GROUP_FILE, JSON_LINES, Role, metadata_path
from unseen.data.text import explain_header
from unseen.embedding import Embedding
from unseen.errors import UnsupportedError
from unseen.graph import Graph
from unseen.ids import Array
from unseen.labels import Labels

Fill = Callable[[Path], None]
Files = dict[Path, Fill]
"""Every file of one output, with the function that fills a temporary file in its place."""

_PLAIN = r"^[\pL\pN_.:@/+\-]*$"  # what no reader could take for a delimiter, a comment or a quote
_ANSWERS = "answers (skipped, unknown, confirmed)"
_BLOCK_CELLS = 2**20
_BLOCK_VALUES = 2**22
_MOST_VALUES = 2**29
"""Zeros of sparse vectors compress well, but every one of them has to be written and read."""


def as_text(value: Graph | Labels, role: Role, path: Path) -> Files:
    """Write a table as text; the suffix names the delimiter."""
    table = feature_table(value, path) if role == "features" else arrow_table(value, role)
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    answers = role == "labels" and len(columns) > 2  # then cells may be empty
    for values in (pa.array(list(columns), pa.string()), *columns.values()):
        _require_text(values, path, empty=answers)
    loose = next((name for name in columns if name != name.strip()), None)
    if loose is not None:
        msg = f"{path}: text cannot hold the column name {loose!r}, whose blanks at the ends are dropped; use .parquet"
        raise UnsupportedError(msg)
    names = _quote(pa.array(list(columns), pa.string())).to_pylist()
    delimiter = delimiter_of(path)
    odd = [name for name, cell in zip(columns, names, strict=True) if name != cell]
    lost = [_ANSWERS] * answers + ["types of nodes"] * (role == "nodes" and len(columns) > 1)
    lost += [f"the column name {name!r}" for name in odd]
    if delimiter == " " and lost:
        msg = f"{path}: blank-separated text cannot hold {lost[0]}; use .csv or .parquet"
        raise UnsupportedError(msg)
    # Other programs want blank-separated edges without a header.
    is_table = role != "edges" or delimiter != " " or not columns.keys().isdisjoint(("type", "directed"))
    header = is_table or _needs_header(columns)
    lines = _text_blocks(list(columns.values()), delimiter, quoted=True)
    return {path: text_fill(path, lines, delimiter.join(names) if header else None)}


def as_parquet(value: Graph | Labels | Embedding, role: Role, path: Path) -> Files:
    """Write a table as Parquet, vectors in blocks of rows."""
    if isinstance(value, Embedding):
        n, width = value.vectors.shape
        if sp.issparse(value.vectors) and n * width > _MOST_VALUES:
            msg = (
                f"{path}: {n} x {width} sparse vectors are too many for Parquet, which writes zeros too; "
                "save as .npz instead, or reduce the columns"
            )
            raise UnsupportedError(msg)
        return {path: lambda temporary: fill_vectors(value, temporary)}
    import pyarrow.parquet as pq

    table = arrow_table(value, role)
    return {path: lambda temporary: pq.write_table(table, temporary)}


def fill_vectors(embedding: Embedding, path: Path) -> None:
    """Fill a Parquet file with `node` and `vector`, a row group per block: no second copy of the matrix is needed."""
    import pyarrow.parquet as pq

    schema, batches = vector_batches(embedding)
    # Only zeros repeat often enough for a dictionary to pay.
    with pq.ParquetWriter(path, schema, use_dictionary=sp.issparse(embedding.vectors)) as writer:
        for batch in batches:
            writer.write_batch(batch)


def vector_batches(embedding: Embedding) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return `node` and `vector` as Arrow knows them: the types, with what made the vectors, and blocks of rows."""
    n, width = embedding.vectors.shape
    integer = embedding.node_ids.dtype == np.int64
    fields = [
        pa.field("node", pa.int64() if integer else pa.string(), nullable=False),
        pa.field("vector", pa.list_(pa.float32(), width), nullable=False),
    ]
    entries = {**metadata_of(embedding), "sparse": sp.issparse(embedding.vectors)}
    schema = pa.schema(fields, {f"unseen.{key}": json.dumps(value) for key, value in entries.items()})
    rows = max(1, _BLOCK_VALUES // max(1, width))

    def blocks() -> Iterator[pa.RecordBatch]:
        for start in range(0, n, rows):
            block = embedding.vectors[start : start + rows]
            dense = block if isinstance(block, np.ndarray) else block.toarray()
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(dense.ravel()), type=fields[1].type)
            nodes = pa.array(embedding.node_ids[start : start + rows], type=fields[0].type)
            yield pa.record_batch([nodes, vectors], schema=schema)

    return schema, blocks()


def as_arrow(value: Any, role: Role, path: Path) -> Files:
    """Write a table as Feather, which is an Arrow file, or as one JSON object a line."""
    from pyarrow import feather

    if data_suffix(path) not in JSON_LINES:
        table = value.to_arrow() if role == "vectors" else arrow_table(value, role)
        return {path: lambda temporary: feather.write_feather(table, str(temporary), compression="zstd")}
    rows = (feature_table(value, path) if role == "features" else arrow_table(value, role)).to_pylist()
    if not rows:
        msg = f"{path}: JSON lines cannot hold a table without rows; use .csv or .parquet instead"
        raise UnsupportedError(msg)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return {path: lambda temporary: temporary.write_text(text, encoding="utf-8") and None}


def as_npz(value: Graph | Embedding, role: Role, path: Path) -> Files:
    """Write a matrix with the ids of its rows; a sparse one is read by ``scipy.sparse.load_npz``."""
    arrays: dict[str, Array] = text_arrays("ids", value.node_ids)
    if isinstance(value, Embedding):
        matrix: Any = value.vectors
        arrays["metadata"] = np.array(json.dumps(metadata_of(value)))
    else:
        matrix = _only_matrix(value, path) if role == "edges" else value.features
        if role == "features" and value.feature_names is not None:
            arrays |= text_arrays("feature_names", value.feature_names)
    if sp.issparse(matrix):
        arrays |= {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
        arrays |= {"shape": np.array(matrix.shape), "format": np.array(b"csr"), "_is_array": np.array(True)}
    else:
        arrays["data"] = matrix
    save: Any = np.savez if isinstance(value, Embedding) else np.savez_compressed

    def fill(temporary: Path) -> None:
        with temporary.open("wb") as file:
            save(file, **arrays)

    return {path: fill}


def as_mtx(graph: Graph, role: Role, path: Path) -> Files:
    """Write the adjacency, or the features, as Matrix Market text, whose rows are numbers."""
    from scipy.io import mmwrite

    lost = {
        "ids but the row numbers from 0": graph.node_ids.tolist() != list(range(graph.n_nodes)),
        "names of columns": role == "features" and graph.feature_names is not None,
    }
    for what in [each for each, is_there in lost.items() if is_there]:
        msg = f"{path}: Matrix Market has no {what}; use .npz, .csv or .parquet instead"
        raise UnsupportedError(msg)

    matrix = _only_matrix(graph, path) if role == "edges" else graph.features

    def fill(temporary: Path) -> None:
        with temporary.open("wb") as file:
            mmwrite(file, matrix)

    return {path: fill}


def require_plain(graph: Graph, path: Path, what: str = "this format") -> None:
    """Refuse directions, types and several relations, for formats that hold one matrix of weights."""
    lost = {
        "edge directions": graph.is_directed,
        "types of nodes": graph.types != (None,),
        "names of relations": [relation.name for relation in graph.relations] != ["edge"],
    }
    refused = [each for each, is_there in lost.items() if is_there]
    if refused:
        msg = f"{path}: {what} cannot hold {' and '.join(refused)}; use .csv, .parquet or .graphml"
        raise UnsupportedError(msg)


def _only_matrix(graph: Graph, path: Path) -> sp.csr_array:
    require_plain(graph, path)
    return graph.relations[0].matrix


def as_folder(graph: Graph, labels: Labels | None, folder: Path) -> Files:
    """Write the authors' ``graph.txt`` and ``group.txt``, and ``features.npz``."""
    require_plain(graph, folder)
    table = arrow_table(graph, "edges")
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    if not len(table) or _looks_like_header(columns):
        what = "a graph without edges" if not len(table) else "a first edge that looks like a header"
        msg = f"{folder}: the authors' format cannot hold {what}; use .csv or .parquet instead"
        raise UnsupportedError(msg)
    # group.txt names every node, so that isolated ones are not lost; without labels it stands for a node list.
    listed = Labels.from_values([None] * graph.n_nodes, graph.node_ids) if labels is None else labels
    files = as_groups(listed, "labels", folder / GROUP_FILE)
    lines = _text_blocks(list(columns.values()), "\t")
    files = {folder / GRAPH_FILE: text_fill(folder / GRAPH_FILE, lines), **files}
    return files if graph.features is None else files | as_npz(graph, "features", folder / "features.npz")


def as_groups(labels: Labels, role: Role, path: Path) -> Files:  # noqa: ARG001
    """Write the authors' ``group.txt``: a node and its classes per line."""
    if labels.answers:
        msg = f"{path}: the authors' format cannot hold {_ANSWERS}; use .csv or .parquet"
        raise UnsupportedError(msg)
    ids = id_array(labels.node_ids).cast(pa.large_string())
    why, instead = "a blank, a quote or a # at its start", "use .csv or .parquet"
    for what, values in (("id", ids.to_pylist()), ("class", labels.classes)):
        cannot = f"the authors' format cannot hold the {what}"
        _require_in_line(values, path, cannot, r'[\s"\0]|^#', why, instead)
    if not labels.classes:
        return {path: text_fill(path, _text_blocks([ids], "\t"))}
    names = np.array([*labels.classes, ""], dtype=object)
    ends = zip(labels.indicator.indptr[:-1], labels.indicator.indptr[1:], strict=True)
    classes = [" ".join(names[labels.indicator.indices[a:b]]) for a, b in ends]
    return {path: text_fill(path, _text_blocks([ids, pa.array(classes, pa.large_string())], "\t"))}


def as_word2vec(embedding: Embedding, role: Role, path: Path) -> Files:  # noqa: ARG001
    """Write a line with the two sizes, then one line per node: id and numbers, separated by blanks."""
    _require_dense(embedding, path)
    ids, instead = map(str, embedding.node_ids), "save as .parquet, .npz or .tsv"
    _require_in_line(ids, path, "word2vec text cannot hold the id", r"\s", "a blank", instead)
    n, width = embedding.vectors.shape
    lines = _text_blocks([id_array(embedding.node_ids), embedding.vectors], " ")
    return {path: text_fill(path, lines, f"{n} {width}")}


def as_columns(embedding: Embedding, role: Role, path: Path) -> Files:  # noqa: ARG001
    """Write a table of text with a column `node` and one for each number."""
    _require_dense(embedding, path)
    _require_text(id_array(embedding.node_ids), path)
    delimiter = delimiter_of(path)
    header = delimiter.join(["node", *map(str, range(embedding.shape[1]))])
    lines = _text_blocks([id_array(embedding.node_ids), embedding.vectors], delimiter, quoted=True)
    return {path: text_fill(path, lines, header)}


def as_projector(embedding: Embedding, role: Role, path: Path) -> Files:  # noqa: ARG001
    """Write the vectors without a header, and beside them the ids, one per line."""
    _require_dense(embedding, path)
    ids = id_array(embedding.node_ids).cast(pa.large_string())
    why, instead = "a tab or a line break", "save as .parquet or .npz"
    cannot = "a projector file cannot hold the id"
    _require_in_line(ids.to_pylist(), path, cannot, r"[\t\n\r]", why, instead)
    beside = metadata_path(path)
    return {
        path: text_fill(path, _text_blocks([embedding.vectors], "\t")),
        beside: text_fill(beside, _text_blocks([ids], "\t")),
    }


def metadata_of(embedding: Embedding) -> dict[str, Any]:
    """Return method, parameters, seed and version as plain values, for a file's metadata."""
    from unseen import __version__

    def plain(value: Any) -> Any:
        return value.item() if isinstance(value, np.generic) else str(value)

    params = json.loads(json.dumps(dict(embedding.params), default=plain))
    seed = params.get("random_state")
    return {"method": embedding.method, "params": params, "seed": seed, "version": __version__}


def _needs_header(columns: dict[str, pa.Array]) -> bool:
    """Return whether the first edge, without a header above it, could be taken for one."""
    if not len(columns["src"]) or _looks_like_header(columns):
        return True
    sides = [columns["src"], columns["dst"]]
    if any(str(side[0].as_py()).isdigit() for side in sides):
        return False
    return all(pc.index(other.slice(1), side[0]).as_py() < 0 for side in sides for other in sides)


def _looks_like_header(columns: dict[str, pa.Array]) -> bool:
    """Return whether reading would take the first edge for a header, by the first rows or in another order of them."""
    cells = [column.slice(0, 200).cast(pa.large_string()).to_pylist() for column in columns.values()]
    first, *below = zip(*cells, strict=True)
    return explain_header("edges", first, below) is not None or explain_header("edges", first, []) is not None


def _text_blocks(
    columns: Sequence[Any], delimiter: str, *, quoted: bool = False
) -> Callable[[], Iterator[bytes]]:
    """Return what yields blocks of lines; a matrix among the columns stands for several.

    Arrow prints each float32 with the fewest digits that identify it.
    """
    separator = pa.scalar(delimiter, pa.large_string())
    widths = (each.shape[1] if isinstance(each, np.ndarray) else 1 for each in columns)
    rows = max(1, _BLOCK_CELLS // sum(widths))

    def blocks() -> Iterator[bytes]:
        for start in range(0, len(columns[0]), rows):
            texts = []
            for part in (column[start : start + rows] for column in columns):
                if isinstance(part, np.ndarray):
                    numbers = pa.array(part.ravel()).cast(pa.string())  # far below its limit of 2 GB
                    ends = np.arange(0, part.size + 1, part.shape[1], dtype=np.int32)
                    part = pc.binary_join(pa.ListArray.from_arrays(ends, numbers), delimiter)
                    texts.append(part.cast(pa.large_string()))
                else:
                    texts.append(_quote(part) if quoted else part.cast(pa.large_string()))
            yield "\n".join([*pc.binary_join_element_wise(*texts, separator).to_pylist(), ""]).encode()

    return blocks


def text_fill(path: Path, blocks: Callable[[], Iterable[bytes]], header: str | None = None) -> Fill:
    """Return what fills a text file, packed where the name of `path` says so."""

    def fill(temporary: Path) -> None:
        first = [] if header is None else [f"{header}\n".encode()]
        with contextlib.ExitStack() as stack:
            if path.name.lower().endswith(".zst"):
                file: Any = stack.enter_context(pa.CompressedOutputStream(str(temporary), "zstd"))
            else:
                file = stack.enter_context(temporary.open("wb"))
            if path.name.lower().endswith(".gz"):
                # No name and no time in the gzip header: the same content gives the same bytes.
                file = stack.enter_context(gzip.GzipFile("", "wb", 6, fileobj=file, mtime=0))
            for block in itertools.chain(first, blocks()):
                file.write(block)

    return fill


def _quote(values: pa.Array) -> pa.Array:
    """Return cells as text, those that a reader could misunderstand between quotes."""
    if not is_string(values.type):
        return values.cast(pa.large_string())
    text = values.cast(pa.large_string())
    plain = pc.match_substring_regex(text, _PLAIN)
    if pc.all(plain, min_count=0).as_py():
        return text
    quote, nothing = pa.scalar('"', pa.large_string()), pa.scalar("", pa.large_string())
    quoted = pc.binary_join_element_wise(quote, pc.replace_substring(text, '"', '""'), quote, nothing)
    return pc.if_else(plain, text, quoted)


def _require_text(values: pa.Array, path: Path, *, empty: bool = False) -> None:
    if not is_string(values.type):
        return
    bad = pc.match_substring_regex(values, r"[\n\r\x00]" + ("" if empty else "|^$"))
    if pc.any(bad, min_count=0).as_py():
        value = values.filter(bad)[0].as_py()
        why = f"{value[:40]!r}, which has a line break or a zero character" if value else "an empty name"
        msg = f"{path}: text cannot hold {why}; use .parquet instead"
        raise UnsupportedError(msg)


def _require_dense(embedding: Embedding, path: Path) -> None:
    if sp.issparse(embedding.vectors):
        n, width = embedding.vectors.shape
        msg = f"{path}: text cannot hold sparse vectors ({n} x {width}); save as .npz or .parquet instead"
        raise UnsupportedError(msg)


def _require_in_line(
    values: Iterable[str], path: Path, cannot: str, forbidden: str, why: str, instead: str
) -> None:
    """Refuse what a line without quotes cannot hold."""
    for value in values:
        mark = value.startswith("\ufeff")
        if mark or re.search(forbidden, value):
            reason = "a byte order mark at its start" if mark else why
            msg = f"{path}: {cannot} {value!r}, which has {reason}; {instead} instead"
            raise UnsupportedError(msg)
