"""The simulated user of `unseen bench loop` speaks to the app, and is asked what the library asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import unseen
from labelling import Running
from unseen.data.write import write_graph
from unseen_paper.bench.loop import BATCH, Library, ask_and_answer
from waiting import wait_for

COMMAND = [
    "-c",
    "from unseen.cli import main; main()",
    "label",
    "edges.csv",
    "--features",
    "features.parquet",
]


class App(Running):
    """The app, as a tool that is asked."""

    def __init__(self, data: unseen.Dataset, labels: unseen.Labels, seed: int, folder: Path) -> None:
        write_graph(data.graph, folder, labels=labels, tables=True)
        words = ["--labels", "labels.csv", "--no-browser", "--budget", str(BATCH), "--seed", str(seed)]
        super().__init__([*COMMAND, *words], folder)
        self.numbers: list[int] = []
        self.findings: dict = {}

    def ask_next(self) -> list:
        """Update, and return what is asked then."""
        number = self.ask("update", {})[1]["update"]["number"] + 1
        wait_for(lambda: self.ask("state")[1]["update"]["number"] == number, "the update")
        self.findings = self.ask(f"state?findings={number - 1}")[1]["findings"]
        self.numbers.append(self.findings["found"]["count"]["best"])
        return [row["node"] for row in self.findings["suggestions"]]

    def answer(self, answers: Mapping) -> None:
        for node, name in answers.items():
            assert self.ask("answers", {"node": node, "label": name})[0] == 200


@pytest.mark.slow
@pytest.mark.processes
def test_the_app_asks_what_the_library_asks(tmp_path: Path) -> None:
    planted = unseen.planted_partition(200, 4, degree_within=10, words_of_class=6, random_state=0)
    graph = replace(planted.graph, node_ids=[f"n{k}" for k in range(200)])  # as text files have them
    labels = replace(planted.labels, node_ids=graph.node_ids)
    data = replace(planted, graph=graph, labels=labels)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=2, random_state=1)
    library = Library(data, split.seen_labels, "suggest", 1)
    asked = ask_and_answer(library.ask, library.answer, data.labels, 20)
    app = App(data, split.seen_labels, 1, tmp_path)
    try:
        assert ask_and_answer(app.ask_next, app.answer, data.labels, 20) == asked
        assert app.numbers == library.numbers
        app.ask_next()
        assert app.numbers[-1] == library.found().count.best
    finally:
        app.end()
    written = unseen.read_labels(tmp_path / "labels.csv", data.graph)
    assert sorted(written.labelled) == sorted(library.rows)
