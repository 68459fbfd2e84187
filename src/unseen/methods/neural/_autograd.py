"""What torch differentiates by functions of ours; the one module here that imports torch itself, to derive from it.

Rows are worked on in blocks, so that the number of threads changes no bit, and gradients of weights that all processes
share are added up over them. Inputs are detached first: threads other than this one would keep books for a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from unseen.engine.run import Run
from unseen.methods.neural.tensors import SparseProduct, cut_rows, sum_blocks


class Product(torch.autograd.Function):
    """A constant sparse matrix times a dense one."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: SparseProduct) -> Tensor:
        """Return the product."""
        ctx.matrix = matrix
        return matrix.multiply(dense.detach(), out=matrix.room("product", dense.shape[1])).detach()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        """Return the gradient by `dense`."""
        return ctx.matrix.multiply_transposed(grads[0]), None


class TallProduct(torch.autograd.Function):
    """H W for a tall H, of which each process has some rows, and a small W."""

    @staticmethod
    def forward(ctx: Any, H: Tensor, W: Tensor, run: Run) -> Tensor:
        """Return the product."""
        H, W = H.detach(), W.detach()
        ctx.tensors, ctx.run = (H, W), run
        result = torch.empty(len(H), W.shape[1], device=H.device)
        run.map_blocks(lambda a, b: torch.mm(H[a:b], W, out=result[a:b]), cut_rows(H, run))
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor, None]:
        """Return the gradients by H and by W."""
        (H, W), run, D = ctx.tensors, ctx.run, grads[0]
        by_W = sum_blocks(run.map_blocks(lambda a, b: H[a:b].T @ D[a:b], cut_rows(H, run)), run)
        if not ctx.needs_input_grad[0]:
            return None, by_W, None
        by_H, transposed = torch.empty_like(H), W.T.contiguous()
        run.map_blocks(lambda a, b: torch.mm(D[a:b], transposed, out=by_H[a:b]), cut_rows(H, run))
        return by_H, by_W, None


class Activation(torch.autograd.Function):
    """PReLU(P + b) in one pass over P, to which b is added in place; of the slope there is one for all columns."""

    @staticmethod
    def forward(ctx: Any, P: Tensor, b: Tensor, slope: Tensor, run: Run) -> Tensor:
        """Return the activated values."""
        values, bias, U, negative = P.detach(), b.detach(), torch.empty_like(P.detach()), slope.item()

        def activate(start: int, stop: int) -> None:
            p = values[start:stop].add_(bias)
            torch.nn.functional.leaky_relu_(U[start:stop].copy_(p), negative)

        ctx.run, ctx.values, ctx.slope = run, values, negative
        run.map_blocks(activate, cut_rows(U, run))
        return U

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Return the gradients by P, in the memory of that by U, by b and by the slope."""
        dU, run, slope = grads[0].contiguous(), ctx.run, ctx.slope

        def differentiate(start: int, stop: int) -> tuple[Tensor, Tensor]:
            p, d = ctx.values[start:stop], dU[start:stop]
            by_slope = torch.dot(p.clamp(max=0).view(-1), d.view(-1))
            d.mul_(p.sign().clamp_(min=0).mul_(1 - slope).add_(slope))  # torch.where takes six times as long
            return d.sum(dim=0), by_slope[None]

        by_b, by_slope = zip(*run.map_blocks(differentiate, cut_rows(dU, run)), strict=True)
        return dU, sum_blocks(by_b, run), sum_blocks(by_slope, run), None


class KnownGradient(torch.autograd.Function):
    """A loss that computes its own gradients, which is faster than a derivation of every step."""

    @staticmethod
    def forward(ctx: Any, compute: Callable[..., tuple[float, Sequence[Tensor]]], *inputs: Tensor) -> Tensor:
        """Return the loss in float64; `compute` returns it with its gradients by the inputs."""
        loss, ctx.gradients = compute(*(tensor.detach() for tensor in inputs))
        return torch.tensor(loss, dtype=torch.float64)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients; they are the loss's own memory."""
        factor = grads[0].item()
        if factor != 1:
            for gradient in ctx.gradients:
                gradient.mul_(factor)
        return None, *ctx.gradients
