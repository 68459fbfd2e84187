"""The classifier finds LinearSVC's optimum, and chooses C inside the training set."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score
from sklearn.svm import SVC, LinearSVC

from unseen.evaluation import classifier as module
from unseen.evaluation import solver
from unseen.evaluation.classifier import stratified_folds, train_linear, train_rbf
from unseen.evaluation.solver import Problem, prepare


def problem(kind: str, labels: str, n: int = 240, seed: int = 0) -> tuple:
    """Return overlapping classes of very different sizes, in vectors of the given kind."""
    rng = np.random.default_rng(seed)
    code = rng.choice(5, n, p=[0.45, 0.3, 0.15, 0.07, 0.03])
    code[:5] = np.arange(5)
    truth = np.eye(5, dtype=bool)[code]
    if labels == "multi":
        truth |= rng.random(truth.shape) < 0.15
    centres = rng.normal(size=(5, 30))
    vectors = truth @ centres + 2 * rng.normal(size=(n, 30))
    if kind == "tiny":
        vectors *= 1e-2
    if kind == "wide":
        vectors = np.c_[vectors, rng.normal(size=(n, 300))]
    if kind == "sparse":
        return sp.csr_array(np.where(np.abs(vectors) > 2, vectors, 0)), truth
    return vectors, truth


def linear_svc(vectors: object, signs: np.ndarray, C: float) -> np.ndarray:
    machine = LinearSVC(C=C, tol=1e-8, max_iter=10_000, dual=False, random_state=0).fit(vectors, signs)
    return np.r_[machine.coef_[0], machine.intercept_]


def objective(weights: np.ndarray, vectors: object, signs: np.ndarray, C: float) -> float:
    slack = np.maximum(0, 1 - signs * (vectors @ weights[:-1] + weights[-1]))
    return 0.5 * weights @ weights + C * slack @ slack


@pytest.mark.slow
@pytest.mark.parametrize("labels", ["single", "multi"])
@pytest.mark.parametrize(
    ("kind", "C"),
    # large C for wide vectors, where LinearSVC itself does not arrive, is left out
    [
        *(("dense", C) for C in (0.01, 1.0, 100.0)),
        *(("tiny", C) for C in (1.0, 1e4)),
        *(("wide", C) for C in (0.01, 0.1)),
        *(("sparse", C) for C in (0.01, 1.0, 10.0)),
    ],
)
def test_same_optimum_as_linear_svc(kind: str, labels: str, C: float) -> None:
    vectors, truth = problem(kind, labels)
    fresh, _ = problem(kind, labels, seed=1)
    ours = train_linear(vectors, truth, C)
    theirs = np.empty_like(ours.weights)
    for k in range(truth.shape[1]):
        signs = np.where(truth[:, k], 1.0, -1.0)
        theirs[:, k] = linear_svc(vectors, signs, C)
        values = [objective(w[:, k], vectors, signs, C) for w in (ours.weights, theirs)]
        assert values[0] == pytest.approx(values[1], rel=1e-6)
    expected = fresh @ theirs[:-1] + theirs[-1]
    np.testing.assert_allclose(ours.scores(fresh), expected, atol=2e-3)
    np.testing.assert_array_equal(ours.scores(fresh) > 0, expected > 0)
    np.testing.assert_array_equal(ours.scores(fresh).argmax(axis=1), expected.argmax(axis=1))


@pytest.mark.parametrize(
    ("limits", "kind", "C"),
    [
        pytest.param({"MAX_ROTATED": 10}, "dense", 1.0, id="without a rotation"),
        pytest.param({"PATIENCE": 3}, "dense", 1.0, id="through factors"),
        pytest.param({"PATIENCE": 2}, "wide", 0.01, id="in rows"),
        pytest.param({"PATIENCE": 2, "MAX_KERNEL": 0}, "wide", 0.01, id="wide, without a kernel"),
    ],
)
def test_every_way_reaches_the_optimum_of_a_stiff_problem(
    limits: dict[str, int], kind: str, C: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(solver, name, value)
    vectors, truth = problem(kind, "multi")
    vectors = vectors * np.logspace(0, 1.5 if kind == "dense" else 1, len(vectors))[:, None]
    if kind == "wide":
        vectors = sp.csr_array(np.where(np.abs(vectors) > 1, vectors, 0))
    signs = np.where(truth, 1.0, -1.0)
    stiff = Problem(prepare(vectors), signs)
    weights = stiff.design.weights(stiff.solve(C))
    assert bool(stiff.grams) == (limits == {"PATIENCE": 3})
    for k in range(5):
        best = objective(linear_svc(vectors, signs[:, k], C), vectors, signs[:, k], C)
        assert objective(weights[:, k], vectors, signs[:, k], C) == pytest.approx(best, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_folds_as_columns_equal_fits_on_their_rows(kind: str) -> None:
    vectors, truth = problem(kind, "multi")
    signs = np.where(truth, 1.0, -1.0)
    kept = np.arange(len(truth)) % 3 > 0
    used = np.column_stack([np.ones_like(kept)] * 5 + [kept] * 5)
    together = Problem(prepare(vectors), np.tile(signs, 2), used, np.tile(np.arange(5), 2))
    start = together.solve(0.1)
    weights = together.design.weights(together.solve(10.0, start=start))
    np.testing.assert_allclose(weights[:, :5], train_linear(vectors, truth, 10.0).weights, atol=1e-3)
    np.testing.assert_allclose(
        weights[:, 5:], train_linear(vectors[kept], truth[kept], 10.0).weights, atol=1e-3
    )


@pytest.mark.slow
def test_chosen_c_is_the_best_on_the_folds() -> None:
    vectors, truth = problem("dense", "single", n=400)
    folds = stratified_folds(truth, module.N_FOLDS, np.random.default_rng(3))
    unit = 1 / np.square(vectors).sum(axis=1).mean()
    figures = []
    for c in module.GRID:
        predicted = np.zeros_like(truth)
        for fold in range(module.N_FOLDS):
            held = folds == fold
            scores = train_linear(vectors[~held], truth[~held], c * unit).scores(vectors[held])
            predicted[np.flatnonzero(held), scores.argmax(axis=1)] = True
        micro, macro = (f1_score(truth, predicted, average=how) for how in ("micro", "macro"))
        figures.append((micro + macro) / 2)
    best = int(np.argmax(figures))
    assert pytest.approx(module.GRID[best] * unit) == train_linear(vectors, truth, random_state=3).C


@pytest.mark.parametrize("train", [train_linear, train_rbf])
def test_classes_that_nobody_or_everybody_has_and_tiny_training_sets(train: object) -> None:
    vectors, truth = problem("dense", "single")
    scores = train(vectors, np.c_[truth, np.zeros(len(truth), dtype=bool)]).scores(vectors)
    assert (scores[:, -1] == -np.inf).all()
    assert np.isfinite(scores[:, :-1]).all()
    only = np.tile([False, True, False], (len(vectors), 1))
    assert (train(vectors, only).scores(-10 * vectors).argmax(axis=1) == 1).all()
    for n in (1, 2, 3):
        tiny = train(np.zeros((n, 4)), np.eye(3, dtype=bool)[np.arange(n)])
        assert tiny.scores(np.zeros((2, 4))).shape == (2, 3)


def test_folds_spread_every_class_evenly_also_a_rare_one_whose_nodes_have_a_frequent_one_too() -> None:
    _, truth = problem("dense", "single")
    folds = stratified_folds(truth, 3, np.random.default_rng(0))
    assert np.ptp(np.bincount(folds)) <= 1
    assert all(np.ptp(np.bincount(folds[column], minlength=3)) <= 1 for column in truth.T)
    truth = np.ones((30, 2), dtype=bool)
    truth[3:, 1] = False
    for seed in range(10):
        folds = stratified_folds(truth, 3, np.random.default_rng(seed))
        assert sorted(folds[:3].tolist()) == [0, 1, 2]
        assert np.bincount(folds).tolist() == [10, 10, 10]


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2])
def test_chosen_c_follows_the_scale_of_the_vectors_and_is_the_same_again(scale: float) -> None:
    vectors, truth = problem("dense", "multi", n=300)
    vectors = scale * vectors.astype(np.float32)
    one, two = (train_linear(vectors, truth, random_state=1) for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)
    chosen = one.C * np.square(vectors, dtype=float).sum(axis=1).mean()
    assert any(chosen == pytest.approx(c) for c in module.GRID)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rbf_is_scikit_learns(kind: str) -> None:
    vectors, truth = problem(kind, "multi")
    if kind == "sparse":  # as the features of a large graph have them
        vectors.indices, vectors.indptr = vectors.indices.astype(np.int64), vectors.indptr.astype(np.int64)
    dense = vectors.toarray() if kind == "sparse" else vectors
    expected = SVC(gamma="auto").fit(dense, truth[:, 0]).decision_function(dense)
    trained = train_rbf(vectors, truth)
    assert trained.C == 1.0
    np.testing.assert_allclose(trained.scores(vectors)[:, 0], expected, atol=1e-6)
