"""The classifiers of the protocol: a linear SVM whose C is chosen inside the training set, and the released RBF SVM.

C is chosen by one rule: all candidates are tried, each started from the one before, and the one with the best mean of
micro and macro F1 on three held-out folds is taken, the smallest of equals. By micro F1 alone it comes out small, and
small classes are given up.

The candidates for C follow the scale of the vectors: C = c / (mean squared length of a training vector), c in `GRID`.
Raw factorisations have lengths of .1, normalised ones of 1, raw features of hundreds, and the best c was between .1 and
100 for all that were looked at; a fixed grid for C would have to span nine powers of ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.evaluation.metrics import best_labels, macro_f1, micro_f1
from unseen.evaluation.solver import Design, Problem, prepare
from unseen.ids import Array, Ints, Mask
from unseen.params import Limits, check_argument
from unseen.randomness import RandomState, as_generator

GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Candidates for C times the mean squared length of the training vectors."""
N_FOLDS = 3
CHOICE_TOL = 1e-2
"""Enough to rank the candidates; the final fit is solved to `FINAL_TOL`."""
FINAL_TOL = 1e-8


@dataclass(frozen=True)
class LinearClassifier:
    """One linear SVM per class; `scores` above 0 speak for the class, -inf marks a class nobody trained.

    Attributes
    ----------
    weights : ndarray, shape (d + 1, c)
        The intercepts are in the last row.
    in_training : boolean ndarray, shape (c,)
        Classes that had a training node.
    C : float
        The C that was given or chosen.
    """

    weights: Array
    in_training: Mask
    C: float

    def scores(self, vectors: Any) -> Array:
        """Return the decision values of every row and class."""
        with np.errstate(invalid="ignore"):  # as in `solver`: a flag of BLAS that means nothing
            scores: Array = np.asarray(vectors @ self.weights[:-1]) + self.weights[-1]
        scores[:, ~self.in_training] = -np.inf
        return scores


def train_linear(
    vectors: Any, truth: Mask, C: float | None = None, random_state: RandomState = 0
) -> LinearClassifier:
    """Train one squared-hinge SVM per class, the optimum of scikit-learn's ``LinearSVC``, all at once.

    Parameters
    ----------
    vectors : ndarray or scipy sparse array, shape (n, d)
        Training vectors, used as they are.
    truth : boolean ndarray, shape (n, c)
        The classes of each training node; classes without a node are never predicted.
    C : float, optional
        Chosen by cross-validation on these rows when not given.
    random_state : None, int or numpy Generator
        Seed of the folds.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = np.array([[0.0], [0.1], [0.9], [1.0]])
    >>> truth = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool)
    >>> train_linear(vectors, truth, C=10.0).scores(np.array([[0.2]])).argmax()
    np.int64(0)
    """
    check_argument("C", C, float | None, Limits(0, open_low=True))
    in_training: Mask = np.asarray(truth.any(axis=0))
    design = prepare(vectors)
    signs = np.where(truth[:, in_training], 1.0, -1.0)
    start = None
    if C is None:
        C, start = _best_candidate(design, signs, candidate_unit(vectors), as_generator(random_state))
    weights = np.zeros((vectors.shape[1] + 1, truth.shape[1]))
    weights[:, in_training] = design.weights(Problem(design, signs).solve(C, start=start, tol=FINAL_TOL))
    return LinearClassifier(weights, in_training, float(C))


def _best_candidate(
    design: Design, signs: Array, unit: float, rng: np.random.Generator
) -> tuple[float, Array | None]:
    """Return the C of the best figure on held-out folds, the smallest of equals, and a start for the final fit.

    The folds are further columns of one problem, solved along growing C, each from the one before.
    """
    truth = signs > 0
    n, k = truth.shape
    if n < 2 or k < 2:
        return unit, None
    folds = stratified_folds(truth, N_FOLDS, rng)
    held = [folds == fold for fold in range(int(folds.max()) + 1)]
    used = np.repeat(~np.array(held).T, k, axis=1)
    single = design.astype(np.float32)  # half the time, and the ranking of candidates needs no more digits
    tiled = np.tile(signs.astype(np.float32), len(held))
    unknown = ~((tiled > 0) & used).any(axis=0)
    problem = Problem(single, tiled, used, np.tile(np.arange(k), len(held)))
    counts = truth.sum(axis=1)
    best_figure, best_c, best_solution = -1.0, unit, None
    solution = None
    for c in GRID:
        solution = problem.solve(c * unit, start=solution, tol=CHOICE_TOL)
        scores = single.rows @ solution
        scores[:, unknown] = -np.inf
        predicted = np.zeros_like(truth)
        for fold, rows in enumerate(held):
            predicted[rows] = best_labels(scores[rows, fold * k : (fold + 1) * k], counts[rows])
        figure = figure_of_merit(truth, predicted)
        if figure > best_figure:
            best_figure, best_c, best_solution = figure, c * unit, solution
    start = None if best_solution is None else best_solution.reshape(design.width, len(held), k).mean(axis=1)
    return best_c, start


def figure_of_merit(truth: Mask, predicted: Mask) -> float:
    """Return the figure by which C and settings are chosen: the mean of micro and macro F1.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([[True, False], [True, False], [False, True]])
    >>> float(np.round(figure_of_merit(truth, np.array([[True, False]] * 3)), 3))
    0.533
    """
    return (micro_f1(truth, predicted) + macro_f1(truth, predicted)) / 2


def scores_along_path(train: Any, truth: Mask, test: Any) -> Iterator[Array]:
    """Yield the scores of the `test` rows for one candidate of `GRID` after another, trained on other rows.

    For choices in which every fold has vectors of its own, so that the folds cannot share a problem.
    """
    in_training: Mask = np.asarray(truth.any(axis=0))
    design = prepare(train).astype(np.float32)
    problem = Problem(design, np.where(truth[:, in_training], 1.0, -1.0).astype(np.float32))
    unit = candidate_unit(train)
    solution = None
    for c in GRID:
        solution = problem.solve(c * unit, start=solution, tol=CHOICE_TOL)
        weights = design.weights(solution)
        scores = np.full((test.shape[0], truth.shape[1]), -np.inf)
        with np.errstate(invalid="ignore"):
            scores[:, in_training] = np.asarray(test @ weights[:-1]) + weights[-1]
        yield scores


def candidate_unit(vectors: Any) -> float:
    """Return the C that the candidate 1 of `GRID` stands for: one over the mean squared length."""
    values = vectors.data if sp.issparse(vectors) else np.asarray(vectors)
    mean = float(np.square(values, dtype=np.float64).sum()) / vectors.shape[0]
    return 1 / mean if mean > 0 else 1.0


def stratified_folds(truth: Mask, n_folds: int, rng: np.random.Generator) -> Ints:
    """Return a fold number for every row, each class spread over the folds as evenly as its size allows.

    A row with several classes is dealt out with its rarest one. Classes smaller than the number of
    folds are missing from some folds; that is all that can be done for them.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.eye(2, dtype=bool)[[0, 0, 0, 0, 1, 1]]
    >>> folds = stratified_folds(truth, 2, np.random.default_rng(0))
    >>> np.bincount(folds[:4]).tolist(), np.bincount(folds[4:]).tolist()
    ([2, 2], [1, 1])
    """
    n = len(truth)
    size = truth.sum(axis=0)
    rarest = np.where(truth, size, n + 1).argmin(axis=1)
    order = rng.permutation(n)
    order = order[np.argsort(rarest[order], kind="stable")]
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % min(n_folds, n)
    return folds


@dataclass(frozen=True)
class RBFClassifier:
    """One RBF SVM per class, as in the released code; same contract as :class:`LinearClassifier`."""

    machines: tuple[Any, ...]
    training: Any
    C: float

    def scores(self, vectors: Any) -> Array:
        """Return the decision values of every row and class."""
        kernel = _rbf_kernel(vectors, self.training)
        return np.column_stack([score(kernel) for score in self.machines])


def train_rbf(vectors: Any, truth: Mask, C: float | None = None) -> RBFClassifier:
    """Train one RBF SVM per class as the released code does, with scikit-learn's defaults of its time.

    These are C = 1 and gamma = 1 / (number of columns), so the scale of the vectors matters. Its scores are the
    decision values; the released code ranks by a random calibration of them. All classes share one kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.array([[1, 0], [0, 1], [1, 0]], dtype=bool)
    >>> train_rbf(np.array([[0.0], [1.0], [0.1]]), truth).scores(np.array([[0.9]])).argmax()
    np.int64(1)
    """
    from sklearn.svm import SVC

    check_argument("C", C, float | None, Limits(0, open_low=True))
    penalty = 1.0 if C is None else float(C)
    kernel = _rbf_kernel(vectors, vectors)
    machines: list[Any] = []
    for column in truth.T:
        if column.all() or not column.any():  # nothing to tell apart: always or never this class
            score = 1.0 if column.any() else -np.inf
            machines.append(lambda kernel, score=score: np.full(len(kernel), score))
        else:
            machines.append(SVC(C=penalty, kernel="precomputed").fit(kernel, column).decision_function)
    return RBFClassifier(tuple(machines), vectors, penalty)


def _rbf_kernel(vectors: Any, others: Any) -> Array:
    """Return exp(-|x - y|^2 / columns) of every pair of rows."""
    from sklearn.metrics.pairwise import rbf_kernel

    # the default of gamma is 1 / columns; in float32 single predictions change
    return np.asarray(rbf_kernel(vectors.astype(np.float64), others.astype(np.float64)))
