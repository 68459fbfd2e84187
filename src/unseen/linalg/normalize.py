"""Normalisations of a symmetric adjacency A in one piece, and of rows; every result is a new array."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.engine.sparse import Matrix, inverse

Dense = npt.NDArray[np.floating[Any]]
Rows = TypeVar("Rows", sp.csr_array, Dense)


def row_normalized(adjacency: sp.csr_array) -> sp.csr_array:
    """Return Abar: rows sum to 1, rows of nodes without edges are zero.

    Examples
    --------
    >>> row_normalized(sp.csr_array([[0.0, 3.0, 1.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]])).toarray()[0].tolist()
    [0.0, 0.75, 0.25]
    """
    return Matrix(adjacency, Run()).row_normalized().local


def gcn_normalized(adjacency: sp.csr_array) -> sp.csr_array:
    """Return Ahat, the normalised adjacency with self-loops; see :meth:`unseen.engine.sparse.Matrix.gcn_normalized`.

    Examples
    --------
    >>> gcn_normalized(sp.csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray().round(6).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    return Matrix(adjacency, Run()).gcn_normalized().local


def l2_rows(matrix: Rows) -> Rows:
    """Return `matrix`, dense or sparse, with rows of length 1; zero rows stay zero.

    Examples
    --------
    >>> l2_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if isinstance(matrix, np.ndarray):
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        scaled: Dense = matrix * inverse(norms).astype(matrix.dtype)
        return scaled
    squares = sp.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
    return _scaled(matrix, np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64)))


def l1_rows(matrix: Rows) -> Rows:
    """Return `matrix` with the absolute values of every row summing to 1; zero rows stay zero.

    Examples
    --------
    >>> l1_rows(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    sums = np.asarray(abs(matrix).sum(axis=1), dtype=np.float64).ravel()
    if isinstance(matrix, np.ndarray):
        scaled: Dense = matrix * inverse(sums)[:, None]
        return scaled
    return _scaled(matrix, sums)


def _scaled(matrix: sp.csr_array, sizes: npt.NDArray[np.float64]) -> sp.csr_array:
    data = matrix.data * np.repeat(inverse(sizes), np.diff(matrix.indptr))
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
