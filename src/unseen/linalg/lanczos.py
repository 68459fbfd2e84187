"""Leading eigenvectors of a large symmetric matrix from its products and sums alone, on one process or several.

Block Lanczos iteration with thick restarts (Wu and Simon, SIAM J. Matrix Anal. Appl. 22, 2000): a basis of the Krylov
space grows by a few vectors at a time. When it is full, the vectors along its leading directions begin the next one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unseen.engine.run import Run
from unseen.ids import Array, Keys, Singles
from unseen.linalg.svd import column_signs, eigh, gram, orthonormal, times
from unseen.randomness import keyed_uniform

BLOCK = 4
"""Vectors by which the basis grows: one pass over the basis serves all of them."""
RESTARTS = 30
TOL = 1e-2
"""Residuals, in units of the eigenvalue, below which a vector is taken as found."""
SMALL = 512
"""Matrices of up to so many rows are decomposed in full."""


def leading_eigenvectors(
    multiply: Callable[[Singles], Array], k: int, keys: Keys, run: Run, *, tol: float = TOL
) -> Singles:
    """Return the eigenvectors of the `k` largest eigenvalues of a symmetric matrix, largest first.

    It begins from vectors that are keyed by node, so that the order of the nodes does not matter. Each vector has its
    largest entry positive.

    Parameters
    ----------
    multiply : callable
        Returns the product of the matrix with vectors, shape (n, any); all processes call it at once.
    k : int
        At most n.
    keys : ndarray of uint64, shape (n,)
        Keys of the nodes of this process.
    run : Run
        Does the work.
    tol : float
        Largest residual, in units of the eigenvalue.

    Examples
    --------
    >>> matrix, keys = np.diag([1.0, 3.0, 2.0]), np.arange(3, dtype=np.uint64)
    >>> leading_eigenvectors(lambda V: matrix @ V, 1, keys, Run()).tolist()
    [[0.0], [1.0], [0.0]]
    """
    sizes = run.gather(np.array([len(keys)]))
    n, first = int(sizes.sum()), int(sizes[: run.comm.rank].sum())
    if n <= max(SMALL, 4 * k):
        own = slice(first, first + len(keys))
        axes = eigh(run.gather(np.asarray(multiply(np.eye(n, dtype=np.float32)[own]), dtype=np.float64)))[1]
        leading = axes[own, ::-1][:, :k].astype(np.float32)
        return leading * column_signs(leading, run)
    kept = _round_up(k + k // 2)
    width = kept + max(8 * BLOCK, _round_up(k // 2))
    basis = np.empty((len(keys), width), dtype=np.float32)
    block = orthonormal((keyed_uniform(keys, BLOCK, stream=11) - 0.5).astype(np.float32), run)
    inside, done = np.zeros((width, width)), 0
    for _ in range(RESTARTS):
        while done < width:
            basis[:, done : done + BLOCK] = block
            done += BLOCK
            block = np.asarray(multiply(block), dtype=np.float32)
            products = gram(basis[:, :done], run, block)
            block -= times(basis[:, :done], products, run)
            inside[:done, done - BLOCK : done], inside[done - BLOCK : done, :done] = products, products.T
            outside = block
            block = orthonormal(outside, run)
        values, axes = eigh(inside)
        values, axes = values[::-1], axes[:, ::-1]
        residuals = np.linalg.norm(gram(block, run, outside) @ axes[-BLOCK:, :k], axis=0)
        if (residuals <= tol * np.abs(values[:k])).all():
            break
        times(basis, axes[:, :kept], run, out=basis[:, :kept])
        inside[:], done = 0, kept
        np.fill_diagonal(inside[:kept, :kept], values[:kept])
    found = times(basis, axes[:, :k], run, out=basis[:, :k])
    return found * column_signs(found, run)


def _round_up(number: int) -> int:
    return -(-number // BLOCK) * BLOCK
