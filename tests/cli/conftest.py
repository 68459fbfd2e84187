"""Files for the command line."""

from __future__ import annotations

from pathlib import Path

import pytest


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
