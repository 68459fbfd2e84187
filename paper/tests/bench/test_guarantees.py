"""`unseen bench guarantees` on a planted graph: labels are drawn as they are called, and draws are kept."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import unseen
from unseen_paper.bench import guarantees as bench

DATA = unseen.planted_partition(400, 4, degree_within=10, words_of_class=6, random_state=0)


@pytest.mark.slow
def test_draws_are_kept_and_compared_with_the_truth(monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "load_dataset", lambda name: DATA)
    run = partial(bench.run, methods=["cora"], file=tmp_path / "guarantees.csv")
    (table,) = run(repeats=1)
    first = table.rows[0]
    assert first[:4] == ("uniform", "cora", "5 %", "2")
    assert table.rows[1][4] == "1 of 1"
    text = (tmp_path / "guarantees.csv").read_text()
    assert run(repeats=1)[0].rows == table.rows
    assert (tmp_path / "guarantees.csv").read_text() == text


@pytest.mark.parametrize("kind", ["uniform", "rates", "region"])
def test_labels_are_drawn_as_they_are_called(kind):
    seen = bench.draw(DATA, kind, 0.2, 1, 0)
    new = bench.is_hidden(DATA.labels, seen)
    assert 0.2 < new.mean() < 0.3
    counts = seen.counts[seen.counts > 0]
    assert (counts.min() < 0.5 * counts.max()) == (kind != "uniform")
    labelled = np.zeros(400, dtype=bool)
    labelled[seen.labelled] = True
    linked = DATA.graph.adjacency[labelled][:, labelled].nnz / DATA.graph.adjacency[labelled].nnz
    assert (linked > 0.25) == (kind == "region")
