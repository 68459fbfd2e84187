"""The whole loop on debian, in a browser, with the server: look, name, answer, update; what was said is in the file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import unseen
from labelling import Running
from scenarios.strangers import make_shop
from unseen.data.write import write_graph
from waiting import wait_for

COMMAND = ["-c", "from unseen.cli import main; main()", "label"]
FILES = ["edges.csv", "--features", "features.parquet", "--labels", "labels.csv", "--no-browser"]


def in_file(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = [(row["node"], row["label"] or row.get("status") or "") for row in csv.DictReader(file)]
    assert len({node for node, _ in rows}) == len(rows)  # no node of debian has two labels
    return {node: [label] for node, label in rows}


def open_app(browser: Any, app: Running) -> None:
    browser.driver.get("about:blank")
    browser.driver.get(app.url)
    browser.until("return document.documentElement.dataset.ready === 'yes'")


def told(browser: Any, text: str) -> None:
    browser.says("told", text)


def look(browser: Any, name: str) -> list[str]:
    """Return the colour and the shape of a class in the legend."""
    return browser.js(
        "const b = [...document.querySelectorAll('#legend button')].find((e) => e.children[1]?.textContent === "
        "arguments[0]); const p = b.querySelector('path'); return [p.getAttribute('fill'), p.getAttribute('d')]",
        name,
    )


@pytest.mark.slow
@pytest.mark.processes
def test_the_loop_from_start_to_second_start(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.actions.action_builder import ActionBuilder
    from selenium.webdriver.common.keys import Keys

    data = unseen.load_dataset("debian")
    split = unseen.completely_imbalanced_split(
        data.labels, label_rate=0.3, unseen=["mail", "sound"], random_state=0
    )
    write_graph(data.graph, tmp_path, labels=split.seen_labels, tables=True)
    before = (tmp_path / "labels.csv").read_bytes()
    expected = in_file(tmp_path / "labels.csv")
    read = unseen.read(
        tmp_path / "edges.csv", features=tmp_path / "features.parquet", labels=tmp_path / "labels.csv"
    )
    found = unseen.discover(read.graph, read.labels, random_state=0)

    with Running([*COMMAND, *FILES], tmp_path) as app:
        open_app(browser, app)
        browser.complaints()
        browser.click("#tab-classes")
        browser.js("document.querySelector(\"[data-key='name-new-1']\").focus()")
        browser.press("sound")
        browser.click("[data-key='accept-new-1']")
        told(browser, "new-1 accepted as sound, saved")
        new = [row for row in found.nodes.to_pylist() if row["group"] == "new-1"]
        expected |= {row["node"]: ["sound"] for row in new if row["unseen_probability"] >= 0.5}

        browser.click("#mode-lasso")
        x, y = browser.js("return explorer.where(arguments[0])", found.classes[1].members[0])
        builder = ActionBuilder(browser.driver, duration=20)
        builder.pointer_action.move_to_location(round(x) - 14, round(y) - 14).pointer_down()
        for right, down in ((14, -14), (14, 14), (-14, 14), (-14, -14)):
            builder.pointer_action.move_to_location(round(x) + right, round(y) + down)
        builder.pointer_action.pointer_up()
        builder.perform()
        chosen = browser.js("return explorer.selected()")
        assert chosen
        browser.js("document.getElementById('selection-class').focus()")
        browser.press("mail", Keys.ENTER)
        told(browser, "mail, saved")
        expected |= {node: ["mail"] for node in chosen}

        browser.click("#tab-questions")
        for number, keys in enumerate((["1"], ["n"], ["u"], ["s"], ["2"])):
            node = browser.text("#panel-questions .question h3 .id")
            first, second = browser.js(
                "return [1, 2].map((k) => document.querySelector(`[data-key='questions-${k}'] .id`).textContent)"
            )
            browser.press(*keys)
            if keys == ["n"]:
                browser.press("mail", Keys.ENTER)
            browser.says("facts", f" {number + 3} answers")
            browser.js("document.activeElement.blur()")
            expected[node] = [{"1": first, "n": "mail", "u": "unknown", "s": "skipped", "2": second}[keys[0]]]
        browser.press(Keys.BACKSPACE)
        told(browser, "The last answer is undone, saved")
        del expected[node]

        looks = [look(browser, name) for name in ("database", "games")]
        assert browser.js("return document.querySelector('#panel-classes .stale') !== null")
        browser.click("#update")
        wait_for(lambda: app.ask("state")[1]["update"]["number"] == 1, "the update")
        told(browser, "Updated: ")
        assert "since the last update" not in browser.text("#facts")
        assert browser.js("return document.querySelector('.stale')") is None
        assert browser.js("return document.getElementById('colouring').value") in ("overview", "predicted")
        assert [look(browser, name) for name in ("database", "games")] == looks
        assert browser.js("return document.querySelector('.question h3 .id').textContent") not in expected
        assert browser.complaints() == []
        second_window = app.ask("state")[1]
        assert dict(second_window["changes"]).keys() == expected.keys()
    assert in_file(tmp_path / "labels.csv") == expected
    assert (tmp_path / "labels.csv.bak").read_bytes() == before

    with Running([*COMMAND, *FILES], tmp_path) as app:
        open_app(browser, app)
        labelled = sum(v[0] not in ("skipped", "unknown") for v in expected.values())
        assert f"{labelled:,} of 4,852" in browser.text("#facts")
        browser.until("return !document.getElementById('undo').disabled")  # with the first state
    assert in_file(tmp_path / "labels.csv") == expected


def test_two_windows_see_each_others_answers(browser: Any, tmp_path: Path) -> None:
    """One window is the browser, the other speaks to the server itself."""
    edges = ["src,dst", *(f"n{k},n{k + 1}" for k in range(30))]
    (tmp_path / "edges.csv").write_text("\n".join(edges) + "\n")
    (tmp_path / "labels.csv").write_text("node,label\nn1,red\nn2,blue\n")
    with Running([*COMMAND, "edges.csv", "--labels", "labels.csv", "--no-browser"], tmp_path) as app:
        open_app(browser, app)
        app.ask("answers", {"node": "n9", "label": "green"})
        browser.until(
            "return document.getElementById('facts').textContent.startsWith('3 of 31 nodes labelled')"
        )
        assert "green" in browser.js("return JSON.stringify(explorer.values)")
        wait_for(lambda: app.ask("state")[1]["folded"], "the answer in the file")
        (tmp_path / "labels.csv").write_text("node,label\nn1,red\n")
        browser.until("return document.getElementById('outside') !== null")
        browser.click("#outside button")
        browser.until("return document.documentElement.dataset.ready === 'yes' && document.getElementById('facts')"
                      ".textContent.startsWith('2 of 31 nodes labelled')")  # fmt: skip
        app.end()
        browser.click("#tab-questions")
        browser.js("document.activeElement.blur()")
        browser.press("1")
        browser.says("alarm", "the server does not answer")
        browser.complaints()
    assert in_file(tmp_path / "labels.csv") == {"n1": ["red"], "n9": ["green"]}


@pytest.mark.slow
@pytest.mark.processes
def test_a_shop_is_labelled_to_the_end_with_the_keyboard_alone(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    shop = make_shop(tmp_path, n=80)
    words = [str(shop.edges), "--labels", str(shop.labels), *shop.extra, "--no-browser", "--budget", "20"]

    def go_to(*ids: str) -> None:
        """Press Tab until one of these elements has the focus."""
        for _ in range(200):
            if browser.js("return document.activeElement.id") in ids:
                return
            browser.press(Keys.TAB)
        raise AssertionError(ids)

    def shown() -> tuple[list[str], int]:
        return browser.js(
            "return [[...document.querySelectorAll('.question .answer .id')].map((e) => e.textContent), "
            "Number(document.getElementById('facts').textContent.split(' ')[0])]"
        )

    with Running([*COMMAND, *words], tmp_path) as app:
        open_app(browser, app)
        go_to("tab-classes")
        browser.press(Keys.ARROW_RIGHT)  # the questions
        for number in range(1, 20):
            while browser.js("return document.querySelector('.question') !== null"):
                node = browser.text(".question h3 .id")
                (names, before), name = shown(), shop.truth[node]
                browser.press(*([str(names.index(name) + 1)] if name in names else ["n", name, Keys.ENTER]))
                browser.until(
                    "return Number(document.getElementById('facts').textContent.split(' ')[0]) > arguments[0]",
                    before,
                )
                if browser.js("return document.activeElement.tagName") == "INPUT":
                    browser.press(Keys.ESCAPE)
            assert browser.js("return [...document.querySelectorAll('.primary')].map((e) => e.id)") == [
                "update-next"
            ]
            if shown()[1] == 80:
                break
            go_to("update-next")
            browser.press(Keys.ENTER)
            browser.until(
                "return explorer.updates() === arguments[0] || document.querySelector('.question')", number
            )
        assert shown()[1] == 80
    with shop.labels.open(encoding="utf-8", newline="") as file:
        assert {row["product_id"]: row["category"] for row in csv.DictReader(file)} == shop.truth
