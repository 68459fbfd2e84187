"""`unseen reproduce`: what it prints, what it asks for first, and that runs which failed are told of."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from unseen.errors import InputError, UnseenError, install_hint
from unseen_paper.cli import reproduce as command
from unseen_paper.cli.reproduce import _tell_failed, _tell_left_out, _teller
from unseen_paper.experiments.catalog import Choice

FAILED = "ValueError: out of\nluck"


def test_nothing_but_failed_runs_is_an_error() -> None:
    sentence = r"2 of 2 runs of f1 failed, the first with ValueError: out of luck; see runs\.csv for all"
    with pytest.raises(UnseenError, match=sentence):
        _tell_failed("f1", [FAILED, FAILED], Path("runs.csv"), alone=True)


def test_some_failed_runs_or_some_of_all_experiments_are_not() -> None:
    _tell_failed("f1", [FAILED, ""], Path("runs.csv"), alone=True)
    _tell_failed("f1", [FAILED], Path("runs.csv"), alone=False)
    _tell_failed("f1", [], Path("runs.csv"), alone=True)


KEYS = [
    "dataset", "label_rate", "method", "micro_f1", "micro_f1_std", "macro_f1", "macro_f1_std", "n_splits",
    "paper_micro_f1", "paper_macro_f1", "seconds", "rule", "version",
]  # fmt: skip


@pytest.mark.slow
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
        ("markdown", "| --- |"),
        ("latex", "\\begin{tabular}"),
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
    assert install_hint("viz") in ran.err
    assert not (tmp_path / "results").exists()


def test_what_is_left_out_is_told_with_its_data_sets(caplog: pytest.LogCaptureFixture) -> None:
    choice = Choice(["cora", "ppi"], ["mmdw", "rect", "tadw"])
    _tell_left_out("f1", choice, [("cora", "mmdw"), ("cora", "rect"), ("ppi", "rect")], alone=True)
    assert "f1 leaves out mmdw on ppi, tadw: without" in caplog.text
    with pytest.raises(InputError, match="layouts leaves out mmdw: without"):
        _tell_left_out("layouts", Choice(["ppi"], ["mmdw"]), [], alone=True)
    caplog.clear()
    _tell_left_out("f1", Choice(["ppi"]), [("ppi", "rect")], alone=True)
    assert not caplog.text, "what nobody asked for is not missed"


def test_without_a_terminal_slow_runs_are_told_of_each_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="unseen")
    now = [0.0]
    monkeypatch.setattr(command.time, "monotonic", lambda: now[0])
    tell = _teller()
    for done in range(1, 6):
        now[0] += 40
        tell(done, 40, 1)
    said = [record.getMessage() for record in caplog.records]
    assert said == ["2 of 40 runs, 1 failed, 25 min left", "4 of 40 runs, 1 failed, 24 min left"]


@pytest.mark.slow
def test_every_experiment_has_the_same_keys_and_balanced_rates_are_written(
    cli: Callable, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="figures need the viz extra")
    words = ["--dataset", "debian", "--methods", "smoothfeats", "--rates", "0.05", "--out", tmp_path]
    balanced = cli("reproduce", "balanced", *words, "--splits", 2, "--json")
    (row,) = json.loads(balanced.out)
    assert set(KEYS) - {"version"} <= row.keys()
    assert row["micro_f1_std"] > 0
    assert "debian,,smoothfeats," in (tmp_path / "balanced.csv").read_text(), (
        "though not all rates were asked for"
    )
    assert (tmp_path / "balanced.png").exists()
    (row,) = json.loads(cli("reproduce", "seen-classes", *words, "--splits", 1, "--json").out)[:1]
    assert set(KEYS) - {"version"} <= row.keys()


@pytest.mark.slow
def test_claims_that_cannot_be_judged_do_not_hide_the_result(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "layouts_numbers.csv").write_text("a,b\n1,2\n")
    words = ["--dataset", "debian", "--methods", "nodefeats", "--rates", "0.05", "--splits", 1]
    ran = cli("reproduce", "f1", *words, "--out", tmp_path, "--json")
    assert ran.code == 0
    assert len(json.loads(ran.out)) == 1
    assert "the paper's claims could not be judged" in ran.err
    assert "layouts_numbers.csv, row 1: expected the columns method," in ran.err


def test_a_folder_of_results_that_is_a_file_is_refused(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    ran = cli("reproduce", "f1", "--dataset", "debian", "--out", tmp_path / "results")
    assert ran.code != 0
    assert "results" in ran.err
    assert "bug" not in ran.err
