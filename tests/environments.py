"""Other people's tools, each in an environment of its own, and their servers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from waiting import DEADLINE, wait_for

TOOLS = Path(__file__).parent.parent / "tools"


def require_environment(name: str) -> Path:
    """Return the interpreter of the environment of `tests/others/NAME.txt`, which is built once; skip without one."""
    if not TOOLS.exists():
        pytest.skip("needs the source tree, this is an installed copy")
    sys.path.insert(0, str(TOOLS))
    try:
        environments: Any = __import__("make_environment")
        return Path(environments.make_environment(name))
    except subprocess.CalledProcessError:
        if os.environ.get("UNSEEN_OTHERS") == "required":
            raise
        pytest.skip(f"{name} cannot be installed; `python tools/make_environment.py {name}` says why")
    finally:
        sys.path.remove(str(TOOLS))


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
