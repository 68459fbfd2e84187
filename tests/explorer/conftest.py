"""A small graph with hostile names and made-up findings, and a browser, for everything about the explorer page."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

import unseen
from unseen.discovery.groups import ClassCount, FoundClass
from unseen.discovery.guarantees import Guarantee
from unseen.discovery.result import Discovery
from unseen.discovery.suggest import Suggestion
from unseen.discovery.summary import LabelCoverage
from unseen.discovery.validation import HiddenClass, SelfTest
from unseen.explorer import Subject, write_explorer
from waiting import DEADLINE, wait_for

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    '=HYPERLINK("http://127.0.0.1/", "click")',
    "@sum",
    "-1+1",
    "<!--<script>",
    "a\u2028b\u2029c&amp;",
    'ü, "quoted"\nline',
    "",
)
N = 120
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
AXE = Path(sys.prefix) / "axe.min.js"
FLAGS = """
--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync
--disable-component-update --disable-dev-shm-usage --enable-unsafe-swiftshader --window-size=1366,900
"""


@pytest.fixture(scope="session")
def subject() -> Subject:
    """Three clusters of 40 nodes in two columns, which are drawn as they are; nobody labelled the third."""
    rng = np.random.default_rng(0)
    ids = [*HOSTILE, *(f"node{i}" for i in range(len(HOSTILE), N))]
    cluster = np.arange(N) % 3
    vectors = np.array([[0, 0], [6, 0], [3, 5]])[cluster] + rng.normal(0, 0.5, (N, 2))
    src, dst = np.arange(N - 3), np.arange(3, N)
    features = np.eye(3)[cluster]
    named = {"features": features, "feature_names": ["<b>red</b>", "green", "</script>"]}
    graph = unseen.Graph.from_edges([ids[i] for i in src], [ids[j] for j in dst], nodes=ids, **named)
    names = np.array(["</script>one", "two", "three"])
    truth = unseen.Labels.from_values(names[cluster].tolist(), ids)
    labels = truth.keep(np.arange(0, N, 2), without=["three"])
    hidden = np.setdiff1d(np.arange(N), labels.labelled)
    p = np.where(cluster[hidden] == 2, 0.9, 0.1)
    group = ["new-1" if c == 2 else None for c in cluster[hidden]]
    listed = [ids[i] for i in hidden]
    likely = [None if c == 2 else names[c] for c in cluster[hidden]]
    nodes = pa.table({"node": listed, "unseen_probability": p, "likely_class": likely, "group": group})
    members = tuple(node for node, g in zip(listed, group, strict=True) if g)
    found = Discovery(
        nodes,
        (FoundClass("<u>", 40, ("</script>", "blue"), "words", members, "two", 0.5, 0.9, 0.9, "new-1", 0.8),),
        ClassCount(1, 1, 2, ((0, 0.1), (1, 0.5), (2, 0.3))),
        SelfTest((HiddenClass("two", 20, 0.9),), 0.9, 0.1, 0.05, (), "Trust it <b>a little</b>."),
        LabelCoverage(
            (("</script>one", 20), ("two", 20)), N, 40, 0.9, 0.5, 0.5, 40.0, ("<i>Few labels.</i>",)
        ),
        unseen.Embedding(vectors, ids),
        pa.table({"node": nodes.column("node"), "no_class_fits": p, "neighbourhood": [None] * len(p)}),
        labels,
        Guarantee(False, "No error rate was computed."),
        questions=members[:2],
    )
    asked, why = (*HOSTILE[:6], *members)[:12], "typical of new-1 (blue)"
    suggestions = [Suggestion(node, why, 0.9, None, "new-1") for node in asked]
    return Subject(unseen.Embedding(vectors, ids), graph, labels, truth, found, suggestions)


@pytest.fixture(scope="session")
def authors() -> unseen.Graph:
    """Three authors, four papers that they write, of which one cites two, and a venue; one pair is at odds."""
    ids = ["ann", "bob", "cid", "p1", "p2", "p3", "p4", "venue", "alone"]
    types = ["author"] * 3 + ["paper"] * 4 + ["venue", "venue"]
    shape = (9, 9)

    def matrix(*entries: tuple[int, int, float]) -> sp.csr_array:
        rows, columns, weights = zip(*entries, strict=True)
        return sp.csr_array((weights, (rows, columns)), shape)

    relations = [
        unseen.Relation("writes", "author", "paper", matrix((0, 3, 1), (0, 4, 1), (1, 4, 1), (2, 5, 1))),
        unseen.Relation("cites", "paper", "paper", matrix((3, 4, 1), (3, 6, 1)), directed=True),
        unseen.Relation("knows", "author", "author", matrix((0, 1, 1), (1, 2, -1))),
        unseen.Relation("at", "paper", "venue", matrix((6, 7, 1))),
    ]
    return unseen.Graph.from_relations(relations, ids, types)


def missing(what: str) -> None:
    """Skip on a user's machine; fail where the browser has been promised."""
    if os.environ.get("UNSEEN_BROWSER") == "required":
        pytest.fail(f"{what}, and UNSEEN_BROWSER=required")
    pytest.skip(what)


class Browser:
    """One browser for all tests; every test loads the page afresh."""

    def __init__(self, driver: Any, page: Path, downloads: Path) -> None:
        self.driver, self.page, self.downloads = driver, page, downloads

    def load(self, tail: str = "", page: Path | None = None) -> None:
        self.driver.get("about:blank")  # a changed fragment alone would not load the page again
        self.complaints()  # those of the page before, whose server may be gone
        self.driver.get((page or self.page).as_uri() + tail)
        self.until("return document.documentElement.dataset.ready === 'yes'")

    def js(self, code: str, *args: object) -> Any:
        return self.driver.execute_script(code, *args)

    def until(self, code: str, *args: object) -> Any:
        values: list[Any] = []
        wait_for(lambda: bool(values.append(self.js(code, *args)) or values[-1]), code)
        return values[-1]

    def text(self, selector: str) -> str:
        return str(self.js("return document.querySelector(arguments[0]).innerText", selector))

    def says(self, element: str, text: str) -> None:
        """Wait until an element, by its id, has this text."""
        self.until(
            "return document.getElementById(arguments[0]).textContent.includes(arguments[1])", element, text
        )

    def texts(self, selector: str) -> list[str]:
        """Return the text of every element that fits."""
        code = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return list(self.js(code, selector))

    def fill(self, selector: str, value: str, event: str = "input") -> None:
        """Give a field a value, as a reader does."""
        code = "const e = document.querySelector(arguments[0]); e.value = arguments[1]; "
        self.js(code + "e.dispatchEvent(new Event(arguments[2]))", selector, value, event)

    def click(self, selector: str) -> None:
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def click_node(self, node: str) -> None:
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.actions.action_builder import ActionBuilder

        x, y = self.js("return explorer.where(arguments[0])", node)
        builder = ActionBuilder(self.driver)
        builder.pointer_action.move_to_location(round(x), round(y)).click()
        builder.perform()
        ActionChains(self.driver).reset_actions()

    def saved(self, name: str, *, wait: bool = True) -> Path:
        """Return a file that the page was asked to save; wait until it is there."""
        if wait:
            wait_for((self.downloads / name).exists, name)
        return self.downloads / name

    def barriers(self, theme: str, *steps: str) -> list[Any]:
        """Return what keeps people out, as axe-core finds it after each of these clicks."""
        if not AXE.exists():
            missing("axe-core is not here; `make test` fetches it with npm")
        if theme == "dark":
            self.click("#theme")
        self.js(AXE.read_text("utf-8"))
        found: list[Any] = []
        for step in steps:
            self.click(step)
            if step == "#search":
                self.press("text")
            found += self.driver.execute_async_script(
                "const done = arguments[0]; axe.run().then((r) => done(r.violations.map("
                "(v) => [v.id, v.impact, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))])))"
            )
        return found

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def browser(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="install the dev extra for selenium")
    if CHROMIUM is None or DRIVER is None:
        missing("no chromium with chromedriver here")
    folder = tmp_path_factory.mktemp("browser")
    page = write_explorer(subject, folder / "page.html", title="What do <b>the labels</b> miss?")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder / "downloads")})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(DEADLINE)
    driver.set_script_timeout(DEADLINE)
    try:
        yield Browser(driver, page, folder / "downloads")
    finally:
        driver.quit()
