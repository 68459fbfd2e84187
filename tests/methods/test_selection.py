from __future__ import annotations

import numpy as np
import pytest

from unseen.methods import selection
from unseen.methods.selection import add_others, choose_views, hits, leave_one_out, leave_one_out_of_kernel


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
    expected = []
    for i in range(n):
        rest = np.arange(n) != i
        # the intercept is the mean over all rows for the unit, over the others for the fit
        design = np.c_[X[rest], np.ones(n - 1)]
        penalty = np.diag([ridge * unit] * X.shape[1] + [0.0])
        weights = np.linalg.solve(design.T @ design + penalty, design.T @ (truth[rest] * 2.0 - 1.0))
        scores = np.r_[X[i], 1.0][None] @ weights
        expected.append(hits(scores, truth[[i]])[0])
    assert leave_one_out(V, truth).tolist() == expected
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
    found = {"good": good, "other": other, "bad": bad, "same": good}
    assert choose_views(found, ["bad"]) == ["good", "other", "same"]


@pytest.mark.parametrize(("more", "expected"), [(3, "liked"), (12, "lucky")])
def test_preferred_views_are_beaten_by_two_standard_errors_alone(more: int, expected: str) -> None:
    liked = (np.arange(90) < 50).astype(float)
    lucky = (np.arange(90) < 50 + more).astype(float)  # 1.8 or 3.7 standard errors more
    assert choose_views({"liked": liked, "lucky": lucky}, ["liked"]) == [expected]
    assert choose_views({"liked": liked, "lucky": lucky}, []) == ["lucky"]


def test_kernels_that_add_up_are_views_together() -> None:
    V, truth = blobs(60, 1.5)
    W, _ = blobs(60, 1.0, seed=1)
    found = leave_one_out(np.hstack([V, W]), truth)
    assert leave_one_out_of_kernel(V @ V.T + W @ W.T, truth)[0].tolist() == found.tolist()


def test_the_strength_with_most_hits_counts() -> None:
    V, truth = blobs(60, 1.5)
    found = leave_one_out(V, truth)
    with pytest.MonkeyPatch.context() as patch:
        each = []
        for ridge in selection.RIDGES:
            patch.setattr(selection, "RIDGES", [ridge])
            each.append(leave_one_out(V, truth).mean())
    assert found.mean() == max(each)


def test_others_join_where_they_clearly_help_and_not_otherwise() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, 200)
    truth = np.eye(4, dtype=bool)[group]
    half, other = (np.eye(2)[part] + 0.1 * rng.standard_normal((200, 2)) for part in (group // 2, group % 2))
    at = {"features": half, "structure": other, "noise": rng.standard_normal((200, 2))}
    found = {name: leave_one_out(view, truth) for name, view in at.items()}
    assert add_others(["features"], [], found, at, truth) == ["features", "structure"]
    kept = {name: found[name] for name in ("features", "noise")}
    assert add_others(["features"], [], kept, at, truth) == ["features"]
