"""Sweeps: every result once, resumable after a kill, a failed run recorded and the rest done."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import unseen
from unseen_paper.experiments import runner
from unseen_paper.experiments.plan import RULE, Run, as_params
from unseen_paper.experiments.results import Result, ResultTable
from unseen_paper.experiments.summary import f1_rows
from unseen_paper.report.experiments import f1_table

RUNS = [
    Run(
        "debian",
        method,
        0.1,
        seed,
        hidden,
        as_params({"n_components": 10}) if method == "smoothfeats" else "{}",
    )
    for seed, hidden in enumerate([("mail", "web"), ("games",), ("fonts", "math")])
    for method in ("smoothfeats",)
]


def scores(table: ResultTable) -> list[tuple[Run, float | None]]:
    return [(result.run, result.micro_f1) for result in table]


def test_each_run_has_one_row_and_a_second_start_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = ResultTable(tmp_path / "runs.csv")
    seen = []
    results = runner.run_all(RUNS, table, on_progress=lambda *state: seen.append(state))
    assert [result.run for result in results] == RUNS
    assert all(result.micro_f1 and 0.3 < result.micro_f1 < 1 for result in results)
    assert seen == [(1, 3, 0), (2, 3, 0), (3, 3, 0)]
    with (tmp_path / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    assert rows[0]["version"] == unseen.__version__
    monkeypatch.setattr(runner, "execute", None)
    again = runner.run_all(RUNS, ResultTable(tmp_path / "runs.csv"))
    assert again == results, "numbers of a sweep are those that a later start reads"


def test_shared_vectors_are_learned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from unseen.methods.smoothfeats import SmoothFeats

    learned = []
    original = SmoothFeats._fit
    monkeypatch.setattr(SmoothFeats, "_fit", lambda *args: learned.append(1) or original(*args))
    runner.run_all(RUNS, ResultTable(tmp_path / "runs.csv"))
    assert len(learned) == 1


def test_a_failed_run_is_recorded_and_tried_again_later(tmp_path: Path) -> None:
    bad = Run("debian", "smoothfeats", 0.1, 0, ("mail",), as_params({"n_components": 99999}))
    table = ResultTable(tmp_path / "runs.csv")
    results = runner.run_all([bad, RUNS[0]], table)
    assert "n_components" in results[0].error
    assert results[1].error == ""
    assert table.missing([bad, RUNS[0]]) == [bad]


def test_a_run_that_ctrl_c_cut_short_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(run: Run, vectors: Path) -> Result:
        with contextlib.suppress(KeyboardInterrupt):  # as a method does that keeps its last round
            signal.raise_signal(signal.SIGINT)
        return Result(run, 0.1, 0.1)

    monkeypatch.setattr(runner, "execute", cut_short)
    table = ResultTable(tmp_path / "runs.csv")
    inherited = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # background jobs inherit that it is ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            runner.run_all([Run("debian", "rsdne", 0.1, 0, ("mail",))], table)
        assert not len(table)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, inherited)


@pytest.mark.processes
def test_a_run_that_kills_its_worker_is_found_and_the_rest_is_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def work(run: Run, vectors: Path) -> int:
        if run.seed == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return run.seed * 10

    runs = [Run("debian", "smoothfeats", 0.1, seed) for seed in range(6)]
    found = dict(runner.surviving(work, runs, tmp_path, 2))
    assert found == {run: None if run.seed == 2 else run.seed * 10 for run in runs}
    assert "a worker process died; starting the" in caplog.text


@pytest.mark.processes
def test_a_worker_that_is_killed_once_loses_nothing(tmp_path: Path) -> None:
    def work(run: Run, vectors: Path) -> int:
        mark = vectors / f"seen-{run.seed}"
        if run.seed in (1, 4) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return run.seed

    runs = [Run("debian", "smoothfeats", 0.1, seed) for seed in range(6)]
    assert dict(runner.surviving(work, runs, tmp_path, 2)) == {run: run.seed for run in runs}


def test_a_dead_worker_leaves_a_row_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(work: object, arguments: list[tuple[object, ...]], n_jobs: int) -> object:
        assert arguments
        raise runner.WorkerDiedError
        yield

    monkeypatch.setattr(runner, "in_processes", dying)
    table = ResultTable(tmp_path / "runs.csv")
    (result,) = runner.run_all(RUNS[:1], table)
    assert result.error == "the worker process died (out of memory?)"
    assert table.missing(RUNS[:1]) == RUNS[:1]


@pytest.mark.processes
def test_two_processes_give_the_same_table(tmp_path: Path) -> None:
    one, two = ResultTable(tmp_path / "1.csv"), ResultTable(tmp_path / "2.csv")
    runner.run_all(RUNS, one, n_jobs=1, vectors=tmp_path / "v1")
    runner.run_all(RUNS, two, n_jobs=2, vectors=tmp_path / "v2")
    assert scores(ResultTable(one.path)) == scores(ResultTable(two.path))


@pytest.mark.processes
def test_killing_the_process_twice_changes_nothing(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "unseen",
        "reproduce",
        "f1",
        "--dataset",
        "debian",
        "--methods",
        "smoothfeats",
    ]
    command += ["--rates", "0.1,0.3", "--splits", "4"]

    def start(out: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*command, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    whole = start(tmp_path / "whole")
    for least in (1, 3):
        broken = start(tmp_path / "broken")
        until = time.monotonic() + 60
        while _lines(tmp_path / "broken" / "runs.csv") < least + 1 and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(broken.pid, signal.SIGKILL)
        broken.communicate(timeout=30)
    last = start(tmp_path / "broken")
    for process in (whole, last):
        process.communicate(timeout=120)
    for name in ("runs.csv", "paper_tables.csv", "claims.csv"):
        files = [(tmp_path / folder / name).read_text() for folder in ("whole", "broken")]
        assert files[0]
        assert _without_seconds(files[0]) == _without_seconds(files[1]), name


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def _without_seconds(text: str) -> list[list[str]]:
    rows = list(csv.reader(text.splitlines()))
    kept = [k for k, name in enumerate(rows[0]) if name != "seconds"]
    return [[row[k] for k in kept] for row in rows]


def test_a_table_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("a,b\n1,2\n")
    with pytest.raises(unseen.InputError, match=r"runs\.csv is not a table of results"):
        ResultTable(tmp_path / "runs.csv")


def test_rows_hold_mean_deviation_and_the_paper() -> None:
    results = [
        Result(Run("cora", m, 0.1, k), f, f / 2, seconds=2.0)
        for m, f in (("rect", 0.8), ("gcn", 0.6))
        for k in (0, 1)
    ]
    rows = f1_rows([*results, Result(Run("cora", "rect", 0.1, 2), error="broken")])
    assert [(row["method"], row["n_splits"]) for row in rows] == [("gcn", 2), ("rect", 2)]
    assert set(rows[0]) == {
        "dataset", "label_rate", "method", "micro_f1", "micro_f1_std", "macro_f1", "macro_f1_std",
        "n_splits", "paper_micro_f1", "paper_macro_f1", "seconds", "rule", "version",
    }  # fmt: skip
    assert rows[1]["paper_micro_f1"] == 0.8197
    text = f1_table(rows)
    assert "*0.8000 ± 0.0000*" in text
    assert "-0.0197" in text


def test_a_mean_over_two_rules_is_refused() -> None:
    results = [
        Result(Run("cora", "rect", 0.1, k), 0.8, 0.7, rule=rule)
        for k, rule in enumerate(["first drop", RULE])
    ]
    with pytest.raises(unseen.errors.UnseenError, match="would mix results of the rules"):
        f1_rows(results)


def test_classifiers_are_trained_on_the_same_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []
    original = unseen.RSDNE._fit
    monkeypatch.setattr(unseen.RSDNE, "_fit", lambda *args: fits.append(1) or original(*args))
    params = as_params({"n_components": 8, "max_iter": 2})
    runs = [Run("debian", "rsdne", 0.1, 0, ("mail",), params, name) for name in ("linear, C = 1", "rbf")]
    results = runner.run_all(runs, ResultTable(tmp_path / "runs.csv"))
    assert len(fits) == 1
    assert results[0].micro_f1 != results[1].micro_f1
    assert [result.C for result in results] == [1.0, 1.0]
    assert ResultTable(tmp_path / "runs.csv").missing(runs) == []


@pytest.mark.parametrize("method", ["rect-n", "rect-l", "rect"])
def test_all_of_the_rect_family_choose_their_epochs(method: str, tmp_path: Path) -> None:
    run = Run("debian", method, 0.05, 0, ("mail", "web"), as_params({"n_components": 4}))
    (result,) = runner.run_all([run], ResultTable(tmp_path / "runs.csv"))
    assert not result.error
    assert json.loads(result.setting)["epochs"] in (50, 100)
    assert result.rule == RULE
