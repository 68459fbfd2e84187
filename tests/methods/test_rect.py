"""RECT-N, RECT-L and RECT: against the paper's definition, PyTorch Geometric, and what users bring."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone

import unseen
from oracles import rect as dense_rect
from unseen.engine.run import Run
from unseen.linalg.normalize import l2_rows
from unseen.methods.neural.rect_l import reduced_features
from unseen.methods.neural.tensors import keyed_numbers, xavier
from unseen.randomness import as_generator, child_seed, node_keys

FAMILY = ["rect-n", "rect-l", "rect"]


def accuracy(vectors, labels: unseen.Labels, split: unseen.Split) -> float:
    """How often the nearest class centre, over all classes and training nodes, is the right one."""
    codes = labels.codes
    centres = np.stack(
        [vectors[split.train][codes[split.train] == c].mean(axis=0) for c in range(len(labels.classes))]
    )
    distance = ((vectors[split.test][:, None] - centres[None]) ** 2).sum(axis=2)
    return float((distance.argmin(axis=1) == codes[split.test]).mean())


@pytest.mark.parametrize("features", [True, False])
def test_rect_n_follows_the_dense_definition_through_training(planted, features):
    graph = planted.graph if features else unseen.Graph(planted.graph.adjacency, None)
    method = unseen.RECTN(n_components=12, epochs=15, random_state=5)
    vectors = method.fit_transform(graph).vectors
    rng = as_generator(5)
    seed = child_seed(rng)
    if features:
        W = xavier(graph.features.shape[1], 12, rng)
    else:
        W = keyed_numbers(node_keys(graph.node_ids, seed), 12, np.sqrt(6 / (graph.n_nodes + 12)), Run())
    truth, losses = dense_rect.train_rect_n(graph, width=12, epochs=15, W=W, dtype=torch.float64)
    np.testing.assert_allclose(method.loss_history_, losses, rtol=1e-5)
    np.testing.assert_allclose(vectors, truth, atol=1e-4 * np.abs(truth).max())


def test_rect_l_equals_the_layers_of_pytorch_geometric(planted, split):
    from torch_geometric.nn.models import RECT_L

    graph = unseen.Graph(
        planted.graph.adjacency + sp.diags_array(np.arange(240) % 2.0), planted.graph.features
    )
    method = unseen.RECTL(n_components=10, svd_components=20, epochs=4, random_state=0)
    method.fit(graph, split.seen_labels)
    W, b, slope = method.encoder_.weights
    theirs = RECT_L(20, 10)
    with torch.no_grad():
        slope.fill_(1.0)
        theirs.conv.lin.weight.copy_(W.T)
        theirs.conv.bias.copy_(b)
    x = torch.from_numpy(graph.features.toarray() @ method.axes_.T).float()
    coo = graph.adjacency.tocoo()
    edges = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
    weight = torch.tensor(coo.data).float()
    np.testing.assert_allclose(
        method.transform(graph).vectors, theirs.embed(x, edges, weight).numpy(), atol=1e-5
    )
    labelled, codes = split.seen_labels.labelled, split.seen_labels.codes
    mask = torch.zeros(240, dtype=torch.bool)
    mask[labelled] = True
    centres = theirs.get_semantic_labels(x, torch.tensor(codes), mask).numpy()
    np.testing.assert_allclose(method.class_vectors_[codes[labelled]], centres, atol=1e-5)


def test_the_fast_path_of_one_layer_equals_the_path_over_the_whole_graph(planted, split):
    class NoneYetTrue(tuple):
        """No further layer, but true, so that the path for several layers is taken."""

        def __bool__(self) -> bool:
            return True

    options = {"n_components": 9, "svd_components": 15, "epochs": 12, "random_state": 1}
    fast = unseen.RECTL(**options).fit(planted.graph, split.seen_labels)
    slow = unseen.RECTL(**options, hidden=NoneYetTrue()).fit(planted.graph, split.seen_labels)
    np.testing.assert_allclose(fast.loss_history_, slow.loss_history_, rtol=1e-4)
    np.testing.assert_allclose(fast.embedding_.vectors, slow.embedding_.vectors, atol=1e-4)
    assert not np.array_equal(fast.embedding_.vectors, slow.embedding_.vectors), "it was the same path"


@pytest.mark.slow
def test_training_helps_and_unseen_classes_are_served(planted, split):
    scores = {}
    for name in FAMILY:
        method = unseen.make_method(name, epochs=100, random_state=0)
        scores[name] = accuracy(
            method.fit_transform(planted.graph, split.seen_labels).vectors, planted.labels, split
        )
        losses = (
            method.loss_history_ if isinstance(method.loss_history_, list) else method.loss_history_["rect-l"]
        )
        assert losses[-1] < 0.9 * losses[0]
    assert min(scores.values()) > 0.8
    assert scores["rect"] > 0.9


@pytest.mark.parametrize(("name", "half"), [("rect", "rect-n"), ("rect-dw", "rect-n-dw")])
def test_rect_without_labels_is_its_structure_half_and_says_so(name, half, planted, caplog):
    with caplog.at_level(logging.WARNING, logger="unseen"):
        method = unseen.make_method(name, n_components=6, epochs=5, random_state=0).fit(planted.graph)
    assert f"no labels, so the vectors are those of {half} alone" in caplog.text
    assert method.embedding_.vectors.shape == (240, 6)
    assert method.semantic_ is None
    np.testing.assert_allclose(
        method.embedding_.vectors, l2_rows(method.structure_._transform(planted.graph, Run())), atol=1e-6
    )
    with pytest.raises(unseen.InputError, match="rect-l learns from labels"):
        unseen.RECTL().fit(planted.graph)


@pytest.mark.parametrize("name", ["rect", "rect-dw"])
def test_rect_is_its_halves_side_by_side(name, planted, split):
    method = unseen.make_method(name, n_components=7, epochs=5, random_state=0)
    vectors = method.fit_transform(planted.graph, split.seen_labels).vectors
    for half, columns in ((method.semantic_, slice(4)), (method.structure_, slice(4, 7))):
        expected = l2_rows(half._transform(planted.graph, Run()))
        np.testing.assert_allclose(vectors[:, columns], expected, atol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(vectors[:, columns], axis=1), 1, atol=1e-5)
    assert set(method.loss_history_) == {"rect-l", method.structure_._traits.name}


def test_several_labels_get_the_mean_of_their_descriptions():
    from unseen.methods.semantics import describe_classes, shares_of

    labels = unseen.Labels.from_values(["a", ["a", "b"], "b", None, "c"])
    features = np.array([[1.0, 0], [3, 0], [0, 4], [9, 9], [5, 5]])
    centres = describe_classes(features, labels, "mean", Run())
    np.testing.assert_allclose(centres, [[2, 0], [1.5, 2], [5, 5]])
    np.testing.assert_allclose(shares_of(labels) @ centres, [[2, 0], [1.75, 1], [1.5, 2], [5, 5]])
    for readout, expected in (("median", [2, 0]), (lambda rows: rows.max(axis=0), [3, 0])):
        np.testing.assert_allclose(describe_classes(features, labels, readout, Run())[0], expected)
    with pytest.raises(unseen.InputError, match=r"`readout` must turn .* 2 finite numbers, for class 'a'"):
        describe_classes(features, labels, lambda rows: rows, Run())


def test_every_readout_reaches_its_use(planted, split):
    made = [
        unseen.RECTL(n_components=4, epochs=3, svd_components=10, readout=readout, random_state=0)
        .fit(planted.graph, split.seen_labels)
        .class_vectors_
        for readout in ("mean", "median", lambda rows: rows.max(axis=0))
    ]
    assert not np.allclose(made[0], made[1])
    assert not np.allclose(made[0], made[2])


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("features", ["adjacency", "identity"])
def test_other_sources_of_features_work_and_follow_the_nodes(name, features):
    data = unseen.planted_partition(80, 2, degree_within=8, degree_between=1, random_state=0)
    order = np.random.default_rng(0).permutation(80)
    shuffled = unseen.Graph(data.graph.adjacency[order][:, order], None, data.graph.node_ids[order])
    values = np.where(np.arange(80) % 3 == 0, data.labels.codes, -1)
    there = unseen.make_method(name, n_components=8, epochs=20, features=features, random_state=0)
    here = unseen.make_method(name, n_components=8, epochs=20, features=features, random_state=0)
    there = there.fit_transform(data.graph, values).vectors
    here.fit(shuffled, values[order])
    words = {"adjacency": "rows of the adjacency", "identity": "one of a kind"}
    with pytest.raises(unseen.UnsupportedError, match=words[features]):
        here.transform(shuffled)
    here = here.embedding_.vectors
    if features == "identity":
        np.testing.assert_allclose(here, there[order], atol=2e-3 * np.abs(there).max())
    else:  # singular values of an adjacency can be equal, then the axes are free to turn
        assert np.isfinite(here).all()
    assert there.std() > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILY)
def test_new_nodes_get_vectors_close_to_those_of_a_refit(name, planted, split):
    old, new = np.arange(200), np.arange(200, 240)
    smaller = unseen.Graph(planted.graph.adjacency[old][:, old], planted.graph.features[old], old)
    known = unseen.Labels(split.seen_labels.indicator[old], split.seen_labels.classes, old)
    method = unseen.make_method(name, n_components=64, random_state=0).fit(smaller, known)
    carried = method.transform(planted.graph).vectors
    refit = clone(method).fit_transform(planted.graph, known).vectors
    a, b = (l2_rows(v) @ l2_rows(v[old]).T for v in (carried, refit))
    assert np.corrcoef(a[new].ravel(), b[new].ravel())[0, 1] > 0.8
    assert accuracy(carried, planted.labels, split) > accuracy(refit, planted.labels, split) - 0.06


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILY)
def test_more_layers_and_raw_input_work(name, planted, split):
    kinds = [{"hidden": (24,)}, {"hidden": [24, 12]}]
    if name != "rect-n":
        kinds += [{"input": "raw"}, {"input": "raw", "hidden": (24,)}]
    plain = unseen.make_method(name, n_components=8, epochs=20, random_state=0)
    plain = plain.fit_transform(planted.graph, split.seen_labels).vectors
    for kind in kinds:
        method = unseen.make_method(name, n_components=8, epochs=20, random_state=0, **kind)
        vectors = method.fit_transform(planted.graph, split.seen_labels).vectors
        assert vectors.shape == (240, 8)
        assert not np.allclose(vectors, plain)
        np.testing.assert_allclose(method.transform(planted.graph).vectors, vectors, atol=1e-3)


def test_descriptions_wider_than_the_features_are_refused_or_clipped_with_a_notice(planted, split, caplog):
    with pytest.raises(unseen.InputError, match="`svd_components` is 181, but at most 180"):
        unseen.RECTL(svd_components=181).fit(planted.graph, split.seen_labels)
    with caplog.at_level(logging.INFO, logger="unseen"):
        unseen.RECTL(n_components=3, epochs=1).fit(planted.graph, split.seen_labels)
    assert "descriptions of 180 dimensions instead of 200" in caplog.text


def test_words_of_the_seen_classes_are_their_own(planted, split):
    method = unseen.RECT(n_components=4, epochs=1, random_state=0).fit(planted.graph, split.seen_labels)
    assert set(method.class_descriptions_) == {"c0", "c1", "c2"}
    for name, words in method.class_descriptions_.items():
        assert sum(word.startswith(f"{name}_") for word, _ in words) >= 8
        amounts = [amount for _, amount in words]
        assert amounts == sorted(amounts, reverse=True)
        assert amounts[-1] > 0
    unnamed = unseen.Graph(planted.graph.adjacency, planted.graph.features)
    assert unseen.RECTL(n_components=4, epochs=1).fit(unnamed, split.seen_labels).class_descriptions_ == {}


def test_identity_features_give_orthonormal_semantics():
    graph = unseen.random_graph(500, random_state=0)
    Z, axes = reduced_features(graph, "identity", None, "rect-l", Run().with_seed(0))
    assert axes is None
    np.testing.assert_allclose(Z.T @ Z, np.eye(200), atol=1e-4)


@pytest.mark.parametrize("name", FAMILY)
def test_callbacks_tolerance_and_progress_reach_the_training(name, planted, split):
    seen = []

    def watch(epoch):
        seen.append((epoch.method, epoch.number, epoch.vectors().shape))
        return epoch.number == 3

    method = unseen.make_method(name, n_components=8, callbacks=[watch], random_state=0)
    method.fit(planted.graph, split.seen_labels)
    halves = ["rect-l", "rect-n"] if name == "rect" else [name]
    width = 4 if name == "rect" else 8
    assert seen == [(half, number, (240, width)) for half in halves for number in (1, 2, 3)]
    eager = unseen.make_method(name, n_components=8, tol=0.9, random_state=0).fit(
        planted.graph, split.seen_labels
    )
    losses = eager.loss_history_ if name != "rect" else eager.loss_history_["rect-n"]
    assert len(losses) == 11


@pytest.mark.parametrize("name", ["rect-n", "rect-l"])
def test_ctrl_c_keeps_the_best_state(name, planted, split):
    def interrupt(epoch):
        if epoch.number == 6:
            raise KeyboardInterrupt

    options = {"n_components": 8, "random_state": 0}
    method = unseen.make_method(name, callbacks=[interrupt], keep_on_interrupt=True, **options)
    method.fit(planted.graph, split.seen_labels)
    assert method.stopped_by_ == "interrupt"
    # the sixth loss, the best, belongs to the weights after five updates
    five = (
        unseen.make_method(name, epochs=5, **options).fit_transform(planted.graph, split.seen_labels).vectors
    )
    np.testing.assert_array_equal(method.embedding_.vectors, five)
    with pytest.raises(KeyboardInterrupt):
        unseen.make_method(name, callbacks=[interrupt], **options).fit(planted.graph, split.seen_labels)


def test_random_state_none_is_really_random(planted):
    a, b = (unseen.RECTN(n_components=4, epochs=1).fit_transform(planted.graph).vectors for _ in range(2))
    assert not np.array_equal(a, b)
