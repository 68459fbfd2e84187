"""Classes known by name only: words say which nodes are theirs; what cannot be meant gets a sentence."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.cli.inputs import parse_names
from unseen.discovery.names import add_support
from unseen.discovery.truth import compare
from unseen.discovery.words import weigh_features


@pytest.fixture(scope="module")
def named(case):
    described = {"first": "has c1", "second": "whatever c4 has"}
    return unseen.discover(case.data.graph, case.labels, names=described, random_state=0)


def test_words_decide_among_new_nodes(case, named):
    codes, meant = case.data.labels.codes, {"first": 1, "second": 4}
    given = [row for row in named.nodes.to_pylist() if row["name"] is not None]
    assert np.mean([meant[row["name"]] == codes[row["node"]] for row in given]) > 0.95
    assert sum(codes[row["node"]] in (1, 4) for row in given) > 0.9 * case.truth.n_hidden
    assert all(row["unseen_probability"] > 0.5 for row in given)
    assert compare(named, case.data.labels).auroc > case.truth.auroc - 0.01


def test_groups_keep_their_numbers_and_get_names(case, named):
    assert sorted(each.name for each in named.classes) == ["first", "second"]
    assert [each.group for each in named.classes] == ["new-1", "new-2"]
    assert all(each.name_confidence > 0.9 for each in named.classes)
    assert f"new-1 ({named.classes[0].name}, which fits" in named.summary()
    plain = case.found.classes[0]
    assert (plain.name, plain.group, plain.name_confidence) == ("new-1", "new-1", None)
    assert case.found.nodes["name"].null_count == case.found.nodes.num_rows


def test_a_class_that_is_not_missing_is_absent_and_changes_nothing(case, named):
    result = unseen.discover(case.data.graph, case.labels, names={"other": "c0"}, random_state=0)
    assert result.absent == ("other",)
    assert result.nodes["unseen_probability"].equals(case.found.nodes["unseen_probability"])
    assert "No node seems to belong to: other." in result.summary()
    names = {"first": "has c1", "other": "c0", "second": "whatever c4 has"}
    result = unseen.discover(case.data.graph, case.labels, names=names, random_state=0)
    assert result.absent == ("other",)
    assert result.nodes.equals(named.nodes)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"c0": "c1"}, "the name 'c0' is that of a labelled class already"),
        ({" ": "c1"}, "a name of a class is empty"),
        (
            {"mail": "letters and stamps"},
            "no word of the name 'mail' or its description is among the features",
        ),
        (["mail"], "`names` must map names of classes to descriptions, got list"),
    ],
)
def test_names_that_cannot_be_used_get_a_sentence(case, names, message):
    with pytest.raises(unseen.InputError, match=message):
        unseen.discover(case.data.graph, case.labels, names=names)


def test_features_without_names_get_a_sentence(case):
    graph = unseen.Graph(case.data.graph.adjacency, case.data.graph.features)
    with pytest.raises(unseen.InputError, match="only where features have names"):
        unseen.discover(graph, case.labels, names={"mail": "letters"})


def test_entries_are_split_at_the_first_colon_and_a_file_has_columns(tmp_path):
    assert parse_names(["mail: route: read"]) == {"mail": "route: read"}
    with pytest.raises(unseen.InputError, match="the name 'mail' is given twice"):
        parse_names(["mail: a", "mail: b"])
    file = tmp_path / "names.csv"
    file.write_text('\ufeffname,description\nmail,"read, compose"\na:b,\nsound\n', encoding="utf-8")
    assert parse_names(["web"], file) == {"web": "", "mail": "read, compose", "a:b": "", "sound": ""}
    for text, there in (("class,words\nmail,read\n", "has the columns class, words"), ("", "is empty")):
        file.write_text(text)
        with pytest.raises(unseen.InputError, match=f"{there}; names are a csv file"):
            parse_names([], file)
    with pytest.raises(unseen.InputError, match="there is no file"):
        parse_names([], tmp_path / "none.csv")


@pytest.mark.parametrize("kind", ["of hardly any node", "of every node", "numbers"])
def test_words_that_say_nothing_of_a_class_are_absent(case, kind):
    graph, name = case.data.graph, "teeth"
    column = np.ones((graph.n_nodes, 1))
    if kind == "of hardly any node":
        unlabelled = np.setdiff1d(np.arange(graph.n_nodes), case.labels.labelled)
        column[:] = 0
        column[unlabelled[case.data.labels.codes[unlabelled] == 1][:3]] = 1
    features = sp.csr_array(sp.hstack([graph.features, column]))
    if kind == "numbers":
        features, name = features.toarray() + 1.0, "c1"
    graph = graph.with_features(features, (*graph.feature_names, "teeth"))
    assert unseen.discover(graph, case.labels, names={name: ""}, random_state=0).absent == (name,)


def test_a_feature_counts_by_how_much_of_it_is_said_in_rare_words(case):
    names = ("computer vision", "computer science", "vision", "computers", "trees")
    rows = np.eye(5)[[0, 1, 2, 3, 3, 4]] + np.eye(6, 5, 1) * (np.arange(6) == 3)[:, None]
    graph = unseen.Graph(sp.csr_array((6, 6)), rows, feature_names=names)
    weight = weigh_features({"computer_vision": "trees"}, graph, case.labels)["computer_vision"]
    # 4 of 6 nodes have a feature with "computer", 1 with "science", 2 with "vision" and "tree"
    computer, science, vision, tree = np.log(6 / np.array([4, 1, 2, 2]))
    both = 4 * (computer**2 + vision**2) / np.hypot(computer, vision)
    plain = [both, 4 * computer**2 / np.hypot(computer, science), 4 * vision, 4 * computer, tree]
    np.testing.assert_allclose(weight, plain)
    assert weight[0] > weight[2] > weight[3] > weight[1]


def test_a_name_whose_words_are_mostly_unknown_is_absent(case, caplog):
    names = {"teeth": "c1, dentists, clinics"}
    assert unseen.discover(case.data.graph, case.labels, names=names, random_state=0).absent == ("teeth",)
    assert "the features have no word of the name 'teeth', and few of its description" in caplog.text


@pytest.mark.parametrize("seed", range(3))
def test_words_of_no_class_are_absent_in_a_small_graph(seed):
    data = unseen.planted_partition(120, 4, degree_within=6, degree_between=2, random_state=seed)
    split = unseen.completely_imbalanced_split(data.labels, label_rate=0.3, unseen=["c3"], random_state=seed)
    noise = " ".join(f"noise{k}" for k in range(1, 7))
    names = {"nothing": noise, "there": "c3"}
    found = unseen.discover(data.graph, split.seen_labels, names=names, random_state=seed)
    assert found.absent == ("nothing",)


def test_names_raise_what_looks_new_without_them():
    p = np.array([0.0, 0.0001, 0.0625, 0.5, 1.0])
    np.testing.assert_allclose(add_support(p, np.full(5, 0.8)), [0, 0.08009, 0.4375, 0.83636, 1], atol=1e-5)
    np.testing.assert_allclose(add_support(p, np.zeros(5)), p)


def test_the_order_of_nodes_does_not_matter(case, named):
    order = np.random.default_rng(0).permutation(case.data.graph.n_nodes)
    names = {"first": "has c1", "second": "whatever c4 has"}
    other = unseen.discover(case.data.graph.subgraph(order), case.labels, names=names, random_state=0)
    assert other.nodes.sort_by("node").equals(named.nodes.sort_by("node"))


def test_an_encoder_serves_names_whose_words_no_node_has(case):
    graph, names = case.data.graph, {"cellos": "", "boats": ""}
    features = [name.replace("_", "") for name in graph.feature_names]
    graph = unseen.Graph(graph.adjacency, graph.features, graph.node_ids, features)
    with pytest.raises(unseen.InputError, match="no word of the name 'cellos'"):
        unseen.discover(graph, case.labels, names=names, random_state=0)
    # words of one class mean nearly the same, also two that no node has
    words = {word: int(word[1]) if word.startswith("c") else 5 for word in features}
    words |= {"cellos": 1, "boats": 4}
    vectors = np.eye(6)[list(words.values())] + 0.05 * np.random.default_rng(0).normal(size=(len(words), 6))
    encoder = unseen.StaticEncoder(words, vectors)
    found = unseen.discover(graph, case.labels, names=names, encoder=encoder, random_state=0)
    assert not found.absent
    rows, codes = found.nodes.to_pylist(), case.data.labels.codes
    right = [codes[row["node"]] == {"cellos": 1, "boats": 4}[row["name"]] for row in rows if row["name"]]
    assert np.mean(right) > 0.9
    with pytest.raises(unseen.InputError, match="knows no word of the name 'dentists'"):
        unseen.discover(graph, case.labels, names={"dentists": ""}, encoder=encoder, random_state=0)


def test_words_come_first_where_they_match(case, named):
    class Misleading:
        def encode(self, texts):
            raise AssertionError(texts)

    names = {"first": "has c1", "second": "whatever c4 has"}
    found = unseen.discover(case.data.graph, case.labels, names=names, encoder=Misleading(), random_state=0)
    assert found.nodes.equals(named.nodes)


def test_word_vectors_are_read_from_a_file(tmp_path):
    (tmp_path / "words.txt").write_text("2 2\nred 3.0 0.0\nWine 0.0 1.0\n")
    encoder = unseen.StaticEncoder.read(tmp_path / "words.txt")
    np.testing.assert_allclose(encoder.encode(["red WINE", "beer"]), [[0.5, 0.5], [0, 0]])
    with pytest.raises(unseen.InputError, match="2 words"):
        unseen.StaticEncoder(["a", "b"], [[1.0]])
