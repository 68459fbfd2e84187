"""Drawing L and hiding classes of it: every class covered, nothing hidden leaks, and it always ends."""

from __future__ import annotations

import itertools
import logging
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
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
    options: Any = {"label_rate": rate, "unseen": hidden, "random_state": seed}
    split = unseen.completely_imbalanced_split(labels, **options)
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
    again = unseen.completely_imbalanced_split(labels, **options)
    assert (again.train.tolist(), again.random_state) == (split.train.tolist(), seed)


@pytest.mark.slow
def test_draw_is_uniform() -> None:
    labels = single({"a": 10, "b": 10})
    hits = np.zeros(20)
    for seed in range(400):
        hits[unseen.balanced_split(labels, label_rate=0.5, random_state=seed).train] += 1
    assert (np.abs(hits - 200) < 5 * math.sqrt(100)).all(), "five standard deviations"


def test_rare_class_is_added_with_a_notice(caplog: pytest.LogCaptureFixture) -> None:
    """A hundred draws of ten from a hundred thousand do not meet two nodes: one is added."""
    labels = single({"common": 100_000, "rare": 2, "rarer": 2}, unlabelled=77)
    with caplog.at_level(logging.INFO, "unseen"):
        split = unseen.balanced_split(labels, label_rate=0.0001, random_state=0)
    assert len(split.train) == 12
    assert (
        "no draw of 10 nodes covered every class; one node was added for each of: rare, rarer" in caplog.text
    )
    several = unseen.Labels.from_values([["a"]] * 2000 + [["x", "y", "z"]] * 2)  # one node has them all
    assert len(unseen.balanced_split(several, label_rate=0.0005, random_state=0).train) == 2


def test_more_classes_than_nodes_in_l() -> None:
    """Where no draw can cover all classes it still ends, after a fixed number of tries."""
    calls = []

    class Counting(np.random.Generator):
        def choice(self, *args: Any, **kwargs: Any) -> Any:
            calls.append(args)
            return super().choice(*args, **kwargs)

    rng = Counting(np.random.default_rng(0).bit_generator)
    labels = single({f"c{k}": 2 for k in range(30)})
    assert len(unseen.balanced_split(labels, label_rate=0.01, random_state=rng).train) == 30
    assert len(calls) <= MAX_DRAWS + 30


def test_classes_to_hide_by_number_or_by_name() -> None:
    labels = single({"a": 3, "b": 3, "c": 3, "d": 3})
    options: Any = {"label_rate": 0.5, "unseen": 2}
    drawn = {unseen.completely_imbalanced_split(labels, **options, random_state=s).unseen for s in range(60)}
    assert drawn == set(itertools.combinations("abcd", 2))
    split = unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=["c", "a", "c"], random_state=0)
    assert repr(split) == "Split(6 train, 6 test, unseen: a, c)"


def test_all_pairs() -> None:
    """The paper's enumerations for Citeseer and Cora; classes without nodes are not hidden."""
    for n in (6, 7):
        labels = single({f"c{k}": 2 for k in range(n)})
        assert list(unseen.unseen_sets(labels, 2)) == list(itertools.combinations(labels.classes, 2))
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


def test_classes_with_one_node_are_set_aside_in_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    labels = single({"a": 3, "b": 1, "c": 4, "d": 1})
    split = unseen.completely_imbalanced_split(labels, label_rate=0.5, unseen=["c", "d"], random_state=0)
    assert [record.message for record in caplog.records if "set aside" in record.message] == [
        "classes set aside, because one labelled node cannot be both learned from and tested on: b, d"
    ]
    assert (split.seen_labels.classes, split.unseen) == (("a",), ("c",))
    assert set(split.train) | set(split.test) == set(np.flatnonzero(np.isin(labels.codes, [0, 2])))


def test_generators_and_seeds() -> None:
    rng = np.random.default_rng(0)
    assert as_generator(rng) is rng
    assert as_generator(np.int32(5)).integers(10**9) == as_generator(5).integers(10**9)
    assert as_generator(None).integers(2**62) != as_generator(None).integers(2**62)
    assert [seed_of(value) for value in (3, np.int64(4), None, rng)] == [3, 4, None, None]
    seeds = [child_seed(as_generator(k)) for k in range(50)]
    assert len(set(seeds)) == 50
    assert all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds)
