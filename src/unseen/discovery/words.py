"""What the names of features say: what a group of nodes is about, and which features the name of a class means.

The words of a name and its description are looked for among the names of the features; rare words count more. Where no
feature has them, an encoder says how much the name of each feature means the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm

from unseen.data.words import encode_texts
from unseen.errors import InputError, logger
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Mask
from unseen.labels import Labels
from unseen.linalg.normalize import are_measured, l2_rows


def caption(graph: Graph, rows: Ints) -> tuple[tuple[str, ...], str]:
    """Return what sets the nodes of `rows` apart from all others, and whether that are words, features or nodes.

    Words, categories and numbers are compared in the same way: by the difference of the means inside and outside of the
    group in standard deviations, if it is significant given the number of columns. A word or a category has to be more
    frequent in the group than elsewhere, a number higher or lower. Numbers come with the means inside and outside,
    categories with percentages. Words are ordered by their frequency in the group times the log ratio to that outside.
    Where no column differs, the ids of the nodes with most edges inside the group are given.
    """
    if not len(rows):
        return (), "words"
    entries: tuple[str, ...] = ()
    kind = "features"
    if graph.features is not None and len(rows) < graph.n_nodes:
        features: Any = graph.features
        values = features.data if sp.issparse(features) else features
        names = graph.feature_names or tuple(f"feature {k}" for k in range(features.shape[1]))
        stored = sp.coo_array(features)
        is_number = np.bincount(stored.col[(stored.data != 0) & (stored.data != 1)], minlength=len(names)) > 0
        is_category = ~is_number & np.array(["=" in name for name in names])
        # the columns of a dense matrix that is mostly not zero are numbers, not words
        is_word = ~are_measured(features) & ~is_category
        is_word &= sp.issparse(features) or (values == 0).mean() > 0.5
        largest = float(np.abs(values).max(initial=0))
        scale = 2.0 ** np.frexp(largest)[1] if largest > 1e100 else 1.0  # squares and sums would overflow
        features = features if scale == 1 else features / scale
        inside, outside, effect = _differences(features, rows, names, is_word | is_category)
        order = np.argsort(-np.abs(effect), kind="stable")
        order = order[np.abs(effect[order]) > 0]
        if words := [k for k in order if is_word[k]]:
            strength = _contrast(features, rows)
            best = sorted(words, key=lambda k: -strength[k])
            typical = iter([k for k in best if strength[k] > 0.01 * strength[best[0]]])
            order = np.array([k for k in (next(typical, -1) if is_word[k] else k for k in order) if k >= 0])
        first = order[:8].tolist()
        means = zip(first, (scale * inside[first]).tolist(), (scale * outside[first]).tolist(), strict=True)
        entries = tuple(
            names[k] if is_word[k] else f"{names[k]} {_compare(own, other, not is_number[k])}"
            for k, own, other in means
        )
        kind = "words" if graph.feature_names and is_word[first].all() else "features"
    if entries:
        return entries, kind
    degree = np.asarray(graph.adjacency[rows][:, rows].sum(axis=1)).ravel()
    return tuple(
        str(graph.node_ids[k]) for k in rows[np.argsort(-degree, kind="stable")[:8]]
    ), "central nodes"


def _differences(
    features: Any, rows: Ints, names: Sequence[str], counts_only: Mask
) -> tuple[Floats, Floats, Floats]:
    """Return each column's mean inside and outside, and their difference in standard deviations, 0 for noise.

    Of words and categories (`counts_only`) it is counted how many nodes have them. The test is that of a random sample
    of all nodes, at 1 % over all columns (Bonferroni). Differences below a fifth of a standard deviation are left out,
    significant or not: 38 % against 34 % describes nothing.
    """
    n, size = features.shape[0], len(rows)
    mean, inside = (
        np.where(counts_only, _mean(matrix != 0), _mean(matrix)) for matrix in (features, features[rows])
    )
    outside = (n * mean - size * inside) / (n - size)
    if sp.issparse(features):  # only entries that are stored are looked at
        stored = sp.coo_array(features)
        squares = np.bincount(stored.col, np.square(stored.data - mean[stored.col]), minlength=len(mean))
        variance = (squares + (n - np.bincount(stored.col, minlength=len(mean))) * mean**2) / n
    else:
        variance = np.square(features - mean).mean(axis=0)
    spread = np.sqrt(np.where(counts_only, np.maximum(mean * (1 - mean), 0), variance))
    difference = inside - outside
    effect = np.divide(difference, spread, out=np.zeros(len(mean)), where=spread > 1e-9 * np.abs(mean))
    chance = 2 * norm.sf(np.abs(effect) / np.sqrt(1 / size + 1 / (n - size))) * len(mean)
    carriers = np.where(counts_only, size * inside, size)
    noise = (chance > 0.01) | (np.abs(effect) < 0.2) | (carriers < 1.5) | (counts_only & (difference < 0))
    made_up = re.compile(r"(encoder|feature) \d+")  # names for columns without one
    meaningless = np.array([made_up.fullmatch(name) is not None for name in names])
    if not meaningless.all():
        noise |= meaningless
    return inside, outside, np.where(noise, 0.0, effect)


def _contrast(features: Any, rows: Ints) -> Floats:
    """Return the share of the group in each column's weight, times the log ratio to that outside."""
    n = features.shape[0]
    share = _mean(features[rows])
    elsewhere = np.maximum(_mean(features) * n - share * len(rows), 0) / (n - len(rows))
    floor = 0.5 / n * max(float(share.max()), 1e-12)
    return np.asarray(share * np.log((np.maximum(share, 0) + floor) / (elsewhere + floor)))


def _compare(inside: float, outside: float, is_binary: bool) -> str:
    """Return the means inside and outside, in percent for a column of zeros and ones.

    The means have as many decimals as two digits of their difference need; very large ones have an exponent.
    """
    if is_binary:
        return f"{100 * inside:.0f} % (others {100 * outside:.0f} %)"
    if max(abs(inside), abs(outside)) > 1e9:
        return f"{inside:.3g} (others {outside:.3g})"
    decimals = int(np.clip(1 - np.floor(np.log10(abs(inside - outside))), 0, 9))
    return f"{inside:.{decimals}f} (others {outside:.{decimals}f})"


def _mean(features: Any) -> Floats:
    return np.asarray(features.mean(axis=0, dtype=np.float64)).ravel()


def weigh_features(
    names: Mapping[str, str], graph: Graph, labels: Labels, encoder: Any = None
) -> dict[str, Floats]:
    """Return the weight of every feature for each name; an `InputError` says which name cannot be used, and why."""
    if not isinstance(names, Mapping):
        msg = f"`names` must map names of classes to descriptions, got {type(names).__name__}"
        raise InputError(msg)
    if graph.feature_names is None:
        msg = "classes can be known by name only where features have names; the graph's features have none"
        raise InputError(msg)
    labelled = {name for name, count in zip(labels.classes, labels.counts, strict=True) if count}
    # each feature as a vector of the words of its name, which count by their idf over the nodes
    stems = [sorted(find_stems(str(feature))) for feature in graph.feature_names]
    vocabulary = {word: k for k, word in enumerate(dict.fromkeys(word for words in stems for word in words))}
    columns = [vocabulary[word] for words in stems for word in words]
    rows, shape = np.repeat(np.arange(len(stems)), [*map(len, stems)]), (len(stems), len(vocabulary))
    phrases = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape)
    has_word = sp.csr_array(sp.csr_array(graph.features) != 0, dtype=np.float64) @ phrases > 0
    idf = np.log(graph.n_nodes / np.maximum(has_word.sum(axis=0), 1))
    phrases = l2_rows(sp.csr_array(phrases.multiply(idf[None, :])))
    weights: dict[str, Floats] = {}
    for name, description in names.items():
        if name in labelled:
            msg = f"the name {name!r} is that of a labelled class already; leave it out"
            raise InputError(msg)
        if not str(name).strip():
            msg = "a name of a class is empty; write NAME: DESCRIPTION"
            raise InputError(msg)
        own, others = find_stems(str(name)), find_stems(str(description or ""))
        strength = np.zeros(len(vocabulary))
        for words, times in ((others, 1.0), (own, 4.0)):  # words of the name count more
            strength[[vocabulary[word] for word in words if word in vocabulary]] = times
        missing = [word for word in others - vocabulary.keys() if len(word) > 3]
        is_known = own & vocabulary.keys() or len(missing) <= max(1, len(others - set(missing)) / 2)
        if strength.any() and is_known:
            weights[str(name)] = phrases @ (strength * idf)
        elif encoder is not None:
            weights[str(name)] = _compare_meaning(f"{name} {description or ''}".strip(), graph, encoder)
        elif strength.any():
            few = "the features have no word of the name %r, and few of its description: absent"
            logger.warning(few, name)
            weights[str(name)] = np.zeros(len(stems))
        else:
            msg = (
                f"no word of the name {name!r} or its description is among the features; describe it in their words, "
                "or give an `encoder`, which knows what words mean"
            )
            raise InputError(msg)
    return weights


def _compare_meaning(text: str, graph: Graph, encoder: Any) -> Floats:
    """Return how much the name of each feature means what a text says, 0 for all but the nearest hundred.

    With the nearest ten, classes of short titles are not found.
    """
    features = [re.sub(r"[^\w]+|_", " ", str(feature)) for feature in graph.feature_names or ()]
    vectors = encode_texts(encoder, [text, *features]).astype(np.float64)
    known: Mask = np.asarray(vectors.any(axis=1))
    if not known[0]:
        msg = f"the encoder knows no word of the name {text!r}; describe it in other words"
        raise InputError(msg)
    vectors[known] -= vectors[known].mean(axis=0)  # what all words have in common means nothing
    cosine = np.where(known[1:], l2_rows(vectors[1:]) @ l2_rows(vectors[:1])[0], 0.0)
    least = max(0.0, float(np.sort(cosine)[-100:].min()))
    return np.asarray(np.where(cosine >= least, cosine**2, 0.0))


def find_stems(text: str) -> set[str]:
    """Return the words of a text without the endings that do not change what it is about.

    Examples
    --------
    >>> sorted(find_stems("editors, editing; databases of a utility, utilities"))
    ['a', 'databas', 'edit', 'of', 'utiliti']
    """
    words = (re.sub(r"(?<=..[^sui])s$", "", word) for word in re.findall(r"[^\W_]+", text.lower()))
    words = (re.sub(r"(?<=...)(ing|er|or)$", "", word) for word in words)
    return {re.sub(r"(?<=...)y$", "i", re.sub(r"(?<=...)e$", "", word)) for word in words}
