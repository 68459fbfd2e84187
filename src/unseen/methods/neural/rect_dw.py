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

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

import scipy.sparse as sp

from unseen.engine.run import Cut, Run
from unseen.graph import Graph
from unseen.methods.neural import torch
from unseen.methods.neural.draws import Numbers, WalkSampler
from unseen.methods.neural.rect import RECT, RECTN
from unseen.methods.neural.tensors import SparseProduct, differentiable, keyed_xavier, to_tensor
from unseen.methods.vocabulary import Negatives, OwnContext, PairsPerNode, WalkLength, Walks, Window
from unseen.params import Declared, Limits
from unseen.randomness import child_seed, node_keys

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
        walks = self.n_walks / max(self.epochs, 1)
        settings = (walks, self.walk_length, self.window, self.pairs_per_node, self.n_negatives)
        width = self.n_components or self._traits.default_components
        context = to_tensor(keyed_xavier(keys, width, run), device) if self.context else None
        sampler = WalkSampler(graph.adjacency, keys, Numbers(child_seed(run.rng), device), device)
        return DeepWalkLoss(sampler, settings, context, run)


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
    """Skip-gram with negative sampling over freshly drawn pairs; see the module's docstring."""

    has_constant = True

    def __init__(
        self,
        sampler: WalkSampler,
        settings: tuple[float, int, int, float, int],
        context: torch.Tensor | None,
        run: Run,
    ) -> None:
        self.sampler, self.run = sampler, run
        self.walks, self.length, self.window, self.pairs, self.n_negatives = settings
        self.weights = [] if context is None else [context.requires_grad_()]

    def __call__(self, U: torch.Tensor) -> torch.Tensor:
        """Draw the pairs of an epoch, and return the loss."""
        pairs = self.sampler.pairs(self.walks, self.length, self.window, self.pairs)
        nothing = torch.zeros(0, dtype=torch.int64, device=U.device)
        drawn = [self._with_noise(*pair) for pair in (*pairs, (nothing, nothing))]
        centre, other, sign = (torch.cat(parts) for parts in zip(*drawn, strict=True))
        compute = partial(self.compute, centre, other, sign)
        return differentiable("KnownGradient", compute, U, *self.weights)

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
        n_pairs = float((sign > 0).sum())
        V = context[0] if context else U
        slopes = torch.empty(len(sign), device=U.device)
        precise = torch.float32 if U.device.type == "mps" else torch.float64  # Apple's GPUs lack float64

        def score(start: int, stop: int) -> float:
            s = sign[start:stop]
            x = (U[centre[start:stop]] * V[other[start:stop]]).sum(dim=1).mul_(s)
            torch.mul(torch.sigmoid(-x), s / -n_pairs, out=slopes[start:stop])
            return float(torch.nn.functional.softplus(-x).sum(dtype=precise))

        size = _PAIRS if U.device.type == "cpu" else _PAIRS_ON_GPU
        cuts = [(i, min(i + size, len(sign))) for i in range(0, len(sign), size)]
        loss = sum(self.run.map_blocks(score, cuts))
        gradient, by_context = self._gradients(centre, other, slopes, U, V, cuts)
        if context:
            return loss / n_pairs, [gradient, by_context]
        return loss / n_pairs, [gradient.add_(by_context)]

    def _gradients(
        self,
        centre: torch.Tensor,
        other: torch.Tensor,
        slopes: torch.Tensor,
        U: torch.Tensor,
        V: torch.Tensor,
        cuts: Sequence[Cut],
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the sums over pairs (i, j) of slope v_j in row i, and of slope u_i in row j."""
        if U.device.type != "cpu":
            sums = torch.zeros_like(U), torch.zeros_like(V)
            for start, stop in cuts:
                i, j, slope = centre[start:stop], other[start:stop], slopes[start:stop, None]
                sums[0].index_add_(0, i, V[j] * slope)
                sums[1].index_add_(0, j, U[i] * slope)
            return sums
        n = len(U)
        by_pair = sp.coo_array((slopes.numpy(), (centre.numpy(), other.numpy())), shape=(n, n)).tocsr()
        forward, backward = (
            SparseProduct(self.run.matrix(sp.csr_array(C)), U.device) for C in (by_pair, by_pair.T.tocsr())
        )
        return forward.multiply(V), backward.multiply(U)

    def _with_noise(
        self, centre: torch.Tensor, other: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        noise = self.sampler.noise(self.n_negatives * len(centre))
        sign = torch.full(((1 + self.n_negatives) * len(centre),), -1.0, device=centre.device)
        sign[: len(centre)] = 1
        return centre.repeat(1 + self.n_negatives), torch.cat([other, noise]), sign
