"""All one-versus-rest linear SVMs of a graph at once.

Each class k has its own problem, min over w of ||w||^2 / 2 + C sum_i max(0, 1 - y_ik w'x_i)^2 with a
constant column in x for the intercept: scikit-learn's ``LinearSVC(loss="squared_hinge")``, whose
intercept is regularised too. They share x, so they are solved side by side, a column each, by
Newton's method with conjugate gradients (Chapelle, Training a Support Vector Machine in the Primal,
2007): every step is a product of x with a whole matrix. A column may also leave rows out, which
makes the folds of a cross-validation further columns of the same problem, and one problem's
solution starts the next along a path of growing C.

Dense vectors are turned into the eigenbasis of their Gram matrix. The objective does not change, and
the Hessian of every class, whatever its active rows, is nearly diagonal there: a dozen products
with x instead of hundreds.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg as sla
import scipy.sparse as sp
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

Floats = npt.NDArray[np.floating[Any]]
Mask = npt.NDArray[np.bool_]

MAX_ROTATED = 1500
"""Widest dense input whose Gram matrix is decomposed; the cost grows with the cube of the width."""
MAX_NEWTON = 100
MAX_CG = 250
THREADED = 2_000_000_000
"""Multiplications a product from which BLAS may use several threads: below, on a busy machine, waiting for
each other costs them tens of times what they gain, and one thread gives the same bits on every machine."""


@dataclass(frozen=True)
class Design:
    """Training rows with their constant column, ready for products with many columns at once.

    `curvature` holds the squared length of each coordinate over all rows, which preconditions the
    conjugate gradients; `rotation` leads from the columns of the input to those of `rows` (None
    where they are the same).
    """

    rows: Any
    columns: Any
    curvature: Floats
    rotation: Floats | None

    @property
    def factorable(self) -> bool:
        """Whether the Hessian of a column is small enough to be factored."""
        return self.rotation is not None

    @property
    def patience(self) -> int:
        """Iterations after which factoring the Hessian is the shorter way."""
        return max(20, self.width // 10) if self.factorable else MAX_CG

    @property
    def width(self) -> int:
        """Number of coordinates of a solution."""
        return int(self.rows.shape[1])

    def weights(self, solution: Floats) -> Floats:
        """Return the solution in the input's columns, the intercept in the last row."""
        return solution if self.rotation is None else self.rotation @ solution


def prepare(vectors: Any, dtype: type[np.floating[Any]] = np.float64) -> Design:
    """Return the design of `vectors`, sparse if they are sparse, else rotated where that pays."""
    n = vectors.shape[0]
    if sp.issparse(vectors):
        ones = sp.csr_array(np.ones((n, 1), dtype=dtype))
        rows = sp.hstack([vectors.astype(dtype), ones], format="csr")
        return Design(rows, rows.T.tocsr(), np.asarray(rows.multiply(rows).sum(axis=0), dtype).ravel(), None)
    dense = np.empty((n, vectors.shape[1] + 1), dtype=np.float64)
    dense[:, :-1] = vectors
    dense[:, -1] = 1
    if dense.shape[1] > MAX_ROTATED:
        rows = dense.astype(dtype)
        return Design(rows, rows.T, (rows**2).sum(axis=0), None)
    curvature, rotation = np.linalg.eigh(dense.T @ dense)
    # directions in which no row reaches out of rounding error cannot help any class
    kept = curvature > curvature[-1] * 1e-14
    rows = np.ascontiguousarray(dense @ rotation[:, kept], dtype=dtype)
    return Design(rows, rows.T, curvature[kept].astype(dtype), rotation[:, kept])


def solve(
    design: Design,
    signs: Floats,
    C: float,
    *,
    used: Mask | None = None,
    start: Floats | None = None,
    tol: float = 1e-8,
) -> Floats:
    """Return one solution a column of `signs`.

    Parameters
    ----------
    design : Design
        The training rows.
    signs : ndarray, shape (n, k)
        1 where a row has the column's class, else -1.
    C : float
        Weight of the loss against ||w||^2 / 2.
    used : boolean ndarray, shape (n, k), optional
        Rows that count for a column; all when not given.
    start : ndarray, shape (design.width, k), optional
        Where to start; zero when not given.
    tol : float
        A column is done when a Newton step can lower its objective by no more than this share.

    Returns
    -------
    ndarray, shape (design.width, k)
    """
    size = signs.size * design.width
    with _blas().limit(limits=1 if size < THREADED else None, user_api="blas"):
        return _solve(design, signs, C, used, start, tol)


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _solve(
    design: Design, signs: Floats, C: float, used: Mask | None, start: Floats | None, tol: float
) -> Floats:
    solution = np.zeros((design.width, signs.shape[1]), signs.dtype) if start is None else start.copy()
    state = _State.at(design, signs, C, used, solution)
    live = np.arange(signs.shape[1])
    stiff = np.zeros(signs.shape[1], dtype=bool)
    for _ in range(MAX_NEWTON):
        step, decrease, stiff = _newton_step(design, state, C, stiff)
        state = _moved(design, state, step, C)
        solution[:, live] = state.point
        going = decrease > tol * state.value
        if not going.any():
            break
        if not going.all():
            live, state, stiff = live[going], state.columns(going), stiff[going]
    return solution


@dataclass(frozen=True)
class _State:
    """Where the columns stand: point w, scores x'w, violation of the margins, objective."""

    signs: Floats
    used: Mask | None
    point: Floats
    scores: Floats
    residual: Floats
    value: Floats

    @classmethod
    def at(cls, design: Design, signs: Floats, C: float, used: Mask | None, point: Floats) -> _State:
        scores = np.asarray(design.rows @ point)
        residual = _residual(signs, used, scores)
        return cls(signs, used, point, scores, residual, _value(point, residual, C))

    def columns(self, chosen: Mask) -> _State:
        used = None if self.used is None else self.used[:, chosen]
        point, scores, residual = (a[:, chosen] for a in (self.point, self.scores, self.residual))
        return _State(self.signs[:, chosen], used, point, scores, residual, self.value[chosen])


def _residual(signs: Floats, used: Mask | None, scores: Floats) -> Floats:
    """Return y - x'w where the margin is violated, else 0."""
    residual = signs - scores
    residual *= (residual * signs) > 0
    if used is not None:
        residual *= used
    return residual


def _value(point: Floats, residual: Floats, C: float) -> Floats:
    return np.asarray(0.5 * _dots(point, point) + C * _dots(residual, residual))


def _dots(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->j", a, b))


def _newton_step(design: Design, state: _State, C: float, stiff: Mask) -> tuple[Floats, Floats, Mask]:
    """Return the step of each column, the decrease it promises, and which columns were too stiff for iterations."""
    descent = (2 * C) * np.asarray(design.columns @ state.residual) - state.point
    step = np.zeros_like(descent)
    decrease = np.zeros(descent.shape[1], descent.dtype)
    easy = ~stiff
    if easy.any():
        step[:, easy], decrease[easy], done = _by_gradients(design, state.columns(easy), C, descent[:, easy])
        if design.factorable:
            stiff = stiff.copy()
            stiff[np.flatnonzero(easy)[~done]] = True
    for k in np.flatnonzero(stiff):
        step[:, k] = _by_factoring(design, np.flatnonzero(state.residual[:, k]), C, descent[:, k])
        decrease[k] = 0.5 * (step[:, k] @ descent[:, k])
    return step, decrease, stiff


def _by_gradients(design: Design, state: _State, C: float, descent: Floats) -> tuple[Floats, Floats, Mask]:
    """Solve for the steps by preconditioned conjugate gradients, all columns side by side."""
    active = (state.residual != 0).astype(descent.dtype)
    inverse = 1 / (1 + (2 * C) * design.curvature[:, None] * active.mean(axis=0))
    left = descent.copy()
    step = np.zeros_like(left)
    decrease = np.zeros(left.shape[1], left.dtype)
    scaled = inverse * left
    direction = scaled.copy()
    size = _dots(left, scaled)
    # the closer a column is to its optimum, the more exact its step has to be
    goal = size * np.clip(size / np.maximum(state.value, np.finfo(left.dtype).tiny), 1e-6, 1e-2)
    done = np.zeros(len(size), dtype=bool)
    for _ in range(design.patience):
        product = np.asarray(design.rows @ direction)
        product *= active
        bent = direction + (2 * C) * np.asarray(design.columns @ product)
        curvature = _dots(direction, bent)
        length = np.where((size > goal) & (curvature > 0), size / np.where(curvature > 0, curvature, 1), 0)
        step += length * direction
        decrease += 0.5 * length * size
        left -= length * bent
        scaled = inverse * left
        fresh = _dots(left, scaled)
        done |= (length == 0) | (fresh <= goal)
        if done.all():
            break
        direction = scaled + np.where(done, 0, fresh / np.where(size > 0, size, 1)) * direction
        size = np.where(done, 0, fresh)
    return step, decrease, done


def _by_factoring(design: Design, active: npt.NDArray[np.intp], C: float, descent: Floats) -> Floats:
    """Solve for one column's step exactly, by the Cholesky factor of its Hessian."""
    rows = design.rows[active]
    hessian = rows.T @ rows
    hessian *= 2 * C
    hessian[np.diag_indices_from(hessian)] += 1
    return np.asarray(sla.cho_solve(sla.cho_factor(hessian, overwrite_a=True, check_finite=False), descent))


def _moved(design: Design, state: _State, step: Floats, C: float) -> _State:
    """Return the state after the step, shortened where the whole of it does not lower the objective enough."""
    change = np.asarray(design.rows @ step)
    length = np.ones(step.shape[1], step.dtype)
    new = _advance(state, step, change, length, C)
    gradient_sum = _dots(state.point, step) - 2 * C * _dots(state.residual, change)
    bad = new.value > state.value + 0.1 * gradient_sum
    if bad.any():
        length[bad] = _exact_length(state.columns(bad), step[:, bad], change[:, bad], C)
        new = _advance(state, step, change, length, C)
    return new


def _advance(state: _State, step: Floats, change: Floats, length: Floats, C: float) -> _State:
    point = state.point + length * step
    scores = state.scores + length * change
    residual = _residual(state.signs, state.used, scores)
    return _State(state.signs, state.used, point, scores, residual, _value(point, residual, C))


def _exact_length(state: _State, step: Floats, change: Floats, C: float) -> Floats:
    """Return the best length along the step: Newton's method on a convex, piecewise quadratic function."""
    linear, square = _dots(state.point, step), _dots(step, step)
    length = np.zeros(step.shape[1], step.dtype)
    low, high = np.zeros_like(length), np.full_like(length, np.inf)
    for _ in range(30):
        residual = _residual(state.signs, state.used, state.scores + length * change)
        slope = linear + length * square - 2 * C * _dots(residual, change)
        bend = square + 2 * C * _dots((residual != 0) * change, change)
        low, high = np.where(slope < 0, length, low), np.where(slope > 0, length, high)
        if (np.abs(slope) <= 1e-6 * np.abs(linear) + 1e-12).all():
            break
        length = length - slope / np.where(bend > 0, bend, 1)
        outside = (length <= low) | (length >= high)
        length = np.where(outside, np.where(np.isfinite(high), (low + high) / 2, length), length)
    return length
