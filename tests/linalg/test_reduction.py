from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.engine.run import Run
from unseen.linalg.reduction import Reduction, column_weights, leading_axes, weighted


@pytest.mark.parametrize("columns", [60, 2100])
@pytest.mark.parametrize("sparse", [False, True])
def test_axes_from_blocks_of_rows_hold_what_those_of_the_svd_hold(columns: int, sparse: bool) -> None:
    rng = np.random.default_rng(0)
    strong = rng.standard_normal((400, 12)) @ rng.standard_normal((12, columns)) * 3
    X = (strong + rng.standard_normal((400, columns))) * (rng.random((400, columns)) < 0.5)
    axes = leading_axes(
        sp.csr_array(X) if sparse else X, lambda rows: rows * 2, 10, np.random.default_rng(0), Run()
    )
    _, values, exact = np.linalg.svd(2 * X, full_matrices=False)
    np.testing.assert_allclose(axes @ axes.T, np.eye(10), atol=1e-4)
    assert np.square(2 * X @ axes.T).sum() >= 0.995 * np.square(values[:10]).sum()
    if columns == 60:  # exact, and with the same signs
        exact = exact[:10] * np.sign(exact[np.arange(10), np.abs(exact[:10]).argmax(axis=1)])[:, None]
        np.testing.assert_allclose(axes, exact, atol=1e-4)


def test_columns_of_unit_rows_are_those_of_the_whole_projection() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((90, 20)) < 0.3) * rng.random((90, 20)))
    way = Reduction.learn(X, column_weights(X), 8, 0, Run())
    whole = np.asarray(weighted(X, way.weights, unit=True) @ way.axes.T)
    lengths = np.linalg.norm(whole, axis=1, keepdims=True)
    expected = np.divide(whole, lengths, out=np.zeros_like(whole), where=lengths > 0)
    made = way.unit_columns(X, slice(2, 5), way.inverse_lengths(X, Run()), Run())
    np.testing.assert_allclose(made, expected[:, 2:5], atol=1e-5)
    np.testing.assert_allclose(way.apply(X, Run()), whole, atol=1e-5)
