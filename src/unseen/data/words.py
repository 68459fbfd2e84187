"""Features that are no numbers: texts become weighted words or vectors of an encoder, categories become indicators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from unseen.data.names import DATE, NUMBER
from unseen.data.tables import Table, drop_missing_words, is_string, join_chunks
from unseen.errors import InputError, counted, logger, show_path
from unseen.graph import Graph
from unseen.ids import Array, Floats, Singles

if TYPE_CHECKING:
    from unseen.data.pieces import FeatureRows

Block = tuple[Any, tuple[str, ...]]
"""Columns of a feature matrix, and their names."""
_SECONDS_A_YEAR = 365.2425 * 24 * 3600
_FEW_VALUES = 50
_TEXT_WORDS = 2.5
"""With more words in the mean cell a column is text, with fewer it is a category."""


def block_of(table: Table, index: int, name: str) -> tuple[Block, list[str] | None] | None:
    """Return the words of a column and its texts, or its categories; None for a column of numbers with a mistake."""
    column, source = join_chunks(table.columns[index]), show_path(table.source)
    is_time, nothing = pa.types.is_temporal(column.type), sp.csr_array((table.n_rows, 0), dtype=np.float32)
    if not is_time and not is_string(column.type):
        return None
    known, filled = list[str](), [str(column[0])]
    if not is_time:
        known = [(cell or "").strip() for cell in drop_missing_words(column).to_pylist()]
        filled = [cell for cell in known if cell]
    if is_time or (filled and all(DATE.fullmatch(cell) for cell in filled)):
        advice = "is not used; dates of the form 2001-02-03 are used as years"
        logger.info("%s: the column %r holds dates such as %r and %s", source, name, filled[0], advice)
        return (nothing, ()), None
    if 2 * sum(NUMBER.fullmatch(cell) is not None for cell in filled) >= len(filled):
        return None
    words = sum(len(cell.split()) for cell in filled) / len(filled)
    if words > _TEXT_WORDS or len(set(filled)) > max(_FEW_VALUES, len(known) // 2):
        cells = [(cell or "").strip() for cell in column.to_pylist()]
        try:
            block = words_of(cells, f"{table.source}: the column {name!r}")
        except InputError:
            logger.info("%s: no two nodes share a word of the column %r; it is not used", source, name)
            return (nothing, ()), None
        logger.info("%s: the column %r is text; its words are features", source, name)
        return block, cells
    values, numbers = np.unique(known, return_inverse=True)
    named = np.flatnonzero(values != "")  # an empty cell is no category
    categories = "1 category; it" if len(named) == 1 else f"{len(named)} categories; each"
    logger.info("%s: the column %r has %s is a feature", source, name, categories)
    rows = sp.csr_array((np.ones(len(known), np.float32), (np.arange(len(known)), numbers)))
    return (sp.csr_array(rows[:, named]), tuple(f"{name}={values[k]}" for k in named)), None


def words_of(texts: Sequence[str], source: str) -> Block:
    """Return the words that at least two texts have and not nearly all, weighted by their rarity.

    Examples
    --------
    >>> matrix, words = words_of(["red apple", "red wine", "old wine", "old", "red"], "`text`")
    >>> matrix.shape, words
    ((5, 3), ('old', 'red', 'wine'))
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(min_df=2, max_df=0.9, dtype=np.float32)
    try:
        matrix = vectorizer.fit_transform(texts)
    except ValueError:
        msg = f"{source} has no word that several nodes share, so that it tells nothing; leave it out"
        raise InputError(msg) from None
    return sp.csr_array(matrix), tuple(vectorizer.get_feature_names_out().tolist())


def with_text(graph: Graph, piece: FeatureRows, encoder: Any) -> Graph:
    """Return the graph with the words of a text for each node among its features, and the vectors of an encoder."""
    if graph.node_types is not None:
        msg = "texts are for graphs whose nodes are of one type; give the words of each type as its features"
        raise InputError(msg)
    name = piece.source.replace("`labels`", "`text`")  # which are read in the same way
    texts = np.full(graph.n_nodes, "", dtype=object)
    texts[piece.numbers] = piece.values.ravel()
    if n_without := graph.n_nodes - len(piece.numbers):
        logger.info("%s: %s without a text", show_path(name), counted(n_without, "node"))
    blocks = [words_of(texts.tolist(), name)]
    if encoder is not None:
        vectors = encode_texts(encoder, texts.tolist())
        blocks.insert(0, (vectors, tuple(f"encoder {k}" for k in range(vectors.shape[1]))))
    if graph.features is not None:
        names = graph.feature_names or tuple(f"feature {k}" for k in range(graph.features.shape[1]))
        blocks.insert(0, (graph.features, names))
    matrix, names = stacked_blocks(blocks)
    return graph.with_features(matrix, names, texts)


def encode_texts(encoder: Any, texts: list[str]) -> Array:
    """Return the vectors that an encoder gives to texts; an error if there is not one row for each."""
    if not hasattr(encoder, "encode"):
        msg = f"`encoder` needs a method `encode(list of str)`, as sentence-transformers has it, got {encoder!r}"
        raise InputError(msg)
    vectors = np.asarray(encoder.encode(texts))
    if vectors.ndim != 2 or len(vectors) != len(texts) or vectors.dtype.kind not in "fiu":
        msg = f"`encoder` gave an array of shape {vectors.shape} for {len(texts)} texts; it must give a row for each"
        raise InputError(msg)
    return vectors


def stacked_blocks(blocks: Sequence[Block]) -> Block:
    """Return blocks of columns side by side, sparse where one of them is."""
    matrices = [matrix for matrix, _ in blocks]
    names = tuple(name for _, own in blocks for name in own)
    if any(map(sp.issparse, matrices)):
        return sp.csr_array(sp.hstack(matrices, format="csr")), names
    return np.hstack(matrices), names


def years_of(column: pa.Array) -> Floats | None:
    """Return dates as years with a fraction, NaN where one is missing; None for other columns.

    Text must have dates of the form 2001-02-03, perhaps with a time: 1/2/2001 may be a day of January or of February.

    Examples
    --------
    >>> years_of(pa.array(["2001-07-02", ""])).round(1).tolist()
    [2001.5, nan]
    """
    if is_string(column.type):
        column = drop_missing_words(column)
    elif not pa.types.is_temporal(column.type):
        return None
    try:
        seconds = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    if seconds.null_count == len(seconds):
        return None
    numbers: Floats = seconds.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return 1970 + numbers / _SECONDS_A_YEAR


class StaticEncoder:
    """Encodes texts by a table of word vectors, such as those of GloVe, fastText or word2vec.

    Parameters
    ----------
    words : iterable of str
        The words; case does not matter.
    vectors : array-like, shape (n, d)
        Their vectors.

    Examples
    --------
    >>> encoder = StaticEncoder(["red", "wine"], [[1.0, 0.0], [0.0, 2.0]])
    >>> encoder.encode(["red", "Red wine", "old"]).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 0.0]]
    """

    def __init__(self, words: Iterable[str], vectors: Any) -> None:
        self.rows: dict[str, int] = {}
        for row, word in enumerate(words):
            self.rows.setdefault(str(word).lower(), row)
        self.vectors: Singles = np.array(vectors, dtype=np.float32)
        if self.vectors.ndim != 2 or len(self.vectors) < len(self.rows):
            msg = f"there are {len(self.rows)} words, but the array of their vectors has the shape {self.vectors.shape}"
            raise InputError(msg)
        sizes = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        self.vectors /= np.where(sizes > 0, sizes, 1).astype(np.float32)

    @staticmethod
    def read(path: str | PathLike[str]) -> StaticEncoder:
        """Return the encoder of a file of word vectors: text with a word and its numbers per line, or any embedding."""
        from unseen.data.vectors import read_embedding

        table = read_embedding(path)
        return StaticEncoder(map(str, table.node_ids.tolist()), table.vectors)

    def encode(self, texts: Sequence[str]) -> Singles:
        """Return the mean of the unit vectors of each text's words; zeros where none is in the table."""
        encoded = np.zeros((len(texts), self.vectors.shape[1]), dtype=np.float32)
        for k, text in enumerate(texts):
            words = re.findall(r"[^\W_]+", text.lower())
            if rows := [self.rows[word] for word in words if word in self.rows]:
                encoded[k] = self.vectors[rows].mean(axis=0)
        return encoded
