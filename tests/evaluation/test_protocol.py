"""The protocol: joins by id, breakdowns, multi-label scores, bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

import unseen
from unseen.evaluation import clustering_scores, evaluate_many


def made(n: int = 150, several: bool = False, seed: int = 0) -> tuple[unseen.Embedding, unseen.Labels]:
    rng = np.random.default_rng(seed)
    code = rng.integers(4, size=n)
    names = np.array(list("abcd"))
    values = [[names[k], "d"] if several and rng.random() < 0.3 else names[k] for k in code]
    vectors = np.eye(4)[code] @ rng.normal(size=(4, 10)) + rng.normal(size=(n, 10))
    ids = [f"n{i}" for i in range(n)]
    return unseen.Embedding(vectors, ids), unseen.Labels.from_values(values, ids)


def drawn(labels: unseen.Labels) -> unseen.Split:
    return unseen.completely_imbalanced_split(labels, label_rate=0.4, unseen=["b", "d"], random_state=0)


def test_score_is_that_of_linear_svc_on_the_same_rows() -> None:
    embedding, labels = made()
    split = drawn(labels)
    score = unseen.evaluate(embedding, labels, split, C=0.5)
    codes = labels.codes
    machine = LinearSVC(C=0.5, tol=1e-8, dual=False).fit(embedding.vectors[split.train], codes[split.train])
    predicted = machine.predict(embedding.vectors[split.test])
    per_class = f1_score(codes[split.test], predicted, average=None)
    assert score.micro_f1 == pytest.approx(np.mean(predicted == codes[split.test]))
    assert score.macro_f1 == pytest.approx(per_class.mean())
    assert list(score.per_class) == list("abcd")
    np.testing.assert_allclose(list(score.per_class.values()), per_class)
    assert score.seen_f1 == pytest.approx(per_class[[0, 2]].mean())
    assert score.unseen_f1 == pytest.approx(per_class[[1, 3]].mean())
    assert (score.n_train, score.n_test, score.C, score.classifier) == (60, 90, 0.5, "linear")
    assert score.micro_f1_no_oracle is None


def test_rows_are_joined_by_id_in_any_order_by_string_form() -> None:
    embedding, labels = made()
    numbered = unseen.Labels(labels.indicator, labels.classes, np.arange(150))
    split = drawn(numbered)
    rng = np.random.default_rng(1)
    order = rng.permutation(150)
    vectors = np.r_[embedding.vectors[order], rng.normal(size=(20, 10))]
    shuffled = unseen.Embedding(vectors, [*(str(k) for k in order), *(f"more{i}" for i in range(20))])
    whole = unseen.Embedding(embedding.vectors, np.arange(150))
    assert unseen.evaluate(shuffled, numbered, split) == unseen.evaluate(whole, numbered, split)


def test_several_labels_with_and_without_the_oracle() -> None:
    embedding, labels = made(several=True)
    split = drawn(labels)
    score = unseen.evaluate(embedding, labels, split, C=0.5)
    truth = labels.indicator[split.test].toarray()
    decisions = np.column_stack(
        [
            LinearSVC(C=0.5, tol=1e-8, dual=False)
            .fit(embedding.vectors[split.train], labels.indicator[split.train].toarray()[:, k])
            .decision_function(embedding.vectors[split.test])
            for k in range(4)
        ]
    )
    ranks = (-decisions).argsort(axis=1).argsort(axis=1)
    oracle = ranks < truth.sum(axis=1, keepdims=True)
    free = (decisions > 0) | (ranks == 0)
    assert score.micro_f1 == pytest.approx(f1_score(truth, oracle, average="micro"))
    assert score.micro_f1_no_oracle == pytest.approx(f1_score(truth, free, average="micro"))
    assert score.macro_f1_no_oracle == pytest.approx(f1_score(truth, free, average="macro"))


def test_sparse_vectors_score_like_dense_ones_and_are_scaled_only_when_told_to() -> None:
    embedding, labels = made()
    split, lengths = drawn(labels), np.linspace(1, 50, 150)[:, None]
    sparse = unseen.Embedding(sp.csr_array(embedding.vectors), embedding.node_ids)
    one, two = unseen.evaluate(embedding, labels, split), unseen.evaluate(sparse, labels, split)
    assert pytest.approx(two.C) == one.C
    assert one.per_class == pytest.approx(two.per_class)
    longer = unseen.Embedding(embedding.vectors * lengths, embedding.node_ids)
    scaled = [unseen.evaluate(e, labels, split, scale=True, C=1.0) for e in (embedding, sparse, longer)]
    assert scaled[0] == scaled[2] != unseen.evaluate(longer, labels, split, C=1.0)
    assert scaled[0].micro_f1 == scaled[1].micro_f1
    rbf = unseen.evaluate(embedding, labels, split, classifier="rbf")
    assert (rbf.classifier, rbf.C) == ("rbf", 1.0)
    assert rbf.micro_f1 > 0.6


def test_a_hand_made_split_may_miss_classes() -> None:
    embedding, labels = made()
    codes = labels.codes
    for train, unseen_classes in (
        (np.flatnonzero(codes == 0)[:10], ("d",)),
        (np.flatnonzero(codes < 3)[:60], ()),
    ):
        test = np.setdiff1d(np.arange(150), train)
        split = unseen.Split(train, test, unseen_classes, labels.keep(train))
        score = unseen.evaluate(embedding, labels, split)
        assert score.per_class["d"] == 0
        assert (score.unseen_f1 is None) == (not unseen_classes)
        assert not unseen_classes or score.micro_f1 == pytest.approx(np.mean(codes[test] == 0))


def test_mean_and_deviation_over_splits() -> None:
    embedding, labels = made()
    splits = [unseen.balanced_split(labels, label_rate=0.3, random_state=seed) for seed in range(3)]
    summary = evaluate_many(embedding, labels, splits)
    figures = [unseen.evaluate(embedding, labels, split).micro_f1 for split in splits]
    report = json.loads(json.dumps(summary.to_dict()))
    assert report["micro_f1"] == pytest.approx(np.mean(figures))
    assert report["micro_f1_std"] == pytest.approx(np.std(figures, ddof=1))
    assert report["unseen_f1"] is None
    assert report["n_splits"] == 3
    with pytest.raises(unseen.InputError, match="no split to evaluate"):
        evaluate_many(embedding, labels, [])


def test_clusters_are_compared_with_classes() -> None:
    embedding, labels = made()
    split = drawn(labels)
    score = clustering_scores(embedding, labels, split)
    noise = unseen.Embedding(np.random.default_rng(0).normal(size=(150, 10)), embedding.node_ids)
    assert clustering_scores(noise, labels, split).ari < 0.1 < score.ari
    assert score == clustering_scores(embedding, labels, split)
    assert score.n_clusters == 4
    embedding, labels = made(several=True)
    with pytest.raises(unseen.UnsupportedError, match="several labels"):
        clustering_scores(embedding, labels, drawn(labels))


def test_bad_input_gets_a_sentence() -> None:
    embedding, labels = made()
    split = drawn(labels)
    seen = split.seen_labels
    short = unseen.Embedding(embedding.vectors[:100], embedding.node_ids[:100])
    cases = [
        (short, split, {}, r"no vector for 50 of 150 labelled nodes, the first is 'n1\d\d'"),
        (embedding.vectors, split, {}, "`embedding` must be an unseen.Embedding, got ndarray"),
        (embedding, unseen.Split([], [0], (), seen), {}, "`split.train` is empty"),
        (embedding, unseen.Split([0], [], (), seen), {}, "`split.test` is empty"),
        (
            embedding,
            unseen.Split([0], [200], (), seen),
            {},
            "`split.test` names row 200, which is not one of the 150 labelled nodes",
        ),
        (embedding, unseen.Split([-1], [2], (), seen), {}, "`split.train` names row -1, which is not one of"),
        (embedding, unseen.Split([0, 1], [1, 2], (), seen), {}, "node 'n1' is in both"),
        (embedding, unseen.Split([0], [1], ("z",), seen), {}, "unknown class 'z'"),
        (embedding, split, {"classifier": "linea"}, "unknown classifier 'linea'; did you mean 'linear'"),
        (embedding, split, {"C": -1}, "`C` must be a number above 0, or None"),
        (embedding, split, {"C": 0, "classifier": "rbf"}, "`C` must be a number above 0, or None"),
    ]
    for vectors, rows, options, sentence in cases:
        with pytest.raises(unseen.InputError, match=sentence):
            unseen.evaluate(vectors, labels, rows, **options)
    partial = unseen.Labels.from_values(["a", None, "b", "a", "b"], embedding.node_ids[:5])
    with pytest.raises(unseen.InputError, match="names row 1, which is not one of the 4 labelled nodes"):
        unseen.evaluate(embedding, partial, unseen.Split([0, 1], [2], (), partial))


def test_wrong_types_get_a_sentence() -> None:
    embedding, labels = made()
    split, method = drawn(labels), unseen.NodeFeats()
    graph = unseen.Graph(sp.csr_array((150, 150)), embedding.vectors, embedding.node_ids)
    for arguments, options, sentence in (
        ((graph, ["a"], split), {}, r"`labels` must be unseen\.Labels, got list"),
        ((graph, labels, None), {}, r"`split` must be an unseen\.Split, got NoneType"),
        ((graph.adjacency, labels, split), {}, r"`graph` must be an unseen\.Graph, got csr_array"),
        ((graph, labels, split), {"param_grid": [1]}, r"`param_grid` must map parameters to lists of values"),
    ):
        with pytest.raises(unseen.InputError, match=sentence):
            unseen.evaluate_method(method, *arguments, **options)


@pytest.mark.parametrize(("rate", "paper"), [(0.1, 0.6535), (0.3, 0.7006), (0.5, 0.7161)])
def test_citeseer_features_score_as_in_the_paper(paper_graph: object, rate: float, paper: float) -> None:
    data = paper_graph("citeseer")
    embedding = unseen.NodeFeats().fit_transform(data.graph)
    splits = [unseen.balanced_split(data.labels, label_rate=rate, random_state=seed) for seed in range(2)]
    assert evaluate_many(embedding, data.labels, splits).mean("micro_f1") == pytest.approx(paper, abs=0.025)
