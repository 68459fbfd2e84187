"""`unseen bench relations`: figures are kept, and a second start makes none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen_paper.bench import relations


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
    for _ in range(2):  # the second start makes no fit
        hidden, rect, seen = relations.run(repeats=1, out=str(tmp_path))
        assert hidden.header == ("graph", "rate", "draws", *relations.HIDDEN_FIGURES)
        assert [row[:5] for row in hidden.rows] == [
            (name, "0.3", "1", "1.000", "1.000") for name in ("hgb-dblp", "hgb-acm")
        ]
        assert [row[:3] for row in rect.rows] == [row[:3] for row in hidden.rows]
        assert [row[:4] for row in seen.rows] == [
            (name, "1", "1.000", "1.000") for name in relations.N_HIDDEN
        ]
        monkeypatch.setattr(unseen.RECTPlus, "_fit", lambda *_: pytest.fail("a draw was measured again"))
