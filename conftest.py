"""Fixtures shared by the tests of both distributions."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
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
HAS_TORCH = importlib.util.find_spec("torch") is not None
NEEDS_TORCH = re.compile(
    r"(?m)^import torch\b|^from (torch|unseen\.methods\.neural|unseen_paper\.dense)\b|^from oracles import rect\b"
    r"|^from unseen_paper\.methods\.(appnp|dgi)\b"
)


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
    """Run the command line in this process; `code` is what it must return."""

    def call(*words: object, code: int | None = None) -> Ran:
        capsys.readouterr()
        ran = Ran(run([str(word) for word in words]), *capsys.readouterr())
        assert "Traceback" not in ran.err
        assert code in (None, ran.code), ran.err
        return ran

    return call


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make these, and no others, the plug-ins that are installed: a group, and names with what they refer to."""

    def put(group: str, **plugins: str) -> None:
        entries = EntryPoints(EntryPoint(name, value, group) for name, value in plugins.items())
        monkeypatch.setattr("importlib.metadata.entry_points", entries.select)

    return put


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    """Undo what a command run in this process did to the logger."""
    logger = logging.getLogger("unseen")
    handlers, level, propagate = list(logger.handlers), logger.level, logger.propagate
    yield
    logger.handlers, logger.propagate = handlers, propagate
    logger.setLevel(level)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the files that import torch where there is none, as in `make test-oldest`."""
    if HAS_TORCH:
        return None
    if collection_path.is_dir():
        return collection_path.name == "engine" or None
    own = collection_path.suffix == ".py" and NEEDS_TORCH.search(collection_path.read_text(encoding="utf-8"))
    return True if own else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip a test that asks for a method which needs torch, where there is none."""
    try:
        return (yield)
    except (unseen.UnsupportedError, ModuleNotFoundError) as error:
        if HAS_TORCH or not re.search(r"unseen\[neural\]|torch", str(error)):
            raise
        pytest.skip(str(error))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser and what takes long; start the longest test first, so that two workers end together."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        if item.name in SLOW_EXAMPLES:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: "test_distribution" not in item.nodeid)
