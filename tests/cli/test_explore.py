"""`unseen explore`: from files, data sets and vectors of any tool to one page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from unseen.data.write import write_graph, write_part
from unseen.explorer import layout


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "EARLY", 10)
    monkeypatch.setattr(layout, "LATE", 10)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Four planted classes in files, with labels for half of three of them."""
    data = unseen.planted_partition(160, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.5, unseen=["c3"], random_state=0)
    write_graph(data.graph, tmp_path / "edges.csv")
    write_part(data.graph, "features", tmp_path / "features.csv")
    write_part(split.seen_labels, "labels", tmp_path / "labels.csv")
    return tmp_path


def held(page: Path) -> dict[str, Any]:
    text = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL).group(1)
    return json.loads(text)


@pytest.mark.slow
def test_files_to_a_page_with_findings(cli: Callable, planted: Path) -> None:
    page = planted / "page.html"
    words = ["explore", planted / "edges.csv", "--features", planted / "features.csv"]
    ran = cli(*words, "--labels", planted / "labels.csv", "--budget", 5, "-o", page, "--json", code=0)
    told = json.loads(ran.out)
    assert told["output"] == str(page)
    assert told["bytes"] == page.stat().st_size
    assert len(told["suggestions"]) == 5
    assert str(page) in ran.err
    shown = held(page)
    assert shown["title"] == "edges.csv: what do the labels miss?"
    assert len(shown["ids"]) == 160
    assert shown["truth"] is None
    assert [c["name"] for c in shown["found"]["classes"]] == [c["name"] for c in told["classes"]]
    assert shown["audit"]["n_labelled"] == len((planted / "labels.csv").read_text().splitlines()) - 1
    assert "viz" not in ran.err


@pytest.mark.slow
def test_hidden_labels_are_shown_to_the_reader_alone(cli: Callable, planted: Path) -> None:
    data = unseen.planted_partition(160, 4, random_state=0)
    write_part(data.labels, "labels", planted / "all.csv")
    page = planted / "page.html"
    words = ["explore", planted / "edges.csv", "--labels", planted / "all.csv", "-o", page]
    ran = cli(*words, "--unseen", "c3", "--label-rate", 0.5, "--budget", 0, "--title", "Mine", code=0)
    shown = held(page)
    assert shown["title"] == "Mine"
    assert shown["suggestions"] is None
    assert "c3" not in shown["labels"]["names"]
    assert "c3" in shown["truth"]["names"]
    ran = cli(*words, code=0)
    assert "all 160 nodes have a label, so there is nothing to discover" in ran.err
    assert held(page)["found"] is None


def test_vectors_of_any_tool(cli: Callable, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"n{i},{x:.3f},{y:.3f}" for i, (x, y) in enumerate(rng.normal(size=(30, 2)))]
    (tmp_path / "vectors.csv").write_text("node,x,y\n" + "\n".join(rows) + "\n")
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"n{i},a\n" for i in range(30)))
    page = tmp_path / "page.html"
    ran = cli("explore", "--embedding", tmp_path / "vectors.csv", "-o", page, code=0)
    shown = held(page)
    assert shown["ids"] == [f"n{i}" for i in range(30)]
    assert shown["labels"] is None
    assert shown["edges"] is None
    words = f"explore --embedding {tmp_path}/vectors.csv --labels {tmp_path}/labels.csv -o {page}"
    ran = cli(*words.split(), code=0)
    assert held(page)["labels"]["names"] == ["a"]
    (tmp_path / "edges.csv").write_text("src,dst\nn0,n1\nn1,n2\nn2,other\n")
    ran = cli("explore", tmp_path / "edges.csv", "--embedding", tmp_path / "vectors.csv", "-o", page, code=0)
    assert held(page)["ids"] == ["n0", "n1", "n2"]
    assert "27 nodes are not in the graph" in ran.err
    assert "1 node is not in the embedding" in ran.err


def test_titles_come_from_the_first_file_that_has_the_column(cli: Callable, planted: Path) -> None:
    texts = planted / "texts.csv"
    texts.write_text("key,name,words\n" + "".join(f"{i},Node {i},red {i}\n" for i in range(0, 160, 2)))
    page = planted / "page.html"
    words = ["explore", planted / "edges.csv", "--text", texts, "--node-column", "key", "-o", page]
    assert cli(*words, "--title-column", "name").code == 0
    shown = held(page)
    titles = dict(zip(shown["ids"], shown["titles"], strict=True))
    assert (titles["4"], titles["5"]) == ("Node 4", "")
    missing = cli(*words, "--title-column", "nam", code=1)
    assert "the column 'nam'" in missing.err
