"""Classes that are known by name only: words say which nodes they are about.

The words of a name and its description are looked for among the names of the features. How much a node's features are
about them (tf-idf), smoothed over the graph, gives the nodes that a named class is most likely of. From these seeds and
the labelled nodes together a ridge classifier learns all classes. It decides among the names, and where a name fits
better than every labelled class, the node is more likely to be of a class nobody labelled.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import softmax
from scipy.stats import rankdata

from unseen.data.opened import File
from unseen.data.sources import existing
from unseen.data.text import plain
from unseen.discovery.evidence import SHARPNESS, Mask, class_scores
from unseen.discovery.result import CERTAIN, FoundClass
from unseen.discovery.space import Axes, Floats
from unseen.engine.run import Run
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows

STEPS, TELEPORT = 10, 0.1
"""Smoothing of the words over the graph, as `smoothfeats` does it."""
LOOKED_AT = 80
"""Nodes that are most about a name, which say whether such a class is there."""
SEEDS = (80, 400)
"""Nodes that a named class is learned from: first by its words, then by what was learned from these."""
FITS = 0.05
"""Score from which a name fits a node; a member has about 1."""
SUPPORT = 0.55
"""Mean rank, by the probability of being new, of the nodes most about a name from which such a class is there; a mean
probability above `CERTAIN` will do, too: where most nodes are new, ranks say little."""
KNOWN = 0.85
"""A name is absent if nodes most about it, half as many again, have a label more often than this times all nodes."""
MENTIONS = 20
"""A name is absent if fewer unlabelled nodes have a word of it; in a small graph, one of twenty nodes is enough."""
SUFFIXES = ("ies", "ers", "ing", "ors", "er", "or", "es", "s", "y")


class Named(NamedTuple):
    """What the names say.

    Parameters
    ----------
    best : ndarray, shape (n,)
        Number of the name that fits each node best, -1 where none does.
    support : ndarray, shape (n,)
        Probability that a node is of a named class and of no labelled one, by the words.
    absent : tuple of str
        Names without support.
    """

    best: npt.NDArray[np.int64]
    support: Floats
    absent: tuple[str, ...]


def check_names(names: Mapping[str, str], graph: Graph, labels: Labels) -> dict[str, Floats]:
    """Return the weight of every feature for each name; an `InputError` says which name cannot be used, and why."""
    classes = {name for name, count in zip(labels.classes, labels.counts, strict=True) if count}
    if not isinstance(names, Mapping):
        msg = f"`names` must map names of classes to descriptions, got {type(names).__name__}"
        raise InputError(msg)
    if graph.feature_names is None:
        msg = "classes can be known by name only where features have names; the graph's features have none"
        raise InputError(msg)
    columns: dict[str, list[int]] = {}
    for column, feature in enumerate(graph.feature_names):
        for word in _words(str(feature)):
            columns.setdefault(word, []).append(column)
    weights: dict[str, Floats] = {}
    for name, description in names.items():
        if not str(name).strip():
            msg = "a name of a class is empty; write NAME: DESCRIPTION"
            raise InputError(msg)
        if name in classes:
            msg = f"the name {name!r} is that of a labelled class already; leave it out"
            raise InputError(msg)
        weight = np.zeros(len(graph.feature_names))
        for text, strength in ((str(name), 4.0), (str(description or ""), 1.0)):
            for word in _words(text):
                places = columns.get(word, [])
                weight[places] = np.maximum(weight[places], strength)
        if not weight.any():
            msg = f"no word of the name {name!r} or its description is among the features; describe it in their words"
            raise InputError(msg)
        weights[str(name)] = weight
    return weights


def parse_names(given: Iterable[str], path: str | Path | None = None) -> dict[str, str]:
    """Return names and descriptions, of entries ``NAME: DESCRIPTION`` and of a csv file with these columns.

    A name given twice is an error.

    Examples
    --------
    >>> parse_names(["mail: read and compose e-mail", "sound"])
    {'mail': 'read and compose e-mail', 'sound': ''}
    """
    entries = [entry.partition(":")[::2] for entry in given]
    if path is not None:
        file = File(existing(path, "names"), "names")
        rows = csv.DictReader(io.StringIO(plain(file.read(), file.name).decode(), newline=""))
        columns = rows.fieldnames or ()
        if not {"name", "description"} <= set(columns):
            there = f"has the columns {', '.join(columns)}" if columns else "is empty"
            msg = f"{file.name} {there}; names are a csv file with the columns name,description"
            raise InputError(msg)
        entries += [(row["name"] or "", row["description"] or "") for row in rows]
    names: dict[str, str] = {}
    for name, description in entries:
        if name.strip() in names:
            msg = f"the name {name.strip()!r} is given twice; put all its words into one description"
            raise InputError(msg)
        names[name.strip()] = description.strip()
    return names


def match_names(graph: Graph, axes: Axes, indicator: Mask, p: Floats, weights: dict[str, Floats]) -> Named:
    """Return what the names say about every node, given its probability of being new without them."""
    words = np.column_stack(list(weights.values()))
    about = _about(graph, words)
    open_rows = np.flatnonzero(~indicator.any(axis=1))
    features: Any = graph.features
    mentions = (sp.csr_array(abs(features[open_rows])) @ words > 0).sum(axis=0)
    enough = mentions >= min(MENTIONS, len(open_rows) / MENTIONS)
    new = np.zeros(len(p))
    new[open_rows] = rankdata(p[open_rows]) / len(open_rows)
    looked_at = min(LOOKED_AT, max(10, len(open_rows) // 40))
    top = [
        open_rows[np.argsort(-about[open_rows, k], kind="stable")[:looked_at]] for k in range(len(weights))
    ]
    labelled: Floats = np.asarray(indicator.any(axis=1), dtype=np.float64)
    around = np.argsort(-about, axis=0, kind="stable")[: looked_at * 3 // 2]
    share = labelled[around].mean(axis=0)
    present = [
        k
        for k, rows in enumerate(top)
        if enough[k]
        and share[k] <= KNOWN * labelled.mean()
        and (new[rows].mean() >= SUPPORT or p[rows].mean() >= CERTAIN)
    ]
    absent = tuple(name for k, name in enumerate(weights) if k not in present)
    if not present:
        return no_names(len(p))._replace(absent=absent)
    fit = about[:, present] * (0.25 + new[:, None])
    for most in (min(size, max(5, len(open_rows) // (4 * len(present)))) for size in SEEDS):
        seeds = np.zeros_like(fit, dtype=bool)
        own = fit[open_rows].argmax(axis=1)
        for k in range(len(present)):
            rows = open_rows[own == k]
            seeds[rows[np.argsort(-fit[rows, k], kind="stable")[:most]], k] = True
        scores = class_scores(axes, np.hstack([indicator, seeds]))
        fit = scores[:, indicator.shape[1] :]
    support = softmax(SHARPNESS * scores, axis=1)[:, indicator.shape[1] :].sum(axis=1)
    best = np.where(fit.max(axis=1) >= FITS, np.array(present)[fit.argmax(axis=1)], -1)
    return Named(best, np.where(indicator.any(axis=1), 0.0, support), absent)


def no_names(n: int) -> Named:
    """Return what is said about `n` nodes where no name was given."""
    return Named(np.full(n, -1), np.zeros(n), ())


def named_classes(
    classes: tuple[FoundClass, ...], groups: list[npt.NDArray[np.int64]], name: npt.NDArray[np.object_]
) -> tuple[FoundClass, ...]:
    """Return the found classes, each with the name that fits most of its nodes, where one does."""
    named = []
    for each, rows in zip(classes, groups, strict=True):
        counts = Counter(of_node for of_node in name[rows] if of_node is not None)
        best, count = counts.most_common(1)[0] if counts else ("", 0)
        share = count / len(rows)
        named.append(replace(each, name=best, name_confidence=share) if share > 0.5 else each)
    return tuple(named)


def _about(graph: Graph, weights: Floats) -> Floats:
    """Return how much each node is about each set of words, in standard deviations."""
    features: Any = sp.csr_array(graph.features, dtype=np.float64)
    counts = sp.csr_array(
        (np.log1p(np.abs(features.data)), features.indices, features.indptr), features.shape
    )
    idf = np.log(graph.n_nodes / np.maximum((features != 0).sum(axis=0), 1))
    start = l2_rows(sp.csr_array(counts.multiply(idf[None, :]))) @ (weights * idf[:, None])
    ahat = Run().matrix(graph.adjacency, symmetric=True).gcn_normalized()
    about = start
    for _ in range(STEPS):
        about = (1 - TELEPORT) * (ahat @ about) + TELEPORT * start
    return np.asarray((about - about.mean(axis=0)) / np.maximum(about.std(axis=0), 1e-12))


def _words(text: str) -> set[str]:
    """Return the stems of the words of a text, and of their parts where a word is joined by ``_``."""
    return {_stem(word) for word in re.findall(r"\w+", text.lower()) + re.findall(r"[^\W_]+", text.lower())}


def _stem(word: str) -> str:
    """Return a word without the endings that do not change what it is about."""
    for suffix in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word
