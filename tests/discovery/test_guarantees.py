"""Lists with an error rate and bounds: on simulated scores, on planted graphs, and the conditions that they have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unseen
from oracles.corners import draw_corner_labels
from unseen.discovery.guarantees import (
    NO_RATE,
    class_weights,
    find_guarantee,
    fold_scores,
    make_error_rates,
)


def simulate(rng: np.random.Generator, n_new: int, shift: float) -> tuple[Any, np.ndarray]:
    """Return the error rates of 600 scores of labelled classes and of `n_new` higher ones, and which are new."""
    new = np.arange(600 + n_new) >= 600
    return make_error_rates(rng.normal(size=len(new)) + shift * new, rng.normal(size=200), seed=0), new


@pytest.mark.slow
def test_lists_are_as_false_as_they_say_and_bounds_hold() -> None:
    rng = np.random.default_rng(0)
    shares, power, held = {0.05: [], 0.1: [], 0.2: []}, [], []
    for _ in range(60):
        rates, new = simulate(rng, 150, 3.0)
        for fdr, values in shares.items():
            listed = rates.q <= fdr
            values.append((~new[listed]).mean() if listed.any() else 0.0)
        power.append(new[rates.q <= 0.1].mean() if (rates.q <= 0.1).any() else 0)
        cuts = [rates.p <= np.quantile(rates.p, share) for share in (0.05, 0.1, 0.3, 0.6)]
        bounds_hold = [(~new[cut]).sum() <= rates.at_most_false(rates.p[cut]) for cut in cuts]
        held.append(rates.at_least <= new.sum() and all(bounds_hold))
    for fdr, values in shares.items():
        assert np.mean(values) <= fdr + 2 * np.std(values) / 60**0.5
    assert np.mean(power) > 0.5
    assert np.mean(held) >= 0.93


def test_nothing_new_gives_no_list_and_no_bound() -> None:
    rng = np.random.default_rng(1)
    cases = [simulate(rng, 0, 0.0)[0] for _ in range(40)]
    assert np.mean([(rates.q <= 0.1).any() for rates in cases]) <= 0.1
    assert np.mean([rates.at_least == 0 for rates in cases]) >= 0.9


def test_scores_of_a_fold_do_not_know_its_labels() -> None:
    indicator = np.zeros((60, 3), dtype=bool)
    indicator[np.arange(45), np.arange(45) % 3] = True
    known = []

    def score(left: np.ndarray) -> np.ndarray:
        known.append(left.any(axis=1))
        return np.where(left.any(axis=1), 9.0, np.arange(60) % 5) + len(known)

    scores = np.arange(45, 60) % 5
    matched = fold_scores(indicator, scores, score, np.random.default_rng(0))
    assert (matched == np.arange(45) % 5).all()  # as unlabelled nodes that are equal to them, in any fold
    assert len(known) == 20
    assert (np.sum([~labelled[:45] for labelled in known], axis=0) == 1).all()


def test_rare_labels_of_a_class_count_for_more() -> None:
    indicator = np.zeros((100, 2), dtype=bool)
    indicator[:20, 0] = indicator[20:25, 1] = True
    weights = class_weights(np.repeat([0, 1, 0, 1], [20, 5, 25, 50]), indicator)
    assert weights[24] > 3 * weights[0]


def test_a_selection_has_nodes_and_a_sentence(case: Any) -> None:
    found = case.found
    assert found.guarantee.holds
    selected = found.select(fdr=0.1)
    table = found.nodes.to_pylist()
    assert list(selected) == list(selected.nodes) == [row["node"] for row in table if row["selected"]]
    assert selected.sentence.startswith(f"{len(selected)} nodes are selected; lists like this are on average")
    assert "if your labels were drawn at random, at about the same rate" in selected.sentence
    assert set(found.select(fdr=0.02)) <= set(selected) <= set(found.select(fdr=0.3))
    truth = {node for node, code in enumerate(case.data.labels.codes) if code in (1, 4)}
    assert len(set(selected) - truth) <= 0.15 * len(selected)
    assert 0.7 * len(truth) < found.new_nodes.at_least <= len(truth)
    for above in (0.3, 0.5, 0.9):
        listed = {row["node"] for row in table if row["unseen_probability"] > above}
        assert len(listed - truth) <= found.at_most_false(above=above) < len(listed)
    report = found.to_json()["guarantee"]
    assert report["holds"]
    numbers = (len(selected), 0.1, found.new_nodes.at_least)
    assert (report["selected"], report["fdr"], report["at_least"]) == numbers
    assert found.new_nodes.sentence in " ".join(str(found).split())


@pytest.mark.parametrize("value", [0, 1, -0.1, "0.1", True, float("nan")])
def test_an_error_rate_that_is_no_share_is_refused(case: Any, value: object) -> None:
    with pytest.raises(unseen.InputError, match="`fdr` is a share between 0 and 1"):
        case.found.select(fdr=value)


def test_other_label_rates_make_a_weaker_assumption(case: Any) -> None:
    found = unseen.discover(case.data.graph, case.labels, rates="differ", random_state=0)
    assert "drawn at random within each class" in found.select().sentence


REASONS = {
    "is_concentrated": "concentrated",
    "has_one_class": "one labelled class",
    "has_few_labels": "fewer than 20 labels",
    "has_names": "by name",
    "is_heterophilous": "heterophilous",
    "has_several": "several labels",
    "has_types": "types",
    "has_begun": "Answers",
    "is_learned": "learned from labels",
    "has_accepted": "accepting a group",
}


@pytest.mark.parametrize("condition", NO_RATE)
def test_each_condition_has_its_reason(condition: str) -> None:
    usual = dict.fromkeys(NO_RATE, False)
    guarantee = find_guarantee({**usual, condition: True}, rates_differ=False)
    assert not guarantee.holds
    assert REASONS[condition] in guarantee.reason
    assert find_guarantee(usual, rates_differ=False).holds


def test_labels_of_an_accepted_group_end_the_guarantee() -> None:
    data = unseen.planted_partition(600, 5, random_state=0)
    split = unseen.completely_imbalanced_split(
        data.labels, label_rate=0.3, unseen=["c3", "c4"], random_state=0
    )
    found = unseen.discover(data.graph, split.seen_labels, random_state=0)
    assert found.guarantee.holds
    again = unseen.discover(data.graph, found.accept({"new-1": "c3"}), random_state=0)
    assert "accepting a group" in again.guarantee.reason
    assert again.new_nodes.at_least is None


@pytest.mark.slow
def test_labels_of_one_region_are_no_sign_and_every_output_says_so(caplog: pytest.LogCaptureFixture) -> None:
    data = unseen.planted_partition(
        1000, 5, degree_within=4, degree_between=0.5, words_of_class=2, random_state=0
    )
    labels = draw_corner_labels(data, 0.2, ["c0"], seed=0)
    found = unseen.discover(data.graph, labels, random_state=0)
    assert not found.guarantee.holds
    assert (len(found.select()), found.new_nodes.at_least, found.at_most_false(above=0.5)) == (0, None, None)
    assert "concentrated in one region" in found.guarantee.reason
    assert found.coverage.is_concentrated
    assert found.coverage.reach > 0.7
    assert any("one region of their classes" in warning for warning in found.coverage.warnings)
    assert found.coverage.expected_unseen < 0.35 * found.nodes.num_rows
    assert found.guarantee.sentence == found.select().sentence == found.new_nodes.sentence
    assert found.guarantee.sentence in " ".join(str(found).split())
    assert found.guarantee.sentence in found._repr_html_()
    report = found.to_json()
    assert (report["guarantee"]["holds"], report["guarantee"]["reason"]) == (False, found.guarantee.reason)
    assert found.classes
    assert all(each.fdr is None for each in found.classes)
    assert "no error rate" in str(found)
    assert not any(found.nodes["selected"].to_pylist())
    with caplog.at_level("WARNING", logger="unseen"):
        assert "candidate" not in found.predictions()["status"].to_pylist()
    assert any("no candidates are reported" in message for message in caplog.messages)
