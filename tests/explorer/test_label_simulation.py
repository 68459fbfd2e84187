"""The simulated user of `unseen bench loop` speaks to the app, and is asked what the library asks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import unseen
from unseen_paper.bench.loop import BATCH, Library, ask_and_answer
from unseen_paper.bench.loop_app import LabelApp


@pytest.mark.slow
@pytest.mark.processes
def test_the_app_asks_what_the_library_asks(tmp_path: Path) -> None:
    planted = unseen.planted_partition(200, 4, degree_within=10, words_of_class=6, random_state=0)
    ids = [f"n{k}" for k in range(200)]  # as text files have them
    graph = unseen.Graph(planted.graph.adjacency, planted.graph.features, ids)
    labels = replace(planted.labels, node_ids=graph.node_ids)
    data = replace(planted, graph=graph, labels=labels)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=2, random_state=1)
    library = Library(data, split.seen_labels, "suggest", 1)
    asked = ask_and_answer(library.ask, library.answer, data.labels, 20)
    with LabelApp(data.graph, split.seen_labels, 1, BATCH, tmp_path) as app:
        assert ask_and_answer(app.ask_next, app.answer, data.labels, 20) == asked
        assert app.numbers == library.numbers
        app.ask_next()
        assert app.numbers[-1] == library.found().count.best
    assert sorted(app.written().labelled) == sorted(library.rows)
