"""Environments of their own for tests with other people's tools: what is installed here, and these packages."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from waiting import DEADLINE, wait_for

CONSTRAINTS = Path(__file__).parent.parent / "constraints.txt"


def make_environment(name: str, *packages: str, alone: str = "") -> Path:
    """Return the folder of the commands of an environment with `packages`, which is built once; skip without an index.

    What is installed in the environment of the tests can be imported there, too. The package `alone` comes without its
    dependencies.
    """
    folder = Path(sys.prefix) / "environments" / name
    stamp, wanted = folder / "packages.txt", "\n".join([*packages, alone, CONSTRAINTS.read_text("utf-8")])
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return folder / "bin"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=DEADLINE)
    here = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})["purelib"]
    Path(here, "tests.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n", encoding="utf-8")
    pip = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-c",
        CONSTRAINTS,
    ]
    for arguments in ([*packages], ["--no-deps", alone] if alone else []):
        if not arguments:
            continue
        done = subprocess.run(
            [*pip, *arguments], capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        if done.returncode:
            _give_up(f"pip cannot install {' '.join(arguments)}: {done.stderr[-2000:]}")
    stamp.write_text(wanted, encoding="utf-8")
    return folder / "bin"


def _give_up(what: str) -> None:
    """Skip on a user's machine; fail where tools have been promised."""
    if os.environ.get("UNSEEN_BROWSER") == "required":
        pytest.fail(what)
    pytest.skip(what)


@contextmanager
def serve_tool(command: list[str], folder: Path, **variables: str) -> Iterator[str]:
    """Run a server of this machine alone, and yield its address; `{port}` in the command is a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {**os.environ, "HOME": str(folder), **variables}
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [part.format(port=port) for part in command], cwd=folder, env=environ, stdout=log, stderr=log
        )
        try:
            wait_for(lambda: process.poll() is not None or _accepts(port), f"{command[0]} to listen")
            assert process.poll() is None, (folder / "server.log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:  # its own processes notice that it is gone
                process.kill()
                process.wait(DEADLINE)


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
