"""Every generator in small numbers; `make hostile` runs the same in large ones (tests/hostile/run.py)."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path

import duckdb
import pytest

import unseen
from hostile import children, generators
from hostile.handmade import handmade
from hostile.truth import FORMATS, WRITTEN
from unseen.data import bounds

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def test_files_made_by_hand(tmp_path: Path) -> None:
    assert children.bad(children.run_all(handmade(tmp_path))) == []


def test_files_of_other_libraries(tmp_path: Path) -> None:
    results = children.run_all(generators.their_files(tmp_path, 8 * len(FORMATS)))
    assert children.bad(results) == []
    assert {each.case.name.partition(",")[0] for each in results if each.outcome == "exact"} == set(FORMATS)


def test_files_of_ours_are_read_by_other_libraries(tmp_path: Path) -> None:
    results = children.run_all(generators.our_files(tmp_path, 12 * len(WRITTEN)))
    assert children.bad(results) == []
    assert {each.case.name.partition(",")[0] for each in results if each.outcome == "exact"} == set(WRITTEN)


def test_damaged_files(tmp_path: Path) -> None:
    assert children.bad(children.run_all(generators.damaged_files(tmp_path, 400))) == []


def test_declared_sizes(tmp_path: Path) -> None:
    results = children.run_all(generators.declared_sizes(tmp_path, 2 * len(generators.DECLARED)))
    assert children.bad(results) == []
    assert {each.outcome for each in results} == {"read", "refused"}


def test_a_crash_a_standstill_and_a_wrong_answer_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "SECONDS", 20.0)
    (tmp_path / "e.csv").write_text("src,dst\na,b\n")
    read = children.Case("read", "test", tmp_path, {"edges": "e.csv"}, [["a", "b", 1.0]])
    crash = children.Case("crash", "test", tmp_path, {"signal": "SIGSEGV"}, task="signal")
    wrong = children.Case("wrong", "test", tmp_path, {"edges": "e.csv"}, [["a", "c", 1.0]])
    spied = children.Case("spied", "test", tmp_path, {"edges": "e.csv"}, secret="a")
    refused = children.Case("refused", "test", tmp_path, {"edges": "no.csv"}, [["a", "b", 1.0]])
    stopped = children.Case("stopped", "test", tmp_path, {"signal": "SIGSTOP"}, task="signal")
    outcomes = [each.outcome for each in children.run_all([read, crash, wrong, spied, refused, stopped, read])]
    assert outcomes == ["exact", "crash", "wrong", "wrong", "wrong", "slow", "exact"]


@pytest.mark.parametrize("suffix", [".duckdb", ".sqlite"])
def test_a_query_that_takes_too_long_is_stopped(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"g{suffix}"
    if suffix == ".duckdb":
        with duckdb.connect(str(path)) as database:
            database.execute("CREATE TABLE edges AS SELECT i AS src, i + 1 AS dst FROM range(3000000) t(i)")
    else:
        slow = "x GENERATED ALWAYS AS (length(replace(hex(zeroblob(100000)), '0', 'ab')))"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute(f"CREATE TABLE edges (src, dst, {slow})")
            database.executemany("INSERT INTO edges VALUES (?, ?)", [(k, k + 1) for k in range(20_000)])
            database.commit()
    monkeypatch.setattr(bounds, "SECONDS", 0.01)
    monkeypatch.setattr(bounds, "SECONDS_PER_MEGABYTE", 0.0)
    start = time.monotonic()
    with pytest.raises(unseen.InputError, match="took more than 0 s, so it was stopped"):
        unseen.read(path)
    assert time.monotonic() - start < 30
