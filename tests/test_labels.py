"""The labels value: what counts as unlabelled, hidden classes that are gone, rows that follow the graph."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen import Graph, Labels
from unseen.labels import is_unlabelled

ROUNDS = settings(max_examples=60, deadline=None, derandomize=True, database=None)


def label_sets(labels: Labels) -> list[set[str]]:
    return [{labels.classes[k] for k in np.flatnonzero(row)} for row in labels.indicator.toarray()]


NOTHING = [
    None,
    float("nan"),
    np.float32("nan"),
    -1,
    -1.0,
    np.int64(-1),
    "",
    " ",
    "-1",
    "nan",
    "NaN",
    np.str_(""),
]


@pytest.mark.parametrize("nothing", [*NOTHING, [], [None], ["", "nan"]])
def test_what_means_unlabelled(nothing: Any) -> None:
    labels = Labels.from_values(["x", nothing])
    assert labels.labelled.tolist() == [0]
    assert labels.classes == ("x",)


@pytest.mark.parametrize("nothing", NOTHING)
def test_one_rule_for_a_single_entry(nothing: Any) -> None:
    assert is_unlabelled(nothing) is True


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


def test_pandas_missing_values() -> None:
    pd = pytest.importorskip("pandas")
    labels = Labels.from_values(pd.array([1, None, 2], dtype="Int64"))
    assert labels.codes.tolist() == [0, -1, 1]
    assert is_unlabelled(pd.NA)
    assert is_unlabelled(pd.NaT)


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([2, 10, -1], ("2", "10")),
        (["2", "10"], ("10", "2")),
        ([2, 10, None], ("2", "10")),
        ([2.0, float("nan"), 10.0], ("2", "10")),
        ([[10, 2], [3], None], ("2", "3", "10")),
        ([2, 10, "x"], ("10", "2", "x")),
        ([2, 10, 2.5], ("10", "2", "2.5")),
        ([2, 10, float("inf")], ("10", "2", "inf")),
        ([10**400, 2], ("2", str(10**400))),
        ([["b", "a"], "c"], ("a", "b", "c")),
        ([True, False], ("False", "True")),
    ],
)
def test_class_names_and_their_order(values: list[Any], classes: tuple[str, ...]) -> None:
    assert Labels.from_values(values).classes == classes


def test_given_classes_fix_the_order() -> None:
    labels = Labels.from_values(["x", "y"], classes=["y", "z", "x"])
    assert labels.classes == ("y", "z", "x")
    assert labels.codes.tolist() == [2, 0]
    assert labels.counts.tolist() == [1, 0, 1]
    with pytest.raises(unseen.InputError, match=r"unknown class 'mial'; did you mean 'mail'\?"):
        Labels.from_values(["mial"], classes=["mail", "web"])


def test_a_mapping_goes_by_id() -> None:
    labels = Labels.from_values({"c": "red", "a": ["red", "blue"], "b": None}, ["a", "b", "c", "d"])
    assert label_sets(labels) == [{"red", "blue"}, set(), {"red"}, set()]
    assert labels.node_ids.tolist() == ["a", "b", "c", "d"]
    assert Labels.from_values({"2": "x"}, [1, 2]).codes.tolist() == [-1, 0]
    assert Labels.from_values({}, [1, 2]).codes.tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (({"a": "x"},), r"labels in a mapping need `node_ids`"),
        (({"a": "x", "z": "y"}, ["a", "b"]), r"a label for 'z', which is not among the 2 node ids"),
        (({"a": "x", 1: "y"}, ["a", "1"]), r"ids of labels must be all strings or all integers, found 1"),
        ((["x"], ["a", "b"]), r"`values` has 1 entry but there are 2 node ids"),
        ((["x", "y", "z"], ["a", "b"]), r"`values` has 3 entries but there are 2 node ids"),
        (("xyx",), r"`values` must have one entry per node, got 'xyx'"),
        ((7,), r"`values` must have one entry per node, got 7"),
    ],
)
def test_values_that_are_refused(arguments: tuple[Any, ...], match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        Labels.from_values(*arguments)


def test_properties() -> None:
    labels = Labels.from_values(["red", None, ["blue", "red", "red"]], ["a", "b", "c"])
    assert repr(labels) == "Labels(3 nodes, 2 labelled, 2 classes, multi-label)"
    assert label_sets(labels) == [{"red"}, set(), {"red", "blue"}]
    assert labels.counts.tolist() == [1, 2]
    assert labels.is_multilabel
    with pytest.raises(unseen.InputError, match=r"some nodes have several labels"):
        labels.codes  # noqa: B018
    single = Labels.from_values(["red", None])
    assert (single.is_multilabel, single.codes.tolist()) == (False, [0, -1])


def test_everything_is_frozen() -> None:
    labels = Labels.from_values(["x", "y"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        labels.classes = ()  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        labels.indicator.data[0] = False
    given_indicator = sp.csr_array(np.eye(2, dtype=bool))
    Labels(given_indicator, ("x", "y"))
    given_indicator.data[0] = False  # the caller's own matrix stays the caller's


@pytest.mark.parametrize("way", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_and_other_processes_get_the_same_read_only(way: Any) -> None:
    other = way(Labels.from_values(["x", None], ["007", "b"]))
    assert (other.codes.tolist(), other.classes, other.node_ids.tolist()) == ([0, -1], ("x",), ["007", "b"])
    arrays = (other.indicator.data, other.indicator.indices, other.indicator.indptr, other.node_ids)
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (
            ("red", ("a",)),
            r"`indicator` must be a matrix of nodes and classes .* got str; Labels\.from_values",
        ),
        (([["x"]], ("a",)), r"`indicator` must be a matrix of nodes and classes"),
        ((np.eye(2), None), r"`classes` must be a list of class names, one per column, got None"),
        ((np.eye(2), ("a", "b"), "xy"), r"node ids must be a list of ids, one per row, got 'xy'"),
        ((np.eye(2), ("a",)), r"`indicator` has 2 columns but there are 1 class names"),
        ((np.eye(2), ("a", "a")), r"class names must be unique, 'a' occurs more than once"),
        ((np.eye(2), ("a", "b"), ["x"]), r"`node_ids` has 1 entries but the indicator has 2 rows"),
        ((np.eye(2), ("a", "b"), ["x", "x"]), r"node ids must be unique, 'x' occurs more than once"),
        (
            (np.ones(2), ("a", "b")),
            r"`indicator` must have two dimensions, nodes and classes, got shape \(2,\)",
        ),
    ],
)
def test_what_is_refused(arguments: tuple[Any, ...], match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        Labels(*arguments)


def test_class_numbers() -> None:
    labels = Labels.from_values(["mail", "web"])
    assert labels.class_numbers(["web", "mail"]).tolist() == [1, 0]
    assert labels.class_numbers([]).tolist() == []
    with pytest.raises(unseen.InputError, match=r"unknown class 'wed'; did you mean 'web'\?"):
        labels.class_numbers(["wed"])
    with pytest.raises(
        unseen.InputError, match=r"expected a list of class names, got 'web'; write \['web'\]"
    ):
        labels.class_numbers("web")


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
def test_aligned_follows_the_order_of_the_graph(values: list[Any], random: Any) -> None:
    ids = [f"n{k}" for k in range(len(values))]
    labels = Labels.from_values(values, ids)
    order = [*ids, "stranger"]
    random.shuffle(order)
    graph = Graph.from_edges([], [], nodes=order)
    moved = labels.align_to(graph)
    known = dict(zip(ids, label_sets(labels), strict=True))
    assert label_sets(moved) == [known.get(node, set()) for node in order]
    assert moved.node_ids.tolist() == order


def test_aligned_joins_by_string_form_and_refuses_strangers() -> None:
    graph = Graph.from_edges([1], [2])
    assert Labels.from_values(["x"], ["2"]).align_to(graph).codes.tolist() == [-1, 0]
    same = Labels.from_values(["x", "y"], [1, 2])
    assert same.align_to(graph) is same
    unlabelled_stranger = Labels.from_values(["x", None], ["2", "9"])
    assert unlabelled_stranger.align_to(graph).codes.tolist() == [-1, 0]
    with pytest.raises(
        unseen.InputError, match=r"labels name 1 nodes that the graph does not have, the first is '9'"
    ):
        Labels.from_values(["x"], ["9"]).align_to(graph)


def test_answers_follow_the_nodes() -> None:
    answers = {"a": "skipped", "c": "unknown"}
    labels = Labels(sp.csr_array((3, 1), dtype=bool), ("x",), ["a", "b", "c"], answers)
    assert labels.of_nodes(np.array(["c", "d"], dtype=object)).answers == {"c": "unknown"}
    assert labels.keep(np.array([0])).answers == labels.answers
    with pytest.raises(
        unseen.InputError,
        match="the answer about node 'a' is 'x'; it must be one of skipped, unknown, confirmed",
    ):
        Labels(sp.csr_array((1, 0), dtype=bool), (), ["a"], {"a": "x"})


def test_answers_are_read_only_also_after_a_copy() -> None:
    given = {"a": "confirmed"}
    labels = Labels.from_values(["x", None], ["a", "b"])
    labels = Labels(labels.indicator, labels.classes, labels.node_ids, given)
    given["b"] = "skipped"
    for each in (labels, pickle.loads(pickle.dumps(labels)), copy.deepcopy(labels)):
        assert each.answers == {"a": "confirmed"}
        with pytest.raises(TypeError):
            each.answers["b"] = "skipped"  # type: ignore[index]


def test_answers_about_hidden_labels_are_not_handed_on() -> None:
    labels = Labels.from_values(["x", "y", ["x", "y"], "x", None], list("abcde"))
    answers = {**dict.fromkeys("abcd", "confirmed"), "e": "unknown"}
    labels = Labels(labels.indicator, labels.classes, labels.node_ids, answers)
    assert labels.keep(np.arange(5), without=["y"]).answers == {
        "a": "confirmed",
        "d": "confirmed",
        "e": "unknown",
    }
    assert labels.keep(np.array([0])).answers == {"a": "confirmed", "e": "unknown"}
    split = unseen.completely_imbalanced_split(
        Labels(*(Labels.from_values([*"xxxyyy"]).indicator, ("x", "y"), list(range(6)), {3: "confirmed"})),
        label_rate=0.5, unseen=["y"], random_state=0,
    )  # fmt: skip
    assert split.seen_labels.answers == {}
