"""The two losses of RECT and their gradients, neither of which ever forms an n x n matrix.

Structure: ||M - UU'||^2 / n = (||M||^2 - 2 tr(U'MU) + ||U'U||^2) / n, its gradient 4 (U(U'U) - sym(M)U) / n with
sym(M) = (M + M')/2. Semantics: the squared error between a linear map of the hidden layer and the class-semantic
descriptions, over the labelled nodes, divided by their number. (A mean over n^2 would be so small that Adam's
epsilon stops the training.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix
from unseen.ids import Array
from unseen.linalg.walk import WalkMatrix
from unseen.methods.neural import torch
from unseen.methods.neural.tensors import SparseProduct, cut_rows, differentiable, sum_blocks, to_tensor

CANCELS = 1e-3
"""Below this part of the terms that it is the sum of, ||E||^2 is lost to rounding, and is computed from E itself."""


class StructureLoss:
    """Mean over relations of ||M - UU'||^2 / n, M = (Abar + Abar^2) / 2, in O(nnz d + n d^2).

    Parameters
    ----------
    adjacencies : sequence of Matrix
        One for each relation; of a graph with one type of nodes its adjacency alone.
    device : torch.device
        Where to compute.

    Attributes
    ----------
    constant : float
        ||M||^2 where it is cheap to compute, else 0: then the loss is that much too small.
    has_constant : bool
        Which of the two.
    weights : sequence of Tensor
        What is learned besides U: nothing.
    """

    weights: Sequence[torch.Tensor] = ()

    def __init__(self, adjacencies: Sequence[Matrix], device: torch.device) -> None:
        self.run, self.n = adjacencies[0].run, adjacencies[0].shape[1]
        # As WalkMatrix does, but on the device and in memory that is kept: at a million nodes, getting
        # memory for every product costs as much as the product.
        self._products = [
            SparseProduct(normalized, device)
            for A in adjacencies
            for normalized in (A.row_normalized(), A.column_normalized())
        ]
        constants = [WalkMatrix(A).frobenius_squared() for A in adjacencies]
        self.has_constant = None not in constants
        self.constant = sum(each or 0.0 for each in constants) / len(constants)
        self._sum = self._once = torch.empty(0, device=device)

    def __call__(self, U: torch.Tensor) -> torch.Tensor:
        """Return the loss."""
        return differentiable("KnownGradient", self.compute, U)

    def compute(self, U: torch.Tensor) -> tuple[float, list[torch.Tensor]]:
        """Return the loss and its gradient by U, which the next call overwrites."""
        blocks, n = cut_rows(U, self.run), self.n
        gram = sum_blocks(self.run.map_blocks(lambda start, stop: squared(U[start:stop]), blocks), self.run)
        if self._sum.shape != U.shape:
            self._sum, self._once = torch.empty_like(U), torch.empty_like(U)
        once, walked, share = self._once, self._sum, 0.5 / len(self._products)
        for number, product in enumerate(
            self._products
        ):  # 4 sym(M) U = Abar (U + Abar U) + Abar' (U + Abar' U)
            product.multiply(U, out=once)
            self.run.map_blocks(lambda start, stop: once[start:stop].add_(U[start:stop]), blocks)
            product.multiply(once, out=walked, add=number > 0)

        def work(start: int, stop: int) -> float:
            u, w = U[start:stop], walked[start:stop].mul_(share)
            inner = float(torch.dot(u.reshape(-1), w.reshape(-1)))
            w.neg_().addmm_(u, gram).mul_(4.0 / n)
            return inner

        trace = float(self.run.total(self.run.map_blocks(work, blocks)))
        quartic = float((gram.cpu().double() ** 2).sum())
        return (self.constant - 2 * trace + quartic) / n, [walked]


class SemanticLoss:
    """Mean over labelled nodes of ||H F + c - R C||^2, with F and c to be learned.

    Row i of R C is the description that node i should get: C has one row per class, R says which ones are the node's.
    With H, R and a column of ones side by side, and F, -C and c one below the other, the errors E are one product of
    a tall matrix with a small one, T Y. All that is asked of them is ||E||^2 = <Y, (T'T) Y>, the gradients by F and c,
    which are rows of (T'T) Y, and that by H, E F' = T (Y F'): fewer products than by way of E.

    Parameters
    ----------
    R : scipy CSR array, shape (labelled nodes, classes)
        What part of a node's description comes from which class.
    C : ndarray, shape (classes, k)
        Descriptions of the classes.
    F : ndarray, shape (columns of H, k)
        Starting weights.
    device : torch.device
        Where to compute.
    run : Run
        Does the work.

    Attributes
    ----------
    weights : list of Tensor
        What is learned: F and c.
    """

    def __init__(self, R: sp.csr_array, C: Array, F: Array, device: torch.device, run: Run) -> None:
        n = R.shape[0]
        self.run = run
        if R.shape[1] > C.shape[1]:  # more classes than dimensions: the descriptions of the nodes are shorter
            parts, C = R @ C, np.eye(C.shape[1])
        else:
            parts = R.toarray()
        c = torch.zeros(F.shape[1], device=device)
        self.weights = [to_tensor(F, device).requires_grad_(), c.requires_grad_()]
        self._T = to_tensor(np.column_stack([np.zeros((n, len(F))), parts, np.ones(n)]), device)
        self._dH = torch.empty(0)
        self._minus_C = to_tensor(-C, device)
        self._scale = 2.0 / run.count(n)

    def __call__(self, H: torch.Tensor) -> torch.Tensor:
        """Return the loss; H has one row per labelled node."""
        return differentiable("KnownGradient", self.compute, H, *self.weights)

    def compute(self, H: torch.Tensor, F: torch.Tensor, c: torch.Tensor) -> tuple[float, list[torch.Tensor]]:
        """Return the loss and its gradients by H, F and c; the next call overwrites that by H."""
        Y = torch.cat([F, self._minus_C, c[None]])
        YF = torch.mm(Y, F.T).mul_(self._scale)
        if self._dH.shape != H.shape:
            self._dH = torch.empty_like(H)

        def work(start: int, stop: int) -> torch.Tensor:
            t = self._T[start:stop]
            t[:, : H.shape[1]] = H[start:stop]
            torch.mm(t, YF, out=self._dH[start:stop])
            return squared(t)

        blocks = cut_rows(H, self.run)
        gram = sum_blocks(self.run.map_blocks(work, blocks), self.run, precise=False)
        by_Y = gram @ Y
        squares = float((Y * by_Y).cpu().double().sum())
        if squares < CANCELS * float(torch.dot(gram.diagonal(), (Y * Y).sum(dim=1))):
            errors = self.run.map_blocks(
                lambda a, b: float((self._T[a:b] @ Y).cpu().double().square().sum()), blocks
            )
            squares = float(self.run.total(errors))
        by_Y.mul_(self._scale)
        return squares * self._scale / 2, [self._dH, by_Y[: len(F)], by_Y[-1]]


def squared(h: torch.Tensor) -> torch.Tensor:
    """Return h'h; the lower left quarter is the upper right one, and is not computed."""
    width = h.shape[1]
    half = width // 2
    result = torch.empty(width, width, dtype=h.dtype, device=h.device)
    torch.mm(h[:, :half].T, h, out=result[:half])
    torch.mm(h[:, half:].T, h[:, half:], out=result[half:, half:])
    result[half:, :half] = result[:half, half:].T
    return result
