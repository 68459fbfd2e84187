"""The table of results: what goes in comes out, from several processes, and damage has its sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unseen import InputError
from unseen_paper.experiments.plan import Run, as_params
from unseen_paper.experiments.results import Result, ResultTable
from unseen_paper.experiments.summary import f1_rows

RUN = Run("cora", "rect", 0.1, 3, ("a", "b"), as_params({"epochs": 50}))


def row_of(path: Path, k: int = 1) -> str:
    return path.read_text(encoding="utf-8").splitlines()[k]


def test_means_do_not_depend_on_whether_results_were_read_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = ResultTable(tmp_path / "runs.csv")
    runs = [Run("cora", "rect", rate, k) for rate in np.linspace(0.05, 0.95, 50) for k in range(3)]
    table.add(Result(run, *rng.random(6), seconds=rng.random()) for run in runs)
    again = ResultTable(tmp_path / "runs.csv")
    assert list(again) == list(table)
    assert f1_rows(again) == f1_rows(table)
    assert not again.missing(runs), "label rates of many digits are found again"


def test_two_processes_share_a_table(tmp_path: Path) -> None:
    one, other = ResultTable(tmp_path / "runs.csv"), ResultTable(tmp_path / "runs.csv")
    runs = [Run("cora", "rect", 0.1, k) for k in range(4)]
    for k, run in enumerate(runs):
        (one if k % 2 else other).add([Result(run, 0.5, 0.4)])
    assert [result.run for result in ResultTable(tmp_path / "runs.csv")] == runs
    assert not one.missing(runs), "the last to write has seen what the other wrote"


def test_results_of_an_earlier_rule_are_run_again(tmp_path: Path) -> None:
    table = ResultTable(tmp_path / "runs.csv")
    table.add([Result(RUN, 0.5, 0.4, rule="first drop")])
    assert ResultTable(table.path).missing([RUN]) == [RUN]
    table.add([Result(RUN, 0.5, 0.4)])
    assert not ResultTable(table.path).missing([RUN])


def test_a_table_that_is_taken_away_is_written_again(tmp_path: Path) -> None:
    table = ResultTable(tmp_path / "runs.csv")
    table.add([Result(RUN, 0.5, 0.4)])
    table.path.unlink()
    table.add([Result(Run("cora", "gcn", 0.1, 0), 0.5, 0.4)])
    assert len(ResultTable(table.path)) == 2


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (",0.400000,,,,,,,all candidates,1.000,0.1.0,", "", "a row has 19 cells"),
        ("0.400000", "", "neither both scores nor an error"),
        ("0.400000", "high", "could not convert string to float"),
        ('"{""epochs"": 50}"', '"{""epochs"": "', "Expecting value"),
        ('"{""epochs"": 50}"', "50", "its parameters are 50"),
        (",3,", ",x,", "invalid literal for int"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = tmp_path / "runs.csv"
    failed = Result(Run("cora", "gcn", 0.1, 0), error="two\nlines")
    ResultTable(path).add([failed, Result(RUN, 0.5, 0.4, seconds=1.0, version="0.1.0")])
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=rf"runs.csv, line 4: cannot be read as a result \(.*{reason}"):
        ResultTable(path)


def test_a_table_of_other_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    ResultTable(path).add([Result(RUN, 0.5, 0.4, version="0.1.0")])
    path.write_bytes(path.read_bytes().replace(b"rect", b"r\xffct"))
    with pytest.raises(InputError, match="it is not UTF-8 text"):
        ResultTable(path)
