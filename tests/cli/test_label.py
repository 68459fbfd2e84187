"""`unseen label` as a user starts it: what it takes, what it refuses, and that its updates are those of `discover`."""

from __future__ import annotations

import socket
import sys
import time

import pytest

import unseen
from labelling import Running
from unseen.errors import install_hint

COMMAND = ["-c", "from unseen.cli import main; main()", "label"]


@pytest.fixture
def app(planted):
    """Start the app on the planted files."""
    running = []

    def start(*words: object) -> Running:
        files = [str(word) for word in planted[1:]]
        running.append(Running([*COMMAND, *files, "--no-browser", *map(str, words)], planted[1].parent))
        return running[-1]

    yield start
    for each in running:
        each.end()


def updated(app: Running, number: int) -> dict[str, object]:
    """Update, wait, and return the state with what was found."""
    assert app.ask("update", {})[0] == 200
    assert app.ask("update", {})[0] == 400  # one at a time
    while True:
        state = app.ask(f"state?findings={number}")[1]
        if not state["update"]["running"]:
            assert state["update"]["error"] is None
            return state
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.processes
def test_rounds_of_answers_find_what_discover_and_suggest_find(app, planted, tmp_path):
    """The loop through the app's requests: every round gives the questions that the library gives for the file."""
    truth = unseen.planted_partition(200, 4, degree_within=8, words_of_class=5, random_state=0).labels
    running = app("--budget", 5, "--random", 0)
    found = running.ask("state")[1]
    for number in range(2):
        data = unseen.read(*planted[1:2], features=planted[3], labels=tmp_path / "labels.csv")
        questions = unseen.suggest(data.graph, data.labels, budget=5, random_state=0)
        if number:
            assert [row["node"] for row in found["findings"]["suggestions"]] == [q.node for q in questions]
        for question in questions:
            label = truth.classes[truth.codes[int(question.node[1:])]]
            assert running.ask("answers", {"node": question.node, "label": label})[0] == 200
        found = updated(running, number)
        assert found["update"]["number"] == number + 1
    assert found["classes"]["c0"] >= 5
    said = running.end()
    assert "the labels are in" in said
    again = app()
    assert again.ask("state")[1]["classes"] == found["classes"]
    assert again.ask("state")[1]["undo"] == 10


@pytest.mark.slow
@pytest.mark.processes
def test_a_data_set_with_hidden_classes_goes_to_a_file_of_its_own(tmp_path):
    words = "debian --unseen mail,sound --label-rate 0.3 --no-browser --max-nodes 50"
    with Running([*COMMAND, *words.split()], tmp_path) as running:
        assert "answers will be written to debian-labels.csv" in running.lines
        assert not list(tmp_path.glob("*.csv"))
        before = running.ask("state")[1]["labelled"]
        node = running.ask("")[1].split('"ids":["')[1].split('"')[0]
        assert running.ask("answers", {"node": node, "label": "mine"})[0] == 200
    file = unseen.data.read.read_label_list(tmp_path / "debian-labels.csv")
    assert len(file.labelled) in (before, before + 1)
    assert "mine" in file.classes
    assert "mail" not in file.classes


REFUSED = {
    "labels come from several files: name the file for all labels with --save FILE": (2, "--labels ask.csv"),
    "labels are hidden, which must not be lost from their file: name the file": (2, "--unseen c1"),
    "the format .parquet is not changed in place; name a .csv with --save FILE": (1, "--save l.parquet"),
    "a gzipped file is not changed in place": (1, "--save l.csv.gz"),
    "does not exist; create it first": (1, "--save nowhere/l.csv"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_written_is_said_before_any_work(cli, planted, sentence):
    code, words = REFUSED[sentence]
    assert sentence in cli("label", *planted[1:], *words.split(), code=code).err


def test_a_port_that_is_taken_is_an_error(cli, planted, tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        ran = cli("label", *planted[1:], "--port", other.getsockname()[1])
    assert ran.code == 1
    assert "cannot listen on port" in ran.err
    assert not (tmp_path / "labels.csv.lock").exists()


def test_without_the_extra_it_says_what_to_install(cli, planted, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ran = cli("label", *planted[1:])
    assert (ran.code, install_hint("label") in ran.err) == (1, True)


def test_other_machines_are_warned_of(cli, planted, monkeypatch):
    monkeypatch.setattr("unseen.cli.label._prepare", lambda *_: stop())
    ran = cli("label", *planted[1:], "--host", "0.0.0.0")
    assert "0.0.0.0 can be reached from other machines" in ran.err


def stop() -> None:
    raise unseen.InputError("enough")
