"""`unseen bench certificate`: certificates hold in simulated runs and in a labelling loop, and draws are kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

import unseen
from unseen.labels import Labels, Status
from unseen_paper.bench import certificate as bench


@pytest.mark.parametrize("n_classes", [1, 6, 60, 200])
def test_the_certificate_is_hardly_ever_wrong(n_classes):
    rng = np.random.default_rng(7)
    runs = [bench.simulate(n_classes, rng, with_scores=bool(k % 2))[0] for k in range(300)]
    assert np.mean(runs) <= bench.ALPHA + 2 * math.sqrt(bench.ALPHA * (1 - bench.ALPHA) / len(runs))


def test_a_certificate_that_begins_again_without_paying_for_it_is_wrong_more_often(monkeypatch):
    """The simulation notices it: the bar has to rise with every new class."""
    real = math.log
    rng = np.random.default_rng(7)
    monkeypatch.setattr(bench.math, "log", lambda value: 0.0 if value == 3 else real(value))
    runs = [bench.simulate(200, rng, with_scores=False)[0] for _ in range(300)]
    assert np.mean(runs) > 0.1


def test_a_number_is_refused_exactly_if_the_bound_is_below_it():
    """This is how the simulation tells that a certificate is wrong."""
    pools = [500 - k for k in range(60)]
    answers = {k: Status(drawn="random", pool=pool) for k, pool in enumerate(pools)}
    labels = Labels.from_values(["a"] * 60 + [None] * 440)
    bound = Labels(labels.indicator, labels.classes, labels.node_ids, answers).certificate().at_most
    totals = [sum(-math.log1p(-d / pool) for pool in pools) for d in (bound, bound + 1)]
    assert totals[0] < math.log(3 / 0.1) <= totals[1]


@pytest.mark.slow
def test_a_labelling_loop_ends_with_a_true_certificate_and_draws_are_kept(tmp_path, monkeypatch):
    data = unseen.planted_partition(200, 4, random_state=0)
    monkeypatch.setattr(bench, "_load", lambda _: data)
    monkeypatch.setattr(bench, "ENOUGH", 0.2)
    run = lambda: bench.run(repeats=10, methods=["planted"], draws=1, file=tmp_path / "certificate.csv")  # noqa: E731
    tables = run()
    (row,) = tables[1].rows
    assert row[:3] == ("planted", "1", "1.00")
    written = (tmp_path / "certificate.csv").read_text()
    assert run() == tables
    assert (tmp_path / "certificate.csv").read_text() == written
