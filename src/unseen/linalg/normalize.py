"""Normalisations of a symmetric adjacency A and of rows; every result is a new array."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Dense = npt.NDArray[np.floating[Any]]
Rows = TypeVar("Rows", sp.csr_array, Dense)


def row_normalized(adjacency: sp.csr_array) -> sp.csr_array:
    """Return Abar: rows sum to 1, rows of nodes without edges are zero.

    Examples
    --------
    >>> row_normalized(sp.csr_array([[0.0, 3.0, 1.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]])).toarray()[0].tolist()
    [0.0, 0.75, 0.25]
    """
    degree = np.asarray(adjacency.sum(axis=1))
    return sp.csr_array(sp.diags_array(_inverse(degree), format="csr") @ adjacency)


def gcn_normalized(adjacency: sp.csr_array) -> sp.csr_array:
    """Return Ahat = D^-1/2 (A with self-loops) D^-1/2.

    A node that has a self-loop keeps its weight, every other gets one of weight 1 (PyTorch
    Geometric's rule); D is the degree of that matrix.

    Examples
    --------
    >>> gcn_normalized(sp.csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray().round(6).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    missing = adjacency.diagonal() == 0
    looped = adjacency + sp.diags_array(missing.astype(adjacency.dtype), format="csr")
    scale = sp.diags_array(np.sqrt(_inverse(np.asarray(looped.sum(axis=1)))), format="csr")
    return sp.csr_array(scale @ looped @ scale)


def l2_rows(matrix: Dense) -> Dense:
    """Return `matrix` with rows of length 1; zero rows stay zero.

    Examples
    --------
    >>> l2_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Dense = matrix * _inverse(norms).astype(matrix.dtype)
    return scaled


def _inverse(values: Dense) -> Dense:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values != 0)
