"""`unseen convert`: there and back again, by the command line; tests/data/test_write.py has the formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (["labels.csv", "-"], 0, "007,y\n"),
        (["labels.csv", "l.parquet"], 0, "l.parquet"),
        (["debian", "l.csv", "--what", "labels"], 0, "l.csv"),
        (["debian", "e.parquet", "--what", "embedding"], 1, "unknown part of a graph 'embedding'"),
        (["labels.csv", "l.tsv", "--what", "label"], 1, "did you mean 'labels'"),
        (["edges.csv", "edges.csv"], 1, "would be overwritten"),
        (["edges.csv", "folder"], 1, "cannot hold the id 'a b'"),
    ],
)
def test_what_is_written_or_refused(
    cli: Callable, files: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, part: str
) -> None:
    monkeypatch.chdir(files)
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    ran = cli("convert", *words)
    assert (ran.code, part in ran.out + ran.err) == (code, True), ran.err
    if code:
        assert {path.name: path.read_bytes() for path in files.iterdir()} == before
