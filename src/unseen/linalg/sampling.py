"""Random walks over a graph, and noise nodes to compare them with.

Everything works on whole batches and on a Generator that is handed in. Walks belong to nodes, not to row numbers:
inside, the nodes stand in the order of their keys, so that a permuted graph gives the same walks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from unseen.ids import Floats, Ints, Keys

NOISE_POWER = 0.75
"""A node is drawn as noise in proportion to its weighted degree to this power."""
WALK_BATCH = 65_536
"""Walks that are held in memory at a time."""


class WalkSampler:
    """Walks whose steps follow the edges by their weights, and noise nodes by degree^0.75.

    Parameters
    ----------
    adjacency : scipy CSR array, shape (n, n)
        Symmetric, not negative.
    keys : ndarray of uint64, shape (n,)
        One key per node, see :func:`unseen.randomness.node_keys`.

    Examples
    --------
    >>> pair = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> sampler = WalkSampler(pair, np.array([5, 3, 9], dtype=np.uint64))
    >>> sampler.walk(np.array([0, 1]), 4, np.random.default_rng(0)).tolist()
    [[0, 1, 0, 1], [1, 0, 1, 0]]
    """

    def __init__(self, adjacency: sp.csr_array, keys: Keys) -> None:
        self.order = np.argsort(keys, kind="stable")
        ordered = sp.csr_array(adjacency[self.order][:, self.order])
        ordered.sort_indices()
        self._indptr, self._indices = ordered.indptr.astype(np.int64), ordered.indices.astype(np.int64)
        self._even = bool((ordered.data == ordered.data[:1]).all())
        self._upto = np.concatenate(([0.0], np.cumsum(ordered.data)))
        degree = np.diff(self._upto[self._indptr])
        self.starts: Ints = np.flatnonzero(degree > 0)
        self._noise = np.cumsum(degree**NOISE_POWER)

    def walk(self, starts: Ints, length: int, rng: np.random.Generator) -> Ints:
        """Return one walk per row, of `length` nodes; `starts` and nodes are in the order of the keys."""
        walks = np.empty((len(starts), length), dtype=np.int64)
        walks[:, 0] = starts
        for step in range(1, length):
            walks[:, step] = self._next(walks[:, step - 1], rng.random(len(starts)))
        return walks

    def noise(self, shape: tuple[int, ...], rng: np.random.Generator) -> Ints:
        """Return nodes drawn by degree^0.75, as rows of the adjacency."""
        drawn = np.searchsorted(self._noise, rng.random(shape) * self._noise[-1], side="right")
        nodes: Ints = self.order[np.minimum(drawn, len(self.order) - 1)]
        return nodes

    def pairs(
        self, walks: float, length: int, window: int, pairs: float, rng: np.random.Generator
    ) -> Iterator[tuple[Ints, Ints]]:
        """Yield (centre, context) of `pairs` pairs per node on average, drawn evenly from `walks` walks per node.

        Walks are made and forgotten batch by batch. A pair of a node with itself is left out.
        """
        a_walk = pairs / walks
        times = int(walks) + (rng.random(len(self.starts)) < walks % 1)
        starts = np.repeat(self.starts, times)
        for first in range(0, len(starts), WALK_BATCH):
            batch = self.walk(starts[first : first + WALK_BATCH], length, rng)
            count = int(a_walk) + (rng.random(len(batch)) < a_walk % 1)
            row = np.repeat(np.arange(len(batch)), count)
            position = rng.integers(length, size=len(row))
            offset = rng.integers(1, window + 1, size=len(row)) * (2 * rng.integers(2, size=len(row)) - 1)
            other = position + offset
            inside = (other >= 0) & (other < length)
            row, position, other = row[inside], position[inside], other[inside]
            centre, context = batch[row, position], batch[row, other]
            differ = centre != context
            yield self.order[centre[differ]], self.order[context[differ]]

    def _next(self, nodes: Ints, uniform: Floats) -> Ints:
        first, last = self._indptr[nodes], self._indptr[nodes + 1]
        if self._even:
            place = first + (uniform * (last - first)).astype(np.int64)
        else:
            low, high = self._upto[first], self._upto[last]
            place = np.searchsorted(self._upto, low + uniform * (high - low), side="right") - 1
        after: Ints = self._indices[np.clip(place, first, last - 1)]
        return after
