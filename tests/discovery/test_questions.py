"""Six questions settle the number of classes: answers among the labels are noticed and counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import unseen
from unseen.discovery.groups import ClassCount, begun_classes, with_answers
from unseen.discovery.questions import find_bare_parts


def test_answers_to_the_questions_prove_the_number(case):
    answers = list(case.found.questions)
    assert {case.data.labels.codes[node] for node in answers} == {1, 4}
    labels = case.data.labels.keep(np.sort(np.r_[case.labels.labelled, answers]))
    assert unseen.discover(case.data.graph, labels, random_state=0).count.proven == 0  # nobody answered
    labels = replace(labels, answers=dict.fromkeys(answers, "confirmed"))
    result = unseen.discover(case.data.graph, labels, random_state=0)
    assert not result.guarantee.holds
    assert (result.count.best, result.count.proven) == (2, 2)
    assert "Answers confirm 2 of them." in result.summary()
    assert not set(answers) & {*result.nodes["node"].to_pylist(), *result.questions}
    assert dict(result.coverage.classes)["c1"] + dict(result.coverage.classes)["c4"] == 6


def test_only_answers_begin_a_class():
    labels = unseen.Labels.from_values([["a", "b"][k % 2] for k in range(12)] + ["c", "d", "d"])
    assert begun_classes(labels) == []
    assert begun_classes(replace(labels, answers={12: "confirmed", 13: "confirmed"})) == ["c"]
    few = labels.keep(np.array([0, 1, 12]))
    assert begun_classes(replace(few, answers={12: "confirmed"})) == []  # nothing else to learn from


def test_more_answers_leave_less_room_for_further_classes():
    count = ClassCount(2, 1, 4, tuple(enumerate([0.2, 0.3, 0.3, 0.2], start=1)))
    few, many = with_answers(count, 2, 2), with_answers(count, 2, 6)
    assert dict(few.curve)[1] == dict(many.curve)[1] == 0
    assert dict(many.curve)[2] > dict(few.curve)[2]
    assert (many.best, many.high, many.proven) == (2, 2, 2)
    assert sum(value for _, value in many.curve) == pytest.approx(1)
    assert with_answers(count, 0, 0) is count
    assert with_answers(ClassCount(0, 0, 1), 1, 1).best == 1
    assert with_answers(count, 5, 5) == ClassCount(5, 5, 5, proven=5)  # more than were thought of


def test_parts_of_a_class_without_labels_are_asked_about_first():
    middles = np.eye(8)[[0] * 60 + [1] * 40 + [2] * 60]
    vectors = (middles + 0.05 * np.random.default_rng(0).normal(size=(160, 8))).astype(np.float32)
    codes = np.array([0] * 100 + [1] * 60)
    is_labelled = np.zeros(160, dtype=bool)
    is_labelled[[*range(0, 60, 3), *range(100, 160, 3)]] = True  # none of the 40 nodes apart
    is_open = ~is_labelled
    assert 60 <= find_bare_parts(vectors, codes, is_labelled, is_open, 2)[0] < 100
    is_open[60:100] = False
    assert all(is_open[row] for row in find_bare_parts(vectors, codes, is_labelled, is_open, 9))
