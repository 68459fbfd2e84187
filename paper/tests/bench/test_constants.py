"""`unseen bench constants` finds the constants of discovery, changes one at a time, and leaves them as they were."""

from __future__ import annotations

import pytest

import unseen
from unseen.discovery import vectors
from unseen_paper.bench import constants as bench

DATA = unseen.planted_partition(200, 4, degree_within=10, words_of_class=6, random_state=0)


def test_constants_are_found_and_scaled():
    names = bench.find_constants()
    assert {"guarantees.SURE", "vectors.GRAINS", "vectors.NARROW"} <= set(names)
    assert bench.scale(7, 0.5) == 4
    assert bench.scale((0.4, 3.0), 2.0) == (0.8, 6.0)
    assert bench.scale("words", 2.0) is None


def test_a_constant_is_changed_wherever_it_is_used():
    before = vectors.NARROW
    with bench.changed("vectors.NARROW", 2.0):
        assert 2 * before == vectors.NARROW
    assert before == vectors.NARROW


@pytest.mark.slow
def test_the_table_has_the_change_that_each_constant_makes(monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "load_dataset", lambda name: DATA)
    monkeypatch.setattr(bench, "find_constants", lambda: ["guarantees.SURE"])
    (table,) = bench.run(repeats=1, methods=["cora"], file=tmp_path / "constants.csv")
    assert [row[:2] for row in table.rows] == [("guarantees.SURE", "1")]
    assert float(table.rows[0][2]) == 0  # the ranking does not depend on it
