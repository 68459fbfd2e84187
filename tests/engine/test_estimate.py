"""Estimates are near what is measured, and a job that does not fit is refused with what would."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import unseen
from unseen.cli.app import run
from unseen.engine import run as run_module
from unseen.engine.estimate import Sizes, check_fits, estimate, free_memory, sizes_of
from unseen.engine.run import Run
from unseen.engine.scratch import on_disk
from unseen.errors import InputError
from unseen.methods.neural.adam import Adam
from unseen.methods.registry import method_class
from unseen_paper.bench.isolated import measure

BIG = Sizes(10_000_000, 40_000_000, 64, 100, source="identity")
# so large that the arrays count beside the program
MEASURED: list[tuple[int, str, dict[str, Any]]] = [
    (100_000, "rect-n", {"n_components": 64, "features": "identity"}),
    (30_000, "rect", {"n_components": 64}),
    (30_000, "rsdne-light", {"n_components": 64}),
]


def test_the_cheaper_option_is_named() -> None:
    with pytest.raises(
        InputError, match=r"needs about 23 GB .* there are 14 GB; cheaper: --scratch FOLDER"
    ) as e:
        check_fits(method_class("rect-n"), BIG, free=14e9)
    assert "or --dim 32" in str(e.value)
    assert "features=identity" not in str(e.value)  # that is what it is already
    assert check_fits(method_class("rect-n"), BIG, free=14e9, scratch=True) is not None
    assert check_fits(method_class("rect-n"), BIG, free=1e9, force=True) is not None
    assert check_fits(method_class("smoothfeats"), BIG, free=1.0) is None


def test_no_option_is_named_that_would_not_fit_either() -> None:
    with pytest.raises(InputError, match="cheaper: unseen partition") as e:
        check_fits(method_class("rect-n"), replace(BIG, source="adjacency"), free=1e9)
    assert "--scratch" not in str(e.value)
    assert "--param" not in str(e.value)
    with pytest.raises(InputError, match=r"--dim 32, or --param features=identity, or unseen partition"):
        check_fits(method_class("rect-n"), replace(BIG, source="adjacency"), free=24e9)


def test_another_method_is_named_where_one_cannot_train_on_parts() -> None:
    large = Sizes(2_000_000, 8_000_000, 64, 1, source="identity")
    with pytest.raises(
        InputError, match=r"cheaper: --method rect-n --dim 64, or unseen partition, .* --method rect-n on"
    ):
        check_fits(method_class("rect-plus"), large, free=5e9)
    with pytest.raises(InputError, match=r"cheaper: --method rect-n --dim 16, or"):
        check_fits(method_class("rect-plus"), large, free=2.5e9)
    with pytest.raises(InputError, match=r"cheaper: unseen partition, .* --method rsdne-light on several"):
        check_fits(method_class("rsdne"), large, free=1e9)


def test_a_long_job_is_told_before_it_begins(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "unseen"):
        check_fits(method_class("rect-n"), BIG, free=24e9)
        assert (
            "rect-n on 10,000,000 nodes, 64 columns: about 23 GB of memory (24 GB are there)" in caplog.text
        )
        caplog.clear()
        check_fits(method_class("rect-n"), Sizes(1000, 4000, 64, 100), free=24e9)
        assert not caplog.text


@pytest.mark.parametrize("method", ["rect-l", "rect-n", "rect", "mfdw", "rsdne-light"])
def test_more_rows_and_columns_cost_more(method: str) -> None:
    sizes = [Sizes(n, 4 * n, d, 10) for n in (1000, 10_000) for d in (32, 64)]
    found = [estimate(method_class(method), size) for size in sizes]
    assert all(one is not None for one in found)
    assert sorted(one.n_bytes for one in found if one) == [one.n_bytes for one in found if one]


def test_more_threads_and_fewer_rows_of_others_cost_less() -> None:
    one, two = (estimate(method_class("rect-n"), BIG, threads=threads) for threads in (1, 2))
    spread = estimate(method_class("rect-n"), replace(BIG, halo=5_000_000), threads=1)
    assert one is not None
    assert two is not None
    assert spread is not None
    assert one.seconds / 2 < two.seconds < one.seconds  # the graph is prepared on one thread
    assert one.sent == 0
    assert spread.n_bytes > one.n_bytes
    assert spread.sent == (6 * 100 + 1) * 5_000_000 * 64 * 4


@pytest.mark.slow
def test_the_memory_that_a_process_may_hold_has_what_it_holds_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (free_memory() or 1) > 0
    monkeypatch.setattr("unseen.data.bounds._available_bytes", lambda: 8e9)
    before = free_memory()
    held = np.ones(30_000_000)
    after, shared = free_memory(), free_memory(2)
    assert before is not None
    assert after is not None
    assert 8e9 + held.nbytes <= after
    assert after - before == pytest.approx(held.nbytes, rel=0.2)
    assert after - shared == pytest.approx(4e9, rel=0.01)
    monkeypatch.setattr("unseen.data.bounds._available_bytes", lambda: None)
    assert free_memory() is None


@pytest.mark.slow
@pytest.mark.parametrize(("n", "method", "params"), MEASURED)
def test_the_estimate_of_memory_is_near_the_truth(n: int, method: str, params: dict[str, Any]) -> None:
    steps = "epochs" if method.startswith("rect") else "max_iter"
    found = measure(
        "unseen_paper.experiments.scalability",
        "fit",
        name=method,
        n=n,
        params={**params, steps: 1},
        steps=steps,
    )
    sizes = sizes_of(unseen.make_method(method, **params, **{steps: 1}), n, 4 * n)
    told = estimate(method_class(method), sizes)
    assert told is not None
    assert 0.85 < told.n_bytes / (found.megabytes * 1e6) < 1.15


def test_moments_on_disk_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = unseen.random_graph(600, random_state=0)

    def fit(run: Run) -> np.ndarray:
        method = unseen.RECTN(n_components=8, features="identity", epochs=4, random_state=0)
        return method._fit_run(graph, None, run).embedding_.vectors

    expected = fit(Run())
    monkeypatch.setattr(run_module, "LARGE", 1000)
    monkeypatch.setattr("unseen.methods.neural.adam.DISK_BLOCK", 2000)
    run = Run(scratch=tmp_path)
    assert on_disk(Adam([torch.zeros(600)], 0.1, run)._moments[0][0])
    assert np.array_equal(fit(run), expected)
    assert not any(tmp_path.iterdir())


def test_embed_refuses_what_cannot_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("unseen.engine.estimate.free_memory", lambda: 1e6)
    asked = ["embed", "debian", "-m", "rect-n", "--epochs", "1", "--dim", "8", "-o", str(tmp_path / "v.npz")]
    assert run(asked) == 1
    assert "cheaper:" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
    assert run([*asked, "--force", "--scratch", str(tmp_path)]) == 0
