"""The labelling app under attack: other users of the machine, other pages, a worker that is killed."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

import unseen
from labelling import served
from unseen.explorer.label.session import Updater
from unseen.explorer.subject import UpdateJob
from waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.processes]
UPDATES = int(os.environ.get("UNSEEN_HOSTILE_UPDATES", "10"))
"""How many updates must leave memory and handles as they were; `make hostile` takes 300."""


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text("node,label\nn1,red\nn2,blue\n")
    return tmp_path / "labels.csv"


def test_numbers_of_5000_digits_give_400(labels: Path) -> None:
    with served(labels) as app:
        for query in ("revision", "findings"):
            status, answer = app.ask(f"state?{query}={'7' * 5000}")
            assert (status, "18 digits" in answer["error"]) == (400, True)
        assert app.ask("state?revision=x&findings=-1")[0] == 200


def test_half_open_connections_do_not_lock_the_user_out(labels: Path) -> None:
    with served(labels) as app:
        place = urlsplit(app.url)
        opened = [socket.create_connection((place.hostname, place.port), timeout=30) for _ in range(70)]
        for sock in opened[::2]:
            sock.sendall(b"GET /x HTTP/1.1\r\nHost: a")
        for sock in opened:
            with sock:
                while sock.recv(4096):  # ends when the server hangs up
                    pass
        assert app.ask("state")[0] == 200


def test_the_secret_is_not_on_the_command_line_of_the_browser(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("src,dst\n" + "".join(f"n{i},n{(i + 1) % 30}\n" for i in range(30)))
    (tmp_path / "l.csv").write_text("node,label\n" + "".join(f"n{i},{'ab'[i % 2]}\n" for i in range(20)))
    seen = tmp_path / "seen.txt"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$@" > {seen}.part\nmv {seen}.part {seen}\n')
    browser.chmod(0o700)
    words = [sys.executable, "-m", "unseen", "label", "e.csv", "--labels", "l.csv"]
    env = {**os.environ, "BROWSER": f"{browser} %s"}
    with subprocess.Popen(words, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: seen.exists() or process.poll() is not None, "the browser")
            address = seen.read_text().strip()
            page = Path(address.removeprefix("file://"))
            assert address.startswith("file://")
            assert stat.S_IMODE(page.stat().st_mode) == 0o600
            assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
            url = page.read_text().partition("url=")[2].partition('"')[0]
            assert urlsplit(url).path.strip("/") not in address
            with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), timeout=30) as sock:
                head = f"GET {urlsplit(url).path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n"
                sock.sendall(f"{head}Sec-Fetch-Site: cross-site\r\nConnection: close\r\n\r\n".encode())
                assert b" 200 " in sock.recv(100)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert not page.exists()


@pytest.fixture
def updater() -> Updater:
    data = unseen.planted_partition(60, 3, random_state=0)
    options = {"budget": 5, "random_state": 0}
    return Updater(UpdateJob(data.graph, None, data.graph.node_ids, options))


def some_labels(updater: Updater) -> unseen.Labels:
    nodes = updater.job.graph.node_ids
    table = pa.table({"node": nodes[:30], "label": [f"c{k % 2}" for k in range(30)]})
    return unseen.read_labels(table, updater.job.graph)


def run_update(updater: Updater) -> dict[str, object]:
    assert updater.start(some_labels(updater), {})
    wait_for(lambda: not updater.progress["running"], "the update")
    return updater.progress


def held(process: int | str) -> tuple[int, int]:
    """Return memory in bytes and the number of open files of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    memory = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))
    return memory, len(list(Path(f"/proc/{process}/fd").iterdir()))


def test_many_updates_leave_memory_and_handles_as_they_were(updater: Updater) -> None:
    try:
        for _ in range(8):
            assert run_update(updater)["error"] is None
        before = [held(each) for each in ("self", updater._process.pid)]
        for _ in range(UPDATES):
            assert run_update(updater)["error"] is None
        after = [held(each) for each in ("self", updater._process.pid)]
    finally:
        updater.stop()
    for (memory, files), (more, open_files) in zip(before, after, strict=True):
        assert open_files <= files + 1
        assert more <= memory + 20_000_000 + 20_000 * UPDATES


def test_a_killed_worker_is_replaced_and_the_next_update_ends(updater: Updater) -> None:
    try:
        assert run_update(updater)["error"] is None
        _, files = held("self")
        first = updater._process.pid
        assert updater.start(some_labels(updater), {})
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: not updater.progress["running"], "the update")
        assert "update again" in str(updater.progress["error"])
        assert run_update(updater)["error"] is None
        assert updater._process.pid != first
        wait_for(lambda: held("self")[1] <= files + 1, "files to be closed")
    finally:
        updater.stop()
