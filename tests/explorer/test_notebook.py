"""The map as a widget: what is selected and answered on it is known to Python, in JupyterLab and in marimo."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import unseen
from environments import require_environment, serve_tool
from unseen.errors import InputError
from unseen.explorer.view import MapView
from waiting import wait_for

FIRST = """
import json, unseen
data = unseen.planted_partition(120, 4, random_state=0)
split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
view = unseen.explore(data.graph, split.seen_labels, budget=3, random=2, random_state=0)
"""
REPORT = """
with open("told.json", "w") as file:
    json.dump([view.selection["node"].to_pylist(), view.answers.to_pylist()], file)
"""
UPDATE = """
view.update()
view.selection = [7, 9]
"""
FRAME = """
const find = (root) => {
  for (const each of root.querySelectorAll("*")) {
    if (each.tagName === "IFRAME" && each.srcdoc) return each;
    const inner = each.shadowRoot && find(each.shadowRoot);
    if (inner) return inner;
  }
  return null;
};
return find(document);
"""


@pytest.fixture(scope="module")
def case() -> tuple[unseen.Graph, unseen.Labels]:
    data = unseen.planted_partition(120, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=0)
    return data.graph, split.seen_labels


@pytest.fixture
def tall(browser: Any) -> Iterator[Any]:
    """The browser, with a window that shows the whole widget."""
    browser.driver.set_window_size(1366, 1500)
    yield browser
    browser.driver.switch_to.default_content()
    browser.driver.get("about:blank")
    browser.driver.set_window_size(1366, 900)


def ask(view: Any, name: str, **body: Any) -> dict[str, Any]:
    """Send what the page sends and return the reply."""
    sent: list[dict[str, Any]] = []
    view.send = lambda message, _=None: sent.append(message)
    view._handle_custom_msg({"id": "mine", "name": name, "body": body}, [])
    return next(message for message in reversed(sent) if message.get("id") == "mine")


def test_answers_of_the_page_are_labels_with_their_marks(case: Any, tmp_path: Path) -> None:
    pytest.importorskip("anywidget", reason="install the extra notebook")
    graph, labels = case
    view = unseen.explore(graph, labels, budget=2, random=2, random_state=0)
    drawn = view.questions.filter([each == "random" for each in view.questions["drawn"].to_pylist()])
    node, labelled = drawn["node"][0].as_py(), int(labels.labelled[0])
    before = labels.to_lists()[labelled]
    assert ask(view, "answers", node=str(node), label="c3")["state"]["labelled"] == len(labels.labelled) + 1
    ask(view, "answers", node=str(labelled), label="other")
    assert "the graph has no node" in ask(view, "answers", node="nobody", label="c1")["error"]
    answers = [tuple(row.values()) for row in view.answers.to_pylist()]
    assert answers == [
        (node, "c3", "", "", "random", drawn["pool"][0].as_py()),
        (labelled, "other", before[0], "", "", None),
    ]
    labels.save(tmp_path / "labels.csv")
    read = unseen.read_labels([tmp_path / "labels.csv", view.answers], graph)
    assert read.to_lists() == view.labels.to_lists()
    assert read.certificate().n_answers == view.labels.certificate().n_answers == 1
    state = ask(view, "update")["state"]
    assert {"c3", "other"} <= set(view.discovery.labels.classes)
    assert state["findings"]["revision"] == 2
    ask(view, "undo")
    assert view.answers["node"].to_pylist() == [node]


def test_a_selection_is_ids_on_the_page_and_a_table_in_python(case: Any) -> None:
    pytest.importorskip("anywidget", reason="install the extra notebook")
    view = unseen.explore(*case, budget=1, random_state=0)
    heard: list[Any] = []
    view.observe(lambda change: heard.append(change["new"].num_rows), "selection")
    view.set_state({"selection": ["5", "6"]})  # as the page does
    assert heard == [2]
    assert view.selection["node"].to_pylist() == [5, 6]
    view.selection = view.discovery.nodes.slice(0, 3)
    assert view.get_state("selection")["selection"] == [
        str(k) for k in view.discovery.nodes["node"].to_pylist()[:3]
    ]
    found = view.discovery.nodes["unseen_probability"][:3].to_pylist()
    assert view.selection["unseen_probability"].to_pylist() == found
    with pytest.raises(InputError, match="no such node"):
        view.selection = ["nobody"]


def test_without_anywidget_the_page_is_shown(case: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    graph, labels = case
    view = unseen.explore(graph.to_networkx(), labels.to_pandas(), budget=1, random_state=0)
    assert type(view) is MapView
    assert view._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert "what do the labels miss?" in view.save(tmp_path / "page.html").read_text("utf-8")


def enter_frame(browser: Any) -> None:
    """Go into the page and wait until it has heard from the kernel."""
    frame = browser.until(FRAME)
    browser.driver.switch_to.frame(frame)
    browser.until("return document.documentElement.dataset.ready === 'yes'")
    browser.until("return document.querySelector('#facts').textContent !== ''")


def select_and_answer(browser: Any) -> None:
    """Click a node and answer a question; both must come to Python."""
    from selenium.webdriver import ActionChains

    def click() -> bool:  # again, if the notebook was still moving its outputs
        stage = browser.driver.find_element("id", "stage")
        x, y = browser.js(
            "const box = arguments[0].getBoundingClientRect(), [x, y] = explorer.where('11');"
            "return [x - box.left - box.width / 2, y - box.top - box.height / 2]",
            stage,
        )
        ActionChains(browser.driver).move_to_element_with_offset(stage, round(x), round(y)).click().perform()
        return "11" in browser.text("#panel-node")

    wait_for(click, "the node to be shown")
    browser.js("document.querySelector('#tab-questions').click()")
    browser.js("document.querySelector('[data-key=questions-1]').click()")
    browser.until("return document.querySelector('#told').textContent.includes('saved')")


def read_told(told: Path) -> Any:
    try:
        return json.loads(told.read_text("utf-8"))
    except (OSError, ValueError):
        return [None, []]


def check_update(browser: Any) -> None:
    browser.until("return explorer.updates() === 1 && explorer.selected().join() === '7,9'")
    facts = browser.text("#facts")
    assert facts.startswith("28 of 120 nodes labelled")
    assert "since the last update" not in facts


@pytest.mark.slow
@pytest.mark.browser
def test_jupyterlab(tall: Any, tmp_path: Path) -> None:
    commands = require_environment("jupyterlab").parent
    empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    texts = enumerate([FIRST + "view", REPORT, UPDATE, "view"])
    cells = [{**empty, "id": f"cell{k}", "source": text} for k, text in texts]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "map.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    flags = "--no-browser --ip=127.0.0.1 --port={port} --allow-root --expose-app-in-browser"
    command = [str(commands / "jupyter"), "lab", *flags.split(), "--IdentityProvider.token=mine"]
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    run = "jupyterapp.commands.execute('notebook:run-cell-and-select-next')"
    here, told = "jupyterapp.shell.currentWidget?.context?.sessionContext", tmp_path / "told.json"
    path = f"{sys.prefix}/share/jupyter"  # of the extensions that the tests' environment has already
    with serve_tool(command, tmp_path, JUPYTER_PATH=path, **folders) as address:
        tall.driver.get(f"{address}/doc/tree/map.ipynb?token=mine")
        tall.until(f"return window.jupyterapp && {here}?.session?.kernel?.status === 'idle'")
        tall.js(run)
        enter_frame(tall)
        select_and_answer(tall)
        tall.driver.switch_to.default_content()
        tall.js(run)
        wait_for(lambda: read_told(told)[0] == [11], "the selection")
        assert [row["drawn"] for row in read_told(told)[1]] == ["random"]
        tall.js(run)
        enter_frame(tall)
        check_update(tall)
        tall.driver.switch_to.default_content()
        tall.js(run)  # a second view of the same widget
        tall.until("return document.querySelectorAll('.jp-OutputArea iframe').length === 2")
        tall.driver.switch_to.frame(tall.js("return document.querySelectorAll('.jp-OutputArea iframe')[1]"))
        tall.until("return document.documentElement.dataset.ready === 'yes'")
        check_update(tall)
        tall.driver.switch_to.default_content()
        tall.js(f"{here}.session.kernel.restart()")
        enter_frame(tall)
        tall.until("return document.querySelector('#alarm').textContent.includes('run the cell again')")
        tall.driver.switch_to.default_content()
        tall.until(
            f"return {here}.session.kernel.status === 'idle'"
        )  # a server in the middle of it does not end
        tall.js("jupyterapp.commands.execute('docmanager:save')")
        saved = tmp_path / "map.ipynb"
        wait_for(lambda: "text/html" in saved.read_text("utf-8"), "a picture in the saved notebook")


@pytest.mark.slow
@pytest.mark.browser
def test_marimo(tall: Any, tmp_path: Path) -> None:
    commands = require_environment("marimo").parent
    indent = "\n    ".join
    first = indent(
        [*FIRST.strip().splitlines(), "import marimo as mo", "view = mo.ui.anywidget(view)", "view"]
    )
    report = indent(["view.value", *REPORT.strip().splitlines()])
    update = indent(["if button.value:", *(f"    {line}" for line in UPDATE.strip().splitlines())])
    (tmp_path / "map.py").write_text(
        "import marimo\napp = marimo.App()\n"
        f"@app.cell\ndef _():\n    {first}\n    return json, mo, view\n"
        f"@app.cell\ndef _(json, view):\n    {report}\n"
        '@app.cell\ndef _(mo):\n    button = mo.ui.run_button(label="again")\n    button\n    return (button,)\n'
        f"@app.cell\ndef _(button, view):\n    {update}\n",
        encoding="utf-8",
    )
    command = [str(commands / "marimo"), "run", "map.py", "--headless", "--no-token", "--host=127.0.0.1"]
    told = tmp_path / "told.json"
    with serve_tool([*command, "--port={port}"], tmp_path) as address:
        tall.driver.get(address)
        enter_frame(tall)
        assert tall.js("return document.documentElement.dataset.theme") == "light"
        select_and_answer(tall)
        # without running a cell: marimo runs it when the widget changes
        wait_for(
            lambda: read_told(told)[0] == [11] and len(read_told(told)[1]) == 1,
            "the selection and the answer",
        )
        tall.driver.switch_to.default_content()
        pressed = FRAME.replace(
            'each.tagName === "IFRAME" && each.srcdoc',
            "each.tagName === 'BUTTON' && each.textContent.trim() === 'again'",
        )
        tall.js(pressed.replace("return find(document)", "find(document).click()"))
        enter_frame(tall)
        check_update(tall)
