"""`unseen discover` and `unseen suggest` as a user meets them."""

from __future__ import annotations

import json

import pytest


def test_files_go_in_and_a_table_a_json_and_a_summary_come_out(cli, planted, tmp_path):
    ran = cli(*planted, "-o", tmp_path / "nodes.csv", "-o", tmp_path / "found.json", code=0)
    assert "new-1: " in ran.out
    assert "words: c0_word" in ran.out
    assert "How far to trust this: Each of 3 labelled classes was left out" in ran.out
    assert "The truth" not in ran.out
    header = "node,unseen_probability,likely_class,group,name,selected,q_value\n"
    assert (tmp_path / "nodes.csv").read_text().startswith(header)
    told = json.loads((tmp_path / "found.json").read_text())
    assert told["classes"][0]["members"][0].startswith("n")
    assert "written to" in ran.err


def test_json_goes_to_stdout_alone(cli, planted):
    ran = cli(*planted, "--json", "--classes", 2)
    told = json.loads(ran.out)
    assert len(told["classes"]) == 2
    assert told["coverage"]["classes"].keys() == {"c1", "c2", "c3"}
    assert "truth" not in told


@pytest.mark.slow
def test_hidden_labels_are_compared_with_the_truth(cli):
    ran = cli("discover", "debian", "--unseen", "mail,web", "--label-rate", 0.3, code=0)
    assert "unlabelled nodes belong to hidden classes" in ran.out
    auroc = float(ran.out.split("AUROC of the probabilities: ")[1].split()[0])
    assert auroc > 0.96
    assert "matches mail" in ran.out


@pytest.mark.slow
def test_suggestions_come_as_a_table_with_reasons(cli, planted, tmp_path):
    ran = cli("suggest", *planted[1:], "--budget", 3, code=0)
    lines = ran.out.splitlines()
    assert lines[0].split()[:3] == ["node", "group", "likely_class"]
    assert len(lines) == 4
    assert "a typical member of new-1 (c0_word" in lines[1]
    ran = cli("suggest", *planted[1:], "--budget", 3, "-o", tmp_path / "next.csv", "--json")
    assert len(json.loads(ran.out)["suggestions"]) == 3
    assert len((tmp_path / "next.csv").read_text().splitlines()) == 4


def test_missing_classes_are_given_by_name(cli, planted, tmp_path):
    (tmp_path / "names.csv").write_text("name,description\nzero,whatever c0 has\n")
    ran = cli(*planted, "--names", tmp_path / "names.csv", "--name", "one: noise0", "--json")
    told = json.loads(ran.out)
    assert told["classes"][0]["name"] == "zero"
    assert told["classes"][0]["group"] == "new-1"
    ran = cli(*planted, "--name", "zero: a", "--name", "zero: b", code=1)
    assert "the name 'zero' is given twice" in ran.err


def test_labels_that_are_probably_wrong_are_listed(cli, planted, tmp_path):
    lines = (tmp_path / "labels.csv").read_text().splitlines()
    node, label = lines[1].split(",")
    lines[1] = f"{node},{'c1' if label != 'c1' else 'c2'}"
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    ran = cli("audit", *planted[1:], "-o", tmp_path / "doubts.csv", "--json", code=0)
    assert [row["node"] for row in json.loads(ran.out)["doubts"]] == [node]
    header, first = (tmp_path / "doubts.csv").read_text().splitlines()
    assert header == "node,label,likely_class,probability"
    assert first.startswith(f"{lines[1]},{label},")
    shown = cli("audit", *planted[1:])
    assert shown.out.splitlines()[0].split() == ["node", "label", "likely_class", "probability"]


def test_suggest_needs_no_labels(cli, files):
    ran = cli("suggest", files / "edges.csv", "--budget", 2, code=0)
    assert "without a label" in ran.out
