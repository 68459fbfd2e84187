"""The committed results: every table of the pages is that of the csv files, and these are means of `runs.csv`."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import unseen
from unseen_paper.experiments.results import ResultTable
from unseen_paper.experiments.summary import f1_rows

TOOL = Path(__file__).parents[1] / "tools" / "results_page.py"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="needs the source tree, this is an installed copy")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("results_page", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_of_the_pages_are_those_of_the_csv_files(tool: ModuleType) -> None:
    text = tool.PAGE.read_text(encoding="utf-8")
    assert tool.filled(text, tool.RESULTS) == text, (
        "the results page is out of date: run tools/results_page.py"
    )
    assert len(tool.MARKED.findall(text)) == 7


def test_paper_tables_are_the_means_of_the_runs(tool: ModuleType) -> None:
    hidden = {"citeseer": 2, "cora": 2, "wiki": 5, "ppi": 5, "blogcatalog": 5}
    runs = [
        result
        for result in ResultTable(tool.RESULTS / "runs.csv")
        if result.run.params == "{}" and len(result.run.unseen) == hidden[result.run.dataset]
    ]
    assert tool.rows_of("f1", tool.RESULTS) == f1_rows(runs)


def test_no_committed_run_failed(tool: ModuleType) -> None:
    assert not [result for result in ResultTable(tool.RESULTS / "runs.csv") if result.error]


def test_a_page_follows_its_csv(tool: ModuleType, tmp_path: Path) -> None:
    for path in tool.RESULTS.glob("*.csv"):
        shutil.copy(path, tmp_path)
    table = tmp_path / "paper_tables.csv"
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    row = next(k for k, line in enumerate(lines) if line.startswith("cora,0.3,rect,"))
    cells = lines[row].split(",")
    cells[3] = "0.12345"
    lines[row] = ",".join(cells)
    table.write_text("".join(lines), encoding="utf-8")
    parts = [f"<!-- results: {name} -->\nold\n<!-- end of results -->\n" for name in ("below", "overview")]
    made = tool.filled("a\n" + "b\n".join(parts), tmp_path)
    assert "old" not in made
    assert made.startswith("a\n<!-- results: below -->\n| data set")
    assert "| cora | 30% | rect | micro F1 | 0.1235 |" in made
    assert " / .123 / " in made
    assert tool.filled(made, tmp_path) == made


def test_the_csv_files_are_those_of_the_runs(
    tool: ModuleType, tmp_path: Path, paper_graph: Callable[[str], unseen.Dataset]
) -> None:
    for name in ("citeseer", "cora", "wiki", "ppi", "blogcatalog"):
        paper_graph(name)
    for name in ("runs", "layouts_numbers", "scalability"):
        shutil.copy(tool.RESULTS / f"{name}.csv", tmp_path)
    tool.rebuild(tmp_path)
    names = {path.name for path in tmp_path.glob("*.csv")}
    assert {"claims.csv", "paper_tables.csv", "balanced.csv", "decline.csv", "alpha.csv"} <= names
    for name in names:
        assert (tmp_path / name).read_text() == (tool.RESULTS / name).read_text(), f"{name} is out of date"
