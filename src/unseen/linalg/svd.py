"""Truncated singular value decomposition of sparse or dense features, seeded and sign-fixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from unseen.comm.group import SOLO, Comm
from unseen.comm.halo import HaloMatrix
from unseen.linalg.blocks import map_blocks, row_cuts
from unseen.linalg.operator_svd import largest_entries
from unseen.linalg.products import spmm

Dense = npt.NDArray[Any]
T = TypeVar("T")

SMALL = 300
"""Matrices of at most this many rows and columns are decomposed in full, which is exact."""
OVERSAMPLING = 10
LEAST = 2.0**-40
"""Entries between this and its inverse are taken as they are."""


def truncated_svd(
    matrix: sp.csr_array | HaloMatrix | Dense,
    k: int,
    rng: np.random.Generator,
    *,
    n_iter: int = 7,
    start: Dense | None = None,
    comm: Comm = SOLO,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return (U S, V') of the `k` largest singular values, in float32.

    Randomised subspace iteration (Halko, Martinsson and Tropp, 2011), which never densifies `matrix`. It starts
    from random directions of the columns, so the order of the rows does not matter, and every row of V' has its
    largest entry positive. The bases are orthonormalised through their Gram matrices, which costs products only.
    Where nearly all singular values are asked for, a sparse matrix with one short side is decomposed through the
    small matrix X'X or XX', any other one, and whatever is small, in full.

    Parameters
    ----------
    matrix : scipy CSR array or ndarray, shape (n, m), or HaloMatrix
        The features. A HaloMatrix is taken as symmetric; its columns are spread over processes as its rows are.
    k : int
        At most ``min(n, m)``.
    rng : Generator
        Gives the random directions.
    n_iter : int
        Rounds of iteration: more of them sharpen the smallest of the `k` values.
    start : ndarray, shape (m, at least k), optional
        Random directions to begin with, instead of those of `rng`; rows that stand for nodes can be keyed by them.
    comm : Comm
        The processes over which the rows are spread.

    Examples
    --------
    >>> scores, axes = truncated_svd(np.diag([3.0, 2.0, 1.0]), 2, np.random.default_rng(0))
    >>> np.abs(scores @ axes).round(5).tolist()
    [[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    """
    width = k + OVERSAMPLING
    n = int(comm.total(matrix.shape[0]))
    columns = comm if isinstance(matrix, HaloMatrix) else SOLO  # the processes over which these are spread
    if width >= min(n, matrix.shape[1]) or max(n, matrix.shape[1]) <= SMALL:
        if comm.size > 1:
            return _spread_in_full(matrix, k, comm)
        small = max(n, matrix.shape[1]) <= SMALL
        return _in_full(matrix, k) if small or not sp.issparse(matrix) else _by_short_side(matrix, k)
    if comm.size == 1 and not isinstance(matrix, HaloMatrix) and (power := _power(matrix)) != 1:
        scores, axes = truncated_svd(matrix * power, k, rng, n_iter=n_iter, start=start)
        return (scores / power).astype(np.float32), axes
    forward, backward = _products(matrix, comm)
    if start is None:
        start = rng.standard_normal((matrix.shape[1], width), dtype=np.float32)
    basis = orthonormal(forward(start[:, :width]), comm)
    for _ in range(n_iter):
        basis = orthonormal(forward(orthonormal(backward(basis), columns)), comm)
    back = backward(basis)  # V S W' of basis' X = W S V'
    squares, W = _eigh(_gram(back, columns))
    order = np.argsort(squares)[::-1][:k]
    values = np.sqrt(np.maximum(squares[order], 0.0))
    W = W[:, order]
    axes = _times(back, W * _inverse(values)).T
    # X V rather than basis W S: the same where the iteration has converged, and what new rows will be given
    return _signed(forward(np.ascontiguousarray(axes.T)), axes, columns)


def start_width(k: int) -> int:
    """Return how many random directions a start for `k` singular values needs.

    Examples
    --------
    >>> start_width(200)
    210
    """
    return k + OVERSAMPLING


def orthonormal(Y: Dense, comm: Comm = SOLO) -> Dense:
    """Return an orthonormal basis of the columns of a tall `Y`; directions that are not there become zero.

    It depends on Y'Y alone, so permuted rows give the permuted basis.

    Examples
    --------
    >>> orthonormal(np.array([[3.0], [4.0]], dtype=np.float32)).round(3).tolist()
    [[0.6000000238418579], [0.800000011920929]]
    """
    gram = _gram(Y, comm)
    inverse = _alone(lambda: _inverse_triangle(gram))
    if inverse is not None:
        return _times(Y, inverse)
    squares, W = _eigh(gram)
    lengths = np.sqrt(np.maximum(squares, 0.0))
    return _times(Y, W * _inverse(lengths))


def _inverse_triangle(gram: npt.NDArray[np.float64]) -> Dense | None:
    """Return the inverse of R of Y = QR, from Y'Y = R'R; None where Y is not, or hardly, of full rank."""
    import torch

    lower, failed = torch.linalg.cholesky_ex(torch.from_numpy(gram))
    diagonal = lower.diagonal()
    if int(failed) or not bool(diagonal.min() > 1e-3 * diagonal.max()):  # so that NaN is no full rank
        return None
    eye = torch.eye(len(gram), dtype=torch.float64)
    inverse: Dense = torch.linalg.solve_triangular(lower.T, eye, upper=True).numpy()
    return inverse


def _eigh(gram: npt.NDArray[np.float64]) -> tuple[Dense, Dense]:
    import torch

    values, vectors = _alone(lambda: torch.linalg.eigh(torch.from_numpy(gram)))
    return values.numpy(), vectors.numpy()


def _alone(function: Callable[[], T]) -> T:
    # on a worker, which has one thread: LAPACK's last bits depend on how many there are
    return map_blocks(lambda start, stop: function(), [(0, 1)])[0]  # noqa: ARG005


def _inverse(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    enough = values > 1e-5 * max(values.max(initial=0.0), 1e-30)
    return np.divide(1.0, values, out=np.zeros_like(values), where=enough)


def _products(matrix: sp.csr_array | HaloMatrix | Dense, comm: Comm) -> Any:
    if isinstance(matrix, HaloMatrix):
        spread = matrix.astype(np.float32)
        return (lambda V: spmm(spread, V)), (lambda V: spmm(spread, V))
    if isinstance(matrix, np.ndarray):
        dense = matrix.astype(np.float32)
        return (lambda V: _times(dense, V)), (lambda V: _cross(dense, V, comm).astype(np.float32))
    single = sp.csr_array(matrix).astype(np.float32)
    transposed = single.T.tocsr()
    return (lambda V: spmm(single, V)), (lambda V: comm.sum_(spmm(transposed, V)))


def _times(Y: Dense, W: Dense) -> Dense:
    import torch

    left, right = torch.from_numpy(Y), torch.from_numpy(np.ascontiguousarray(W, dtype=np.float32))
    result = torch.empty(len(Y), W.shape[1])

    def multiply(start: int, stop: int) -> None:
        torch.mm(left[start:stop], right, out=result[start:stop])

    map_blocks(multiply, row_cuts(len(Y)))
    return result.numpy()


def _gram(Y: Dense, comm: Comm = SOLO) -> npt.NDArray[np.float64]:
    return _cross(Y, Y, comm)


def _cross(Y: Dense, V: Dense, comm: Comm = SOLO) -> npt.NDArray[np.float64]:
    import torch

    left, right = torch.from_numpy(Y), torch.from_numpy(V)
    total = np.zeros((Y.shape[1], V.shape[1]))
    cuts = row_cuts(len(Y), of=comm.rows(len(Y)))
    for part in map_blocks(lambda a, b: (left[a:b].T @ right[a:b]).numpy(), cuts):
        total += part
    return comm.sum_(total)


def _spread_in_full(
    matrix: sp.csr_array | HaloMatrix | Dense, k: int, comm: Comm
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the same as `_in_full` of the rows of all processes, own rows only."""
    if isinstance(matrix, HaloMatrix):
        own = np.zeros(matrix.shape)
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.local.indptr))
        own[rows, matrix.columns()] = matrix.local.data
    else:
        own = np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float64)
    sizes = comm.gather(np.array([len(own)]))
    if sizes.sum() <= SMALL:
        first = int(sizes[: comm.rank].sum())
        mine = slice(first, first + len(own))
        scores, axes = _in_full(comm.gather(own), k)
        return scores[mine], axes[:, mine] if isinstance(matrix, HaloMatrix) else axes
    # many rows and few columns: the axes come from the small matrix X'X
    squares, axes = _eigh(comm.sum_(own.T @ own))
    axes = np.ascontiguousarray(axes[:, np.argsort(squares)[::-1][:k]])
    return _signed(own @ axes, axes.T)


def _in_full(matrix: sp.csr_array | Dense, k: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    import torch

    dense = np.array(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float64)

    def decompose() -> tuple[Dense, Dense]:
        X = torch.from_numpy(dense)
        axes = torch.linalg.svd(X, full_matrices=False)[2][:k]
        return (X @ axes.T).numpy(), axes.numpy()  # X V: a row of zeros stays one, as U S would only nearly

    return _signed(*_alone(decompose))


def _by_short_side(matrix: sp.csr_array, k: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the same as `_in_full` for a long sparse matrix, from the Gram matrix of its shorter side."""
    X = sp.csr_array(matrix).astype(np.float64)
    tall = X.shape[0] >= X.shape[1]
    squares, sides = _eigh((X.T @ X if tall else X @ X.T).toarray())
    order = np.argsort(squares)[::-1][:k]
    sides = np.ascontiguousarray(sides[:, order])
    if tall:
        return _signed(X @ sides, sides.T)
    values = np.sqrt(np.maximum(squares[order], 0.0))
    axes = X.T @ sides * _inverse(values)
    return _signed(X @ axes, axes.T)


def _power(matrix: sp.csr_array | Dense) -> float:
    """Return a power of two that brings entries whose squares float32 may not hold to about 1; 1 for all others."""
    largest = float(abs(matrix).max()) if min(matrix.shape) else 0.0
    if largest == 0 or LEAST <= largest <= 1 / LEAST:
        return 1.0
    return float(2.0 ** -np.floor(np.log2(largest)))


def _signed(
    scores: Dense, axes: Dense, comm: Comm = SOLO
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    signs = np.where(largest_entries(axes.T, comm) < 0, -1.0, 1.0) if axes.size else np.ones(len(axes))
    return (scores * signs).astype(np.float32), (axes * signs[:, None]).astype(np.float32)
