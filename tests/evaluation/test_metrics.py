"""The F1 of the protocol is scikit-learn's, over all classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from unseen.evaluation.metrics import best_labels, f1_per_class, macro_f1, micro_f1, positive_labels


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("several", [False, True])
def test_f1_is_scikit_learns(seed: int, several: bool) -> None:
    rng = np.random.default_rng(seed)
    truth, predicted = (np.eye(8, dtype=bool)[rng.integers(6, size=50)] for _ in range(2))
    if several:
        truth |= rng.random(truth.shape) < 0.2
        predicted |= rng.random(truth.shape) < 0.2
    truth[:, 7] = predicted[:, 7] = False  # a class that neither occurs nor is predicted
    truth[:, 6] = False  # a class absent from the test set
    for function, average in ((micro_f1, "micro"), (macro_f1, "macro"), (f1_per_class, None)):
        expected = f1_score(truth, predicted, average=average, zero_division=0)
        np.testing.assert_allclose(function(truth, predicted), expected)


def test_scores_become_labels() -> None:
    scores = np.array([[0.3, -1.0, 0.2], [-3.0, -2.0, -1.0], [1.0, 1.0, 0.0], [0.3, -np.inf, -np.inf]])
    given = best_labels(scores, np.array([2, 1, 1, 3]))
    assert given.astype(int).tolist() == [[1, 0, 1], [0, 0, 1], [1, 0, 0], [1, 0, 0]]
    assert positive_labels(scores).astype(int).tolist() == [[1, 0, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0]]
