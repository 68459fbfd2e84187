"""The committed results: every table of the pages is that of the csv files, and these are means of `runs.csv`."""

from __future__ import annotations

import csv
import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import unseen
from unseen_paper.experiments.plan import RULE
from unseen_paper.experiments.results import ResultTable, valid_results
from unseen_paper.experiments.summary import f1_rows
from unseen_paper.report import pages

TOOL = Path(__file__).parents[1] / "tools" / "results_page.py"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="needs the source tree, this is an installed copy")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("results_page", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_blocks_of_the_pages_are_those_of_the_csv_files(tool: ModuleType) -> None:
    for page in tool.PAGES:
        text = page.read_text(encoding="utf-8")
        assert pages.MARKED.search(text), page.name
        assert pages.filled(text, tool.RESULTS) == text, (
            f"run paper/tools/results_page.py: {page.name} is out of date"
        )


def test_sentences_have_no_figures_of_their_own(tool: ModuleType) -> None:
    """Figures are made from csv files, so that none contradicts them."""
    how_to = tool.PAPER.parent / "docs" / "howto" / "reproduce.md"
    for page in (*tool.PAGES, how_to):
        assert pages.figures_in_sentences(page.read_text(encoding="utf-8")) == [], page.name


def test_no_published_table_mixes_rules(tool: ModuleType) -> None:
    checked = 0
    for path in tool.RESULTS.glob("*.csv"):
        if path.name == "runs.csv":  # has all that was ever run
            continue
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        if rows and "rule" in rows[0]:
            checked += 1
            assert {row["rule"] for row in rows} == {RULE}, path.name
        assert not rows or "micro_f1" not in rows[0] or "rule" in rows[0], f"{path.name} has no column rule"
    assert checked >= 8


def test_the_page_is_short(tool: ModuleType) -> None:
    """Two screens: what is longer belongs to the notes."""
    lines = (tool.RESULTS / "README.md").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line]) <= 80


def test_paper_tables_are_the_means_of_the_runs(tool: ModuleType) -> None:
    hidden = {"citeseer": 2, "cora": 2, "wiki": 5, "ppi": 5, "blogcatalog": 5}
    wide = [
        result
        for result in valid_results(ResultTable(tool.RESULTS / "runs.csv")).values()
        if (result.run.params, result.run.classifier) == ("{}", "")
        and len(result.run.unseen) == hidden[result.run.dataset]
    ]
    # five of the protocol's splits have other seeds in the experiment on seen classes
    splits = {(r.run.dataset, r.run.seed, r.run.unseen) for r in wide if r.run.method == "smoothfeats"}
    runs = [r for r in wide if (r.run.dataset, r.run.seed, r.run.unseen) in splits]
    assert pages.rows_of("f1", tool.RESULTS) == f1_rows(runs)


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
    parts = [
        f"<!-- results: {name} -->\nold\n<!-- end of results -->\n"
        for name in ("below", "overview", "findings")
    ]
    made = pages.filled("a\n" + "b\n".join(parts), tmp_path)
    assert "old" not in made
    assert made.startswith("a\n<!-- results: below -->\n| data set")
    assert "| cora | 30% | rect | micro F1 | 0.1235 |" in made
    assert " / .123 / " in made
    assert "the lowest is micro F1 of RECT on cora at 30% (.123 against" in made
    assert pages.filled(made, tmp_path) == made


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
