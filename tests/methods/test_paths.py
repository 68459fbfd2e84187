"""Views of relations: paths against dense products, vectors of all types, directions and signs."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.engine.run import Run, Shared
from unseen.methods.paths import PathPool, paths_from


def library(rng: np.random.Generator, n: int = 60) -> tuple[unseen.Graph, list[str]]:
    """Authors of three fields, their papers with words, and venues; a venue serves one field."""
    field = rng.integers(0, 3, n)
    types = ["author"] * n + ["paper"] * n + ["venue"] * 6
    wrote, published = np.zeros((2, 2 * n + 6, 2 * n + 6))
    for k in range(n):
        for author in rng.choice(np.flatnonzero(field == field[k]), 2):
            wrote[author, n + k] = 1
        published[n + k, 2 * n + 2 * field[k] + rng.integers(0, 2)] = 1
    words = rng.random((n, 20)) < 0.2
    graph = unseen.Graph.from_relations(
        [
            unseen.Relation("wrote", "author", "paper", wrote),
            unseen.Relation("in", "paper", "venue", published),
        ],  # type: ignore[arg-type]
        [f"n{k}" for k in range(2 * n + 6)],
        types,
        {"paper": words.astype(np.float32)},
    )
    return graph, [f"field{k}" for k in field]


def labelled(graph: unseen.Graph, values: list[str]) -> unseen.Labels:
    return unseen.Labels.from_values(values + [None] * (graph.n_nodes - len(values)), graph.node_ids)  # type: ignore[list-item]


def test_a_path_is_the_product_of_normalised_relations() -> None:
    graph: Any = library(np.random.default_rng(0))[0]
    paths = {path.name: path for path in paths_from(graph, "author", Run())}
    assert list(paths)[:5] == ["", "wrote", "wrote.~wrote", "wrote.in", "wrote.~wrote.wrote"]
    wrote, published = (r.matrix.toarray() for r in graph.relations)
    blocks = wrote[:60, 60:120], published[60:120, 120:]
    first, second = (b / np.maximum(b.sum(axis=1, keepdims=True), 1) for b in blocks)
    back = blocks[0].T / np.maximum(blocks[0].T.sum(axis=1, keepdims=True), 1)
    eye = np.eye(6, dtype=np.float32)
    assert np.allclose(paths["wrote.in"] @ eye, first @ second, atol=1e-6)
    V = np.random.default_rng(1).random((60, 4)).astype(np.float32)
    assert np.allclose(paths["wrote.~wrote"] @ V, first @ (back @ V), atol=1e-5)
    assert np.allclose(paths["wrote"].back(V), first.T @ V, atol=1e-5)


def test_views_of_several_types_stand_side_by_side() -> None:
    graph, values = library(np.random.default_rng(0))
    method = unseen.RECTPlus(random_state=0).fit(graph, labelled(graph, values[:30]))
    assert any("wrote.in" in name for name in method.views_)
    assert method.view_scores_["venue-ids/wrote.in"] > 0.8
    vectors = method.embedding_.vectors
    assert vectors.shape[0] == graph.n_nodes
    assert np.abs(vectors[60:]).sum(axis=1).all()  # papers and venues have vectors, too
    codes = np.unique(values, return_inverse=True)[1]
    centres = np.stack([vectors[:60][codes == k].mean(axis=0) for k in range(3)])
    nearest = ((vectors[:60, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == codes).mean() > 0.9


def test_walks_over_the_folded_graph_have_half_of_the_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    graph: Any = library(np.random.default_rng(0))[0]
    pool = PathPool(graph, "author", 0, Run())
    weights = dict(zip(pool.names, np.asarray(pool.weights(pool.names)), strict=True))
    assert np.isclose(weights["walk/neighbours"] ** 2, len(pool.names) / 2)
    assert np.isclose(np.square(list(weights.values())).sum(), len(pool.names))
    assert pool.weights(["walk/neighbours"]) == 1.0
    view = pool.parts["walk/neighbours"]
    mean = graph.adjacency.toarray()[:60] @ view.base
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
    assert np.allclose(view.vectors(), mean, atol=1e-5)
    monkeypatch.setattr("unseen.methods.views.LARGE", 100)  # a large graph has no walks
    monkeypatch.setattr("unseen.methods.paths.LARGE", 59)  # and large types have narrow views
    large = PathPool(graph, "author", 0, Run())
    assert "walk/neighbours" not in large.names
    assert large.parts["author-ids/wrote.~wrote"].base.shape == (60, 32)


def test_labels_of_two_types_take_the_single_type_graph(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph, values = library(np.random.default_rng(0))
    labels = unseen.Labels.from_values([*values, *values, *[None] * 6], graph.node_ids)
    method = unseen.RECTPlus(random_state=0).fit(graph, labels)
    assert "labels are not of one type of nodes, so the undirected, single-type graph is used" in caplog.text
    assert not any("wrote" in name for name in method.views_)
    assert "folded" not in caplog.text
    few = unseen.RECTPlus(random_state=0).fit(graph, labelled(graph, values[:3]))
    assert few.views_[0] == "paper/wrote"


def signed_blocks(seed: int) -> tuple[unseen.Graph, unseen.Labels]:
    """Four classes that only negative edges tell apart, as in the docs."""
    rng, n = np.random.default_rng(seed), 600
    classes = rng.integers(0, 4, n)
    ends = np.sort(rng.integers(0, n, (2, 15_000)), axis=0)
    ends = np.unique(ends[:, ends[0] != ends[1]], axis=1)
    sign = np.where(classes[ends[0]] == classes[ends[1]], 1.0, -1.0) * np.where(
        rng.random(ends.shape[1]) < 0.1, -1, 1
    )
    kept = (sign < 0) | (rng.random(len(sign)) < 0.15)
    matrix = sp.coo_array((sign[kept], ends[:, kept]), shape=(n, n))
    graph = unseen.Graph.from_relations([unseen.Relation("trust", None, None, matrix)])
    return graph, unseen.Labels.from_values([f"c{k}" for k in classes], graph.node_ids)


def directed_ring(seed: int) -> tuple[unseen.Graph, unseen.Labels]:
    """Three classes whose links lead to the next class; half as many stay."""
    rng, n = np.random.default_rng(seed), 300
    classes = rng.integers(0, 3, n)
    ahead = (classes[None] - classes[:, None]) % 3
    matrix = (rng.random((n, n)) < np.array([0.05, 0.1, 0.0])[ahead]).astype(float)
    graph = unseen.Graph.from_relations([unseen.Relation("to", None, None, matrix, directed=True)])  # type: ignore[arg-type]
    return graph, unseen.Labels.from_values([f"c{k}" for k in classes], graph.node_ids)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "most_without"), [(signed_blocks, 0.75), (directed_ring, 0.5)])
def test_signs_and_directions_that_carry_the_classes_are_used(make: Any, most_without: float) -> None:
    graph, labels = make(0)
    split = unseen.completely_imbalanced_split(labels, label_rate=0.3, unseen=["c0"], random_state=0)
    vectors = [
        unseen.RECTPlus(random_state=0).fit_transform(each, split.seen_labels)
        for each in (graph, graph.view(unseen.Need()))
    ]
    with_relations, without = (unseen.evaluate(v, labels, split, random_state=0).micro_f1 for v in vectors)
    assert with_relations > 0.9
    assert without < most_without


def test_directions_are_two_steps() -> None:
    rng = np.random.default_rng(0)
    matrix = (rng.random((40, 40)) < 0.1).astype(float)
    graph: Any = unseen.Graph.from_relations(
        [unseen.Relation("cites", None, None, matrix, directed=True)], None, None, np.eye(40)
    )  # type: ignore[arg-type]
    pool = PathPool(graph, None, 0, Run())
    assert {"nodes/cites", "nodes/~cites", "nodes/cites.~cites", "nodes-ids/~cites.~cites"} <= set(pool.names)
    assert not pool.signs
    method = unseen.RECTPlus(random_state=0, views=("nodes/~cites", "nodes-ids/cites")).fit(graph)
    assert np.allclose(method.transform(graph).vectors, method.embedding_.vectors, atol=1e-5)
    beside = unseen.RECTPlus(random_state=0, views=("plain/near", "nodes/~cites")).fit(graph)
    assert np.allclose(beside.transform(graph).vectors, beside.embedding_.vectors, atol=1e-5)
    structure = unseen.RECTPlus(random_state=0, views=("walk/raw", "nodes/~cites")).fit(graph)
    with pytest.raises(unseen.UnsupportedError, match="took a view of the structure alone"):
        structure.transform(graph)


def test_transform_gives_back_the_vectors_of_the_fit(tmp_path: Path) -> None:
    graph, values = library(np.random.default_rng(0))
    labels = labelled(graph, values[:30])
    method = unseen.RECTPlus(random_state=0).fit(graph, labels)
    vectors = method.embedding_.vectors
    assert any("-ids/" in name for name in method.views_)
    order = np.random.default_rng(3).permutation(graph.n_nodes)
    moved = graph.subgraph(order)
    assert np.allclose(method.transform(graph).vectors, vectors, atol=1e-5)
    assert np.allclose(method.transform(moved).vectors, vectors[order], atol=1e-5)
    other = unseen.RECTPlus(random_state=0).fit_transform(moved, labels.align_to(moved)).vectors
    assert np.allclose(vectors[order] @ vectors[order].T, other @ other.T, atol=1e-2)
    method.save(tmp_path / "model.npz")
    loaded = unseen.load_method(tmp_path / "model.npz")
    assert np.array_equal(loaded.transform(graph).vectors, method.transform(graph).vectors)


def test_new_nodes_are_where_a_fit_with_them_has_them() -> None:
    n = 150
    graph, values = library(np.random.default_rng(0), n)
    new = [5, 17, 30, 2 * n + 5]  # three authors and a venue
    old = graph.subgraph(np.setdiff1d(np.arange(graph.n_nodes), new))
    every = labelled(graph, values)
    known = every.keep(np.setdiff1d(np.arange(n), new)).align_to(old)
    transformed = unseen.RECTPlus(random_state=0).fit(old, known).transform(graph).vectors
    fitted = unseen.RECTPlus(random_state=0).fit_transform(graph, every).vectors

    def cosines(vectors: Any) -> Any:
        unit = vectors[:n] / np.maximum(np.linalg.norm(vectors[:n], axis=1, keepdims=True), 1e-9)
        return unit[new[:3]] @ unit.T

    assert np.abs(cosines(transformed) - cosines(fitted)).mean() < 0.05


def test_new_nodes_need_the_relations_and_features_of_the_fit() -> None:
    graph, values = library(np.random.default_rng(0))
    method = unseen.RECTPlus(random_state=0).fit(graph, labelled(graph, values[:30]))
    for other in (graph.view(unseen.Need()), graph.subgraph(np.arange(120))):
        with pytest.raises(
            unseen.InputError, match=r"lacks relations that the view .* follows; give the new"
        ):
            method.transform(other)
    turned: Any = {"author": np.ones((60, 10)), "paper": np.ones((60, 10))}  # as many columns in all
    renamed = unseen.Graph.from_relations(graph.relations, graph.node_ids, graph.node_types, turned)  # type: ignore[arg-type]
    with pytest.raises(unseen.InputError, match="'paper' has 10 features, at fit time there were 20"):
        method.transform(renamed)


def test_fits_that_share_work_have_the_same_vectors() -> None:
    graph, values = library(np.random.default_rng(0))
    shared = Shared(graph)
    for count in (30, 40):
        labels = labelled(graph, values[:count])
        one = unseen.RECTPlus(random_state=0)._fit_run(graph, labels, Run(shared=shared))
        alone = unseen.RECTPlus(random_state=0).fit(graph, labels)
        assert np.array_equal(one.embedding_.vectors, alone.embedding_.vectors)
        assert one.view_scores_ == alone.view_scores_
    few = unseen.RECTPlus(n_components=8, random_state=0)
    assert few._fit_run(graph, labels, Run(shared=shared)).embedding_.vectors.shape[1] == 8
