"""`unseen bench versions`: both sides run the same tasks."""

from __future__ import annotations

import sys

import pytest

from unseen.errors import InputError
from unseen_paper.bench import versions


@pytest.mark.slow
def test_a_task_is_run_by_both_sides() -> None:
    [table] = versions.run(before=sys.executable, repeats=1, methods=["--help"])
    [(task, before, after, ratio)] = table.rows
    assert task == "unseen --help"
    assert float(before) > 0
    assert float(after) > 0
    assert float(ratio) > 0


@pytest.mark.slow
def test_a_part_is_timed_without_its_preparation() -> None:
    [table] = versions.run(before=sys.executable, repeats=1, methods=["rect-plus, debian"])
    assert [row[0] for row in table.rows] == ["rect-plus, debian, 30 % labels"]


def test_the_other_environment_has_to_be_named() -> None:
    with pytest.raises(InputError, match="--before PYTHON"):
        versions.run()
