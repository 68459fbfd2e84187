"""Classes that are known by name only: words say which nodes they are about.

The words of a name and its description are looked for among the names of the features; rare words count more, and a
feature counts by how much of it is said. How much a node's features are about a name (tf-idf), smoothed over the graph,
gives the nodes that are most likely of that class. From these seeds and the labelled nodes together a ridge classifier
learns all classes; then from what it finds, and at last from all nodes that look new and fit a name. It decides among
the names, and where a name fits better than every labelled class, and the node looks new without names, too, it is more
likely to be of a class nobody labelled.
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
from unseen.errors import InputError, logger
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.linalg.normalize import l2_rows

STEPS, TELEPORT = 10, 0.1
"""Smoothing of the words over the graph, as `smoothfeats` does it."""
LOOKED_AT = 80
"""Nodes that are most about a name, which say whether such a class is there."""
SEEDS = (80, 400)
"""Nodes that a named class is learned from: first by its words, then by what was learned from these; at last all that
look new and fit it."""
WORDS = 0.1
"""How much a standard deviation of its words counts beside what was learned, the second time."""
FITS = 0.05
"""Score from which a name fits a node; a member has about 1."""
SUPPORT = 0.55
"""Mean rank, by the probability of being new, of the nodes most about a name from which such a class is there; a mean
probability above `CERTAIN` will do, too: where most nodes are new, ranks say little."""
AGREES = 0.1
"""Correlation of a name's words with the nodes found by it from which such a class is there, if the nodes most about it
have labels as often as all nodes; where they have them half as often, half of it is enough."""
CHANCE = 3.0
"""In a small graph it has to be so many standard errors, too."""
TRUST = 1 / 4
"""Power of the probability of being new without names, by which what names say is taken: words alone raise little."""
UNKNOWN = 1 / 3
"""Share of the words of a description that features may lack, where they have no word of the name itself; one they may
always lack."""
SHORT = 3
"""Words of a description up to this length are not missed: mostly they are "to", "and", "the"."""
OWN = 4.0
"""How much more a word of the name counts than one of the description."""
MENTIONS = 20
"""A name is absent if fewer unlabelled nodes have a word of it; in a small graph, one of twenty nodes is enough."""
SUFFIXES = ("ing", "er", "or")


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
    vocabulary, phrases, idf = _vocabulary(graph)
    weights: dict[str, Floats] = {}
    for name, description in names.items():
        if not str(name).strip():
            msg = "a name of a class is empty; write NAME: DESCRIPTION"
            raise InputError(msg)
        if name in classes:
            msg = f"the name {name!r} is that of a labelled class already; leave it out"
            raise InputError(msg)
        own, others = _words(str(name)), _words(str(description or ""))
        strength = np.zeros(len(vocabulary))
        for words, times in ((others, 1.0), (own, OWN)):
            strength[[vocabulary[word] for word in words if word in vocabulary]] = times
        if not strength.any():
            msg = f"no word of the name {name!r} or its description is among the features; describe it in their words"
            raise InputError(msg)
        weights[str(name)] = phrases @ (strength * idf)
        known = others & vocabulary.keys()
        missing = [word for word in others - known if len(word) > SHORT]
        if not own & vocabulary.keys() and len(missing) > max(1, UNKNOWN * (len(known) + len(missing))):
            logger.warning(
                "the features have no word of the name %r, and few of its description: absent", name
            )
            weights[str(name)][:] = 0
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
    said = _said(graph, words)
    about = _smoothed(graph, said)
    open_rows = np.flatnonzero(~indicator.any(axis=1))
    new = np.zeros(len(p))
    new[open_rows] = rankdata(p[open_rows]) / len(open_rows)
    first = about * (0.25 + new[:, None])
    present = [
        k
        for k in range(len(weights))
        if _looks_new(said[open_rows, k], about[open_rows, k], new[open_rows], p[open_rows])
        and _agreement(said[:, k], _learned(axes, indicator, first[:, [k]])[0], indicator, p)
        >= max(AGREES * _label_share(about[:, k], indicator), CHANCE / np.sqrt(len(open_rows)))
    ]
    absent = tuple(name for k, name in enumerate(weights) if k not in present)
    if not present:
        return no_names(len(p))._replace(absent=absent)
    scores, seeds = _learned(axes, indicator, first[:, present], WORDS * about[:, present])
    found = _found(scores, indicator, p)
    best = scores[:, indicator.shape[1] :].argmax(axis=1)
    for k in np.unique(best[found]):
        seeds[:, k] = found & (best == k)
    scores = class_scores(axes, np.hstack([indicator, seeds]))
    fit = scores[:, indicator.shape[1] :]
    best = np.where(fit.max(axis=1) >= FITS, np.array(present)[fit.argmax(axis=1)], -1)
    support = _named(scores, indicator)
    return Named(best, np.where(indicator.any(axis=1), 0.0, support), absent)


def with_names(p: Floats, support: Floats) -> Floats:
    """Return the probability of being new, given what names say: much for nodes that look new without them, too."""
    return np.asarray(1 - (1 - p) * (1 - p**TRUST * support))


def _looks_new(said: Floats, about: Floats, new: Floats, p: Floats) -> bool:
    """Return whether enough unlabelled nodes have a word of a name, and those most about it look new."""
    top = np.argsort(-about, kind="stable")[: _looked_at(len(about))]
    enough = (said > 0).sum() >= min(MENTIONS, len(said) / MENTIONS)
    return bool(enough and (new[top].mean() >= SUPPORT or p[top].mean() >= CERTAIN))


def _agreement(said: Floats, scores: Floats, indicator: Mask, p: Floats) -> float:
    """Return the correlation, over unlabelled nodes, of being found by a name and having its words."""
    open_rows = ~indicator.any(axis=1)
    found = _found(scores, indicator, p)[open_rows]
    words = np.sqrt(said[open_rows])
    both = float(np.mean((found - found.mean()) * (words - words.mean())))
    return both / max(float(found.std() * words.std()), 1e-12)


def _label_share(about: Floats, indicator: Mask) -> float:
    """Return how often the nodes most about a name have a label, as a part of how often all nodes have one."""
    labelled: Floats = np.asarray(indicator.any(axis=1), dtype=np.float64)
    size = _looked_at(len(about) - int(labelled.sum())) * 3 // 2
    return float(labelled[np.argsort(-about, kind="stable")[:size]].mean() / labelled.mean())


def _looked_at(n: int) -> int:
    """Return how many of `n` unlabelled nodes say whether a class is there."""
    return min(LOOKED_AT, max(10, n // 40))


def _learned(axes: Axes, indicator: Mask, fit: Floats, words: Floats | float = 0.0) -> tuple[Floats, Mask]:
    """Return the scores of the labelled and the named classes, learned from the nodes that each name fits best, too."""
    open_rows = np.flatnonzero(~indicator.any(axis=1))
    scores, seeds = fit, np.zeros_like(fit, dtype=bool)
    for most in (min(size, max(5, len(open_rows) // (4 * fit.shape[1]))) for size in SEEDS):
        seeds[:] = False
        own = fit[open_rows].argmax(axis=1)
        for k in range(fit.shape[1]):
            rows = open_rows[own == k]
            seeds[rows[np.argsort(-fit[rows, k], kind="stable")[:most]], k] = True
        scores = class_scores(axes, np.hstack([indicator, seeds]))
        fit = scores[:, indicator.shape[1] :] + words
    return scores, seeds


def _found(scores: Floats, indicator: Mask, p: Floats) -> Mask:
    """Return which nodes look new and fit a name better than the labelled classes."""
    named = _named(scores, indicator)
    return np.asarray((with_names(p, named) > CERTAIN) & (named > CERTAIN))


def _named(scores: Floats, indicator: Mask) -> Floats:
    """Return how probably each node is of a named class and of no labelled one, by the scores."""
    return np.asarray(softmax(SHARPNESS * scores, axis=1)[:, indicator.shape[1] :].sum(axis=1))


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


def _vocabulary(graph: Graph) -> tuple[dict[str, int], sp.csr_array, Floats]:
    """Return the words of the features' names, each feature as a vector of them, and the words' idf over the nodes."""
    vocabulary: dict[str, int] = {}
    rows, columns = [], []
    for row, feature in enumerate(graph.feature_names or ()):
        for word in sorted(_words(str(feature))):
            rows.append(row)
            columns.append(vocabulary.setdefault(word, len(vocabulary)))
    shape = (len(graph.feature_names or ()), len(vocabulary))
    phrases = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape)
    has = sp.csr_array(sp.csr_array(graph.features) != 0, dtype=np.float64) @ phrases
    idf = np.log(graph.n_nodes / np.maximum((has > 0).sum(axis=0), 1))
    return vocabulary, l2_rows(sp.csr_array(phrases.multiply(idf[None, :]))), idf


def _said(graph: Graph, weights: Floats) -> Floats:
    """Return how much the features of each node say of each set of words."""
    features: Any = sp.csr_array(graph.features, dtype=np.float64)
    counts = sp.csr_array(
        (np.log1p(np.abs(features.data)), features.indices, features.indptr), features.shape
    )
    idf = np.log(graph.n_nodes / np.maximum((features != 0).sum(axis=0), 1))
    return np.asarray(l2_rows(sp.csr_array(counts.multiply(idf[None, :]))) @ (weights * idf[:, None]))


def _smoothed(graph: Graph, said: Floats) -> Floats:
    """Return that of each node and those around it, in standard deviations."""
    ahat = Run().matrix(graph.adjacency, symmetric=True).gcn_normalized()
    about = said
    for _ in range(STEPS):
        about = (1 - TELEPORT) * (ahat @ about) + TELEPORT * said
    return np.asarray((about - about.mean(axis=0)) / np.maximum(about.std(axis=0), 1e-12))


def _words(text: str) -> set[str]:
    """Return the stems of the words of a text."""
    return {_stem(word) for word in re.findall(r"[^\W_]+", text.lower())}


def _stem(word: str) -> str:
    """Return a word without the endings that do not change what it is about.

    Examples
    --------
    >>> [_stem(word) for word in ("editors", "editing", "database", "databases", "utility", "utilities", "class")]
    ['edit', 'edit', 'databas', 'databas', 'utiliti', 'utiliti', 'class']
    """
    if word[-1:] == "s" and word[-2:-1] not in "sui" and len(word) > 3:
        word = word[:-1]
    for suffix in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if word[-1:] == "e" and len(word) > 3:
        word = word[:-1]
    return word[:-1] + "i" if word[-1:] == "y" and len(word) > 3 else word
