"""Files for the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import unseen


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


@pytest.fixture
def planted(tmp_path):
    """A planted graph as files, its class c0 without labels."""
    data = unseen.planted_partition(200, 4, degree_within=8, words_of_class=5, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
    edges = data.graph.adjacency.tocoo()
    lines = [f"n{a},n{b}" for a, b in zip(edges.row, edges.col, strict=True) if a < b]
    (tmp_path / "edges.csv").write_text("\n".join(["src,dst", *lines]) + "\n")
    codes = split.seen_labels.codes
    rows = [f"n{k},{split.seen_labels.classes[codes[k]]}" for k in split.seen_labels.labelled]
    (tmp_path / "labels.csv").write_text("\n".join(["node,label", *rows]) + "\n")
    words = data.graph.features.toarray().astype(int)
    names = ",".join(["node", *data.graph.feature_names])
    (tmp_path / "features.csv").write_text(
        "\n".join([names, *(f"n{k}," + ",".join(map(str, row)) for k, row in enumerate(words))]) + "\n"
    )
    edges, features, labels = (tmp_path / f"{name}.csv" for name in ("edges", "features", "labels"))
    return ["discover", edges, "--features", features, "--labels", labels]
