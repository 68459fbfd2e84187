"""A static encoder: the vector of a text is the mean of the vectors of its words, which a table has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.ids import Singles


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
