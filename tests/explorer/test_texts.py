"""Texts of nodes: in the data of the page, and on the page in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from unseen.explorer import Subject, build_page, write_explorer
from unseen.explorer.content import MAX_TEXT_BYTES, as_json, shorten_texts

IMAGE = "<img src=x onerror='window.hacked = 1'> and a <b>leash</b>"
HEBREW = "רצועה לכלב גדול, אדום, עם ידית רכה. "
LONG = "Supercalifragilistic" * 200
TEXTS = {1: HEBREW * 60, 2: IMAGE, 3: LONG, 4: "A brown Dog", 29: f"{'word ' * 50}platypus\nsecond line"}


@pytest.fixture(scope="module")
def subject_with_texts(subject: Subject) -> Subject:
    """The nodes of `subject`; the texts of some are hostile, long, or written from right to left."""
    texts = [TEXTS.get(i, f"text of the node in row {i}") for i in range(subject.graph.n_nodes)]
    texts[9] = "  "
    return replace(subject, graph=subject.graph.with_features(subject.graph.features, texts=texts))


def test_the_page_holds_the_text_of_each_node_drawn(subject_with_texts: Subject) -> None:
    held = json.loads(as_json(build_page(subject_with_texts, title="t", max_nodes=60)))
    row = {str(node): i for i, node in enumerate(subject_with_texts.graph.node_ids)}
    texts = subject_with_texts.graph.texts
    assert held["texts"] == [texts[row[node]].strip() for node in held["ids"]]
    assert len(held["texts"]) == 60


def test_nodes_of_other_types_have_their_texts_too(authors: unseen.Graph) -> None:
    texts = [f"about {node}" for node in authors.node_ids]
    graph = unseen.Graph.from_relations(authors.relations, authors.node_ids, authors.node_types, texts=texts)
    vectors = unseen.Embedding(np.eye(3), ["ann", "bob", "cid"])
    page = build_page(Subject(vectors, graph), title="t")
    assert page["texts"] == [f"about {node}" for node in page["ids"]]
    assert len(page["texts"]) > 3


@pytest.mark.parametrize("texts", [None, ["", " ", ""]])
def test_a_page_without_texts_holds_none(texts: list[str] | None) -> None:
    graph = unseen.Graph(np.ones((3, 3)) - np.eye(3), texts=texts)
    assert build_page(Subject(unseen.Embedding(np.eye(3)), graph), title="t")["texts"] is None


@pytest.mark.parametrize("letter", ["a", "é", "\n"])
def test_texts_that_do_not_fit_are_shortened_with_a_note(letter: str) -> None:
    notes: list[str] = []
    texts = np.array([f"b{letter * 99_999}b"] * 1000 + ["short"] * 1000, dtype=object)
    shown = shorten_texts(texts, notes)
    length = len(shown[0]) - 1
    assert shown[0] == f"b{letter * (length - 1)}…"
    assert shown[1000:] == ["short"] * 1000
    assert notes == [f"The texts are too long for a page: it shows the first {length:,} characters of each."]
    assert 0.95 * MAX_TEXT_BYTES < len(as_json({"texts": shown})) < 1.01 * MAX_TEXT_BYTES


@pytest.fixture(scope="module")
def page(subject_with_texts: Subject, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_explorer(subject_with_texts, tmp_path_factory.mktemp("texts") / "page.html", title="Texts")


@pytest.fixture
def phone(browser: Any) -> Iterator[None]:
    size = {"width": 320, "height": 640, "deviceScaleFactor": 2, "mobile": True}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def question(browser: Any) -> str:
    """Return the text that the question card begins with."""
    return str(
        browser.js(
            "return document.querySelector('#panel-questions .question').firstElementChild.textContent"
        )
    )


def test_a_question_begins_with_the_whole_text_and_markup_stays_text(browser: Any, page: Path) -> None:
    browser.load(page=page)
    browser.click("#tab-questions")
    for text in ((HEBREW * 60).strip(), IMAGE, LONG):
        assert question(browser) == text
        browser.press("s")
    for tab in ("classes", "questions", "selection", "labels", "node"):
        browser.click(f"#tab-{tab}")
    browser.click("#show-table")
    assert browser.js("return document.querySelectorAll('img, #panel b, #table-view b').length") == 0
    assert browser.js("return window.hacked") is None
    assert browser.complaints() == []


def test_every_list_of_nodes_shows_texts(browser: Any, page: Path) -> None:
    browser.load(page=page)
    browser.click_node("node32")
    assert browser.text("#panel-node .text") == "text of the node in row 32"
    neighbours = browser.text("#panel-node .links")
    assert "node29" in neighbours
    assert "word word" in neighbours
    assert browser.js(
        "return [...document.querySelectorAll('#panel-node .excerpt')].find((e) => e.title.includes('platypus')).title"
    ).endswith("platypus\nsecond line")
    assert "text of the node in row 32" in browser.text("#tip")
    browser.click("#tab-classes")
    assert "text of the node in row 11" in browser.text("#panel-classes .card")
    browser.click("#tab-questions")
    assert "A brown Dog" in browser.text("#panel-questions .question .nearby")
    browser.click("#show-table")
    assert "A brown Dog" in browser.text("#table-view tbody")
    tall = (
        "return Math.max(...[...document.querySelectorAll('td .link')].slice(20).map((e) => e.clientHeight))"
    )
    assert browser.js(tall) < 40  # ids are not broken to make room for texts
    browser.click("#select-rows")
    assert "text of the node in row 20" in browser.text("#panel-selection")


def test_search_finds_ids_first_then_texts(browser: Any, page: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    def search(text: str) -> list[str]:
        browser.js("const f = document.getElementById('search'); f.value = ''; f.focus()")
        browser.press(text)
        return list(
            browser.js("return [...document.querySelectorAll('#matches li')].map((e) => e.innerText)")
        )

    browser.load(page=page)
    assert search("dog") == ["-1+1\nA brown Dog"]
    browser.press(Keys.ENTER)
    assert browser.text("#panel-node .text") == "A brown Dog"
    (hit,) = search("platypus")  # far from the beginning of the text, and still shown
    assert hit.startswith("node29\n…")
    assert "platypus" in hit
    assert search("node")[0].startswith("node9")
    assert search("cat") == ["nothing found for 'cat'"]
    search("brown dog")
    browser.click("#select-matches")
    assert browser.js("return explorer.selected()") == ["-1+1"]


def test_long_texts_stay_within_a_small_phone(browser: Any, page: Path, phone: None) -> None:
    browser.load(page=page)
    for step in ("tab-questions", "tab-classes", "tab-node", "show-table", "select-rows", "show-map"):
        browser.js("document.getElementById(arguments[0]).click()", step)
        assert browser.js("return document.documentElement.scrollWidth") <= 320, step
        wide = browser.js(
            "return [...document.querySelectorAll('#tabpanels > div')].filter((e) => e.scrollWidth > e.clientWidth)"
            ".map((e) => e.id)"
        )
        assert wide == [], step
    browser.js("document.getElementById('tab-questions').click()")
    assert browser.js("return document.querySelector('#panel-questions .text').clientHeight") < 160


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_texts(browser: Any, page: Path, theme: str) -> None:
    browser.load(page=page)
    steps = ("#tab-selection", "#tab-classes", "#tab-questions", "#show-table", "#search")
    assert browser.barriers(theme, *steps) == []


def test_titles_stand_for_ids(browser: Any, subject_with_texts: Subject, tmp_path: Path) -> None:
    titles = {f"node{i}": f"Title <b>{i}</b>" for i in range(20, 60)}
    page = write_explorer(replace(subject_with_texts, titles=titles), tmp_path / "page.html", title="t")
    browser.load(page=page)
    browser.js("document.getElementById('search').focus()")
    browser.press("title <b>29", "\ue007")
    assert browser.text("#panel-node h2") == "Title <b>29</b>"
    assert "node29" in browser.text("#panel-node dl")
    assert "Title <b>26</b>" in browser.text("#panel-node")  # a neighbour
    browser.click("#show-table")
    assert {"Title <b>20</b>", "node19"} <= set(browser.texts("#table-view td .id"))
    browser.fill("#search", "dog!")
    assert browser.text("#matches") == "nothing found for 'dog!'"
    assert browser.complaints() == []
