"""The server of the labelling app: what it answers, what it refuses, and what is left of it when it is killed."""

from __future__ import annotations

import contextlib
import csv
import http.client
import random
import signal
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from labelling import NODES, PAGE, Forked, served
from unseen.explorer.label.server import MAX_BODY, App
from unseen.explorer.label.session import Updater
from unseen.explorer.label.store import Store
from waiting import DEADLINE, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.processes]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text("node,label\nn1,red\nn2,red|blue\n")
    return tmp_path / "labels.csv"


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def labels_in(path: Path) -> dict[str, list[str]]:
    """Return the labels of every node, or its status; a row twice is an error."""
    with path.open(newline="") as file:
        rows = [(row["node"], row["label"] or row.get("status") or "") for row in csv.DictReader(file)]
    assert len(set(rows)) == len(rows)
    labels: dict[str, list[str]] = {}
    for node, label in rows:
        labels.setdefault(node, []).extend(sorted(label.split("|")))
    return labels


def known(changes: list[tuple[str, tuple[list[str], str]]]) -> dict[str, list[str]]:
    """Return the labels of every node that a state names."""
    return {node: labels for node, (labels, _) in changes}


def test_the_way_of_an_answer(path):
    with served(path) as app:
        assert app.lines == [app.url]
        status, page = app.ask("")
        assert (status, page.startswith("<!doctype html>"), "connect-src 'self'" in page) == (200, True, True)
        status, state = app.ask("answers", {"node": "n3", "label": "green"})
        assert status == 200
        assert (state["revision"], state["undo"], state["changes"]) == (1, 1, [["n3", [["green"], ""]]])
        assert state["classes"] == {"blue": 1, "green": 1, "red": 2}
        assert app.ask("answers", {"node": ["n4", "n5"], "action": "unknown"})[1]["unknown"] == 2
        assert app.ask("state?revision=1")[1]["changes"] == [["n4", [[], "unknown"]], ["n5", [[], "unknown"]]]
        assert app.ask("undo", {})[1]["changes"] == [["n4", [[], ""]], ["n5", [[], ""]]]
        assert app.ask("answers", {"node": "n4", "label": ["a", "b"]})[0] == 200
        app.end()
        assert labels_in(path) == {"n1": ["red"], "n2": ["blue", "red"], "n3": ["green"], "n4": ["a", "b"]}
        assert sorted(contents(path.parent)) == ["labels.csv", "labels.csv.bak", "labels.csv.journal"]
        assert app.process.returncode == 0
    with served(path) as app:
        assert app.ask("state")[1]["undo"] == 2


def test_a_change_from_outside_is_asked_about(path):
    with served(path) as app:
        app.ask("answers", {"node": "n3", "label": "green"})
        wait_for(lambda: app.ask("state")[1]["folded"], "the answer in the file")
        path.write_text("node,label\nn9,new\n")
        assert app.ask("state")[1]["outside"]
        assert app.ask("outside", {"take": "nothing"})[0] == 400
        status, state = app.ask("outside", {"take": "both"})
        assert (status, state["outside"]) == (200, False)
        assert labels_in(path) == {"n3": ["green"], "n9": ["new"]}


def raw(url: str, data: bytes, *, whole: bool = True) -> bytes:
    """Send bytes and return the answer; nothing where the server hangs up."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=DEADLINE) as sock:
        with contextlib.suppress(ConnectionError):
            sock.sendall(data)
            if not whole:
                sock.shutdown(socket.SHUT_WR)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while piece := sock.recv(65536):
                answer += piece
    return answer


def request(
    url: str, name: str = "answers", body: bytes = b'{"node": "n3", "label": "x"}', method: str = "POST",
    host: str | None = None, secret: str | None = None, kind: str = "application/json", more: str = "",
) -> bytes:  # fmt: skip
    address = urlsplit(url)
    place = address.path if secret is None else secret
    head = f"{method} {place}{name} HTTP/1.1\r\nHost: {address.netloc if host is None else host}\r\n"
    head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}Connection: close\r\n\r\n"
    return head.encode() + body


def test_whoever_lacks_the_secret_or_comes_from_elsewhere_gets_403_and_nothing_else(path):
    with served(path) as app:
        own = urlsplit(app.url)
        others = [
            request(app.url, secret="/"),
            request(app.url, secret=""),
            request(app.url, secret="/" + "A" * 32 + "/"),
            request(app.url, secret=own.path[:-2] + "/"),
            request(app.url, secret="/x" + own.path),
            request(app.url, name="", secret="/favicon.ico", method="GET"),
            request(app.url, host="evil.example"),
            request(app.url, host=f"evil.example:{own.port}"),
            request(app.url, host=f"127.0.0.1:{own.port + 1}"),
            request(app.url, more=f"Host: {own.netloc}\r\n"),
            request(app.url, more="Origin: http://evil.example\r\n"),
            request(app.url, more="Origin: null\r\n"),
            request(app.url, more=f"Origin: https://{own.netloc}\r\n"),
            request(app.url, more="Sec-Fetch-Site: cross-site\r\n"),
            request(app.url, method="OPTIONS", more="Origin: http://evil.example\r\n"),
        ]
        before = contents(path.parent)
        for other in others:
            answer = raw(app.url, other)
            assert answer.split(b" ", 2)[1] in (b"403", b"400"), other
            assert b"access-control" not in answer.lower()
            if b" 403 " in answer:
                assert answer.partition(b"\r\n\r\n")[2] == b""
        assert contents(path.parent) == before
        own_origin = f"Origin: http://{own.netloc}\r\nSec-Fetch-Site: same-origin\r\n"
        assert b" 200 " in raw(app.url, request(app.url, more=own_origin))[:20]


def test_a_thousand_bad_requests_change_nothing(path):
    draw = random.Random(0)
    bodies = [
        b"", b"{", b"[]", b"null", b"7", b'"n3"', b"\xff\xfe", b"[" * 100_000, b'{"node": "n3"}', b'{"label": "x"}',
        b'{"node": null, "label": "x"}', b'{"node": {"a": 1}, "label": "x"}', b'{"node": true, "label": "x"}',
        b'{"node": "nobody", "label": "x"}', b'{"node": [], "label": "x"}', b'{"node": ["n3", 1.5], "label": "x"}',
        b'{"node": "n3", "label": ""}', b'{"node": "n3", "label": 3}', b'{"node": "n3", "label": {}}',
        b'{"node": "n3", "label": "a|b"}', b'{"node": "n3", "label": "\\ud800"}', b'{"node": "n3", "action": "drop"}',
        b'{"node": "n3", "label": "x", "action": "skip"}', b'{"node": "n3", "label": "' + b"x" * 5000 + b'"}',
        b'{"node": "n3", "action": []}',
    ]  # fmt: skip
    with served(path) as app:
        good, before = request(app.url), contents(path.parent)

        def bad(kind: int) -> bytes:
            if kind == 0:
                return request(app.url, body=draw.choice(bodies))
            if kind == 1:
                return request(
                    app.url, name=draw.choice(["undo", "outside", "nowhere", "../answers", "", "%2e%2e/x"])
                )
            if kind == 2:
                return request(app.url, kind=draw.choice(["text/plain", "", "multipart/form-data", "json"]))
            if kind == 3:
                return request(app.url, method=draw.choice(["GET", "PUT", "DELETE", "PATCH", "TRACE", "FOO"]))
            if kind == 4:  # cut off, or with bytes changed in its head
                place = draw.randrange(1, len(good) - 1)
                return good[:place]
            return bytes(draw.randrange(256) for _ in range(draw.randrange(1, 200)))

        statuses = set()
        for _ in range(1000):
            kind = draw.randrange(6)
            answer = raw(app.url, bad(kind), whole=kind < 4)
            statuses.add(answer[9:12])
        assert statuses <= {b"", b"400", b"403", b"404", b"405", b"415"}
        assert contents(path.parent) == before
        assert app.ask("state")[1]["revision"] == 0


def test_a_request_that_is_too_large_is_refused_while_it_comes(path):
    with served(path) as app:
        before = contents(path.parent)
        body = b'{"node": "n3", "label": "' + b"x" * MAX_BODY + b'"}'
        assert b" 413 " in raw(app.url, request(app.url, body=body))[:20]
        assert contents(path.parent) == before


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons, where there are threads
def test_fifty_kills_lose_nothing_that_was_saved(path):
    """Each kill comes at another moment of a row of answers; what was answered with 200 is there afterwards."""
    draw = random.Random(1)
    saved: dict[str, list[str]] = {"n1": ["red"], "n2": ["blue", "red"]}
    sent: tuple[str, list[str]] | None = None  # the answer that the kill cut off: saved or not
    number = undoable = 0
    for _ in range(50):
        app = Forked(path)
        state = app.ask("state")[1]
        values = known(state["changes"])
        if sent is not None and values.get(sent[0]) == sent[1]:
            saved[sent[0]] = sent[1]
            undoable += 1
        assert values == saved
        assert state["undo"] == undoable
        killer, wait = threading.Timer(draw.uniform(0, 0.02), app.end, [signal.SIGKILL]), draw.randrange(6)
        with contextlib.suppress(OSError, http.client.HTTPException):
            while True:
                if wait == 0:
                    killer.start()
                number, wait = number + 1, wait - 1
                sent = draw.choice(NODES[5:]), [f"c{number}"]
                assert app.ask("answers", {"node": sent[0], "label": sent[1]})[0] == 200
                saved[sent[0]], undoable, sent = sent[1], undoable + 1, None
        killer.join()
    app = Forked(path)
    values = known(app.ask("state")[1]["changes"])
    app.end(signal.SIGTERM)
    assert number > 100
    assert labels_in(path) == values
    assert path.with_name("labels.csv.bak").read_text() == "node,label\nn1,red\nn2,red|blue\n"


class SlowState(dict[str, object]):
    """The state of an updater that takes its time to say whether an update is running."""

    def __getitem__(self, key: str) -> object:
        value = super().__getitem__(key)
        time.sleep(0.01)  # lets another thread ask in between
        return value


def test_of_updates_that_are_asked_for_at_once_one_starts():
    begun: list[bool] = []
    updater = Updater(None)  # type: ignore[arg-type]
    updater._run = lambda *_: None  # type: ignore[method-assign]  # it never ends
    updater.progress = SlowState(updater.progress)
    threads = [
        threading.Thread(target=lambda: begun.append(updater.start(None, {})))  # type: ignore[arg-type]
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(begun) == [False] * 7 + [True]


def test_answers_to_questions_of_the_page_keep_how_they_were_drawn(path):
    questions = [{"node": "n4", "drawn": "random", "pool": 6}, {"node": "n5", "drawn": "score", "pool": None}]
    app = App({**PAGE, "suggestions": questions}, Store(path, NODES), Updater(None), ("127.0.0.1", 1))
    assert app.session.state()["certificate"]["n_answers"] == 0
    state = app.session.act("answers", {"node": "n4", "label": "green"})
    app.session.act("answers", {"node": "n5", "label": "green"})
    app.session.act("answers", {"node": "n6", "label": "green"})  # nobody asked about it
    assert state["certificate"]["n_answers"] == 1
    assert state["changes"] == [["n4", [("green",), "", "random", 6]]]
    app.store.fold()
    assert path.read_text().splitlines()[-3:] == ["n4,green,random,6", "n5,green,score,", "n6,green,,"]
