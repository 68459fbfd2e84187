"""The parts of discovery against their definitions: regression, calibration, number of classes, captions, saving."""

from __future__ import annotations

import ast
import csv
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import unseen
import unseen.discovery
from unseen.discovery.groups import MAX_CLASSES, ClassCount, class_metric, count_classes, sort_into_groups
from unseen.discovery.guarantees import Guarantee
from unseen.discovery.ranking import (
    CLASS_RIDGE,
    Evidence,
    class_scores,
    find_concentration,
    gather,
    label_weights,
    predict_labels,
)
from unseen.discovery.tables import save_suggestions
from unseen.discovery.truth import agreement_of, compare
from unseen.discovery.validation import Fold, judge, learn_slope, match_share, probabilities, reliability
from unseen.discovery.vectors import make_space
from unseen.discovery.words import caption


@pytest.fixture(scope="module")
def space():
    rng = np.random.default_rng(0)
    return make_space(unseen.Embedding(rng.normal(size=(60, 5))), rng)


@pytest.fixture
def two_classes():
    indicator = np.zeros((60, 2), dtype=bool)
    indicator[:15, 0] = indicator[15:30, 1] = True
    return indicator


def ridge(vectors, wanted, penalty):
    """Ridge regression with a free intercept, by its normal equations."""
    design = np.column_stack([vectors, np.ones(len(vectors))])
    weights = np.diag([penalty] * vectors.shape[1] + [0.0])
    return np.linalg.solve(design.T @ design + weights, design.T @ wanted)


def test_labels_are_foretold_by_all_other_nodes(space):
    labelled = np.random.default_rng(1).random(60) < 0.4
    found = predict_labels(space, labelled, 3.0)
    vectors = space.centred.astype(float)
    for row in (0, 17):
        others = np.arange(60) != row
        weights = ridge(vectors[others], labelled[others].astype(float), 3.0)
        assert found[row] == pytest.approx(vectors[row] @ weights[:-1] + weights[-1], abs=2e-3)


def test_class_scores_judge_labelled_nodes_without_themselves(space, two_classes):
    found, vectors = class_scores(space, two_classes), space.centred.astype(float)
    for row in (3, 20, 45):
        used = np.setdiff1d(np.arange(30), [row])
        weights = ridge(vectors[used], two_classes[used].astype(float), CLASS_RIDGE)
        assert found[row] == pytest.approx(vectors[row] @ weights[:-1] + weights[-1], abs=0.02)


def test_a_label_that_counts_twice_is_as_good_as_two(space, two_classes):
    vectors, used = space.centred.astype(float), np.r_[:30, 15:30]
    slopes = ridge(vectors[used], two_classes[used].astype(float), CLASS_RIDGE)
    scores = class_scores(space, two_classes, np.where(np.arange(60) < 15, 1.0, 2.0))
    assert scores[40:] == pytest.approx(vectors[40:] @ slopes[:-1] + slopes[-1], abs=1e-4)
    plain, ones = gather(space, two_classes, space), gather(space, two_classes, space, np.ones(60))
    assert np.array_equal(plain.views, ones.views)


def test_labels_count_more_in_a_class_that_has_too_few():
    data = unseen.planted_partition(1200, 4, degree_within=12, words_of_class=6, random_state=0)
    vectors = unseen.SmoothFeats(random_state=0).fit_transform(data.graph)
    own = make_space(vectors, np.random.default_rng(0))
    indicator = data.labels.indicator.toarray()
    indicator[np.random.default_rng(1).random(1200) > 0.3] = False
    assert label_weights(own, indicator) is None
    first = np.flatnonzero(indicator[:, 0])
    indicator[:, 0] = False
    # labels of which half lie in one place do not hide it
    rows = np.flatnonzero(data.labels.codes == 0)
    rows = rows[np.argsort(-vectors.vectors[rows] @ vectors.vectors[rows].mean(axis=0))]
    for few in (first[:5], np.r_[rows[:6], rows[150:250:20]]):
        has_few = indicator.copy()
        has_few[few, 0] = True
        weights = label_weights(own, has_few)
        assert (weights[few] > 1).all()
        assert (np.delete(weights, few) == 1).all()
    indicator[first[:5], 0] = True
    weights = label_weights(own, indicator)[first[:5]]
    indicator[:, 1] = False  # that half of the nodes are of classes nobody labelled makes no difference
    many = label_weights(own, indicator[:, [0, 2, 3]])[first[:5]]
    assert many == pytest.approx(weights, rel=0.2)
    assert 4 < many[0] <= len(first) / 5


def test_probabilities_have_the_share_and_the_slope_that_they_are_given():
    rng = np.random.default_rng(0)
    new = rng.random(20_000) < 0.15
    scores = rng.normal(size=20_000) + np.where(new, 2.0, 0.0)
    p = probabilities(scores, 2.0, 0.15)  # the slope of two normal distributions with means two apart
    assert p.mean() == pytest.approx(0.15, abs=1e-6)
    assert reliability(p, new)[1] < 0.01
    assert (np.argsort(probabilities(scores, 2.0, 0.05)) == np.argsort(p)).all()
    assert probabilities(np.zeros(9), 3.0, 0.2) == pytest.approx(np.full(9, 0.2))
    assert reliability(np.full(100, 0.9), np.arange(100) < 50)[1] == pytest.approx(0.4)


def test_the_slope_is_learned_where_there_is_enough_to_learn_from():
    new = np.arange(20_000) % 2 == 0
    scores = np.random.default_rng(0).normal(size=20_000) + np.where(new, 2.0, 0.0)
    assert learn_slope([Fold(0, scores, new)]) == pytest.approx(2.0, abs=0.1)
    assert 0.3 <= learn_slope([Fold(0, scores[:2], new[:2])]) < 20
    assert learn_slope([Fold(0, -scores, new)]) > 0
    assert learn_slope([]) == 3


@pytest.mark.parametrize("share", [0.02, 0.2, 0.6])
def test_the_share_is_matched_whatever_the_scores_look_like(share):
    rng = np.random.default_rng(0)
    old, new = rng.exponential(size=4000), rng.gamma(6, size=4000)
    both = np.r_[old[: round(2000 * (1 - share))], new[: round(2000 * share)]]
    fold = Fold(0, np.r_[old[2000:], new[2000:]], np.arange(4000) >= 2000)
    assert match_share(both, [fold]) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_new_classes_like_the_labelled_ones_are_counted(number):
    rng = np.random.default_rng(number)
    codes = np.repeat(np.arange(6 + number), 80)
    space = make_space(unseen.Embedding(np.eye(12)[codes] + rng.normal(0, 0.15, (len(codes), 12))), rng)
    likely = np.where(codes < 6, codes, -1)
    found = count_classes(space, class_metric(space, likely), np.flatnonzero(codes >= 6), likely, rng)
    assert found.best == number
    assert found.low <= number <= found.high
    assert sum(value for _, value in found.curve) == pytest.approx(1)
    assert max(found.curve, key=lambda point: point[1])[0] == found.best


def test_a_handful_of_nodes_is_no_class(space):
    likely, rng = np.arange(60) % 3, np.random.default_rng(0)
    metric = class_metric(space, likely)
    for few in (0, 3):
        assert count_classes(space, metric, np.arange(few), likely, rng) == ClassCount(0, 0, MAX_CLASSES)
    assert count_classes(space, metric, np.arange(60), np.full(60, -1), rng).low == 1


def test_long_classes_stay_whole_where_round_clusters_would_cut_them():
    angle = np.r_[np.linspace(0, 1.2, 300), np.full(60, 2.2)]
    angle += np.random.default_rng(0).normal(0, 0.05, 360)
    vectors = np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32)
    groups = sort_into_groups(vectors, np.arange(360), np.ones(360), 2, 0)
    assert [len(group) for group in groups] == [300, 60]


def test_captions_weigh_frequency_and_contrast():
    everyone, own, rare = np.ones(10), np.r_[np.ones(5), np.zeros(5)], np.r_[1, np.zeros(9)]
    features = sp.csr_array(np.column_stack([everyone, own, rare]))
    graph = unseen.Graph(sp.csr_array((10, 10)), features, feature_names=["the", "own", "rare"])
    assert caption(graph, np.arange(5)) == (("own",), "words")
    unnamed = unseen.Graph(sp.csr_array((10, 10)), features)
    assert caption(unnamed, np.arange(5)) == (("feature 1",), "features")
    assert caption(graph, np.arange(0)) == ((), "words")


def mixed_graph():
    """400 nodes, the first 100 of which are a group; words, numbers and categories set it apart, and some do not."""
    rng = np.random.default_rng(0)
    inside, rows = np.arange(400) < 100, np.arange(300)
    columns = {
        "night_share": np.where(inside, 0.47, 0.12) + np.tile([0.1, -0.1], 200),
        "age": rng.normal(40, 10, 400),
        "country=XX": np.r_[rows[:100] < 85, rows < 36],
        "country=YY": np.r_[rows[:100] < 38, rows < 102],  # 38 % against 34 %
        "transfer": np.r_[rows[:100] < 60, rows < 15] * 0.7,
        "the": rng.random(400) < 0.3,
        "amount": np.where(inside, 12345.0, 1234.0) + rng.normal(0, 3000, 400),
    }
    features = sp.csr_array(np.column_stack([np.asarray(each, dtype=float) for each in columns.values()]))
    graph = unseen.Graph(sp.csr_array((400, 400)), features, feature_names=list(columns))
    return graph, np.flatnonzero(inside)


def test_numbers_categories_and_words_compete_in_captions():
    graph, rows = mixed_graph()
    entries, kind = caption(graph, rows)
    amount = next(each for each in entries if each.startswith("amount 1"))
    assert kind == "features"
    named = {"night_share 0.47 (others 0.12)", "country=XX 85 % (others 12 %)", "transfer"}
    assert set(entries) == {*named, amount}
    assert re.fullmatch(r"amount 1\d{4} \(others 1\d{3}\)", amount)
    dense = graph.with_features(graph.features.toarray()[:, :2], graph.feature_names[:2])
    assert caption(dense, rows)[0] == ("night_share 0.47 (others 0.12)",)
    huge = graph.with_features(graph.features.toarray()[:, :2] * 1e200, graph.feature_names[:2])
    assert caption(huge, rows)[0] == ("night_share 4.7e+199 (others 1.2e+199)",)


def test_noise_is_no_caption():
    graph, rows = mixed_graph()
    noise = graph.with_features(graph.features[:, [1, 3, 5]], ["age", "country=YY", "the"])
    assert caption(noise, rows)[1] == "central nodes"
    # in a large graph 38 % against 34 % is significant, and still describes nothing
    many = np.r_[np.arange(10_000) < 3800, np.arange(10_000) < 3400].astype(float)[:, None]
    large = unseen.Graph(sp.csr_array((20_000, 20_000)), sp.csr_array(many), feature_names=["country=YY"])
    assert caption(large, np.arange(10_000))[1] == "central nodes"
    rng = np.random.default_rng(0)
    features = sp.csr_array(np.hstack([rng.normal(size=(300, 50)), rng.random((300, 50)) < 0.2]))
    graph = unseen.Graph(sp.csr_array((300, 300)), features, feature_names=[f"c{k}" for k in range(100)])
    groups = [rng.choice(300, 60, replace=False) for _ in range(50)]
    assert sum(caption(graph, group)[1] != "central nodes" for group in groups) <= 2


def test_columns_of_an_encoder_do_not_silence_words():
    graph, rows = mixed_graph()
    names = ["encoder 0", "age", "encoder 1", "country=YY", "transfer", "the", "encoder 2"]
    assert caption(graph.with_features(graph.features, names), rows) == (("transfer",), "words")


def test_how_predictions_into_labelled_classes_count(case):
    guess = np.array(["new-1", "new-1", "new-2", "a", "a", "new-1"], dtype=object)
    truth = np.array(["x", "x", "x", "x", "a", "a"], dtype=object)
    agreed = agreement_of(guess, truth, truth == "x", ["new-1", "new-2"])
    assert agreed.matches == (("new-1", "x", 2),)
    # of four, one is in a group without a match and one in a labelled class
    assert (agreed.accuracy_unseen, agreed.accuracy_seen, agreed.accuracy_all) == (0.5, 0.5, 0.5)
    assert case.truth.to_dict()["matches"].keys() == {"new-1", "new-2"}
    assert case.truth.summary().startswith(f"In truth, {case.truth.n_hidden} of 477 unlabelled nodes belong")
    with pytest.raises(unseen.InputError, match="nothing to compare with"):
        compare(case.found, case.labels)


def test_what_was_found_is_written_and_read_again(case, tmp_path):
    case.found.save(tmp_path / "nodes.parquet")
    assert pq.read_table(tmp_path / "nodes.parquet").drop_columns(["q_value"]).equals(case.found.nodes)
    case.found.save(tmp_path / "nodes.csv")
    with (tmp_path / "nodes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["group"] or None for row in rows] == case.found.nodes["group"].to_pylist()
    p = case.found.nodes["unseen_probability"][0].as_py()
    assert float(rows[0]["unseen_probability"]) == pytest.approx(p, abs=1e-4)
    case.found.save(tmp_path / "nodes.tsv.gz")
    assert gzip.decompress((tmp_path / "nodes.tsv.gz").read_bytes()).startswith(b"node\tunseen_probability\t")
    case.found.save(tmp_path / "classes.json")
    told = json.loads((tmp_path / "classes.json").read_text())
    assert told["classes"][0]["members"] == list(case.found.classes[0].members)
    assert set(told) >= {"count", "classes", "self_test", "coverage", "expected_unseen"}
    case.found.save_predictions(tmp_path / "classes.csv")
    assert (tmp_path / "classes.csv").read_text().startswith("node,class,probability,status\n")


@pytest.mark.parametrize("name", ["nodes.txt", "nodes.parquet.gz"])
def test_a_wrong_suffix_gets_a_sentence(case, tmp_path, name):
    with pytest.raises(unseen.InputError, match=r"the suffix '.txt' is unknown|only text is written as .gz"):
        case.found.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_suggestions_are_written(case, tmp_path):
    chosen = unseen.suggest(case.data.graph, case.labels, budget=4, discovery=case.found)
    save_suggestions(chosen, tmp_path / "next.csv")
    header, first = (tmp_path / "next.csv").read_text().splitlines()[:2]
    assert header == "node,label,replaces,status,drawn,pool,reason,likely_class,unseen_probability,group"
    assert first.startswith(f"{chosen[0].node},")
    save_suggestions(chosen, tmp_path / "next.json")
    assert json.loads((tmp_path / "next.json").read_text())[0]["data"]["node"] == chosen[0].node


@pytest.mark.parametrize("aurocs", [(0.6,), (0.7, 0.6), (0.79, 0.69, 0.85)])
def test_numbers_and_groups_are_withheld_where_the_self_test_failed(case, aurocs):
    is_new = np.arange(200) >= 100
    folds = [
        Fold(k, np.r_[np.zeros(100), np.where(np.arange(100) < 100 * one, 1.0, -1.0)], is_new)
        for k, one in enumerate(aurocs)
    ]
    test = judge(folds, ("a", "b", "c"), np.full(3, 100))
    assert [c.auroc for c in test.classes] == pytest.approx(aurocs)
    assert "recovered poorly" in test.verdict
    classes = tuple(replace(each, fdr=None) for each in case.found.classes)
    none = {"guarantee": Guarantee(False, "Unknown."), "bounds": None}
    failed = replace(case.found, self_test=test, classes=classes, **none)
    text = " ".join(failed.summary().split())
    assert "cannot be estimated" in text
    assert not re.search("[Aa]bout|new-1|[0-9] missing class", text)
    report, known = failed.to_json(), case.found.to_json()
    assert (failed.has_estimate, case.found.has_estimate) == (False, True)
    assert (report["self_test"]["failed"], known["self_test"]["failed"]) == (True, False)
    assert (report["count"], report["expected_unseen"], report["classes"]) == (None, None, [])
    assert report["coverage"]["expected_unseen"] is None
    assert known["count"]["best"] == case.found.count.best
    assert known["expected_unseen"] == known["coverage"]["expected_unseen"] > 0


def test_labels_of_one_region_are_told_from_random_ones_whatever_is_missing():
    # A grid of 40 x 40; its left half is one class, the right half is missing. Labels of the left half's upper part,
    # or as many of all of it.
    side = np.arange(1600).reshape(40, 40)
    across, down = (side[:, :-1], side[:, 1:]), (side[:-1], side[1:])
    pairs = [np.r_[a.ravel(), b.ravel()] for a, b in zip(across, down, strict=True)]
    graph = unseen.Graph.from_edges(*pairs, nodes=range(1600))
    left = graph.node_ids % 40 < 20
    evidence = Evidence(np.zeros((1600, 5)), np.where(left, 1.0, 0.0)[:, None])
    rng = np.random.default_rng(0)
    for many in (80, 240):
        some = np.isin(graph.node_ids, rng.choice(np.flatnonzero(left), many, replace=False))
        reach, is_concentrated = find_concentration(evidence, some, graph.adjacency)
        assert 0.35 < reach < 0.6
        assert not is_concentrated
        upper = left & (graph.node_ids < 40 * many / 20)
        assert find_concentration(evidence, upper, graph.adjacency) == (pytest.approx(1, abs=0.1), True)
    assert find_concentration(evidence, np.arange(1600) == 3, graph.adjacency) == (None, False)


@pytest.mark.parametrize("seed", range(3))
def test_labels_around_a_hub_are_noticed_where_everything_is_linked_to_everything(seed):
    rng = np.random.default_rng(seed)
    near = rng.choice(np.arange(1, 1000), 150, replace=False)  # of the hub
    ends = np.hstack([rng.integers(0, 1000, (2, 8000)), [np.zeros(150, int), near]])
    graph = unseen.Graph.from_edges(*ends[:, ends[0] != ends[1]], nodes=range(1000))
    evidence = Evidence(np.zeros((1000, 5)), np.where(np.arange(1000) < 800, 1.0, 0.0)[:, None])
    around = np.isin(np.arange(1000), near[near < 800][:80])
    random = np.isin(np.arange(1000), rng.choice(800, 80, replace=False))
    reach, is_concentrated = find_concentration(evidence, around, graph.adjacency)
    assert reach < 0.7
    assert is_concentrated
    assert not find_concentration(evidence, random, graph.adjacency)[1]


def test_discovery_has_at_most_thirty_named_numbers():
    names = []
    for file in sorted(Path(unseen.discovery.__path__[0]).glob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and any(map(_is_number, ast.walk(node.value))):
                targets = [each for target in node.targets for each in getattr(target, "elts", [target])]
                names += [f"{file.stem}.{each.id}" for each in targets if each.id.isupper()]
    assert 10 < len(names) <= 30


def _is_number(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)
