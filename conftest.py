"""Fixtures shared by the tests of both distributions."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import unseen
from unseen.cli.app import run

SLOW_EXAMPLES = (
    "unseen.methods.rect_plus.RECTPlus",
    "unseen.methods.neural.rect_dw.RECTDW",
    "unseen.evaluation.methods.evaluate_method",
    "unseen.evaluation.protocol.evaluate_many",
)
"""Examples in docstrings that take long; a docstring cannot be marked."""


@pytest.fixture(scope="session")
def paper_graph() -> Callable[[str], unseen.Dataset]:
    """Load one of the paper's graphs, or skip where they are not at hand."""
    folder = os.environ.get("UNSEEN_DATA")

    def load(name: str) -> unseen.Dataset:
        if not folder or not (Path(folder) / name).is_dir():
            pytest.skip("the paper's graphs are not here; set UNSEEN_DATA to the folder that holds them")
        return unseen.load_dataset(name)

    return load


class Ran(NamedTuple):
    """What one command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command line in this process."""

    def call(*words: object) -> Ran:
        capsys.readouterr()
        code = run([str(word) for word in words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    """Undo what a command run in this process did to the logger."""
    logger = logging.getLogger("unseen")
    handlers, level, propagate = list(logger.handlers), logger.level, logger.propagate
    yield
    logger.handlers, logger.propagate = handlers, propagate
    logger.setLevel(level)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser and what takes long; start the longest test first, so that two workers end together."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        if item.name in SLOW_EXAMPLES:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: "test_distribution" not in item.nodeid)
