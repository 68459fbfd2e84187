"""Downloads from a server that behaves and from servers that do not."""

from __future__ import annotations

import time

import pytest

import unseen
from unseen.data.download import Patience, fetch

CONTENT = bytes(range(256)) * 1000


@pytest.fixture(autouse=True)
def a_file(mirror):
    mirror.files["file.bin"] = CONTENT


def test_whole_file(mirror):
    assert fetch(f"{mirror.url}/a/file.bin", size=len(CONTENT)) == CONTENT


def test_404_is_not_tried_again(mirror):
    with pytest.raises(
        unseen.DatasetError, match=r"/nothing could not be downloaded: the server answered 404"
    ):
        fetch(f"{mirror.url}/nothing", size=3)
    assert len(mirror.asked) == 1


def test_passing_trouble_is_tried_again(mirror):
    def recover(handler):
        if len(mirror.asked) < 3:
            handler.send_error(503)
        else:
            mirror.send(handler)

    mirror.answers["file.bin"] = recover
    assert fetch(f"{mirror.url}/file.bin", size=len(CONTENT)) == CONTENT
    assert len(mirror.asked) == 3


def test_pauses_grow(mirror, monkeypatch):
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    mirror.answers["file.bin"] = mirror.fail(503)
    with pytest.raises(unseen.DatasetError, match=r"answered 503 .* \(4 tries\)"):
        fetch(f"{mirror.url}/file.bin", size=3, patience=Patience(attempts=4, pause=1.0))
    assert pauses == [1.0, 2.0, 4.0]


def test_cut_connection_is_tried_again_then_told(mirror):
    mirror.answers["file.bin"] = mirror.cut
    with pytest.raises(unseen.DatasetError, match=r"cut after 128000 of 256000 bytes \(3 tries\)"):
        fetch(f"{mirror.url}/file.bin", size=len(CONTENT))
    assert len(mirror.asked) == 3


def test_connection_closed_without_an_answer(mirror):
    mirror.answers["file.bin"] = lambda handler: None
    with pytest.raises(unseen.DatasetError, match=r"could not be downloaded: .* \(3 tries\)"):
        fetch(f"{mirror.url}/file.bin", size=len(CONTENT))


def test_hanging_server_times_out(mirror):
    mirror.answers["file.bin"] = mirror.hang
    with pytest.raises(unseen.DatasetError, match=r"timed out \(2 tries\)"):
        fetch(f"{mirror.url}/file.bin", size=3, patience=Patience(timeout=0.2, attempts=2, pause=0.0))


def test_trickle_ends_at_the_deadline(mirror):
    def trickle(handler):
        handler.send_response(200)
        handler.end_headers()
        while not mirror.closing.wait(0.05):
            try:
                handler.wfile.write(b"x")
            except OSError:  # the other side has gone, as it should
                return

    mirror.answers["file.bin"] = trickle
    patience = Patience(timeout=5.0, deadline=0.3, attempts=1)
    with pytest.raises(unseen.DatasetError, match="bytes came in the time allowed"):
        fetch(f"{mirror.url}/file.bin", size=10**6, patience=patience)


def test_nobody_listens(mirror):
    mirror.close()
    with pytest.raises(unseen.DatasetError, match=r"(?i)connection refused.* \(3 tries\)"):
        fetch(f"{mirror.url}/file.bin", size=3)


def test_larger_file_is_refused_before_it_is_read(mirror):
    with pytest.raises(unseen.DatasetError, match="has 256000 bytes, the published file has 1000"):
        fetch(f"{mirror.url}/file.bin", size=1000)


def test_larger_file_without_a_length_is_refused(mirror):
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while not mirror.closing.is_set():
                handler.wfile.write(CONTENT)
        except OSError:
            return

    mirror.answers["file.bin"] = endless
    with pytest.raises(unseen.DatasetError, match="more than the 1000 bytes"):
        fetch(f"{mirror.url}/file.bin", size=1000)


def test_redirect_on_the_web_is_followed(mirror):
    mirror.answers["old"] = mirror.redirect(f"{mirror.url}/file.bin")
    mirror.answers["older"] = mirror.redirect("/old")
    assert fetch(f"{mirror.url}/older", size=len(CONTENT)) == CONTENT


@pytest.mark.parametrize("scheme", ["file://", "FILE://", "ftp://127.0.0.1", "file://localhost", "data:,"])
def test_redirect_elsewhere_is_refused(scheme, mirror, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("abc")
    mirror.answers["file.bin"] = mirror.redirect(f"{scheme}{secret}")
    with pytest.raises(
        unseen.DatasetError, match=r"could not be downloaded: .*(not allowed|unknown url type)"
    ):
        fetch(f"{mirror.url}/file.bin", size=3)


def test_redirect_in_circles_ends(mirror):
    mirror.answers["file.bin"] = mirror.redirect("/file.bin")
    with pytest.raises(unseen.DatasetError, match="could not be downloaded: the server answered 302"):
        fetch(f"{mirror.url}/file.bin", size=3)
    assert len(mirror.asked) < 15


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "ftp://host/x", "/etc/hostname", "http:///x", "http://[bad/x"]
)
def test_other_addresses_are_refused(url):
    with pytest.raises(unseen.DatasetError, match="only http and https addresses are allowed"):
        fetch(url, size=3)
