"""Labels in every layout, and what counts as no label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unseen
from unseen.data.read import read_label_list
from unseen.data.write import write_part

GRAPH = unseen.Graph.from_edges(["a", "b", "c"], ["b", "c", "d d"])


def as_sets(labels: unseen.Labels) -> dict[str, set[str]]:
    rows = labels.indicator.toarray()
    found = {
        str(node): {labels.classes[k] for k in np.flatnonzero(row)}
        for node, row in zip(labels.node_ids, rows, strict=True)
    }
    return {node: names for node, names in found.items() if names}


WANTED = {"a": {"red"}, "b": {"red", "blue"}, "d d": {"10"}}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.csv", "node,label\na,red\nb,red|blue\nd d,10\n"),
        ("l.csv", "d d,10\nb,blue\na,red\nb,red\nb,red\n"),
        ("l.csv", "label,node\n10,d d\nred | blue,b\nred,a\n"),
        ("l.tsv", "id\tclass\na\tred\nb\tblue|red|\nc\t\nd d\t10\n"),
        ("l.csv", "paper,label\na,red\nb,red|blue\nd d,10\n"),
        ("l.csv", "node,topic\na,red\nb,red|blue\nd d,10\n"),
        ("l.csv", "node,label,note\na,red,x\nb,red|blue,y\nd d,10,z\n"),
        ("l.csv", "a,red\nb,red|-1|blue\nc,NaN\nc,nan\nc,-1\nc,\nd d,10\n"),
    ],
)
def test_text(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    labels = unseen.read_labels(path, GRAPH)
    assert as_sets(labels) == WANTED
    assert labels.classes == ("10", "blue", "red")
    assert labels.node_ids is not None
    assert labels.node_ids.tolist() == ["a", "b", "c", "d d"]


@pytest.mark.parametrize("kind", ["text", "parquet", "pandas", "values"])
def test_words_for_missing_values_are_no_classes_and_that_is_said(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    rows = {"node": ["a", "b", "c", "d d"], "label": ["NA", "None", "0", "null"]}
    if kind == "values":
        assert unseen.Labels.from_values(rows["label"]).classes == ("0",)
    else:
        (tmp_path / "l.csv").write_text("node,label\na,NA\nb,None\nc,0\nd d,null\n")
        pq.write_table(pa.table(rows), tmp_path / "l.parquet")
        source = {
            "text": tmp_path / "l.csv",
            "parquet": tmp_path / "l.parquet",
            "pandas": pd.DataFrame(rows),
        }[kind]
        assert unseen.read_labels(source, GRAPH).classes == ("0",)
    assert "3 labels taken as missing, written NA" in caplog.text


def test_group_txt(tmp_path: Path) -> None:
    path = tmp_path / "group.txt"
    path.write_text("# node, classes\n a  red\nb\tred blue \n\nc\n")
    assert as_sets(unseen.read_labels(path, GRAPH)) == {"a": {"red"}, "b": {"red", "blue"}}


ROWS = {"node": ["a", "b", "b", "c", "d d"], "label": ["red", "red", "blue", None, "10"]}


@pytest.mark.parametrize("kind", ["parquet", "pandas", "polars", "categorical", "arrow-lists"])
def test_tables(tmp_path: Path, kind: str) -> None:
    table = pa.table(ROWS)
    pq.write_table(table, tmp_path / "l.parquet")
    source = {
        "parquet": tmp_path / "l.parquet",
        "pandas": pd.DataFrame(ROWS),
        "polars": pl.DataFrame(ROWS),
        "categorical": pd.DataFrame(ROWS).astype({"label": "category"}),
        "arrow-lists": pa.table(
            {"node": ["a", "b", "c", "d d"], "label": [["red"], ["blue", "red"], [], ["10", None]]}
        ),
    }[kind]
    labels = unseen.read_labels(source, GRAPH)
    assert as_sets(labels) == WANTED
    assert labels.classes == ("10", "blue", "red")


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([10, 2, -1], ("10", "2")),
        ([10.0, 2.0, float("nan")], ("10", "2")),
        ([1.5, 2.0, -1.0], ("1.5", "2")),
        ([True, False, None], ("False", "True")),
        (["x|y", "y", "-1"], ("x", "y")),
    ],
)
def test_types_of_a_label_column(values: list[object], classes: tuple[str, ...]) -> None:
    labels = unseen.read_labels(pa.table({"node": ["a", "b", "c"], "label": values}), GRAPH)
    assert labels.classes == classes
    assert labels.labelled.tolist() == [0, 1]


def test_no_label_at_all() -> None:
    labels = unseen.read_labels(pa.table({"node": ["a"], "label": pa.nulls(1)}), GRAPH)
    assert (labels.classes, len(labels.labelled), labels.n_nodes) == ((), 0, 4)


def test_lists_are_not_split_at_the_bar() -> None:
    labels = unseen.read_labels(pa.table({"node": ["a"], "label": [["x|y"]]}), GRAPH)
    assert labels.classes == ("x|y",)


def test_an_unknown_id_is_missing_from_what_was_named(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("node,label\na,x\n007,y\n")
    with pytest.raises(unseen.InputError, match=r"line 3: the graph has no node '007'; .* labels=\.\.\."):
        unseen.read_labels(tmp_path / "l.csv", GRAPH)
    with pytest.raises(
        unseen.InputError, match=r"line 3: the embedding has no node '007'; remove such rows$"
    ):
        unseen.read_labels(tmp_path / "l.csv", GRAPH, where="the embedding")


def test_a_status_is_kept_apart_from_labels(tmp_path: Path) -> None:
    (tmp_path / "ask.csv").write_text(
        "node,label,status,why\na,,skipped,x\nb,unknown,,x\n007,, Unknown ,x\nc,,,x\n"
    )
    graph = unseen.Graph.from_edges(["a", "b"], ["c", "007"])
    labels = unseen.read_labels(tmp_path / "ask.csv", graph)
    assert labels.answers == {"a": "skipped", "007": "unknown"}
    assert labels.classes == ("unknown",)
    assert labels.labelled.tolist() == [graph.node_ids.tolist().index("b")]
    more = pa.table({"node": ["a"], "label": ["x"]})
    assert unseen.read_labels([tmp_path / "ask.csv", more], graph).answers == {"007": "unknown"}


def test_a_label_confirmed_by_hand_is_confirmed(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("node,label,status\na,red,confirmed\nb,red,skipped\nc,,confirmed\n")
    labels = unseen.read_labels(tmp_path / "l.csv", GRAPH)
    assert labels.answers == {
        "a": "confirmed"
    }  # a label outweighs a skip, and nothing is there to confirm for c
    assert as_sets(labels) == {"a": {"red"}, "b": {"red"}}


def test_a_misspelt_status_is_refused_and_a_column_of_the_user_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "ask.csv").write_text("node,label,status\na,,skipped\nb,,skiped\n")
    with pytest.raises(unseen.InputError, match="line 3: the status is 'skiped'; it must be empty or one of"):
        unseen.read_labels(tmp_path / "ask.csv", GRAPH)
    (tmp_path / "own.csv").write_text("node,label,status\na,x,active\nb,,closed\n")
    assert as_sets(unseen.read_labels(tmp_path / "own.csv", GRAPH)) == {"a": {"x"}}
    (tmp_path / "both.csv").write_text(
        "node,label,status,unseen_status\na,x,active,confirmed\nb,,closed,skipped\n"
    )
    assert unseen.read_labels(tmp_path / "both.csv", GRAPH).answers == {"a": "confirmed", "b": "skipped"}


def test_a_label_takes_the_place_of_the_one_that_it_replaces(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="unseen")
    labels = pa.table({"node": ["a", "b", "c", "d d"], "label": ["x", "y", "x|z", "x"]})
    ask = {"node": ["a", "b", "c", "d d"], "label": ["y", "y", "new", ""], "status": ["", "", "", "skipped"]}
    asked = pa.table({**ask, "replaces": list("xyzx")})
    read = unseen.read_labels([labels, asked], GRAPH)
    assert as_sets(read) == {"a": {"y"}, "b": {"y"}, "c": {"x", "new"}, "d d": {"x"}}
    assert read.answers == dict.fromkeys(["a", "b", "c", "d d"], "confirmed")
    assert caplog.messages == ["2 labels replaced by answers: node 'a' is y instead of x, and so on"]
    assert as_sets(unseen.read_labels([asked, labels], GRAPH)) == as_sets(read)


def test_a_question_without_an_answer_changes_nothing() -> None:
    labels = pa.table({"node": ["a", "b"], "label": ["x", "y"]})
    asked = pa.table({"node": ["a", "c"], "label": ["", "z"], "replaces": ["x", ""], "status": ["", ""]})
    read = unseen.read_labels([labels, asked], GRAPH)
    assert as_sets(read) == {"a": {"x"}, "b": {"y"}, "c": {"z"}}
    assert read.answers == {}


def test_only_what_an_answer_names_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    labels = pa.table({"node": ["a"], "label": ["x"]})
    asked = pa.table({"node": ["a"], "label": ["y"], "replaces": ["z"]})
    assert as_sets(unseen.read_labels([labels, asked], GRAPH)) == {"a": {"x", "y"}}
    assert not caplog.messages


@pytest.mark.parametrize("name", ["l.csv", "l.tsv.gz", "l.parquet"])
def test_answers_are_read_back(tmp_path: Path, name: str) -> None:
    labels = unseen.Labels.from_values(["x", None, None, ["x", "y"]], [7, 8, 9, 10])
    labels = unseen.Labels(labels.indicator, labels.classes, labels.node_ids, {8: "skipped", 10: "confirmed"})
    write_part(labels, "labels", tmp_path / name)
    again = read_label_list(tmp_path / name)
    assert {str(node): answer for node, answer in again.answers.items()} == {
        "8": "skipped",
        "10": "confirmed",
    }
    assert again.counts.tolist() == [2, 1]


@pytest.mark.parametrize("name", ["l.txt", "group.txt"])
def test_a_format_without_a_place_for_answers_says_so(tmp_path: Path, name: str) -> None:
    labels = unseen.Labels.from_values(["x", None])
    labels = unseen.Labels(labels.indicator, labels.classes, labels.node_ids, {1: "skipped"})
    with pytest.raises(unseen.UnsupportedError, match="has no column for answers"):
        write_part(labels, "labels", tmp_path / name)
