"""`unseen bench relations`: figures are kept, and a second start makes none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen_paper.bench import relations
from unseen_paper.bench.relations import Kept, planted_signs, three_types


def test_figures_are_kept(tmp_path: Path) -> None:
    made: list[int] = []

    def make(value: int) -> dict[str, float]:
        made.append(value)
        return {"micro": value / 2}

    first = Kept(tmp_path / "relations.csv").of(("a", "b"), make, 3)
    again = Kept(tmp_path / "relations.csv").of(("a", "b"), make, 3)
    assert first == again
    assert (made, again["micro"]) == ([3], 1.5)


def test_planted_graphs_are_what_they_say() -> None:
    graph, labels = planted_signs(0)
    assert graph.is_signed
    assert len(labels.classes) == 4
    large, some = three_types(1000)
    assert [r.name for r in large.relations] == ["wrote", "in", "cites"]
    assert large.n_nodes == 1000
    assert 0 < len(some.labelled) < 20


def test_hidden_classes_are_scored_on_relations_and_on_the_folded_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    field = np.arange(60) % 3
    wrote = np.zeros((120, 120))
    wrote[np.arange(60), 60 + rng.permutation(20)[np.arange(60) // 3] * 3 + field] = 1
    types = ["author"] * 60 + ["paper"] * 60
    graph = unseen.Graph.from_relations(
        [unseen.Relation("wrote", "author", "paper", wrote)], None, types, {"paper": np.eye(3)[field]}
    )  # type: ignore[arg-type]
    labels = unseen.Labels.from_values([*(f"f{k}" for k in field), *[None] * 60], graph.node_ids)
    monkeypatch.setattr(relations, "load_dataset", lambda name: unseen.Dataset(name, graph, labels))
    monkeypatch.setattr(relations, "RATES", (0.3,))
    (table,) = relations.run(repeats=1, methods=["hidden"], out=str(tmp_path))
    assert table.header == ("data set", "labels", "draws", "relations", "folded")
    assert [row[:4] for row in table.rows] == [
        ("hgb-dblp", "30%", "3", "1.000 / 1.000"),
        ("hgb-acm", "30%", "3", "1.000 / 1.000"),
    ]
