"""Parts of the page in a real browser: relations and types, pictures, addresses, columns of a table, many points."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

import unseen
from unseen.explorer import Subject, write_explorer

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def go_to(browser: Any, node: str) -> None:
    """Find a node by the search field."""
    browser.js(
        "const f = document.getElementById('search'); f.value = arguments[0]; f.dispatchEvent(new Event('input'));"
        "f.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))",
        node,
    )


def test_neighbours_by_relation_and_nodes_of_other_types(
    browser: Any, authors: unseen.Graph, tmp_path: Path
) -> None:
    graph = authors
    labels = unseen.Labels.from_values(["x", "y"], ["ann", "bob"])
    subject = Subject(unseen.Embedding(PLACES, graph.node_ids[:3]), graph, labels)
    page = write_explorer(subject, tmp_path / "page.html", title="Authors")
    browser.load("", page)
    browser.click("#show-table")
    assert "3 nodes" in browser.text(".pager")  # the type that has labels
    browser.click("#legend [data-code='type-1']")
    assert "7 nodes" in browser.text(".pager")
    browser.click("#show-map")
    go_to(browser, "bob")
    relations = ["writes paper (1)", "knows author (1)", "knows − author (1)"]
    assert browser.texts("#panel-node h3")[:4] == ["Neighbours (3)", *relations]
    assert "Nearest in vector space" in browser.texts("#panel-node h3")
    go_to(browser, "p1")
    assert "cites → paper (2)" in browser.texts("#panel-node h3")
    assert "Nearest in vector space" not in browser.texts("#panel-node h3")  # papers have no vectors
    go_to(browser, "p2")
    assert "cites ← paper (1)" in browser.texts("#panel-node h3")
    go_to(browser, "venue")  # of a type that was not shown
    assert browser.text("#panel-node h2") == "venue"
    assert browser.js("return document.querySelector(\"[data-code='type-2']\").ariaPressed") == "true"
    assert browser.complaints() == []


@pytest.mark.parametrize("tail", ["#canvas", "#webgl"])
def test_the_map_is_saved_as_a_picture(browser: Any, tail: str) -> None:
    browser.load(tail)
    for name in ("map.png", "map.svg"):
        browser.saved(name, wait=False).unlink(missing_ok=True)
    browser.click("#save-png")
    assert browser.saved("map.png").read_bytes().startswith(b"\x89PNG")
    assert browser.saved("map.png").stat().st_size > 5000
    browser.click("#save-svg")
    root = ElementTree.fromstring(browser.saved("map.svg").read_text("utf-8"))
    tags = [element.tag.split("}")[1] for element in root.iter()]
    assert tags.count("use") == 120
    names = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "new-1: </script>, blue" in names
    assert {"href", "fill"} <= set(next(e for e in root.iter() if e.tag.endswith("use")).attrib)
    browser.complaints()  # WebGL in software says that reading its picture is slow


def test_the_address_holds_the_selection(browser: Any) -> None:
    browser.load()
    browser.js("const f = document.getElementById('search'); f.value = 'node1'")
    browser.click("#select-matches")
    chosen = browser.js("return explorer.selected()")
    assert len(chosen) == 30
    address = browser.js("return location.hash")
    assert len(address) < 80  # runs of rows take little room
    browser.load(address)
    assert sorted(browser.js("return explorer.selected()")) == sorted(chosen)
    browser.load("#rows=zzzzz-zz.%00.-1")  # of another page, or damaged
    assert browser.js("return explorer.selected()") == []


def test_columns_of_a_table_are_colourings(browser: Any, subject: Subject, tmp_path: Path) -> None:
    ids = [str(node) for node in subject.embedding.node_ids]
    table = pa.table(
        {"node": ids, "<b>kind</b>": ["<i>odd</i>" if k % 2 else "even" for k in range(len(ids))]}
    )
    page = write_explorer(replace(subject, attributes=table), tmp_path / "page.html", title="t")
    browser.load("", page)
    browser.fill("#colouring", "column <b>kind</b>", "change")
    assert "<i>odd</i>60" in browser.js("return document.getElementById('legend').textContent")
    browser.click_node("node29")
    assert "<i>odd</i>" in browser.text("#panel-node dl")
    assert browser.complaints() == []


def test_names_on_the_map_never_overlap_and_more_appear_as_one_zooms(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    group = np.arange(1200) % 40
    places = rng.normal(0, 1, (40, 2))[group] + rng.normal(0, 0.03, (1200, 2))
    labels = unseen.Labels.from_values([f"a class of number {k}" for k in group])
    page = write_explorer(Subject(unseen.Embedding(places), labels=labels), tmp_path / "page.html", title="t")
    browser.load("", page)
    stage = browser.js("return document.getElementById('stage').getBoundingClientRect().toJSON()")
    buttons = browser.js(
        "return [...document.querySelectorAll('#map-view [role=group]')].map((e) => e.getBoundingClientRect().toJSON())"
    )
    boxes = []
    for b in buttons:
        wide, tall = b["width"] / 2, b["height"] / 2
        boxes.append({"x": b["x"] - stage["x"] + wide, "y": b["y"] - stage["y"] + tall})
        boxes[-1] |= {"wide": wide, "tall": tall}
    shown = []
    for _ in range(3):
        names = browser.js("return explorer.names()")
        for a, b in itertools.chain(itertools.combinations(names, 2), itertools.product(names, boxes)):
            apart = (
                abs(a["x"] - b["x"]) >= a["wide"] + b["wide"] or abs(a["y"] - b["y"]) >= a["tall"] + b["tall"]
            )
            assert apart, (a, b)
        shown.append({name["text"] for name in names})
        browser.click("#zoom-in")
    assert 5 < len(shown[0]) < 40
    assert shown[1] - shown[0]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "most", "megabytes"), [(100_000, 200, 4), (1_000_000, 2000, 40)])
def test_many_points_load_pan_and_are_drawn_in_time(
    browser: Any, tmp_path: Path, n: int, most: int, megabytes: float
) -> None:
    rng = np.random.default_rng(0)
    codes = sp.csr_array((np.ones(n, dtype=bool), np.arange(n) % 9, np.arange(n + 1)), (n, 9))
    labels = unseen.Labels(codes, tuple("abcdefghi"), np.arange(n))
    subject = Subject(unseen.Embedding(rng.random((n, 2))), labels=labels)
    page = write_explorer(subject, tmp_path / "big.html", title="Many nodes")
    assert page.stat().st_size < megabytes * 1e6
    browser.driver.set_page_load_timeout(120)
    browser.load("#canvas", page)
    # milliseconds; the machine may be busy with something else, so the page may try for a while
    browser.until("explorer.view.x += 0.01; return explorer.drawingTime(1) < arguments[0]", most)
    browser.js("document.getElementById('tab-node').click()")
    assert "nearest in vector space are not listed" in browser.text("#panel-node")
    assert browser.js("return document.getElementById('subtitle').textContent").startswith(f"{n:,} nodes")
