from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.errors import InputError, UnsupportedError
from unseen.methods.views import Reduction, is_walk, reductions, smoothed_views, weighted


@pytest.fixture(scope="module")
def planted() -> unseen.Dataset:
    return unseen.planted_partition(400, 5, random_state=0)


def a_split(data: unseen.Dataset, rate: float = 0.2) -> unseen.Split:
    return unseen.completely_imbalanced_split(
        data.labels, label_rate=rate, unseen=list(data.labels.classes[:2]), random_state=0
    )


@pytest.mark.slow
def test_it_keeps_hidden_classes_apart(planted: unseen.Dataset) -> None:
    split = a_split(planted)
    scores = {
        name: unseen.evaluate_method(
            unseen.make_method(name, random_state=0), planted.graph, planted.labels, split
        )
        for name in ("rect-plus", "nodefeats")
    }
    assert scores["rect-plus"].unseen_f1 > scores["nodefeats"].unseen_f1
    assert scores["rect-plus"].micro_f1 > 0.9


@pytest.mark.slow
def test_views_are_chosen_by_the_labels_and_reported(planted: unseen.Dataset) -> None:
    method = unseen.RECTPlus(random_state=0).fit(planted.graph, a_split(planted).seen_labels)
    best = max(method.view_scores_, key=method.view_scores_.get)
    assert best in method.views_
    assert set(method.views_) <= set(method.view_scores_)
    assert {"plain/near", "weighted-wide/far", "walk", "sharp-walk/near"} <= set(method.view_scores_)


@pytest.mark.slow
def test_features_of_noise_leave_the_walk(planted: unseen.Dataset) -> None:
    noise = np.random.default_rng(0).standard_normal((400, 30))
    clean = unseen.planted_partition(400, 5, random_state=0)
    graph = unseen.Graph(clean.graph.adjacency, noise, clean.graph.node_ids)
    method = unseen.RECTPlus(random_state=0).fit(graph, a_split(clean, 0.5).seen_labels)
    assert is_walk(max(method.view_scores_, key=method.view_scores_.get))
    assert sum(not is_walk(name) for name in method.views_) <= 1


def halves_known_to_one_kind_each() -> tuple[unseen.Graph, unseen.Labels]:
    """Return a graph whose edges tell a, b and the rest apart, and whose features tell c from d."""
    rng = np.random.default_rng(0)
    blocks, classes = np.repeat([0, 1, 2], [60, 60, 120]), np.repeat([0, 1, 2, 3], 60)
    near = rng.random((240, 240)) < np.where(blocks[:, None] == blocks, 0.2, 0.01)
    upper = np.triu(near, 1)
    features = rng.standard_normal((240, 6)) * 0.1
    features[classes == 2, 0] += 1
    features[classes == 3, 1] += 1
    graph = unseen.Graph(sp.csr_array((upper | upper.T).astype(float)), features, np.arange(240))
    return graph, unseen.Labels.from_values(list(np.array(list("abcd"))[classes]), graph.node_ids)


def test_a_view_of_the_other_kind_joins_where_it_finds_more_labels() -> None:
    graph, labels = halves_known_to_one_kind_each()
    method = unseen.RECTPlus(random_state=0).fit(graph, labels)
    assert {is_walk(name) for name in method.views_} == {True, False}


def test_a_view_of_the_other_kind_stays_out_where_it_finds_none() -> None:
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 300)
    features = np.eye(3)[classes] + 0.3 * rng.standard_normal((300, 3))
    upper = np.triu(rng.random((300, 300)) < 0.02, 1)  # edges that know nothing of the classes
    graph = unseen.Graph(sp.csr_array((upper | upper.T).astype(float)), features, np.arange(300))
    labels = unseen.Labels.from_values([f"c{i}" for i in classes], graph.node_ids)
    method = unseen.RECTPlus(random_state=0).fit(graph, labels)
    assert not any(is_walk(name) for name in method.views_)


@pytest.mark.slow
def test_without_labels_the_default_views_serve(
    planted: unseen.Dataset, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="unseen"):
        method = unseen.RECTPlus(random_state=0).fit(planted.graph)
    assert method.views_ == ["weighted-wide/middle"]
    assert method.view_scores_ == {}
    assert "too few labels" in caplog.text
    bare = unseen.Graph(planted.graph.adjacency, None, planted.graph.node_ids)
    assert unseen.RECTPlus(random_state=0).fit(bare).views_ == ["walk/near"]


@pytest.mark.slow
def test_new_nodes_land_near_where_a_refit_puts_them() -> None:
    data = unseen.load_dataset("debian")
    split = unseen.completely_imbalanced_split(
        data.labels, label_rate=0.3, unseen=["mail", "web"], random_state=0
    )
    method = unseen.RECTPlus(n_components=64, random_state=0)
    full = method.fit_transform(data.graph, split.seen_labels).vectors
    np.testing.assert_allclose(method.transform(data.graph).vectors, full, atol=1e-4)
    kept = np.sort(np.random.default_rng(0).permutation(data.graph.n_nodes)[500:])
    part = unseen.Graph(
        data.graph.adjacency[kept][:, kept], data.graph.features[kept], data.graph.node_ids[kept]
    )
    early = unseen.RECTPlus(n_components=64, views=tuple(method.views_), random_state=0)
    early.fit(
        part, unseen.Labels(split.seen_labels.indicator[kept], split.seen_labels.classes, part.node_ids)
    )
    later = early.transform(data.graph).vectors
    new = np.setdiff1d(np.arange(data.graph.n_nodes), kept)
    old_gram, new_gram = full[new] @ full.T, later[new] @ later.T
    assert np.corrcoef(old_gram.ravel(), new_gram.ravel())[0, 1] > 0.95


def test_a_view_of_the_structure_cannot_embed_new_nodes(planted: unseen.Dataset) -> None:
    method = unseen.RECTPlus(views=("walk/near", "plain/near"), random_state=0).fit(planted.graph)
    with pytest.raises(UnsupportedError, match="a view of the structure alone"):
        method.transform(planted.graph)


def test_save_and_load(planted: unseen.Dataset, tmp_path: Path) -> None:
    views = ("weighted/far", "plain/near")  # of these few features the former is the wide one
    method = unseen.RECTPlus(n_components=16, views=views, random_state=0).fit(
        planted.graph, a_split(planted).seen_labels
    )
    method.save(tmp_path / "model.npz")
    again = unseen.RECTPlus.load(tmp_path / "model.npz")
    assert again.views_ == method.views_ == ["weighted-wide/far", "plain/near"]
    assert again.get_params() == method.get_params()
    np.testing.assert_array_equal(
        again.transform(planted.graph).vectors, method.transform(planted.graph).vectors
    )


@pytest.mark.slow
def test_unknown_views_are_named(planted: unseen.Dataset) -> None:
    with pytest.raises(InputError, match="unknown view in `views` 'plain/fra'; did you mean 'plain/far'"):
        unseen.RECTPlus(views=("plain/fra",), random_state=0).fit(planted.graph)
    with pytest.raises(InputError, match="`views` of RECTPlus is empty; name some of weighted-wide/far, "):
        unseen.RECTPlus(views=(), random_state=0).fit(planted.graph)


def test_the_strength_is_gone() -> None:
    with pytest.raises(InputError, match=r"^`strength` of RECTPlus is gone: .*never acted; leave it out$"):
        unseen.RECTPlus(strength=0.1)


@pytest.mark.slow
def test_several_labels_a_node_are_fine(planted: unseen.Dataset) -> None:
    values = [[f"c{i % 3}", f"d{i % 2}"] if i % 4 else None for i in range(400)]
    labels = unseen.Labels.from_values(values, planted.graph.node_ids)
    method = unseen.RECTPlus(random_state=0).fit(planted.graph, labels)
    assert np.isfinite(method.embedding_.vectors).all()


def test_reduced_features_are_the_projections_of_weighted_unit_rows() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((30, 12)) < 0.3) * rng.random((30, 12)))
    graph = unseen.Graph(sp.csr_array(np.ones((30, 30)) - np.eye(30)), X, np.arange(30))
    way = reductions(graph, 0, Run())["weighted-wide"]
    dense = X.toarray() * way.weights
    lengths = np.linalg.norm(dense, axis=1, keepdims=True)
    dense = np.divide(dense, lengths, out=np.zeros_like(dense), where=lengths > 0)
    np.testing.assert_allclose(way.apply(X, Run()), dense @ way.axes.T, atol=1e-5)
    np.testing.assert_allclose(weighted(X.toarray(), way.weights, unit=True), dense, atol=1e-9)
    assert smoothed_views(
        graph, {"w": Reduction(None, np.eye(12, dtype=np.float32), False)}, Run(), ["near"]
    )["w/near"].shape == (30, 12)


def test_dense_columns_count_alike_whatever_their_unit() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4)) * [1, 1000, 0.01, 1]
    graph = unseen.Graph(sp.csr_array((40, 40)), X, np.arange(40))
    scaled = unseen.Graph(sp.csr_array((40, 40)), X * [5, 1, 3, 1], np.arange(40))
    a, b = (unseen.RECTPlus(n_components=4, random_state=0).fit_transform(g).vectors for g in (graph, scaled))
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-4)
