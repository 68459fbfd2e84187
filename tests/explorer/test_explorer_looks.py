"""The explorer page in a real browser: themes, motion, a phone, readers with other needs, and many points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

TABS = ("classes", "questions", "selection", "labels", "node")
OVERLAPS = """
    const seen = [...document.querySelectorAll("header button, header input, header select, #progress button, "
      + "#map-view button, #tabs button")].filter((e) => e.checkVisibility());
    const boxes = seen.map((e) => [e.textContent || e.id, e.getBoundingClientRect()]);
    return boxes.flatMap(([a, one], k) => boxes.slice(k + 1).filter(([, two]) => one.left < two.right - 1
      && two.left < one.right - 1 && one.top < two.bottom - 1 && two.top < one.bottom - 1).map(([b]) => [a, b]));
"""
CUT_PLACEHOLDERS = """
    const pen = document.createElement("canvas").getContext("2d");
    return [...document.querySelectorAll("input[placeholder]")].filter((e) => e.checkVisibility()).filter((e) => {
      const style = getComputedStyle(e);
      pen.font = style.font;
      return pen.measureText(e.placeholder).width
        > e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    }).map((e) => e.placeholder);
"""
LOW_CONTRAST = """
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = (rgb) => rgb.slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
    const ground = (e) => {
      for (let at = e; at; at = at.parentElement) {
        const colour = parse(getComputedStyle(at).backgroundColor);
        if (colour.length < 4 || colour[3] === 1) return colour;
      }
      return [255, 255, 255];
    };
    const low = [];
    for (const button of document.querySelectorAll("button, select")) {
      if (!button.checkVisibility()) continue;
      for (const e of [button, ...button.querySelectorAll("span, kbd")]) {
        if (!e.textContent.trim()) continue;
        const style = getComputedStyle(e), [a, b] = [light(parse(style.color)), light(ground(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5 || style.opacity !== "1") low.push([e.textContent, ratio.toFixed(2)]);
      }
    }
    return low;
"""


def test_dark_and_light(browser: Any) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    emulate = browser.driver.execute_cdp_cmd
    emulate("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    try:
        browser.load()
        dark = browser.js(ground)
        assert browser.js("return document.documentElement.dataset.theme") == "dark"
        browser.click("#theme")
        assert browser.js("return document.documentElement.dataset.theme") == "light"
        assert browser.js(ground) != dark
    finally:
        emulate("Emulation.setEmulatedMedia", {"features": []})


def test_no_motion_for_readers_who_want_none(browser: Any) -> None:
    emulate = browser.driver.execute_cdp_cmd
    jump = """
        document.getElementById("show-table").click(); document.getElementById("show-map").click();
        document.querySelector("#tab-classes").click(); document.querySelector(".card .link").click();
        return explorer.view.scale / explorer.view.fit
    """
    browser.load()
    assert browser.js(jump) < 1.5  # on its way
    emulate(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    try:
        browser.load()
        assert browser.js(jump) == pytest.approx(2.5)
    finally:
        emulate("Emulation.setEmulatedMedia", {"features": []})


@contextmanager
def screen(browser: Any, width: int, height: int) -> Iterator[None]:
    """Show the page on a screen of this size, that of a phone where it is narrow."""
    emulate = browser.driver.execute_cdp_cmd
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    emulate("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        emulate("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", [390, 320])
def test_on_a_phone_nothing_overlaps_or_is_cut_off(browser: Any, width: int) -> None:
    with screen(browser, width, 844):
        browser.load()
        for tab in TABS:
            browser.js("document.getElementById(arguments[0]).click()", f"tab-{tab}")
            assert browser.js("return document.documentElement.scrollWidth") <= width
            assert browser.js(OVERLAPS) == []
            assert browser.js(CUT_PLACEHOLDERS) == []
            small = browser.js(
                "return [...document.querySelectorAll('button')].filter((e) => e.checkVisibility())"
                ".filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.textContent)"
            )
            assert small == []
            rows = browser.js(
                "return new Set([...document.querySelectorAll('#tabs button')].map((e) => e.offsetTop)).size"
            )
            assert rows == 1
        boxes = [
            browser.js("return document.getElementById(arguments[0]).getBoundingClientRect().toJSON()", part)
            for part in ("stage", "panel-node")
        ]
        assert all(box["height"] > 150 and box["bottom"] <= 844 for box in boxes)  # both are on one screen
        browser.js("document.getElementById('show-table').click()")
        assert browser.js("return document.documentElement.scrollWidth") <= width


def test_every_button_has_contrast_in_every_state(browser: Any) -> None:
    """At least 4.5 : 1 (WCAG 2.2, 1.4.3), also where the pointer is over a button and where it is disabled."""
    cdp = browser.driver.execute_cdp_cmd
    for theme in ("light", "dark"):
        browser.load()
        if theme == "dark":
            browser.click("#theme")
        browser.click_node("node30")
        cdp("DOM.enable", {})
        cdp("CSS.enable", {})
        for tab in TABS:
            browser.click(f"#tab-{tab}")
            root = cdp("DOM.getDocument", {"depth": -1})["root"]["nodeId"]
            buttons = cdp("DOM.querySelectorAll", {"nodeId": root, "selector": "button, select, summary"})
            for states in ([], ["hover"], ["active", "hover"], ["focus", "focus-visible"]):
                for node in buttons["nodeIds"]:
                    cdp("CSS.forcePseudoState", {"nodeId": node, "forcedPseudoClasses": states})
                assert browser.js(LOW_CONTRAST) == [], (theme, tab, states)
        cdp("CSS.disable", {})


def test_there_is_one_primary_action_at_a_time(browser: Any) -> None:
    browser.load()
    shown = "return [...document.querySelectorAll('.primary')].filter((e) => e.checkVisibility()).length"
    browser.click_node("node29")
    for tab in TABS:
        browser.click(f"#tab-{tab}")
        assert browser.js(shown) == (0 if tab in ("labels", "selection") else 1), tab


def test_messages_do_not_move_the_map_and_a_missing_name_is_asked_for(browser: Any) -> None:
    browser.load()
    place = "return JSON.stringify(document.getElementById('map-view').getBoundingClientRect())"
    before = browser.js(place)
    browser.fill("[data-key='name-new-1']", "")
    browser.click("[data-key='accept-new-1']")
    assert "Type a name for new-1 first." in browser.text("#panel-classes")
    assert browser.js("return document.activeElement.dataset.key") == "name-new-1"
    browser.press("blue", "\ue007")
    browser.says("told", "accepted as blue, saved")
    assert browser.js(place) == before
    assert "1 answer since the last update" in browser.text("#facts")
    assert "Out of date: 1 answer is not included yet." in browser.text("#panel-classes .stale")
    browser.click("#undo")
    browser.until("return document.querySelector('.stale') === null")
    assert browser.js(place) == before


def test_hints_are_dismissed_for_good(browser: Any) -> None:
    browser.load()
    browser.js("localStorage.clear()")
    browser.load()
    hints = "return [...document.querySelectorAll('.hint')].map((e) => e.id)"
    assert sorted(browser.js(hints)) == ["hint-classes", "hint-map", "hint-questions"]
    browser.click("#hint-map button")
    browser.click("#hint-classes button")
    browser.click("#tab-questions")
    browser.click("#hint-questions button")
    assert browser.js(hints) == []
    browser.load()
    assert browser.js(hints) == []


def test_zoom_has_limits(browser: Any) -> None:
    browser.load()
    zoom = "for (let k = 0; k < 40; k += 1) document.getElementById(arguments[0]).click(); "
    assert browser.js(zoom + "return explorer.view.scale / explorer.view.fit", "zoom-in") <= 40
    assert browser.js(zoom + "return explorer.view.scale / explorer.view.fit", "zoom-out") >= 0.8


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, theme: str) -> None:
    browser.load()
    browser.click_node("node29")
    steps = ("#tab-node", "#tab-selection", "#tab-classes", "#tab-labels", "#tab-questions", "#show-table")
    assert browser.barriers(theme, *steps) == []
