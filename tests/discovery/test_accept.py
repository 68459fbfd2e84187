"""Found groups become labels, from a table of nodes or from a discovery."""

from __future__ import annotations

import logging
from dataclasses import replace

import pyarrow as pa
import pytest

import unseen
from unseen.discovery.tables import accept, read_nodes

NODES = pa.table(
    {
        "node": ["b", "c", "d", "e"],
        "group": ["new-1", "new-1", "new-2", None],
        "unseen_probability": [0.9, 0.6, 0.95, 0.2],
        "q_value": [0.01, 0.08, 0.02, 0.7],
    }
)


def values(labels: unseen.Labels) -> dict[object, list[str]]:
    return {
        labels.node_ids[row]: [labels.classes[k] for k in labels.indicator[[row]].indices]
        for row in labels.labelled
    }


@pytest.fixture
def labels() -> unseen.Labels:
    return unseen.Labels.from_values(["net", ["net", "web"]], ["a", "f"])


def test_groups_are_added_and_other_labels_stay(labels, caplog):
    with caplog.at_level(logging.INFO, "unseen"):
        result = accept(labels, NODES, {"new-1": "mail", "new-2": "net"})
    assert values(result) == {"a": ["net"], "b": ["mail"], "c": ["mail"], "d": ["net"], "f": ["net", "web"]}
    assert result.guesses == {"b", "c", "d"}
    added = ["mail: 2 labels added from new-1", "net: 1 label added from new-2; net was a class already"]
    assert caplog.messages == added


def test_part_of_a_group_one_name_for_two_and_one_left_out(labels, caplog):
    result = accept(labels, NODES, {"new-1": "mail", "new-2": "mail"}, at_least=0.8)
    assert values(result).keys() == {"a", "b", "d", "f"}
    with caplog.at_level(logging.INFO, "unseen"):
        assert values(accept(labels, NODES, {"new-1": "", "new-2": ""})) == values(labels)
    assert caplog.messages == ["no label was added"]


def test_answers_other_than_a_class_stay_until_there_is_one(labels):
    asked = replace(labels, answers={"e": "skipped", "z": "unknown"})
    assert accept(asked, NODES, {"new-1": "mail"}).answers == {"e": "skipped", "z": "unknown"}
    asked = replace(unseen.Labels.from_values([None], ["b"]), answers={"b": "skipped"})
    assert accept(asked, NODES, {"new-1": "mail"}).answers == {}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"new-3": "mail"}, r"unknown group 'new-3'; did you mean .* Known: new-1, new-2"),
        ({"new-1": "a|b"}, r"the class name 'a\|b' would not be read back"),
        (
            {"new-1": "mail"},
            r"node 'b' of new-1 has the label 'net' already, .*\(2 nodes in all .*leave the group out",
        ),
    ],
)
def test_an_unknown_group_and_another_label_are_refused(names, message):
    known = unseen.Labels.from_values(["net", "net"], ["b", "c"])
    with pytest.raises(unseen.InputError, match=message):
        accept(known, NODES, names)
    assert values(accept(known, NODES, {"new-1": "net"})) == values(known)


def test_a_lower_error_rate_accepts_fewer_nodes_and_needs_one(labels, caplog):
    assert values(accept(labels, NODES, {"new-1": "mail"}, fdr=0.05)).keys() == {"a", "b", "f"}
    without = NODES.drop_columns(["q_value"])
    with caplog.at_level(logging.INFO, "unseen"):
        assert values(accept(labels, without, {"new-1": "mail"})).keys() == {"a", "b", "c", "f"}
    assert any("no error rate" in message for message in caplog.messages)
    with pytest.raises(unseen.InputError, match="have no error rate, so `fdr` cannot be chosen"):
        accept(labels, without, {"new-1": "mail"}, fdr=0.1)


@pytest.mark.parametrize("value", [-0.1, 1.5, "0.8", True, float("nan")])
def test_a_limit_that_is_no_probability_is_refused(labels, value):
    with pytest.raises(unseen.InputError, match="`at_least` is a probability, a number from 0 to 1, got"):
        accept(labels, NODES, {"new-1": "mail"}, at_least=value)


def test_numbers_and_texts_meet_as_texts():
    nodes = pa.table({"node": [7, 8], "group": ["new-1"] * 2, "unseen_probability": [0.9, 0.9]})
    result = accept(unseen.Labels.from_values(["x"], ["7"]), nodes.slice(1), {"new-1": "y"})
    assert values(result) == {"7": ["x"], "8": ["y"]}
    with pytest.raises(unseen.InputError, match="node '7' of new-1 has the label 'x' already"):
        accept(unseen.Labels.from_values(["x"], ["7"]), nodes, {"new-1": "y"})


def test_a_discovery_gives_all_labels_with_the_groups_added(case):
    group, confirmed = case.found.classes[0], case.labels.node_ids[case.labels.labelled[0]]
    labels = replace(case.labels, answers={confirmed: "confirmed"})
    result = replace(case.found, labels=labels).accept({group.group: "mine"}, at_least=0.8)
    assert result.node_ids.tolist() == case.data.graph.node_ids.tolist()
    rows = [row for row in case.found.nodes.to_pylist() if row["group"] == group.group]
    expected = {row["node"] for row in rows if row["unseen_probability"] >= 0.8}
    assert {node for node, names in values(result).items() if "mine" in names} == expected
    assert {k: v for k, v in values(result).items() if k not in expected} == values(case.labels)
    assert result.answers == {confirmed: "confirmed"}


@pytest.mark.parametrize("name", ["nodes.csv", "nodes.tsv.gz", "nodes.parquet"])
def test_what_discover_writes_is_read(case, tmp_path, name):
    case.found.save(tmp_path / name)
    nodes = read_nodes(tmp_path / name)
    assert nodes["group"].to_pylist() == case.found.nodes["group"].to_pylist()
    assert list(map(str, nodes["node"].to_pylist())) == list(map(str, case.found.nodes["node"].to_pylist()))


def test_another_table_is_refused_by_the_column_it_lacks(tmp_path):
    (tmp_path / "labels.csv").write_text("node,label\na,x\n")
    with pytest.raises(unseen.InputError, match=r"labels\.csv' has no column 'group'"):
        read_nodes(tmp_path / "labels.csv")
