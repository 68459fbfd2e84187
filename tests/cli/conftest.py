"""Runs the command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from unseen.cli.app import run


class Ran(NamedTuple):
    """What one command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def call(*words: object) -> Ran:
        capsys.readouterr()
        code = run([str(word) for word in words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a small graph of odd ids, its features and labels."""
    (tmp_path / "edges.csv").write_text(
        "src,dst,weight\na b,007,1\n007,ü,2\nü,a b,1\n007,007,1\na b,007,3\n", "utf-8"
    )
    (tmp_path / "nodes.txt").write_text("alone\n", "utf-8")
    rows = ["node,red,blue", "a b,1,0", "007,0,1", "ü,1,1", "alone,0,1"]
    (tmp_path / "features.csv").write_text("\n".join(rows) + "\n", "utf-8")
    (tmp_path / "labels.csv").write_text("node,label\na b,x\n007,x|y\nü,y\n", "utf-8")
    return tmp_path
