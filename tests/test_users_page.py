"""Each complaint of the page about users has a test that holds what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import unseen

ROOT = Path(unseen.__file__).parents[2]
PAGE = ROOT / "docs" / "users.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="needs the source tree, this is an installed copy")


def test_every_row_names_a_test_that_is_there() -> None:
    rows = re.findall(r"(?m)^\| (\d+) \|.*\| `([\w/.]+)::(\w+)` \|$", PAGE.read_text(encoding="utf-8"))
    assert [int(number) for number, _, _ in rows] == list(range(1, 37))
    for _, path, name in rows:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"(?m)^\s*def {name}\(", text), f"{path} has no {name}"
