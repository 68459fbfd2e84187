"""`unseen bench reco_slip`: the re-implemented peer ranks new nodes first where they are easy to tell."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit

import unseen
from unseen_paper.bench import reco_slip as bench


@pytest.mark.slow
def test_both_sides_find_planted_classes_and_draws_are_kept(monkeypatch, tmp_path):
    data = unseen.planted_partition(300, 3, degree_within=10, words_of_class=6, random_state=0)
    monkeypatch.setattr(bench, "EPOCHS", 300)
    monkeypatch.setattr(bench, "RATE_OF_LEARNING", 1e-2)
    monkeypatch.setattr(bench, "RECALLS", (0.3,))
    figures = bench.measure(data, 0.3, 0)
    assert float(figures["discover"]) > 0.9
    assert float(figures["reco_slip"]) > 0.9
    assert figures["best_reco_slip"] == figures["reco_slip"]
    monkeypatch.setattr(bench, "kept_draws", lambda *_: [{"graph": "planted", "rate": 0.3, **figures}] * 2)
    (table,) = bench.run()
    assert table.rows[0][:3] == ("planted", "0.3", "2")


def test_loss_of_links_counts_links_between_the_nodes_that_look_least_new():
    z = torch.tensor([[2.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    scores = torch.tensor([0.1, 0.2, 0.9, 0.0])
    links = torch.tensor([[0, 0], [1, 3]])
    unlabelled = torch.tensor([True, True, True, False])
    torch.manual_seed(0)
    loss = bench.loss_of_links(z, scores, links, unlabelled, recall=0.3)
    assert float(loss) == pytest.approx(-np.log(expit(4)) - np.log(expit(-4)))


def test_the_walk_has_a_loop_at_every_node():
    graph = unseen.Graph.from_edges([0], [1])
    assert bench.normalised(graph.adjacency).toarray() == pytest.approx(np.full((2, 2), 0.5))
