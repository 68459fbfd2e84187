"""Writes and tabulates :mod:`unseen_paper.experiments.words`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unseen_paper.csv_files import write_csv
from unseen_paper.experiments.catalog import Choice
from unseen_paper.experiments.words import word_rows
from unseen_paper.report.tables import render

HEADER = {
    "dataset": "data set",
    "class": "class",
    "hidden": "hidden",
    "words": "words",
    "shared": "also of seen classes",
}


def write_words(choice: Choice, out: Path, *, style: str = "text") -> tuple[list[dict[str, Any]], str]:
    """Write ``words.csv``; return the rows and their table."""
    rows = word_rows(choice.datasets)
    write_csv(rows, out / "words.csv")
    return rows, words_table(rows, style=style)


def words_table(rows: list[dict[str, Any]], *, style: str = "text") -> str:
    """Return the rows as a table to read."""
    cells = [[str(row[name]) for name in HEADER] for row in rows]
    return render(list(HEADER.values()), cells, style=style, left=len(HEADER))
