"""What to label next: found classes, new nodes unlike those before, what tells most about others, labels in doubt."""

from __future__ import annotations

import csv
import itertools
from dataclasses import replace

import numpy as np
import pytest

import unseen
from unseen.discovery.questions import most_telling
from unseen.discovery.tables import save_suggestions
from unseen_paper.bench.loop import Library, ask_and_answer, needed


def test_the_first_suggestions_name_the_found_classes(case):
    chosen = unseen.suggest(case.data.graph, case.labels, budget=12, discovery=case.found)
    assert len({one.node for one in chosen}) == 12
    assert [one.node for one in chosen[:6]] == list(case.found.questions)
    assert {one.group for one in chosen[:6]} >= {each.group for each in case.found.classes}
    assert chosen[0].reason.startswith("a typical member of new-")
    codes = case.data.labels.codes
    assert {case.data.labels.classes[codes[one.node]] for one in chosen[:6]} == {"c1", "c4"}
    assert not set(case.labels.labelled) & {one.node for one in chosen}
    table = dict(
        zip(*(case.found.nodes.column(c).to_pylist() for c in ("node", "unseen_probability")), strict=True)
    )
    assert all(one.unseen_probability == table[one.node] for one in chosen)


def test_a_budget_larger_than_the_graph_gives_every_node(case):
    chosen = unseen.suggest(case.data.graph, case.labels, budget=10_000, discovery=case.found)
    assert len(chosen) == case.found.nodes.num_rows
    assert any("only the best guess" in one.reason for one in chosen)


def test_without_labels_the_parts_of_the_graph_are_covered():
    data = unseen.planted_partition(200, 4, degree_within=10, degree_between=1, random_state=0)
    nothing = unseen.Labels.from_values([None] * 200)
    chosen = unseen.suggest(data.graph, nothing, budget=8, random_state=0)
    assert len(chosen) == 8
    assert set(data.labels.codes[[one.node for one in chosen]]) == {0, 1, 2, 3}
    assert "similar nodes without a label" in chosen[0].reason
    assert type(chosen[0].node) is int
    assert unseen.suggest(data.graph, None, budget=8, random_state=0) == chosen
    asked = replace(nothing, answers={chosen[0].node: "skipped"})
    again = unseen.suggest(data.graph, asked, budget=8, random_state=0)
    assert chosen[0].node not in {one.node for one in again}
    random = unseen.suggest(data.graph, None, budget=2, random=3, random_state=np.random.default_rng(0))
    assert [one.drawn for one in random] == ["random"] * 3 + ["score"] * 2


@pytest.mark.parametrize("options", [{"budget": 0}, {"budget": 2.5}, {"budget": True}, {"random": -1}])
def test_a_bad_number_gets_a_sentence(case, options):
    with pytest.raises(unseen.InputError, match=r"`(budget|random)` must be an integer of at least [01]"):
        unseen.suggest(case.data.graph, case.labels, **options)


@pytest.mark.slow
def test_it_finds_rare_classes_with_fewer_questions_than_chance():
    small = unseen.planted_partition(500, 10, degree_within=8, degree_between=1, random_state=0)
    rows = np.flatnonzero((small.labels.codes < 7) | (np.arange(500) % 6 == 0))
    graph = unseen.Graph(small.graph.adjacency[rows][:, rows], small.graph.features[rows])
    labels = unseen.Labels(small.labels.indicator[rows], small.labels.classes)
    data = unseen.Dataset("rare", graph, labels)
    questions = {"suggest": [], "random": []}
    for how, seed in itertools.product(questions, (1, 2)):
        rare = unseen.random_unseen_sets(labels, 3, 1, random_state=seed)[0]
        split = unseen.completely_imbalanced_split(labels, label_rate=0.1, unseen=rare, random_state=seed)
        tool = Library(data, split.seen_labels, how, seed)
        nodes = ask_and_answer(tool.ask, tool.answer, labels, most=60)
        questions[how].append(needed(labels.codes[nodes], labels.class_numbers(rare).tolist()))
    assert np.mean(questions["suggest"]) < np.mean(questions["random"])


def test_what_was_skipped_or_is_unknown_is_not_asked_again(case):
    asked = {case.found.questions[0]: "skipped", case.found.classes[0].members[0]: "unknown"}
    labels = unseen.Labels(case.labels.indicator, case.labels.classes, case.labels.node_ids, asked)
    found = replace(case.found, labels=labels)
    chosen = unseen.suggest(case.data.graph, labels, budget=500, discovery=found)
    assert len(chosen) == found.nodes.num_rows - len(asked)
    assert not set(asked) & {one.node for one in chosen}
    questions = [node for node in case.found.questions if node not in asked]
    assert [one.node for one in chosen[: len(questions)]] == questions


@pytest.mark.parametrize("first", [[], [3, 40]])
def test_the_most_telling_nodes_are_those_of_the_plain_definition(first):
    rng = np.random.default_rng(0)
    vectors, labelled = (rng.normal(size=(n, 6)) for n in (60, 9))
    vectors, labelled = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (vectors, labelled))
    doubt = rng.random(60)

    def left(rows):
        known = np.vstack([labelled, vectors[rows]])
        inverse = np.linalg.inv(np.eye(6) + known.T @ known)
        return doubt @ np.einsum("ij,jk,ik->i", vectors, inverse, vectors)

    expected = list(first)
    while len(expected) < 12:
        others = [row for row in range(60) if row not in expected]
        expected.append(min(others, key=lambda row: left([*expected, row])))
    rows = most_telling(vectors.astype("f4"), doubt, labelled.astype("f4"), np.array(first, dtype=int), 12)
    assert rows.tolist() == expected


@pytest.mark.slow
def test_where_no_new_class_is_left_the_most_telling_nodes_are_asked_about(case):
    known = case.data.labels.keep(np.flatnonzero(np.random.default_rng(0).random(600) < 0.3))
    found = unseen.discover(case.data.graph, known, random_state=0)
    assert not found.classes
    chosen = unseen.suggest(case.data.graph, known, budget=10, discovery=found)
    assert all(one.reason.startswith("represents similar nodes") for one in chosen[:7])
    assert all("hardly any label" in one.reason for one in chosen[7:])


@pytest.fixture(scope="module")
def wrong():
    """A planted graph, its labels of which every tenth is wrong, and what was found with them."""
    data = unseen.planted_partition(400, 4, degree_within=8, words_of_class=4, random_state=0)
    codes = data.labels.codes.copy()
    codes[::10] = (codes[::10] + 1) % 4
    values = [f"c{code}" if row % 10 != 3 else None for row, code in enumerate(codes)]
    labels = unseen.Labels.from_values(values, [f"n{row}" for row in range(400)])
    graph = unseen.Graph(data.graph.adjacency, data.graph.features, labels.node_ids)
    return graph, labels, [f"c{code}" for code in data.labels.codes]


def test_notebooks_show_suggestions_with_texts(case):
    graph = case.data.graph
    graph = graph.with_features(graph.features, texts=[f"text of {node}" for node in graph.node_ids])
    chosen = unseen.suggest(graph, case.labels, budget=4, discovery=case.found)
    shown = chosen._repr_html_()
    assert all(f"text of {one.node}<" in shown and one.reason in shown for one in chosen)
    bare = unseen.suggest(case.data.graph, case.labels, budget=4, discovery=case.found)
    assert bare == chosen
    assert "<th>text</th>" not in bare._repr_html_()


@pytest.mark.slow
def test_labels_that_are_probably_wrong_come_last(wrong):
    graph, labels, truth = wrong
    chosen = unseen.suggest(graph, labels, budget=20, random_state=0)
    assert [one.replaces is not None for one in chosen] == [False] * 16 + [True] * 4
    given = labels.to_lists()
    for one in chosen[16:]:
        assert int(one.node[1:]) % 10 == 0
        assert given[one.node] == [one.replaces]
        assert one.likely_class == truth[int(one.node[1:])]
        assert one.reason.startswith(f"the label {one.replaces} is probably wrong")
    few = unseen.suggest(graph, labels, budget=6, random_state=0)  # as many as settle the number of classes
    assert all(one.replaces is None for one in few)


@pytest.mark.slow
def test_answers_put_labels_right_and_no_doubt_is_asked_about_twice(wrong, tmp_path):
    graph, labels, truth = wrong
    labels.save(tmp_path / "labels.csv")
    files, asked, errors = [tmp_path / "labels.csv"], set(), []
    for number in range(2):
        known = unseen.read_labels(files, graph)
        errors.append(sum(names != [truth[int(node[1:])]] for node, names in known.to_lists().items()))
        questions = unseen.suggest(graph, known, budget=20, random_state=0)
        doubts = {one.node for one in questions if one.replaces}
        assert doubts
        assert asked.isdisjoint(doubts)
        asked |= doubts
        files.append(tmp_path / f"ask-{number}.csv")
        save_suggestions(questions, files[-1])
        rows = list(csv.DictReader(files[-1].read_text().splitlines()))
        with files[-1].open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            doubted = [row for row in rows if row["replaces"]]
            writer.writerows({**row, "label": truth[int(row["node"][1:])]} for row in doubted)
    assert not known.is_multilabel
    assert errors == [40, 40 - (len(asked) - len(doubts))]


@pytest.mark.slow
def test_the_audit_does_not_list_confirmed_labels(wrong):
    graph, labels, _ = wrong
    first = unseen.audit(graph, labels, random_state=0).column("node").to_pylist()
    confirmed = replace(labels, answers=dict.fromkeys(first[:3], "confirmed"))
    assert unseen.audit(graph, confirmed, random_state=0).column("node").to_pylist() == first[3:]


@pytest.mark.slow
def test_the_order_of_the_nodes_does_not_matter(wrong, case):
    graph, labels, _ = wrong
    nothing = unseen.Labels.from_values([None] * 600, case.data.graph.node_ids)
    for one, own in ((graph, labels), (case.data.graph, case.labels), (case.data.graph, nothing)):
        other = one.subgraph(np.random.default_rng(0).permutation(one.n_nodes))
        asked, again = (unseen.suggest(each, own, budget=20, random_state=0) for each in (one, other))
        pairs = [[(each.node, each.replaces, each.reason) for each in some] for some in (asked, again)]
        assert pairs[0] == pairs[1]
