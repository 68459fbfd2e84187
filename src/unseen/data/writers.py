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

from unseen.data.objects import arrow_table, feature_table
from unseen.data.opened import data_suffix, delimiter_of
from unseen.data.sources import GRAPH_FILE, GROUP_FILE, JSON_LINES, Role, metadata_path
from unseen.data.tables import id_array, is_string
from unseen.data.text import explain_header
from unseen.embedding import Embedding
from unseen.errors import cannot_hold
from unseen.graph import Graph
from unseen.ids import Array, text_arrays
from unseen.labels import Labels

Fill = Callable[[Path], object]
Files = dict[Path, Fill]
"""Every file of one output, with the function that fills a temporary file in its place."""

AUTHORS = "the authors' format"
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
    for name, cells in columns.items():
        if cells.null_count:  # in labels; text has no missing cells
            columns[name] = cells.cast(pa.large_string()).fill_null("")
    answers = role == "labels" and len(columns) > 2  # then cells may be empty
    for values in (pa.array(list(columns), pa.string()), *columns.values()):
        _require_text(values, path, empty=answers)
    loose = next((name for name in columns if name != name.strip()), None)
    if loose is not None:
        what = f"the column name {loose!r}, whose blanks at the ends are dropped"
        raise cannot_hold(path, "text", what, "use .parquet")
    names, delimiter = _quote(pa.array(list(columns), pa.string())).to_pylist(), delimiter_of(path)
    lost = [_ANSWERS] * answers + ["types of nodes"] * (role == "nodes" and len(columns) > 1)
    lost += [f"the column name {name!r}" for name, cell in zip(columns, names, strict=True) if name != cell]
    if delimiter == " " and lost:
        raise cannot_hold(path, "blank-separated text", lost[0])
    # Other programs want blank-separated edges without a header.
    is_table = role != "edges" or delimiter != " " or not columns.keys().isdisjoint(("type", "directed"))
    header = delimiter.join(names) if is_table or _needs_header(columns) else None
    return {path: text_fill(path, _text_blocks(list(columns.values()), delimiter, quoted=True), header)}


def as_columns(embedding: Embedding, role: Role, path: Path) -> Files:  # noqa: ARG001
    """Write a table of text with a column `node` and one for each number."""
    _require_dense(embedding, path)
    ids, delimiter = id_array(embedding.node_ids), delimiter_of(path)
    _require_text(ids, path)
    header = delimiter.join(["node", *map(str, range(embedding.shape[1]))])
    lines = _text_blocks([ids, embedding.vectors], delimiter, quoted=True)
    return {path: text_fill(path, lines, header)}


def as_parquet(value: Graph | Labels | Embedding, role: Role, path: Path) -> Files:
    """Write a table as Parquet, vectors in blocks of rows."""
    if isinstance(value, Embedding):
        n, width = value.shape
        if sp.issparse(value.vectors) and n * width > _MOST_VALUES:
            what = f"{n} x {width} sparse vectors, because it writes zeros too"
            raise cannot_hold(path, "Parquet", what, "save as .npz instead, or reduce the columns")
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
    n, width = embedding.shape
    integer = embedding.node_ids.dtype == np.int64
    fields = [
        pa.field("node", pa.int64() if integer else pa.string(), nullable=False),
        pa.field("vector", pa.list_(pa.float32(), width), nullable=False),
    ]
    entries = {**_metadata_of(embedding), "sparse": sp.issparse(embedding.vectors)}
    schema = pa.schema(fields, {f"unseen.{key}": json.dumps(value) for key, value in entries.items()})

    def blocks() -> Iterator[pa.RecordBatch]:
        rows = max(1, _BLOCK_VALUES // max(1, width))
        for start in range(0, n, rows):
            block = embedding.vectors[start : start + rows]
            dense = block if isinstance(block, np.ndarray) else block.toarray()
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(dense.ravel()), type=fields[1].type)
            nodes = pa.array(embedding.node_ids[start : start + rows], type=fields[0].type)
            yield pa.record_batch([nodes, vectors], schema=schema)

    return schema, blocks()


def _metadata_of(embedding: Embedding) -> dict[str, Any]:
    """Return method, parameters, seed and version as plain values, for a file's metadata."""
    from unseen import __version__

    plain = json.dumps(
        dict(embedding.params), default=lambda v: v.item() if isinstance(v, np.generic) else str(v)
    )
    params = json.loads(plain)
    seed = params.get("random_state")
    return {"method": embedding.method, "params": params, "seed": seed, "version": __version__}


def as_arrow(value: Any, role: Role, path: Path) -> Files:
    """Write a table as Feather, which is an Arrow file, or as one JSON object a line."""
    from pyarrow import feather

    if data_suffix(path) not in JSON_LINES:
        table = value.to_arrow() if role == "vectors" else arrow_table(value, role)
        return {path: lambda temporary: feather.write_feather(table, str(temporary), compression="zstd")}
    rows = (feature_table(value, path) if role == "features" else arrow_table(value, role)).to_pylist()
    if not rows:
        raise cannot_hold(path, "JSON lines", "a table without rows")
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return {path: lambda temporary: temporary.write_text(text, encoding="utf-8")}


def as_npz(value: Graph | Embedding, role: Role, path: Path) -> Files:
    """Write a matrix with the ids of its rows; a sparse one is read by ``scipy.sparse.load_npz``."""
    arrays: dict[str, Array] = text_arrays("ids", value.node_ids)
    save: Any = np.savez_compressed
    if isinstance(value, Embedding):
        matrix: Any = value.vectors
        arrays["metadata"], save = np.array(json.dumps(_metadata_of(value))), np.savez
    elif role == "edges":
        matrix = _only_matrix(value, path)
    else:
        matrix = value.features
        arrays |= {} if value.feature_names is None else text_arrays("feature_names", value.feature_names)
    if sp.issparse(matrix):
        arrays |= {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
        arrays |= {"shape": np.array(matrix.shape), "format": np.array(b"csr"), "_is_array": np.array(True)}
    else:
        arrays["data"] = matrix

    def fill(temporary: Path) -> None:
        with temporary.open("wb") as file:
            save(file, **arrays)

    return {path: fill}


def as_mtx(graph: Graph, role: Role, path: Path) -> Files:
    """Write the adjacency, or the features, as Matrix Market text, whose rows are numbers."""
    from scipy.io import mmwrite

    instead = "use .npz, .csv or .parquet instead"
    if graph.node_ids.tolist() != list(range(graph.n_nodes)):
        raise cannot_hold(path, "Matrix Market", "ids but the row numbers from 0", instead)
    if role == "features" and graph.feature_names is not None:
        raise cannot_hold(path, "Matrix Market", "names of columns", instead)
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
    if any(lost.values()):
        parts = " and ".join(part for part, is_there in lost.items() if is_there)
        raise cannot_hold(path, what, parts, "use .csv, .parquet or .graphml")


def _only_matrix(graph: Graph, path: Path) -> sp.csr_array:
    require_plain(graph, path)
    return graph.relations[0].matrix


def as_folder(graph: Graph, labels: Labels | None, folder: Path) -> Files:
    """Write the authors' ``graph.txt`` and ``group.txt``, and ``features.npz``."""
    require_plain(graph, folder)
    table = arrow_table(graph, "edges")
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    if not len(table) or _looks_like_header(columns):
        what = "a first edge that looks like a header" if len(table) else "a graph without edges"
        raise cannot_hold(folder, AUTHORS, what)
    # group.txt names every node, so that isolated ones are not lost; without labels it stands for a node list.
    labels = Labels.from_values([None] * graph.n_nodes, graph.node_ids) if labels is None else labels
    lines = _text_blocks(list(columns.values()), "\t")
    files = {folder / GRAPH_FILE: text_fill(folder / GRAPH_FILE, lines)}
    files |= as_groups(labels, "labels", folder / GROUP_FILE)
    return files if graph.features is None else files | as_npz(graph, "features", folder / "features.npz")


def as_groups(labels: Labels, role: Role, path: Path) -> Files:  # noqa: ARG001
    """Write the authors' ``group.txt``: a node and its classes per line."""
    if labels.answers:
        raise cannot_hold(path, AUTHORS, _ANSWERS)
    ids = id_array(labels.node_ids).cast(pa.large_string())
    for what, values in (("id", ids.to_pylist()), ("class", labels.classes)):
        why = "a blank, a quote or a # at its start"
        _require_in_line(values, path, AUTHORS, what, r'[\s"\0]|^#', why, "use .csv or .parquet")
    columns = [ids]
    if labels.classes:
        names = np.array([*labels.classes, ""], dtype=object)[labels.indicator.indices]
        lists = [" ".join(names[a:b]) for a, b in itertools.pairwise(labels.indicator.indptr)]
        columns.append(pa.array(lists, pa.large_string()))
    return {path: text_fill(path, _text_blocks(columns, "\t"))}


def as_word2vec(embedding: Embedding, role: Role, path: Path) -> Files:  # noqa: ARG001
    """Write a line with the two sizes, then one line per node: id and numbers, separated by blanks."""
    _require_dense(embedding, path)
    ids, instead = map(str, embedding.node_ids), "save as .parquet, .npz or .tsv"
    _require_in_line(ids, path, "word2vec text", "id", r"\s", "a blank", instead)
    n, width = embedding.shape
    lines = _text_blocks([id_array(embedding.node_ids), embedding.vectors], " ")
    return {path: text_fill(path, lines, f"{n} {width}")}


def as_projector(embedding: Embedding, role: Role, path: Path) -> Files:  # noqa: ARG001
    """Write the vectors without a header, and beside them the ids, one per line."""
    _require_dense(embedding, path)
    ids, beside = id_array(embedding.node_ids).cast(pa.large_string()), metadata_path(path)
    why, instead = "a tab or a line break", "save as .parquet or .npz"
    _require_in_line(ids.to_pylist(), path, "a projector file", "id", r"[\t\n\r]", why, instead)
    return {
        path: text_fill(path, _text_blocks([embedding.vectors], "\t")),
        beside: text_fill(beside, _text_blocks([ids], "\t")),
    }


def _needs_header(columns: dict[str, pa.Array]) -> bool:
    """Return whether the first edge, without a header above it, could be taken for one."""
    sides = [columns["src"], columns["dst"]]
    if not len(sides[0]) or _looks_like_header(columns):
        return True
    if any(str(side[0].as_py()).isdigit() for side in sides):
        return False
    return all(pc.index(other.slice(1), side[0]).as_py() < 0 for side in sides for other in sides)


def _looks_like_header(columns: dict[str, pa.Array]) -> bool:
    """Return whether reading would take the first edge for a header, by the first rows or in another order of them."""
    cells = [column.slice(0, 200).cast(pa.large_string()).to_pylist() for column in columns.values()]
    first, *below = zip(*cells, strict=True)
    return explain_header("edges", first, below) is not None or explain_header("edges", first, []) is not None


def _text_blocks(columns: Sequence[Any], delimiter: str, *, quoted: bool = False) -> Iterator[bytes]:
    """Yield blocks of lines; a matrix among the columns stands for several.

    Arrow prints each float32 with the fewest digits that identify it.
    """
    separator = pa.scalar(delimiter, pa.large_string())
    widths = (each.shape[1] if isinstance(each, np.ndarray) else 1 for each in columns)
    rows = max(1, _BLOCK_CELLS // sum(widths))
    for start in range(0, len(columns[0]), rows):
        texts = []
        for part in (column[start : start + rows] for column in columns):
            if isinstance(part, np.ndarray):
                numbers = pa.array(part.ravel()).cast(pa.string())  # far below its limit of 2 GB
                ends = np.arange(0, part.size + 1, part.shape[1], dtype=np.int32)
                lines = pc.binary_join(pa.ListArray.from_arrays(ends, numbers), delimiter)
                texts.append(lines.cast(pa.large_string()))
            else:
                texts.append(
                    _quote(part) if quoted and is_string(part.type) else part.cast(pa.large_string())
                )
        yield "\n".join([*pc.binary_join_element_wise(*texts, separator).to_pylist(), ""]).encode()


def text_fill(path: Path, blocks: Iterable[bytes], header: str | None = None) -> Fill:
    """Return what fills a text file, packed where the name of `path` says so."""

    def fill(temporary: Path) -> None:
        with contextlib.ExitStack() as stack:
            if path.name.lower().endswith(".zst"):
                file: Any = stack.enter_context(pa.CompressedOutputStream(str(temporary), "zstd"))
            else:
                file = stack.enter_context(temporary.open("wb"))
            if path.name.lower().endswith(".gz"):
                # No name and no time in the gzip header: the same content gives the same bytes.
                file = stack.enter_context(gzip.GzipFile("", "wb", 6, fileobj=file, mtime=0))
            for block in itertools.chain([] if header is None else [f"{header}\n".encode()], blocks):
                file.write(block)

    return fill


def _quote(values: pa.Array) -> pa.Array:
    """Return texts, those that a reader could misunderstand between quotes."""
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
        what = f"{value[:40]!r}, which has a line break or a zero character" if value else "an empty name"
        raise cannot_hold(path, "text", what, "use .parquet instead")


def _require_dense(embedding: Embedding, path: Path) -> None:
    if sp.issparse(embedding.vectors):
        n, width = embedding.shape
        what = f"sparse vectors ({n} x {width})"
        raise cannot_hold(path, "text", what, "save as .npz or .parquet instead")


def _require_in_line(
    values: Iterable[str], path: Path, format_: str, what: str, forbidden: str, why: str, instead: str
) -> None:
    """Refuse what a line without quotes cannot hold."""
    for value in values:
        mark = value.startswith("\ufeff")
        if mark or re.search(forbidden, value):
            reason = "a byte order mark at its start" if mark else why
            raise cannot_hold(
                path, format_, f"the {what} {value!r}, which has {reason}", f"{instead} instead"
            )
