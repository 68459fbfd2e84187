"""One class for every node: labelled, predicted or candidate."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

import unseen
from unseen.discovery.tables import predict_classes
from unseen.discovery.validation import Fold, judge


def test_every_node_has_a_row_in_the_order_of_the_graph(case: Any) -> None:
    table = case.found.predictions()
    assert table.column_names == ["node", "class", "probability", "status"]
    assert table["node"].to_pylist() == case.data.graph.node_ids.tolist()
    p = table["probability"].to_numpy()
    assert ((p >= 0) & (p <= 1)).all()


def test_labels_stay_and_most_others_are_right(case: Any) -> None:
    table = case.found.predictions().to_pylist()
    truth = [case.data.labels.classes[k] for k in case.data.labels.codes]
    labelled = set(case.labels.labelled.tolist())
    groups = {row["class"] for row in table if row["status"] == "candidate"}
    names = {
        group: Counter(
            true for row, true in zip(table, truth, strict=True) if row["class"] == group
        ).most_common(1)[0][0]
        for group in groups
    }
    assert sorted(names.values()) == ["c1", "c4"]
    for k, row in enumerate(table):
        assert (row["status"] == "labelled") == (k in labelled)
        if k in labelled:
            assert (row["class"], row["probability"]) == (truth[k], 1.0)
    right = [names.get(row["class"], row["class"]) == true for row, true in zip(table, truth, strict=True)]
    assert np.mean(right) > 0.95


def test_selected_nodes_are_candidates_also_where_the_test_failed(case: Any, caplog: Any) -> None:
    failed = judge([Fold(0, np.r_[0.0, 1.0, 0.0, 1.0], np.arange(4) < 2)], ("c0",), np.array([2]))
    found = replace(case.found, self_test=failed)
    statuses = found.predictions()["status"].to_pylist()
    assert statuses.count("candidate") == len(found.select())
    assert "so every node without a label that is not selected gets the labelled class" in caplog.text


def test_a_predicted_class_is_no_likelier_than_a_labelled_class_at_all(case: Any) -> None:
    nodes = {row["node"]: row for row in case.found.nodes.to_pylist()}
    for row in case.found.predictions().to_pylist():
        if row["status"] == "predicted":
            node = nodes[row["node"]]
            assert node["group"] is None
            assert row["class"] == node["likely_class"]
            assert row["probability"] <= 1 - node["unseen_probability"]
        elif row["status"] == "candidate":
            assert row["probability"] == nodes[row["node"]]["unseen_probability"]


def test_probabilities_are_about_as_high_as_the_share_that_is_right(case: Any) -> None:
    rows = [row for row in case.found.predictions().to_pylist() if row["status"] == "predicted"]
    truth = dict(zip(case.data.graph.node_ids.tolist(), case.data.labels.codes.tolist(), strict=True))
    right = [case.data.labels.classes[truth[row["node"]]] == row["class"] for row in rows]
    assert abs(np.mean(right) - np.mean([row["probability"] for row in rows])) < 0.05


def test_accepted_nodes_are_labelled(case: Any) -> None:
    labels = case.found.accept({"new-1": "sound"}, at_least=0.9)
    table = unseen.discover(case.data.graph, labels, random_state=0).predictions().to_pylist()
    accepted = [row for row in table if row["status"] == "labelled" and row["class"] == "sound"]
    expected = [
        row["node"]
        for row in case.found.nodes.to_pylist()
        if row["group"] == "new-1" and row["unseen_probability"] >= 0.9
    ]
    assert [row["node"] for row in accepted] == expected


def test_a_candidate_that_is_known_by_name_has_it(case: Any) -> None:
    nodes = case.found.nodes
    group = nodes["group"].to_pylist()
    name = pa.array(["mail" if each == "new-1" else None for each in group], pa.string())
    found = replace(case.found, nodes=nodes.set_column(nodes.column_names.index("name"), "name", name))
    classes = {row["class"] for row in found.predictions().to_pylist() if row["status"] == "candidate"}
    assert classes == {"mail", "new-2"}


def test_several_labels_are_joined() -> None:
    labels = unseen.Labels.from_values([["b", "a"], "a"], ["x", "y"])
    assert predict_classes(labels).to_pylist() == [
        {"node": "x", "class": "a|b", "probability": 1.0, "status": "labelled"},
        {"node": "y", "class": "a", "probability": 1.0, "status": "labelled"},
    ]


def test_with_one_class_nothing_is_a_candidate_and_nothing_has_a_probability(case: Any) -> None:
    others = [name for name in case.labels.classes if name != "c0"]
    labels = case.labels.keep(case.labels.labelled, without=others)
    found = unseen.discover(case.data.graph, labels, random_state=0)
    rows = [row for row in found.predictions().to_pylist() if row["status"] != "labelled"]
    assert {(row["class"], row["probability"], row["status"]) for row in rows} == {("c0", None, "predicted")}
