"""Selecting and labelling in a real browser, on a page from disk: by mouse, by keys, by touch-sized targets."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from unseen.data.read import read_label_list
from unseen.discovery.suggest import Suggestion
from unseen.explorer import Subject, write_explorer


def drag(browser: Any, points: list[tuple[float, float]]) -> None:
    """Draw on the map, from point to point of the screen."""
    from selenium.webdriver.common.actions.action_builder import ActionBuilder

    builder = ActionBuilder(browser.driver, duration=20)
    pointer = builder.pointer_action
    pointer.move_to_location(*map(round, points[0])).pointer_down()
    for x, y in points[1:]:
        pointer.move_to_location(round(x), round(y))
    pointer.pointer_up()
    builder.perform()


def around(browser: Any, nodes: list[str], margin: float = 12) -> list[tuple[float, float]]:
    """Return a rectangle around nodes, as the corners of a lasso."""
    places = [browser.js("return explorer.where(arguments[0])", node) for node in nodes]
    (left, top), (right, bottom) = (
        [f(place[k] for place in places) + sign * margin for k in (0, 1)] for f, sign in ((min, -1), (max, 1))
    )
    return [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]


def chosen(browser: Any) -> set[str]:
    return set(browser.js("return explorer.selected()"))


def value(browser: Any, node: str) -> Any:
    """Return the labels of a node and, where it has one, its status."""
    labels, status, *_ = browser.js(
        "return explorer.values[JSON.parse(document.getElementById('data').textContent).ids.indexOf(arguments[0])]",
        node,
    )
    return [*labels, status] if status else labels


def cluster(subject: Subject, k: int) -> list[str]:
    return [str(node) for node in subject.embedding.node_ids[k::3]]


def test_a_lasso_and_a_rectangle_select_what_lies_inside(browser: Any, subject: Subject) -> None:
    browser.load()
    third = cluster(subject, 2)
    browser.click("#mode-lasso")
    drag(browser, around(browser, third))
    assert chosen(browser) == set(third)
    assert browser.text("#selection-count") == "40 nodes selected"
    assert browser.js("return document.querySelectorAll('#panel-selection li.card').length") == 30
    browser.click("#mode-box")
    box = around(browser, cluster(subject, 0))
    drag(browser, [box[0], box[2]])
    assert chosen(browser) == set(cluster(subject, 0))
    browser.click("#mode-move")
    before = browser.js("return explorer.view.x")
    drag(browser, [box[0], box[2]])
    assert browser.js("return explorer.view.x") != before
    assert browser.complaints() == []


def test_clicks_with_shift_search_neighbours_groups_and_rows_select(browser: Any, subject: Subject) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    browser.load()
    browser.click_node("node29")
    for node in ("node32", "node35", "node32"):  # the last one leaves it again
        ActionChains(browser.driver).key_down(Keys.SHIFT).perform()
        browser.click_node(node)
        ActionChains(browser.driver).key_up(Keys.SHIFT).perform()
    assert chosen(browser) == {"node29", "node35"}
    browser.js(
        "document.getElementById('search').value = 'node11'; document.getElementById('select-matches').click()"
    )
    assert chosen(browser) == {"node11", *(f"node{k}" for k in range(110, 120))}
    browser.click_node("node30")
    assert chosen(browser) == set()
    browser.js(
        "[...document.querySelectorAll('#panel-node button')]"
        ".find((b) => b.textContent.startsWith('Select with')).click()"
    )
    assert chosen(browser) == {"node27", "node30", "node33"}
    browser.click("#tab-classes")
    browser.click("[data-key='select-new-1']")
    assert len(chosen(browser)) == 40
    browser.click("#show-table")
    browser.js("document.querySelectorAll('#table-view tbody input')[0].click()")
    assert len(chosen(browser)) in (39, 41)
    browser.click("#select-rows")
    assert len(chosen(browser)) > 41
    address = browser.js("return location.hash")
    again = chosen(browser)
    browser.load(address)
    assert chosen(browser) == again


def test_a_selection_is_labelled_undone_and_downloaded(browser: Any, subject: Subject) -> None:
    browser.load()
    third = cluster(subject, 2)
    browser.click("#mode-lasso")
    drag(browser, around(browser, third))
    browser.js("document.getElementById('selection-class').focus()")
    browser.press("mine, too", "\ue007")
    browser.says("told", "40 nodes: mine, too, saved")
    assert value(browser, third[-1]) == ["mine, too"]
    assert "80 of 120 nodes labelled" in browser.text("#facts")
    assert chosen(browser) == set()
    browser.click("#undo")
    browser.until("return document.getElementById('undo').disabled")
    assert value(browser, third[-1]) == []
    browser.click("#tab-questions")
    browser.press("n")
    browser.press("x|y", "\ue007")
    browser.says("alarm", "cannot be called")
    browser.js("document.getElementById('questions-class').value = ''")
    browser.js("document.getElementById('questions-class').focus()")
    browser.press("blue", "\ue007")
    browser.says("told", "blue, saved")
    assert browser.js("return document.getElementById('alarm').hidden")
    browser.js("document.activeElement.blur()")
    browser.press("s")
    browser.press("u")
    browser.press("1")
    browser.says("facts", "4 answers since")
    (browser.downloads / "labels.csv").unlink(missing_ok=True)
    browser.click("#save-labels")
    with browser.saved("labels.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["node", "label", "status", "drawn"]
    labelled = {subject.labels.node_ids[row] for row in subject.labels.labelled}
    asked = [str(s.node) for s in subject.suggestions if s.node not in labelled]
    answers = {row[0]: row[1:] for row in rows if row[0] in asked[:4]}
    assert answers[asked[0]] == ["blue", "", "score"]
    assert [answers[asked[1]], answers[asked[2]]] == [["", "skipped", "score"], ["", "unknown", "score"]]
    assert answers[asked[3]][0] in ("</script>one", "two", "blue")


def test_groups_are_renamed_merged_split_and_accepted_in_part(browser: Any) -> None:
    browser.load()
    browser.click("#tab-classes")
    browser.click("[data-key='split-new-1']")
    assert len(browser.texts("#panel-classes article h3")) == 2
    focus = browser.js("return document.activeElement.dataset.key")
    assert focus == "split-new-1"  # it is where it was
    browser.fill("[data-key='merge-new-1']", "new-1b", "change")
    assert len(browser.texts("#panel-classes article h3")) == 1
    key = "new-1 + new-1b"
    browser.fill(f"[data-key='least-{key}']", "0.95")
    assert browser.text(f"[data-key='accept-{key}']").startswith("Accept 0 of ")
    browser.fill(f"[data-key='least-{key}']", "0.8")
    browser.fill(f"[data-key='name-{key}']", "found")
    browser.click(f"[data-key='accept-{key}']")
    browser.says("told", "accepted as found, saved")
    assert value(browser, "node29") == ["found"]
    assert "found" in browser.text("#legend")


@pytest.mark.parametrize("where", ["search", "questions-class"])
def test_shortcuts_never_fire_in_fields(browser: Any, where: str) -> None:
    browser.load()
    browser.click("#tab-questions")
    browser.js("document.getElementById(arguments[0]).focus()", where)
    browser.press("1", "s", "u", "\ue003")
    assert "since" not in browser.text("#facts")
    assert browser.js("return document.getElementById(arguments[0]).value", where) == "1s"


def test_what_the_lasso_does_is_done_by_keys_alone(browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.load()
    browser.js("document.getElementById('search').focus()")
    browser.press("node11", Keys.TAB, Keys.ENTER)
    assert len(chosen(browser)) == 11
    assert browser.text("#status").startswith("11 nodes selected")
    browser.js("document.getElementById('panel-selection').focus()")
    browser.press("1")
    browser.says("facts", "1 answer since")
    browser.press(Keys.BACKSPACE)
    browser.until("return document.getElementById('undo').disabled")


def test_doubtful_labels_are_a_queue(browser: Any, subject: Subject, tmp_path: Path) -> None:
    table = pa.table(
        {
            "node": ["node10", "node12", "node16"],
            "label": ["two", "</script>one", "two"],
            "likely_class": ["</script>one", "two", "</script>one"],
            "probability": [0.9, 0.8, 0.7],
        }
    )
    page = write_explorer(replace(subject, doubts=table), tmp_path / "page.html", title="t")
    browser.load("", page)
    browser.click("#tab-labels")
    browser.click("#doubts")
    assert "Labelled two, but </script>one fits better (90 %)" in browser.text(".question")
    assert browser.text("#panel-questions .lead") == "Suspicious labels: 3 left"
    browser.js("document.activeElement.blur()")
    browser.press("1")  # the class that fits better
    browser.until("return document.querySelector('.question .id').textContent === 'node12'")
    assert value(browser, "node10") == ["</script>one", "confirmed"]
    browser.press("s")  # stays as it is
    browser.until("return document.querySelector('.question .id').textContent === 'node16'")
    assert value(browser, "node12") == ["</script>one"]
    browser.press("2")  # the label it has
    browser.until("return document.querySelector('#panel-questions .lead').textContent.startsWith('All')")
    assert value(browser, "node16") == ["two", "confirmed"]
    (browser.downloads / "labels.csv").unlink(missing_ok=True)
    browser.click("#save-labels")
    with browser.saved("labels.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["node"]: row for row in csv.DictReader(file)}
    assert [[*rows[node].values()] for node in ("node10", "node16", "node12")] == [
        ["node10", "</script>one", "two", "confirmed"],
        ["node16", "two", "", "confirmed"],
        ["node12", "</script>one", "", ""],
    ]
    assert browser.complaints() == []


def test_random_questions_are_marked_and_their_answers_prove_something(
    browser: Any, subject: Subject, tmp_path: Path
) -> None:
    pool = int(subject.labels.n_nodes - len(subject.labels.labelled))
    nodes = [node for node in subject.discovery.nodes["node"].to_pylist() if node.startswith("node")][:30]
    questions = [
        Suggestion(node, "random", 0.5, None, None, drawn="random", pool=pool - k)
        for k, node in enumerate(nodes)
    ]
    page = write_explorer(replace(subject, suggestions=questions), tmp_path / "page.html", title="t")
    browser.load("", page)
    browser.click("#tab-labels")
    assert "No random question was answered" in browser.text("#certificate")
    browser.click("#tab-questions")
    assert browser.text("#reason") == "A random node: answers to these tell when you may stop."
    for _ in nodes:
        browser.press("1")
    browser.says("facts", "30 answers since")
    assert "All questions are answered." in browser.text("#panel-questions")
    (browser.downloads / "labels.csv").unlink(missing_ok=True)
    browser.click("#save-labels")
    read = read_label_list(browser.saved("labels.csv"))
    assert read.certificate().n_answers == 30
    assert read.certificate().at_most < pool
