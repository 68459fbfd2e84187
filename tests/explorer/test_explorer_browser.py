"""The explorer page in a real browser: what a reader sees, clicks and types, and that nothing leaves the page."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from unseen.data.labels_file import QUESTION_COLUMNS, read_text
from unseen.data.labels_text import Answer
from unseen.explorer import Subject


def test_loads_without_complaint_and_asks_for_nothing(browser: Any) -> None:
    browser.load()  # the browser's own first page is gone now
    browser.driver.get_log("performance")
    browser.complaints()
    browser.load()
    for key in ("label", "predicted", "probability", "group", "truth"):
        browser.fill("#colouring", key, "change")
    for tab in ("classes", "questions", "selection", "labels", "node"):
        browser.click(f"#tab-{tab}")
    browser.click("#show-table")
    assert browser.complaints() == []
    events = [json.loads(entry["message"])["message"] for entry in browser.driver.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert asked == [browser.page.as_uri()]
    assert not any(e["method"] == "Network.webSocketCreated" for e in events)


def test_the_policy_stops_what_would_leave_the_page(browser: Any) -> None:
    browser.load()
    broken = browser.driver.execute_async_script(
        """
        const done = arguments[0], seen = new Set();
        document.addEventListener("securitypolicyviolation", (event) => seen.add(event.effectiveDirective));
        fetch("http://127.0.0.1:9/").catch(() => {});
        const image = new Image(); image.src = "http://127.0.0.1:9/a.png";
        const script = document.createElement("script"); script.textContent = "window.hacked = 3";
        document.body.append(script);
        document.body.setAttribute("style", "color: red");
        setTimeout(() => done([...seen].sort()), 300);
        """
    )
    assert broken == ["connect-src", "img-src", "script-src-elem", "style-src-attr"]
    assert browser.js("return window.hacked") is None
    browser.complaints()


def test_hostile_names_are_shown_as_text(browser: Any, subject: Subject) -> None:
    browser.load()
    assert browser.text("h1") == "What do <b>the labels</b> miss?"
    ids = [str(node) for node in subject.embedding.node_ids[:9]]
    browser.click("#show-table")
    assert browser.texts("#table-view td .id")[:9] == [node or "(empty id)" for node in ids]
    browser.click("#show-map")
    for node in ids[:2]:
        browser.click_node(node)
        assert browser.js("return document.querySelector('#panel-node h2').textContent") == node
    browser.click_node(ids[0])
    assert browser.text("#panel-node .chips") == "<b>red</b>"
    assert "</script>one" in browser.text("#panel-node dl")
    browser.click("#tab-classes")
    assert browser.text("#comparison").startswith("In truth, ")
    assert browser.texts("#panel-classes .chip") == ["</script>", "blue"]
    assert browser.text(".card h3") == "<u> (new-1)"
    assert "no error rate" in browser.text(".card .soft")
    assert browser.text("#settle") == "The number is not certain. 2 answers would show it:"
    browser.click("#tab-labels")
    assert "<i>Few labels.</i>" in browser.text("#panel-labels")
    assert "Trust it <b>a little</b>." in browser.text("#panel-labels")
    assert browser.js("return window.hacked") is None
    foreign = "return document.querySelectorAll('img, iframe, object, #panel b, #legend b').length"
    assert browser.js(foreign) == 0


@pytest.mark.parametrize("tail", ["#canvas", "#webgl"])
def test_points_are_drawn_and_found_by_a_click(browser: Any, tail: str) -> None:
    browser.load(tail)
    if tail == "#webgl" and browser.js("return document.documentElement.dataset.renderer") != "webgl":
        pytest.skip("this browser has no WebGL 2")
    assert browser.js("return document.documentElement.dataset.renderer") == tail[1:]
    browser.fill("#colouring", "label", "change")
    # Read the pixels where a node is, and where none can be.
    pixels = browser.js(
        """
        const canvas = document.getElementById("points"), copy = document.createElement("canvas");
        copy.width = canvas.width; copy.height = canvas.height;
        const pen = copy.getContext("2d", { willReadFrequently: true }), box = canvas.getBoundingClientRect();
        explorer.drawingTime(1);
        pen.drawImage(canvas, 0, 0);
        const [x, y] = explorer.where("node30");
        const ratio = canvas.width / box.width;
        const on = (v, from) => Math.round((v - from) * ratio);
        const at = (x, y) => [...pen.getImageData(on(x, box.left), on(y, box.top), 1, 1).data];
        return [at(x, y), at(box.left + 3, box.top + 3)];
        """
    )
    assert np.abs(np.subtract(pixels[0][:3], (0x17, 0x46, 0xA2))).max() < 45  # the first class, light theme
    assert pixels[1][3] == 0 or pixels[1][:3] == [0xFD, 0xFC, 0xFA]
    browser.click_node("node30")
    assert browser.text("#panel-node h2") == "node30"
    assert "Neighbours (2)" in browser.text("#panel-node")
    near = browser.js(
        "return [...document.querySelector('#panel-node .links').querySelectorAll('.id')].map((e) => e.textContent)"
    )
    assert near == ["node27", "node33"]
    assert browser.complaints() == [] or tail == "#webgl"


def test_a_node_tells_its_probability_and_why(browser: Any) -> None:
    browser.load()
    browser.click_node("node29")
    told = browser.text("#panel-node")
    assert "90 %" in told
    assert "new-1: </script>, blue" in told
    assert "No labelled class fits it" in told
    assert "Of 2 neighbours, none have a label and 2 probably belong to a missing class" in told


def test_search_by_keys_alone(browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.load()
    browser.js("document.getElementById('search').focus()")
    browser.press("NODE5")
    assert browser.js("return document.querySelectorAll('#matches [role=option]').length") == 10
    active = "return document.getElementById('search').getAttribute('aria-activedescendant')"
    assert browser.js(active) == "match-0"
    browser.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    assert browser.text("#panel-node h2") == "node52"
    browser.until("return explorer.view.scale > 2 * explorer.view.fit")
    browser.js("const f = document.getElementById('search'); f.value = ''; f.focus()")
    browser.press("no such node")
    assert browser.text("#matches") == browser.text("#status") == "nothing found for 'no such node'"
    browser.press(Keys.ENTER, Keys.ESCAPE)
    assert browser.js("return document.getElementById('matches').hidden") is True


def test_the_map_and_tabs_by_keys_alone(browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.load()
    browser.js("document.getElementById('stage').focus()")
    start = browser.js("return {...explorer.view}")
    browser.press("+", Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    moved = browser.js("return {...explorer.view}")
    assert moved["scale"] == pytest.approx(1.4 * start["scale"])
    assert moved["x"] > start["x"]
    assert moved["y"] > start["y"]
    browser.press("0", Keys.ENTER)
    assert browser.js("return explorer.view.scale") == start["scale"]
    assert browser.text("#panel-node h2") != ""
    browser.press(Keys.ESCAPE)
    assert "Click a node" in browser.text("#panel-node")
    browser.js("document.getElementById('tab-node').focus()")
    browser.press(Keys.ARROW_RIGHT)
    assert browser.js("return document.activeElement.id") == "tab-classes"
    assert browser.js("return document.getElementById('panel-node').hidden") is True
    # Tab reaches every control once, and comes out at the end again.
    reached = browser.js(
        """
        return [...document.querySelectorAll("button, select, input, [tabindex]")]
          .filter((e) => e.tabIndex >= 0 && e.checkVisibility()).map((e) => e.id || e.textContent)
        """
    )
    controls = "search colouring show-map show-table theme stage zoom-in tab-classes"
    assert set(controls.split()) <= set(reached)


def test_the_legend_switches_classes_off_and_on(browser: Any) -> None:
    browser.load()
    browser.fill("#colouring", "truth", "change")
    three = "#legend [data-code='2']"
    assert browser.text(three).split() == ["three", "40"]
    browser.click(three)
    pressed = "return document.querySelector(arguments[0]).getAttribute('aria-pressed')"
    assert browser.js(pressed, three) == "false"
    browser.click_node("node29")
    assert "Click a node" in browser.text("#panel-node") or browser.text("#panel-node h2") != "node29"
    browser.click("#show-table")
    assert "80 nodes; 40 switched off" in browser.text(".pager")
    browser.click("#legend [data-code='none']")
    assert "0 nodes" in browser.text(".pager")
    browser.click("#legend [data-code='all']")
    assert "120 nodes" in browser.text(".pager")


def test_the_table_sorts_and_turns_pages(browser: Any) -> None:
    browser.load()
    browser.click("#show-table")
    assert browser.text("#pages") == "Page 1 of 3"
    browser.click(".pager button:last-of-type")
    assert browser.text("#pages") == "Page 2 of 3"
    column = browser.js(
        "return [...document.querySelectorAll('#table-view th')].findIndex((e) => e.innerText.startsWith('Prob'))"
    )
    browser.click(f"#sort-{column}")
    rows = "document.querySelectorAll('#table-view tbody tr')"
    cells = f"return [...{rows}].map((e) => e.children[arguments[0]].innerText)"
    assert browser.js(cells, column)[:40] == ["90 %"] * 40
    assert browser.js("return document.querySelectorAll('th[aria-sort=descending]').length") == 1
    assert browser.js("return document.activeElement.id") == f"sort-{column}"
    browser.click("#sort-1")
    names = browser.js(cells, 1)
    assert [name for name in names if name.startswith("node")][:3] == ["node9", "node10", "node11"]
    browser.click("#table-view tbody .link")
    assert browser.text("#panel-node h2") == names[0]


def test_suggested_nodes_come_back_unchanged(browser: Any, subject: Subject, tmp_path: Path) -> None:
    browser.load()
    browser.click("#tab-questions")
    browser.click("#export")
    path = browser.saved("suggested-nodes.csv")
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [*QUESTION_COLUMNS]
    asked = [str(s.node) for s in subject.suggestions]
    assert [row[0] for row in rows] == asked
    assert {"@sum", "-1+1"} <= set(asked)  # what a spreadsheet would take for a formula
    lines = path.read_bytes().splitlines(keepends=True)
    (tmp_path / "asked.csv").write_bytes(b"".join(line for line in lines if not line.startswith(b",")))
    asked.remove("")  # which no file can hold
    text = read_text(tmp_path / "asked.csv")
    for node in asked:
        text.set_answer(node, Answer(("blue",)))
    (tmp_path / "answered.csv").write_bytes(text.data())
    labels = unseen.read_labels(tmp_path / "answered.csv", subject.graph)
    assert labels.to_lists() == {node: ["blue"] for node in asked}
    odd = [["=1", "=1", '\tsay "hi"', "# x", None, 0.5, " y "]]
    wanted = ["=1", "'=1", '\tsay "hi"', "# x", "", "0.5", " y "]
    line = browser.js("return explorer.csv(arguments[0], [1])", odd)
    assert next(csv.reader([line], strict=True)) == wanted
