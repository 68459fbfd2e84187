"""RSDNE written down as in the paper, with n x n matrices: the oracle of the tests, the yardstick of the benchmark.

Nothing here is meant to be fast. M, W and both Laplacians are dense, and the cost is evaluated from its definition
in every round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Dense = npt.NDArray[Any]


@dataclass
class DenseRSDNE:
    """J of RSDNE and its parts from their definitions.

    Parameters
    ----------
    adjacency : ndarray, shape (n, n)
        Symmetric.
    indicator : boolean ndarray, shape (n, c)
        Labels; rows without any are unlabelled nodes. Nodes are of the same class if they share one.
    alpha, lam, k : float, float, int
        As in the paper.

    Examples
    --------
    >>> path = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> dense = DenseRSDNE(path, np.eye(3, dtype=bool), alpha=1.0, lam=0.1, k=5)
    >>> dense.W.tolist()
    [[0.25, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.25]]
    """

    adjacency: Dense
    indicator: Dense
    alpha: float = 1.0
    lam: float = 0.1
    k: int = 5

    def __post_init__(self) -> None:
        degree = self.adjacency.sum(axis=1, keepdims=True)
        abar = np.divide(self.adjacency, degree, out=np.zeros_like(self.adjacency), where=degree > 0)
        self.M = (abar + abar @ abar) / 2
        labels = self.indicator.astype(np.int64)
        labelled = labels.sum(axis=1) > 0
        self.same: Dense = labels @ labels.T > 0
        different = labelled[:, None] & labelled[None, :] & ~self.same
        self.W = np.where(different, 0.0, self.M)
        self.L_w = laplacian(self.W)

    def neighbours(self, U: Dense) -> Dense:
        """Return S: the k nearest nodes of the same class."""
        S: Dense = np.zeros_like(self.M)
        for i in range(len(U)):
            others = np.flatnonzero(self.same[i])
            others = others[others != i]
            distance = ((U[others] - U[i]) ** 2).sum(axis=1)
            S[i, others[np.argsort(distance, kind="stable")[: self.k]]] = 1
        return S

    def cost(self, U: Dense, H: Dense, S: Dense) -> float:
        """Return J."""
        fit = ((self.M - U @ H) ** 2).sum() + self.lam * ((U**2).sum() + (H**2).sum())
        return float(fit + self.alpha * (np.trace(U.T @ laplacian(S) @ U) + np.trace(U.T @ self.L_w @ U)))

    def u_gradient(self, U: Dense, H: Dense, S: Dense) -> Dense:
        """Return dJ/dU."""
        smoothed = self.alpha * (laplacian(S) + self.L_w) @ U
        return np.asarray(2 * (-self.M @ H.T + U @ H @ H.T + smoothed + self.lam * U))

    def h_gradient(self, U: Dense, H: Dense) -> Dense:
        """Return dJ/dH."""
        return np.asarray(2 * (-U.T @ self.M + U.T @ U @ H + self.lam * H))

    def bold_rounds(self, U: Dense, H: Dense, rate: float) -> Iterator[tuple[Dense, Dense, float]]:
        """Yield U, H and J of the start and after every round of Algorithm 1 with bold-driver steps."""
        S = self.neighbours(U)
        cost = self.cost(U, H, S)
        yield U, H, cost
        while True:
            new_U = U - rate * self.u_gradient(U, H, S)
            new_H = H - rate * self.h_gradient(new_U, H)
            new_S = self.neighbours(new_U)
            new_cost = self.cost(new_U, new_H, new_S)
            if new_cost <= cost:
                U, H, S, cost, rate = new_U, new_H, new_S, new_cost, rate * 1.05
            else:
                rate /= 2
            yield U, H, cost


def laplacian(weights: Dense) -> Dense:
    """Return D - (W + W') / 2, D the row sums of (W + W') / 2.

    Examples
    --------
    >>> laplacian(np.array([[0.0, 2.0], [0.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    both = (weights + weights.T) / 2
    return np.asarray(np.diag(both.sum(axis=1)) - both)
