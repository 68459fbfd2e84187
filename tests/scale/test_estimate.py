"""Estimates are near what is measured, and a job that does not fit is refused with what would."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
import torch

import unseen
from unseen.bench.isolated import measure
from unseen.cli.app import run
from unseen.errors import InputError, OutputError
from unseen.linalg import scratch as scratch_module
from unseen.linalg.scratch import Zeros, scratch
from unseen.methods.training import Adam
from unseen.scale.estimate import Sizes, check_fits, estimate, free_memory

BIG = Sizes(10_000_000, 40_000_000, 64, 100, source="identity")


def test_the_cheaper_option_is_named() -> None:
    with pytest.raises(
        InputError, match=r"needs about 22\.9 GB .* there are 14\.0 GB; cheaper: --scratch FOLDER"
    ) as e:
        check_fits("rect-n", BIG, free=14e9)
    assert "or --dim 32" in str(e.value)
    assert check_fits("rect-n", BIG, free=14e9, scratch=True) is not None
    assert check_fits("rect-n", BIG, free=1e9, force=True) is not None
    assert check_fits("smoothfeats", BIG, free=1.0) is None


def test_a_long_job_is_told_before_it_begins(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "unseen"):
        check_fits("rect-n", BIG, free=24e9)
        assert "rect-n on 10,000,000 nodes, 64 columns: about 22.9 GB of memory" in caplog.text
        caplog.clear()
        check_fits("rect-n", Sizes(1000, 4000, 64, 100), free=24e9)
        assert not caplog.text


@pytest.mark.parametrize("method", ["rect-l", "rect-n", "rect", "mfdw", "rsdne-light"])
def test_more_rows_and_columns_cost_more(method: str) -> None:
    sizes = [Sizes(n, 4 * n, d, 10) for n in (1000, 10_000) for d in (32, 64)]
    found = [estimate(method, size) for size in sizes]
    assert all(one is not None for one in found)
    assert sorted(one.n_bytes for one in found if one) == [one.n_bytes for one in found if one]
    assert (free_memory() or 1) > 0


def test_the_estimate_of_memory_is_near_the_truth() -> None:
    n, d = 200_000, 64  # so large that what libraries allocate for themselves, some 25 MB, does not count
    params = {"n_components": d, "epochs": 2, "features": "identity"}
    found = measure("unseen.bench.scale", "fit", name="rect-n", n=n, params=params)
    wanted = estimate("rect-n", Sizes(n, 4 * n, d, 2, source="identity"))
    assert wanted is not None
    assert 0.7 < (found.added * 1e6 + 45 * n * 4) / wanted.n_bytes < 1.2  # the graph was there before


def test_moments_on_disk_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = unseen.random_graph(600, random_state=0)

    def fit() -> np.ndarray:
        return (
            unseen.RECTN(n_components=8, features="identity", epochs=4, random_state=0)
            .fit_transform(graph)
            .vectors
        )

    expected = fit()
    monkeypatch.setattr(scratch_module, "LARGE", 1000)
    monkeypatch.setattr("unseen.methods.training._DISK_BLOCK", 2000)
    with scratch(tmp_path):
        assert Adam([torch.zeros(600)], 0.1)._moments[0][0].on_disk
        assert np.array_equal(fit(), expected)
    assert not any(tmp_path.iterdir())


def test_a_scratch_folder_without_room_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch_module, "LARGE", 0)
    with scratch(tmp_path / "nowhere"), pytest.raises(OutputError, match="choose another folder"):
        Zeros(torch.zeros(3))


def test_embed_refuses_what_cannot_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("unseen.scale.estimate.free_memory", lambda: 1e6)
    asked = ["embed", "debian", "-m", "rect-n", "--epochs", "1", "--dim", "8", "-o", str(tmp_path / "v.npz")]
    assert run(asked) == 1
    assert "cheaper:" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
    assert run([*asked, "--force", "--scratch", str(tmp_path)]) == 0
