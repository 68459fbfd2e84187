"""Sparse inputs of the graph networks: products with a stored transpose, and dropout that draws from a generator.

The backward pass of a sparse product needs the transposed matrix. PyTorch transposes it anew each time, at four to ten
times the price of the product itself (Citeseer's features: 25 ms forward and backward, 4 ms here).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class SparseMatrix:
    """A constant sparse matrix and its transpose, both in CSR, so that neither direction has to transpose.

    Parameters
    ----------
    matrix, transposed : Tensor
        The two CSR tensors.
    order : Tensor
        ``transposed.values() == matrix.values()[order]``; empty once entries have been dropped.

    Examples
    --------
    >>> x = SparseMatrix.from_scipy(sp.csr_array([[0.0, 2.0], [1.0, 0.0], [0.0, 3.0]]))
    >>> (x @ torch.eye(2)).tolist()
    [[0.0, 2.0], [1.0, 0.0], [0.0, 3.0]]
    """

    matrix: Tensor
    transposed: Tensor
    order: Tensor

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array, device: torch.device | str = "cpu") -> SparseMatrix:
        """Copy a scipy matrix to `device`, in float32."""
        places = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        turned = sp.csr_array(places.T.tocsr())
        values = np.asarray(matrix.data, dtype=np.float32)
        return cls(
            _csr(matrix.indptr, matrix.indices, values, matrix.shape, device),
            _csr(turned.indptr, turned.indices, values[turned.data], turned.shape, device),
            torch.tensor(turned.data, dtype=torch.int64, device=device),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def __matmul__(self, dense: Tensor) -> Tensor:
        return sparse_product(dense, self.matrix, self.transposed)

    def dropped(self, share: float, generator: torch.Generator) -> SparseMatrix:
        """Return the matrix without a random share of its entries, and the others scaled up."""
        if share == 0:
            return self
        mask, scale = keep_mask(self.order.numel(), share, generator)
        return SparseMatrix(
            _thinned(self.matrix, mask, scale),
            _thinned(self.transposed, mask.index_select(0, self.order), scale),
            self.order[:0],
        )


class _Product(torch.autograd.Function):
    """``matrix @ dense``, with the transpose at hand for the gradient."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
        ctx.transposed = transposed
        return product(matrix, dense.detach())  # detached: the kernel keeps books for a gradient otherwise

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, None, None]:
        return product(ctx.transposed, grads[0]), None, None


def sparse_product(dense: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
    """Return ``matrix @ dense`` with a gradient by `dense`; `transposed` is the matrix transposed."""
    made: Tensor = _Product.apply(dense, matrix, transposed)  # type: ignore[no-untyped-call]
    return made


class _ThinnedSpread(torch.autograd.Function):
    """Personalised propagation in one node of the graph of gradients: ten steps would be hundreds of small ones."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, whole: SparseMatrix, steps: int, teleport: float, masks: Tensor, scale: float
    ) -> Tensor:
        ctx.whole, ctx.teleport, ctx.masks, ctx.factor = whole, teleport, masks, scale * (1 - teleport)
        start = x.detach()
        values = whole.matrix.values() * ctx.factor
        z = start
        for step in range(steps):
            z = _bags(whole.matrix, values * masks[step], z).add_(start, alpha=teleport)
        return z

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        values = ctx.whole.transposed.values() * ctx.factor
        g, total = grads[0].contiguous(), torch.zeros_like(grads[0])
        for mask in ctx.masks.flip(0):
            total.add_(g, alpha=ctx.teleport)
            g = _bags(ctx.whole.transposed, values * mask.index_select(0, ctx.whole.order), g)
        return total.add_(g), None, None, None, None, None


def thinned_spread(
    x: Tensor, whole: SparseMatrix, steps: int, teleport: float, share: float, generator: torch.Generator
) -> Tensor:
    """Return `x` after `steps` times z <- (1 - teleport) A z + teleport x, each with other entries of A dropped.

    Examples
    --------
    >>> whole = SparseMatrix.from_scipy(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    >>> thinned_spread(torch.tensor([[1.0], [3.0]]), whole, 1, 0.5, 0.0, torch.Generator()).tolist()
    [[2.0], [2.0]]
    """
    count = whole.order.numel()
    mask, scale = torch.ones(steps * count, dtype=torch.bool, device=x.device), 1.0
    if share > 0:
        mask, scale = keep_mask(steps * count, share, generator)
    made: Tensor = _ThinnedSpread.apply(x, whole, steps, teleport, mask.view(steps, count), scale)  # type: ignore[no-untyped-call]
    return made


def product(matrix: Tensor, dense: Tensor) -> Tensor:
    """Return a CSR tensor times a dense one.

    Every row is summed in order, so the bits do not depend on the number of threads.
    """
    return _bags(matrix, matrix.values(), dense)


def _bags(matrix: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    """Return the product of a matrix with the places of `matrix` and other `values`."""
    if values.numel() == 0:
        return dense.new_zeros(matrix.shape[0], dense.shape[1])
    columns, rows = matrix.col_indices(), matrix.crow_indices()
    if matrix.is_cuda:
        other = torch.sparse_csr_tensor(rows, columns, values, size=matrix.shape, check_invariants=False)
        made: Tensor = torch.sparse.mm(other, dense)
        return made
    return weighted_bags(columns, rows, values, dense.contiguous())


def weighted_bags(columns: Tensor, offsets: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    """Return a CSR matrix times a dense one on the processor; every row is summed in order."""
    return functional.embedding_bag(
        columns, dense, offsets, mode="sum", per_sample_weights=values, include_last_offset=True
    )


def _csr(
    indptr: npt.NDArray[Any], indices: npt.NDArray[Any], values: npt.NDArray[Any], shape: Any, device: Any
) -> Tensor:
    whole = torch.int32 if len(indices) < 2**31 else torch.int64
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.tensor(indptr, dtype=whole, device=device),
            torch.tensor(indices, dtype=whole, device=device),
            torch.tensor(values, dtype=torch.float32, device=device),
            size=tuple(shape),
            check_invariants=False,
        )


def _thinned(matrix: Tensor, mask: Tensor, scale: float) -> Tensor:
    kept = _places(mask)
    return torch.sparse_csr_tensor(
        torch.searchsorted(kept, matrix.crow_indices(), out_int32=matrix.crow_indices().dtype == torch.int32),
        matrix.col_indices().index_select(0, kept),
        matrix.values().index_select(0, kept) * scale,
        size=matrix.shape,
        check_invariants=False,
    )


def _places(mask: Tensor) -> Tensor:
    """Return where `mask` is true; on a CPU by numpy, which takes a tenth of the time of torch's nonzero."""
    if mask.is_cuda:
        return mask.nonzero().view(-1)
    return torch.from_numpy(np.flatnonzero(mask.numpy()))


def keep_mask(size: int, share: float, generator: torch.Generator) -> tuple[Tensor, float]:
    """Return which of `size` entries survive dropout, and the factor that makes up for the others.

    Seven times as fast on a CPU as torch's own, which moreover takes no generator: four 16-bit numbers are cut from
    each 64-bit draw, so the share is met to 1 in 65,536 (and the factor is that of the share that was met).

    Examples
    --------
    >>> mask, scale = keep_mask(1000, 0.5, torch.Generator().manual_seed(0))
    >>> 400 < int(mask.sum()) < 600, scale
    (True, 2.0)
    """
    kept = max(1, round((1 - share) * 2**16))
    draws = torch.empty((size + 3) // 4, dtype=torch.int64, device=generator.device)
    draws.random_(-(2**63), None, generator=generator)  # type: ignore[call-overload]  # None: the largest int64
    return draws.view(torch.int16)[:size] <= kept - 1 - 2**15, 2**16 / kept


def dropout(values: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Zero a random share of `values` and scale the others up."""
    if share == 0:
        return values
    mask, scale = keep_mask(values.numel(), share, generator)
    return values * mask.view(values.shape).to(values.dtype).mul_(scale)


def drop_features(x: Features, share: float, generator: torch.Generator) -> Features:
    """Return `x` with dropout, sparse if it is sparse."""
    return x.dropped(share, generator) if isinstance(x, SparseMatrix) else dropout(x, share, generator)


Features = SparseMatrix | Tensor
