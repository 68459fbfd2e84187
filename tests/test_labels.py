"""The labels value: what counts as unlabelled, hidden classes that are gone, rows that follow the graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen import Graph, Labels
from unseen.labels import is_unlabelled

ROUNDS = settings(max_examples=60, deadline=None, derandomize=True, database=None)
NUMBERS = [None, float("nan"), np.float32("nan"), -1, -1.0, np.int64(-1), pd.NA, pd.NaT]
TEXTS = ["", " ", "-1", "nan", "NaN", np.str_("")]


def label_sets(labels: Labels) -> list[set[str]]:
    return [{labels.classes[k] for k in np.flatnonzero(row)} for row in labels.indicator.toarray()]


@pytest.mark.parametrize("nothing", [*NUMBERS, *TEXTS, [], [None], ["", "nan"]], ids=repr)
def test_what_means_unlabelled(nothing: Any) -> None:
    labels = Labels.from_values(["x", nothing])
    assert (labels.labelled.tolist(), labels.classes) == ([0], ("x",))
    assert isinstance(nothing, list) or is_unlabelled(nothing) is True


@pytest.mark.parametrize("something", [0, 0.0, 1, -2, False, True, "0", "none", "-1.0", "a", float("inf")])
def test_what_is_a_label(something: Any) -> None:
    assert is_unlabelled(something) is False
    assert Labels.from_values([something]).labelled.tolist() == [0]


def test_files_and_values_agree_on_what_is_unlabelled(tmp_path: Path) -> None:
    entries = ["x", "-1", "nan", "NaN", "", "0"]
    graph = Graph.from_edges([], [], nodes=[f"n{k}" for k in range(len(entries))])
    path = tmp_path / "labels.csv"
    path.write_text("node,label\n" + "".join(f"n{k},{entry}\n" for k, entry in enumerate(entries)))
    read, made = unseen.read_labels(path, graph), Labels.from_values(entries, graph.node_ids)
    assert (read.classes, read.codes.tolist()) == (made.classes, made.codes.tolist())
    assert read.classes == ("0", "x")


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([2, 10, -1], ("2", "10")),
        (["2", "10"], ("10", "2")),
        (pd.array([2, None, 10], dtype="Int64"), ("2", "10")),
        ([2.0, float("nan"), 10.0], ("2", "10")),
        ([[10, 2], [3], None], ("2", "3", "10")),
        ([2, 10, "x"], ("10", "2", "x")),
        ([2, 10, 2.5], ("10", "2", "2.5")),
        ([2, 10, float("inf")], ("10", "2", "inf")),
        ([10**400, 2], ("2", str(10**400))),
        ([True, False], ("False", "True")),
    ],
    ids=repr,
)
def test_class_names_and_their_order(values: Any, classes: tuple[str, ...]) -> None:
    assert Labels.from_values(values).classes == classes


def test_classes_of_nodes() -> None:
    labels = Labels.from_values(["red", None, ["blue", "red", "red"]], ["a", "b", "c"])
    assert repr(labels) == "Labels(3 nodes, 2 labelled, 2 classes, multi-label)"
    assert label_sets(labels) == [{"red"}, set(), {"red", "blue"}]
    assert labels.counts.tolist() == [1, 2]
    assert labels.class_numbers(["red", "blue"]).tolist() == [1, 0]
    ordered = Labels.from_values(["x", None, "y"], classes=["y", "z", "x"])
    assert (ordered.classes, ordered.codes.tolist()) == (("y", "z", "x"), [2, -1, 0])
    assert ordered.counts.tolist() == [1, 0, 1]
    by_id = Labels.from_values({"c": "red", "a": ["red", "blue"], "b": None}, ["a", "b", "c", "d"])
    assert label_sets(by_id) == [{"red", "blue"}, set(), {"red"}, set()]
    assert Labels.from_values({"2": "x"}, [1, 2]).codes.tolist() == [-1, 0]


VALUES = st.lists(
    st.none() | st.sampled_from(["a", "b", "c"]) | st.lists(st.sampled_from(["a", "b", "d"])), max_size=8
)


@ROUNDS
@given(VALUES, st.sets(st.sampled_from(["a", "b", "c", "d"])), st.data())
def test_keep_leaves_no_trace_of_what_is_hidden(
    values: list[Any], without: set[str], data: st.DataObject
) -> None:
    labels = Labels.from_values(values)
    hidden = sorted(without & set(labels.classes))
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), unique=True)) if values else []
    kept = labels.keep(np.array(rows, dtype=np.int64), without=hidden)
    assert kept.classes == tuple(name for name in labels.classes if name not in hidden)
    expected = [names - set(hidden) if k in rows else set() for k, names in enumerate(label_sets(labels))]
    assert label_sets(kept) == expected
    assert kept.node_ids.tolist() == labels.node_ids.tolist()


@ROUNDS
@given(VALUES.filter(bool), st.randoms(use_true_random=False))
def test_labels_follow_the_order_of_the_graph(values: list[Any], random: Any) -> None:
    ids = [f"n{k}" for k in range(len(values))]
    labels = Labels.from_values(values, ids)
    order = [*ids, "stranger"]
    random.shuffle(order)
    moved = labels.align_to(Graph.from_edges([], [], nodes=order))
    known = dict(zip(ids, label_sets(labels), strict=True))
    assert label_sets(moved) == [known.get(node, set()) for node in order]
    assert moved.node_ids.tolist() == order


def test_labels_meet_a_graph_by_string_form_and_strangers_are_refused() -> None:
    graph = Graph.from_edges([1], [2])
    same = Labels.from_values(["x", "y"], [1, 2])
    assert same.align_to(graph) is same
    unlabelled_stranger = Labels.from_values(["x", None], ["2", "9"])
    assert unlabelled_stranger.align_to(graph).codes.tolist() == [-1, 0]
    with pytest.raises(unseen.InputError, match=r"1 nodes that the graph does not have, the first is '9'"):
        Labels.from_values(["x"], ["9"]).align_to(graph)


def test_answers_follow_the_nodes_and_those_about_hidden_labels_are_not_handed_on() -> None:
    labels = Labels.from_values(["x", "y", ["x", "y"], "x", None], list("abcde"))
    answers = {**dict.fromkeys("abcd", "confirmed"), "e": "unknown"}
    labels = Labels(labels.indicator, labels.classes, labels.node_ids, answers)
    assert labels.of_nodes(np.array(["e", "z"], dtype=object)).answers == {"e": "unknown"}
    left = labels.keep(np.arange(5), without=["y"]).answers
    assert left == {"a": "confirmed", "d": "confirmed", "e": "unknown"}
    assert labels.keep(np.array([0])).answers == {"a": "confirmed", "e": "unknown"}
    split = unseen.completely_imbalanced_split(
        Labels(sp.csr_array(np.eye(2, dtype=bool)[[0, 0, 0, 1, 1, 1]]), ("x", "y"), range(6), {3: "confirmed"}),
        label_rate=0.5, unseen=["y"], random_state=0,
    )  # fmt: skip
    assert split.seen_labels.answers == {}
