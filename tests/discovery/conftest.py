"""A planted graph whose truth is known, and what was discovered on it, once for all tests."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import unseen
from unseen.discovery.truth import Truth, compare


class Case(NamedTuple):
    """A graph, the labels that were left, what was found, and how right that was."""

    data: unseen.Dataset
    labels: unseen.Labels
    found: unseen.Discovery
    truth: Truth


@pytest.fixture(scope="session")
def case() -> Case:
    data = unseen.planted_partition(
        600, 6, degree_within=8, degree_between=2, words_of_class=4, words_of_noise=5, random_state=3
    )
    split = unseen.completely_imbalanced_split(
        data.labels, label_rate=0.3, unseen=["c1", "c4"], random_state=0
    )
    found = unseen.discover(data.graph, split.seen_labels, random_state=0)
    return Case(data, split.seen_labels, found, compare(found, data.labels))
