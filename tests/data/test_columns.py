"""Columns are chosen by meaning, and a notice says which; named ones are for the files that have them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import unseen
from unseen.data.convert import convert_file
from unseen.data.layouts import inspect_file
from unseen.data.options import Options
from unseen.engine.partition import partition


def write(path: Path, content: str) -> Path:
    path.write_text(content, "utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "notice"),
    [
        (
            "product_a,product_b,times_bought_together\nP1,P2,3\nP2,P3,1\n",
            "edges.csv: product_a -> product_b, weight times_bought_together",
        ),
        (
            "date,from_account,to_account,amount\n2024-01-01,A,B,5\n",
            "from_account -> to_account, weight amount",
        ),
        ("zig,zag,date,zug,count\na,b,2024-01-01,7,3\n", "zig -> zag, weight count"),
        ("zig,zag,n_joint,year\na,b,4,1999\n", "zig -> zag, weight n_joint"),
        ("zig,zag,year\na,b,1999\nb,c,2001\n", "edges.csv: zig -> zag ("),
        ("follower,followee,since,strength\na,b,2020-01-01,0.5\n", "follower -> followee, weight strength"),
        (",person,friend,score\n0,a,b,1\n1,b,c,2\n", "person -> friend, weight score"),
        ("head,relation,tail\na,likes,b\nb,hates,c\n", "head -> tail, type relation"),
        ("target;source\na;b\n", "edges.csv: source -> target"),
    ],
)
def test_the_columns_of_edges(
    tmp_path: Path, content: str, notice: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    path = write(tmp_path / "edges.csv", content)
    graph = unseen.read_graph(path)
    assert notice in caplog.text
    assert graph.n_edges == content.count("\n") - 1
    if "relation" not in content:
        partition(path, tmp_path / "parts", parts=1)


def test_gephi_and_knowledge_graphs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    gephi = write(tmp_path / "g.csv", "Source;Target;Type;Weight\na;b;Undirected;2\nb;c;Undirected;3\n")
    graph = unseen.read_graph(gephi)
    assert (graph.n_edges, graph.adjacency.max()) == (2, 3)
    assert "g.csv: ignored column: 'Type'" in caplog.text
    triples = write(tmp_path / "k.csv", "head,relation,tail\na,likes,b\nb,hates,c\n")
    assert [each.name for each in unseen.read_graph(triples, directed=True).relations] == ["likes", "hates"]


def test_a_frame_is_read_as_its_csv(tmp_path: Path) -> None:
    frame = pd.DataFrame({"product_a": ["P1", "P2"], "product_b": ["P2", "P3"], "times": [3, 1]})
    frame.to_csv(tmp_path / "e.csv", index=False)
    one, other = unseen.read_graph(frame), unseen.read_graph(tmp_path / "e.csv")
    assert one.adjacency.toarray().tolist() == other.adjacency.toarray().tolist()


def test_the_columns_of_labels(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "e.csv", "src,dst\nP1,P2\nP2,P3\n")
    labels = write(tmp_path / "l.csv", "product_id,price,category\nP1,5,garden\nP2,7,kitchen\n")
    data = unseen.read(edges, labels=labels)
    assert data.labels is not None
    assert data.labels.classes == ("garden", "kitchen")
    assert "l.csv: node product_id, label category" in caplog.text
    assert "l.csv: ignored column: 'price'" in caplog.text
    convert_file(labels, tmp_path / "group.txt")
    assert (tmp_path / "group.txt").read_text() == "P1\tgarden\nP2\tkitchen\n"


def test_a_column_that_is_used_as_a_feature_is_not_called_ignored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "e.csv", "src,dst\nP1,P2\nP2,P3\n")
    people = write(tmp_path / "p.csv", "id,age,team\nP1,5,red\nP2,7,blue\nP3,8,red\n")
    unseen.read(edges, labels=people)
    assert "p.csv: ignored column: 'age'" in caplog.text
    caplog.clear()
    unseen.read(edges, labels=people, features=people)
    assert "ignored" not in caplog.text


def test_named_columns_are_for_the_files_that_have_them(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "src,dst\nP1,P2\nP2,P3\n")
    people = write(tmp_path / "p.csv", "person,age,team\nP1,5,red\nP2,7,blue\nP3,9,red\n")
    texts = write(tmp_path / "t.csv", "sku,text\nP1,red chair\nP2,red table\nP3,old table\n")
    labels = write(tmp_path / "l.csv", "node,label\nP1,red\n")
    options: dict[str, Any] = {"label_column": "team", "node_column": "person"}
    data = unseen.read(edges, labels=[people, labels], text=texts, **options)
    assert data.labels is not None
    assert data.labels.classes == ("blue", "red")
    assert data.graph.feature_names == ("red", "table")
    with pytest.raises(
        unseen.InputError, match=r"p\.csv' has no column 'x' .*--label-column.*'person', 'age', 'team'"
    ):
        unseen.read(edges, labels=people, text=texts, label_column="x")
    for column in ("src", "dst", "weight"):
        with pytest.raises(unseen.InputError, match=rf"e\.csv' has no column 'x' .*--{column}.*'src', 'dst'"):
            unseen.read(edges, **{column: "x"})
        with pytest.raises(unseen.InputError, match=rf"e\.csv' has no column 'x' .*--{column}.*'src', 'dst'"):
            partition(edges, tmp_path / "parts", parts=1, **{column: "x"})  # type: ignore[arg-type]
    with pytest.raises(unseen.InputError, match=r"has no column 'x' .*--node-column"):
        unseen.read(edges, labels=people, text=texts, node_column="x")


def test_inspect_file(tmp_path: Path) -> None:
    path = write(
        tmp_path / "e.csv", "product_a;product_b;times;day\nP1;P2;3;2024-01-01\nP2;P3;1;2024-01-02\n"
    )
    layout = inspect_file(path, "edges")
    assert (layout.delimiter, layout.has_header) == (";", True)
    assert layout.columns == {"src": "product_a", "dst": "product_b", "weight": "times"}
    assert any("ignored column: 'day'" in notice for notice in layout.notices)
    assert inspect_file(path, "edges", Options(dst="day")).columns["dst"] == "day"
    bare = inspect_file(write(tmp_path / "b.txt", "a b 2\nb c 1\n"), "edges")
    assert (bare.delimiter, bare.has_header) == (" ", False)
    assert bare.columns == {"src": 0, "dst": 1, "weight": 2}
    texts = inspect_file(write(tmp_path / "t.csv", "sku,description\nP1,red chair\n"), "text")
    assert texts.columns == {"node": "sku", "text": "description"}


@pytest.mark.parametrize("directed", [True, False])
def test_a_weight_of_zero_is_counted_and_left_out(
    tmp_path: Path, directed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "e.csv", "src,dst,weight\na,b,0\nb,c,2\nc,d,1\n")
    data = unseen.read(edges, directed=directed)
    assert (data.graph.n_edges, data.graph.n_nodes, data.report.dropped_zero) == (2, 4, 1)
    assert "1 edge of weight 0 left out" in caplog.text


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "edges.csv", "a,b\n")
    for name in ("edge.csv", "Edges.tsv", "edgse.csv"):
        with pytest.raises(
            unseen.InputError, match=rf"no file '.*{name}'; the nearest name .* is 'edges\.csv'"
        ):
            unseen.read_graph(tmp_path / name)
    with pytest.raises(
        unseen.InputError, match=r"no file '.*words\.csv'; check"
    ):  # only the suffix is the same
        unseen.read_graph(tmp_path / "words.csv")
    with pytest.raises(unseen.InputError, match=r"and no folder '.*nowhere'"):
        unseen.read_graph(tmp_path / "nowhere" / "edges.csv")


def test_a_sheet_names_the_way_out(tmp_path: Path) -> None:
    sheet = write(tmp_path / "edges.xlsx", "PK")
    with pytest.raises(
        unseen.InputError, match=r"save the sheet as \.csv, or run: .*read_excel\('.*edges\.xlsx'"
    ):
        unseen.read_graph(sheet)


@pytest.mark.parametrize(
    ("role", "content", "notice"),
    [
        ("labels", "node,label\na,x\n", ""),
        ("labels", "id,label\na,x\n", "labels.csv: node id, label label"),
        ("features", "node,size\na,1\nb,2\nc,3\n", ""),
        ("features", "id,size\na,1\nb,2\nc,3\n", "features.csv: node id"),
        ("text", "node,text\na,old red\nb,old\nc,red\n", ""),
        ("text", "id,title\na,old red\nb,old\nc,red\n", "text.csv: node id, text title"),
        ("text", "id,title,tag\na,old red,x\nb,old,y\nc,red,x\n", "consists of the columns 'title', 'tag'"),
    ],
)
def test_each_header_that_is_not_the_documented_one_has_a_notice(
    tmp_path: Path, role: str, content: str, notice: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "e.csv", "src,dst\na,b\nb,c\n")
    arguments: dict[str, Any] = {role: write(tmp_path / f"{role}.csv", content)}
    assert unseen.read(edges, **arguments).graph.n_nodes == 3
    assert notice in caplog.text
    assert bool(notice) == (f"{role}.csv: " in caplog.text)


def test_a_file_without_rows_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    edges = write(tmp_path / "e.csv", "src,dst,weight\n")
    unseen.read(edges, labels=write(tmp_path / "l.csv", "node,label\na,x\nb,y\n"))
    assert "e.csv has a header but no rows" in caplog.text
    assert "l.csv has a header" not in caplog.text
