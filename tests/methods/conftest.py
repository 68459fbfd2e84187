"""A graph with an unseen class, for the tests of the RECT family."""

from __future__ import annotations

import pytest

import unseen


@pytest.fixture(scope="session")
def planted() -> unseen.Dataset:
    return unseen.planted_partition(240, 4, random_state=3)


@pytest.fixture(scope="session")
def split(planted) -> unseen.Split:
    return unseen.completely_imbalanced_split(planted.labels, label_rate=0.4, unseen=["c3"], random_state=0)
