"""Sparse products that torch can differentiate; the one module here that imports torch itself, to derive from it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unseen.methods.neural.gnn_sparse import SparseMatrix, bags


class Product(torch.autograd.Function):
    """``matrix @ dense``, with the stored transpose for the gradient."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: SparseMatrix) -> Tensor:
        """Return the product."""
        ctx.matrix = matrix
        # detached: the kernel keeps books for a gradient otherwise
        return bags(matrix.matrix, matrix.matrix.values(), dense.detach())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, None]:
        """Return the gradient by `dense`."""
        transposed = ctx.matrix.transposed
        return bags(transposed, transposed.values(), grads[0]), None
