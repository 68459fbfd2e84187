"""The explorer page in a real browser: themes, motion, a phone, readers with other needs, and many points."""

from __future__ import annotations

from typing import Any

import pytest


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
        document.querySelector("#tab-found").click(); document.querySelector(".card .link").click();
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


def test_a_phone_has_no_sideways_scroll(browser: Any) -> None:
    emulate = browser.driver.execute_cdp_cmd
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    emulate("Emulation.setDeviceMetricsOverride", phone)
    try:
        browser.load()
        wide = "return document.documentElement.scrollWidth"
        assert browser.js(wide) <= 390
        for tab in ("node", "labels", "next", "found"):
            browser.js("document.getElementById(arguments[0]).click()", f"tab-{tab}")
            assert browser.js(wide) <= 390
        browser.js("document.getElementById('show-table').click()")
        assert browser.js(wide) <= 390
        small = browser.js(
            "return [...document.querySelectorAll('button')].filter((e) => e.checkVisibility())"
            ".filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.textContent)"
        )
        assert small == []
        browser.js("document.getElementById('show-map').click()")
        for part in ("stage", "panel-found"):  # map and panel are on one screen
            box = browser.js(
                "return document.getElementById(arguments[0]).getBoundingClientRect().toJSON()", part
            )
            assert box["height"] > 150
            assert box["bottom"] <= 844
    finally:
        emulate("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, theme: str) -> None:
    browser.load()
    if theme == "dark":
        browser.click("#theme")
    browser.start_axe()
    found = []
    for step in ("", "#tab-chosen", "#tab-found", "#tab-labels", "#tab-next", "#show-table"):
        if step:
            browser.click(step)
        else:
            browser.click_node("node29")
        found += browser.driver.execute_async_script(
            "const done = arguments[0]; axe.run().then((r) => done(r.violations.map("
            "(v) => [v.id, v.impact, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))])))"
        )
    assert found == []
