"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import unseen


@pytest.fixture(scope="session")
def paper_graph() -> Callable[[str], unseen.Dataset]:
    """Load one of the paper's graphs, or skip where they are not at hand."""
    folder = os.environ.get("UNSEEN_DATA")

    def load(name: str) -> unseen.Dataset:
        if not folder or not (Path(folder) / name).is_dir():
            pytest.skip("the paper's graphs are not here; set UNSEEN_DATA to the folder that holds them")
        return unseen.load_dataset(name)

    return load


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the one long test first, so that two workers end together."""
    items.sort(key=lambda item: "test_distribution" not in item.nodeid)
