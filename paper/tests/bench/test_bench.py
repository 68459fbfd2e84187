"""The benchmarks run and measure what they say; how fast things are is no matter of a test."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from unseen_paper.bench import isolated, outofcore, rect, scale
from unseen_paper.bench.report import Table, machine
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


def test_the_scale_benchmark_leaves_out_what_is_too_large_and_knows_its_methods(monkeypatch):
    asked = []

    def fake(*_, **arguments):
        asked.append(arguments["n"])
        return isolated.Measured(1.0, 2.0, 1.0, {"neighbour_seconds": None}, 1.0)

    monkeypatch.setattr(scale, "measure", fake)
    limited = [scale.Contestant("rect-n", {}, 100)]
    assert len(scale.run(sizes=(60, 120), contestants=limited, parts=False)[0].rows) == 1
    assert asked == [60]
    with pytest.raises(unseen.InputError, match=r"unknown method of the scalability test 'rsdn'.*'rsdne'"):
        scale.run(methods=["rsdn"])


def test_the_scale_benchmark_goes_on_where_arrays_must_lie_on_disk(monkeypatch):
    found = isolated.Measured(1.0, 2.0, 1.0, {"neighbour_seconds": None, "own": 1.5}, 1.0)
    inside, on_disk = [], []
    monkeypatch.setattr(scale, "measure", lambda *_, **job: inside.append(job["n"]) or found)
    monkeypatch.setattr(outofcore, "measure", lambda *_, **job: on_disk.append(job) or found)
    tables = scale.run(sizes=(1000, 1_000_000, 10_000_000), methods=["rect-n"], parts=False)
    assert inside == [1000, 1_000_000]
    assert [(job["n"], job["on_disk"]) for job in on_disk] == [
        (1_000_000, False),
        (1_000_000, True),
        (10_000_000, True),
    ]
    assert [row[:2] for row in tables[1].rows][-1] == ("10,000,000", "half on disk")
    assert len(scale.run(sizes=(1000,), methods=["rect-n"], parts=False)) == 1


def test_growth_of_a_quadratic_method_is_two():
    assert scale._exponent((10, 3.0), (100, 300.0)) == pytest.approx(2.0)


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


def test_tables_are_markdown_and_the_machine_is_named():
    text = Table("t", ("a", "b"), [("1", "2")], ("a note",)).markdown()
    assert text.splitlines() == ["**t**", "", "| a | b |", "|---|---|", "| 1 | 2 |", "", "a note"]
    assert "torch" in machine()
