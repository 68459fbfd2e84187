"""Tables in every style: aligned, escaped, bold where it can be."""

from __future__ import annotations

import csv
import io

import pytest

import unseen
from unseen_paper.report.tables import render

HEADER = ["method", "F1"]
ROWS = [["a|b_c", "*0.75*"], ['say "hi", 5 %', "0.6 ± 0.1"]]


def test_text_columns_line_up() -> None:
    lines = render(HEADER, ROWS).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].startswith("a|b_c")
    assert lines[1].endswith("*0.75*")


def test_markdown_escapes_bars_and_marks_the_best() -> None:
    lines = render(HEADER, ROWS, style="markdown").splitlines()
    assert lines[1] == "| --- | ---: |"
    assert lines[2] == "| a\\|b_c | **0.75** |"


def test_csv_reads_back() -> None:
    found = list(csv.reader(io.StringIO(render(HEADER, ROWS, style="csv"))))
    assert found == [HEADER, ["a|b_c", "0.75"], ['say "hi", 5 %', "0.6 ± 0.1"]]


def test_latex_escapes_its_special_signs() -> None:
    text = render(HEADER, ROWS, style="latex")
    assert "a|b\\_c & \\textbf{0.75} \\\\" in text
    assert "5 \\% & 0.6 $\\pm$ 0.1" in text


def test_odd_names_break_no_table() -> None:
    odd = [["*a*", "1"], ["x\n| <b>_i_</b> \\ $&", "2"]]
    lines = render(["na|me", "F1"], odd, style="markdown").splitlines()
    assert lines[0] == "| na\\|me | F1 |"
    assert lines[2:] == ["| \\*a\\* | 1 |", "| x \\| \\<b\\>\\_i\\_\\</b\\> \\\\ $& | 2 |"]
    text = render(HEADER, odd, style="latex")
    assert "\n*a* & 1 \\\\\n" in text
    assert (
        "x | \\textless{}b\\textgreater{}\\_i\\_\\textless{}/b\\textgreater{} \\textbackslash{} \\$\\&"
        in text
    )
    assert len(render(HEADER, odd).splitlines()) == 3
    assert list(csv.reader(io.StringIO(render(HEADER, odd, style="csv"))))[1] == ["*a*", "1"]


def test_unknown_style_gets_a_hint() -> None:
    with pytest.raises(unseen.InputError, match="did you mean 'latex'"):
        render(HEADER, ROWS, style="latx")
