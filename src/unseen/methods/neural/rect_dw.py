"""RECT(DW): RECT whose structure half is trained with DeepWalk's own objective (Section 5.2 of the paper).

U = PReLU(Ahat X W + b) as in RECT-N, but over pairs (i, j) that meet in windows of random walks minimising
-log s(u_i u_j) - sum over 5 noise nodes k of log s(-u_i u_k), s the logistic function: skip-gram with negative
sampling, the same vectors on both sides as in the paper's equation (`context=True` learns a context matrix for the
other side).

80 walks of 40 nodes from each node make about 32,000 pairs per node with a window of 5: billions. Each epoch instead
makes its share of the walks (80 / epochs per node), batch by batch, and draws `pairs_per_node` pairs per node evenly
from them. How many are enough was measured, see the parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Annotated

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.graph import Graph
from unseen.ids import Keys
from unseen.methods.neural import torch
from unseen.methods.neural.draws import Draws
from unseen.methods.neural.rect import RECT, RECTN
from unseen.methods.neural.tensors import SparseProduct, differentiable, keyed_numbers, to_tensor
from unseen.methods.vocabulary import Negatives, OwnContext, PairsPerNode, WalkLength, Walks, Window
from unseen.params import Declared, Limits
from unseen.randomness import child_seed, node_keys

NOISE_POWER = 0.75
"""A node is drawn as noise in proportion to its weighted degree to this power."""
WALK_BATCH = 65_536
"""Walks that are held in memory at a time."""
_PAIRS, _PAIRS_ON_GPU = 8_192, 1_048_576
"""Pairs whose inner products are computed at a time."""


class WalkMethod(Declared):
    """Parameters of the walks, which :class:`RECTDW` and its half have."""

    n_walks: Walks = 80
    walk_length: WalkLength = 40
    window: Window = 5
    n_negatives: Annotated[Negatives, Limits(1)] = 5
    pairs_per_node: PairsPerNode = 5.0
    context: OwnContext = False


class RECTNDW(WalkMethod, RECTN):
    """The structure half of :class:`RECTDW`."""

    _traits = replace(RECTN._traits, name="rect-n-dw", summary="")

    def _structure_loss(self, graph: Graph, device: torch.device, run: Run) -> DeepWalkLoss:
        keys = node_keys(graph.node_ids, child_seed(run.rng))
        context = None
        if self.context:
            width = self.n_components or self._traits.default_components
            bound = math.sqrt(6.0 / (graph.n_nodes + width))
            context = to_tensor(keyed_numbers(keys, width, bound, run), device)
        sampler = WalkSampler(graph.adjacency, keys, child_seed(run.rng), device)
        walks = self.n_walks / max(self.epochs, 1)
        draw = partial(sampler.pairs, walks, self.walk_length, self.window, self.pairs_per_node)
        return DeepWalkLoss(draw, sampler.noise, self.n_negatives, context, run)


class RECTDW(WalkMethod, RECT):
    """RECT with DeepWalk's objective for the structure of the graph.

    Attributes
    ----------
    semantic_, structure_, class_descriptions_, loss_history_
        As for :class:`RECT`; the structure half is called "rect-n-dw".
    """

    _traits = replace(
        RECT._traits,
        name="rect-dw",
        summary="rect with DeepWalk's objective for the structure of the graph",
        trains_on_parts=False,
    )

    _structure_class = RECTNDW


class DeepWalkLoss:
    """Skip-gram with negative sampling over freshly drawn pairs; see the module's docstring.

    Parameters
    ----------
    draw : function
        Returns the pairs of an epoch in batches, centres and contexts.
    noise : function
        Returns so many noise nodes.
    n_negatives : int
        Noise nodes of each pair.
    context : Tensor or None
        Vectors of the other side; None takes the same on both.
    run : Run
        Does the work.
    """

    has_constant = True

    def __init__(
        self,
        draw: Callable[[], Iterable[tuple[torch.Tensor, torch.Tensor]]],
        noise: Callable[[int], torch.Tensor],
        n_negatives: int,
        context: torch.Tensor | None,
        run: Run,
    ) -> None:
        self.draw, self.noise, self.n_negatives, self.run = draw, noise, n_negatives, run
        self.weights = [] if context is None else [context.requires_grad_()]

    def __call__(self, U: torch.Tensor) -> torch.Tensor:
        """Draw the pairs of an epoch, and return the loss."""
        nothing = torch.zeros(0, dtype=torch.int64, device=U.device)
        drawn = [self.with_noise(*pair) for pair in (*self.draw(), (nothing, nothing))]
        centre, other, sign = (torch.cat(parts) for parts in zip(*drawn, strict=True))
        return differentiable("KnownGradient", partial(self.compute, centre, other, sign), U, *self.weights)

    def with_noise(
        self, centre: torch.Tensor, other: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the pairs and those of their centres with noise nodes, which have a negative sign."""
        noise = self.noise(self.n_negatives * len(centre))
        sign = torch.full(((1 + self.n_negatives) * len(centre),), -1.0, device=centre.device)
        sign[: len(centre)] = 1
        return centre.repeat(1 + self.n_negatives), torch.cat([other, noise]), sign

    def compute(
        self,
        centre: torch.Tensor,
        other: torch.Tensor,
        sign: torch.Tensor,
        U: torch.Tensor,
        *context: torch.Tensor,
    ) -> tuple[float, list[torch.Tensor]]:
        """Return the sum of log(1 + exp(-sign u_i u_j)) over the number of positive signs, and its gradients.

        These are by U, and by the context matrix where there is one.
        """
        if not len(sign):
            return 0.0, [torch.zeros_like(weight) for weight in (U, *context)]
        n_pairs, (V,) = float((sign > 0).sum()), context or (U,)
        slopes = torch.empty(len(sign), device=U.device)
        precise = torch.float32 if U.device.type == "mps" else torch.float64  # Apple's GPUs lack float64
        on_processor = U.device.type == "cpu"

        def score(start: int, stop: int) -> float:
            s = sign[start:stop]
            x = (U[centre[start:stop]] * V[other[start:stop]]).sum(dim=1).mul_(s)
            torch.mul(torch.sigmoid(-x), s / -n_pairs, out=slopes[start:stop])
            return float(torch.nn.functional.softplus(-x).sum(dtype=precise))

        size = _PAIRS if on_processor else _PAIRS_ON_GPU
        cuts = [(i, min(i + size, len(sign))) for i in range(0, len(sign), size)]
        loss = sum(self.run.map_blocks(score, cuts))
        if on_processor:  # sums over pairs (i, j) of slope v_j in row i, and of slope u_i in row j
            pairs = (slopes.numpy(), (centre.numpy(), other.numpy()))
            by_pair = sp.coo_array(pairs, shape=(len(U), len(U))).tocsr()
            gradients = [
                SparseProduct(self.run.matrix(sp.csr_array(C)), U.device).multiply(factor)
                for C, factor in ((by_pair, V), (by_pair.T.tocsr(), U))
            ]
        else:
            gradients = [torch.zeros_like(U), torch.zeros_like(V)]
            for start, stop in cuts:
                i, j, slope = centre[start:stop], other[start:stop], slopes[start:stop, None]
                gradients[0].index_add_(0, i, V[j] * slope)
                gradients[1].index_add_(0, j, U[i] * slope)
        if not context:
            gradients = [gradients[0].add_(gradients[1])]
        return loss / n_pairs, gradients


class WalkSampler:
    """Walks whose steps follow the edges by their weights, and noise nodes by degree^0.75.

    Walks belong to nodes, not to row numbers: inside, the nodes stand in the order of their keys, so that a permuted
    graph gives the same walks.

    Parameters
    ----------
    adjacency : scipy CSR array, shape (n, n)
        Symmetric, not negative.
    keys : ndarray of uint64, shape (n,)
        One key per node, see :func:`unseen.randomness.node_keys`.
    seed : int
        Of the draws.
    device : torch.device
        Where the walks are made.
    """

    def __init__(self, adjacency: sp.csr_array, keys: Keys, seed: int, device: torch.device) -> None:
        order = np.argsort(keys, kind="stable")
        ordered = sp.csr_array(adjacency[order][:, order])
        ordered.sort_indices()
        upto = np.concatenate(([0.0], np.cumsum(ordered.data)))
        degree = np.diff(upto[ordered.indptr])
        real = np.float32 if device.type == "mps" else np.float64

        def put(array: np.ndarray, kind: type) -> torch.Tensor:
            return torch.from_numpy(array.astype(kind)).to(device)

        self._draws, self.device = Draws(np.array([seed], dtype=np.uint64), device), device
        self.order, self.starts = put(order, np.int64), put(np.flatnonzero(degree > 0), np.int64)
        self._indptr, self._indices = put(ordered.indptr, np.int64), put(ordered.indices, np.int64)
        self._even = bool((ordered.data == ordered.data[:1]).all())
        self._upto, self._noise = put(upto, real), put(np.cumsum(degree**NOISE_POWER), real)

    def walk(self, starts: torch.Tensor, length: int) -> torch.Tensor:
        """Return one walk per row, of `length` nodes; `starts` and nodes are in the order of the keys."""
        walks = [starts]
        for _ in range(1, length):
            uniform = self._draws.uniform(len(starts))
            first, last = self._indptr[walks[-1]], self._indptr[walks[-1] + 1]
            if self._even:
                place = first + (uniform * (last - first)).long()
            else:
                low, high = self._upto[first], self._upto[last]
                place = torch.searchsorted(self._upto, low + uniform * (high - low), right=True) - 1
            walks.append(self._indices[torch.minimum(torch.maximum(place, first), last - 1)])
        return torch.stack(walks, dim=1)

    def noise(self, count: int) -> torch.Tensor:
        """Return nodes drawn by degree^0.75, as rows of the adjacency."""
        drawn = torch.searchsorted(self._noise, self._draws.uniform(count) * self._noise[-1], right=True)
        return self.order[drawn.clamp_(max=len(self.order) - 1)]

    def pairs(
        self, walks: float, length: int, window: int, pairs: float
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield (centre, context) of `pairs` pairs per node on average, drawn evenly from `walks` walks per node.

        Walks are made and forgotten batch by batch. A pair of a node with itself is left out.
        """
        draws, a_walk = self._draws, pairs / walks
        times = (draws.uniform(len(self.starts)) < walks % 1) + int(walks)
        starts = torch.repeat_interleave(self.starts, times)
        for first in range(0, len(starts), WALK_BATCH):
            batch = self.walk(starts[first : first + WALK_BATCH], length)
            count = (draws.uniform(len(batch)) < a_walk % 1) + int(a_walk)
            row = torch.repeat_interleave(torch.arange(len(batch), device=self.device), count)
            position = draws.integers(length, len(row))
            offset = (draws.integers(window, len(row)) + 1) * (2 * draws.integers(2, len(row)) - 1)
            other = position + offset
            inside = (other >= 0) & (other < length)
            row, position, other = row[inside], position[inside], other[inside]
            centre, context = batch[row, position], batch[row, other]
            differ = centre != context
            yield self.order[centre[differ]], self.order[context[differ]]
