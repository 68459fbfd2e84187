"""`unseen reproduce`: what it prints, what it asks for first, and that runs which failed are told of."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
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


KEYS = [
    "dataset", "label_rate", "method", "micro_f1", "micro_f1_std", "macro_f1", "macro_f1_std", "n_splits",
    "paper_micro_f1", "paper_macro_f1", "seconds",
]  # fmt: skip


def test_the_keys_of_json_and_the_styles_of_the_table(cli: Callable, tmp_path: Path) -> None:
    words = [
        "reproduce",
        "f1",
        "--dataset",
        "debian",
        "--methods",
        "smoothfeats,nodefeats",
        "--rates",
        "0.05",
    ]
    words += ["--splits", 1, "--out", tmp_path]
    rows = json.loads(cli(*words, "--json").out)
    assert [list(row) for row in rows] == [KEYS, KEYS]
    assert [row["method"] for row in rows] == ["nodefeats", "smoothfeats"]
    assert all(0.3 < row["micro_f1"] < 1 and row["n_splits"] == 1 for row in rows)
    for style, sign in (
        ("latex", "\\begin{tabular}"),
        ("markdown", "| --- |"),
        ("csv", "dataset,"),
        ("text", "debian"),
    ):
        ran = cli(*words, "--format", style)
        assert ran.code == 0
        assert sign in ran.out.replace("data set", "dataset")
        assert f"{rows[1]['micro_f1']:.3f}"[1:] in ran.out


def test_figures_that_cannot_be_drawn_are_told_of_before_the_first_run(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = cli("reproduce", "alpha", "--out", tmp_path / "results")
    assert ran.code != 0
    assert "figures need matplotlib" in ran.err
    assert not (tmp_path / "results").exists()
