"""Weights and features of any scale: usable vectors, or a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.errors import UnseenError
from unseen.linalg.normalize import column_scale, standardize
from unseen.linalg.svd import eigh

DATA = unseen.planted_partition(60, 3, random_state=0)
FAST: dict[str, Any] = {"n_components": 4, "epochs": 3, "max_iter": 3, "random_state": 0}
SCALED = [
    (name, scale)
    for name in ("smoothfeats", "rect-l", "rect-n", "rect-plus", "gcn")
    for scale in (1e-300, 1e-25, 1e-9, 1e20, 1e150, 1e300)
]


def _fitted(name: str, graph: unseen.Graph) -> unseen.methods.base.Method:
    allowed = unseen.make_method(name)._parameters
    return unseen.make_method(name, **{key: value for key, value in FAST.items() if key in allowed}).fit(
        graph, DATA.labels
    )


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("name", "scale"), SCALED)
def test_features_of_any_scale_give_vectors(name: str, scale: float, dense: bool) -> None:
    features = DATA.graph.features.astype(np.float64) * scale
    graph = unseen.Graph(DATA.graph.adjacency, features.toarray() if dense else features, DATA.graph.node_ids)
    method = _fitted(name, graph)
    vectors = method.embedding_.vectors
    values = vectors if isinstance(vectors, np.ndarray) else vectors.data
    assert np.isfinite(values).all()
    assert values.any()
    if name == "smoothfeats":
        usual = _fitted(name, DATA.graph).embedding_.vectors
        np.testing.assert_allclose(vectors @ vectors.T, usual @ usual.T, atol=1e-4)
    if name in ("smoothfeats", "rect-l"):  # new nodes are scaled as those of the fit were
        again = method.transform(graph).vectors
        np.testing.assert_allclose(again, vectors, atol=1e-3 * np.abs(vectors).max())


@pytest.mark.parametrize("name", unseen.method_names())
@pytest.mark.parametrize("weight", [5e-324, 1e-200, 1e200])
def test_weights_of_any_scale_give_vectors(name: str, weight: float) -> None:
    adjacency = DATA.graph.adjacency.copy()
    adjacency.data = np.full_like(adjacency.data, weight)
    vectors = _fitted(
        name, unseen.Graph(adjacency, DATA.graph.features, DATA.graph.node_ids)
    ).embedding_.vectors
    assert np.isfinite(vectors if isinstance(vectors, np.ndarray) else vectors.data).all()


def test_weights_that_are_too_far_apart_are_refused() -> None:
    adjacency = sp.lil_array((3, 3))
    adjacency[0, 1] = adjacency[1, 0] = 1.0
    adjacency[1, 2] = adjacency[2, 1] = 5e-324
    with pytest.raises(unseen.InputError, match=r"edge weights go from 4\.9\d*e-324 to 1, .*leave out"):
        unseen.MFDW(n_components=2).fit(unseen.Graph(sp.csr_array(adjacency)))


def test_what_floating_point_cannot_hold_is_refused() -> None:
    features = DATA.graph.features.astype(np.float64)
    small, medium, large = (
        unseen.Graph(DATA.graph.adjacency, features * scale, DATA.graph.node_ids)
        for scale in (1e-300, 1e-5, 1e300)
    )
    with pytest.raises(UnseenError, match=r"nodefeats: all vectors are zero; the largest feature is 1e-300"):
        unseen.NodeFeats().fit(small)
    with pytest.raises(unseen.InputError, match="must be finite and fit into 32-bit floats"):
        unseen.NodeFeats().fit(large)
    assert not hasattr(_fitted("smoothfeats", medium), "feature_exponent_"), "usual scales are left alone"
    with pytest.raises(UnseenError, match="have left the range of floating point"):
        eigh(np.full((3, 3), np.nan))


def _columns() -> np.ndarray:
    """Return 60 rows: two raw measurements, counts of a word, and a rare column with negative values."""
    rng = np.random.default_rng(0)
    rare = np.where(rng.random(60) < 0.2, rng.normal(size=60), 0.0)
    word = (rng.random(60) < 0.3).astype(float)
    return np.column_stack([rng.normal(1e4, 3e3, 60), rng.normal(0.1, 0.03, 60), word, rare])


def test_dense_and_negative_columns_are_divided_by_their_deviation() -> None:
    raw = _columns()
    expected = raw.copy()
    expected[:, :2] -= raw[:, :2].mean(axis=0)
    for k in (0, 1, 3):  # the last one around 0, so that zeros stay zeros
        expected[:, k] /= np.sqrt(np.mean(expected[:, k] ** 2))
    for form in (np.asarray, sp.csr_array):
        scale = column_scale(form(raw), Run())
        now = standardize(form(raw), scale)
        assert np.allclose(now if isinstance(now, np.ndarray) else now.toarray(), expected)
        assert column_scale(now, Run()) is None
    assert column_scale(DATA.graph.features, Run()) is None


def test_the_unit_of_a_measurement_does_not_matter(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "unseen")
    raw, adjacency = _columns(), DATA.graph.adjacency[:60][:, :60]
    grams = []
    for unit in (1.0, 1e-4):
        graph = unseen.Graph(adjacency, raw * [unit, 1.0, 1.0, 1.0])
        method = unseen.SmoothFeats(n_components=4, random_state=0).fit(graph)
        vectors = method.embedding_.vectors
        grams.append(vectors @ vectors.T)
        assert np.allclose(method.transform(graph).vectors, vectors, atol=1e-5), (
            "new nodes get the same scale"
        )
    assert np.allclose(*grams, atol=1e-4)
    assert "3 of 4 feature columns are standardised" in caplog.text
    assert np.allclose(unseen.NodeFeats().fit_transform(graph).vectors, graph.features)
