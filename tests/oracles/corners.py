"""Labels that are concentrated in one region of each class, as people give them where they happen to look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unseen.data.datasets import Dataset
from unseen.labels import Labels
from unseen.linalg.normalize import l1_rows


def draw_corner_labels(data: Dataset, rate: float, hidden: Sequence[str], seed: int) -> Labels:
    """Label the nodes of every class that are nearest, by personalised PageRank over degree, to one drawn at random."""
    rng = np.random.default_rng(seed)
    codes = data.labels.codes
    walk = l1_rows(data.graph.adjacency).T.tocsr()
    degree = np.maximum(np.asarray(data.graph.adjacency.sum(axis=1)).ravel(), 1.0)
    chosen = []
    for code in np.unique(codes[~np.isin(codes, data.labels.class_numbers(hidden))]):
        pool = np.flatnonzero(codes == code)
        start = np.zeros(len(codes))
        start[rng.choice(pool)] = 1.0
        reached = start
        for _ in range(50):
            reached = 0.95 * (walk @ reached) + 0.05 * start
        near = (reached / degree)[pool]
        chosen.append(pool[np.argsort(-near, kind="stable")[: round(rate * len(pool))]])
    return data.labels.keep(np.concatenate(chosen))
