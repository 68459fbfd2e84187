"""`unseen predict`: a class for every node, as a file or on the standard output."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import networkx as nx
import pyarrow.parquet as pq
import pytest
from pyarrow import csv as pacsv

import unseen
from unseen.errors import InputError


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
    assert {row["class"][:4] for row in rows if row["status"] == "candidate"} == {"new-"}
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
    ran = cli("predict", files / "edges.csv", "--labels", files / "labels.csv", code=0)
    assert "nothing to predict" in ran.err
    rows = "a b,x,1,labelled", "007,x|y,1,labelled", "ü,y,1,labelled"
    assert ran.out.splitlines() == ["node,class,probability,status", *rows]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shop.db", "shop.sqlite", "shop.duckdb"])
def test_a_database_gets_a_table_and_keeps_its_own(
    name: str, planted: list[Any], cli: Callable, tmp_path: Path
) -> None:
    """The graph is in the database, too, and is read from it again."""
    edges, labels = (pacsv.read_csv(tmp_path / file) for file in ("edges.csv", "labels.csv"))
    path = tmp_path / name
    connect: Any = duckdb.connect if name.endswith("duckdb") else sqlite3.connect
    with contextlib.closing(connect(str(path))) as database:
        for table, rows in (("edges", edges), ("labels", labels)):
            columns = ", ".join(f'"{column}" VARCHAR' for column in rows.column_names)
            database.execute(f"CREATE TABLE {table} ({columns})")
            marks = ", ".join("?" * rows.num_columns)
            database.executemany(
                f"INSERT INTO {table} VALUES ({marks})",
                [list(map(str, row.values())) for row in rows.to_pylist()],
            )
        database.commit()
    words = ["predict", path, "--labels", path, "--seed", "0"]
    for _ in range(2):  # the second time the table is replaced, and it is not taken for labels
        cli(*words, "-o", path, code=0)
    with contextlib.closing(connect(str(path))) as database:
        rows = database.execute("SELECT * FROM unseen_predictions").fetchall()
        assert len(database.execute("SELECT * FROM edges").fetchall()) == edges.num_rows
    printed = list(csv.reader(io.StringIO(cli(*words).out)))[1:]
    assert [(node, name, status) for node, name, _, status in rows] == [
        (node, name, status) for node, name, _, status in printed
    ]
    shares = [(float(row[2]), float(line[2])) for row, line in zip(rows, printed, strict=True)]
    assert all(one == pytest.approx(other, rel=1e-5) for one, other in shares)


@pytest.mark.slow
def test_graphml_gets_attributes_and_keeps_its_own(planted: list[Any], cli: Callable, tmp_path: Path) -> None:
    words = ["predict", *planted[1:]]
    assert cli(*words, "-o", tmp_path / "new.graphml").code == 0
    written = nx.read_graphml(tmp_path / "new.graphml")
    rows = list(csv.DictReader(io.StringIO(cli(*words).out)))
    assert {node: data["unseen_class"] for node, data in written.nodes(data=True)} == {
        row["node"]: row["class"] for row in rows
    }
    given = dict(csv.reader((tmp_path / "labels.csv").read_text().splitlines()))
    theirs = nx.read_edgelist(tmp_path / "edges.csv", delimiter=",")
    theirs.remove_nodes_from(["src", "dst"])
    nx.set_node_attributes(theirs, {node: name for node, name in given.items() if node in theirs}, "team")
    nx.set_node_attributes(theirs, 7, "age")
    nx.write_graphml(theirs, tmp_path / "people.graphml")
    words = ["predict", tmp_path / "people.graphml", "--label-column", "team", "--seed", "0"]
    cli(*words, "-o", tmp_path / "out.graphml", code=0)
    back = nx.read_graphml(tmp_path / "out.graphml")
    assert {data["age"] for _, data in back.nodes(data=True)} == {7}
    assert set(back.edges) == set(nx.read_graphml(tmp_path / "people.graphml").edges)
    statuses = nx.get_node_attributes(back, "unseen_status")
    assert len(statuses) == len(theirs)
    assert {node for node, status in statuses.items() if status == "labelled"} == {
        node for node, data in theirs.nodes(data=True) if "team" in data
    }
    assert "would be overwritten" in cli(*words, "-o", tmp_path / "people.graphml").err


@pytest.mark.parametrize("name", ["new.sqlite3", "new.duckdb"])
def test_a_database_that_is_not_there_is_made(name: str, files: Path, cli: Callable) -> None:
    words = ["predict", files / "edges.csv", "--labels", files / "labels.csv", "-o", files / name]
    before = {path.name for path in files.iterdir()}
    assert cli(*words).code == 0
    assert {path.name for path in files.iterdir()} - before == {name}
    connect: Any = duckdb.connect if name.endswith("duckdb") else sqlite3.connect
    with contextlib.closing(connect(str(files / name))) as database:
        rows = database.execute("SELECT node, class FROM unseen_predictions").fetchall()
    assert rows == [("a b", "x"), ("007", "x|y"), ("ü", "y")]


def test_places_that_take_no_table(files: Path, cli: Callable) -> None:
    words = ["predict", files / "edges.csv", "--labels", files / "labels.csv"]
    (files / "x.db").write_text("no database, but some text")
    assert "neither a SQLite nor a DuckDB database" in cli(*words, "-o", files / "x.db").err
    assert (files / "x.db").read_text() == "no database, but some text"
    with contextlib.closing(sqlite3.connect(files / "locked.db")) as database:
        database.execute("CREATE VIEW unseen_predictions AS SELECT 1")
        database.commit()
    done = cli(*words, "-o", files / "locked.db", code=1)
    assert "cannot write the table 'unseen_predictions' into" in done.err
    cli("discover", *words[1:], "-o", files / "y.graphml", code=1)


def test_predictions_become_attributes_of_networkx(tmp_path: Path) -> None:
    data = unseen.planted_partition(200, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
    found = unseen.discover(data.graph, split.seen_labels, random_state=0)
    theirs = data.graph.to_networkx()
    found.save_predictions(theirs)
    table = found.predictions()
    assert [theirs.nodes[k]["unseen_class"] for k in range(200)] == table["class"].to_pylist()
    assert [theirs.nodes[k]["unseen_probability"] for k in range(200)] == table["probability"].to_pylist()
    found.save_predictions(tmp_path / "a.graphml", data.graph)
    back = nx.read_graphml(tmp_path / "a.graphml")
    assert nx.get_node_attributes(back, "unseen_class") == dict(
        zip(map(str, range(200)), table["class"].to_pylist(), strict=True)
    )
    with pytest.raises(InputError, match="give the graph"):
        found.save_predictions(tmp_path / "b.graphml")
    with pytest.raises(InputError, match="lacks nodes"):
        found.save_predictions(nx.path_graph(3))
