"""Labels that are probably wrong: planted errors are found, in any order of nodes, with several labels too."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
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
    nodes, given, likely, p = (column.to_numpy(zero_copy_only=False) for column in doubts.columns)
    assert np.mean(nodes % 10 == 0) > 0.9
    assert len(nodes) > 35
    assert np.mean(likely == [f"c{data.labels.codes[k]}" for k in nodes]) > 0.9
    assert given.tolist() == [labels.classes[labels.codes[k]] for k in nodes]
    assert (p > 0.5).all()
    assert (np.diff(p) <= 0).all()


def test_right_labels_are_left_alone():
    data = unseen.planted_partition(300, 3, degree_within=10, words_of_class=6, random_state=0)
    assert unseen.audit(data.graph, data.labels, random_state=0).num_rows == 0


def test_an_audit_that_cannot_judge_lists_nothing():
    # Customers who are linked to merchants only, and features that say nothing: no label is wrong.
    rng = np.random.default_rng(0)
    links = [(c, 300 + m) for c in range(300) for m in rng.choice(52, rng.integers(3, 8), replace=False)]
    features = rng.normal(size=(352, 4))
    graph = unseen.Graph.from_edges(*zip(*links, strict=True), nodes=range(352), features=features)
    labels = unseen.Labels.from_values(["retail"] * 200 + ["business"] * 100 + ["merchant"] * 52)
    issues = unseen.audit(graph, labels, random_state=0)
    assert issues.num_rows == 0
    assert issues.expected_precision < 0.2
    assert issues.sentence.startswith("No label is listed")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
def test_the_expected_precision_foretells_the_true_one(share):
    data = unseen.planted_partition(
        600, 5, degree_within=6, degree_between=3, words_of_class=2, random_state=1
    )
    rng = np.random.default_rng(2)
    codes = data.labels.codes.copy()
    wrong = rng.choice(600, round(600 * share), replace=False)
    codes[wrong] = (codes[wrong] + 1 + rng.integers(4, size=len(wrong))) % 5
    issues = unseen.audit(data.graph, unseen.Labels.from_values([f"c{k}" for k in codes]), random_state=0)
    assert len(issues) > 5
    true = np.isin(issues["node"].to_numpy(), wrong).mean()
    assert issues.expected_precision == pytest.approx(true, abs=0.2)


def test_issues_are_a_table_and_show_as_one(flipped):
    data, labels = flipped
    graph = data.graph.with_features(data.graph.features, texts=[f"<b>text {k}</b>" for k in range(400)])
    issues = unseen.audit(graph, labels, random_state=0)
    first = issues.to_pylist()[0]
    assert pa.table(issues).num_rows == len(issues) == issues.num_rows
    assert float(issues.schema.metadata[b"unseen.expected_precision"]) == pytest.approx(
        issues.expected_precision, abs=1e-4
    )
    assert pickle.loads(pickle.dumps(issues)).expected_precision == issues.expected_precision
    assert f"about {100 * issues.expected_precision:.0f} % of the listed labels" in str(issues)
    shown = issues._repr_html_()
    assert f"&lt;b&gt;text {first['node']}&lt;/b&gt;" in shown
    assert "<b>" not in shown


def test_the_order_of_the_nodes_does_not_matter(flipped):
    data, labels = flipped
    shuffled = data.graph.subgraph(np.random.default_rng(0).permutation(400))
    one, two = (unseen.audit(each, labels, random_state=0) for each in (data.graph, shuffled))
    assert one.drop_columns("probability").equals(two.drop_columns("probability"))
    assert one["probability"].to_numpy() == pytest.approx(two["probability"].to_numpy(), abs=1e-6)


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


def test_the_only_label_of_a_class_is_not_judged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="unseen")
    data = unseen.planted_partition(60, 2, random_state=0)
    values = [data.labels.classes[code] for code in data.labels.codes]
    values[7] = "alone"
    doubts = unseen.audit(data.graph, unseen.Labels.from_values(values), random_state=0)
    assert "alone" not in doubts.column("label").to_pylist()
    assert "not judged, because these classes have one label each: alone" in caplog.text
