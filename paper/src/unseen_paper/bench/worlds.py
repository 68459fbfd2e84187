"""Two ways labels come about: drawn at random from their classes, or given where somebody happened to look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.data.datasets import Dataset
from unseen.labels import Labels
from unseen.linalg.normalize import l1_rows
from unseen.randomness import RandomState, as_generator
from unseen.splits import completely_imbalanced_split

WORLDS = ("random", "corner of each class", "one corner")
STAY = 0.05
"""Share that returns to the start in each step of the walk that measures nearness."""
STEPS = 50
FEWEST = 3
"""A class of which the corner holds fewer nodes counts as missing."""


def draw_labels(
    data: Dataset, world: str, rate: float, unseen: Sequence[str], random_state: RandomState = None
) -> Labels:
    """Return labels of about `rate` of the nodes, none of the classes `unseen`, as one of `WORLDS` gives them.

    In a corner, the nodes nearest to a node drawn at random are labelled (by personalised PageRank over degree):
    nearest of their class to a node of that class, or nearest of all to a single node. Of one corner some classes
    may be absent; they are then missing as well.

    Examples
    --------
    >>> import unseen
    >>> data = unseen.planted_partition(300, 4, random_state=0)
    >>> draw_labels(data, "one corner", 0.2, ["c0"], random_state=0).classes
    ('c1', 'c2', 'c3')
    """
    if world == "random":
        return completely_imbalanced_split(
            data.labels, label_rate=rate, unseen=unseen, random_state=random_state
        ).seen_labels
    rng = as_generator(random_state)
    codes = data.labels.codes
    seen = ~np.isin(codes, data.labels.class_numbers(unseen))
    walk = l1_rows(data.graph.adjacency).T.tocsr()
    degree = np.maximum(np.asarray(data.graph.adjacency.sum(axis=1)).ravel(), 1.0)
    if world == "one corner":
        pools = [np.flatnonzero(seen)]
    else:
        pools = [np.flatnonzero(codes == k) for k in np.unique(codes[seen])]
    share = rate if world != "one corner" else rate * len(codes) / max(int(seen.sum()), 1)
    rows = np.concatenate(
        [_nearest(walk, degree, pool, max(2, round(share * len(pool))), rng) for pool in pools]
    )
    few = [name for k, name in enumerate(data.labels.classes) if (codes[rows] == k).sum() < FEWEST]
    return data.labels.keep(rows, without=few)


def _nearest(
    walk: sp.csr_array,
    degree: npt.NDArray[np.float64],
    pool: npt.NDArray[np.int64],
    count: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Return the `count` nodes of `pool` nearest to one of them; where its component ends, to another one."""
    near = np.zeros(len(degree))
    weight = 1.0
    while (near[pool] > 0).sum() < min(count, len(pool)):
        start = np.zeros(len(degree))
        start[rng.choice(pool[near[pool] == 0])] = 1.0
        reached = start
        for _ in range(STEPS):
            reached = (1 - STAY) * (walk @ reached) + STAY * start
        near += weight * np.where(near > 0, 0.0, reached / degree)
        weight *= 1e-6  # a later start comes after everything that an earlier one reached
        if weight < 1e-200:
            near[pool[near[pool] == 0]] = weight
    return pool[np.argsort(-near[pool], kind="stable")[:count]]
