from __future__ import annotations

import numpy as np
import pytest

from unseen.methods import selection
from unseen.methods.selection import (
    add_views,
    as_good_as_the_best,
    hits,
    leave_one_out,
    of_kernel,
)


def blobs(n: int = 60, noise: float = 0.3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    return np.eye(3)[group] @ rng.standard_normal((3, 5)) + noise * rng.standard_normal((n, 5)), np.eye(3)[
        group
    ] > 0


@pytest.mark.parametrize(("n", "noise"), [(60, 1.5), (4, 0.3)])
def test_leaving_one_out_in_closed_form_is_fitting_again_without_it(
    n: int, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    V, truth = blobs(n, noise)
    ridge = 0.3
    monkeypatch.setattr(selection, "RIDGES", [ridge])
    X = V - V.mean(axis=0)
    unit = (X**2).sum() / n
    expected, errors = [], []
    for i in range(n):
        rest = np.arange(n) != i
        # the intercept is the mean over all rows for the unit, over the others for the fit
        design = np.c_[X[rest], np.ones(n - 1)]
        penalty = np.diag([ridge * unit] * X.shape[1] + [0.0])
        weights = np.linalg.solve(design.T @ design + penalty, design.T @ (truth[rest] * 2.0 - 1.0))
        scores = np.r_[X[i], 1.0][None] @ weights
        expected.append(hits(scores, truth[[i]])[0])
        errors.append(((scores - (truth[i] * 2.0 - 1.0)) ** 2).sum())
    found, squared = leave_one_out(V, truth)
    assert found.tolist() == expected
    np.testing.assert_allclose(squared, errors, rtol=1e-6)
    assert 0 < np.mean(expected) < 1 or n == 4


def test_hits_count_as_many_scores_as_there_are_labels() -> None:
    truth = np.array([[1, 1, 0], [0, 0, 1]], dtype=bool)
    assert hits(np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]]), truth).tolist() == [0.5, 0.0]


def test_what_is_clearly_worse_is_left_out_and_ties_are_kept() -> None:
    rng = np.random.default_rng(0)
    good = (rng.random(400) < 0.9).astype(float)
    other = good.copy()
    other[np.flatnonzero(good == 1)[0]], other[np.flatnonzero(good == 0)[0]] = 0, 1  # one lost, one won
    bad = (rng.random(400) < 0.6).astype(float)
    assert as_good_as_the_best({"good": good, "other": other, "bad": bad, "same": good}) == [
        "good",
        "other",
        "same",
    ]


def test_kernels_that_add_up_are_views_side_by_side() -> None:
    V, truth = blobs(60, 1.5)
    W, _ = blobs(60, 1.0, seed=1)
    found, errors = leave_one_out(np.hstack([V, W]), truth)
    by_kernels = of_kernel(V @ V.T + W @ W.T, truth)
    assert by_kernels[0].tolist() == found.tolist()
    np.testing.assert_allclose(by_kernels[1], errors, rtol=1e-6)


def test_each_strength_counts_by_its_own_best() -> None:
    V, truth = blobs(60, 1.5)
    found, errors = leave_one_out(V, truth)
    alone = [selection.RIDGES[[k]] for k in range(len(selection.RIDGES))]
    with pytest.MonkeyPatch.context() as patch:
        each = []
        for ridges in alone:
            patch.setattr(selection, "RIDGES", ridges)
            each.append(leave_one_out(V, truth))
    assert found.mean() == max(one.mean() for one, _ in each)
    assert errors.mean() == min(one.mean() for _, one in each)


@pytest.mark.parametrize(
    ("more_labels", "less_error", "joins"), [(True, 0.2, True), (False, 0.2, False), (True, 0.0, False)]
)
def test_a_view_joins_if_more_labels_are_found_and_errors_are_clearly_smaller(
    more_labels: bool, less_error: float, joins: bool
) -> None:
    rng = np.random.default_rng(0)
    errors = rng.random(200)
    found = (errors < 0.8).astype(float)

    def score(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
        if names == ["a"]:
            return found, errors
        noise = 0.1 * (rng.permutation(200) / 199 - 0.5)
        better = found.copy()
        better[np.flatnonzero(found == 0)[:1]] = float(more_labels)
        return better, errors - less_error + noise

    assert (add_views(["a"], lambda names: ["b"], score, most=1) == ["a", "b"]) == joins
