"""Tables in both styles: aligned, escaped, bold where it can be."""

from __future__ import annotations

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


def test_odd_names_break_no_table() -> None:
    odd = [["*a*", "1"], ["x\n| <b>_i_</b> \\ $&", "2"]]
    lines = render(["na|me", "F1"], odd, style="markdown").splitlines()
    assert lines[0] == "| na\\|me | F1 |"
    assert lines[2:] == ["| \\*a\\* | 1 |", "| x \\| \\<b\\>\\_i\\_\\</b\\> \\\\ $& | 2 |"]
    assert len(render(HEADER, odd).splitlines()) == 3


def test_unknown_style_gets_a_hint() -> None:
    with pytest.raises(unseen.InputError, match="did you mean 'markdown'"):
        render(HEADER, ROWS, style="markdwn")
