from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen_paper.bench import plus
from unseen_paper.bench.cca_ssg import cca_ssg
from unseen_paper.bench.plus import digits, heterophilous


@pytest.mark.slow
def test_every_method_of_the_comparison_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plus, "RATES", (0.3,))
    monkeypatch.setattr(plus, "WITHOUT_LABELS", ("nodefeats", "smoothfeats"))
    data = unseen.planted_partition(240, 7, random_state=0)
    rows = plus.compared(data, 1, {"RECT+": {}, "plain": {"views": ("plain/far",)}})
    assert [row[:2] for row in rows] == [
        (data.name, title) for title in ("nodefeats", "smoothfeats", "cca-ssg", "rect", "RECT+", "plain")
    ]
    micro = {row[1]: float(row[2].split(" / ")[0]) for row in rows}
    assert micro["RECT+"] > 0.9 * max(micro.values())
    assert micro["RECT+"] > micro["nodefeats"]


@pytest.mark.slow
def test_cca_ssg_brings_nodes_of_a_class_together() -> None:
    data = unseen.planted_partition(150, 3, random_state=0)
    vectors = cca_ssg(data.graph, n_components=32, epochs=30).vectors
    same = data.labels.indicator.toarray().argmax(axis=1)
    alike = same[:, None] == same
    gram = (vectors - vectors.mean(axis=0)) @ (vectors - vectors.mean(axis=0)).T
    np.fill_diagonal(gram, np.nan)
    assert np.nanmean(gram[alike]) > 0.1 * np.nanstd(gram)
    assert np.nanmean(gram[~alike]) < 0


def test_the_graphs_that_played_no_part_are_what_they_are_called() -> None:
    numbers = digits()
    assert numbers.graph.n_nodes == 1797
    assert len(numbers.labels.classes) == 10
    mixed = heterophilous()
    classes = mixed.labels.indicator.toarray().argmax(axis=1)
    ends = mixed.graph.adjacency.tocoo()
    assert (classes[ends.row] != classes[ends.col]).mean() > 0.6
