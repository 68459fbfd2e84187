"""`unseen accept` as a user meets it, and questions that go back in as labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from unseen.data.labels_file import QUESTION_COLUMNS
from unseen.data.sources import Source


@pytest.fixture
def files(tmp_path):
    (tmp_path / "labels.csv").write_text("node,label,status\na,net,\nz,,skipped\n")
    rows = ["node,unseen_probability,likely_class,group,name", "b,0.9,net,new-1,", "c,0.6,net,new-1,"]
    (tmp_path / "nodes.csv").write_text("\n".join([*rows, "d,0.95,net,new-2,", "e,0.1,net,,"]) + "\n")
    return tmp_path


def test_groups_become_labels_in_another_file(cli, files):
    ran = cli(
        "accept", files / "labels.csv", files / "nodes.csv", "new-1=a mail", "new-2=", "--at-least", 0.8,
        "-o", files / "labels-2.csv", "--json", code=0,
    )  # fmt: skip
    assert (files / "labels-2.csv").read_text() == "node,label,status\na,net,\nz,,skipped\nb,a mail,\n"
    assert json.loads(ran.out)["added"] == 1
    assert "a mail: 1 label added from new-1 of probability 0.8 and above" in ran.err


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["new-1=mail"], 2, "say where to write the labels: either -o FILE or --in-place"),
        (["new-1=mail", "-o", "x.csv", "--in-place"], 2, "either -o FILE or --in-place"),
        (["new-1", "--in-place"], 2, "name a candidate class as new-1=sound"),
        (["=mail", "--in-place"], 2, "name a candidate class as new-1=sound"),
        (["new-1=a", "new-1=b", "--in-place"], 2, "new-1 has two names, 'a' and 'b'; choose one"),
        (["new-1=a|b", "--in-place"], 1, "the class name 'a|b' would not be read back"),
        (["new-7=a", "--in-place"], 1, "unknown group 'new-7'"),
    ],
)
def test_what_cannot_be_done_changes_nothing(cli, files, words, code, sentence):
    before = (files / "labels.csv").read_text()
    ran = cli("accept", files / "labels.csv", files / "nodes.csv", *words)
    assert (ran.code, sentence in ran.err) == (code, True)
    assert (files / "labels.csv").read_text() == before


@pytest.mark.slow
def test_questions_go_back_in_with_their_answers(cli, planted, tmp_path):
    suggest = ["suggest", *planted[1:], "--budget", 5]
    assert cli(*suggest, "-o", tmp_path / "ask.csv").code == 0
    header, *rows = [line.split(",", 4) for line in (tmp_path / "ask.csv").read_text().splitlines()]
    assert header == ["node", "label", "replaces", "status", ",".join(QUESTION_COLUMNS[4:])]
    assert all(row[1:4] == ["", "", ""] for row in rows)
    answers = [("unknown", "", ""), ("", "", "skipped"), ("", "", "unknown"), ("", "", ""), ("", "", "")]
    lines = [[row[0], *answer, row[4]] for row, answer in zip(rows, answers, strict=True)]
    (tmp_path / "ask.csv").write_text("\n".join(map(",".join, [header, *lines])) + "\n")
    ran = cli(*suggest, "--labels", tmp_path / "ask.csv", "--json")
    nodes = [row["node"] for row in json.loads(ran.out)["suggestions"]]
    assert not {row[0] for row in rows[:3]} & set(nodes)
    ran = cli("discover", *planted[1:], "--labels", tmp_path / "ask.csv", "--json")
    assert "unknown" in json.loads(ran.out)["coverage"]["classes"]


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".jsonl", ".csv.gz", ".csv"])
def test_other_formats_keep_their_other_columns(cli, tmp_path, suffix):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"age": [7, 8, 9], "node": [3, 1, 2], "label": ["red", "blue", None]})
    pq.write_table(table, tmp_path / "labels.parquet")
    (tmp_path / "nodes.csv").write_text("node,unseen_probability,group\n2,0.9,new-1\n5,0.8,new-1\n")
    target = tmp_path / f"out{suffix}"
    cli("accept", tmp_path / "labels.parquet", tmp_path / "nodes.csv", "new-1=green", "-o", target, code=0)
    (again,) = Source(target, "labels").batches()
    columns = [[cell or None for cell in each.cast(pa.string()).to_pylist()] for each in again.columns]
    labels = ["red", "blue", "green", "green"]
    expected = {"age": ["7", "8", "9", None], "node": ["3", "1", "2", "5"], "label": labels}
    assert dict(zip(again.names, columns, strict=True)) == expected
    if suffix == ".parquet":
        assert pq.read_table(target).schema.types == [pa.int64(), pa.int64(), pa.string()]


def test_the_project_file_says_which_columns_a_label_file_has(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words above words: only the ids of the graph showed `init` that the first line is a header."""
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("src,dst\na,b\nb,c\nc,d\nd,a\n", encoding="utf-8")
    Path("sorten.csv").write_text("Artikel,Sorte,wer\na,rot,Eva\nb,rot,Eva\n", encoding="utf-8")
    assert cli("init", "edges.csv", "--labels", "sorten.csv").code == 0
    Path("nodes.csv").write_text("node,unseen_probability,group\nc,0.9,new-1\n", encoding="utf-8")
    cli("accept", "sorten.csv", "nodes.csv", "new-1=blau", "--in-place", code=0)
    text = Path("sorten.csv").read_text(encoding="utf-8")
    assert text == "Artikel,Sorte,wer\na,rot,Eva\nb,rot,Eva\nc,blau,\n"
