"""Stochastic training on edges: drawing them and noise nodes, the gradient of negative sampling, Adam.

Everything works on whole batches and on a Generator that is handed in; nothing loops over edges.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from unseen.ids import Array, Ints
from unseen.methods.neural.rect_dw import NOISE_POWER

UPDATES = 2
"""Batches per epoch."""
SMALLEST_BATCH = 256
"""On small graphs larger batches cost nothing and make the gradient quieter."""
NOISE_NODES = 64
"""Noise nodes that the edges of a batch share."""
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's decay rates, and what keeps it from dividing by zero."""
ADAM_BLOCK = 65_536
"""Numbers that Adam moves at a time: they stay in the cache."""


class EdgeSampler:
    """Draws edges by weight and noise nodes by degree^0.75; self-loops are left out.

    Parameters
    ----------
    adjacency : scipy CSR array, shape (n, n)
        Symmetric, not negative: an edge is drawn in either direction.

    Attributes
    ----------
    n_pairs : int
        Number of edges, each direction counted.
    total_weight : float
        Weight of all edges, each counted once.
    degree : ndarray
        Weighted degree of every node, without self-loops.

    Examples
    --------
    >>> sampler = EdgeSampler(sp.csr_array([[0.0, 3.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> src, dst = sampler.edges(8, np.random.default_rng(0))
    >>> sorted(zip(src.tolist(), dst.tolist()))
    [(0, 1), (0, 1), (0, 1), (1, 0), (1, 0), (1, 0), (1, 2), (2, 1)]
    """

    def __init__(self, adjacency: sp.csr_array) -> None:
        # sorted, because the draws must not depend on how entries happen to be stored
        pairs = adjacency.sorted_indices().tocoo()
        other = pairs.row != pairs.col
        self._src, self._dst = pairs.row[other], pairs.col[other]
        weights = pairs.data[other].astype(np.float64)
        self._edge_ends = np.cumsum(weights)
        self.n_pairs = len(weights)
        self.degree = np.bincount(self._src, weights, minlength=adjacency.shape[0])
        self.total_weight = float(self.degree.sum()) / 2
        self._noise_ends = np.cumsum(np.where(self.degree > 0, self.degree**NOISE_POWER, 0.0))

    def edges(self, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Return the two ends of `count` edges in random order.

        The draws are spread evenly over the weights (systematic sampling): each edge comes as often as
        its weight asks for, up to one, so that a pass over equal weights leaves no edge out.
        """
        places = (np.arange(count) + rng.random()) * (self._edge_ends[-1] / count)
        drawn = np.minimum(np.searchsorted(self._edge_ends, places, side="right"), self.n_pairs - 1)
        rng.shuffle(drawn)
        return self._src[drawn], self._dst[drawn]

    def noise(self, count: int, rng: np.random.Generator) -> Ints:
        """Return `count` noise nodes, drawn independently."""
        places = rng.random(count) * self._noise_ends[-1]
        # rounding must not reach a node without edges
        last = np.searchsorted(self._noise_ends, self._noise_ends[-1])
        return np.asarray(np.minimum(np.searchsorted(self._noise_ends, places, side="right"), last))


@dataclass(frozen=True)
class Batch:
    """The edges and noise nodes of one update, and where in the training it stands."""

    epoch: int
    share: float
    """Share of the learning rate, which falls linearly from 1 to 0 over the training."""
    src: Ints
    dst: Ints
    noise: Ints


def batches(sampler: EdgeSampler, epochs: int, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield the updates of a training: in each epoch as many edges are drawn as there are nodes, in two batches.

    So a node meets one edge per batch on average, whatever the size of the graph, and the updates of the
    whole table, of which there are two per epoch, cost no more than the edges do.
    """
    if not sampler.n_pairs:
        return
    count = max(len(sampler.degree) // UPDATES, SMALLEST_BATCH)
    for epoch in range(epochs):
        src, dst = sampler.edges(UPDATES * count, rng)
        for update in range(UPDATES):
            part = slice(update * count, (update + 1) * count)
            share = 1 - (UPDATES * epoch + update) / (UPDATES * epochs)
            noise = sampler.noise(NOISE_NODES, rng)
            yield Batch(epoch, share, src[part], dst[part], noise)


@dataclass(frozen=True)
class LinkGradient:
    """Loss of a batch and its gradients, in the rows of the node table and of the context table."""

    loss: float
    nodes: Array
    contexts: Array


def link_gradient(
    nodes: Array, contexts: Array, src: Ints, dst: Ints, noise: Ints, n_negative: float
) -> LinkGradient:
    """Return the negative-sampling loss of a batch of edges and its gradient.

    loss = - sum over (i, j) of [log s(u_i c_j) + n_negative * mean over noise nodes k of log s(-u_i c_k)]

    All edges of a batch share its noise nodes: the expectation is that of separate draws, the variance
    is lower for the same price, and the work becomes a matrix product.

    Parameters
    ----------
    nodes, contexts : ndarray, shape (n, d)
        u and c; the same array twice for first-order proximity, whose gradient is the sum of both parts.
    src, dst : ndarray of int
        i and j.
    noise : ndarray of int
        The noise nodes k.
    n_negative : float
        Weight of the noise, K.

    Examples
    --------
    >>> u = np.zeros((2, 3))
    >>> round(link_gradient(u, u, np.array([0]), np.array([1]), np.array([1]), 1.0).loss, 4)  # 2 log 2
    1.3863
    """
    u, c, drawn = nodes[src], contexts[dst], contexts[noise]
    score = np.einsum("ij,ij->i", u, c)
    noise_score = u @ drawn.T
    edge_loss, miss = _softplus(-score)
    noise_loss, push = _softplus(noise_score)
    loss = edge_loss + n_negative / len(noise) * noise_loss
    pull = -miss[:, None]
    push *= nodes.dtype.type(n_negative / len(noise))
    of_nodes = add_rows(len(nodes), src, pull * c + push @ drawn)
    of_contexts = add_rows(len(contexts), np.r_[dst, noise], np.vstack([pull * u, push.T @ u]))
    return LinkGradient(loss, of_nodes, of_contexts)


def _softplus(x: Array) -> tuple[float, Array]:
    """Return the sum of log(1 + e^x) and, entry by entry, its derivative s(x)."""
    grown = np.exp(np.clip(x, -60, 60))  # one exponential for both, and none that overflows
    sums = 1 + grown
    return float(np.log(sums).sum(dtype=np.float64)), grown / sums


def add_rows(n: int, index: Ints, rows: Array) -> Array:
    """Return an (n, d) array whose row i is the sum of the `rows` with index i."""
    places = (np.ones(len(index), dtype=rows.dtype), (index, np.arange(len(index))))
    return np.asarray(sp.csr_array(places, shape=(n, len(index))) @ rows)


class Adam:
    """Adam (Kingma and Ba, ICLR 2015) on numpy arrays, which it changes in place.

    Parameters
    ----------
    parameters : sequence of ndarray
        What to train.
    learning_rate : float
        Step length; each call of :meth:`step` can take a share of it.

    Examples
    --------
    >>> x = np.array([1.0])
    >>> adam = Adam([x], 0.1)
    >>> adam.step([2 * x])
    >>> x.round(6).tolist()
    [0.9]
    """

    def __init__(self, parameters: Sequence[Array], learning_rate: float) -> None:
        self._learning_rate, self._steps = learning_rate, 0
        self._parameters = [parameter.reshape(-1) for parameter in parameters]  # the same memory
        self._moments = [(np.zeros_like(flat), np.zeros_like(flat)) for flat in self._parameters]

    def step(self, gradients: Sequence[Array], share: float = 1.0) -> None:
        """Move every parameter against its gradient, by `share` of the learning rate."""
        self._steps += 1
        root = math.sqrt(1 - BETA2**self._steps)
        # m / (1 - BETA1) and v / (1 - BETA2) are kept instead of m and v, which saves two passes over them
        ratio = (1 - BETA1) / math.sqrt(1 - BETA2)
        length = share * self._learning_rate * root / (1 - BETA1**self._steps) * ratio
        epsilon = EPSILON * root / math.sqrt(1 - BETA2)
        for flat, gradient, moments in zip(self._parameters, gradients, self._moments, strict=True):
            whole = np.ascontiguousarray(gradient, dtype=flat.dtype).reshape(-1)
            room = np.empty(min(ADAM_BLOCK, len(flat)), dtype=flat.dtype)
            for start in range(0, len(flat), ADAM_BLOCK):
                some = slice(start, start + ADAM_BLOCK)
                first, second = (moment[some] for moment in moments)
                _move(flat[some], whole[some], first, second, room[: len(first)], length, epsilon)


def _move(
    x: Array, gradient: Array, first: Array, second: Array, room: Array, length: float, epsilon: float
) -> None:
    """Update a block that stays in the cache, and its moments."""
    first *= x.dtype.type(BETA1)
    first += gradient
    np.multiply(gradient, gradient, out=room)
    second *= x.dtype.type(BETA2)
    second += room
    np.sqrt(second, out=room)
    room += x.dtype.type(epsilon)
    np.divide(first, room, out=room)
    room *= x.dtype.type(length)
    x -= room
