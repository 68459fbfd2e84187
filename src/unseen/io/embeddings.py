"""Embedding files, ours and other tools': the suffix names the format.

=====================  =======================================================================
``.parquet``           columns `node` and `vector` (fixed-size list of float32); method,
                       parameters, seed and version as JSON in the file's metadata, under keys
                       that begin with ``unseen.``. Sparse vectors are written as dense lists,
                       block by block, and come back sparse.
``.npz``               arrays `ids` and `data`, readable without pickle; sparse vectors as the
                       parts that ``scipy.sparse.load_npz`` reads.
``.w2v.txt[.gz]``      word2vec text: a line with the numbers of rows and columns, then one line
                       a node.
``.tsv``               projector pair: ``name.tsv`` with the vectors, ``name.metadata.tsv`` with
                       the ids.
=====================  =======================================================================

All of them give back the same ids and values; text formats print each float32 with the fewest
digits that identify it, and give string ids. Read, but not written: ``.csv``, ``.tsv`` and
``.parquet`` with an id column beside columns of numbers, ``.npz`` and ``.npy`` without ids, and word2vec
text under other suffixes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from unseen.embedding import Embedding
from unseen.errors import InputError, UnseenError, UnsupportedError
from unseen.ids import IdArray, as_ids
from unseen.io.files import AnyPath, atomic_path, atomic_paths, require_writable
from unseen.io.sources import existing_file

if TYPE_CHECKING:
    from unseen.io.embeddings_text import TextFormat

WRITTEN = (".parquet", ".npz", ".w2v.txt", ".w2v.txt.gz", ".tsv")
_WORD2VEC = (".w2v.txt", ".txt", ".vec", ".emb", ".embeddings", ".w2v")
_READ = {
    "parquet": (".parquet", ".pq"),
    "npz": (".npz",),
    "npy": (".npy",),
    "table": (".csv", ".csv.gz", ".tsv", ".tsv.gz"),
    "word2vec": (*_WORD2VEC, *(f"{suffix}.gz" for suffix in _WORD2VEC)),
}


def read_embedding(path: AnyPath) -> Embedding:
    r"""Read vectors from a file that :meth:`Embedding.save` or another tool wrote.

    Parameters
    ----------
    path : str or path
        ``.parquet``, ``.npz``, ``.npy``, ``.csv``, ``.tsv`` (a projector pair where
        ``name.metadata.tsv`` lies beside it) or word2vec text (``.w2v.txt``, ``.txt``, ``.vec``,
        ``.emb``); text also with ``.gz``.

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
    source = Path(path)
    kind = next((kind for kind, suffixes in _READ.items() if _has(source, suffixes)), None)
    if kind is None:
        known = ", ".join(
            suffix for suffixes in _READ.values() for suffix in suffixes if not suffix.endswith(".gz")
        )
        msg = f"{source}: the suffix names no known format of vectors; known are {known} (text also with .gz)"
        raise InputError(msg)
    _require_file(source)
    try:
        embedding = _reader(kind)(source)
    except UnseenError as error:
        if str(source) in str(error):
            raise
        msg = f"{source}: {error}"
        raise InputError(msg) from error
    if 0 in embedding.vectors.shape:
        msg = f"{source}: the file holds no vectors"
        raise InputError(msg)
    return embedding


def write_embedding(embedding: Embedding, path: AnyPath) -> None:
    """Write `embedding` in the format that the suffix of `path` names, whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile, unseen
    >>> embedding = unseen.Embedding([[0.5, 1.0]], node_ids=["a b"])
    >>> write_embedding(embedding, "vectors.w2v.txt")
    Traceback (most recent call last):
        ...
    unseen.errors.UnsupportedError: vectors.w2v.txt: word2vec text cannot hold the id 'a b', which has a
    blank; save as .parquet, .npz or .tsv instead
    """
    target = Path(path)
    suffix = _written_suffix(target)
    _require_storable(embedding, target, suffix)
    if suffix == ".parquet":
        from unseen.io.embeddings_parquet import write_parquet

        with atomic_path(target) as temporary:
            write_parquet(embedding, temporary)
    elif suffix == ".npz":
        from unseen.io.embeddings_npz import write_npz

        with atomic_path(target) as temporary:
            write_npz(embedding, temporary)
    elif suffix == ".tsv":
        from unseen.io.embeddings_text import metadata_path, write_projector

        with atomic_paths(target, metadata_path(target)) as (vectors, metadata):
            write_projector(embedding, vectors, metadata)
    else:
        from unseen.io.embeddings_text import write_word2vec

        with atomic_path(target) as temporary:
            write_word2vec(embedding, temporary, compressed=suffix.endswith(".gz"))


def check_writable(path: AnyPath, node_ids: IdArray | None = None) -> None:
    """Raise the error that saving vectors of these nodes to `path` would end in, before they are learnt.

    Examples
    --------
    >>> check_writable("vectors.pkl")
    Traceback (most recent call last):
        ...
    unseen.errors.InputError: vectors.pkl: vectors are not written in this format; use one of the suffixes
    .parquet, .npz, .w2v.txt, .w2v.txt.gz, .tsv
    """
    target = Path(path)
    suffix = _written_suffix(target)
    if node_ids is not None:
        _require_storable_ids(as_ids(node_ids), target, suffix)
    require_writable(target, example="vectors.parquet")


def _reader(kind: str) -> Callable[[Path], Embedding]:
    if kind == "parquet":
        from unseen.io.embeddings_parquet import read_parquet

        return read_parquet
    if kind in ("npz", "npy"):
        from unseen.io.embeddings_npz import read_npy, read_npz

        return read_npz if kind == "npz" else read_npy
    from unseen.io.embeddings_text import read_table, read_word2vec

    return read_word2vec if kind == "word2vec" else read_table


def _has(path: Path, suffixes: tuple[str, ...]) -> bool:
    return path.name.lower().endswith(suffixes)


def _written_suffix(target: Path) -> str:
    if _has(target, (".pq",)):
        return ".parquet"
    for suffix in sorted(WRITTEN, key=len, reverse=True):
        if _has(target, (suffix,)):
            return suffix
    hint = ""
    if _has(target, (".txt", ".txt.gz")):
        hint = f" (word2vec text: {target.name[: target.name.lower().rindex('.txt')]}.w2v.txt)"
    known = ", ".join(WRITTEN)
    msg = f"{target}: vectors are not written in this format; use one of the suffixes {known}{hint}"
    raise InputError(msg)


def _require_storable(embedding: Embedding, target: Path, suffix: str) -> None:
    """Refuse what the format cannot hold, before anything is written."""
    n, width = embedding.vectors.shape
    if not n or not width:
        msg = f"{target}: the embedding has {n} rows and {width} columns, so there is nothing to write"
        raise InputError(msg)
    if sp.issparse(embedding.vectors):
        from unseen.io.embeddings_parquet import MOST_VALUES

        if suffix not in (".parquet", ".npz"):
            msg = (
                f"{target}: text cannot hold sparse vectors ({n} x {width}); save as .npz or .parquet instead"
            )
            raise UnsupportedError(msg)
        if suffix == ".parquet" and n * width > MOST_VALUES:
            msg = (
                f"{target}: {n} x {width} sparse vectors are too many for Parquet, which writes zeros too; "
                "save as .npz instead, or reduce the columns"
            )
            raise UnsupportedError(msg)
    _require_storable_ids(embedding.node_ids, target, suffix)


def _require_storable_ids(ids: IdArray, target: Path, suffix: str) -> None:
    if ids.dtype == np.int64:
        return
    from unseen.io.embeddings_text import PROJECTOR, WORD2VEC

    for value in ids:
        try:
            value.encode()
        except UnicodeEncodeError:
            msg = (
                f"{target}: the id {value!r} is not valid Unicode text, so no file can hold it; change the id"
            )
            raise UnsupportedError(msg) from None
    formats: dict[str, TextFormat] = {".tsv": PROJECTOR, ".w2v.txt": WORD2VEC, ".w2v.txt.gz": WORD2VEC}
    if suffix in formats:
        formats[suffix].require(ids, target)


def _require_file(source: Path) -> None:
    existing_file(source, "path")
    try:
        with source.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        msg = f"{source}: the file cannot be read ({error.strerror}); check its rights"
        raise InputError(msg) from error
    if empty:
        msg = f"{source}: the file is empty"
        raise InputError(msg)
