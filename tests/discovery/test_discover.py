"""Discovery finds planted classes, says how far to trust it, and copes with odd graphs."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import unseen
from unseen.discovery.truth import compare


def planted(**options):
    return unseen.planted_partition(**{"n_nodes": 300, "n_classes": 5, "random_state": 0, **options})


def hidden(data, names, rate=0.3):
    split = unseen.completely_imbalanced_split(data.labels, label_rate=rate, unseen=names, random_state=0)
    return split.seen_labels


def shuffle(graph, seed=1):
    return graph.subgraph(np.random.default_rng(seed).permutation(graph.n_nodes))


def test_planted_classes_are_found_and_named_by_their_words(case):
    assert case.truth.auroc > 0.97
    assert case.truth.ece < 0.1
    assert case.found.count.best == 2
    assert min(case.truth.accuracy_unseen, case.truth.accuracy_seen) > 0.8
    for group, name, _ in case.truth.matches:
        caption = next(c for c in case.found.classes if c.name == group).caption
        assert all(word.startswith(name + "_") for word in caption[:5])


def test_the_table_has_the_unlabelled_nodes_in_order_and_agrees_with_the_classes(case):
    table = case.found.nodes
    assert table.column_names == ["node", "unseen_probability", "likely_class", "group", "name", "selected"]
    nodes, p, likely, groups, _, selected = (column.to_pylist() for column in table.columns)
    unlabelled = np.setdiff1d(np.arange(600), case.labels.labelled)
    assert nodes == case.data.graph.node_ids[unlabelled].tolist()
    assert all(0 <= each <= 1 for each in p)
    assert set(likely) <= set(case.labels.classes)
    assert [group is not None for group in groups] == selected
    sizes = [c.size for c in case.found.classes]
    assert sizes == sorted(sizes, reverse=True)
    for found in case.found.classes:
        assert found.size == len(found.members)
        assert set(found.members) == {n for n, g in zip(nodes, groups, strict=True) if g == found.name}
        assert found.nearest_seen in case.labels.classes
        assert 0.5 < found.edge_ratio <= 1
        assert 0.5 < found.probability <= 1
        typical = {case.data.labels.codes[node] for node in found.members[:10]}
        assert len(typical) == 1


def test_the_self_test_foretells_the_truth(case):
    test = case.found.self_test
    assert [h.name for h in test.classes] == ["c0", "c2", "c3", "c5"]
    assert abs(test.auroc - case.truth.auroc) < 0.05
    assert 0 <= test.ece < 0.15
    assert 0 <= test.brier < 0.15
    assert sum(b.n for b in test.bins) > 100


def test_the_coverage_counts_and_finds_nothing_to_worry_about(case):
    coverage = case.found.coverage
    assert dict(coverage.classes) == dict(zip(case.labels.classes, case.labels.counts.tolist(), strict=True))
    assert coverage.coverage == pytest.approx(len(case.labels.labelled) / 600)
    assert coverage.homophily > 0.7 > coverage.expected_homophily
    assert coverage.reach < 0.6
    assert abs(coverage.expected_unseen - case.truth.n_hidden) < 0.25 * case.truth.n_hidden
    assert coverage.warnings == ()


def test_reasons_tell_new_from_known(case):
    reasons = case.found.reasons(case.found.classes[0].members[0])
    assert {r.part for r in reasons} == {"no_class_fits", "unlike_labelled", "neighbourhood"}
    assert all(r.rank > 0.7 for r in reasons)
    assert abs(reasons[0].rank - 0.5) >= abs(reasons[-1].rank - 0.5)
    with pytest.raises(unseen.InputError, match="is not among the"):
        case.found.reasons(int(case.labels.labelled[0]))


def test_where_no_class_is_missing_little_is_found():
    data = planted(n_nodes=600, degree_within=8, words_of_class=5)
    labels = unseen.balanced_split(data.labels, label_rate=0.3, random_state=0).seen_labels
    found = unseen.discover(data.graph, labels, random_state=0)
    assert found.coverage.expected_unseen < 0.1 * found.nodes.num_rows


def test_a_heterophilous_graph_is_not_smoothed():
    data = planted(n_nodes=400, n_classes=4, words_of_class=6, degree_within=0.2, degree_between=6)
    found = unseen.discover(data.graph, hidden(data, ["c1"]), random_state=np.random.default_rng(0))
    assert found.coverage.homophily < found.coverage.expected_homophily
    assert any("heterophilous" in w for w in found.coverage.warnings)
    assert found.embedding.params["steps"] == 0
    assert found.evidence["no_class_fits"].null_count == found.nodes.num_rows
    assert compare(found, data.labels).auroc > 0.9


def test_what_is_linked_to_what_is_a_sign_where_linked_nodes_differ():
    # Classes go in a ring: nodes have the words of the next class and neighbours of the one after.
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 100)
    rows = np.repeat(np.arange(400), 4)
    others = [int(rng.choice(np.flatnonzero(codes == (codes[row] + 1) % 4))) for row in rows]
    words = np.eye(4)[rng.integers(4, size=400)]  # of no use by themselves
    words[:, 0] += codes % 2
    graph = unseen.Graph.from_edges(rows, others, nodes=range(400), features=words)
    truth = unseen.Labels.from_values([f"c{codes[k]}" for k in graph.node_ids], graph.node_ids)
    labels = hidden(unseen.Dataset("ring", graph, truth), ["c1"], 0.4)
    result = unseen.discover(graph, labels, random_state=0)
    assert result.embedding.params["steps"] == 0
    assert compare(result, truth).auroc > 0.7


def test_without_features_captions_are_central_nodes():
    data = planted(n_nodes=400, degree_within=12, degree_between=1)
    ids = [f"n{k}" for k in range(400)]
    seen = hidden(data, ["c2"])
    graph, labels = unseen.Graph(data.graph.adjacency, node_ids=ids), unseen.Labels(*_parts(seen), ids)
    found = unseen.discover(graph, labels, random_state=0)
    best = max(found.classes, key=lambda c: c.size)
    assert best.caption_kind == "central nodes"
    assert set(best.caption) <= set(best.members)
    assert compare(found, unseen.Labels(*_parts(data.labels), ids)).auroc > 0.95


def _parts(labels):
    return labels.indicator, labels.classes


def test_one_labelled_class_gives_a_ranking_and_no_numbers():
    data = planted(n_classes=3)
    found = unseen.discover(data.graph, hidden(data, ["c0", "c1"]), random_state=0)
    assert not found.has_estimate
    assert compare(found, data.labels).auroc > 0.9
    assert found.self_test.verdict in found.coverage.warnings
    text = " ".join(str(found).split())
    assert not re.search("[Aa]bout [0-9]|new-1|[0-9] missing class", text)
    p = found.nodes["unseen_probability"].to_numpy()
    first = found.nodes["node"][int(p.argmax())].as_py()
    assert f"{first} ({p.max():.2f})" in text
    report = found.to_json()
    assert (report["has_estimate"], report["count"], report["expected_unseen"]) == (False, None, None)
    assert "no estimate" in repr(found)
    assert str(first) in found._repr_html_()


def test_print_shows_the_summary_and_repr_stays_short(case):
    assert str(case.found) == case.found.summary().rstrip()
    assert repr(case.found).startswith("Discovery(477 unlabelled nodes, candidate classes: new-1: ")


def test_notebooks_show_classes_with_texts():
    data = planted(n_classes=4)
    texts = [f"<i>about {node}</i>" for node in data.graph.node_ids]
    graph = data.graph.with_features(data.graph.features, texts=texts)
    found = unseen.discover(graph, hidden(data, ["c1"]), random_state=0)
    shown = found._repr_html_()
    assert f"&lt;i&gt;about {found.classes[0].members[0]}&lt;/i&gt;" in shown
    assert "<i>" not in shown
    assert found.classes[0].caption[0] in shown


@pytest.mark.parametrize(("directed", "signed"), [(True, True), (False, False)])
def test_graphs_of_relations_with_few_features(directed, signed):
    data = planted(n_nodes=120, n_classes=3)
    upper = sp.triu(data.graph.adjacency, 1).tocsr()
    upper.data[:5] *= -1 if signed else 1
    features = np.random.default_rng(0).normal(size=(120, 5)) + 2 * np.eye(3, 5)[data.labels.codes]
    relation = unseen.Relation("edge", None, None, upper, directed)
    graph = unseen.Graph.from_relations([relation], features=features)
    found = unseen.discover(graph, hidden(data, ["c1"]), random_state=0)
    assert compare(found, data.labels).auroc > 0.8


def test_a_small_discovery_has_nothing_to_say_about_columns(caplog):
    data = planted(n_nodes=60, n_classes=3)
    graph = data.graph.with_features(np.random.default_rng(0).random((60, 5)))
    with caplog.at_level("INFO", logger="unseen"):
        unseen.discover(graph, hidden(data, ["c1"]), random_state=0)
    assert not [record for record in caplog.messages if "dimensions" in record or "default" in record]


def test_very_few_labels_work_and_are_told_of():
    data = planted(n_classes=4)
    rows = np.concatenate([np.flatnonzero(data.labels.codes == k)[:2] for k in (0, 1)])
    found = unseen.discover(data.graph, data.labels.keep(rows, without=["c2", "c3"]), random_state=0)
    assert found.nodes.num_rows == 296
    assert any("Few nodes are labelled c0 (2), c1 (2)" in w for w in found.coverage.warnings)


def test_several_labels_a_node_work_with_a_warning():
    data = planted(n_nodes=400)
    indicator = data.labels.indicator.toarray()
    indicator[::7, 0] = True
    labels = unseen.Labels(indicator, data.labels.classes, data.graph.node_ids)
    seen = hidden(unseen.Dataset("x", data.graph, labels), ["c3"])
    found = unseen.discover(data.graph, seen, random_state=0)
    # classes overlap: nothing is known about their number
    assert (found.count.low, found.count.high) == (0, found.nodes.num_rows // 5)
    assert "How many missing classes they form cannot be estimated." in " ".join(found.summary().split())
    truth = compare(found, labels)
    assert truth.auroc > 0.9
    assert truth.accuracy_all is None


def test_the_number_of_classes_is_open_where_the_test_failed():
    data = planted(n_nodes=400)
    names = [f"c{k % 4}" for k in np.random.default_rng(0).permutation(400)]  # classes that the graph lacks
    labels = unseen.Labels.from_values([*names[:200], *[None] * 200], data.graph.node_ids)
    found = unseen.discover(data.graph, labels, random_state=0)
    assert found.self_test.failed
    assert (found.count.low, found.count.high, found.count.curve) == (0, 40, ())


@pytest.mark.parametrize(
    ("rows", "message"),
    [(slice(None), "all 300 nodes have a label, so there is nothing"), ([], "there are no labels")],
)
def test_nothing_to_do_gets_a_sentence(rows, message):
    data = planted()
    with pytest.raises(unseen.InputError, match=message):
        unseen.discover(data.graph, data.labels.keep(np.arange(300)[rows]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": 3}, "`method` must be"),
        ({"method": "rekt"}, "unknown method 'rekt'"),
        ({"method": unseen.Embedding([[1.0]])}, "no vector for 599 of 600 nodes"),
        ({"n_classes": -1}, "`n_classes` must be"),
        ({"n_classes": True}, "`n_classes` must be"),
        ({"labels": 3}, "`labels` must have"),
        ({"rates": "often"}, "unknown choice of `rates`"),
        ({"fdr": 0}, "`fdr` is a share"),
    ],
)
def test_bad_arguments_get_a_sentence(case, options, message):
    with pytest.raises(unseen.InputError, match=message):
        unseen.discover(case.data.graph, **{"labels": case.labels, **options})


@pytest.mark.slow
def test_the_number_of_classes_can_be_given(case):
    found = unseen.discover(case.data.graph, case.labels, n_classes=3, random_state=0)
    assert len(found.classes) == 3
    assert unseen.discover(case.data.graph, case.labels, n_classes=0, random_state=0).classes == ()


def test_vectors_of_any_tool_can_be_used(case):
    rng = np.random.default_rng(0)
    own = np.eye(6)[case.data.labels.codes] + rng.normal(0, 0.1, (600, 6))
    shuffled = rng.permutation(600)
    vectors = unseen.Embedding(own[shuffled], case.data.graph.node_ids[shuffled])
    found = unseen.discover(case.data.graph, case.labels, method=vectors, random_state=0)
    assert compare(found, case.data.labels).auroc > 0.99


@pytest.mark.parametrize("method", ["rsdne", "vectors of rsdne"])
def test_vectors_that_know_the_labels_have_no_error_rate(case, method):
    vectors = np.eye(6)[case.data.labels.codes] + np.random.default_rng(0).normal(0, 0.5, (600, 6))
    made = unseen.Embedding(vectors, case.data.graph.node_ids, "rsdne")
    learned = made if method != "rsdne" else method
    found = unseen.discover(case.data.graph, case.labels, method=learned, random_state=0)
    assert "learned from labels" in found.guarantee.reason
    assert any("looks better than it should" in w for w in found.coverage.warnings) == (learned is made)


@pytest.mark.slow
def test_the_bundled_graph_reaches_its_goal():
    data = unseen.load_dataset("debian")
    found = unseen.discover(data.graph, hidden(data, ["mail", "fonts", "sound"]), random_state=0)
    assert compare(found, data.labels).auroc > 0.96
    words = {word for c in found.classes for word in c.caption}
    assert words & {"mail", "font", "fonts", "audio", "music", "midi"}


@pytest.mark.slow
@pytest.mark.parametrize("as_text", [False, True])
def test_nothing_depends_on_the_order_of_nodes_and_classes(case, as_text):
    graph, labels = case.data.graph, case.labels
    if as_text:
        ids = [f"node {k}" for k in graph.node_ids]
        graph = unseen.Graph(graph.adjacency, graph.features, ids, graph.feature_names)
        labels = unseen.Labels(labels.indicator, labels.classes, ids)
    before = unseen.discover(graph, labels, random_state=0)
    columns = sp.hstack([sp.csr_array((graph.n_nodes, 1), dtype=bool), labels.indicator[:, ::-1]])
    turned = unseen.Labels(columns, ("a class without labels", *labels.classes[::-1]), labels.node_ids)
    shuffled = shuffle(graph)
    after = unseen.discover(shuffled, turned, random_state=0)
    unlabelled = np.diff(labels.align_to(shuffled).indicator.indptr) == 0
    assert after.nodes["node"].to_pylist() == shuffled.node_ids[unlabelled].tolist()
    assert after.embedding.node_ids.tolist() == shuffled.node_ids.tolist()
    assert after.nodes.sort_by("node").equals(before.nodes.sort_by("node"))
    assert after.evidence.sort_by("node").equals(before.evidence.sort_by("node"))
    assert (after.classes, after.count, after.self_test) == (before.classes, before.count, before.self_test)
    assert np.array_equal(after.embedding.rows(graph.node_ids), before.embedding.vectors)


@pytest.mark.slow
@pytest.mark.parametrize("world", [0, 1, 7])
def test_raw_columns_of_any_scale(world: int) -> None:
    """Companies: revenue about 10^4 beside rates about 0.1; in two worlds the numbers alone do not do."""
    rng = np.random.default_rng(world)
    group = rng.integers(0, 5, 2000)
    links = np.triu(rng.random((2000, 2000)) < np.where(group[:, None] == group, 0.02, 0.001), 1)
    numbers = rng.normal(size=(5, 4))[group] + rng.normal(size=(2000, 4))
    raw = numbers * [3e3, 0.03, 0.02, 0.05] + [1e4, 0.1, 0.2, 0.1]
    graph = unseen.Graph.from_edges(*np.nonzero(links), nodes=np.arange(2000), features=raw)
    given = rng.random(2000) < 0.3
    values = [f"c{c}" if c < 3 and g else None for c, g in zip(group, given, strict=True)]
    nodes = unseen.discover(graph, unseen.Labels.from_values(values), random_state=0).nodes
    hidden = group[nodes["node"].to_numpy()] >= 3
    assert roc_auc_score(hidden, nodes["unseen_probability"].to_numpy()) >= 0.99
