"""`unseen bench relations`: figures are kept, and a second start makes none."""

from __future__ import annotations

from pathlib import Path

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
