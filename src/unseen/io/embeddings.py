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

from unseen.data.files import AnyPath
from unseen.embedding import Embedding
from unseen.errors import InputError, UnseenError
from unseen.io.sources import existing_file

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
