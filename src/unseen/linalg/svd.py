"""Leading singular vectors, and eigenvectors, of what is known by its products, seeded and sign-fixed.

Randomised subspace iteration (Halko, Martinsson and Tropp, 2011), which never densifies X. Bases are orthonormalised
through their Gram matrices: that costs products only, and permuted rows give the permuted result. Products of tall
matrices with small ones go in blocks of rows: the same bits for any number of threads.

Eigenvectors come from a block Lanczos iteration with thick restarts (Wu and Simon, SIAM J. Matrix Anal. Appl. 22,
2000): a basis of the Krylov space grows by a few vectors at a time. When it is full, the vectors along its leading
directions begin the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.engine.run import Run, libraries_on_one_thread
from unseen.engine.sparse import Matrix, Operator
from unseen.errors import UnseenError
from unseen.graph import Features
from unseen.ids import Array, Floats, Keys, Singles
from unseen.linalg.normalize import l2_rows, scale_by_exponent, scale_exponent
from unseen.randomness import keyed_uniform

CACHED_ROWS = 512
"""Rows multiplied at a time: with some hundred columns they stay in the cache, which is a fifth faster."""


def gram(V: Array, run: Run, other: Array | None = None) -> Floats:
    """Return V'V, or V' times another tall matrix: blocks of rows are added in float64, and over the processes.

    Examples
    --------
    >>> gram(np.array([[1.0, 2.0], [0.0, 1.0]], dtype=np.float32), Run()).tolist()
    [[1.0, 2.0], [2.0, 5.0]]
    """
    right = V if other is None else other

    def product(start: int, stop: int) -> Array:
        v = V[start:stop]  # of v'v numpy computes one half only
        return np.asarray(v.T @ (v if other is None else right[start:stop]))

    total: Floats = run.sum_blocks(product, len(V), np.zeros((V.shape[1], right.shape[1])))
    return total


def times(V: Array, small: Array, run: Run, *, out: Array | None = None) -> Array:
    """Return V times a small matrix, in the floating type of V; `out` may be V itself.

    Examples
    --------
    >>> times(np.ones((2, 2), dtype=np.float32), np.eye(2), Run()).dtype
    dtype('float32')
    """
    small = np.ascontiguousarray(small, dtype=V.dtype)
    result = np.empty((len(V), small.shape[1]), dtype=V.dtype) if out is None else out

    def multiply(start: int, stop: int) -> None:
        for first in range(start, stop, CACHED_ROWS):
            last = min(first + CACHED_ROWS, stop)
            result[first:last] = V[first:last] @ small

    run.map_blocks(multiply, len(V))
    return result


def eigh(matrix: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues, rising, and eigenvectors of a small symmetric matrix.

    Examples
    --------
    >>> eigh(np.diag([2.0, 1.0]))[0].tolist()
    [1.0, 2.0]
    """
    try:
        values, axes = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        raise UnseenError(OUT_OF_RANGE) from None
    if not np.isfinite(values).all():
        raise UnseenError(OUT_OF_RANGE)
    return np.asarray(values), np.asarray(axes)


OUT_OF_RANGE = (
    "numbers have left the range of floating point on the way to the vectors; "
    "bring the edge weights and the features to a usual scale, such as 0 to 1"
)


def dot(a: Array, b: Array, run: Run) -> float:
    """Return the sum of the products of the entries; blocks are added in float64, and so are processes.

    Examples
    --------
    >>> dot(np.ones((3, 2), dtype=np.float32), np.full((3, 2), 2.0, dtype=np.float32), Run())
    12.0
    """
    return float(run.sum_blocks(lambda i, j: float(np.sum(a[i:j] * b[i:j])), len(a), 0.0))


SMALL = 300
"""Matrices of at most this many rows and columns are decomposed in full, which is exact."""
SMALL_OPERATOR = 512
"""The same for operators."""
LANCZOS_BLOCK, RESTARTS = 4, 30
"""Vectors by which a basis grows, so that one pass over it serves all of them, and how often it is begun again."""
LANCZOS_TOL = 1e-2
"""Residuals, in units of the eigenvalue, below which an eigenvector is taken as found."""
OPERATOR_ROUNDS, OPERATOR_TOL = 12, 1e-3
"""Rounds of iteration at most; it ends when one adds less than this share to the sum of the squared values."""
OVERSAMPLING = 10
"""Random directions of a start beyond the singular values that are wanted."""
WIDE = 100_000
"""Sparse matrices of more columns are searched for empty ones first."""
GRAM_COLUMNS, GRAM_ROWS = 2000, 8
"""Sparse features of at most so many columns, and so many times more rows, are decomposed through X'X: exact, and a
few times faster."""


def truncated_svd(
    matrix: sp.csr_array | Array | Matrix,
    k: int,
    rng: np.random.Generator,
    run: Run | None = None,
    *,
    n_iter: int = 7,
    start: Array | None = None,
) -> tuple[Singles, Singles]:
    """Return (U S, V') of the `k` largest singular values, in float32.

    It starts from random directions of the columns, so the order of the rows does not matter, and every row of V' has
    its largest entry positive. Where nearly all singular values are wanted, a sparse matrix with one short side is
    decomposed through the small matrix X'X or XX', any other one, and whatever is small, in full.

    Parameters
    ----------
    matrix : scipy CSR array, ndarray or Matrix, shape (n, m)
        The features, or the adjacency.
    k : int
        At most ``min(n, m)``.
    rng : Generator
        Gives the random directions.
    run : Run, optional
        Does the work; its processes have some rows each.
    n_iter : int
        Rounds of iteration: more of them sharpen the smallest of the `k` values.
    start : ndarray, shape (m, at least k), optional
        Random directions to begin with, instead of those of `rng`; rows that stand for nodes can be keyed by them.

    Examples
    --------
    >>> scores, axes = truncated_svd(np.diag([3.0, 2.0, 1.0]), 2, np.random.default_rng(0))
    >>> np.abs(scores @ axes).round(5).tolist()
    [[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    """
    if run is None:
        with libraries_on_one_thread():
            return truncated_svd(matrix, k, rng, Run(), n_iter=n_iter, start=start)
    if sp.issparse(matrix) and matrix.shape[1] > WIDE and run.comm.size == 1 and start is None:
        matrix = sp.csr_array(matrix)
        columns_used = np.unique(matrix.indices)
        if k <= len(columns_used) < matrix.shape[1] // 2:  # empty columns cost as much time as others
            scores, own_axes = truncated_svd(matrix[:, columns_used], k, rng, run, n_iter=n_iter)
            all_axes = np.zeros((len(own_axes), matrix.shape[1]), dtype=np.float32)
            all_axes[:, columns_used] = own_axes
            return scores, all_axes
    X = matrix if isinstance(matrix, (Matrix, np.ndarray)) else run.matrix(sp.csr_array(matrix))
    width = k + OVERSAMPLING
    n, m = run.count(X.shape[0]), X.shape[1]
    tall = isinstance(X, Matrix) and m <= GRAM_COLUMNS and n >= GRAM_ROWS * m
    if width >= min(n, m) or max(n, m) <= SMALL or tall:
        return _decompose_exactly(X, k, n, run)
    # in float32, with entries scaled by a power of two so that float32 holds their squares
    numbers = X if isinstance(X, np.ndarray) else X.local.data
    exponent = scale_exponent(numbers, run)
    numbers = scale_by_exponent(numbers, exponent).astype(np.float32)
    single: Operator | Matrix
    if isinstance(X, Matrix):
        single = run.matrix(X.with_values(numbers, symmetric=X.symmetric))
    else:
        single = Operator(lambda V: times(numbers, V, run), lambda V: gram(numbers, run, V).astype(V.dtype))
    # the processes over which the columns are spread
    columns = run if isinstance(X, Matrix) and X.halo else run.solo
    if start is None:
        start = rng.standard_normal((m, width), dtype=np.float32)
    back, W, values = _iterate_subspace(single, start[:, :width], k, n_iter, 0.0, run, columns)[1:]
    axes = times(back, W * _inverse(values), columns)
    axes = np.ascontiguousarray(axes * column_signs(axes, columns))
    # X V rather than basis W S: the same where the iteration has converged, and what new rows will be given
    return scale_by_exponent(single @ axes, -exponent), np.ascontiguousarray(axes.T)


def operator_svd(operator: Any, start: Array, k: int, run: Run) -> tuple[Array, Floats, Array]:
    """Return U (n, k), the k largest singular values, and V (n, k), of a square operator.

    Each column of U has its largest entry positive, so that the same start gives the same signs.

    Parameters
    ----------
    operator : object with ``@`` and ``T``
        Known by its products only.
    start : ndarray, shape (n, at least k)
        Random numbers; its floating type is that of the result. It is written to.
    k : int
        At most n.
    run : Run
        Does the work.

    Examples
    --------
    >>> U, s, V = operator_svd(np.diag([3.0, 2.0, 1.0]), np.ones((3, 3)), 2, Run())
    >>> s.round(6).tolist()
    [3.0, 2.0]
    """
    n, own = _own_rows(len(start), run)
    if n <= SMALL_OPERATOR:
        left, values, right = np.linalg.svd(
            run.gather(np.asarray(operator @ np.eye(n)[own], dtype=np.float64))
        )
        U, V = left[own, :k].astype(start.dtype), right[:k].T[own].astype(start.dtype)
    else:
        basis, back, W, values = _iterate_subspace(
            operator, start, k, OPERATOR_ROUNDS, OPERATOR_TOL, run, run
        )
        U, V = times(basis, W, run), times(back, W * _inverse(values, 1e-7), run)
    signs = column_signs(U, run)
    return U * signs, values[:k], V * signs


def leading_eigenvectors(
    multiply: Callable[[Singles], Array], k: int, keys: Keys, run: Run, *, tol: float = LANCZOS_TOL
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
    n, own = _own_rows(len(keys), run)
    if n <= max(SMALL_OPERATOR, 4 * k):
        axes = eigh(run.gather(np.asarray(multiply(np.eye(n, dtype=np.float32)[own]), dtype=np.float64)))[1]
        leading = axes[own, ::-1][:, :k].astype(np.float32)
        return leading * column_signs(leading, run)
    kept, more = (-(-number // LANCZOS_BLOCK) * LANCZOS_BLOCK for number in (k + k // 2, k // 2))
    width = kept + max(8 * LANCZOS_BLOCK, more)
    basis = np.empty((len(keys), width), dtype=np.float32)
    block = orthonormal((keyed_uniform(keys, LANCZOS_BLOCK, stream=11) - 0.5).astype(np.float32), run)
    inside, done = np.zeros((width, width)), 0
    for _ in range(RESTARTS):
        while done < width:
            basis[:, done : done + LANCZOS_BLOCK] = block
            done += LANCZOS_BLOCK
            block = np.asarray(multiply(block), dtype=np.float32)
            products = gram(basis[:, :done], run, block)
            block -= times(basis[:, :done], products, run)
            inside[:done, done - LANCZOS_BLOCK : done], inside[done - LANCZOS_BLOCK : done, :done] = (
                products,
                products.T,
            )
            outside = block
            block = orthonormal(outside, run)
        values, axes = eigh(inside)
        values, axes = values[::-1], axes[:, ::-1]
        residuals = np.linalg.norm(gram(block, run, outside) @ axes[-LANCZOS_BLOCK:, :k], axis=0)
        if (residuals <= tol * np.abs(values[:k])).all():
            break
        times(basis, axes[:, :kept], run, out=basis[:, :kept])
        inside[:], done = 0, kept
        np.fill_diagonal(inside[:kept, :kept], values[:kept])
    found = times(basis, axes[:, :k], run, out=basis[:, :k])
    return found * column_signs(found, run)


def _own_rows(n: int, run: Run) -> tuple[int, slice]:
    """Return the number of rows of all processes, and which of them are the `n` of this one."""
    sizes = run.gather(np.array([n]))
    first = int(sizes[: run.comm.rank].sum())
    return int(sizes.sum()), slice(first, first + n)


def orthonormal(Y: Array, run: Run, *, squares: Floats | None = None, out: Array | None = None) -> Array:
    """Return an orthonormal basis of the columns of a tall `Y`; directions that are not there become zero.

    It depends on Y'Y alone, so permuted rows give the permuted basis. `squares` is Y'Y where it is known already.

    Examples
    --------
    >>> orthonormal(np.array([[3.0], [4.0]], dtype=np.float32), Run()).round(3).tolist()
    [[0.6000000238418579], [0.800000011920929]]
    """
    squares = gram(Y, run) if squares is None else squares
    try:  # R of Y = QR, from Y'Y = R'R
        lower = np.linalg.cholesky(squares)
        diagonal = lower.diagonal()
        is_full = diagonal.min(initial=1.0) > 1e-3 * diagonal.max(initial=0.0)  # not with NaN
    except np.linalg.LinAlgError:
        is_full = False
    if is_full:
        return times(Y, np.linalg.inv(lower).T, run, out=out)
    values, axes = eigh(squares)
    return times(Y, axes * _inverse(np.sqrt(np.maximum(values, 0.0))), run, out=out)


def _iterate_subspace(
    X: Any, start: Array, k: int, n_iter: int, tol: float, run: Run, columns: Run
) -> tuple[Array, Array, Floats, Floats]:
    """Return a basis Q that X X' hardly turns any more, X'Q = V S W', W of the k largest values, and these.

    `run` has the rows of X, `columns` its columns.
    """
    Y = X @ start
    basis = orthonormal(Y, run, out=Y)
    caught = 0.0
    for _ in range(n_iter):
        back = X.T @ basis
        Y = X @ orthonormal(back, columns, out=back)
        squares = gram(Y, run)
        basis = orthonormal(Y, run, squares=squares, out=Y)
        if tol > 0:
            before, caught = caught, float(np.linalg.eigvalsh(squares)[-k:].sum())
            if caught - before <= tol * caught:
                break
    back = X.T @ basis
    squares, W = eigh(gram(back, columns))
    order = np.argsort(squares)[::-1][:k]
    return basis, back, W[:, order], np.sqrt(np.maximum(squares[order], 0.0))


def _inverse(values: Floats, least: float = 1e-5) -> Floats:
    enough = values > least * max(values.max(initial=0.0), 1e-30)
    return np.divide(1.0, values, out=np.zeros_like(values), where=enough)


def _decompose_exactly(X: Array | Matrix, k: int, n: int, run: Run) -> tuple[Singles, Singles]:
    """Decompose what is small, or has one short side; a process keeps its own rows, and of square ones its columns."""
    rows: Any = (X if isinstance(X, np.ndarray) else X.own_rows()).astype(np.float64)
    several, small = run.comm.size > 1, isinstance(X, np.ndarray) or max(n, X.shape[1]) <= SMALL
    if n <= SMALL if several else small:
        rows = rows.toarray() if sp.issparse(rows) else rows
        sides = np.linalg.svd(run.gather(rows), full_matrices=False)[2][:k].T
    else:  # through the smaller of X'X and XX'; rows that are spread are many, and columns few
        tall = several or n >= X.shape[1]
        products = rows.T @ rows if tall else rows @ rows.T
        squares, sides = eigh(run.sum(products.toarray() if sp.issparse(products) else products))
        order = np.argsort(squares)[::-1][:k]
        sides = np.ascontiguousarray(sides[:, order])
        if not tall:
            sides = rows.T @ sides * _inverse(np.sqrt(np.maximum(squares[order], 0.0)))
    axes = sides * column_signs(sides, run.solo)
    # X V: a row of zeros stays one, as U S would only nearly
    scores = np.empty((rows.shape[0], k), dtype=np.float32)

    def fill(start: int, stop: int) -> None:
        scores[start:stop] = rows[start:stop] @ axes

    run.map_blocks(fill, len(scores))
    if isinstance(X, Matrix) and X.halo is not None:
        axes = axes[X.layout.first : X.layout.first + len(scores)]
    return scores, np.ascontiguousarray(axes.T, dtype=np.float32)


def column_signs(judge: Array, run: Run) -> Array:
    """Return for each column 1, or -1 where its entry of largest magnitude is negative."""

    def pick_largest(U: Array) -> Array:
        return np.take_along_axis(U, np.argmax(np.abs(U), axis=0)[None, :], axis=0)

    return np.where(pick_largest(run.gather(pick_largest(judge)))[0] < 0, -1, 1).astype(judge.dtype)


def project(features: Features, axes: Singles, run: Run, *, unit_rows: bool = False) -> Singles:
    """Return the features of new nodes in the space of the SVD."""
    if unit_rows:
        features = l2_rows(features)
    if isinstance(features, np.ndarray):
        return np.asarray(features @ axes.T, dtype=np.float32)
    return np.asarray(run.matrix(features) @ np.ascontiguousarray(axes.T))
