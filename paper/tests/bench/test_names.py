"""`unseen bench names` on a planted graph whose words are called by their classes."""

from __future__ import annotations

import pytest

import unseen
from unseen_paper.bench import names as bench


@pytest.mark.slow
def test_named_classes_are_found_and_draws_are_kept(monkeypatch, tmp_path):
    data = unseen.planted_partition(300, 5, degree_within=10, words_of_class=6, random_state=0)
    monkeypatch.setattr(bench, "load_texts", lambda name: data)
    monkeypatch.setattr(bench, "HIDDEN", (1,))
    monkeypatch.setattr(bench, "description", lambda graph, name: name)
    file = tmp_path / "names.csv"
    (table,) = bench.run(repeats=2, methods=["debian"], file=file)
    graph, draws, seen, unseen_accuracy, harmonic, by_meaning, _, absent, _, worst, invented = table.rows[0]
    assert (graph, draws, absent) == ("debian", "2", "0 of 2")
    assert min(map(float, (seen, unseen_accuracy, harmonic, by_meaning))) > 0.8
    assert float(worst) >= -0.02
    assert invented == "0 of 0"  # no feature has a word of theirs, which is an error of its own
    kept = file.stat().st_mtime_ns
    assert bench.run(repeats=2, methods=["debian"], file=file)[0].rows == table.rows
    assert file.stat().st_mtime_ns == kept
