"""Class-semantic descriptions: what a readout makes of the features of a class's labelled nodes, and its words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.ids import Array, Singles
from unseen.labels import Labels

Readout = str | Callable[[Array], Array]

READOUTS: dict[str, Callable[[Array], Array]] = {
    "mean": lambda rows: rows.mean(axis=0, dtype=np.float64),
    "median": lambda rows: np.median(rows, axis=0),
}

N_WORDS = 10
"""Words of a class, at most."""


def describe_classes(features: Array, labels: Labels, readout: Readout, run: Run) -> Singles:
    """Return one description per class of `labels`: the readout of its labelled nodes' features.

    Classes without a labelled node get zeros; nothing refers to them. Where the nodes are spread over processes,
    means come from sums, and for any other readout the rows of a class meet at every process.
    """
    summarise = READOUTS[readout] if isinstance(readout, str) else readout
    members = labels.indicator.T.tocsr()
    if run.processes > 1 and readout == "mean":
        sums = run.sum(np.ascontiguousarray(members.astype(np.float64) @ features, dtype=np.float64))
        counts = run.sum(np.diff(members.indptr).astype(np.float64))
        return np.asarray(sums / np.maximum(counts, 1.0)[:, None], dtype=np.float32)
    descriptions = np.zeros((len(labels.classes), features.shape[1]), dtype=np.float32)
    for number, name in enumerate(labels.classes):
        rows = members.indices[members.indptr[number] : members.indptr[number + 1]]
        own = run.gather(features[np.sort(rows)])
        if not len(own):
            continue
        vector = np.asarray(summarise(own), dtype=np.float64)
        if vector.shape != features.shape[1:] or not np.isfinite(vector).all():
            msg = (
                f"`readout` must turn the features of a class (one row per node) into {features.shape[1]} finite "
                f"numbers, for class {name!r} it gave shape {vector.shape}"
            )
            raise InputError(msg)
        descriptions[number] = vector
    return descriptions


def shares_of(labels: Labels) -> sp.csr_array:
    """Return what part of the target of every labelled node comes from which class: equal parts from its own.

    Times the descriptions of the classes, that is the mean of the descriptions of each node's classes.
    """
    rows = labels.indicator[labels.labelled]
    counts = np.diff(rows.indptr)
    return sp.csr_array((np.repeat(1.0 / counts, counts), rows.indices, rows.indptr), shape=rows.shape)


def words_of(
    graph: Graph, source: str, labels: Labels, descriptions: Array, Z: Array, axes: Array | None
) -> dict[str, list[tuple[str, float]]]:
    """Return the words that the description of each class has more of than the average node, strongest first.

    There are none where the features have no names. `axes`, the right singular vectors, lead back from the space of
    the SVD, where descriptions and nodes (`Z`) are.
    """
    if source != "features" or graph.feature_names is None or axes is None:
        return {}
    excess = (descriptions - Z.mean(axis=0)) @ axes
    words: dict[str, list[tuple[str, float]]] = {}
    for name, row in zip(labels.classes, excess, strict=True):
        order = np.argsort(-row, kind="stable")[:N_WORDS]
        words[name] = [(graph.feature_names[j], float(row[j])) for j in order if row[j] > 0]
    return words
