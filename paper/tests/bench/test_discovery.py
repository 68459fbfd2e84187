"""`unseen bench discovery` on a planted graph: draws are kept and not measured again."""

from __future__ import annotations

import pytest

import unseen
from unseen_paper.bench import discovery as bench


@pytest.fixture
def planted(monkeypatch):
    data = unseen.planted_partition(200, 4, degree_within=10, words_of_class=6, random_state=0)

    def load(name):
        if name == "cora":
            return data
        msg = f"no {name} here"
        raise unseen.DatasetError(msg)

    monkeypatch.setattr(bench, "load_dataset", load)
    monkeypatch.setattr(bench, "RATES", (0.3,))


@pytest.mark.slow
def test_draws_are_kept_and_taken_up_again(planted, monkeypatch, tmp_path):
    file = tmp_path / "discovery.csv"
    (table,) = bench.run(repeats=1, file=file)
    assert table.rows[0][:3] == ("cora", "0.3", "1")
    assert float(table.rows[0][3]) > 0.9
    assert len(file.read_text().splitlines()) == 2
    measured = []
    real = bench.measure
    monkeypatch.setattr(bench, "measure", lambda *arguments: measured.append(arguments) or real(*arguments))
    (table,) = bench.run(repeats=2, methods=["cora"], file=file)
    assert len(measured) == 1
    assert table.rows[0][2] == "2"
