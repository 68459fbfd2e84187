"""Classes that are known by name only: what a name means (`weigh_features`) says which nodes it is about.

How much the features of a node are about a name (tf-idf), smoothed over the graph, gives the nodes that are most likely
of that class. From these seeds and the labelled nodes a ridge classifier learns all classes, then again from what it
finds. Where a name fits a node better than every labelled class, and the node looks new without names too, it is more
likely to be new.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from scipy.stats import rankdata

from unseen.discovery.ranking import SHARPNESS, class_scores
from unseen.discovery.result import CERTAIN
from unseen.discovery.vectors import Space
from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.ids import Floats, Ints, Mask
from unseen.linalg.normalize import l2_rows
from unseen.linalg.smoothing import GraphSmoother, smoothing_filter


def match_names(
    graph: Graph, space: Space, indicator: Mask, p: Floats, weights: dict[str, Floats]
) -> tuple[Ints, Floats, tuple[str, ...]]:
    """Return the name that fits each node best (-1: none), the probability of a named class, and names without nodes.

    `p` are the probabilities of being new without names.
    """
    n, n_seen, is_open = len(p), indicator.shape[1], ~indicator.any(axis=1)
    present: list[int] = []
    if weights:
        # how much the features of each node (tf-idf) are about each name
        features: Any = sp.csr_array(graph.features, dtype=np.float64)
        idf = np.log(graph.n_nodes / np.maximum((features != 0).sum(axis=0), 1))
        features.data = np.log1p(np.abs(features.data))
        rows = l2_rows(sp.csr_array(features.multiply(idf)))
        said = rows @ (np.column_stack(list(weights.values())) * idf[:, None])
        rounds = {0: smoothing_filter([0.1], 10, negligible=0.0)}
        smooth = GraphSmoother(Run().matrix(graph.adjacency)).smooth(said.astype(np.float32), rounds)[0]
        spread = np.maximum(smooth.std(axis=0), 1e-12).astype(np.float64)
        about: Floats = (smooth - smooth.mean(axis=0)) / spread
        rank = np.zeros(n)
        rank[is_open] = rankdata(p[is_open]) / is_open.sum()
        first = about * (0.25 + rank[:, None])
        for k in range(len(weights)):
            words, fit = said[is_open, k], about[is_open, k]
            top = np.argsort(-fit, kind="stable")[: min(80, max(10, len(fit) // 40))]
            # twenty nodes (in a small graph, one of twenty) have a word, and those most about it look new
            looks_new = rank[is_open][top].mean() >= 0.55 or p[is_open][top].mean() >= CERTAIN
            if (words > 0).sum() >= min(20, len(words) / 20) and looks_new:
                scores = _learn(space, indicator, first[:, [k]])[0][is_open]
                # the nodes that it finds have its words: a correlation of .1, or three errors
                found, words = _find(scores, n_seen, p[is_open]), np.sqrt(words)
                both = float(np.mean((found - found.mean()) * (words - words.mean())))
                if 0 < both >= max(0.1, 3 / np.sqrt(len(words))) * found.std() * words.std():
                    present.append(k)
    absent = tuple(name for k, name in enumerate(weights) if k not in present)
    if not present:
        return np.full(n, -1), np.zeros(n), absent
    scores, seeds = _learn(space, indicator, first[:, present], 0.1 * about[:, present])
    found, best = is_open & _find(scores, n_seen, p), scores[:, n_seen:].argmax(axis=1)
    for k in np.unique(best[found]):
        seeds[:, k] = found & (best == k)
    scores = class_scores(space, np.hstack([indicator, seeds]))
    fit = scores[:, n_seen:]  # about 1 for a member
    best = np.where(fit.max(axis=1) >= 0.05, np.array(present)[fit.argmax(axis=1)], -1)
    return best, np.where(is_open, _named_share(scores, n_seen), 0.0), absent


def _learn(space: Space, indicator: Mask, fit: Floats, words: Floats | float = 0.0) -> tuple[Floats, Mask]:
    """Return the scores of labelled and named classes, and the nodes that each name is learned from.

    These are 80 nodes by the words of a name, and then 400 by what was learned from them.
    """
    open_rows = np.flatnonzero(~indicator.any(axis=1))
    for size in (80, 400):
        seeds = np.zeros_like(fit, dtype=bool)
        own = fit[open_rows].argmax(axis=1)
        most = min(size, max(5, len(open_rows) // (4 * fit.shape[1])))
        for k in range(fit.shape[1]):
            rows = open_rows[own == k]
            seeds[rows[np.argsort(-fit[rows, k], kind="stable")[:most]], k] = True
        scores = class_scores(space, np.hstack([indicator, seeds]))
        fit = scores[:, indicator.shape[1] :] + words
    return scores, seeds


def add_support(p: Floats, support: Floats) -> Floats:
    """Return the probability of being new, given what names say: they raise little where a node does not look new."""
    return np.asarray(1 - (1 - p) * (1 - p**0.25 * support))


def _find(scores: Floats, n_seen: int, p: Floats) -> Mask:
    """Return which nodes look new and fit a name better than the labelled classes."""
    named = _named_share(scores, n_seen)
    return np.asarray((add_support(p, named) > CERTAIN) & (named > CERTAIN))


def _named_share(scores: Floats, n_seen: int) -> Floats:
    return np.asarray(softmax(SHARPNESS * scores, axis=1)[:, n_seen:].sum(axis=1))
