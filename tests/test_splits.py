"""Drawing L and hiding classes of it: every class covered, nothing hidden leaks, and it always ends."""

from __future__ import annotations

import copy
import itertools
import logging
import math
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.errors import InputError
from unseen.randomness import as_generator, child_seed, seed_of
from unseen.splits import MAX_DRAWS


def single(counts: dict[str, int], unlabelled: int = 0) -> unseen.Labels:
    return unseen.Labels.from_values([c for c, k in counts.items() for _ in range(k)] + [None] * unlabelled)


@st.composite
def some_labels(draw: Any) -> unseen.Labels:
    """Single- and multi-label nodes, some unlabelled; every class that occurs does so at least twice."""
    values = draw(
        st.lists(st.lists(st.sampled_from("abcde"), max_size=3, unique=True), min_size=1, max_size=25)
    )
    values += [["a"], ["b"], ["a"], ["b"]]
    values += [[name] for name in "cde" if sum(name in row for row in values) == 1]
    order = draw(st.permutations(range(len(values))))
    return unseen.Labels.from_values([values[k] for k in order], [f"n{k}" for k in order])


@settings(max_examples=60, deadline=None)
@given(
    labels=some_labels(),
    rate=st.floats(0.001, 0.999),
    hide=st.sets(st.sampled_from("bcde")),
    seed=st.integers(0, 2**32),
)
def test_what_every_split_keeps(labels: unseen.Labels, rate: float, hide: set[str], seed: int) -> None:
    hidden = sorted(hide & set(labels.classes))
    split = unseen.completely_imbalanced_split(labels, label_rate=rate, unseen=hidden, random_state=seed)
    train, test = set(split.train.tolist()), set(split.test.tolist())
    # L and the test nodes are the labelled nodes, each of them once
    assert not train & test
    assert train | test == set(labels.labelled.tolist())
    assert len(split.train) == len(train)
    assert test, "there is always a node to test on"
    # every class is covered, by at most one node more than asked for of each class
    present = labels.counts > 0
    covered = np.asarray(labels.indicator[split.train].sum(axis=0)).ravel() > 0
    assert covered[present].all()
    asked = max(1, min(len(labels.labelled) - 1, round(rate * len(labels.labelled))))
    assert asked <= len(train) <= asked + present.sum()
    # L' is L without the unseen classes, for the same nodes
    seen = split.seen_labels
    assert not set(seen.classes) & set(hidden)
    assert seen.node_ids.tolist() == labels.node_ids.tolist()
    for row in range(labels.n_nodes):
        known = {labels.classes[k] for k in labels.indicator[[row]].indices} - set(hidden)
        found = {seen.classes[k] for k in seen.indicator[[row]].indices}
        assert found == (known if row in train else set())


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(labels=some_labels(), seed=st.integers(0, 1000))
def test_same_seed_same_split(labels: unseen.Labels, seed: int) -> None:
    first, second = (
        unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=1, random_state=seed)
        for _ in range(2)
    )
    assert first.unseen == second.unseen
    assert first.train.tolist() == second.train.tolist()
    assert first.random_state == seed


def test_other_seed_other_split() -> None:
    labels = single({"a": 50, "b": 50})
    draws = {unseen.balanced_split(labels, label_rate=0.3, random_state=s).train.tobytes() for s in range(5)}
    assert len(draws) == 5


def test_a_generator_is_used_up_and_has_no_seed() -> None:
    labels, rng = single({"a": 50, "b": 50}), np.random.default_rng(0)
    first, second = (unseen.balanced_split(labels, label_rate=0.3, random_state=rng) for _ in range(2))
    assert first.train.tolist() != second.train.tolist()
    assert first.random_state is None


@pytest.mark.slow
def test_draw_is_uniform() -> None:
    labels = single({"a": 10, "b": 10})
    hits = np.zeros(20)
    for seed in range(400):
        hits[unseen.balanced_split(labels, label_rate=0.5, random_state=seed).train] += 1
    assert (np.abs(hits - 200) < 5 * math.sqrt(100)).all(), "five standard deviations"


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.7])
def test_size_of_l_is_the_rate(rate: float) -> None:
    split = unseen.balanced_split(
        single({"a": 500, "b": 500}, unlabelled=77), label_rate=rate, random_state=0
    )
    assert len(split.train) == 1000 * rate
    assert len(split.test) == 1000 - 1000 * rate


def test_rare_class_is_added_with_a_notice(caplog: pytest.LogCaptureFixture) -> None:
    """A hundred draws of ten from a hundred thousand do not meet two nodes: one is added."""
    labels = single({"common": 100_000, "rare": 2, "rarer": 2})
    with caplog.at_level(logging.INFO, "unseen"):
        split = unseen.balanced_split(labels, label_rate=0.0001, random_state=0)
    assert len(split.train) == 12
    assert (
        "no draw of 10 nodes covered every class; one node was added for each of: rare, rarer" in caplog.text
    )


def test_more_classes_than_nodes_in_l() -> None:
    """Where no draw can cover all classes it still ends, after a fixed number of tries."""
    labels = single({f"c{k}": 2 for k in range(30)})
    rng = np.random.default_rng(0)
    calls = 0
    choice = rng.choice

    class Counting(np.random.Generator):
        def choice(self, *args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            return choice(*args, **kwargs)

    split = unseen.balanced_split(labels, label_rate=0.01, random_state=Counting(rng.bit_generator))
    assert len(split.train) == 30
    assert calls <= MAX_DRAWS + 30


def test_one_node_can_cover_several_missing_classes() -> None:
    values = [["a"]] * 2000 + [["x", "y", "z"]] * 2
    split = unseen.balanced_split(unseen.Labels.from_values(values), label_rate=0.0005, random_state=0)
    assert len(split.train) == 2


def test_unseen_labels_are_dropped_and_empty_nodes_become_unlabelled() -> None:
    values = [["a", "x"], ["x"], ["a"], ["x"], ["a", "x"], ["a"]]
    labels = unseen.Labels.from_values(values)
    split = unseen.completely_imbalanced_split(labels, label_rate=0.8, unseen=["x"], random_state=0)
    seen = split.seen_labels
    assert seen.classes == ("a",)
    expected = {row for row in split.train.tolist() if "a" in values[row]}
    assert set(seen.labelled.tolist()) == expected
    assert any(values[row] == ["x"] for row in split.train), (
        "the case must occur for the test to mean something"
    )


def test_classes_to_hide_by_number() -> None:
    labels = single({"a": 3, "b": 3, "c": 3, "d": 3})
    drawn = {
        unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=2, random_state=s).unseen
        for s in range(60)
    }
    assert drawn == set(itertools.combinations("abcd", 2))


def test_order_and_repeats_of_unseen_do_not_matter() -> None:
    labels = single({"a": 3, "b": 3, "c": 3})
    split = unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=["c", "a", "c"], random_state=0)
    assert split.unseen == ("a", "c")
    assert repr(split) == f"Split({len(split.train)} train, {len(split.test)} test, unseen: a, c)"


def test_balanced_split_hides_nothing() -> None:
    split = unseen.balanced_split(single({"a": 4, "b": 4}), label_rate=0.5, random_state=0)
    assert split.unseen == ()
    assert split.seen_labels.labelled.tolist() == split.train.tolist()
    assert repr(split).endswith("unseen: none)")


def test_a_split_is_read_only() -> None:
    split = unseen.balanced_split(single({"a": 4, "b": 4}), label_rate=0.5, random_state=0)
    with pytest.raises(ValueError, match="read-only"):
        split.train[0] = 1
    with pytest.raises(AttributeError, match="cannot assign"):
        split.test = split.train  # type: ignore[misc]


# --- which classes to hide ------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "sets"), [(6, 15), (7, 21)])
def test_all_pairs(n: int, sets: int) -> None:
    """The paper's enumerations for Citeseer and Cora."""
    labels = single({f"c{k}": 2 for k in range(n)})
    found = list(unseen.unseen_sets(labels, 2))
    assert len(found) == len(set(found)) == sets
    assert found == list(unseen.unseen_sets(labels, 2)), "a fixed order"
    assert all(len(set(names)) == 2 and set(names) <= set(labels.classes) for names in found)


def test_classes_without_nodes_are_not_hidden() -> None:
    labels = unseen.Labels(sp.csr_array([[True, False, False], [False, False, True]]), ("a", "none", "b"))
    assert list(unseen.unseen_sets(labels, 1)) == [("a",), ("b",)]
    assert set(unseen.random_unseen_sets(labels, 1, 5, random_state=0)) == {("a",), ("b",)}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 9), data=st.data(), seed=st.integers(0, 1000))
def test_random_sets_repeat_only_when_there_are_too_few(n: int, data: st.DataObject, seed: int) -> None:
    labels = single({f"c{k}": 2 for k in range(n)})
    size = data.draw(st.integers(1, n - 1))
    n_sets = data.draw(st.integers(0, 150))
    found = unseen.random_unseen_sets(labels, size, n_sets, random_state=seed)
    assert len(found) == n_sets
    assert len(set(found)) == min(n_sets, math.comb(n, size))
    assert all(tuple(sorted(names)) == names and len(set(names)) == size for names in found)
    assert found == unseen.random_unseen_sets(labels, size, n_sets, random_state=seed)


def test_random_sets_reach_the_last_of_many() -> None:
    labels = single({f"c{k:02}": 2 for k in range(30)})
    assert len(set(unseen.random_unseen_sets(labels, 2, 435, random_state=0))) == 435


@pytest.mark.parametrize("size", [-1, 3, 10])
def test_too_many_classes_to_hide(size: int) -> None:
    labels = single({"a": 2, "b": 2, "c": 2})
    sentence = f"cannot hide {size} of 3 classes; hide at least 0 and at most 2"
    with pytest.raises(InputError, match=sentence):
        unseen.unseen_sets(labels, size)
    with pytest.raises(InputError, match=sentence):
        unseen.random_unseen_sets(labels, size, 3)
    with pytest.raises(InputError, match=sentence):
        unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=size)


# --- bad input ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0, 1, 0.0, 1.0, -0.5, 1.5, float("nan")])
def test_label_rate_out_of_range(rate: float) -> None:
    with pytest.raises(InputError, match="`label_rate` must be between 0 and 1, both excluded, got"):
        unseen.balanced_split(single({"a": 3, "b": 3}), label_rate=rate)


def test_all_classes_unseen() -> None:
    with pytest.raises(
        InputError, match="all 2 classes are unseen; leave at least one for the embedding to learn from"
    ):
        unseen.completely_imbalanced_split(single({"a": 3, "b": 3}), label_rate=0.5, unseen=["a", "b"])


def test_all_classes_that_have_nodes_unseen() -> None:
    labels = unseen.Labels.from_values(["a", "a"], classes=["a", "nobody"])
    with pytest.raises(InputError, match="all 1 classes are unseen"):
        unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=["a"])


def test_unknown_class_is_hinted_at() -> None:
    with pytest.raises(InputError, match=r"unknown class 'mial'; did you mean 'mail'\? Known: mail, web"):
        unseen.completely_imbalanced_split(single({"mail": 3, "web": 3}), label_rate=0.5, unseen=["mial"])


def test_a_string_is_no_list_of_classes() -> None:
    with pytest.raises(InputError, match=r"got the string 'mail'; write \['mail'\]"):
        unseen.completely_imbalanced_split(single({"mail": 3, "web": 3}), label_rate=0.5, unseen="mail")


def test_classes_with_one_node_are_set_aside_in_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    labels = single({"a": 3, "b": 1, "c": 4, "d": 1})
    split = unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=["c", "d"], random_state=0)
    assert [record.message for record in caplog.records if "set aside" in record.message] == [
        "classes set aside, because one labelled node cannot be both learned from and tested on: b, d"
    ]
    assert split.seen_labels.classes == ("a",)
    assert split.unseen == ("c",)
    assert set(split.train) | set(split.test) == set(np.flatnonzero(np.isin(labels.codes, [0, 2])))
    with pytest.raises(InputError, match="every class has one labelled node"):
        unseen.balanced_split(single({"a": 1, "b": 1}), label_rate=0.5)


@pytest.mark.parametrize("hide", [(), 0, 1])
def test_no_labels_at_all(hide: Any) -> None:
    labels = unseen.Labels.from_values([None, None])
    with pytest.raises(
        InputError, match="there are no labels to split; label at least two nodes of every class"
    ):
        unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=hide)


# --- randomness -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [-1, True, "0", 0.5, np.random.RandomState(0)])
def test_bad_random_state(bad: Any) -> None:
    with pytest.raises(
        InputError, match="`random_state` must be None, an integer of at least 0 or a numpy Generator"
    ):
        as_generator(bad)


def test_generators_and_seeds() -> None:
    rng = np.random.default_rng(0)
    assert as_generator(rng) is rng
    assert as_generator(np.int32(5)).integers(10**9) == as_generator(5).integers(10**9)
    assert as_generator(None).integers(2**62) != as_generator(None).integers(2**62)
    assert [seed_of(value) for value in (3, np.int64(4), None, rng)] == [3, 4, None, None]
    seeds = [child_seed(as_generator(k)) for k in range(50)]
    assert len(set(seeds)) == 50
    assert all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds)


@pytest.mark.parametrize("way", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_and_other_processes_get_the_same_read_only(way: Any) -> None:
    split = unseen.completely_imbalanced_split(
        single({"a": 4, "b": 4, "c": 4}), label_rate=0.5, unseen=["c"], random_state=3
    )
    other = way(split)
    assert (other.train.tolist(), other.test.tolist()) == (split.train.tolist(), split.test.tolist())
    assert (other.unseen, other.seen_labels.classes, other.random_state) == (("c",), ("a", "b"), 3)
    arrays = (other.train, other.test, other.seen_labels.indicator.data, other.seen_labels.node_ids)
    assert not any(array.flags.writeable for array in arrays)


LETTERS = single({"a": 4, "b": 4, "c": 4})


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"labels": [1, 2]}, r"`labels` must be unseen\.Labels, got list; see Labels\.from_values"),
        ({"labels": None}, r"`labels` must be unseen\.Labels, got NoneType"),
        ({"label_rate": "a"}, r"`label_rate` must be between 0 and 1, both excluded, got 'a'"),
        ({"label_rate": None}, r"`label_rate` must be between 0 and 1, both excluded, got None"),
        ({"label_rate": [0.5]}, r"`label_rate` must be between 0 and 1, both excluded, got \[0\.5\]"),
        ({"label_rate": float("nan")}, r"`label_rate` must be between 0 and 1, both excluded, got nan"),
        ({"unseen": True}, r"`unseen` must be a list of class names, or how many to draw, got True"),
        ({"unseen": None}, r"`unseen` must be a list of class names, or how many to draw, got None"),
        ({"unseen": 1.0}, r"`unseen` must be a list of class names, or how many to draw, got 1\.0"),
        ({"unseen": "a"}, r"`unseen` must be a list of class names, got the string 'a'"),
    ],
)
def test_types_that_are_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        unseen.completely_imbalanced_split(
            **{"labels": LETTERS, "label_rate": 0.5, "unseen": ["c"], **arguments}
        )


def test_types_that_the_other_doors_refuse() -> None:
    with pytest.raises(InputError, match=r"`labels` must be unseen\.Labels, got list"):
        unseen.balanced_split(list("aabb"), label_rate=0.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"`labels` must be unseen\.Labels, got list"):
        unseen.unseen_sets(list("aabb"), 1)  # type: ignore[arg-type]
    for size in (True, "1", 1.5):
        with pytest.raises(InputError, match="the number of classes to hide must be an integer, got"):
            unseen.unseen_sets(LETTERS, size)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="the number of classes to hide must be an integer, got"):
            unseen.random_unseen_sets(LETTERS, size, 3)  # type: ignore[arg-type]
    for number in (-1, "3", True):
        with pytest.raises(InputError, match="`n_sets` must be an integer of at least 0, got"):
            unseen.random_unseen_sets(LETTERS, 1, number)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("ab", [1], (), LETTERS), r"`train` must be a list of row numbers, got 'ab'"),
        (([0], [[1], [2, 3]], (), LETTERS), r"`test` must be a list of row numbers, got"),
        (([0], [1.5], (), LETTERS), r"`test` must be a list of row numbers, got \[1\.5\]"),
        (([0], [True, False], (), LETTERS), r"`test` must be a list of row numbers, got \[True"),
        (([0], None, (), LETTERS), r"`test` must be a list of row numbers, got None"),
        (([0], [1], "mail", LETTERS), r"`unseen` must be a list of class names, got 'mail'"),
        (([0], [1], None, LETTERS), r"`unseen` must be a list of class names, got None"),
        (([0], [1], (), ["a"]), r"`seen_labels` must be unseen\.Labels, got list"),
    ],
)
def test_hand_made_splits_that_are_refused(arguments: tuple[Any, ...], match: str) -> None:
    with pytest.raises(InputError, match=match):
        unseen.Split(*arguments)
