"""A fit that does not fit into memory is refused with what would fit, and no other."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import unseen
from unseen.cli.app import run
from unseen.data.opened import free_memory
from unseen.engine import scratch
from unseen.engine.memory import Job, check_memory, estimate_peak, make_job
from unseen.engine.run import Run
from unseen.errors import InputError
from unseen.ids import mapped_file
from unseen.methods.neural.training import Optimizer
from unseen.methods.registry import method_class

MEASURE = """
import json, pathlib, sys
import numpy as np
import unseen
from unseen.data.opened import memory_entry
name, n, params = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
graph = unseen.random_graph(n, random_state=0)
labels = unseen.Labels.from_values(np.where(np.arange(n) % 10, -1, np.arange(n) % 3).tolist(), graph.node_ids)
if "epochs" in params:
    import torch
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
before = memory_entry("self/status", "VmRSS")
unseen.make_method(name, **params, random_state=0).fit(graph, labels)
print(json.dumps([before, memory_entry("self/status", "VmHWM")]))
"""
BIG = Job(10_000_000, 40_000_000, 64, source="identity")


@pytest.fixture
def available(monkeypatch: pytest.MonkeyPatch):
    """Set the memory that this process may hold, beside what it holds at present, in GB."""
    monkeypatch.setattr("unseen.engine.memory.memory_entry", lambda *_: 0.0)
    return lambda gigabytes: monkeypatch.setattr(
        "unseen.engine.memory.free_memory", lambda _: gigabytes * 1e9
    )


WIDE = Job(10_000_000, 100_000_000, 400, feature_columns=1000, feature_entries=100_000_000)
LARGE = Job(2_000_000, 8_000_000, 64, source="identity")


@pytest.mark.parametrize(
    ("gigabytes", "method", "job", "advice"),
    [
        (20, "rect-n", BIG, "(20 GB available); use --scratch FOLDER, or --dim 32, or unseen partition"),
        (1, "rect-n", replace(BIG, source="adjacency"), "use unseen partition and python"),
        (
            29,
            "rect-n",
            replace(BIG, source="adjacency"),
            "use --scratch FOLDER, or --dim 32, or --param features=identity, or",
        ),
        (1, "rsdne", LARGE, "python -m unseen.scale --method rsdne-light on several machines"),
        (12, "rect-plus", WIDE, "use --scratch FOLDER, or --dim 200, or unseen partition"),
    ],
)
def test_what_would_fit_is_named(available, gigabytes: int, method: str, job: Job, advice: str) -> None:
    available(gigabytes)
    with pytest.raises(InputError) as error:
        check_memory(unseen.make_method(method), job)
    assert advice in str(error.value)
    assert ("--scratch" in advice) == ("--scratch" in str(error.value))
    check_memory(unseen.make_method(method), job, force=True)
    if "--scratch" in advice:
        check_memory(unseen.make_method(method), replace(job, scratch=True))


@pytest.mark.parametrize("method", ["smoothfeats", "rect-l", "rect-n", "rect", "mfdw", "rsdne-light"])
def test_more_rows_and_columns_and_rows_of_others_need_more(method: str) -> None:
    cls, small = method_class(method), Job(1000, 4000, 32)
    for larger in ({"nodes": 2000}, {"columns": 64}, {"halo": 500}, {"loaded": False}):
        assert estimate_peak(cls, replace(small, **larger)) > estimate_peak(cls, small)


@pytest.mark.slow
def test_the_memory_that_a_process_may_hold_has_what_it_holds_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (free_memory() or 1) > 0
    monkeypatch.setattr("unseen.data.opened._available_bytes", lambda: 8e9)
    before = free_memory()
    held = np.ones(30_000_000)
    after, shared = free_memory(), free_memory(2)
    assert before is not None
    assert after is not None
    assert after - before == pytest.approx(held.nbytes, rel=0.2)
    assert after - shared == pytest.approx(4e9, rel=0.01)
    monkeypatch.setattr("unseen.data.opened._available_bytes", lambda: None)
    assert free_memory() is None
    check_memory(unseen.RECTN(), BIG)  # nothing is known, nothing is refused


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs the peak memory of Linux")
@pytest.mark.parametrize(
    ("n", "method", "params"),
    [
        (100_000, "rect-n", {"n_components": 64, "features": "identity", "epochs": 1}),
        (30_000, "rect", {"n_components": 64, "epochs": 1}),
        (50_000, "rsdne-light", {"n_components": 64, "max_iter": 1}),
        (100_000, "smoothfeats", {"n_components": 64}),
        (50_000, "rect-plus", {}),
    ],
)
def test_the_estimate_is_between_the_peak_and_a_quarter_more(n: int, method: str, params: dict) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, method, str(n), json.dumps(params)], capture_output=True, check=True
    )
    before, peak = json.loads(done.stdout)
    job = make_job(unseen.make_method(method, **params), n, 4 * n, labelled=n // 10)
    assert peak <= before + method_class(method)._bytes_needed(job) <= 1.25 * peak


def test_moments_on_disk_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = unseen.random_graph(600, random_state=0)

    def fit(run: Run) -> np.ndarray:
        method = unseen.RECTN(n_components=8, features="identity", epochs=4, random_state=0)
        return method._fit_run(graph, None, run).embedding_.vectors

    expected = fit(Run())
    monkeypatch.setattr(scratch, "LARGE", 1000)
    monkeypatch.setattr("unseen.methods.neural.training.BLOCK", 2000)
    run = Run(scratch=tmp_path)
    assert mapped_file(Optimizer([torch.zeros(600)], 0.1, run)._moments[0][0])
    assert np.array_equal(fit(run), expected)
    assert not any(tmp_path.iterdir())


def test_embed_refuses_what_cannot_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("unseen.engine.memory.free_memory", lambda _: 1e6)
    command = [*"embed debian -m rect-n --epochs 1 --dim 8 -o".split(), str(tmp_path / "v.npz")]  # noqa: SIM905
    assert run(command) == 1
    assert "of memory" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
    assert run([*command, "--force", "--scratch", str(tmp_path)]) == 0
