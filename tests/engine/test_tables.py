"""Ids are numbered in the order of first appearance; integers and texts meet as texts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from unseen.engine.database import Database
from unseen.engine.tables import Tables


def _tables(database: Database, folder: Path) -> Tables:
    intake: Any = SimpleNamespace(features=None)  # nothing is read: rows come from the tests
    return Tables(database, intake, folder, n_bytes=1)


def _order(folder: Path, edges: list[tuple[list[Any], list[Any]]], **ids: list[Any]) -> list[Any]:
    with Database(folder, memory=10**8, threads=1) as database:
        tables = _tables(database, folder)
        for src, dst in edges:
            tables.add("edges", pa.array(src), pa.array(dst))
        for role, column in ids.items():
            tables.add(role, pa.array(column))  # type: ignore[arg-type]
        tables.number()
        names: list[Any] = database.table("select id from numbers order by number")["id"].to_pylist()
        return names


def test_nodes_come_first_then_edges_features_and_labels(tmp_path: Path) -> None:
    edges = [(["b", "a"], ["c", "b"]), (["e"], ["a"])]
    order = _order(tmp_path, edges, labels=["l", "a"], features=["f", "c"], nodes=["n", "e"])
    assert order == ["n", "e", "b", "c", "a", "f", "l"]


@pytest.mark.parametrize(
    ("edges", "nodes", "expected"),
    [
        ([([7, 8], [8, 9])], [9], [9, 7, 8]),
        ([([7, 8], [8, 9]), (["x", "007"], ["7", "y"])], [9], ["9", "7", "8", "x", "007", "y"]),
        ([(["7", "07"], ["8", "x"])], [8], ["8", "7", "07", "x"]),
    ],
)
def test_integers_meet_texts_by_their_text(
    tmp_path: Path, edges: list[tuple[list[Any], list[Any]]], nodes: list[int], expected: list[Any]
) -> None:
    assert _order(tmp_path, edges, nodes=nodes) == expected
