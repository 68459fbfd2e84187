"""`unseen bench planted`, and that what it measures was foreseen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen.methods.views import LARGE
from unseen_paper.bench import planted
from unseen_paper.bench.isolated import measure


@pytest.mark.slow
def test_estimates_of_rect_plus_are_within_a_factor_of_two_on_both_sides_of_large() -> None:
    costs = [
        measure("unseen_paper.bench.planted", "fit", name="rect-plus", n=n) for n in (4000, LARGE + 1000)
    ]
    for cost in costs:
        assert 0.5 < cost.megabytes / cost.result[0] < 2


def test_a_fit_is_judged_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    data = unseen.planted_partition(300, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
    monkeypatch.setattr(planted, "planted", lambda _n, _folder: (data, split))
    megabytes, micro, hidden = planted.fit("smoothfeats", 300)()()
    assert megabytes > 1
    assert min(micro, hidden) > 0.5


def test_discover_is_judged_by_the_hidden_classes() -> None:
    before, auroc, right = planted.fit("predict", 3000)()()
    assert before is None
    assert auroc > 0.5
    assert right is None or right > 0.2


def test_a_graph_is_made_once_and_its_vectors_and_the_parts_of_the_fit_are_kept(tmp_path: Path) -> None:
    made, again = (planted.keep_graph(400, tmp_path).graph for _ in range(2))
    assert (made.adjacency != again.adjacency).nnz == 0
    assert made.n_edges == pytest.approx(2000, rel=0.2)
    micro = planted.fit("rect-plus", 400, str(tmp_path))()()[1]
    assert micro > 0.05
    assert np.load(tmp_path / "rect-plus-400.npy").dtype == np.float16
    assert "structure_bases" in (tmp_path / "rect-plus-400.log").read_text()
