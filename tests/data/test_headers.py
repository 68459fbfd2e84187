"""Headers and columns: found by their meaning, never at the cost of a row of data, never without a notice."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import unseen
from reading import edges_of, write
from unseen.data.read import inspect_file
from unseen.data.sources import Options
from unseen.data.text import explain_header
from unseen.engine.partition import partition

from .first_rows import FIRST_ROWS, FirstRow


def ids(graph: unseen.Graph) -> list[str]:
    return sorted(graph.node_ids.tolist())


def read(row: FirstRow, folder: Path, **options: Any) -> unseen.Graph:
    """Return the graph of a file, beside edges that know the ids of all its rows of data."""
    path = row.write(folder)
    if row.role == "edges":
        return unseen.read_graph(path, **options)
    known = row.ids()
    pairs = zip(known, [*known[1:], known[0]], strict=True)
    edges = write(folder / "known.csv", "src,dst\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    return unseen.read_graph(edges, **{row.role: path}, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", FIRST_ROWS, ids=lambda row: f"{row.role}: {row.first}")
def test_first_rows_as_people_have_them(
    row: FirstRow, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = read(row, tmp_path)
    if row.role == "edges":
        layout = inspect_file(row.write(tmp_path), "edges")
        assert bool(layout.names) == row.is_header
        assert graph.n_edges == read(row, tmp_path, header=row.is_header).n_edges
        usual = {"src", "dst"} <= set(row.first.split(",")) or "source" in row.first.lower().split(",")
        usual = usual or row.first.startswith("Source;")
        assert usual or row.is_header == ("was taken as a header" in caplog.text)
    else:
        assert set(graph.node_ids) == set(row.ids())


@pytest.mark.parametrize(
    ("role", "first", "below"),
    [
        ("edges", "a,b,NA", ["b,c,1"]),
        ("edges", "a,b,?", ["c,d,1"]),
        ("features", "P1,NA,3", ["P2,1,2"]),
        ("features", "P1,unknown,missing", ["P2,1,2"]),
        ("labels", "P1,none", ["P2,1"]),
    ],
)
def test_a_missing_value_is_not_a_name(role: Any, first: str, below: list[str]) -> None:
    assert explain_header(role, first.split(","), [row.split(",") for row in below]) is None


def test_an_edge_that_may_be_a_header_gets_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "e.csv", "zig,zag\na,b\nb,c\nc,a\na,d\n")
    assert unseen.read_graph(path).n_edges == 5
    (warning,) = caplog.records
    assert warning.levelno == logging.WARNING
    assert "line 1 (zig, zag)" in caplog.text
    assert "--header" in caplog.text
    caplog.clear()
    unseen.read_graph(path, header=False)
    unseen.read_graph(write(tmp_path / "few.csv", "a,b\nc,d\ne,f\n"))
    unseen.read_graph(write(tmp_path / "long.csv", "a,b\n" + "c,d\n" * 300 + "a,d\n"))
    assert not caplog.records
    assert unseen.read_graph(path, header=True).n_edges == 4


EDGES = "a b\nb c\nc a\n"


@pytest.mark.parametrize("kind", ["labels", "features", "text"])
def test_the_only_unknown_id_in_line_one_is_a_header(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "p.txt", EDGES)
    first, rest = {
        "labels": ("zig,zag", "a,x\nb,y\nc,x\n"),
        "features": ("zig,0,1", "a,1,2\nb,3,4\nc,5,6\n"),
        "text": ("zig,zag", "a,red chair\nb,red table\nc,old table\n"),
    }[kind]
    path = write(tmp_path / "p.csv", f"{first}\n{rest}")
    data = unseen.read(edges, **{kind: path})  # type: ignore[arg-type]
    assert (ids(data.graph), data.graph.n_edges) == (["a", "b", "c"], 3)
    assert "line 1 (zig, " in caplog.text
    assert "was taken as a header" in caplog.text
    if kind == "labels":
        assert data.labels is not None
        assert data.labels.classes == ("x", "y")
        assert unseen.read_labels(path, data.graph).classes == ("x", "y")
        assert inspect_file(path, "labels").names == ()
        assert inspect_file(path, "labels", known_ids=["a", "b", "c"]).columns == {
            "node": "zig",
            "label": "zag",
        }
    if kind == "features":
        assert np.asarray(data.graph.features).tolist() == [[1, 2], [3, 4], [5, 6]]
        assert data.graph.feature_names == ("0", "1")
    known = unseen.read_graph(edges, nodes=["zig"], **({kind: path} if kind != "text" else {}))  # type: ignore[arg-type]
    assert "zig" in ids(known)


def test_rows_of_labels_that_look_like_a_header_stay(tmp_path: Path) -> None:
    many = write(tmp_path / "p.csv", "p,u\na,x\nq,y\n")
    assert ids(unseen.read_graph(write(tmp_path / "p.txt", EDGES), labels=many)) == ["a", "b", "c", "p", "q"]
    labels = write(tmp_path / "p.csv", "name,red\na,red\nc,blue\n")
    graph = unseen.read_graph(write(tmp_path / "p.txt", "a name\nname c\n"), labels=labels)
    assert len(unseen.read_labels(labels, graph).labelled) == 3


def test_header_said_for_one_of_two_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "e.csv", "zig,zag\na,b\nb,c\n")
    labels = write(tmp_path / "l.csv", "a,x\nb,y\n")
    features = write(tmp_path / "f.csv", "a,1,2\nb,3,4\nc,5,6\n")
    data = unseen.read(edges, labels=labels, features=features, header=True)
    assert ids(data.graph) == ["a", "b", "c"]
    assert data.labels is not None
    assert data.labels.classes == ("x", "y")
    assert np.asarray(data.graph.features).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert "l.csv', line 1 (a, x) is read as data in spite of header=True" in caplog.text
    for content in ("a,b\nb,c\nc,a\n", "x,y,0.5\na,b,1\n"):  # ids that occur again, a number
        kept = unseen.read_graph(write(tmp_path / "g.csv", content), header=True)
        assert kept.n_edges == content.count("\n")
    named = write(
        tmp_path / "g.csv", "zig,zag,zug\na,b,c\nb,c,a\n"
    )  # a column that is named is one of a header
    assert ids(unseen.read_graph(named, src="zag", dst="zug")) == ["a", "b", "c"]


def test_first_row_of_nodes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    edges = write(tmp_path / "p.txt", EDGES)
    nodes = write(tmp_path / "n.txt", "vertex\na\nz\n")
    assert ids(unseen.read_graph(edges, nodes=nodes)) == ["a", "b", "c", "z"]
    assert not caplog.text
    assert ids(unseen.read_graph(edges, nodes=write(nodes, "z\na\nb\n"))) == ["a", "b", "c", "z"]
    assert "line 1 (z) is read as data, though its id occurs nowhere else" in caplog.text


# Which column is what


@pytest.mark.parametrize(
    ("content", "notice"),
    [
        ("product_a,product_b,times_bought_together\nP1,P2,3\nP2,P3,1\n", "edges.csv: product_a -> product_b, weight"),
        ("date,from_account,to_account,amount\n2024-01-01,A,B,5\n", "from_account -> to_account, weight amount"),
        ("zig,zag,date,zug,count\na,b,2024-01-01,7,3\n", "zig -> zag, weight count"),
        ("zig,zag,n_joint,year\na,b,4,1999\n", "zig -> zag, weight n_joint"),
        ("zig,zag,year\na,b,1999\nb,c,2001\n", "edges.csv: zig -> zag ("),
        ("follower,followee,since,strength\na,b,2020-01-01,0.5\n", "follower -> followee, weight strength"),
        (",person,friend,score\n0,a,b,1\n1,b,c,2\n", "person -> friend, weight score"),
        ("head,relation,tail\na,likes,b\nb,hates,c\n", "head -> tail, type relation"),
        ("target;source\na;b\n", "edges.csv: source -> target"),
        ("Source;Target;Type;Id\na;b;Undirected;1\nb;c;Undirected;2\n", "edges.csv: ignored columns: 'Type', 'Id'"),
    ],
)  # fmt: skip
def test_the_columns_of_edges(
    tmp_path: Path, content: str, notice: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    path = write(tmp_path / "edges.csv", content)
    graph = unseen.read_graph(path)
    assert notice in caplog.text
    assert graph.n_edges == content.count("\n") - 1
    frame = pd.read_csv(path, sep=None, engine="python")
    assert edges_of(unseen.read_graph(frame)) == edges_of(graph)
    if "relation" not in content:
        partition(path, tmp_path / "parts", parts=1)


@pytest.mark.parametrize(
    ("role", "content", "notices"),
    [
        ("labels", "node,label\na,x\n", []),
        ("labels", "id,label\na,x\n", ["node id, label label"]),
        ("labels", "node,label,label\na,x,y\nb,y,z\n", ["ignored column: 'label'"]),
        (
            "labels",
            "user_id,price,category\na,5,x\n",
            ["node user_id, label category", "ignored column: 'price'"],
        ),
        ("features", "node,size\na,1\nb,2\nc,3\n", []),
        ("features", "id,size\na,1\nb,2\nc,3\n", ["node id"]),
        ("text", "node,text\na,old red\nb,old\nc,red\n", []),
        ("text", "id,title\na,old red\nb,old\nc,red\n", ["node id, text title"]),
        ("text", "id,title,tag\na,old red,x\nb,old,y\nc,red,x\n", ["consists of the columns 'title', 'tag'"]),
    ],
)
def test_each_header_that_is_not_the_documented_one_has_a_notice(
    tmp_path: Path, role: str, content: str, notices: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "e.csv", "src,dst\na,b\nb,c\n")
    sources: dict[str, Any] = {role: write(tmp_path / f"{role}.csv", content)}
    assert unseen.read(edges, **sources).graph.n_nodes == 3
    assert all(notice in caplog.text for notice in notices)
    assert bool(notices) == (f"{role}.csv: " in caplog.text)


def test_a_column_that_is_used_as_a_feature_is_not_called_ignored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    people = write(tmp_path / "p.csv", "id,age,team\na,5,red\nb,7,blue\n")
    unseen.read([("a", "b")], labels=people, features=people)
    assert "ignored" not in caplog.text
    unseen.read(write(tmp_path / "e.csv", "src,dst,weight\n"), labels=people)
    assert "p.csv: ignored column: 'age'" in caplog.text
    assert "e.csv has a header but no rows" in caplog.text


def test_named_columns_are_for_the_files_that_have_them(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "src,dst,weight,times\nP1,P2,9,2\nP2,P3,9,1\n")
    people = write(tmp_path / "p.csv", "person,age,team,label\nP1,5,red,x\nP2,7,blue,y\nP3,9,red,z\n")
    texts = write(tmp_path / "t.csv", "sku,text\nP1,red chair\nP2,red table\nP3,old table\n")
    labels = write(tmp_path / "l.csv", "node,label\nP1,red\n")
    options: dict[str, Any] = {"label_column": "team", "node_column": "person", "weight": "times"}
    data = unseen.read(edges, labels=[people, labels], text=texts, **options)
    assert data.labels is not None
    assert (data.labels.classes, data.graph.adjacency.max()) == (("blue", "red"), 2)
    assert data.graph.feature_names == ("red", "table")
    pq.write_table(csv.read_csv(people), tmp_path / "p.parquet")
    assert unseen.read(edges, labels=tmp_path / "p.parquet", **options).labels.classes == ("blue", "red")
    with pytest.raises(
        unseen.InputError, match=r"p\.csv' has no column 'x' .*--label-column.*'person', 'age'"
    ):
        unseen.read(edges, labels=people, text=texts, label_column="x")
    for column in ("src", "dst", "weight"):
        for read in (unseen.read, partial(partition, output=tmp_path / "parts", parts=1)):
            with pytest.raises(
                unseen.InputError, match=rf"e\.csv' has no column 'x' .*--{column}.*'src', 'dst'"
            ):
                read(edges, **{column: "x"})
    with pytest.raises(unseen.InputError, match=r"has no column 'x' .*--node-column"):
        unseen.read(edges, labels=people, text=texts, node_column="x")


def test_inspect_file(tmp_path: Path) -> None:
    path = write(
        tmp_path / "e.csv", "product_a;product_b;times;day\nP1;P2;3;2024-01-01\nP2;P3;1;2024-01-02\n"
    )
    layout = inspect_file(path, "edges")
    assert (layout.layout.delimiter, bool(layout.names)) == (";", True)
    assert layout.columns == {"src": "product_a", "dst": "product_b", "weight": "times"}
    assert any("ignored column: 'day'" in notice for notice in layout.notices)
    assert inspect_file(path, "edges", Options(dst="day")).columns["dst"] == "day"
    bare = inspect_file(write(tmp_path / "b.txt", "a b 2\nb c 1\n"), "edges")
    assert (bare.layout.delimiter, bare.names) == (" ", ())
    assert bare.columns == {"src": 0, "dst": 1, "weight": 2}
    texts = inspect_file(write(tmp_path / "t.csv", "sku,description\nP1,red chair\n"), "text")
    assert texts.columns == {"node": "sku", "text": "description"}


def test_gephi_tables(tmp_path: Path) -> None:
    sources = {
        "edges": write(
            tmp_path / "e.csv", "Source,Target,Type,Id,Label,timeset,Weight\n1,2,Undirected,0,,,2.0\n"
        ),
        "nodes": write(tmp_path / "n.csv", "Id,Label,timeset,team\n1,Ann,,x\n2,Bob,,y\n3,Cid,,\n"),
    }
    with pytest.raises(
        unseen.InputError, match=r"'Label' is a name, not a class.* 'timeset', 'team'.*--label-column"
    ):
        unseen.read(**sources, labels=sources["nodes"])
    data = unseen.read(**sources, labels=sources["nodes"], label_column="team")
    assert data.graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert data.labels is not None
    assert data.labels.to_pandas().tolist() == ["x", "y", None]
