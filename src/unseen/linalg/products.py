"""The product of a sparse matrix with a block of vectors, behind one function.

Row i of A V is the sum of the rows j of V with the weights A_ij: a weighted bag of rows, for which torch has a
vectorised, prefetching kernel (``embedding_bag``). Called for some thousand rows at a time by one thread each, and
written to memory that is there already, it was the fastest of what was measured
(``paper/docs/notes/performance.md``): scipy alone and on threads, torch's CSR product, and a loop compiled by numba.
It exists in float32; in float64 the blocks are multiplied by scipy.

Every row is summed by one thread in the order of its entries, so the number of threads changes no bit.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.comm.halo import HaloMatrix
from unseen.linalg.blocks import Cut, map_blocks

Dense = npt.NDArray[np.floating[Any]]

_BLOCK_WORK = 16_384
"""Entries and rows of a block, together: enough to be worth a call, few enough to stay in the cache."""
_LEAST_COLUMNS = 32
"""Columns of the vectors that processes send each other at a time, at least."""


def spmm(
    matrix: sp.csr_array | HaloMatrix, vectors: Dense, *, out: Dense | None = None, add: bool = False
) -> Dense:
    """Return ``matrix @ vectors``, in float32 if `vectors` are float32, else in float64.

    Parameters
    ----------
    matrix : scipy CSR array, shape (n, m), or HaloMatrix
        Give it in the precision of `vectors`: otherwise its entries are converted at each call. A matrix that is
        spread over processes is multiplied by all of them at once, each giving its own rows of `vectors`.
    vectors : ndarray, shape (m, d)
        Dense block of vectors.
    out : ndarray, shape (n, d), optional
        Where to write the product; not `vectors` itself. Memory that is there already saves a third of the time.
    add : bool
        Add the product to `out` instead.

    Examples
    --------
    >>> A = sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]))
    >>> spmm(A, np.array([[1.0, 1.0], [3.0, 4.0]])).tolist()
    [[6.0, 8.0], [1.0, 1.0], [0.0, 0.0]]
    """
    if isinstance(matrix, HaloMatrix):
        return _spread_rows(matrix, vectors, out, add)
    shape = (matrix.shape[0], vectors.shape[1])
    if matrix.shape[1] != vectors.shape[0]:
        msg = f"cannot multiply a sparse matrix of shape {matrix.shape} with vectors of shape {vectors.shape}"
        raise ValueError(msg)
    precision = np.float32 if vectors.dtype == np.float32 else np.float64
    vectors = np.ascontiguousarray(vectors, dtype=precision)
    if out is None:
        out, add = np.empty(shape, dtype=precision), False
    elif out.shape != shape or out.dtype != precision:
        msg = (
            f"`out` must have shape {shape} and dtype {np.dtype(precision)}, got {out.shape} and {out.dtype}"
        )
        raise ValueError(msg)
    if matrix.nnz == 0 or shape[1] == 0:
        if not add:
            out[:] = 0
        return out
    multiply = _bags if precision == np.float32 else _scipy_rows
    multiply(matrix, vectors, out, add)
    return out


def _spread_rows(matrix: HaloMatrix, vectors: Dense, out: Dense | None, add: bool) -> Dense:
    """Multiply own rows, some columns at a time, so that the rows of others do not fill the memory."""
    own, columns = vectors.shape
    if out is None:
        out, add = np.empty((own, columns), dtype=vectors.dtype), False
    width = -(-columns // max(1, min(matrix.halo.turns, columns // _LEAST_COLUMNS)))
    for start in range(0, columns, width):
        some = slice(start, start + width)
        spmm(matrix.local, matrix.halo.extended(vectors[:, some]), out=out[:, some], add=add)
    return out


def _bags(matrix: sp.csr_array, vectors: Dense, out: Dense, add: bool) -> None:
    import torch

    indices, indptr = matrix.indices, matrix.indptr
    if indices.dtype != indptr.dtype:  # the kernel wants one type for both
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    columns = torch.from_numpy(_writable(indices))
    weights = torch.from_numpy(_writable(matrix.data.astype(np.float32, copy=False)))
    table, result = torch.from_numpy(_writable(vectors)), torch.from_numpy(out)

    def multiply(start: int, stop: int) -> None:
        first, last = int(indptr[start]), int(indptr[stop])
        rows = torch.nn.functional.embedding_bag(
            columns[first:last],
            table,
            torch.from_numpy(indptr[start : stop + 1] - first),
            mode="sum",
            per_sample_weights=weights[first:last],
            include_last_offset=True,
        )
        if add:
            result[start:stop] += rows
        else:
            result[start:stop] = rows

    map_blocks(multiply, _cuts(indptr))


def _scipy_rows(matrix: sp.csr_array, vectors: Dense, out: Dense, add: bool) -> None:
    indptr = matrix.indptr

    def multiply(start: int, stop: int) -> None:
        first, last = indptr[start], indptr[stop]
        parts = (matrix.data[first:last], matrix.indices[first:last], indptr[start : stop + 1] - first)
        rows = sp.csr_array(parts, shape=(stop - start, matrix.shape[1])) @ vectors
        if add:
            out[start:stop] += rows
        else:
            out[start:stop] = rows

    map_blocks(multiply, _cuts(indptr))


def _cuts(indptr: npt.NDArray[Any]) -> list[Cut]:
    # blocks of equal work, so that hubs do not leave threads waiting
    n = len(indptr) - 1
    work = indptr + np.arange(n + 1, dtype=np.int64)
    ends = np.searchsorted(work, np.arange(_BLOCK_WORK, int(work[-1]), _BLOCK_WORK))
    edges = np.unique(np.concatenate(([0], ends, [n]))).tolist()
    return list(pairwise(edges))


def _writable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    # torch warns about sharing memory that is locked against writing, though nothing is written here
    return array if array.flags.writeable else array.copy()
