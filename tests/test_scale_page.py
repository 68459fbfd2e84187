"""The page on scale has the tables of the model that estimates are made by, and the model is near what was measured."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import unseen
from unseen.engine.estimate import estimate

TOOL = Path(unseen.__file__).parents[2] / "tools" / "scale_page.py"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="needs the source tree, this is an installed copy")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scale_page", TOOL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_model(tool: ModuleType) -> None:
    page = tool.PAGE.read_text(encoding="utf-8")
    assert tool.filled(page) == page, "run tools/scale_page.py"
    assert len(tool.MARKED.findall(page)) == 3


def test_estimates_are_near_what_was_measured(tool: ModuleType) -> None:
    for one in tool.MEASURED:
        megabytes, seconds = one.estimated()
        assert 0.85 < megabytes / one.megabytes < 1.15
        assert 0.5 < seconds / one.seconds < 2


@pytest.mark.parametrize("part", [1.0, 0.1])
def test_the_large_example_adds_up_to_the_estimate(tool: ModuleType, part: float) -> None:
    sizes = tool.share(part)
    whole, parts = estimate(unseen.RECTN, sizes, threads=tool.CORES), tool.costs(sizes)
    assert whole is not None
    assert whole.sent == pytest.approx(tool.EPOCHS * parts.received, rel=0.01)
    assert whole.n_bytes == pytest.approx(parts.tall + parts.graph + parts.halo, rel=0.01)
    epochs = tool.EPOCHS * (parts.products + parts.dense + parts.copied)
    assert whole.seconds == pytest.approx(parts.prepared + epochs, rel=0.01)
