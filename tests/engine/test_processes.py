"""Real processes on 127.0.0.1: the same vectors, restarts after kill -9, and errors that come in time."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unseen.engine.comm import SOLO, Comm
from unseen.engine.parts import load_parts
from unseen.engine.steps import Checkpoints
from unseen.engine.train import read_vectors, train
from unseen.errors import InputError, OutputError, UnseenError
from unseen_paper.bench.processes import environment, finished, free_port, group, worker_ids, write_parts
from waiting import DEADLINE, wait_for

from .conftest import on_ranks
from .test_parts import differences

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="workers are found by /proc"),
]
JOB = ["--method", "rect", "--dim", "32", "--epochs", "40", "--checkpoint-every", "5", "--timeout", "60"]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_parts(tmp_path_factory.mktemp("graph"), 3000, parts=2)


@pytest.fixture(scope="module")
def alone(parts: Path, tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """Vectors of one process, which forms no group."""
    output = tmp_path_factory.mktemp("alone") / "vectors"
    train(parts, output, SOLO, method="rect", params={"n_components": 32, "epochs": 40})
    made = read_vectors(output)
    assert made.node_ids.tolist() == load_parts(parts, SOLO)[0].node_ids.tolist()
    return made.vectors


def _kill_one(process: int, output: Path, when: Callable[[], bool]) -> None:
    wait_for(when, "the moment to kill a worker")
    os.kill(worker_ids(process)[1], signal.SIGKILL)


def test_two_processes_killed_twice_give_the_vectors_of_one(
    parts: Path, alone: np.ndarray, tmp_path: Path
) -> None:
    output = tmp_path / "vectors"
    kept = output / "_checkpoints"
    with group(2, str(parts), *JOB, "-o", str(output), restarts=2) as process:
        _kill_one(process.pid, output, lambda: any(kept.glob("*/rect-l-*/COMMIT")))
        _kill_one(process.pid, output, lambda: any(kept.glob("*/rect-n-*/COMMIT")))
        training = finished(process, "the disturbed run")
    assert training.resumed is not None
    assert training.resumed["stage"] == "rect-n"
    assert training.sent_bytes > 0
    relative, largest = differences(read_vectors(output).vectors, alone)
    assert relative <= 1e-4
    assert largest <= 1e-3
    assert sorted(p.name for p in output.iterdir()) == [
        "_SUCCESS",
        "part-00000-of-00002.parquet",
        "part-00001-of-00002.parquet",
    ]


def test_a_damaged_part_ends_all_processes_with_a_sentence(parts: Path, tmp_path: Path) -> None:
    folder, output = tmp_path / "parts", tmp_path / "vectors"
    shutil.copytree(parts, folder)
    path = folder / "part-00001" / "adjacency_data.npy"
    path.write_bytes(path.read_bytes()[:-8])

    def work(comm: Comm) -> str:
        try:
            train(folder, output, comm, method="rect", params={})
        except UnseenError as error:
            return str(error)
        return ""

    said = on_ranks(2, work)
    assert "adjacency_data.npy' is damaged: it has" in said[1]
    assert said[0] == "process 1 cannot begin; its own message says why"
    assert not output.exists() or not any(output.iterdir())


def test_others_that_never_come_are_given_up_in_time(parts: Path, tmp_path: Path) -> None:
    place = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    arguments = [str(parts), "--method", "rect-n", "-o", str(tmp_path / "vectors"), "--timeout", "3"]
    command = [sys.executable, "-m", "unseen.scale", *arguments]
    done = subprocess.run(
        command,
        env={**environment(), **place},
        stderr=subprocess.PIPE,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 1
    assert "unseen: process 1: the connection to the other 1 processes at 127.0.0.1:" in done.stderr
    assert "failed within 3 s" in done.stderr
    assert done.stderr.count("\n") < 12
    assert not (tmp_path / "vectors").exists()


def test_too_many_processes_are_refused(parts: Path, tmp_path: Path) -> None:
    def work(comm: Comm) -> None:
        train(parts, tmp_path / "vectors", comm, method="rect", params={})

    with pytest.raises(
        InputError, match="has 2 parts and 3 processes were started; start at most 2, or partition"
    ):
        on_ranks(3, work)
    assert not (tmp_path / "vectors").exists()


def test_a_full_disk_ends_with_a_sentence_and_no_half_output(
    parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "vectors"
    params = {"n_components": 4, "epochs": 2}
    train(parts, output, SOLO, method="rect-n", params=params)
    before = read_vectors(output).vectors

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def work(comm: Comm) -> None:
        train(parts, output, comm, method="rect-n", params=params, seed=1)

    for writer in ("unseen.engine.steps.np.savez", "unseen.engine.train.fill_vectors"):
        with monkeypatch.context() as patch:
            patch.setattr(writer, full)
            with pytest.raises(OutputError, match="the disk is full"):
                on_ranks(2, work)
        assert (read_vectors(output).vectors == before).all()  # the older vectors are whole still
    on_ranks(2, work)
    assert not (read_vectors(output).vectors == before).all()
    assert not (output / "_checkpoints").exists()


def test_checkpoints_of_another_job_are_not_resumed(parts: Path, tmp_path: Path) -> None:
    def job(name: str) -> Checkpoints:
        return Checkpoints(tmp_path, SOLO, name, every=1)

    job("old").offer("rect-n", 3, {"x": np.zeros(1)}, last=False)
    assert job("new").resume("rect-n") is None
    (tmp_path / "old" / "rect-n-000004").mkdir()  # a step whose processes were killed while they wrote
    assert job("old").resume("rect-n") == (3, {"x": np.zeros(1)})
    job("new").clear()
    assert not any(tmp_path.iterdir())


def test_a_folder_with_other_files_is_not_written_to(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(OutputError, match=r"holds 'thesis\.tex', which is no part of vectors"):
        train(parts, tmp_path, SOLO, method="rect-n", params={})
    with pytest.raises(InputError, match="no _SUCCESS"):
        read_vectors(tmp_path)
    with pytest.raises(InputError, match="'gcn' does not train on parts"):
        train(parts, tmp_path / "new", SOLO, method="gcn", params={})
