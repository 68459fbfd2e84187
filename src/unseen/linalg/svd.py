"""Truncated singular value decomposition of sparse or dense features, seeded and sign-fixed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.randomness import child_seed


def truncated_svd(
    matrix: sp.csr_array | npt.NDArray[Any], k: int, rng: np.random.Generator, *, n_iter: int = 7
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return (U S, V') of the `k` largest singular values, in float32.

    Randomised subspace iteration (scikit-learn's), which never densifies `matrix`; signs are fixed,
    so that the same seed gives the same bits. Small matrices are decomposed in full, which is exact.

    Examples
    --------
    >>> scores, axes = truncated_svd(np.diag([3.0, 2.0, 1.0]), 2, np.random.default_rng(0))
    >>> np.abs(scores @ axes).round(5).tolist()
    [[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    """
    from sklearn.utils.extmath import randomized_svd, svd_flip

    seed = child_seed(rng)
    if k >= min(matrix.shape) or max(matrix.shape) <= 300:
        dense = np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
        u, s, vt = np.linalg.svd(dense, full_matrices=False)
        u, vt = svd_flip(u[:, :k], vt[:k])
        s = s[:k]
    else:
        if sp.issparse(matrix):
            matrix = sp.csr_matrix(matrix)  # scikit-learn's routine wants the matrix flavour for `@` with ndarray
        u, s, vt = randomized_svd(
            matrix.astype(np.float32), k, n_iter=n_iter, power_iteration_normalizer="LU", random_state=seed
        )
    return (u * s).astype(np.float32), vt.astype(np.float32)
