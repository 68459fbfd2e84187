"""Embedding files, ours and other tools', through the same door: vectors are rows of numbers, as features are.

Read are what :meth:`Embedding.save` writes (``.parquet``, ``.npz``, word2vec text, the projector's pair of ``.tsv``
files), and ``.csv``, ``.tsv`` and ``.parquet`` with an id column beside columns of numbers, ``.npz`` and ``.npy``
without ids, and word2vec text under other suffixes.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data import text
from unseen.data.cells import BLANK, Text
from unseen.data.features import FeatureReader
from unseen.data.ids import is_list, is_string
from unseen.data.names import PANDAS_INDEX, id_position
from unseen.data.opened import File
from unseen.data.options import Options
from unseen.data.pieces import FeatureRows, read_whole
from unseen.data.sources import Batches, Role, metadata_path
from unseen.data.tables import MatrixBatch, Table, TextLayout
from unseen.embedding import Embedding
from unseen.errors import InputError, counted, logger
from unseen.ids import default_ids

_FRACTION = re.compile(r"-?\d*\.\d+(e[-+]?\d+)?|-?\d+e[-+]?\d+")


def read_embedding(path: str | PathLike[str], *, header: bool | None = None) -> Embedding:
    r"""Read vectors from a file that :meth:`Embedding.save` or another tool wrote.

    Parameters
    ----------
    path : str or path
        ``.parquet``, ``.npz``, ``.npy``, ``.csv``, ``.tsv`` (a projector pair where
        ``name.metadata.tsv`` lies beside it) or word2vec text (``.w2v.txt``, ``.txt``, ``.vec``,
        ``.emb``); text also with ``.gz``.
    header : bool, optional
        For ``.csv`` and ``.tsv``, as in :func:`unseen.read`.

    Returns
    -------
    Embedding
        Ids are strings from text formats, and what was stored elsewhere. A file without ids gives
        the row numbers 0 ... n - 1, with a notice.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "vectors.csv"
    ...     _ = path.write_text("node,x,y\n007,0.5,1\n008,0,2\n")
    ...     embedding = unseen.read_embedding(path)
    >>> embedding.node_ids.tolist(), embedding.vectors.tolist()
    (['007', '008'], [[0.5, 1.0], [0.0, 2.0]])
    """
    reader = VectorReader(path, Options(header))
    rows = read_whole(reader)
    n, width = rows.values.shape
    if not n or not width:
        msg = f"{reader.name} holds no vectors"
        raise InputError(msg)
    if rows.ids is None:
        logger.warning(
            "%s: the file has no ids; its rows are taken as the nodes 0 ... %d", reader.name, n - 1
        )
    ids = default_ids(n) if rows.ids is None else rows.node_ids
    if reader.headless and all(_FRACTION.fullmatch(value) for value in ids):
        msg = (
            f"{reader.name}: the first column must hold ids, not fractions such as {ids[0]}; add a column `node` "
            "or put the ids of a projector file beside it (name.metadata.tsv)"
        )
        raise InputError(msg)
    method, params = (reader.metadata.get(key, usual) for key, usual in (("method", ""), ("params", {})))
    if not isinstance(method, str) or not isinstance(params, dict):
        logger.warning(
            "%s: method and parameters in the file's metadata cannot be read and are left out", reader.name
        )
        method, params = "", {}
    return Embedding(rows.values, ids, method, params)


class VectorReader(FeatureReader):
    """Vectors: as features, in 32 bits; more names of ids are understood, and ids may be missing."""

    role: Role = "vectors"
    noun = "dimension"
    rule = "vectors must be finite numbers that fit into 32-bit floats"
    kind = np.float32

    def __init__(self, source: Any, options: Options | None = None) -> None:
        super().__init__(source, options)
        self.metadata: Mapping[str, Any] = {}
        self.headless = False

    def _piece(self, batch: Table | MatrixBatch) -> FeatureRows:
        try:  # in Parquet each entry is JSON of its own
            decoded = {key: json.loads(v) if isinstance(v, bytes) else v for key, v in batch.metadata.items()}
        except ValueError:
            decoded = {"method": None}
        self.metadata = decoded
        if isinstance(batch, Table):
            self.headless = batch.text and batch.names is None
        piece = super()._piece(batch)
        if self.metadata.get("sparse") is True and isinstance(piece.values, np.ndarray):
            return replace(piece, values=sp.csr_array(piece.values))
        return piece

    def _columns(self, table: Table) -> tuple[int | None, list[int]]:
        names = table.names or ()
        if table.text:
            return super()._columns(table)
        node = _id_column(table)
        kinds = {k: column.type for k, column in enumerate(table.columns) if k != node}
        lists = [k for k, kind in kinds.items() if is_list(kind) and _is_number(kind.value_type)]
        numbers = [k for k, kind in kinds.items() if _is_number(kind)]
        named = [k for k in lists if names[k] == "vector"]
        if len(lists) > 1 and not named:
            several = ", ".join(names[k] for k in lists)
            msg = f"{table.source}: several columns hold lists of numbers ({several}); call one of them `vector`"
            raise InputError(msg)
        values = named or lists or numbers
        if not values:
            have = ", ".join(f"{name} ({c.type})" for name, c in zip(names, table.columns, strict=True))
            msg = (
                f"{table.source}: needed is a column `vector` with lists of numbers, or columns of numbers; "
                f"found {have or 'no columns'}"
            )
            raise InputError(msg)
        taken = (node, *values)
        self.ignored = tuple(name for k, name in enumerate(names) if k not in taken and name != PANDAS_INDEX)
        return node, values


def _id_column(table: Table) -> int | None:
    """Return the column of ids: by its name, else the only one of text."""
    kinds = [column.type for column in table.columns]
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
    texts = [k for k, kind in enumerate(kinds) if is_string(kind)]
    usable = [k for k, kind in enumerate(kinds) if k in texts or pa.types.is_integer(kind)]
    position = id_position([(table.names or ())[k] for k in usable])
    if position is not None:
        return usable[position]
    return texts[0] if len(texts) == 1 else None


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def read_word2vec(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:  # noqa: ARG001
    """Yield ids and numbers of word2vec text, with or without its first line of two sizes; nothing is quoted."""
    content = file.read()
    data = re.sub(rb"[ \t]++", b" ", text.plain(content, file.name, zeros=True))
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    lines = [line.split(b" ") for line in re.findall(rb"[^\n]+", data[: text.HEAD])[:2]]
    if not lines:
        msg = f"{file.name} holds no vectors"
        raise InputError(msg)
    if not file.suffix and b"," in lines[0][0]:  # of the standard input, which has no name to tell
        again = copy.copy(file)
        again.chunks = lambda *_: iter([content])  # type: ignore[method-assign]
        yield from text.read(again, role, options, None)
        return
    sizes = len(lines[0]) == 2 and all(cell.isdigit() for cell in lines[0])
    # Where the second line has two fields as well, the first is a node unless it says "one number per node".
    sized = sizes and (len(lines) < 2 or len(lines[1]) != 2 or lines[0][1] == b"1")
    width = int(lines[0][1]) + 1 if sized else len(lines[0])
    before = 0
    if sized:
        end = (data + b"\n").index(b"\n", data.index(lines[0][0])) + 1
        before, data = data.count(b"\n", 0, end), data[end:]
    block = Text(file.name, data, TextLayout(BLANK, width, quotes=False), before, 0)
    columns = block.columns(role) or ()
    if sized and len(columns[0]) != int(lines[0][0]):
        announced = counted(int(lines[0][0]), "vector")
        msg = f"{file.name}: line 1 announces {announced} and {len(columns[0])} follow; is it cut off?"
        raise InputError(msg)
    names = ("node", *(str(k) for k in range(1, width)))
    yield Table(file.name, columns, names, block.place, text=True)


def read_pair(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:
    """Yield the vectors of a projector pair, or of a table with ids where there is no second file."""
    beside = metadata_path(file.path)
    if not beside.is_file():
        yield from text.read(file, role, options, n_bytes)
        return
    table = Table.join(list(text.read(file, role, replace(options, header=False), None, "\t")))
    ids = _metadata_ids(File(beside, "path"), file.name, table.n_rows)
    names = ("node", *(str(k + 1) for k in range(len(table.columns))))
    yield replace(table, columns=(pa.chunked_array([ids]), *table.columns), names=names)


def _metadata_ids(file: File, vectors: str, n: int) -> pa.Array:
    lines = text.plain(file.read(), file.name, start=False, zeros=True).decode("utf-8").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    if lines and "\t" in lines[0]:  # several columns, and only then a header
        column = id_position(lines.pop(0).split("\t")) or 0
        lines = [line.split("\t")[column] if line.count("\t") >= column else "" for line in lines]
    elif len(lines) == n + 1:
        lines.pop(0)
    if len(lines) != n:
        ids = counted(len(lines), "id")
        msg = f"{file.name}: {ids} for {counted(n, 'vector')} of {vectors}; the two files do not belong together"
        raise InputError(msg)
    return pa.array(lines, pa.large_string())
