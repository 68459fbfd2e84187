"""Truncated singular value decomposition of a square operator that is known by its products only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.comm.group import SOLO, Comm
from unseen.linalg.dense import eigh, gram, times

Dense = npt.NDArray[Any]
Product = Callable[[Dense], Dense]

SMALL = 512
"""Up to this many rows the operator is written out and decomposed in full, which is exact."""


def operator_svd(
    matmat: Product,
    rmatmat: Product,
    start: Dense,
    k: int,
    *,
    n_iter: int = 12,
    tol: float = 1e-3,
    comm: Comm = SOLO,
) -> tuple[Dense, npt.NDArray[np.float64], Dense]:
    """Return U (n, k), the k largest singular values, and V (n, k), of the operator with these products.

    Subspace iteration from the columns of `start`, of which there should be some more than `k`. Each column of U
    has its largest entry positive, so that the same start gives the same signs.

    Parameters
    ----------
    matmat, rmatmat : function from (n, b) to (n, b)
        Products with the operator and with its transpose.
    start : ndarray, shape (n, at least k)
        Random numbers; its floating type is that of the result.
    k : int
        At most n.
    n_iter : int
        Rounds of iteration at most: more of them sharpen the smallest of the k values.
    tol : float
        Stop when a round adds less than this share to the sum of the k squared singular values.
    comm : Comm
        The processes over which the rows of everything are spread.

    Examples
    --------
    >>> matrix = np.diag([3.0, 2.0, 1.0])
    >>> U, s, V = operator_svd(lambda X: matrix @ X, lambda X: matrix.T @ X, np.ones((3, 3)), 2)
    >>> s.round(6).tolist()
    [3.0, 2.0]
    """
    sizes = comm.gather(np.array([len(start)]))
    n = int(sizes.sum())
    if n <= SMALL:
        own = slice(int(sizes[: comm.rank].sum()), int(sizes[: comm.rank + 1].sum()))
        whole = comm.gather(np.asarray(matmat(np.eye(n)[own]), dtype=np.float64))
        left, values, right = np.linalg.svd(whole)
        left, values, right = _signed(
            left[:, :k].astype(start.dtype), values[:k], right[:k].T.astype(start.dtype)
        )
        return left[own], values, right[own]
    basis, _ = _orthonormal(matmat(start), comm)
    caught = 0.0
    for _ in range(n_iter):
        basis, squares = _orthonormal(matmat(_orthonormal(rmatmat(basis), comm)[0]), comm)
        before, caught = caught, float(squares[-k:].sum())
        if caught - before <= tol * caught:
            break
    back = rmatmat(basis)  # V S W' of the projected operator basis' M = W S V'
    squares, W = eigh(gram(back, comm))
    order = np.argsort(squares)[::-1][:k]
    values = np.sqrt(np.maximum(squares[order], 0.0))
    W = W[:, order]
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 1e-7 * max(values[0], 1e-300))
    return _signed(times(basis, W), values, times(back, W * inverse), comm)


def _orthonormal(Y: Dense, comm: Comm) -> tuple[Dense, npt.NDArray[np.float64]]:
    """Make Y an orthonormal basis of its columns, directions that vanish zero; return it, and their squares."""
    values, axes = eigh(gram(Y, comm))
    largest = max(float(values[-1]), 0.0)
    inverse = np.zeros_like(values)
    np.divide(1.0, np.sqrt(np.maximum(values, 0.0)), out=inverse, where=values > 1e-10 * largest)
    return times(Y, axes * inverse, out=Y), values


def _signed(
    U: Dense, values: npt.NDArray[np.float64], V: Dense, comm: Comm = SOLO
) -> tuple[Dense, npt.NDArray[np.float64], Dense]:
    largest = largest_entries(U, comm)
    sign = np.where(largest < 0, -1.0, 1.0).astype(U.dtype)
    return U * sign, values, V * sign


def largest_entries(U: Dense, comm: Comm = SOLO) -> Dense:
    """Return the entry of largest magnitude of every column.

    Examples
    --------
    >>> largest_entries(np.array([[1.0, -2.0], [-3.0, 0.0]])).tolist()
    [-3.0, -2.0]
    """
    found = np.take_along_axis(U, np.argmax(np.abs(U), axis=0)[None, :], axis=0)
    everywhere = comm.gather(found)
    return np.asarray(
        np.take_along_axis(everywhere, np.argmax(np.abs(everywhere), axis=0)[None, :], axis=0)[0]
    )
