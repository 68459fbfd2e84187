"""Normalisations of a symmetric adjacency A and of rows; every result is a new array."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.sparse.linalg as sparse_linalg

from unseen.comm.halo import HaloMatrix

Dense = npt.NDArray[np.floating[Any]]
Rows = TypeVar("Rows", sp.csr_array, Dense)
Matrix = TypeVar("Matrix", sp.csr_array, HaloMatrix)


def row_normalized(adjacency: Matrix) -> Matrix:
    """Return Abar: rows sum to 1, rows of nodes without edges are zero.

    Examples
    --------
    >>> row_normalized(sp.csr_array([[0.0, 3.0, 1.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]])).toarray()[0].tolist()
    [0.0, 0.75, 0.25]
    """
    if isinstance(adjacency, HaloMatrix):
        rows = np.repeat(_inverse(adjacency.row_sums()), np.diff(adjacency.local.indptr))
        return adjacency.with_values(adjacency.local.data * rows)
    degree = np.asarray(adjacency.sum(axis=1))
    return sp.csr_array(sp.diags_array(_inverse(degree), format="csr") @ adjacency)


def column_normalized(adjacency: Matrix) -> Matrix:
    """Return the transposed Abar of a symmetric adjacency: columns sum to 1.

    Examples
    --------
    >>> column_normalized(sp.csr_array([[0.0, 3.0], [3.0, 1.0]])).toarray().tolist()
    [[0.0, 0.75], [1.0, 0.25]]
    """
    if isinstance(adjacency, HaloMatrix):
        inverse = adjacency.halo.extended(_inverse(adjacency.row_sums()))
        return adjacency.with_values(adjacency.local.data * inverse[adjacency.local.indices])
    inverse = _inverse(np.asarray(adjacency.sum(axis=1), dtype=np.float64))
    scaled = adjacency.data * inverse[adjacency.indices]
    return sp.csr_array((scaled, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def gcn_normalized(adjacency: Matrix) -> Matrix:
    """Return Ahat = D^-1/2 (A with self-loops) D^-1/2.

    A node that has a self-loop keeps its weight, every other gets one of weight 1 (PyTorch
    Geometric's rule); D is the degree of that matrix.

    Examples
    --------
    >>> gcn_normalized(sp.csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray().round(6).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    missing = adjacency.diagonal() == 0
    if isinstance(adjacency, HaloMatrix):
        return _spread_gcn(adjacency, missing)
    looped = adjacency + sp.diags_array(missing.astype(adjacency.dtype), format="csr")
    scale = sp.diags_array(np.sqrt(_inverse(np.asarray(looped.sum(axis=1)))), format="csr")
    return sp.csr_array(scale @ looped @ scale)


def l2_rows(matrix: Rows) -> Rows:
    """Return `matrix`, dense or sparse, with rows of length 1; zero rows stay zero.

    Examples
    --------
    >>> l2_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if not isinstance(matrix, np.ndarray):
        lengths = sparse_linalg.norm(matrix, axis=1)
        return sp.csr_array(sp.diags_array(_inverse(lengths), format="csr") @ matrix)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Dense = matrix * _inverse(norms).astype(matrix.dtype)
    return scaled


def _spread_gcn(adjacency: HaloMatrix, missing: npt.NDArray[np.bool_]) -> HaloMatrix:
    halo, local = adjacency.halo, adjacency.local
    loops = np.flatnonzero(missing)
    rows = np.concatenate([np.repeat(np.arange(local.shape[0]), np.diff(local.indptr)), loops])
    columns = np.concatenate([adjacency.columns(), loops + halo.layout.first])
    order = np.lexsort((columns, rows))
    indices = np.concatenate([local.indices, loops])[order].astype(local.indices.dtype)
    data = np.concatenate([local.data, np.ones(len(loops))])[order]
    indptr = np.concatenate([[0], np.cumsum(np.diff(local.indptr) + missing)]).astype(local.indptr.dtype)
    looped = HaloMatrix(sp.csr_array((data, indices, indptr), shape=local.shape), halo)
    scale = halo.extended(np.sqrt(_inverse(looped.row_sums())))
    return looped.with_values(data * scale[rows[order]] * scale[indices])


def _inverse(values: Dense) -> Dense:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values != 0)
