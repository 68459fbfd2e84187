"""The two losses of RECT and their gradients, neither of which ever forms an n x n matrix.

Structure: ||M - UU'||^2 / n = (||M||^2 - 2 tr(U'MU) + ||U'U||^2) / n, its gradient 4 (U(U'U) - sym(M)U) / n with
sym(M) = (M + M')/2. Semantics: the squared error between a linear map of the hidden layer and the class-semantic
descriptions, over the labelled nodes, divided by their number. (A mean over n^2 would be so small that Adam's
epsilon stops the training.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from unseen.linalg.blocks import map_blocks
from unseen.linalg.normalize import row_normalized
from unseen.linalg.walk import WalkMatrix
from unseen.methods.gcn_encoder import SparseProduct, blocks_of, gram, sum_in_order, to_tensor


class StructureLoss:
    """||M - UU'||^2 / n of the walk matrix M = (Abar + Abar^2) / 2, in O(nnz d + n d^2).

    Attributes
    ----------
    constant : float
        ||M||^2 where it is cheap to compute, else 0: then the loss is that much too small.
    has_constant : bool
        Which of the two.

    Examples
    --------
    >>> loss = StructureLoss(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), torch.device("cpu"))
    >>> loss(torch.zeros(2, 1))[0]  # M has four entries of a half
    0.5
    """

    def __init__(self, adjacency: sp.csr_array, device: torch.device) -> None:
        abar = row_normalized(adjacency)
        # As WalkMatrix does, but on the device and in memory that is kept: at a million nodes, getting
        # memory for every product costs as much as the product.
        self.forward = SparseProduct(abar, device)
        self.backward = SparseProduct(sp.csr_array(abar.T.tocsr()), device)
        constant = WalkMatrix(adjacency).frobenius_squared()
        self.has_constant = constant is not None
        self.constant = constant or 0.0
        self._sum = self._once = torch.empty(0, device=device)

    def symmetric(self, U: torch.Tensor) -> torch.Tensor:
        """Return 4 sym(M) U = Abar (U + Abar U) + Abar' (U + Abar' U); the next call overwrites it."""
        if self._sum.shape != U.shape:
            self._sum, self._once = torch.empty_like(U), torch.empty_like(U)
        for product, add in ((self.forward, False), (self.backward, True)):
            product(U, out=self._once)
            map_blocks(lambda a, b: self._once[a:b].add_(U[a:b]), blocks_of(U))
            product(self._once, out=self._sum, add=add)
        return self._sum

    @property
    def weights(self) -> list[torch.Tensor]:
        """What is learned besides U: nothing."""
        return []

    def __call__(self, U: torch.Tensor) -> tuple[float, torch.Tensor, list[torch.Tensor]]:
        """Return the loss, its gradient by U, which the next call overwrites, and those by `weights`."""
        squared = gram(U, U)
        walked = self.symmetric(U)
        n = len(U)

        def work(start: int, stop: int) -> float:
            u, w = U[start:stop], walked[start:stop].mul_(0.25)
            inner = float(torch.dot(u.reshape(-1), w.reshape(-1)))
            w.neg_().addmm_(u, squared).mul_(4.0 / n)
            return inner

        trace = sum(map_blocks(work, blocks_of(U)))
        quartic = float((squared.double() ** 2).sum())
        return (self.constant - 2 * trace + quartic) / n, walked, []


class SemanticLoss:
    """Mean over labelled nodes of ||H F + c - target||^2, with F and c to be learned.

    Examples
    --------
    >>> loss = SemanticLoss(np.array([[3.0]]), np.zeros((2, 1)), torch.device("cpu"))
    >>> loss(torch.ones(1, 2))[0]
    9.0
    """

    def __init__(
        self, targets: npt.NDArray[np.floating], F: npt.NDArray[np.floating], device: torch.device
    ) -> None:
        self.targets = to_tensor(targets, device)
        self.F = to_tensor(F, device)
        self.c = torch.zeros(F.shape[1], device=device)

    @property
    def weights(self) -> list[torch.Tensor]:
        """What is learned: F and c."""
        return [self.F, self.c]

    def __call__(self, H: torch.Tensor) -> tuple[float, torch.Tensor, list[torch.Tensor]]:
        """Return the loss, its gradient by H (one row a labelled node), and those by F and c."""
        dH = torch.empty_like(H)
        back = self.F.T.contiguous()
        scale = 2.0 / len(H)

        def work(start: int, stop: int) -> tuple[float, torch.Tensor, torch.Tensor]:
            h = H[start:stop]
            error = torch.addmm(self.c, h, self.F).sub_(self.targets[start:stop])
            flat = error.view(-1)
            squares = float(torch.dot(flat, flat))
            error.mul_(scale)
            torch.mm(error, back, out=dH[start:stop])
            return squares, h.T @ error, error.sum(dim=0)

        parts = map_blocks(work, blocks_of(H))
        loss = sum(part[0] for part in parts) / len(H)
        return loss, dH, [sum_in_order([p[1] for p in parts]), sum_in_order([p[2] for p in parts])]
