"""Training time against size: each fit once, in a table that a second start continues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unseen
from unseen_paper.bench import gpu
from unseen_paper.bench.isolated import Measured
from unseen_paper.experiments import scalability
from unseen_paper.experiments.catalog import Choice
from unseen_paper.report.scalability import write_scalability


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Seconds that grow as n, without a fit; returns what was asked for."""
    asked: list[dict[str, Any]] = []

    def measure(module: str, function: str, **arguments: Any) -> Measured:
        asked.append(arguments)
        if arguments["n"] == 666:
            msg = "the measurement failed: out of memory"
            raise unseen.errors.UnseenError(msg)
        return Measured(9.0, 100.0, 10.0, {}, processor=arguments["n"] / 1000)

    monkeypatch.setattr(scalability, "measure", measure)
    return asked


@pytest.mark.slow
def test_every_fit_is_timed_once(tmp_path: Path, timed: list[dict[str, Any]]) -> None:
    pytest.importorskip("matplotlib", reason="figures need the viz extra")
    rows, text = write_scalability(Choice(), tmp_path, sizes=[1000, 500])
    assert [(row["n_nodes"], row["method"]) for row in rows[:4]] == [
        (500, name) for name in ("rsdne", "rsdne-light", "rect", "rect-dw")
    ]
    assert len(timed) == sum(2 * len(scalability.devices(name)) for name in scalability.METHODS)
    assert timed[2]["params"]["features"] == "identity"
    assert timed[2]["params"]["device"] == "cpu"
    assert text.splitlines()[1].split() == ["500", "rsdne", "cpu", "0.50", "100"]
    assert (tmp_path / "scalability.png").stat().st_size > 5000
    before = len(timed)
    again, _ = write_scalability(Choice(methods=["rect"]), tmp_path, sizes=[1000])
    assert len(timed) == before
    assert again[0]["seconds"] == 1.0
    table = tmp_path / "scalability.csv"
    table.write_text(table.read_text().replace(unseen.__version__, "0.1.0"))
    write_scalability(Choice(methods=["rect"]), tmp_path, sizes=[1000])
    assert len(timed) == before + len(scalability.devices("rect")), "times of another version are taken again"


@pytest.mark.slow
def test_a_fit_that_fails_is_told_and_tried_again(
    tmp_path: Path, timed: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("matplotlib", reason="figures need the viz extra")
    for times in (1, 2):
        rows, _ = write_scalability(Choice(methods=["rsdne"]), tmp_path, sizes=[500, 666])
        assert [(row["n_nodes"], row["error"]) for row in rows] == [
            (500, ""),
            (666, "the measurement failed: out of memory"),
        ]
        assert sum(asked["n"] == 666 for asked in timed) == times
    assert "out of memory" in caplog.text
    assert "out of memory" in (tmp_path / "scalability.csv").read_text()


def test_odd_sizes_methods_and_files_are_refused(tmp_path: Path, timed: list[dict[str, Any]]) -> None:
    with pytest.raises(unseen.InputError, match="at least 500 nodes, got 20"):
        write_scalability(Choice(), tmp_path, sizes=[20])
    with pytest.raises(unseen.InputError, match="unknown method of the scalability test 'tadw'"):
        write_scalability(Choice(methods=["tadw"]), tmp_path, sizes=[500])
    (tmp_path / "scalability.csv").write_text("a,b\n1,2\n")
    with pytest.raises(
        unseen.InputError, match=r"scalability\.csv, row 1: expected the columns n_nodes, method,"
    ):
        write_scalability(Choice(), tmp_path)
    assert not timed


def test_a_gpu_fills_the_curves_that_need_one(
    tmp_path: Path, timed: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch", reason="needs the neural extra")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(unseen.InputError, match="no GPU"):
        gpu.run(sizes=[500], out=str(tmp_path))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    (table,) = gpu.run(sizes=[3000, 500], out=str(tmp_path / "new"))
    assert table.rows[1] == ("rect", "3,000", "3.0", "9.0", "0.3")
    asked = [(each["name"], each["n"], each["params"]["device"]) for each in timed]
    assert set(asked) == {(m, n, d) for m in gpu.METHODS for n in (500, 3000) for d in ("cpu", "cuda")}
    gpu.run(sizes=[500], out=str(tmp_path / "new"))
    assert len(timed) == len(asked), "what is in the table is not measured again"
