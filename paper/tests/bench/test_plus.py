from __future__ import annotations

import pytest

import unseen
from unseen_paper.bench import draws, plus
from unseen_paper.bench.isolated import Measured


def test_both_methods_are_fitted_on_the_graphs_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    data = unseen.planted_partition(60, 7, random_state=0)
    fits = []

    def load(name: str) -> unseen.Dataset:
        if name != "cora":
            msg = "not here"
            raise unseen.DatasetError(msg)
        return data

    def measure(module: str, function: str, **arguments: str) -> Measured:
        getattr(plus, function)(**arguments)()
        fits.append(arguments["method"])
        return Measured(1.0, 1.0, 1.0, None, 2.0 if arguments["method"] == "rect-plus" else 1.0)

    for module in (draws, plus):
        monkeypatch.setattr(module, "load_dataset", load)
    monkeypatch.setattr(plus, "measure", measure)
    monkeypatch.setattr(plus, "HIDDEN", {"cora": 2})
    monkeypatch.setattr(unseen.RECT, "epochs", 1)
    (table,) = plus.run(repeats=2)
    assert table.rows == [("cora", "1.00", "2.00", "2.00")]
    assert fits == ["rect", "rect-plus"] * 2
