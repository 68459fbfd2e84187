"""`-` is the standard input and output of every command."""

from __future__ import annotations

import subprocess
import sys

import pytest

EDGES = "".join(f"{i},{(i + k) % 12}\n" for i in range(12) for k in (1, 2))


def unseen(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "unseen", *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_pipe_of_commands() -> None:
    vectors = unseen("embed", "-", "-m", "mfdw", "--dim", "2", "-o", "-", "-q", given=EDGES)
    assert vectors.returncode == 0, vectors.stderr
    assert vectors.stdout.splitlines()[0] == "12 2"
    again = unseen("convert", "-", "-", "--what", "embedding", given=vectors.stdout)
    assert again.stdout == vectors.stdout
    as_csv = "node,0,1\n" + "\n".join(line.replace(" ", ",") for line in vectors.stdout.splitlines()[1:])
    assert unseen("convert", "-", "-", "--what", "embedding", given=as_csv).stdout == vectors.stdout
    edges = unseen("convert", "-", "-", given=EDGES)
    assert edges.stdout.startswith("src,dst\n0,1\n")


@pytest.mark.slow
def test_nodes_and_pages_go_to_the_standard_output(tmp_path) -> None:
    (tmp_path / "e.csv").write_text(EDGES, encoding="utf-8")
    labels = "node,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(6))
    given = {"given": labels}
    nodes = unseen("discover", str(tmp_path / "e.csv"), "--labels", "-", "-o", "-", **given)
    assert nodes.stdout.startswith("node,unseen_probability,likely_class,group")
    assert "unlabelled" in nodes.stderr
    asked = unseen("suggest", str(tmp_path / "e.csv"), "--labels", "-", "--budget", "2", "-o", "-", **given)
    assert len(asked.stdout.splitlines()) == 3
    page = unseen("explore", str(tmp_path / "e.csv"), "--labels", "-", "-o", "-", **given)
    assert page.stdout.lower().startswith("<!doctype html>")


def test_one_thing_at_a_time(cli, tmp_path) -> None:
    (tmp_path / "e.csv").write_text(EDGES, encoding="utf-8")
    both = cli("embed", tmp_path / "e.csv", "-o", "-", "--json", code=2)
    assert "only one result can go to the standard output" in both.err
    twice = cli("embed", "-", "--labels", "-", "-o", tmp_path / "v.npz", code=2)
    assert "the standard input (-) can be read only once" in twice.err
