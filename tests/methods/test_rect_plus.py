from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run
from unseen.errors import InputError, UnsupportedError
from unseen.linalg.reduction import weighted
from unseen.methods import selection
from unseen.methods import views as pool_module
from unseen.methods.views import OPERATORS, Pool, degree_columns, needs_structure, reductions, structure_bases


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
    scores = method.view_scores_
    assert max(scores[name] for name in method.views_) > max(scores.values()) - 0.1
    assert {"plain/near", "weighted/far", "walk/raw", "degree/raw"} <= set(scores)
    families = method.family_scores_
    assert families["walks"] == max(score for name, score in scores.items() if "walk" in name)
    assert list(families.values()) == sorted(families.values(), reverse=True)


@pytest.mark.slow
def test_features_of_noise_leave_the_structure(planted: unseen.Dataset) -> None:
    noise = np.random.default_rng(0).standard_normal((400, 30))
    graph = unseen.Graph(planted.graph.adjacency, noise, planted.graph.node_ids)
    method = unseen.RECTPlus(random_state=0).fit(graph, a_split(planted, 0.5).seen_labels)
    assert needs_structure(max(method.view_scores_, key=method.view_scores_.get))
    assert all(needs_structure(name) for name in method.views_)


def differing_neighbours(n: int = 600) -> tuple[unseen.Graph, unseen.Labels]:
    """Return a graph whose edges join nodes at random, and whose features know the classes a little."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 4, n)
    features = np.eye(4)[classes] + 0.5 * rng.standard_normal((n, 4))
    upper = np.triu(rng.random((n, n)) < 10 / n, 1)
    graph = unseen.Graph(sp.csr_array((upper | upper.T).astype(float)), features, np.arange(n))
    return graph, unseen.Labels.from_values([f"c{i}" for i in classes], graph.node_ids)


def test_where_neighbours_differ_features_are_used_as_they_are(caplog: pytest.LogCaptureFixture) -> None:
    graph, labels = differing_neighbours()
    with caplog.at_level(logging.INFO, logger="unseen"):
        method = unseen.RECTPlus(random_state=0).fit(graph, labels.keep(np.arange(150)))
    assert max(method.view_scores_, key=method.view_scores_.get).endswith("/raw")
    assert not any(needs_structure(name) for name in method.views_)
    assert "rect-plus: of the labels, features as they are find" in caplog.text
    assert f"taken together: {method.views_[0]}" in caplog.text


def test_where_nothing_tells_classes_apart_all_views_of_features_are_taken() -> None:
    graph, _ = differing_neighbours()
    rng = np.random.default_rng(1)
    labels = unseen.Labels.from_values(list(rng.choice(["often", "rare"], 600, p=[0.9, 0.1])), graph.node_ids)
    method = unseen.RECTPlus(random_state=0).fit(graph, labels)
    assert set(method.views_) == {name for name in method.view_scores_ if not needs_structure(name)}


@pytest.mark.parametrize("across", [True, False])
def test_structure_is_taken_where_features_are_noise_whether_neighbours_differ_or_not(across: bool) -> None:
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 4, 300)
    partner = (classes + 2 * across) % 4  # edges join a class with one other, or with itself
    upper = np.triu(rng.random((300, 300)) < np.where(classes[:, None] == partner, 0.1, 0.004), 1)
    graph = unseen.Graph(sp.csr_array((upper | upper.T).astype(float)), rng.standard_normal((300, 8)))
    labels = unseen.Labels.from_values([f"c{i}" for i in classes], graph.node_ids)
    method = unseen.RECTPlus(random_state=0).fit(graph, labels.keep(np.arange(100)))
    assert all(needs_structure(name) for name in method.views_)


def test_where_the_number_of_neighbours_tells_classes_apart_two_steps_keep_it() -> None:
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 3, 600)
    weight = np.array([1.0, 4.0, 16.0])[classes]  # edges ignore classes, but some have many more of them
    upper = np.triu(rng.random((600, 600)) < np.outer(weight, weight) / 600, 1)
    words = (rng.random((600, 50)) < 0.2).astype(float)
    graph = unseen.Graph(sp.csr_array((upper | upper.T).astype(float)), sp.csr_array(words))
    labels = unseen.Labels.from_values([f"c{i}" for i in classes], graph.node_ids)
    scores = unseen.RECTPlus(random_state=0).fit(graph, labels.keep(np.arange(200))).view_scores_
    assert scores["weighted/twice"] > scores["weighted/near"] + 0.05
    assert scores["weighted/twice"] > scores["weighted/second"] + 0.1


def test_levels_of_activity_are_told_by_degrees_and_neighbours_degrees() -> None:
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(1200) % 5)
    activity = 1.9**codes * np.exp(0.25 * rng.standard_normal(1200))
    ends = rng.choice(1200, (2, 7200), p=activity / activity.sum())
    src, dst = ends[:, ends[0] != ends[1]]
    graph = unseen.Graph.from_edges(src, dst, nodes=range(1200))
    labels = unseen.Labels.from_values([f"level{c}" for c in codes], graph.node_ids)
    split = unseen.completely_imbalanced_split(labels, label_rate=0.1, unseen=["level2"], random_state=0)
    method = unseen.RECTPlus(random_state=0)
    vectors = method.fit_transform(graph, split.seen_labels)
    assert method.views_ == ["degree/raw"]
    assert vectors.vectors.shape[1] == 7
    assert max(method.family_scores_, key=method.family_scores_.get) == "degrees"
    smooth = unseen.make_method("smoothfeats", random_state=0).fit_transform(graph)
    mine, other = (
        unseen.evaluate(each, labels, split, random_state=0).micro_f1 for each in (vectors, smooth)
    )
    assert mine > other + 0.1


def test_degree_columns_are_their_dense_definitions_and_zero_where_all_degrees_are_equal() -> None:
    rng, n = np.random.default_rng(0), 40
    upper = np.triu(rng.random((n, n)) < 0.2, 1).astype(float)
    A = upper + upper.T
    degree = A.sum(axis=1)
    own = np.column_stack([np.log1p(degree), np.log1p(degree) ** 2])
    P = A / np.maximum(degree, 1)[:, None]
    expected = np.column_stack([own, P @ own, P @ P @ own, np.log1p(A @ degree)])
    expected = (expected - expected.mean(axis=0)) / expected.std(axis=0)
    columns = degree_columns(Run().matrix(sp.csr_array(A), symmetric=True), Run())
    np.testing.assert_allclose(columns, expected, atol=1e-4)
    ring = sp.csr_array(np.roll(np.eye(9), 1, axis=0) + np.roll(np.eye(9), -1, axis=0))
    assert not degree_columns(Run().matrix(ring, symmetric=True), Run()).any()


@pytest.mark.parametrize("labelled", [0, 30])
def test_with_no_labels_or_few_features_that_differ_between_neighbours_stay_as_they_are(
    labelled: int,
) -> None:
    graph, labels = differing_neighbours()
    views = unseen.RECTPlus(random_state=0).fit(graph, labels.keep(np.arange(labelled))).views_
    assert set(views) >= {"plain/raw", "weighted/raw"}
    assert not any(needs_structure(name) for name in views)
    near = graph.features - graph.features.mean(axis=0)
    for _ in range(5):
        near = near + 0.3 * (graph.adjacency @ near)
    smooth = unseen.Graph(graph.adjacency, near, graph.node_ids)
    assert unseen.RECTPlus(random_state=0).fit(smooth).views_ == ["weighted/middle"]


def test_likeness_is_the_correlation_of_features_along_edges(planted: unseen.Dataset) -> None:
    graph, run = planted.graph, Run()
    pool = Pool(graph, reductions(graph, 0, run), {}, run)
    A, Z = graph.adjacency.toarray(), pool.base("weighted")[:, :64].astype(np.float64)
    src, dst = np.nonzero(A)
    centred = Z - np.average(Z, axis=0, weights=A.sum(axis=1))
    expected = (centred[src] * centred[dst]).sum() / (centred[src] ** 2).sum()
    assert pool.likeness == pytest.approx(expected, abs=1e-4)
    assert Pool(graph, {}, {}, run).likeness == 1


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


def test_structure_and_features_stand_side_by_side_where_each_knows_half() -> None:
    graph, labels = halves_known_to_one_kind_each()
    method = unseen.RECTPlus(random_state=0).fit(graph, labels)
    vectors = method.embedding_.vectors
    best = max(method.view_scores_.values())
    assert len({name.split("/")[0] for name in method.views_}) > 1
    assert selection.leave_one_out(vectors, labels.indicator.toarray()).mean() > best - 0.01


@pytest.mark.slow
def test_without_labels_the_default_views_serve(
    planted: unseen.Dataset, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="unseen"):
        method = unseen.RECTPlus(random_state=0).fit(planted.graph)
    assert method.views_ == ["weighted/middle"]
    assert method.view_scores_ == method.family_scores_ == {}
    assert "too few labels" in caplog.text
    bare = unseen.Graph(planted.graph.adjacency, None, planted.graph.node_ids)
    assert unseen.RECTPlus(random_state=0).fit(bare).views_ == ["walk/near"]


@pytest.mark.slow
def test_new_nodes_land_near_where_a_refit_puts_them() -> None:
    data = unseen.load_dataset("debian")
    labels = unseen.completely_imbalanced_split(
        data.labels, label_rate=0.3, unseen=["mail", "web"], random_state=0
    ).seen_labels
    method = unseen.RECTPlus(n_components=64, random_state=0)
    full = method.fit_transform(data.graph, labels).vectors
    np.testing.assert_allclose(method.transform(data.graph).vectors, full, atol=1e-4)
    kept = np.sort(np.random.default_rng(0).permutation(data.graph.n_nodes)[500:])
    part = data.graph.subgraph(kept)
    early = unseen.RECTPlus(n_components=64, views=tuple(method.views_), random_state=0)
    later = early.fit(part, labels.keep(np.intersect1d(kept, labels.labelled)).align_to(part)).transform(
        data.graph
    )
    new = np.setdiff1d(np.arange(data.graph.n_nodes), kept)
    old_gram, new_gram = full[new] @ full.T, later.vectors[new] @ later.vectors.T
    assert np.corrcoef(old_gram.ravel(), new_gram.ravel())[0, 1] > 0.95


def test_views_may_be_named_saved_and_refused(planted: unseen.Dataset, tmp_path: Path) -> None:
    labels, views = a_split(planted).seen_labels, ["weighted/far", "weighted/near", "plain/raw"]
    method = unseen.RECTPlus(n_components=16, views=views, random_state=0).fit(planted.graph, labels)
    again = unseen.RECTPlus(n_components=16, views=tuple(views), random_state=0).fit(planted.graph, labels)
    assert method.views_ == again.views_ == views
    np.testing.assert_array_equal(again.embedding_.vectors, method.embedding_.vectors)
    again.save(tmp_path / "model.npz")
    loaded = unseen.RECTPlus.load(tmp_path / "model.npz")
    assert loaded.get_params() == again.get_params()
    np.testing.assert_array_equal(
        loaded.transform(planted.graph).vectors, method.transform(planted.graph).vectors
    )
    for wrong, message in (
        ("weighted/near", "`views` of RECTPlus must be"),
        (("plain/fra",), "unknown view in `views` 'plain/fra'; did you mean 'plain/raw' or 'plain/far'"),
        ((), "`views` of RECTPlus is empty; name some of weighted/raw, "),
    ):
        with pytest.raises(InputError, match=message):
            unseen.RECTPlus(views=wrong, random_state=0).fit(planted.graph, labels)
    structure = unseen.RECTPlus(views=("walk/near", "plain/near"), random_state=0).fit(planted.graph)
    with pytest.raises(UnsupportedError, match="a view of the structure alone"):
        structure.transform(planted.graph)


def test_reduced_features_are_the_projections_of_weighted_unit_rows() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((30, 12)) < 0.3) * rng.random((30, 12)))
    graph = unseen.Graph(sp.csr_array(np.ones((30, 30)) - np.eye(30)), X, np.arange(30))
    way = reductions(graph, 0, Run())["weighted"]
    dense = X.toarray() * way.weights
    lengths = np.linalg.norm(dense, axis=1, keepdims=True)
    dense = np.divide(dense, lengths, out=np.zeros_like(dense), where=lengths > 0)
    np.testing.assert_allclose(way.apply(X, Run()), dense @ way.axes.T, atol=1e-5)
    np.testing.assert_allclose(weighted(X.toarray(), way.weights, unit=True), dense, atol=1e-9)


def dense_views(graph: unseen.Graph, Z: np.ndarray) -> dict[str, np.ndarray]:
    """Return the views of one base by their plain definitions, with dense matrices."""
    A = graph.adjacency.toarray()
    loops = A + np.eye(len(A))
    root = np.sqrt(loops.sum(axis=1))
    ahat = loops / root[:, None] / root
    P = A / np.maximum(A.sum(axis=1, keepdims=True), 1e-300)
    made = {"raw": Z, "second": P @ P @ Z}
    for depth, rates in pool_module.DEPTHS.items():
        made[depth] = np.zeros_like(Z)
        for rate in rates:
            smooth = Z
            for _ in range(pool_module.STEPS):
                smooth = (1 - rate) * (ahat @ smooth) + rate * Z
            made[depth] = made[depth] + smooth / len(rates)
    lengths = {name: np.linalg.norm(vectors, axis=1, keepdims=True) for name, vectors in made.items()}
    unit = {name: made[name] / np.maximum(lengths[name], 1e-300) for name in made}
    return {**unit, "twice": ahat @ ahat @ Z}


def whole_view(pool: Pool, name: str) -> np.ndarray:
    joined = pool.side_by_side([name])
    return joined.read(0, joined.shape[0])


def test_views_are_their_dense_definitions_whole_and_at_some_rows(planted: unseen.Dataset) -> None:
    graph, run = planted.graph, Run()
    pool = Pool(graph, reductions(graph, 0, run), structure_bases(graph, 0, run), run)
    rows = np.array([3, 77, 200])
    at = pool.at(rows, pool.names)
    for base in ("weighted", "plain", "rows"):
        Z = pool.base(base)
        expected_views = dense_views(graph, Z.astype(np.float64))
        for operator in OPERATORS[base]:
            name, expected = f"{base}/{operator}", expected_views[operator]
            joined = pool.side_by_side([name])
            assert joined.places == [slice(0, Z.shape[1])]
            np.testing.assert_allclose(
                joined.read(0, graph.n_nodes), expected, atol=0.02
            )  # smoothing leaves out what is negligible
            np.testing.assert_allclose(at[name], expected[rows], atol=0.02)
    np.testing.assert_allclose(at["walk/raw"], whole_view(pool, "walk/raw")[rows], atol=1e-6)
    np.testing.assert_array_equal(at["degree/raw"], pool.base("degree")[rows])


def test_views_of_one_base_do_not_change_each_other_and_depths_become_their_mean(
    planted: unseen.Dataset,
) -> None:
    pool = Pool(planted.graph, reductions(planted.graph, 0, Run()), {}, Run())
    names = ["plain/far", "plain/raw", "weighted/twice"]
    together, n = pool.side_by_side(names), planted.graph.n_nodes
    for name, place in zip(names, together.places, strict=True):
        np.testing.assert_array_equal(together.read(0, n)[:, place], whole_view(pool, name))
    mixed = pool.side_by_side(["plain/near", "weighted/raw", "plain/far"])
    assert len(mixed.places) == 2
    near, far = (whole_view(pool, f"plain/{depth}") for depth in ("near", "far"))
    mean = mixed.read(0, n)[:, mixed.places[0]]
    cosines = np.einsum("ij,ij->i", mean, near + far) / np.linalg.norm(near + far, axis=1)
    assert cosines.min() > 0.97


def test_a_large_graph_has_no_walks_and_fewer_columns(
    planted: unseen.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "LARGE", 300)
    method = unseen.RECTPlus(random_state=0).fit(planted.graph, a_split(planted).seen_labels)
    assert not any(name.split("/")[0] in pool_module.WALKS for name in method.view_scores_)
    bare = unseen.Graph(planted.graph.adjacency, None, planted.graph.node_ids)
    assert unseen.RECTPlus(random_state=0).fit(bare).views_ == ["eigen/raw"]
