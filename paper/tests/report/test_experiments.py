"""What an experiment leaves behind: csv, a table, a figure that was really drawn."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

import unseen
from unseen_paper.experiments.catalog import EXPERIMENTS, Choice
from unseen_paper.experiments.plan import CLASSIFIERS, Run
from unseen_paper.experiments.results import Result
from unseen_paper.report.experiments import line_names, tabulated, write_report


def made_up(name: str) -> list[Result]:
    """Results that differ from run to run, without running anything."""
    runs = EXPERIMENTS[name].runs(Choice(["citeseer"], None, None, 2))
    return [
        Result(run, 0.5 + (k % 7) / 20, 0.4 + (k % 5) / 20, 0.5, 0.3, seconds=1.0)
        for k, run in enumerate(runs)
    ]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_csv_table_and_figure(
    name: str, tmp_path: Path, paper_graph: Callable[[str], unseen.Dataset]
) -> None:
    paper_graph("citeseer")
    pytest.importorskip("matplotlib", reason="figures need the viz extra")
    rows, text = tabulated(name, made_up(name))
    write_report(name, made_up(name), tmp_path)
    assert rows
    lines = len(rows) // len(CLASSIFIERS) if name == "published-classifier" else len(rows)
    assert len(text.splitlines()) == lines + 1
    (table,) = tmp_path.glob("*.csv")
    with table.open() as file:
        assert len(list(csv.DictReader(file))) == len(rows)
    drawn = {path.suffix for path in tmp_path.iterdir()} - {".csv"}
    assert drawn == ({".svg", ".png"} if EXPERIMENTS[name].x or name == "balanced" else set())
    assert all(path.stat().st_size > 5000 for path in tmp_path.glob("*.png"))


@pytest.mark.parametrize("name", [name for name, each in EXPERIMENTS.items() if each.x])
def test_no_line_has_two_values_at_one_place(name: str, paper_graph: Callable[[str], unseen.Dataset]) -> None:
    paper_graph("citeseer")
    rows, _ = tabulated(name, made_up(name))
    experiment = EXPERIMENTS[name]
    names = line_names(rows, experiment)
    places = [(line, row[experiment.x]) for line, row in zip(names, rows, strict=True)]
    assert len(set(places)) == len(places)
    assert len(set(names)) < len(names), "every line has several points"


def test_decline_is_relative_to_no_unseen_class(paper_graph: Callable[[str], unseen.Dataset]) -> None:
    paper_graph("citeseer")
    rows, _ = tabulated("decline", made_up("decline"))
    whole = {(r["method"], r["label_rate"]): r["micro_f1"] for r in rows if r["unseen_classes"] == 0}
    for row in rows:
        expected = 1 - row["micro_f1"] / whole[row["method"], row["label_rate"]]
        assert row["micro_f1_decline"] == pytest.approx(expected, abs=1e-4)
    assert {row["paper_accuracy"] for row in rows} >= {0.7198, 0.5085}
    (one,) = [
        row for row in rows if (row["method"], row["unseen_classes"], row["label_rate"]) == ("lshm", 1, 0.1)
    ]
    assert one["paper_decline"] == pytest.approx(1 - 0.4258 / 0.5007, abs=1e-4)
    assert one["difference"] == pytest.approx(one["micro_f1"] - 0.4258, abs=1e-6)


def test_settings_of_rsdne_are_named(paper_graph: Callable[[str], unseen.Dataset]) -> None:
    paper_graph("citeseer")
    rows, text = tabulated("ablation", made_up("ablation"), style="markdown")
    assert {row["params"] for row in rows} == {
        "J_DW", "J_DW + J_intra", "J_DW + random(J_intra)", "J_DW + J_inter", "RSDNE",
    }  # fmt: skip
    assert text.startswith("| method | setting | labels |")


@pytest.mark.parametrize(
    ("name", "header"),
    [
        (
            "decline",
            "method unseen labels micro F1 macro F1 micro decline macro decline paper micro diff paper decline splits",
        ),
        ("seen-classes", "method seen micro F1 macro F1 splits"),
        ("alpha", "method alpha labels micro F1 macro F1 splits"),
        ("dimension", "method columns micro F1 macro F1 splits"),
    ],
)
def test_tables_show_what_was_varied_once(
    name: str, header: str, paper_graph: Callable[[str], unseen.Dataset]
) -> None:
    paper_graph("citeseer")
    _, text = tabulated(name, made_up(name))
    assert text.splitlines()[0].split() == header.split()
    assert " ± " in text.splitlines()[1]


def test_the_classifier_closest_to_the_paper_is_in_bold() -> None:
    scores = {"": 0.70, "linear, C = 1": 0.565, "rbf": 0.41}  # the paper has .564
    results = [
        Result(Run("citeseer", "gcn", 0.1, 0, ("a",), "{}", name), score, 0.5)
        for name, score in scores.items()
    ]
    _, text = tabulated("published-classifier", results)
    assert "0.5640  " in text
    assert "*0.5650*" in text
    assert text.count("*") == 2
