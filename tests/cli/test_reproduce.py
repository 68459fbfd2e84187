"""`unseen reproduce`: runs that failed are told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.cli.reproduce import _tell_failed
from unseen.errors import UnseenError
from unseen.experiments.plan import Run
from unseen.experiments.results import Result

FAILED = Result(Run("debian", "rsdne", 0.1, 0), error="ValueError: out of\nluck")


def test_nothing_but_failed_runs_is_an_error() -> None:
    sentence = r"2 of 2 runs of f1 failed, the first with ValueError: out of luck; see runs\.csv for all"
    with pytest.raises(UnseenError, match=sentence):
        _tell_failed("f1", [FAILED, FAILED], Path("runs.csv"), alone=True)


def test_some_failed_runs_or_some_of_all_experiments_are_not() -> None:
    _tell_failed(
        "f1", [FAILED, Result(Run("debian", "rect", 0.1, 0), 0.5, 0.5)], Path("runs.csv"), alone=True
    )
    _tell_failed("f1", [FAILED], Path("runs.csv"), alone=False)
    _tell_failed("f1", [], Path("runs.csv"), alone=True)
