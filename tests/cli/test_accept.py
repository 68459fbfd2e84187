"""`unseen accept` as a user meets it, and questions that go back in as labels."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def files(tmp_path):
    (tmp_path / "labels.csv").write_text("node,label,answer\na,net,\nz,,skip\n")
    rows = ["node,unseen_probability,likely_class,group,name", "b,0.9,net,new-1,", "c,0.6,net,new-1,"]
    (tmp_path / "nodes.csv").write_text("\n".join([*rows, "d,0.95,net,new-2,", "e,0.1,net,,"]) + "\n")
    return tmp_path


def test_groups_become_labels_in_another_file(cli, files):
    ran = cli(
        "accept", files / "labels.csv", files / "nodes.csv", "new-1=a mail", "new-2=", "--at-least", 0.8,
        "-o", files / "labels-2.csv", "--json",
    )  # fmt: skip
    assert ran.code == 0
    assert (files / "labels-2.csv").read_text() == 'node,label,answer\na,net,\nb,"a mail",\nz,,skip\n'
    assert json.loads(ran.out)["added"] == 1
    assert "a mail: 1 label added from new-1 of probability 0.8 and above" in ran.err


def test_in_place_keeps_the_first_file_once(cli, files):
    before = (files / "labels.csv").read_text()
    assert cli("accept", files / "labels.csv", files / "nodes.csv", "new-1=mail", "--in-place").code == 0
    between = (files / "labels.csv").read_text()
    assert cli("accept", files / "labels.csv", files / "nodes.csv", "new-2=web", "--in-place").code == 0
    assert (files / "labels.csv.bak").read_text() == before != between
    assert "d,web" in (files / "labels.csv").read_text()
    assert "b,mail" in (files / "labels.csv").read_text()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["new-1=mail"], 2, "say where to write: either -o FILE or --in-place"),
        (["new-1=mail", "-o", "x.csv", "--in-place"], 2, "either -o FILE or --in-place"),
        (["new-1", "--in-place"], 2, "name a class for a group as new-1=sound"),
        (["=mail", "--in-place"], 2, "name a class for a group as new-1=sound"),
        (["new-1=a", "new-1=b", "--in-place"], 2, "new-1 is given two names, 'a' and 'b'; choose one"),
        (["new-1=a|b", "--in-place"], 1, "the class name 'a|b' would not be read back"),
        (["new-7=a", "--in-place"], 1, "unknown group 'new-7'"),
    ],
)
def test_what_cannot_be_done_changes_nothing(cli, files, words, code, sentence):
    before = (files / "labels.csv").read_text()
    ran = cli("accept", files / "labels.csv", files / "nodes.csv", *words)
    assert (ran.code, sentence in ran.err) == (code, True)
    assert (files / "labels.csv").read_text() == before


def test_an_output_that_is_an_input_is_refused(cli, files):
    ran = cli("accept", files / "labels.csv", files / "nodes.csv", "new-1=mail", "-o", files / "nodes.csv")
    assert ran.code == 1
    assert "the same file is read as input" in ran.err


@pytest.mark.slow
def test_questions_go_back_in_with_their_answers(cli, planted, tmp_path):
    suggest = ["suggest", *planted[1:], "--budget", 5]
    assert cli(*suggest, "-o", tmp_path / "ask.csv").code == 0
    header, *rows = [line.split(",", 3) for line in (tmp_path / "ask.csv").read_text().splitlines()]
    assert ",".join(header) == "node,label,answer,reason,likely_class,unseen_probability,group"
    assert all(row[1:3] == ["", ""] for row in rows)
    answers = [("unknown", ""), ("", "skip"), ("", "unknown"), ("", ""), ("", "")]
    lines = [[row[0], *answer, row[3]] for row, answer in zip(rows, answers, strict=True)]
    (tmp_path / "ask.csv").write_text("\n".join(map(",".join, [header, *lines])) + "\n")
    ran = cli(*suggest, "--labels", tmp_path / "ask.csv", "--json")
    nodes = [row["node"] for row in json.loads(ran.out)["suggestions"]]
    assert not {row[0] for row in rows[:3]} & set(nodes)
    ran = cli("discover", *planted[1:], "--labels", tmp_path / "ask.csv", "--json")
    assert "unknown" in json.loads(ran.out)["coverage"]["classes"]
