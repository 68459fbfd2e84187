"""Sparse inputs of the graph networks: products with a stored transpose, and dropout whose draws belong to nodes.

The backward pass of a sparse product needs the transposed matrix. PyTorch transposes it anew each time, at four to ten
times the price of the product itself (Citeseer's features: 25 ms forward and backward, 4 ms here).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from unseen.ids import Ints, Keys
from unseen.methods.neural import torch
from unseen.methods.neural.gcn_encoder import csr_tensor, weighted_bags
from unseen.randomness import keyed_bits, mix_bits

Features: TypeAlias = "SparseMatrix | torch.Tensor"


@dataclass(frozen=True)
class SparseMatrix:
    """A constant sparse matrix and its transpose, both in CSR, so that neither direction has to transpose.

    Parameters
    ----------
    matrix, transposed : Tensor
        The two CSR tensors.
    order : Tensor
        ``transposed.values() == matrix.values()[order]``; empty once entries have been dropped.
    """

    matrix: torch.Tensor
    transposed: torch.Tensor
    order: torch.Tensor

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array, device: torch.device | str = "cpu") -> SparseMatrix:
        """Copy a scipy matrix to `device`, in float32."""
        places = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        turned = sp.csr_array(places.T.tocsr())
        whole = torch.int32 if matrix.nnz < 2**31 else torch.int64
        order = torch.tensor(turned.data, dtype=torch.int64, device=device)
        values = torch.tensor(matrix.data, dtype=torch.float32, device=device)

        def stored(A: sp.csr_array, data: torch.Tensor) -> torch.Tensor:
            rows, columns = (torch.tensor(part, dtype=whole, device=device) for part in (A.indptr, A.indices))
            return csr_tensor(rows, columns, data, A.shape)

        return cls(stored(matrix, values), stored(turned, values[order]), order)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def __matmul__(self, dense: torch.Tensor) -> torch.Tensor:
        from unseen.methods.neural._gradients import Product

        product: torch.Tensor = Product.apply(dense, self)  # type: ignore[no-untyped-call]
        return product

    def entry_keys(self, rows: Keys, columns: Keys) -> Keys:
        """Return a key of every entry, made of those of its row and of its column."""
        lengths = np.diff(self.matrix.crow_indices().cpu().numpy())
        places = self.matrix.col_indices().cpu().numpy()
        return mix_bits(np.repeat(rows, lengths) + mix_bits(columns)[places])

    def rows(self, chosen: Ints, *, squeezed: bool = True) -> tuple[SparseMatrix, Ints]:
        """Return some rows, and the columns that are left of them: those with entries if `squeezed`, else all."""
        parts = (self.matrix.values(), self.matrix.col_indices(), self.matrix.crow_indices())
        some = sp.csr_array(tuple(part.cpu().numpy() for part in parts), shape=self.shape)[chosen]
        columns = np.unique(some.indices) if squeezed else np.arange(self.shape[1])
        places = np.searchsorted(columns, some.indices)
        left = sp.csr_array((some.data, places, some.indptr), shape=(len(chosen), len(columns)))
        return self.from_scipy(left, self.matrix.device), columns

    def dropped(self, share: float, draws: Draws) -> SparseMatrix:
        """Return the matrix without a random share of its entries, and the others scaled up."""
        masks, scale = draws.keep(1, share)
        mask = masks[:, 0]
        transposed = _thinned(self.transposed, mask.index_select(0, self.order), scale)
        return SparseMatrix(_thinned(self.matrix, mask, scale), transposed, self.order[:0])


class Draws:
    """What survives dropout. Draws belong to keys (of nodes, of entries), so that the order of rows does not matter.

    Draws for different uses are independent although their keys are the same.
    """

    def __init__(self, keys: Keys, device: torch.device, use: int = 0) -> None:
        self.keys, self.device, self.times = mix_bits(keys + np.uint64(use)), device, 0

    def keep(self, columns: int, share: float) -> tuple[torch.Tensor, float]:
        """Return which of `columns` entries per key survive this time, and the factor that makes up for the others.

        Four 16-bit numbers are cut from each 64-bit draw, so the share is met to 1 in 65,536 (and the factor is that
        of the share that was met).
        """
        kept = max(1, round((1 - share) * 2**16))
        self.times += 1
        bits = keyed_bits(self.keys, -(-columns // 4), stream=self.times)
        numbers = bits.view(np.uint16)[:, :columns]
        return torch.from_numpy(numbers < kept).to(self.device), 2**16 / kept


def dropout(values: Features, share: float, draws: Draws) -> Features:
    """Zero a random share of `values` and scale the others up; `draws` has a key per row, or per sparse entry."""
    if share == 0:
        return values
    if isinstance(values, SparseMatrix):
        return values.dropped(share, draws)
    mask, scale = draws.keep(values.shape[1], share)
    return values * mask.to(values.dtype).mul_(scale)


def bags(matrix: torch.Tensor, values: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
    """Return the product of a CSR tensor, with other `values` in its places, and a dense one.

    Every row is summed in order, so the bits do not depend on the number of threads.
    """
    columns, rows = matrix.col_indices(), matrix.crow_indices()
    if matrix.is_cuda:
        product: torch.Tensor = torch.sparse.mm(csr_tensor(rows, columns, values, matrix.shape), dense)
        return product
    return weighted_bags(columns, rows, values, dense.contiguous())


def _thinned(matrix: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    # on a CPU by numpy, which takes a tenth of the time of torch's nonzero
    places = mask.nonzero().view(-1) if mask.is_cuda else torch.from_numpy(np.flatnonzero(mask.numpy()))
    rows = matrix.crow_indices()
    rows = torch.searchsorted(places, rows, out_int32=rows.dtype == torch.int32)
    columns, values = (part.index_select(0, places) for part in (matrix.col_indices(), matrix.values()))
    return csr_tensor(rows, columns, values * scale, matrix.shape)
