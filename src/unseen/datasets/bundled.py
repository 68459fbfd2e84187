"""The graph that comes with the package: Debian packages and what they depend on (see DEBIAN.md)."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.datasets.dataset import Counts, Dataset, unweighted_adjacency
from unseen.errors import DatasetError
from unseen.graph import Graph
from unseen.labels import Labels

DEBIAN_FILE = Path(__file__).with_name("debian.npz")
DEBIAN_SHA256 = "1fe3a7bde3dc075e45c5fa48206392852f748f7be954fce471d794fe2ce5ad80"
DEBIAN_COUNTS = Counts(nodes=4852, edges=6928, classes=12, features=1659)


def load_debian(path: Path = DEBIAN_FILE) -> Dataset:
    """Return the bundled graph: package names as ids, sections as classes, description words as features.

    Examples
    --------
    >>> load_debian().labels.classes[:4]
    ('database', 'editors', 'electronics', 'fonts')
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        msg = f"the bundled data set cannot be read from {path} ({error.strerror}); install the package again"
        raise DatasetError(msg) from None
    if hashlib.sha256(content).hexdigest() != DEBIAN_SHA256:
        msg = f"the bundled data set {path} is not the file that was published; install the package again"
        raise DatasetError(msg)
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        nodes, words, sections = (_lines(arrays[key]) for key in ("nodes", "words", "sections"))
        src, dst, section = arrays["src"], arrays["dst"], arrays["section"]
        word_counts, word_columns = arrays["word_counts"], arrays["word_columns"]
    found = Counts(len(nodes), len(src), len(sections), len(words))
    DEBIAN_COUNTS.require(found, "debian", str(path))
    indptr = np.r_[0, np.cumsum(word_counts, dtype=np.int64)]
    ones = np.ones(len(word_columns), dtype=np.float32)
    features = sp.csr_array((ones, word_columns.astype(np.int64), indptr), shape=(len(nodes), len(words)))
    graph = Graph(unweighted_adjacency(src, dst, len(nodes)), features, nodes, tuple(words))  # type: ignore[arg-type]
    labels = Labels.from_values([sections[k] for k in section], graph.node_ids, classes=sections)
    return Dataset("debian", graph, labels)


def _lines(encoded: npt.NDArray[np.uint8]) -> list[str]:
    return encoded.tobytes().decode().split("\n")
