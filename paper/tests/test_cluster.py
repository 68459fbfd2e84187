"""A sweep on a real Dask cluster on 127.0.0.1, one worker of which is killed on the way."""

from __future__ import annotations

import contextlib
import csv
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from unseen.cli.app import run
from unseen.errors import InputError
from unseen_paper.bench.processes import environment, free_port
from unseen_paper.experiments.runner import on_cluster
from waiting import DEADLINE, wait_for

DASK = "from distributed.cli.{0} import main; main()"


@contextlib.contextmanager
def started(program: str, folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{program}-{len(list(folder.iterdir()))}.log").open("wb") as log:
        command = [sys.executable, "-W", "ignore", "-c", DASK.format(program), *arguments]
        process = subprocess.Popen(command, env=environment(), stdout=log, stderr=log, cwd=folder)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait(60)


@pytest.mark.processes
@pytest.mark.filterwarnings("ignore")  # Dask's own, about its ports
def test_a_sweep_on_a_cluster_survives_a_worker(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    worker = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
    with contextlib.ExitStack() as stack:
        scheduler = ("dask_scheduler", tmp_path, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        stack.enter_context(started(*scheduler))
        workers = [stack.enter_context(started("dask_worker", tmp_path, *worker)) for _ in range(2)]
        logs = lambda: "".join(p.read_text() for p in tmp_path.glob("dask_worker-*.log"))  # noqa: E731
        wait_for(lambda: logs().count("Registered to:") == 2, "the workers")
        out = tmp_path / "results"
        rows = out / "runs.csv"
        sweep = subprocess.Popen(
            [
                *(sys.executable, "-W", "ignore", "-m", "unseen", "reproduce", "f1", "--dataset", "debian"),
                *("--methods", "smoothfeats", "--rates", "0.1,0.3", "--splits", "6"),
                *("--out", str(out), "--cluster", address),
            ],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            wait_for(lambda: rows.exists() and len(rows.read_text().splitlines()) > 2, "first results")
            os.kill(workers[0].pid, signal.SIGKILL)
            said, _ = sweep.communicate(timeout=DEADLINE)
        finally:
            sweep.kill()
            sweep.wait(DEADLINE)
        assert sweep.returncode == 0, said
        with rows.open() as file:
            found = [(row["label_rate"], row["split_seed"], row["error"]) for row in csv.DictReader(file)]
        assert len(found) == len(set(found)) == 12
        assert not any(error for *_, error in found)


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("unseen_paper.experiments.runner.CONNECT_SECONDS", 1)
    with pytest.raises(InputError, match="no Dask scheduler answered at 'tcp://127.0.0.1:"):  # noqa: RUF043, SIM117
        with on_cluster(f"tcp://127.0.0.1:{free_port()}"):
            pass


def test_the_option_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "--help"]) == 0
    assert "--cluster" in capsys.readouterr().out
