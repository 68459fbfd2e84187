"""Every generator in small numbers; `make hostile` runs the same in large ones (tests/hostile/run.py)."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import duckdb
import pytest

import unseen
from hostile import children, generators
from hostile.handmade import handmade
from hostile.truth import FORMATS, WRITTEN
from unseen.data import databases

pytestmark = [pytest.mark.slow, pytest.mark.processes]


def test_files_made_by_hand(tmp_path: Path) -> None:
    assert children.bad(children.run_all(handmade(tmp_path))) == []


def test_files_of_other_libraries(tmp_path: Path) -> None:
    results = children.run_all(generators.their_files(tmp_path, 5 * len(FORMATS)))
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


def test_a_crash_a_standstill_and_a_wrong_answer_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "e.csv").write_text("src,dst\na,b\n")
    read = children.Case("read", "test", tmp_path, {"edges": "e.csv"}, [["a", "b", 1.0]])
    crash = children.Case("crash", "test", tmp_path, {"signal": "SIGSEGV"}, task="signal")
    wrong = children.Case("wrong", "test", tmp_path, {"edges": "e.csv"}, [["a", "c", 1.0]])
    spied = children.Case("spied", "test", tmp_path, {"edges": "e.csv"}, secret="a")
    refused = children.Case("refused", "test", tmp_path, {"edges": "no.csv"}, [["a", "b", 1.0]])
    stopped = children.Case("stopped", "test", tmp_path, {"signal": "SIGSTOP"}, task="signal")
    with children.Child() as child:
        assert child.run(crash).outcome == "crash"
        assert child.run(read).outcome == "exact"
        assert [child.run(each).outcome for each in (wrong, spied, refused)] == ["wrong"] * 3
        monkeypatch.setattr(children, "SECONDS", 1.0)
        assert child.run(stopped).outcome == "slow"


@pytest.mark.parametrize("suffix", [".duckdb", ".sqlite"])
def test_a_query_that_takes_too_long_is_stopped(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"g{suffix}"
    if suffix == ".duckdb":
        with duckdb.connect(str(path)) as database:
            database.execute("CREATE TABLE edges AS SELECT i AS src, i + 1 AS dst FROM range(2000000) t(i)")
    else:
        slow = "x GENERATED ALWAYS AS (length(replace(hex(zeroblob(100000 + src)), '0', 'ab')))"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE edges (src, dst)")
            database.executemany("INSERT INTO edges VALUES (?, ?)", [(k, k + 1) for k in range(20_000)])
            database.execute(f"ALTER TABLE edges ADD COLUMN {slow}")
            database.commit()
    monkeypatch.setattr(databases, "SECONDS", 0.0)
    monkeypatch.setattr(databases, "SECONDS_PER_MEGABYTE", 0.0)
    with pytest.raises(unseen.InputError, match="took more than 0 s and was stopped"):
        unseen.read(path)
