"""A method in a Pipeline and in GridSearchCV, over node ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import unseen
from unseen.errors import InputError


@pytest.fixture(scope="module")
def data() -> unseen.Dataset:
    return unseen.planted_partition(120, 3, random_state=0)


def test_a_fold_learns_from_its_own_labels_only(data: unseen.Dataset) -> None:
    kept = np.flatnonzero(np.arange(120) % 3)
    y = np.array(data.labels.classes)[data.labels.codes]
    made = unseen.NodeVectors(data.graph, unseen.RSDNE(n_components=4, random_state=0))
    vectors: Any = made.fit(data.graph.node_ids[kept], y[kept]).transform(data.graph.node_ids[::-1])
    expected = unseen.RSDNE(n_components=4, random_state=0).fit_transform(data.graph, data.labels.keep(kept))
    assert np.array_equal(vectors, expected.vectors[::-1])


def test_a_clone_shares_the_graph_and_nothing_learnt(data: unseen.Dataset) -> None:
    made = unseen.NodeVectors(data.graph, unseen.MFDW(n_components=4)).fit(data.graph.node_ids)
    copy = clone(made)
    assert copy.graph is data.graph
    assert copy.method is not made.method
    assert copy.get_params()["method__n_components"] == 4
    with pytest.raises(NotFittedError):
        copy.transform([0])


def test_frames_come_out_with_names(data: unseen.Dataset) -> None:
    made = unseen.NodeVectors(data.graph, "mfdw").set_output(transform="pandas")
    made.set_params(method=unseen.MFDW(n_components=2, random_state=0))
    frame = made.fit(data.graph.node_ids).transform(pd.DataFrame({"id": [5, 3]}, index=["x", "y"]))
    assert (frame.columns.tolist(), frame.index.tolist()) == (["mfdw0", "mfdw1"], ["x", "y"])
    assert made.transform(np.array([[5], [3]])).shape == (2, 2)


def test_several_labels_in_rows_of_zeros_and_ones(data: unseen.Dataset) -> None:
    made = unseen.NodeVectors(data.graph, unseen.RSDNE(n_components=4, random_state=0))
    labels = data.labels.indicator.toarray().astype(int), data.labels.codes
    one, two = (made.fit(data.graph.node_ids, y).embedding_.vectors for y in labels)
    assert np.array_equal(one, two)


def test_bad_input(data: unseen.Dataset) -> None:
    made = unseen.NodeVectors(data.graph, unseen.MFDW(n_components=2))
    with pytest.raises(InputError, match="`X` must be a list of node ids, got 3"):
        made.fit(3)
    with pytest.raises(InputError, match="`y` has 1 entries but `X` has 2 node ids"):
        made.fit([0, 1], ["a"])
    with pytest.raises(KeyError, match="no vector for the node 900; the nearest id is 119"):
        made.fit([0, 1]).transform([900])


@pytest.mark.slow
def test_a_search_on_debian() -> None:
    data = unseen.load_dataset("debian")
    vectors = unseen.NodeVectors(data.graph, unseen.SmoothFeats(n_components=32, random_state=0))
    steps = Pipeline([("vectors", vectors), ("classifier", LogisticRegression(max_iter=300))])
    labelled = data.labels.labelled
    search = GridSearchCV(steps, {"vectors__method__steps": [0, 2]}, cv=2, error_score="raise")
    search.fit(data.graph.node_ids[labelled], data.labels.codes[labelled])
    assert search.best_params_ == {"vectors__method__steps": 2}
    assert search.best_score_ > 0.5
