"""A local stand-in for the public sources, a small graph that is published there, and a cache of one's own."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from unseen_paper.data import published
from unseen_paper.data.folders import Counts
from unseen_paper.data.published import ENTRIES, Entry, PublishedFile

Answer = Callable[[BaseHTTPRequestHandler], None]


class Mirror:
    """Serves files from memory or whatever an answer does, and remembers what was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.closing = threading.Event()
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self) -> None:
                mirror.asked.append(self.path)
                name = self.path.rsplit("/", 1)[-1]
                answer = mirror.answers.get(name, mirror.send)
                answer(self)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)

    def send(self, handler: BaseHTTPRequestHandler) -> None:
        name = handler.path.rsplit("/", 1)[-1]
        if name not in self.files:
            handler.send_error(404)
            return
        self.send_bytes(handler, self.files[name])

    def send_bytes(
        self, handler: BaseHTTPRequestHandler, content: bytes, *, length: int | None = None
    ) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content) if length is None else length))
        handler.end_headers()
        handler.wfile.write(content)

    def stream_endlessly(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        with contextlib.suppress(OSError):
            while not self.closing.is_set():
                handler.wfile.write(b"x" * 10_000)

    def hang(self, handler: BaseHTTPRequestHandler) -> None:
        self.closing.wait(10)

    def cut(self, handler: BaseHTTPRequestHandler) -> None:
        content = self.files[handler.path.rsplit("/", 1)[-1]]
        self.send_bytes(handler, content[: len(content) // 2], length=len(content))

    @staticmethod
    def fail(code: int) -> Answer:
        return lambda handler: handler.send_error(code)

    @staticmethod
    def redirect(address: str) -> Answer:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(302)
            handler.send_header("Location", address)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        return answer


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A server on this machine that `UNSEEN_MIRROR` points at."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    made = Mirror()
    monkeypatch.setenv("UNSEEN_MIRROR", made.url)
    monkeypatch.setattr(published, "TIMEOUT", 1.0)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    yield made
    made.close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and no folder of the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("UNSEEN_CACHE", str(folder))
    monkeypatch.delenv("UNSEEN_DATA", raising=False)
    return folder


def source(file: str, content: bytes) -> PublishedFile:
    digest = hashlib.sha256(content).hexdigest()
    return PublishedFile("somebody/graphs", "0" * 40, f"data/{file}", len(content), digest)


@pytest.fixture
def ppi(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A graph of four nodes in place of PPI, published in the same way."""
    mirror.files |= {"PPI.ungraph": b"0\t1\n2\t2\n1\t3", "PPI.cmty": b"0\t2\n1\t0\n"}
    sources = tuple(source(name, mirror.files[name]) for name in ("PPI.ungraph", "PPI.cmty"))
    entry = Entry("ppi", Counts(nodes=4, edges=3, classes=2, features=0), sources)
    monkeypatch.setitem(ENTRIES, "ppi", entry)
    return entry


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the paper's graphs and their published sources."""
    folder = os.environ.get("UNSEEN_DATA")
    if not folder or not (Path(folder) / "sources").is_dir():
        pytest.skip("the published sources are not here; set UNSEEN_DATA to the folder that holds `sources`")
    return Path(folder)
