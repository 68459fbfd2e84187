"""`unseen bench loop` on a planted graph: answers end the loop, and draws are kept."""

from __future__ import annotations

import pytest

import unseen
from unseen_paper.bench import loop as bench


@pytest.fixture
def planted(monkeypatch):
    data = unseen.planted_partition(400, 6, degree_within=10, words_of_class=6, random_state=0)
    monkeypatch.setattr(bench, "load_dataset", lambda name: data)
    monkeypatch.setattr(bench, "MOST", 60)


@pytest.mark.slow
def test_answers_name_every_class_and_end_the_loop(planted, tmp_path):
    file = tmp_path / "loop.csv"
    table, through_the_app = bench.run(repeats=2, methods=["cora"], file=file)
    graph, draws, asked, at_random, ended, *_ = table.rows[0]
    assert (graph, draws, ended) == ("cora", "2", "1.00")
    assert float(asked) < float(at_random)
    assert len(file.read_text().splitlines()) == 1 + 2 * len(bench.CHOICES) + 1
    (_, _, *app), (_, _, *library) = through_the_app.rows
    assert app == library
    kept = file.stat().st_mtime_ns
    assert bench.run(repeats=2, methods=["cora"], file=file)[0].rows == table.rows
    assert file.stat().st_mtime_ns == kept


def test_the_user_stops_after_the_last_question_or_when_nothing_is_asked():
    truth = unseen.Labels.from_values(["a", "b", "b", "a"])
    answers = {}
    assert bench.ask_and_answer(lambda: [3, 1, 0], answers.update, truth, 2) == [3, 1]
    assert answers == {3: "a", 1: "b"}
    assert bench.ask_and_answer(list, answers.update, truth, 2) == []
