"""`unseen bench default`: the default method beside others, kept and resumed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import unseen
from unseen_paper.bench import default, draws, few


def _load(name: str) -> unseen.Dataset:
    if name == "nowhere":
        msg = "not here"
        raise unseen.DatasetError(msg)
    return unseen.load_dataset(name)


@pytest.mark.slow
def test_runs_are_kept_and_a_second_start_makes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, "load_dataset", _load)
    monkeypatch.setattr(default, "GRAPHS", ("debian", "nowhere"))
    monkeypatch.setattr(default, "RATES", (0.1,))
    wanted = {"repeats": 1, "methods": ["nodefeats", "hops", "rect-plus"], "before": sys.executable}
    [table] = default.run(**wanted, out=str(tmp_path))
    [row] = table.rows
    assert row[:2] == ("debian", "10%")
    assert row[4] == row[5]  # this version beside itself
    assert float(row[6]) == pytest.approx(float(row[4]) - max(map(float, [*row[2:4], row[5]])), abs=2e-3)
    monkeypatch.setattr(default, "evaluate", None)
    monkeypatch.setattr(default, "fit_before", None)
    assert default.run(**wanted, out=str(tmp_path))[0].rows == [row]


def test_few_labels_are_counted_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few, "load_dataset", _load)
    monkeypatch.setattr(few, "GRAPHS", ("planted-roles", "nowhere"))
    monkeypatch.setattr(few, "COUNTS", (50,))
    [table] = few.run(repeats=1, out=str(tmp_path))
    [row] = table.rows
    assert row[:2] == ("planted-roles", "50")
    assert float(row[4]) > max(map(float, row[2:4]))  # degrees tell levels of activity
    monkeypatch.setattr(few, "score_vectors", None)
    assert few.run(repeats=1, out=str(tmp_path))[0].rows == [row]


def test_hops_are_their_dense_definition() -> None:
    data = unseen.planted_partition(60, 3, random_state=0)
    vectors = default.hops(data).vectors
    A = data.graph.adjacency.toarray()
    P = A / np.maximum(A.sum(axis=1, keepdims=True), 1e-300)
    X = data.graph.features.toarray()
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    # all singular vectors are kept, so products of rows are those of the features
    lengths = [(Z, np.linalg.norm(Z, axis=1, keepdims=True)) for Z in (X, P @ X, P @ P @ X)]
    blocks = [Z / np.maximum(length, 1e-300) for Z, length in lengths]
    np.testing.assert_allclose(vectors @ vectors.T, sum(block @ block.T for block in blocks), atol=1e-4)
