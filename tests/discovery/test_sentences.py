"""Every sentence that `discover` can print, with the condition under which it is true."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from unseen.discovery.groups import ClassCount
from unseen.discovery.guarantees import Guarantee, NewNodes, describe_list
from unseen.discovery.result import SENTENCES
from unseen.discovery.suggest import Suggestion
from unseen.discovery.summary import (
    certificate_sentences,
    count_sentence,
    estimate_sentences,
    headline,
    make_coverage,
)
from unseen.discovery.validation import Fold, judge
from unseen.graph import Graph
from unseen.labels import Labels
from unseen.methods.homophily import Homophily

SAME_RATE = "your labels were drawn at random, at about the same rate, from the labelled classes"
HOLDS, FAILS = Guarantee(True, assumption=SAME_RATE), Guarantee(False, "There is one labelled class.")


def recover(*aurocs: float) -> list[Fold]:
    """Return folds in which classes are recovered with these AUROCs, of 100 nodes each and 100 others."""
    folds = []
    for column, auroc in enumerate(aurocs):
        better = np.arange(100) < 100 * auroc  # above all others, or below all of them
        folds.append(Fold(column, np.r_[np.where(better, 1.0, -1.0), np.zeros(100)], np.arange(200) < 100))
    return folds


def verdict(aurocs: tuple[float, ...], n_classes: int = 4, **options: Any) -> str:
    names = ("a", "b", "c", "d")[:n_classes]
    return judge(recover(*aurocs), names, np.full(n_classes, 100), **options).verdict


SIMILAR = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], dtype=np.float32)
VERDICTS = [
    ((0.95, 0.95, 0.93), {}, "recovered well (mean AUROC 0.94; lowest 0.93 for c)."),
    ((0.85, 0.9, 0.8), {}, "recovered moderately well (mean AUROC 0.85; lowest 0.80 for c)."),
    ((0.99, 0.99, 0.72), {}, "recovered moderately well"),
    ((0.7, 0.6), {}, "recovered poorly (mean AUROC 0.65; lowest 0.60 for b): the probabilities only rank"),
    ((0.99, 0.55), {}, "recovered poorly"),  # the mean less its standard error counts
    ((0.95,), {}, "The one class that could be left out (a) was recovered well (AUROC 0.95)."),
    (
        (0.95, 0.95),
        {"doubt": "the graph is heterophilous"},
        "recovered (mean AUROC 0.95; lowest 0.95 for a). This says little about missing classes, because the graph is",
    ),
    ((0.6, 0.6), {"doubt": "the graph is heterophilous"}, "recovered poorly"),
    ((), {"n_classes": 1}, "There is one labelled class, so the leave-one-class-out test could not run"),
    ((), {}, "with no other label, so the leave-one-class-out test could not run"),
    (
        (0.95, 0.97, 0.93),
        {"n_classes": 3, "means": SIMILAR},
        "lowest 0.93 for c; 0.97 for b, which is the most similar to another class).",
    ),
    (
        (0.95, 0.92, 0.98),
        {"n_classes": 3, "means": SIMILAR},
        "lowest 0.92 for b, which is the most similar to another class).",
    ),
]


@pytest.mark.parametrize(("aurocs", "options", "sentence"), VERDICTS)
def test_verdicts_of_the_leave_one_class_out_test(aurocs, options, sentence):
    assert sentence in verdict(aurocs, **options)


def test_few_labels_of_every_class_have_a_verdict():
    assert "No class has 3 or more labelled nodes, so" in judge([], ("a", "b"), np.array([2, 2])).verdict


COUNTS = [
    (ClassCount(0, 0, 12), "cannot be estimated"),  # fewer than five nodes are expected
    (ClassCount(2, 1, 4), "They seem to form 2 missing classes (between 1 and 4)."),  # the bound is above 0
    (ClassCount(1, 0, 2), "They may form 1 missing class (between 0 and 2)."),  # the bound is 0
    (ClassCount(1, 1, 1), "They seem to form 1 missing class."),
    (ClassCount(2, 2, 3, proven=2), "Answers confirm 2 of them."),  # answers named two classes
    (ClassCount(2, 0, 200), "How many missing classes they form cannot be estimated."),  # several labels
]


@pytest.mark.parametrize(("count", "sentence"), COUNTS)
def test_the_number_of_classes(count, sentence):
    assert sentence in count_sentence(count)


LISTS = [
    (
        3,
        0.1,
        2,
        HOLDS,
        "3 nodes are selected; lists like this are on average at most 10 % false, if your labels",
    ),
    (1, 0.05, 4, HOLDS, "1 node is selected; lists like this are"),
    (0, 0.1, 2, HOLDS, "Too few labels for a list at 10 %"),  # the bound is above 0
    (0, 0.05, 0, HOLDS, "No node is selected at 5 %: no class is missing, or there are too few labels"),
    (0, 0.1, None, FAILS, "No error rate: there is one labelled class."),
]


@pytest.mark.parametrize(("n", "fdr", "at_least", "guarantee", "sentence"), LISTS)
def test_lists(n, fdr, at_least, guarantee, sentence):
    assert describe_list(n, fdr, at_least, guarantee).startswith(sentence)


BOUNDS = [
    (5, HOLDS, "At least 5 nodes belong to classes without a label (95 % sure, if your labels were drawn"),
    (1, HOLDS, "At least 1 node belongs"),
    (None, FAILS, "No error rate: there is one labelled class."),
]


@pytest.mark.parametrize(("at_least", "guarantee", "sentence"), BOUNDS)
def test_bounds(at_least, guarantee, sentence):
    assert NewNodes(9.0, 9.0, at_least, guarantee).sentence.startswith(sentence)
    assert HOLDS.sentence == f"Error rates hold if {SAME_RATE}."


def test_a_range_is_given_where_hard_classes_make_a_difference(case):
    coverage = case.found.coverage
    far = replace(case.found, coverage=replace(coverage, expected_unseen=100.0, expected_if_hard=150.0))
    hardest = min(case.found.self_test.classes, key=lambda each: each.auroc).name
    assert estimate_sentences(far)[1] == (
        f"If missing classes are as hard to recognise as {hardest}, about 150 nodes belong to them."
    )
    near = replace(case.found, coverage=replace(coverage, expected_unseen=100.0, expected_if_hard=105.0))
    assert estimate_sentences(near)[1] == ""


def with_probabilities(found: Any, p: Any) -> Any:
    """Return what was found with other probabilities."""
    column = found.nodes.column_names.index("unseen_probability")
    return replace(found, nodes=found.nodes.set_column(column, "unseen_probability", pa.array(p)))


def test_the_headline_adds_up(case):
    n = case.found.nodes.num_rows
    several = with_probabilities(case.found, np.r_[np.full(10, 0.9), np.full(n - 10, 4 / (n - 10))])
    share = f"({100 * 13 / n:.0f} %)"
    assert headline(several) == (
        f"About 13 of the other {n} nodes {share} belong to missing classes: 10 nodes have a probability above 0.5 "
        "(about 9 of them are expected to be new); about 4 more are expected among the rest."
    )
    single = with_probabilities(case.found, np.r_[0.9, np.full(n - 1, 1e-9)])
    assert "About 1 of the other" in headline(single)
    assert "belongs to missing classes: 1 node has a probability above 0.5 (about 1 of them is" in headline(
        single
    )
    none = with_probabilities(case.found, np.full(n, 10 / n))  # some node is proven to be new
    assert headline(none).endswith("belong to missing classes: no node has a probability above 0.5.")


def test_groups_without_an_error_rate_are_marked(case):
    assert "no error rate" not in case.found.summary()
    group = case.found.classes[0]
    inside = f"{100 * group.edge_ratio:.0f} % of its edges inside"
    assert inside in " ".join(case.found.summary().split())
    found = replace(case.found, classes=(replace(group, fdr=None),))
    text = " ".join(found.summary().split())
    assert f"new-1: {group.size} nodes, no error rate, mean probability" in text
    assert "consist of nodes with a probability above 0.5; they have no error rate." in text
    assert "no error rate" in found._repr_html_()


def test_random_answers_are_summed_up(case):
    labels = case.found.labels
    asked = np.setdiff1d(labels.node_ids, labels.labelled)[:10].tolist()
    random = {"drawn": "random", "pool": 400}
    questions = [Suggestion(node, "", 0.5, None, None, **random) for node in asked]
    old = replace(case.found, labels=labels.with_answers(questions, ["c0"] * 10))
    assert "(10 random answers, 0 with a new class)." in " ".join(certificate_sentences(old))
    assert len(certificate_sentences(old)) == 1
    found = replace(case.found, labels=labels.with_answers(questions, ["c1", *["c0"] * 9]))
    first, second = certificate_sentences(found)
    assert first == f"{found.certificate.sentence} (10 random answers, 1 with a new class)."
    assert second == (
        "They suggest that about 10.0 % of the nodes without a label belong to classes without one (Good-Turing), in "
        "at least 1 more class (Chao's lower bound)."
    )
    assert first in " ".join(str(found).split())
    assert found.to_json()["certificate"] == found.certificate.to_dict()
    assert certificate_sentences(case.found) == []
    assert case.found.to_json()["certificate"] is None


def test_reasons_of_a_node_have_a_sentence_for_high_and_low_ranks(case):
    p = case.found.nodes.column("unseen_probability").to_numpy()
    nodes = case.found.nodes.column("node").to_pylist()
    first, last = (case.found.reasons(nodes[k]) for k in (int(p.argmax()), int(p.argmin())))
    assert {each.sentence.split(" (")[0] for each in first} == {high for high, _ in SENTENCES.values()}
    assert {each.sentence.split(" (")[0] for each in last} == {low for _, low in SENTENCES.values()}


def test_no_number_is_said_where_nothing_is_likely_or_proven(case):
    unproven = replace(case.found, bounds=replace(case.found.bounds, n_old=case.found.nodes.num_rows))
    found = replace(with_probabilities(unproven, np.full(case.found.nodes.num_rows, 0.002)), classes=())
    text = " ".join(found.summary().split())
    assert "No missing class was found: no node has a probability above 0.5, and none is proven" in text
    assert "Classes may be missing all the same; answers to random questions tell how many nodes" in text
    assert "About" not in text
    assert "No missing class was found" in found._repr_html_()
    assert found.new_nodes.expected is None
    assert found.to_json()["expected_unseen"] is None
    assert case.found.new_nodes.expected > 0


GRAPH = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
LABELS = Labels.from_values(["a", "a", "b", None, None], GRAPH.node_ids)
MIXED, HOMOPHILOUS = Homophily(0.2, 0.5, 90), Homophily(0.9, 0.5, 90)
GOOD = judge(recover(0.95, 0.95), ("a", "b"), np.full(2, 100))
POOR = judge(recover(0.6, 0.6), ("a", "b"), np.full(2, 100))
UNKNOWN_CLASS = Labels(
    np.c_[LABELS.indicator.toarray(), np.zeros(5, bool)], ["a", "b", "ghost"], GRAPH.node_ids
)
SEVERAL = Labels.from_values([["a", "b"], "a", "b", None, None], GRAPH.node_ids)
UNTOLD = Homophily(None, None, 0)
NO_TEST = judge([], ("a",), np.array([2]))
WARNINGS = [
    (LABELS, HOMOPHILOUS, True, GOOD, "The labels are concentrated in one region"),
    (LABELS, UNTOLD, False, GOOD, "Too few edges (0) join two labelled nodes"),
    (LABELS, UNTOLD, False, GOOD, "the leave-one-class-out test decided whether neighbours are"),
    (LABELS, UNTOLD, False, NO_TEST, "a class; neighbours are used"),
    (LABELS, MIXED, False, GOOD, "the graph is heterophilous, so neighbours are not used"),
    (LABELS, HOMOPHILOUS, False, POOR, "recovered poorly"),
    (UNKNOWN_CLASS, HOMOPHILOUS, False, GOOD, "No node is labelled ghost, so nothing is learned about it"),
    (
        LABELS,
        HOMOPHILOUS,
        False,
        GOOD,
        "Not used in the leave-one-class-out test, because they have one label: b.",
    ),
    (LABELS, HOMOPHILOUS, False, GOOD, "Few nodes are labelled a (2); more labels there would help."),
    (SEVERAL, HOMOPHILOUS, False, GOOD, "Nodes have several labels"),
]


@pytest.mark.parametrize(("labels", "homophily", "is_concentrated", "test", "sentence"), WARNINGS)
def test_warnings_come_where_they_are_true(labels, homophily, is_concentrated, test, sentence):
    usual = {"reach": 0.5, "is_learned": False, "learns": False}
    ranking = SimpleNamespace(homophily=homophily, is_concentrated=is_concentrated, **usual)
    given = make_coverage(GRAPH, labels, ranking, (1.0, 1.0), test).warnings
    assert any(sentence in warning for warning in given)


def test_no_warning_comes_where_none_is_true():
    plenty = Labels.from_values(["a"] * 5 + ["b"] * 5 + [None])
    usual = {"reach": 0.5, "is_learned": False, "learns": False}
    ranking = SimpleNamespace(homophily=HOMOPHILOUS, is_concentrated=False, **usual)
    graph = Graph.from_edges(range(10), range(1, 11))
    assert make_coverage(graph, plenty, ranking, (1.0, 1.0), GOOD).warnings == ()


def test_the_summary_fits_a_terminal_and_says_where_another_number_of_groups_was_asked_for(case):
    text = case.found.summary()
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "They seem to form 2 missing classes" in text
    assert "sorted into" not in text
    assert all(f"{c.name}: {c.size} nodes" in text for c in case.found.classes)
    other = replace(case.found, classes=case.found.classes[:1])
    assert "They are sorted into 1 candidate class." in " ".join(other.summary().split())
