"""The product of a sparse matrix with a block of vectors, behind one function.

Four ways were measured (see ``docs/performance.md``): scipy on one thread, scipy over row blocks on
several threads, torch's CSR product, and torch's weighted ``embedding_bag``, which is the same sum
(row i of A V is the sum of the rows j of V with weights A_ij) with a vectorised, prefetching, threaded
kernel. In float32 the last one is fastest at nearly every size and needs nothing to be compiled; in
float64 it has no such kernel, and row blocks of scipy on threads win.

Every row is summed by one thread in the order of its entries, so the number of threads changes no bit.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Dense = npt.NDArray[np.floating[Any]]

_WORTH_A_THREAD = 2_000_000
"""Multiplications below which starting a thread costs more than it saves."""


def spmm(matrix: sp.csr_array, vectors: Dense) -> Dense:
    """Return ``matrix @ vectors`` as a new array, in float32 if `vectors` are float32, else in float64.

    Parameters
    ----------
    matrix : scipy CSR array, shape (n, m)
        Give it in the precision of `vectors`: otherwise its entries are converted at each call.
    vectors : ndarray, shape (m, d)
        Dense block of vectors.

    Examples
    --------
    >>> A = sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]))
    >>> spmm(A, np.array([[1.0, 1.0], [3.0, 4.0]])).tolist()
    [[6.0, 8.0], [1.0, 1.0], [0.0, 0.0]]
    """
    if matrix.shape[1] != vectors.shape[0]:
        msg = f"cannot multiply a sparse matrix of shape {matrix.shape} with vectors of shape {vectors.shape}"
        raise ValueError(msg)
    if matrix.nnz == 0 or vectors.shape[1] == 0:
        return np.zeros((matrix.shape[0], vectors.shape[1]), dtype=_precision(vectors))
    if vectors.dtype == np.float32:
        return _bags(matrix, np.ascontiguousarray(vectors))
    return _row_blocks(matrix, np.ascontiguousarray(vectors, dtype=np.float64))


def _precision(vectors: Dense) -> type[np.floating[Any]]:
    return np.float32 if vectors.dtype == np.float32 else np.float64


def _bags(matrix: sp.csr_array, vectors: npt.NDArray[np.float32]) -> Dense:
    import torch

    data = matrix.data.astype(np.float32, copy=False)
    indices, indptr = matrix.indices, matrix.indptr
    if indices.dtype != indptr.dtype:  # the kernel wants one type for both
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    summed = torch.nn.functional.embedding_bag(
        torch.from_numpy(_writable(indices)),
        torch.from_numpy(_writable(vectors)),
        torch.from_numpy(_writable(indptr)),
        mode="sum",
        per_sample_weights=torch.from_numpy(_writable(data)),
        include_last_offset=True,
    )
    result: Dense = summed.numpy()
    return result


def _writable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    # torch warns about sharing memory that is locked against writing, though nothing is written here
    return array if array.flags.writeable else array.copy()


def _row_blocks(matrix: sp.csr_array, vectors: npt.NDArray[np.float64]) -> Dense:
    work = matrix.nnz * vectors.shape[1]
    threads = min(thread_count(), 1 + work // _WORTH_A_THREAD)
    if threads == 1:
        return np.asarray(matrix @ vectors, dtype=np.float64)
    # four blocks a thread of equally many entries each, so that hubs do not leave threads waiting
    wanted = np.linspace(0, matrix.nnz, 4 * threads + 1)[1:-1]
    cuts = np.unique(np.concatenate(([0], np.searchsorted(matrix.indptr, wanted), [matrix.shape[0]])))
    result = np.empty((matrix.shape[0], vectors.shape[1]), dtype=np.float64)

    def multiply(start: int, stop: int) -> None:
        first, last = matrix.indptr[start], matrix.indptr[stop]
        rows = matrix.indptr[start : stop + 1] - first
        block = sp.csr_array(
            (matrix.data[first:last], matrix.indices[first:last], rows), shape=(stop - start, matrix.shape[1])
        )
        result[start:stop] = block @ vectors

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(multiply, cuts[:-1].tolist(), cuts[1:].tolist()))
    return result


def thread_count() -> int:
    """Return how many threads to use: ``OMP_NUM_THREADS`` where it is set, else the processors we may use.

    Examples
    --------
    >>> thread_count() >= 1
    True
    """
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
