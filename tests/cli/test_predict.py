"""`unseen predict`: a class for every node, as a file or on the standard output."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest


@pytest.mark.slow
def test_the_formats_hold_the_same(planted: list[Any], cli: Callable, tmp_path: Path) -> None:
    words = ["predict", *planted[1:]]
    assert cli(*words, "-o", tmp_path / "classes.csv").code == 0
    rows = list(csv.DictReader((tmp_path / "classes.csv").read_text().splitlines()))
    assert list(rows[0]) == ["node", "class", "probability", "status"]
    assert len(rows) == 200
    given = dict(csv.reader((tmp_path / "labels.csv").read_text().splitlines()))
    for row in rows:
        assert (row["status"] == "labelled") == (row["node"] in given)
        if row["status"] == "labelled":
            assert (row["class"], row["probability"]) == (given[row["node"]], "1")
    assert {row["class"] for row in rows if row["status"] == "candidate"} == {"new-1"}
    assert list(csv.DictReader(io.StringIO(cli(*words).out))) == rows
    streamed = cli(*words, "-o", "-")
    assert list(csv.DictReader(io.StringIO(streamed.out))) == rows
    assert "written to" not in streamed.err
    assert cli(*words, "-o", tmp_path / "classes.parquet").code == 0
    table = pq.read_table(tmp_path / "classes.parquet")
    assert table["class"].to_pylist() == [row["class"] for row in rows]
    report = json.loads(cli(*words, "-o", tmp_path / "classes.tsv", "--json").out)
    assert report["status"] == dict(Counter(row["status"] for row in rows))
    assert (tmp_path / "classes.tsv").read_text().splitlines()[0] == "node\tclass\tprobability\tstatus"


def test_a_graph_with_all_labels_has_nothing_to_predict(files: Path, cli: Callable) -> None:
    ran = cli("predict", files / "edges.csv", "--labels", files / "labels.csv")
    assert ran.code == 0
    assert "nothing to predict" in ran.err
    assert ran.out.splitlines() == [
        "node,class,probability,status",
        "a b,x,1,labelled",
        "007,x|y,1,labelled",
        "ü,y,1,labelled",
    ]


def test_without_labels_there_is_no_class(files: Path, cli: Callable) -> None:
    ran = cli("predict", files / "edges.csv")
    assert ran.code == 1
    assert "there are no labels" in ran.err
