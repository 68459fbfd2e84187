"""Labels that are probably wrong: planted errors are found, in any order of nodes, with several labels too."""

from __future__ import annotations

import numpy as np
import pytest

import unseen


@pytest.fixture(scope="module")
def flipped():
    """A planted graph and labels of which every tenth is wrong."""
    data = unseen.planted_partition(400, 4, degree_within=8, words_of_class=4, random_state=0)
    codes = data.labels.codes.copy()
    codes[::10] = (codes[::10] + 1) % 4
    return data, unseen.Labels.from_values([f"c{k}" for k in codes], data.graph.node_ids)


def test_planted_errors_are_found_and_put_right(flipped):
    data, labels = flipped
    doubts = unseen.audit(data.graph, labels, random_state=0)
    assert doubts.column_names == ["node", "label", "likely_class", "probability"]
    nodes = np.array(doubts.column("node").to_pylist())
    assert np.mean(nodes % 10 == 0) > 0.9
    assert len(nodes) > 35
    right = [f"c{data.labels.codes[k]}" for k in nodes]
    assert (
        np.mean([a == b for a, b in zip(right, doubts.column("likely_class").to_pylist(), strict=True)]) > 0.9
    )
    given = [labels.classes[labels.codes[k]] for k in nodes]
    assert doubts.column("label").to_pylist() == given
    p = doubts.column("probability").to_numpy()
    assert (p > 0.5).all()
    assert (np.diff(p) <= 0).all()


def test_right_labels_are_left_alone():
    data = unseen.planted_partition(300, 3, degree_within=10, words_of_class=6, random_state=0)
    assert unseen.audit(data.graph, data.labels, random_state=0).num_rows == 0


def test_the_order_of_the_nodes_does_not_matter(flipped):
    data, labels = flipped
    graph, rows = data.graph, np.random.default_rng(0).permutation(400)
    shuffled = unseen.Graph(graph.adjacency[rows][:, rows], graph.features[rows], graph.node_ids[rows])
    one, two = (unseen.audit(each, labels, random_state=0) for each in (graph, shuffled))
    assert one.drop_columns("probability").equals(two.drop_columns("probability"))
    assert one.column("probability").to_numpy() == pytest.approx(
        two.column("probability").to_numpy(), abs=1e-6
    )


def test_one_of_several_labels_is_doubted(flipped):
    data, _ = flipped
    indicator = data.labels.indicator.toarray()
    indicator[5, (data.labels.codes[5] + 1) % 4] = True
    doubts = unseen.audit(
        data.graph, unseen.Labels(indicator, data.labels.classes), random_state=0
    ).to_pylist()
    assert [(row["node"], row["label"]) for row in doubts] == [(5, f"c{(data.labels.codes[5] + 1) % 4}")]
    assert doubts[0]["likely_class"] not in {f"c{k}" for k in np.flatnonzero(indicator[5])}


def test_what_cannot_be_looked_at_gets_a_sentence(flipped):
    data, labels = flipped
    with pytest.raises(unseen.InputError, match="the labels have 1; label nodes of another class"):
        unseen.audit(data.graph, labels.keep(np.arange(400), without=["c0", "c1", "c2"]))
    with pytest.raises(unseen.InputError, match="rsdne learns from the labels that are to be looked at"):
        unseen.audit(data.graph, labels, method="rsdne")


def test_the_old_name_of_coverage_warns(case):
    with pytest.warns(FutureWarning, match="called coverage now"):
        assert case.found.audit is case.found.coverage


def test_the_only_label_of_a_class_is_not_judged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="unseen")
    data = unseen.planted_partition(60, 2, random_state=0)
    values = [data.labels.classes[code] for code in data.labels.codes]
    values[7] = "alone"
    doubts = unseen.audit(data.graph, unseen.Labels.from_values(values), random_state=0)
    assert "alone" not in doubts.column("label").to_pylist()
    assert "not judged, because these classes have one label each: alone" in caplog.text
