"""Embedding files, ours and other tools', through the same door: vectors are rows of numbers, as features are.

Read are what :meth:`Embedding.save` writes (``.parquet``, ``.npz``, word2vec text, the projector's pair of ``.tsv``
files), and ``.csv``, ``.tsv`` and ``.parquet`` with an id column beside columns of numbers, ``.npz`` and ``.npy``
without ids, and word2vec text under other suffixes.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data import text
from unseen.data.cells import BLANK, Text
from unseen.data.features import FeatureReader
from unseen.data.names import PANDAS_INDEX, id_position
from unseen.data.opened import File
from unseen.data.pieces import FeatureRows, read_whole
from unseen.data.sources import Batches, Options, Role, metadata_path
from unseen.data.tables import MatrixBatch, Table, TextLayout, is_list, is_string
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
    method, params = reader.metadata.get("method", ""), reader.metadata.get("params", {})
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
        if table.text:
            return super()._columns(table)
        names, kinds = table.names or (), [column.type for column in table.columns]
        node = _id_column(names, kinds)
        lists, numbers = list[int](), list[int]()
        for k, kind in enumerate(kinds):
            number = kind.value_type if is_list(kind) else kind
            if k != node and (pa.types.is_floating(number) or pa.types.is_integer(number)):
                (lists if is_list(kind) else numbers).append(k)
        named = [k for k in lists if names[k] == "vector"]
        if len(lists) > 1 and not named:
            several = ", ".join(names[k] for k in lists)
            msg = f"{table.source}: several columns hold lists of numbers ({several}); call one of them `vector`"
            raise InputError(msg)
        values = named or lists or numbers
        if not values:
            have = ", ".join(f"{name} ({kind})" for name, kind in zip(names, kinds, strict=True))
            need = "needed is a column `vector` with lists of numbers, or columns of numbers"
            msg = f"{table.source}: {need}; found {have or 'no columns'}"
            raise InputError(msg)
        self.ignored = tuple(
            name for k, name in enumerate(names) if k not in (node, *values) and name != PANDAS_INDEX
        )
        return node, values


def _id_column(names: Sequence[str], kinds: Sequence[pa.DataType]) -> int | None:
    """Return the column of ids: by its name, else the only one of text."""
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
    texts = [k for k, kind in enumerate(kinds) if is_string(kind)]
    usable = [k for k, kind in enumerate(kinds) if k in texts or pa.types.is_integer(kind)]
    position = id_position([names[k] for k in usable])
    if position is not None:
        return usable[position]
    return texts[0] if len(texts) == 1 else None


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
    yield Table(file.name, columns, names, block.place, block.layout)


def read_pair(file: File, role: Role, options: Options, n_bytes: int | None) -> Batches:
    """Yield the vectors of a projector pair, or of a table with ids where there is no second file."""
    beside = metadata_path(file.path)
    if not beside.is_file():
        yield from text.read(file, role, options, n_bytes)
        return
    table = Table.join(list(text.read(file, role, replace(options, header=False), None, "\t")))
    listed, n = File(beside, "path"), table.n_rows
    ids = text.plain(listed.read(), listed.name, start=False, zeros=True).decode("utf-8").split("\n")
    ids = ids[:-1] if ids[-1] == "" else ids
    if ids and "\t" in ids[0]:  # several columns, and only then a header
        column = id_position(ids.pop(0).split("\t")) or 0
        ids = [line.split("\t")[column] if line.count("\t") >= column else "" for line in ids]
    elif len(ids) == n + 1:
        ids.pop(0)
    if len(ids) != n:
        msg = (
            f"{listed.name}: {counted(len(ids), 'id')} for {counted(n, 'vector')} of {file.name}; the two files do not "
            "belong together"
        )
        raise InputError(msg)
    names = ("node", *(str(k + 1) for k in range(len(table.columns))))
    nodes = pa.chunked_array([pa.array(ids, pa.large_string())])
    yield replace(table, columns=(nodes, *table.columns), names=names)
