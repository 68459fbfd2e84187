"""The factorisation behind MFDW and RSDNE: its cost J, and two ways to lower it.

J = ||M - U H||^2 + lam (||U||^2 + ||H||^2) + alpha (tr(U' L_s U) + tr(U' L_w U))

H is kept transposed (n x d). Everything is a product of M, a Laplacian or a d x d matrix with an n x d one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unseen.engine.run import Run
from unseen.ids import Array, Floats
from unseen.linalg.labelled import LabelledWalk, Smoothing
from unseen.linalg.neighbours import Neighbours
from unseen.linalg.svd import dot, eigh, gram, times
from unseen.linalg.walk import WalkMatrix

Apply = Callable[..., Array]
"""Product with a matrix: of a V and memory for the result, which it need not use."""

NEW_ROW_STEPS = 30
"""Conjugate-gradient steps for rows that were not there at fit time; they have no better start than zero."""
BOLD_RATE = 0.1
"""First step length of the authors' rule, which shortens it where it is too long."""
PROMISED = 0.1
"""Share of the decrease which the slope promises that an Armijo step has to keep."""


@dataclass(frozen=True)
class Objective:
    """J as a function of U, H and S.

    Attributes
    ----------
    walk : WalkMatrix
        M.
    lam, alpha : float
        Weights of the regularisation and of the two label terms.
    inter : LabelledWalk or None
        W; None leaves J_inter out.
    choose : function from U to Neighbours, or None
        The S step; None leaves J_intra out.
    constant : float
        ||M||_F^2, or 0 where it is too expensive; then J is reported without it.
    """

    walk: WalkMatrix
    lam: float
    alpha: float = 0.0
    inter: LabelledWalk | None = None
    choose: Callable[[Array], Neighbours] | None = None
    constant: float = 0.0

    @property
    def run(self) -> Run:
        """Does the work."""
        return self.walk.run

    def smoothing(self, U: Array) -> Smoothing:
        """Do the S step, and return the quadratic form that goes with it."""
        if self.alpha == 0:
            return Smoothing(0.0, self.run)
        pairs = None if self.choose is None else self.choose(U)
        S = None
        if pairs is not None and self.run.count(len(pairs.rows)):
            S = pairs.symmetric(self.walk.layout, self.run, U.dtype)
        return Smoothing(self.alpha, self.run, self.inter, S)

    def cost(self, U: Array, Ht: Array, MtU: Array, smoothed: Array, gram_u: Floats, gram_h: Floats) -> float:
        """Return J; `MtU` is M'U, `smoothed` alpha (L_s + L_w) U, and the last two are U'U and HH'."""
        fit = self.constant - 2 * dot(MtU, Ht, self.run) + float(np.sum(gram_u * gram_h))
        return fit + self.lam * float(np.trace(gram_u) + np.trace(gram_h)) + dot(U, smoothed, self.run)


@dataclass(frozen=True)
class Iterate:
    """U, H' and J after a round; `moved` is False if the round was undone."""

    U: Array
    Ht: Array
    cost: float
    moved: bool = True


def alternating(objective: Objective, U: Array, Ht: Array, *, cg_steps: int) -> Iterator[Iterate]:
    """Yield the start, then rounds of: conjugate gradients for U, a ridge solve for H, neighbours for S.

    J never rises.
    """
    walk, run, smoothed = objective.walk, objective.run, None
    room = one, other, _ = [np.empty_like(U) for _ in range(3)]  # getting memory costs as much as filling it
    MtU, gram_u = walk.rmatmat(U, out=one, scratch=other), gram(U, run)
    while True:
        gram_h = gram(Ht, run)
        smoothing = objective.smoothing(U)
        smoothed = smoothing.apply(U, smoothed)
        yield Iterate(U, Ht, objective.cost(U, Ht, MtU, smoothed, gram_u, gram_h))
        U = u_step(objective, U, Ht, gram_h, smoothing, smoothed, cg_steps, room)
        MtU, gram_u = walk.rmatmat(U, out=one, scratch=other), gram(U, run)
        Ht = ridge(MtU, gram_u, objective.lam, run)


def u_step(
    objective: Objective,
    U: Array,
    Ht: Array,
    gram_h: Floats,
    smoothing: Smoothing,
    smoothed: Array,
    cg_steps: int,
    room: Sequence[Array],
) -> Array:
    """Solve U (HH' + lam I) + alpha (L_s + L_w) U = M H' for U, starting from U; `room` is written to.

    In the eigenvectors of HH' the columns of U do not depend on each other: each has a sparse, positive definite
    system of its own, solved by conjugate gradients with the diagonal as preconditioner.
    """
    values, axes = eigh(gram_h)
    shift = (np.maximum(values, 0.0) + objective.lam).astype(U.dtype)
    run, (one, other, residual) = objective.run, room
    residual = objective.walk.matmat(times(Ht, axes, run, out=one), out=residual, scratch=other)
    if smoothing.empty:
        return times(residual, (axes / shift).T, run)
    rotated, axes = times(U, axes, run), axes.astype(U.dtype)

    def subtract(start: int, stop: int) -> None:
        block = residual[start:stop]
        block -= smoothed[start:stop] @ axes
        block -= rotated[start:stop] * shift

    run.map_blocks(subtract, len(U))
    conjugate_gradients(
        smoothing.apply, shift, smoothing.degree, rotated, residual, cg_steps, (one, other), run
    )
    return times(rotated, axes.T, run, out=rotated)


def conjugate_gradients(
    apply: Apply,
    shift: Array,
    degree: Floats,
    x: Array,
    r: Array,
    steps: int,
    room: tuple[Array, Array],
    run: Run,
) -> None:
    """Improve `x` in place: each column j solves (apply + shift_j I) x_j = b_j, of which `r` is the residual."""
    degree = degree.astype(x.dtype)
    p, product = room
    p.fill(0)
    nothing = np.zeros(x.shape[1])
    ratio = length = nothing.astype(x.dtype)

    def precondition(start: int, stop: int) -> Array:
        return r[start:stop] / (degree[start:stop, None] + shift)

    def left(start: int, stop: int) -> Floats:
        return _dots(r[start:stop], precondition(start, stop))

    def turn(start: int, stop: int) -> None:
        block = p[start:stop]
        block *= ratio
        block += precondition(start, stop)

    def bend(start: int, stop: int) -> Floats:
        block = product[start:stop]
        block += p[start:stop] * shift
        return _dots(p[start:stop], block)

    def move(start: int, stop: int) -> Floats:
        x[start:stop] += length * p[start:stop]
        r[start:stop] -= length * product[start:stop]
        return left(start, stop)

    before, rz = nothing, run.total([nothing, *run.map_blocks(left, len(x))])
    for _ in range(steps):
        ratio = _divide(rz, before).astype(x.dtype)
        run.map_blocks(turn, len(x))
        product = apply(p, product)
        length = _divide(rz, run.total([nothing, *run.map_blocks(bend, len(x))])).astype(x.dtype)
        before, rz = rz, run.total([nothing, *run.map_blocks(move, len(x))])


def ridge(product: Array, squares: Floats, lam: float, run: Run) -> Array:
    """Return the best other factor: of H' that is M'U (U'U + lam I)^-1, `product` being M'U and `squares` U'U."""
    values, axes = eigh(squares)
    return times(product, (axes / (np.maximum(values, 0.0) + lam)) @ axes.T, run)


def gradient_descent(
    objective: Objective, U: Array, Ht: Array, *, step: Literal["bold", "armijo"]
) -> Iterator[Iterate]:
    """Yield the start, then rounds of the paper's Algorithm 1: a gradient step for U, one for H, an S step.

    ``"bold"`` begins with steps of 0.1, as the authors suggest, lengthens them by 5 % after a round that lowered J, and
    halves them after one that did not, which is undone. ``"armijo"`` halves each of the two steps until it lowers J by
    a tenth of what the slope promises.
    """
    walk, run = objective.walk, objective.run
    smoothing = objective.smoothing(U)
    smoothed = smoothing.apply(U)
    gram_u, gram_h = gram(U, run), gram(Ht, run)
    state = Iterate(U, Ht, objective.cost(U, Ht, walk.rmatmat(U), smoothed, gram_u, gram_h))
    rate = BOLD_RATE
    if step == "armijo":  # half of one over a bound of the curvature
        largest = max(eigh(part)[0][-1] for part in (gram_u, gram_h))
        degree = run.gather(smoothing.degree.max(keepdims=True)).max()
        rate = float(0.5 / (largest + objective.lam + 2 * degree))
    rate_h = rate
    yield state
    while True:
        U, Ht = state.U, state.Ht
        slope = gradient(objective, U, gram_h, walk.matmat(Ht), smoothed)
        if step == "armijo":
            bend = float(np.sum(gram(slope, run) * gram_h)) + dot(slope, smoothing.apply(slope), run)
            rate = _armijo(2 * rate, slope, bend, objective.lam, run)
        U = U - U.dtype.type(rate) * slope
        MtU, gram_u = walk.rmatmat(U), gram(U, run)
        slope = gradient(objective, Ht, gram_u, MtU)
        if step == "armijo":
            rate_h = _armijo(2 * rate_h, slope, float(np.sum(gram(slope, run) * gram_u)), objective.lam, run)
        Ht = Ht - U.dtype.type(rate_h if step == "armijo" else rate) * slope
        tried = objective.smoothing(U)
        tried_smoothed = tried.apply(U)
        tried_gram = gram(Ht, run)
        cost = objective.cost(U, Ht, MtU, tried_smoothed, gram_u, tried_gram)
        if cost <= state.cost:
            gram_h = tried_gram
            state, smoothing, smoothed = Iterate(U, Ht, cost), tried, tried_smoothed
            rate *= 1.05
        else:
            state = Iterate(state.U, state.Ht, state.cost, moved=False)
            rate, rate_h = rate / 2, rate_h / 2
        yield state


def gradient(
    objective: Objective, V: Array, squares: Floats, product: Array, smoothed: Array | None = None
) -> Array:
    """Return dJ/dU = 2 (U (HH' + lam I) + alpha (L_s + L_w) U - M H'), or that by H', 2 (H' (U'U + lam I) - M'U)."""
    slope = times(V, squares + objective.lam * np.eye(len(squares)), objective.run)
    slope -= product
    if smoothed is not None:
        slope += smoothed
    slope *= 2
    return slope


def new_rows(
    walk: WalkMatrix, U: Array, context: Array, Ht: Array, fixed_rows: Array, *, lam: float, alpha: float
) -> Array:
    """Return U with the rows that are not `fixed_rows` solved for, H and the others fixed.

    It is the U step of those rows: `context` has the rows of `Ht` that belong to nodes of this graph, and zeros
    for new ones, of which nothing is known. New nodes have no labels, so that W is M in their rows.
    """
    run = walk.run
    values, axes = eigh(gram(Ht, run))
    shift = (np.maximum(values, 0.0) + lam).astype(U.dtype)
    fixed = fixed_rows[:, None]
    rotated, right = times(U, axes, run), walk.matmat(times(context, axes, run))
    degree = alpha * walk.symmetric(np.ones((len(U), 1)))[:, 0]

    def pull(P: Array, _: Array | None = None) -> Array:
        joined = degree.astype(P.dtype)[:, None] * P - P.dtype.type(alpha) * walk.symmetric(P)
        return np.where(fixed, 0, joined)

    x = np.where(fixed, 0, right / (shift + degree.astype(U.dtype)[:, None]))
    if alpha:
        right += U.dtype.type(alpha) * walk.symmetric(rotated)
        r = np.where(fixed, 0, right - x * shift) - pull(x)
        conjugate_gradients(
            pull, shift, degree, x, r, NEW_ROW_STEPS, (np.empty_like(x), np.empty_like(x)), run
        )
    return np.where(fixed, U, times(x, axes.T, run))


def _armijo(rate: float, slope: Array, bend: float, lam: float, run: Run) -> float:
    """Halve `rate` until J falls as PROMISED; J is quadratic along the slope, so nothing is evaluated again."""
    steep = dot(slope, slope, run)
    bend += lam * steep
    while rate * bend > (1 - PROMISED) * steep:
        rate /= 2
    return rate


def _divide(a: Floats, b: Floats) -> Floats:
    """Return a / b, 0 where b is 0: a column that is solved stays as it is."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _dots(a: Array, b: Array) -> Floats:
    return np.asarray(np.einsum("ij,ij->j", a, b), dtype=np.float64)
