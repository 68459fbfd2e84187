"""Checks with LadybugDB, in the environment of ladybug.txt: the page on graph databases, from export to import."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import ladybug
import pyarrow.parquet as pq
import pytest
from blocks import run_page

import unseen

DATA = unseen.planted_partition(200, 4, random_state=0)
SPLIT = unseen.completely_imbalanced_split(DATA.labels, label_rate=0.3, unseen=["c0"], random_state=0)
TEAMS = SPLIT.seen_labels.to_lists()
EDGES = [(f"p{a}", f"p{b}") for a, b in zip(*DATA.graph.adjacency.nonzero(), strict=True) if a < b]
PEOPLE = [(f"p{k}", "".join(TEAMS.get(k, [""])), 20 + k % 50) for k in range(200)]


def write_rows(path: str, header: str, rows: list[tuple[Any, ...]]) -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(header.split(","))
        writer.writerows(rows)


def fill_database() -> None:
    """Make the database of the page, and its export."""
    write_rows("a.csv", "name,team,age", PEOPLE)
    write_rows("b.csv", "from,to", EDGES)
    with ladybug.Database("people.lbug") as database, ladybug.Connection(database) as connection:
        connection.execute("CREATE NODE TABLE Person(name STRING PRIMARY KEY, team STRING, age INT64)")
        connection.execute("CREATE REL TABLE Knows(FROM Person TO Person)")
        connection.execute("COPY Person FROM 'a.csv' (header=true)")
        connection.execute("COPY Knows FROM 'b.csv' (header=true)")
        connection.execute("EXPORT DATABASE 'dump' (format='parquet')")


def write_neo4j_files() -> None:
    """Write what Neo4j and APOC write of these people."""
    write_rows("edges.csv", "src,dst", EDGES)
    write_rows("labels.csv", "node,label", [row[:2] for row in PEOPLE])
    write_rows("people.nodes.Person.csv", ":ID,team,age:int,:LABEL", [(*row, "Person") for row in PEOPLE])
    write_rows(
        "people.relationships.KNOWS.csv", ":START_ID,:END_ID,:TYPE", [(*row, "KNOWS") for row in EDGES]
    )
    nodes = [(name, ":Person", age, team, "", "", "") for name, team, age in PEOPLE]
    known = [("", "", "", "", *ends, "KNOWS") for ends in EDGES]
    write_rows("all.csv", "_id,_labels,age,team,_start,_end,_type", [*nodes, *known])
    text = Path("all.csv").read_text("utf-8")
    Path("all.csv").write_text(
        text.replace('""', ""), encoding="utf-8"
    )  # APOC writes what is missing without quotes


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fill_database()
    write_neo4j_files()
    names = run_page("graph-databases.md")
    rows = pq.read_table("classes.parquet").to_pylist()
    assert "new-1" in {row["class"] for row in rows}
    stored = names["connection"].execute("MATCH (p:Person) RETURN p.name, p.unseen_class").get_all()
    assert dict(map(tuple, stored)) == {row["node"]: row["class"] for row in rows}
    expected = {name: team for name, team, _ in PEOPLE if team}
    for path in ("classes.csv", "classes-3.csv", "classes-4.csv"):
        with Path(path).open(encoding="utf-8") as file:
            own = list(csv.DictReader(file))
        assert len(own) == 200
        assert {row["node"]: row["class"] for row in own if row["status"] == "labelled"} == expected
