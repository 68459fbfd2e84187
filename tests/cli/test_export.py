"""`unseen export`: the map for other tools, opened by them."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from environments import require_environment, serve_tool
from unseen.explorer.atlas import FLAGS


def fetch(address: str, query: str | None = None) -> Any:
    """Return the JSON of an address, or the rows of a query that is posted to it."""
    body = None if query is None else json.dumps({"type": "json", "sql": query}).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read())


@pytest.mark.slow
def test_embedding_atlas_opens_the_map(planted: list[Any], cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "map.parquet"
    done = cli("export", "atlas", *planted[1:], "-o", path, code=0)
    assert f"embedding-atlas {path} {FLAGS}" in done.err
    table = pq.read_table(path)
    assert table.column_names == [
        *("node", "x", "y", "text", "neighbors", "label", "class", "probability", "status")
    ]
    assert table.num_rows == 200
    assert "new-1" in table["class"].to_pylist()
    assert [each is None for each in table["label"].to_pylist()] == [
        status != "labelled" for status in table["status"].to_pylist()
    ]
    near = table["neighbors"].to_pylist()
    assert all(
        k not in each["ids"] and each["distances"] == sorted(each["distances"]) for k, each in enumerate(near)
    )
    places = np.column_stack([table["x"], table["y"]])
    gap = np.linalg.norm(places[[each["ids"] for each in near]] - places[:, None], axis=2)
    assert np.median(gap) < np.median(np.linalg.norm(places - places.mean(axis=0), axis=1)) / 2

    commands = require_environment("atlas").parent
    words = f"{path} {FLAGS} --host=127.0.0.1 --port={{port}}"
    command = [str(commands / "embedding-atlas"), *words.split()]
    with serve_tool([*command, "--no-auto-port", "--duckdb=server"], tmp_path) as address:
        shown = fetch(f"{address}/data/metadata.json")["props"]["data"]
        assert shown["projection"] == {"x": "x", "y": "y"}
        assert (shown["text"], shown["neighbors"]) == ("text", "neighbors")
        counts = fetch(
            f"{address}/data/query", "SELECT class, count(*)::INT AS n FROM dataset GROUP BY class"
        )
        assert {row["class"]: row["n"] for row in counts} == {
            each["values"]: each["counts"] for each in table["class"].value_counts().to_pylist()
        }
