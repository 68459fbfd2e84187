"""Words of classes: those of hidden ones are not learned from hidden labels, and shared ones name a seen class."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import unseen
from unseen_paper.experiments.catalog import Choice
from unseen_paper.report.words import word_rows, write_words


def test_words_of_debian(tmp_path: Path) -> None:
    rows, text = write_words(Choice(["debian"]), tmp_path, style="markdown")
    assert len(rows) == 12
    words = {row["class"]: row["words"].split(", ") for row in rows}
    assert "font" in words["fonts"]
    assert "game" in words["games"]
    hidden = [row for row in rows if row["hidden"]]
    assert len(hidden) == 3
    seen = {row["class"] for row in rows if not row["hidden"]}
    for row in hidden:
        shared = dict(each.removesuffix(")").split(" (") for each in row["shared"].split(", "))
        assert set(shared) <= set(row["words"].split(", "))
        assert set(shared.values()) <= seen
    assert not any(row["shared"] for row in rows if not row["hidden"])
    assert text.count("\n") == 14
    assert (tmp_path / "words.csv").read_text().startswith("dataset,class,hidden,words,shared\n")


def test_features_without_names_have_no_words(paper_graph: Callable[[str], unseen.Dataset]) -> None:
    paper_graph("citeseer")
    with pytest.raises(unseen.InputError, match="the features of citeseer have no names"):
        word_rows(["citeseer"])


def test_where_the_titles_of_m10_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path))
    with pytest.raises(unseen.InputError, match=r"texts\.csv does not exist; set UNSEEN_DATA"):
        word_rows(["m10"])
