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


def test_every_node_has_a_row_and_most_are_right(case: Any) -> None:
    table = case.found.predictions()
    assert table.column_names == ["node", "class", "probability", "status"]
    assert table["node"].to_pylist() == case.data.graph.node_ids.tolist()
    rows, labelled = table.to_pylist(), set(case.labels.labelled.tolist())
    truth = [case.data.labels.classes[k] for k in case.data.labels.codes]
    groups: dict[str, Counter[str]] = {}
    for row, true in zip(rows, truth, strict=True):
        if row["status"] == "candidate":
            groups.setdefault(row["class"], Counter())[true] += 1
    names = {group: counts.most_common(1)[0][0] for group, counts in groups.items()}
    assert sorted(names.values()) == ["c1", "c4"]
    for k, row in enumerate(rows):
        assert (row["status"] == "labelled") == (k in labelled)
        if k in labelled:
            assert (row["class"], row["probability"]) == (truth[k], 1.0)
    right = np.array(
        [names.get(row["class"], row["class"]) == true for row, true in zip(rows, truth, strict=True)]
    )
    assert right.mean() > 0.95
    # probabilities are about as high as the share that is right
    predicted = np.array([row["status"] == "predicted" for row in rows])
    assert abs(right[predicted].mean() - table["probability"].to_numpy()[predicted].mean()) < 0.05


def test_probabilities_are_those_of_the_table(case: Any) -> None:
    nodes = {row["node"]: row for row in case.found.nodes.to_pylist()}
    for row in case.found.predictions().to_pylist():
        if row["status"] == "predicted":
            node = nodes[row["node"]]
            assert (node["group"], node["likely_class"]) == (None, row["class"])
            assert 0 <= row["probability"] <= 1 - node["unseen_probability"]
        elif row["status"] == "candidate":
            assert row["probability"] == nodes[row["node"]]["unseen_probability"]


def test_selected_nodes_are_candidates_also_where_the_test_failed(case: Any, caplog: Any) -> None:
    failed = judge([Fold(0, np.r_[0.0, 1.0, 0.0, 1.0], np.arange(4) < 2)], ("c0",), np.array([2]))
    statuses = replace(case.found, self_test=failed).predictions()["status"].to_pylist()
    assert statuses.count("candidate") == len(case.found.select())
    assert "so every node without a label that is not selected gets the labelled class" in caplog.text


def test_accepted_nodes_are_labelled_and_no_others_are_candidates(case: Any, caplog: Any) -> None:
    labels = case.found.accept({"new-1": "sound"}, at_least=0.9)
    rows = unseen.discover(case.data.graph, labels, random_state=0).predictions().to_pylist()
    accepted = [row["node"] for row in rows if row["status"] == "labelled" and row["class"] == "sound"]
    listed = [row for row in case.found.nodes.to_pylist() if row["group"] == "new-1"]
    assert accepted == [row["node"] for row in listed if row["unseen_probability"] >= 0.9]
    assert not any(row["status"] == "candidate" for row in rows)
    assert "no candidates are reported. No error rate" in caplog.text


def test_a_candidate_that_is_known_by_name_has_it(case: Any) -> None:
    nodes = case.found.nodes
    names = [{"new-1": "mail"}.get(each) for each in nodes["group"].to_pylist()]
    column = nodes.column_names.index("name")
    found = replace(case.found, nodes=nodes.set_column(column, "name", pa.array(names, pa.string())))
    classes = {row["class"] for row in found.predictions().to_pylist() if row["status"] == "candidate"}
    assert classes == {"mail", "new-2"}


def test_several_labels_are_joined() -> None:
    labels = unseen.Labels.from_values([["b", "a"], "a"], ["x", "y"])
    rows = [tuple(row.values()) for row in predict_classes(labels).to_pylist()]
    assert rows == [("x", "a|b", 1.0, "labelled"), ("y", "a", 1.0, "labelled")]


def test_with_one_class_nothing_is_a_candidate_and_nothing_has_a_probability(case: Any) -> None:
    others = [name for name in case.labels.classes if name != "c0"]
    labels = case.labels.keep(case.labels.labelled, without=others)
    found = unseen.discover(case.data.graph, labels, random_state=0)
    rows = [row for row in found.predictions().to_pylist() if row["status"] != "labelled"]
    assert {(row["class"], row["probability"], row["status"]) for row in rows} == {("c0", None, "predicted")}
