"""All one-versus-rest linear SVMs of a graph at once.

Each class k has its own problem, min over w of ||w||^2 / 2 + C sum_i max(0, 1 - y_ik w'x_i)^2 with a
constant column in x for the intercept: scikit-learn's ``LinearSVC(loss="squared_hinge")``, whose
intercept is regularised too. They share x, so they are solved side by side, a column each, by
Newton's method with conjugate gradients (Chapelle, Training a Support Vector Machine in the Primal,
2007): every step is a product of x with a whole matrix. A column may also leave rows out, which
makes the folds of a cross-validation further columns of the same problem, and one problem's
solution starts the next along a path of growing C.

The conjugate gradients are preconditioned twice over. Dense vectors are turned into the eigenbasis
of their Gram matrix, where the Hessian of every class is nearly diagonal as long as most rows are
active. Where few are (a large C), a class gets the Cholesky factor of one of its Hessians, which
then serves all its folds, the following steps and the following values of C. Vectors with more
columns than there are rows need neither: a step is then solved in its active rows, which are few.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from unseen.ids import Array, Mask

MAX_ROTATED = 1500
"""Widest dense input whose Gram matrix is decomposed; the cost grows with the cube of the width."""
MAX_NEWTON = 200
PATIENCE = 25
"""Conjugate-gradient steps after which factoring a Hessian is the shorter way."""
MAX_CG = 250
"""Conjugate-gradient steps where there is no other way."""
MAX_KERNEL = 3000
"""Most rows whose products with each other are kept, n x n numbers."""
THREADED = 2_000_000_000
"""Multiplications a product from which BLAS may use several threads: below, on a busy machine, waiting for
each other costs them tens of times what they gain, and one thread gives the same bits on every machine."""


@dataclass(frozen=True)
class Design:
    """Training rows with their constant column, ready for products with many columns at once.

    `curvature` holds the squared length of each coordinate over all rows; `rotation` leads from the
    columns of the input to those of `rows` (None where they are the same).
    """

    rows: Any
    columns: Any
    curvature: Array
    rotation: Array | None

    @functools.cached_property
    def kernel(self) -> Array | None:
        """Products of all rows with each other, where a step is better solved in rows than in columns."""
        if self.rotation is not None or self.rows.shape[0] > min(MAX_KERNEL, self.width):
            return None
        rows = self.rows.astype(np.float64)
        kernel = rows @ rows.T
        return np.asarray(kernel.toarray() if sp.issparse(kernel) else kernel)

    @property
    def width(self) -> int:
        """Number of coordinates of a solution."""
        return int(self.rows.shape[1])

    def astype(self, dtype: type[np.floating[Any]]) -> Design:
        """Return the same design in another precision."""
        rows = self.rows.astype(dtype)
        columns = self.columns.astype(dtype) if sp.issparse(rows) else rows.T
        return replace(self, rows=rows, columns=columns, curvature=self.curvature.astype(dtype))

    def weights(self, solution: Array) -> Array:
        """Return the solution in the input's columns, the intercept in the last row."""
        return solution if self.rotation is None else np.asarray(self.rotation @ solution)


def prepare(vectors: Any) -> Design:
    """Return the design of `vectors` in float64, sparse if they are sparse, else rotated where that pays."""
    n = vectors.shape[0]
    if sp.issparse(vectors):
        rows = sp.hstack([vectors.astype(np.float64), sp.csr_array(np.ones((n, 1)))], format="csr")
        return Design(rows, rows.T.tocsr(), np.asarray(rows.multiply(rows).sum(axis=0)).ravel(), None)
    dense = np.ones((n, vectors.shape[1] + 1))
    dense[:, :-1] = vectors
    if dense.shape[1] > MAX_ROTATED:
        return Design(dense, dense.T, np.square(dense).sum(axis=0), None)
    with _blas_context(dense.shape[1] * dense.size):
        curvature, rotation = np.linalg.eigh(dense.T @ dense)
        # a direction in which no row goes beyond rounding error cannot help any class
        kept = curvature > curvature[-1] * 1e-14
        rows = dense @ rotation[:, kept]
    return Design(rows, rows.T, curvature[kept], rotation[:, kept])


@dataclass(frozen=True)
class Problem:
    """The columns to solve for, and what has been learned about preconditioning them.

    Parameters
    ----------
    design : Design
        The training rows.
    signs : ndarray, shape (n, k)
        1 where a row has the column's class, else -1, in the precision of the design.
    used : boolean ndarray, shape (n, k), optional
        Rows that count for a column; all when not given.
    groups : ndarray, shape (k,), optional
        Columns of the same class have the same number and share a preconditioner.
    """

    design: Design
    signs: Array
    used: Mask | None = None
    groups: Array | None = None
    grams: dict[int, Array] = field(default_factory=dict)

    def solve(self, C: float, *, start: Array | None = None, tol: float = 1e-8) -> Array:
        """Return one solution per column.

        Parameters
        ----------
        C : float
            Weight of the loss against ||w||^2 / 2.
        start : ndarray, shape (design.width, k), optional
            Where to start; zero when not given.
        tol : float
            A column is done when a Newton step lowers its objective by no more than this share.

        Returns
        -------
        ndarray, shape (design.width, k)
        """
        k = self.signs.shape[1]
        groups = np.arange(k) if self.groups is None else self.groups
        point = np.zeros((self.design.width, k)) if start is None else start
        solution = np.array(point, dtype=self.signs.dtype)
        with _blas_context(self.signs.size * self.design.width):
            state = _State.at(self.signs, self.used, solution, self.design.rows @ solution, C)
            live = np.arange(k)
            preconditioner = _Preconditioner(self.design, C, self.grams)
            for _ in range(MAX_NEWTON):
                step, decrease = _newton_step(self.design, state, C, preconditioner, groups[live])
                state = _move(self.design, state, step, C)
                solution[:, live] = state.point
                going = decrease > tol * state.value
                if not going.any():
                    break
                if not going.all():
                    live, state = live[going], state.columns(going)
        if not np.isfinite(solution).all():
            msg = f"the classifier did not converge at C = {C:g}: its weights are not finite"
            raise FloatingPointError(msg)
        return solution


_find_blas = functools.cache(ThreadpoolController)


@contextmanager
def _blas_context(work: int) -> Iterator[None]:
    """Keep BLAS to one thread if `work` is too little for several, and ignore its floating-point flags.

    Some BLAS kernels raise the flag "invalid" for entries that they load but do not use.
    """
    limits = 1 if work < THREADED else None
    with _find_blas().limit(limits=limits, user_api="blas"), np.errstate(invalid="ignore"):
        yield


def _dots(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", a, b))


@dataclass(frozen=True)
class _State:
    """Where the columns stand: point w, scores x'w, violation of the margins, objective."""

    signs: Array
    used: Mask | None
    point: Array
    scores: Array
    residual: Array
    value: Array

    @classmethod
    def at(cls, signs: Array, used: Mask | None, point: Array, scores: Array, C: float) -> _State:
        residual = _residual(signs, used, scores)
        value = 0.5 * _dots(point, point) + C * _dots(residual, residual)
        return cls(signs, used, point, scores, residual, np.asarray(value))

    def columns(self, mask: Mask) -> _State:
        used = None if self.used is None else self.used[:, mask]
        point, scores, residual = (a[:, mask] for a in (self.point, self.scores, self.residual))
        return _State(self.signs[:, mask], used, point, scores, residual, self.value[mask])


def _residual(signs: Array, used: Mask | None, scores: Array) -> Array:
    """Return y - x'w where the margin is violated, else 0."""
    residual = signs - scores
    residual *= (residual * signs) > 0
    if used is not None:
        residual *= used
    return residual


class _Preconditioner:
    """An approximate inverse of each column's Hessian, I + 2 C x' x over its active rows."""

    def __init__(self, design: Design, C: float, grams: dict[int, Array]) -> None:
        self.design, self.C, self.grams = design, C, grams
        self.factors: dict[int, Any] = {}
        self.stiff: set[int] = set()

    @property
    def patience(self) -> int:
        """Steps after which :meth:`refresh` makes the rest shorter, if it can."""
        return MAX_CG if self.design.rotation is None and self.design.kernel is None else PATIENCE

    def diagonal(self, active: Array) -> Array:
        return np.asarray(1 / (1 + (2 * self.C) * self.design.curvature[:, None] * active.mean(axis=0)))

    def apply(self, left: Array, diagonal: Array, groups: Array) -> Array:
        scaled = diagonal * left
        for group in np.unique(groups) if self.grams else ():
            if group in self.grams:
                columns = groups == group
                scaled[:, columns] = sla.cho_solve(self._factor(group), left[:, columns], check_finite=False)
        return scaled

    def refresh(self, groups: Array, active: Array) -> None:
        """Prepare a shorter way for groups whose iterations took too long: a Hessian, or steps solved in rows."""
        if self.design.rotation is None:
            if self.design.kernel is not None:
                self.stiff.update(groups.tolist())
            return
        for group, k in zip(*np.unique(groups, return_index=True), strict=True):
            rows = self.design.rows[active[:, k] > 0]
            self.grams[int(group)] = rows.T @ rows
            self.factors.pop(int(group), None)

    def _factor(self, group: int) -> Any:
        if group not in self.factors:
            hessian = (2 * self.C) * self.grams[group]
            rounding = np.finfo(hessian.dtype).eps * float(np.trace(hessian))
            hessian[np.diag_indices_from(hessian)] += 1 + rounding
            self.factors[group] = sla.cho_factor(hessian, overwrite_a=True, check_finite=False)
        return self.factors[group]


def _newton_step(
    design: Design, state: _State, C: float, preconditioner: _Preconditioner, groups: Array
) -> tuple[Array, Array]:
    """Return the step of each column and the decrease of the objective that it promises."""
    stiff = np.isin(groups, list(preconditioner.stiff))
    if not stiff.any():
        return _solve_by_gradients(design, state, C, preconditioner, groups)
    step, decrease = np.zeros_like(state.point), np.zeros_like(state.value)
    step[:, stiff], decrease[stiff] = _solve_by_rows(design, state.columns(stiff), C)
    if not stiff.all():
        easy = ~stiff
        parts = _solve_by_gradients(design, state.columns(easy), C, preconditioner, groups[easy])
        step[:, easy], decrease[easy] = parts
    return step, decrease


def _solve_by_rows(design: Design, state: _State, C: float) -> tuple[Array, Array]:
    """Solve for the steps exactly: H^-1 g = g - x'(I / 2C + x x')^-1 x g over the active rows x."""
    descent: Array = (2 * C) * (design.columns @ state.residual) - state.point
    inner = design.rows @ descent
    outer = np.zeros_like(inner)
    if design.kernel is not None:
        for k in range(inner.shape[1]):
            active = np.flatnonzero(state.residual[:, k])
            system = design.kernel[np.ix_(active, active)]
            system[np.diag_indices_from(system)] += 1 / (2 * C)
            factor = sla.cho_factor(system, overwrite_a=True, check_finite=False)
            outer[active, k] = sla.cho_solve(factor, inner[active, k], check_finite=False)
    step = descent - (design.columns @ outer)
    return step, 0.5 * _dots(step, descent)


def _solve_by_gradients(
    design: Design, state: _State, C: float, preconditioner: _Preconditioner, groups: Array
) -> tuple[Array, Array]:
    """Solve for the steps by preconditioned conjugate gradients, all columns side by side."""
    active = (state.residual != 0).astype(state.scores.dtype)
    left: Array = (2 * C) * (design.columns @ state.residual) - state.point
    diagonal = preconditioner.diagonal(active)
    scaled = preconditioner.apply(left, diagonal, groups)
    size: Array = _dots(left, scaled)
    # the closer a column is to its optimum, the more exact its step has to be
    goal: Array = size * np.clip(size / np.maximum(state.value, np.finfo(size.dtype).tiny), 1e-6, 1e-2)
    steps, decreases = np.zeros_like(left), np.zeros_like(size)
    direction: Array = scaled
    step, decrease = np.zeros_like(left), np.zeros_like(size)
    live = np.arange(len(size))
    for _ in range(preconditioner.patience):
        bent = design.rows @ direction
        bent *= active
        bent = direction + (2 * C) * (design.columns @ bent)
        curvature = _dots(direction, bent)
        length = np.where(curvature > 0, size / np.where(curvature > 0, curvature, 1), 0)
        step += length * direction
        decrease += 0.5 * length * size
        left -= length * bent
        scaled = preconditioner.apply(left, diagonal, groups)
        fresh = _dots(left, scaled)
        going = (length > 0) & (fresh > goal)
        if not going.all():
            steps[:, live], decreases[live] = step, decrease
            if not going.any():
                return steps, decreases
            live, groups = live[going], groups[going]
            size, fresh, goal, decrease = size[going], fresh[going], goal[going], decrease[going]
            left, scaled, direction, step = (a[:, going] for a in (left, scaled, direction, step))
            active, diagonal = active[:, going], diagonal[:, going]
        direction = scaled + (fresh / size) * direction
        size = fresh
    steps[:, live], decreases[live] = step, decrease
    preconditioner.refresh(groups, active)
    return steps, decreases


def _move(design: Design, state: _State, step: Array, C: float) -> _State:
    """Return the state after the step, or after the best part of it where the whole does not lower the objective."""
    change = design.rows @ step

    def advance(length: Array) -> _State:
        point, scores = state.point + length * step, state.scores + length * change
        return _State.at(state.signs, state.used, point, scores, C)

    length = np.ones(step.shape[1], step.dtype)
    new = advance(length)
    slope = _dots(state.point, step) - 2 * C * _dots(state.residual, change)
    poor = new.value > state.value + 0.1 * slope
    if not poor.any():
        return new
    length[poor] = _best_length(state.columns(poor), step[:, poor], change[:, poor], C)
    return advance(length)


def _best_length(state: _State, step: Array, change: Array, C: float) -> Array:
    """Return where the objective is least along the step: Newton's method, kept inside a bracket."""
    linear, square = _dots(state.point, step), _dots(step, step)
    length, best = np.zeros(step.shape[1], step.dtype), np.zeros(step.shape[1], step.dtype)
    flattest = np.full_like(length, np.inf)
    low, high = np.zeros_like(length), np.ones_like(length)  # the whole step went too far
    for k in range(40):
        residual = _residual(state.signs, state.used, state.scores + length * change)
        slope = linear + length * square - 2 * C * _dots(residual, change)
        best, flattest = np.where(np.abs(slope) < flattest, length, best), np.minimum(np.abs(slope), flattest)
        if k == 0:
            enough = 1e-3 * np.abs(slope)
        if (flattest <= enough).all():
            break
        low, high = np.where(slope < 0, length, low), np.where(slope > 0, length, high)
        bend = square + 2 * C * _dots((residual != 0) * change, change)
        length = length - slope / np.where(bend > 0, bend, 1)
        length = np.where((length > low) & (length < high), length, (low + high) / 2)
    return best
