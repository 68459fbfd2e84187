"""Checks with cleanlab, in the environment of cleanlab.txt: the issue manager of the page reports what is missing."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from blocks import HOWTO, run_page

import unseen


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = unseen.planted_partition(300, 4, random_state=0)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c0"], random_state=0)
    rows = [("src", "dst"), *zip(*(ends.tolist() for ends in data.graph.adjacency.nonzero()), strict=True)]
    known = [("node", "label"), *((node, names[0]) for node, names in split.seen_labels.to_lists().items())]
    for name, lines in (("edges.csv", rows), ("labels.csv", known)):
        with Path(name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(lines)
    names = run_page(
        "cleanlab.md", features=data.graph.features.toarray(), labels=split.seen_labels.to_pandas().tolist()
    )
    listed = re.search(r"(?m)^missing_class +(\d+)$", capsys.readouterr().out)
    shown = re.search(r"(?m)^missing_class +(\d+)$", (HOWTO / "cleanlab.md").read_text("utf-8"))
    assert listed is not None
    assert shown is not None
    is_issue = names["issues"]["is_missing_class_issue"].to_numpy()
    assert int(listed[1]) == is_issue.sum() == pytest.approx(int(shown[1]), abs=10)
    is_new = data.labels.codes[names["data"].graph.node_ids.astype(int)] == 0
    assert is_issue[is_new].mean() > 0.9
    assert (names["issues"]["missing_class_score"][~is_issue & ~is_new] > 0.4).all()
    again = (
        names["lab"].get_issues("missing_class")["is_missing_class_issue"].to_numpy()
    )  # with features only
    assert np.mean((data.labels.codes == 0)[again]) > 0.6
