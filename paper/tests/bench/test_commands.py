"""`unseen bench` from the command line, on a small graph and in this process: what it prints, not how fast it is."""

from __future__ import annotations

import pytest

import unseen
from unseen.cli.app import run
from unseen_paper.bench import isolated, rect, rsdne


@pytest.fixture
def bench(monkeypatch, capsys):
    """Run the command with a small graph in place of the paper's; return its output."""
    small = unseen.planted_partition(80, 3, random_state=0)

    def here(module, function, **arguments):
        job = getattr({"rect": rect, "rsdne": rsdne}[module.rpartition(".")[2]], function)
        return isolated.Measured(0.5, 200.0, 100.0, job(**arguments)(), 0.7)

    for module in (rect, rsdne):
        monkeypatch.setattr(module, "measure", here)
    monkeypatch.setattr(unseen, "load_dataset", lambda _: small)

    def call(*words: str) -> str:
        code = run(["bench", *words, "-q"])
        captured = capsys.readouterr()
        assert code == 0, captured.err
        return captured.out

    return call


def test_bench_rect(bench, monkeypatch):
    monkeypatch.setattr(rect, "pyg_rect_l", lambda **_: lambda: 0.0)  # its SVD needs 200 columns of features
    out = bench("rect", "--repeats", "1", "--epochs", "1")
    assert "RECT-L, cora, 50%" in out
    assert "1.0" in out.split("dense RECT")[1]
    assert "Measured on: " in out


@pytest.mark.slow
def test_bench_rsdne(bench):
    out = bench("rsdne", "--repeats", "1", "--format", "markdown")
    assert "| a round of gradient descent |" in out
    assert "to J = " in out


def test_a_benchmark_refuses_what_it_does_not_take(capsys):
    assert run(["bench", "rsdne", "--sizes", "10"]) == 1
    assert "the benchmark 'rsdne' has no --sizes" in capsys.readouterr().err
    assert run(["bench", "rectt"]) == 1
    assert "unknown benchmark 'rectt'" in capsys.readouterr().err
