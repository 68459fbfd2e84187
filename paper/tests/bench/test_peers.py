"""`unseen bench peers`: peers in other environments, kept, resumed, and listed with their errors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from unseen.errors import InputError
from unseen_paper.bench import peers
from unseen_paper.bench.peers import Peer

SMOOTH = "start = time.process_time()\nvectors = (A @ X).toarray()[:, :50]\n"
CRASH = "start = 0\nraise ValueError('no such graph')\n"


@pytest.mark.slow
def test_peers_are_judged_kept_and_listed_with_their_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Peer(("there-is-no-such-thing-1",), "")
    known = {"smooth": Peer(("numpy",), SMOOTH), "crash": Peer(("numpy",), CRASH), "wrong": wrong}
    monkeypatch.setattr(peers, "GRAPHS", ("debian", "nowhere"))
    monkeypatch.setattr(peers, "PEERS", known)
    ready = tmp_path / "environments" / "numpy"
    (ready / "bin").mkdir(parents=True)
    (ready / "bin" / "python").symlink_to(sys.executable)
    (ready / "ready").touch()
    monkeypatch.setattr(peers.venv, "create", lambda folder, **_: (folder / "bin").mkdir(parents=True))
    monkeypatch.setattr(peers, "_output", _without_pip)
    [table] = peers.run(methods=["smoothfeats", *known], repeats=1, out=str(tmp_path))
    own, smooth, crash, missing = table.rows
    assert float(own[6]) > float(smooth[6]) > 0.2
    assert all(float(cell) >= 0 for cell in smooth[3:5])
    assert crash[-1] == "ValueError: no such graph"
    assert missing[-1] == "does not install: No matching distribution"
    monkeypatch.setattr(peers, "_own", None)
    monkeypatch.setattr(peers, "_peer", None)
    assert peers.run(methods=["smoothfeats", *known], repeats=1, out=str(tmp_path))[0].rows == table.rows


def test_an_unknown_peer_is_refused() -> None:
    with pytest.raises(InputError, match="unknown peer 'node3vec'"):
        peers.run(methods=["node3vec"])


_output = peers._output


def _without_pip(command: list[str], folder: str) -> str:
    if "pip" in command:
        raise peers.PeerError("No matching distribution")
    return _output(command, folder)
