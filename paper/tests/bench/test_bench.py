"""The benchmarks run and measure what they say; how fast things are is no matter of a test."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen_paper.bench import isolated, rect
from unseen_paper.bench.report import machine
from unseen_paper.dense import rect as dense_rect


@pytest.mark.slow
def test_a_measurement_has_its_own_process_time_memory_and_result(tmp_path, monkeypatch):
    (tmp_path / "hungry.py").write_text(
        "import numpy as np\n\n\ndef take(mb):\n    return lambda: float(np.ones(mb * 125_000).sum())\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = isolated.measure("hungry", "take", mb=80)
    assert found.result == 80 * 125_000
    assert 70 < found.added < 120
    assert found.megabytes > found.added
    assert found.seconds > 0
    assert found.processor > 0


def test_a_measurement_that_fails_says_which():
    with pytest.raises(
        unseen.UnseenError, match=r"unseen_paper\.bench\.isolated\.nothing failed: .*unexpected keyword"
    ):
        isolated.measure("unseen_paper.bench.isolated", "nothing", wrong=1)


def test_ratios_are_paired(monkeypatch):
    seconds = iter([10.0, 1.0, 30.0, 2.0, 20.0, 1.0])

    def fake(job, epochs):
        value = next(seconds)
        return isolated.Measured(value, 100 * value, 10 * value, None)

    monkeypatch.setattr(rect, "_run", fake)
    row = rect._compare("ours", "theirs", ("a", "x", 0.3), ("b", "x", 0.3), 3, 1)
    assert row[2:5] == ("20.00", "1.00", "15.0")
    assert row[7] == "0.07"


@pytest.mark.slow
@pytest.mark.parametrize("job", [rect.our_rect, rect.our_rect_l])
def test_our_side_of_the_comparison_runs(job):
    assert np.isfinite(job("debian", 0.3, 1)())


def test_the_dense_halves_make_the_dense_whole():
    data = unseen.planted_partition(60, 3, random_state=0)
    vectors = dense_rect.train_rect(data.graph, data.labels, width=5, epochs=2)
    assert vectors.shape == (60, 10)
    np.testing.assert_allclose(np.linalg.norm(vectors[:, :5], axis=1), 1, atol=1e-5)


def test_the_machine_is_named():
    assert "torch" in machine()
