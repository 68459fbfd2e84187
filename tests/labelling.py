"""The labelling app of a small graph as a process of its own, and a client that speaks to it."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

from waiting import DEADLINE

NODES = [f"n{k}" for k in range(100)]
PAGE = {"title": "A page", "ids": NODES}


class Client:
    """Speaks to the app at an address."""

    url = ""

    def ask(self, name: str, body: object = None) -> tuple[int, Any]:
        """Return the status and the content of the answer; the page, where no name is given, as text."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + name, data=data, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
                content = answer.read()
                return answer.status, json.loads(content) if name else content.decode()
        except urllib.error.HTTPError as error:
            with error:
                content = error.read()
            return error.code, json.loads(content) if content[:1] == b"{" else content


class Running(Client):
    """A command that serves the app, and what it says."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *words], cwd=folder, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.lines: list[str] = []
        for line in self.process.stderr or ():
            self.lines.append(line.rstrip("\n"))
            if line.startswith("http://"):
                self.url = line.strip()
                return
        self.end()
        raise AssertionError("\n".join(self.lines))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> str:
        """End it as a user does, and return what it says after the address."""
        if self.process.returncode is not None:
            return ""
        self.process.send_signal(signal.SIGTERM)  # nothing happens where it has ended
        return self.process.communicate(timeout=DEADLINE)[1]


def served(path: Path) -> Running:
    """Serve :data:`NODES` with answers going to `path`, until the block ends."""
    return Running([__file__, str(path)], path.parent)


class Forked(Client):
    """The same from a copy of this process, which starts in no time."""

    def __init__(self, path: Path) -> None:
        import uvicorn  # noqa: F401  # here once, and not in every copy

        import unseen.explorer.label.server  # noqa: F401

        context = multiprocessing.get_context("fork")
        here, there = context.Pipe(duplex=False)
        self.process = context.Process(target=serve_nodes, args=(path, there.send))
        self.process.start()
        self.url = here.recv()
        here.close()
        there.close()

    def end(self, how: signal.Signals) -> None:
        os.kill(self.process.pid or 0, how)
        self.process.join()


def serve_nodes(path: Path, tell: Any) -> None:
    """Serve until the end; `tell` gets the address."""
    from unseen.explorer.label.server import App, listen, serve
    from unseen.explorer.label.session import Updater
    from unseen.explorer.label.store import Store, lock_file

    with lock_file(path), listen("127.0.0.1", 0) as sock:
        app = App(PAGE, Store(path, NODES), Updater(None), sock.getsockname())  # type: ignore[arg-type]
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        serve(app, sock, lambda: tell(app.url))


if __name__ == "__main__":
    serve_nodes(Path(sys.argv[1]), lambda url: print(url, file=sys.stderr, flush=True))
