"""Personalised propagation that torch can differentiate; imports torch itself, to derive from it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unseen.methods.neural.gnn_sparse import SparseMatrix, bags


class ThinnedSpread(torch.autograd.Function):
    """Personalised propagation in one node of the graph of gradients: ten steps would be hundreds of small ones."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, whole: SparseMatrix, teleport: float, masks: Tensor, scale: float
    ) -> Tensor:
        """Return `x` after one step per mask."""
        ctx.whole, ctx.teleport, ctx.masks, ctx.factor = whole, teleport, masks, scale * (1 - teleport)
        start = x.detach()
        values = whole.matrix.values() * ctx.factor
        z = start
        for mask in masks:
            z = bags(whole.matrix, values * mask, z).add_(start, alpha=teleport)
        return z

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradient by `x`."""
        values = ctx.whole.transposed.values() * ctx.factor
        g, total = grads[0].contiguous(), torch.zeros_like(grads[0])
        for mask in ctx.masks.flip(0):
            total.add_(g, alpha=ctx.teleport)
            g = bags(ctx.whole.transposed, values * mask.index_select(0, ctx.whole.order), g)
        return total.add_(g), None, None, None, None
