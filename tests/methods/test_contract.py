"""One suite for every registered method: what a user may rely on, whatever the method."""

from __future__ import annotations

import inspect
import logging
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import unseen
from unseen.methods.base import Method
from unseen.methods.registry import method_class

NAMES = unseen.method_names()
N = 48


def quick(name: str, **params: object) -> Method:
    """Make a method that is done in a moment."""
    allowed = inspect.signature(method_class(name)).parameters
    small = {"epochs": 8, "max_iter": 3, "n_components": 8, "random_state": 0}
    return unseen.make_method(name, **{k: v for k, v in {**small, **params}.items() if k in allowed})


def planted(
    *, features: bool = True, weighted: bool = False, seed: int = 0, clear: bool = True
) -> unseen.Graph:
    """Three groups (hard to tell apart, if not `clear`), one isolated node (the last), one self-loop, some weights."""
    rng = np.random.default_rng(seed)
    group = np.arange(N) % 3
    chance = np.where(group[:, None] == group[None, :], *((0.4, 0.03) if clear else (0.2, 0.1)))
    upper = np.triu(rng.random((N, N)) < chance, 1).astype(float)
    if weighted:
        upper *= rng.integers(1, 5, (N, N))
    adjacency = upper + upper.T
    adjacency[-1] = adjacency[:, -1] = 0
    adjacency[3, 3] = 1
    often = np.where(np.arange(30) % 3 == group[:, None], *((0.5, 0.1) if clear else (0.3, 0.2)))
    words = (rng.random((N, 30)) < often).astype(float)
    ids = [f"node {i}" for i in range(N)]
    return unseen.Graph(sp.csr_array(adjacency), sp.csr_array(words) if features else None, ids)


def labels_of(graph: unseen.Graph) -> unseen.Labels:
    """Label every other node with its group."""
    values = [f"c{i % 3}" if i % 2 else None for i in range(graph.n_nodes)]
    return unseen.Labels.from_values(values, graph.node_ids)


def dense(embedding: unseen.Embedding) -> np.ndarray:
    return embedding.vectors.toarray() if sp.issparse(embedding.vectors) else np.asarray(embedding.vectors)


def assert_same_gram(a: np.ndarray, b: np.ndarray) -> None:
    """Compare vectors up to a rotation, relative to their own size: some methods make very short ones."""
    gram = a @ a.T
    assert np.abs(gram - b @ b.T).max() <= 1e-4 * np.abs(gram).max() + 1e-12  # measured: below 1e-6


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    if method_class(request.param)._traits.extra == "neural":
        pytest.importorskip("torch")
    return request.param


SHOWN = {"fit", "transform", "fit_transform", "save", "load", "get_params", "set_params", "reference"}


def test_a_user_sees_parameters_and_the_interface_of_an_estimator(name: str) -> None:
    cls, fitted = method_class(name), quick(name).fit(planted(), labels_of(planted()))
    signature = inspect.signature(cls).parameters
    for shown in (dir(cls), dir(fitted)):
        public = {each for each in shown if not each.startswith("_")}
        assert {each for each in public if not each.endswith("_")} == SHOWN | set(signature)
    assert cls.reference
    assert all(section in cls.__doc__ for section in ("Parameters", "Examples", ">>> "))
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in signature.values())
    defaults = {key: parameter.default for key, parameter in signature.items()}
    assert vars(cls()) == cls().get_params() == defaults, "the constructor only stores"


@pytest.mark.parametrize("features", [True, False])
def test_every_node_gets_a_finite_float32_vector(name: str, features: bool) -> None:
    """The same for the same seed, and neither the input nor the global random state is changed."""
    graph, again = planted(features=features), planted(features=features)
    labels, method = labels_of(graph), quick(name, random_state=np.int64(3))
    torch = pytest.importorskip("torch") if method._traits.extra else None
    states = np.random.get_state()[1].copy(), torch and torch.get_rng_state()  # noqa: NPY002
    assert method.fit(graph, labels) is method
    embedding = method.embedding_
    assert embedding.vectors.shape[0] == N
    assert embedding.vectors.dtype == np.float32
    assert np.isfinite(dense(embedding)).all()
    assert embedding.node_ids.tolist() == graph.node_ids.tolist()
    assert (embedding.method, type(embedding.params["random_state"])) == (name, int)
    assert np.array_equal(dense(quick(name, random_state=3).fit_transform(again, labels)), dense(embedding))
    assert np.array_equal(np.random.get_state()[1], states[0])  # noqa: NPY002
    assert torch is None or torch.equal(torch.get_rng_state(), states[1])
    assert np.array_equal(labels.indicator.toarray(), labels_of(graph).indicator.toarray())
    fresh = planted(features=features)
    assert np.array_equal(graph.adjacency.toarray(), fresh.adjacency.toarray())
    assert not features or np.array_equal(graph.features.toarray(), fresh.features.toarray())


@pytest.mark.slow
def test_fitting_again_forgets_the_first_time_and_keeps_the_parameters(name: str) -> None:
    graph, other = planted(), planted(seed=1)
    method = quick(name)
    before = method.get_params()
    method.fit(other, labels_of(other))
    again = method.fit_transform(graph, labels_of(graph))
    assert method.get_params() == before
    assert np.array_equal(dense(again), dense(clone(method).fit_transform(graph, labels_of(graph))))


@pytest.mark.parametrize("features", [True, False])
def test_permuting_the_nodes_permutes_the_rows(name: str, features: bool) -> None:
    graph = planted(features=features)
    labels = labels_of(graph)
    order = np.random.default_rng(7).permutation(N)
    moved = None if graph.features is None else graph.features[order]
    shuffled = unseen.Graph(graph.adjacency[order][:, order], moved, graph.node_ids[order])
    there = dense(quick(name).fit_transform(graph, labels))[order].astype(float)
    here = dense(quick(name).fit_transform(shuffled, labels)).astype(float)
    assert_same_gram(here, there)


def hiding(graph: unseen.Graph) -> tuple[unseen.Labels, unseen.Split]:
    truth = unseen.Labels.from_values([f"c{i % 3}" for i in range(N)], graph.node_ids)
    return truth, unseen.completely_imbalanced_split(truth, label_rate=0.6, unseen=["c2"], random_state=0)


def test_hidden_classes_are_never_given(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = planted()
    truth, split = hiding(graph)
    given: list[unseen.Labels] = []
    checked = Method._check_labels

    def spy(self: Method, *arguments: object) -> unseen.Labels:
        given.append(checked(self, *arguments))
        return given[-1]

    monkeypatch.setattr(Method, "_check_labels", spy)
    unseen.evaluate_method(quick(name), graph, truth, split)
    visible = set(split.train.tolist()) - set(np.flatnonzero(truth.codes == 2).tolist())
    assert given
    for labels in given:  # of the method and of the methods inside it, for every fold
        assert not {"c2"} & set(labels.classes)
        assert set(labels.labelled.tolist()) <= visible
        known = {(row, labels.classes[labels.codes[row]]) for row in labels.labelled}
        assert known <= {(row, truth.classes[truth.codes[row]]) for row in visible}


def test_labels_are_used_exactly_where_the_class_says_so(name: str) -> None:
    """Given as labels, as a sequence or as a mapping."""
    graph = planted(clear=False)  # where it is clear, RECT+ takes the same views by any labels
    labels = labels_of(graph)
    values = [f"c{i % 3}" if i % 2 else None for i in range(N)]
    by_id = {f"node {i}": value for i, value in reversed(list(enumerate(values))) if value is not None}
    swapped = unseen.Labels(labels.indicator[:, [1, 2, 0]][::-1], labels.classes, graph.node_ids)
    first, second, third, other = (
        dense(quick(name).fit_transform(graph, each)) for each in (labels, values, by_id, swapped)
    )
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)
    assert np.array_equal(first, other) != method_class(name)._traits.uses_labels


def test_features_are_used_exactly_where_the_class_says_so(name: str) -> None:
    both = (planted(), planted(features=False))
    first, second = (dense(quick(name).fit_transform(graph, labels_of(graph))) for graph in both)
    assert np.array_equal(first, second) != method_class(name)._traits.uses_features


def test_no_labels_work_or_are_asked_for_in_a_sentence(name: str) -> None:
    graph = planted()
    if method_class(name)._traits.needs_labels:
        with pytest.raises(unseen.InputError, match="label"):
            quick(name).fit(graph)
    else:
        assert quick(name).fit(graph).embedding_.vectors.shape[0] == N


@pytest.mark.slow
@pytest.mark.parametrize("few", [["only"] * 10, ["a"] * 10 + ["b"]], ids=["one class", "a class of one node"])
def test_few_labels_work(name: str, few: list[str]) -> None:
    values = few + [None] * (N - len(few))
    assert np.isfinite(dense(quick(name).fit_transform(planted(), values))).all()


def test_several_labels_work_or_are_refused_in_a_sentence(name: str) -> None:
    graph = planted()
    values = [["a", "b"] if i % 4 == 0 else ["a"] if i % 3 else None for i in range(N)]
    if method_class(name)._traits.multilabel:
        assert np.isfinite(dense(quick(name).fit_transform(graph, values))).all()
    else:
        with pytest.raises(unseen.UnsupportedError, match="several"):
            quick(name).fit(graph, values)


@pytest.mark.slow
@pytest.mark.parametrize("features", [True, False])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_tiny_graphs_without_edges_work(name: str, features: bool, n: int) -> None:
    x = np.arange(n * 4, dtype=float).reshape(n, 4) if features else None
    graph = unseen.Graph(sp.csr_array((n, n)), x)
    method = quick(name, n_components=None)
    embedding = method.fit_transform(graph, ["a"] * n)
    assert embedding.vectors.shape[0] == n
    assert np.isfinite(dense(embedding)).all()


def test_weights_and_dense_features_work(name: str) -> None:
    graph = planted(weighted=True)
    as_dense = unseen.Graph(graph.adjacency, graph.features.toarray(), graph.node_ids)
    a = dense(quick(name).fit_transform(graph, labels_of(graph))).astype(float)
    b = dense(quick(name).fit_transform(as_dense, labels_of(graph))).astype(float)
    assert_same_gram(a, b)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "nodefeats"], indirect=True)
def test_n_components_is_the_number_of_columns(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph, default = planted(), method_class(name)._traits.default_components
    columns = {
        n: quick(name, n_components=n).fit_transform(graph, labels_of(graph)).vectors.shape[1]
        for n in (2, 10, None)
    }
    assert (columns[2], columns[10]) == (2, 10)
    refused = [0, *([10_000] if columns[None] < default else [])]
    assert ("(the default is " in caplog.text) == (len(refused) == 2)
    for number in refused:
        with pytest.raises(unseen.InputError, match="n_components"):
            quick(name, n_components=number).fit(graph, labels_of(graph))


def test_new_nodes_are_embedded_or_refused_in_a_sentence(name: str) -> None:
    graph = planted()
    method = quick(name)
    with pytest.raises(NotFittedError):
        method.transform(graph)
    method.fit(graph, labels_of(graph))
    smaller = unseen.Graph(graph.adjacency[:40][:, :40], graph.features[:40], graph.node_ids[:40])
    try:
        made = method.transform(smaller)
    except unseen.UnsupportedError:
        with pytest.raises(unseen.UnsupportedError, match="fit"):
            method.transform(smaller)
        return
    assert made.node_ids.tolist() == smaller.node_ids.tolist()
    assert made.vectors.shape == (40, method.embedding_.vectors.shape[1])
    same = dense(method.transform(graph)).astype(float)
    fitted = dense(method.embedding_).astype(float)
    lengths = np.linalg.norm(same, axis=1) * np.linalg.norm(fitted, axis=1)
    cosine = (same * fitted).sum(axis=1)[lengths > 0] / lengths[lengths > 0]
    assert np.median(cosine) > 0.7


def test_rows_of_the_adjacency_do_not_carry_over_to_another_graph(name: str) -> None:
    if not method_class(name)._traits.uses_features:
        return
    graph = planted(features=False)
    method = quick(name).fit(graph, labels_of(graph))
    for features in (False, True):
        with pytest.raises(unseen.UnsupportedError, match="cannot embed"):
            method.transform(planted(features=features))


@pytest.mark.slow
def test_transform_refuses_other_features_and_what_is_no_graph(name: str) -> None:
    graph = planted()
    method = quick(name).fit(graph, labels_of(graph))
    for other in ("x", None, graph.adjacency, unseen.Graph(sp.csr_array((0, 0)))):
        with pytest.raises(unseen.InputError):
            method.transform(other)
    for width in (29, 31):
        wide = unseen.Graph(graph.adjacency, sp.csr_array(np.ones((N, width))), graph.node_ids)
        with pytest.raises(unseen.InputError, match=f"has {width} features, at fit time there were 30"):
            method.transform(wide)


def test_wrong_input_gets_a_sentence(name: str) -> None:
    graph = planted()
    stranger = unseen.Labels.from_values(["a"], ["nobody"])
    empty = unseen.Graph(sp.csr_array((0, 0)))
    for given, labels, message in (
        (graph.adjacency, None, r"unseen\.Graph"),
        (empty, None, "no nodes"),
        (graph, stranger, "'nobody'"),
        (graph, ["c0"], "`labels` has 1 entry but the graph has 48 nodes"),
        (graph, "c0", "`labels` is the text 'c0'"),
        (graph, {"nobody": "c0"}, "a label for 'nobody'"),
    ):
        with pytest.raises(unseen.InputError, match=message):
            quick(name).fit(given, labels)


def test_no_parameter_takes_what_is_not_allowed(name: str) -> None:
    """Each is refused by its name when the fit begins, whatever the others are."""
    graph = planted()
    for parameter in quick(name).get_params(deep=False):
        method = unseen.make_method(name, **{parameter: object()})
        with pytest.raises(unseen.InputError, match=f"^`{parameter}` of {type(method).__name__} must be "):
            method.fit(graph, labels_of(graph))


IN_ANOTHER_PROCESS = """
import hashlib, unseen
data = unseen.planted_partition(1500, 3, random_state=0)
few = {"smoothfeats": {}, "rect": {"epochs": 5}, "rsdne-light": {"max_iter": 3}, "rect-plus": {}}
for name, params in few.items():
    made = unseen.make_method(name, random_state=0, n_components=8, **params).fit_transform(data.graph, data.labels)
    print(name, hashlib.sha256(made.vectors.tobytes()).hexdigest(), *made.node_ids[:3])
"""


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2"])
def test_same_seed_same_bits_in_another_process(threads: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For any number of threads, and whatever the order of a set of strings."""
    exec(IN_ANOTHER_PROCESS, {})
    here = capsys.readouterr().out
    assert here.count("\n") == 4
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "OMP_NUM_THREADS": threads}
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS]
    there = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment)
    assert there.stdout == here


def test_a_graph_of_relations_gives_the_vectors_of_its_plain_view(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    plain = planted()
    assert plain.features is not None
    types = ["near" if i % 2 else "far" for i in range(N)]
    is_near = np.arange(N) % 2 == 1
    edges = plain.adjacency.toarray()
    across = np.where(is_near[:, None] & ~is_near[None, :], edges, 0)
    inside = np.triu(np.where(is_near[:, None] & is_near[None, :], edges, 0))
    far = np.where(~is_near[:, None] & ~is_near[None, :], edges, 0)
    disliked = np.zeros((N, N))
    disliked[1, 0] = -1.0
    graph = unseen.Graph.from_relations(
        [
            unseen.Relation("across", "near", "far", across),  # type: ignore[arg-type]
            unseen.Relation("links", "near", "near", inside, directed=True),  # type: ignore[arg-type]
            unseen.Relation("far", "far", "far", far),  # type: ignore[arg-type]
            unseen.Relation("dislikes", "near", "far", disliked, directed=True),  # type: ignore[arg-type]
        ],
        plain.node_ids,
        types,
        {"near": plain.features[is_near]},
    )
    assert np.array_equal(graph.adjacency.toarray(), edges)
    embedding = quick(name).fit_transform(graph, labels_of(graph))
    if quick(name)._traits.needs != unseen.Need():  # it knows more than the plain view
        assert dense(embedding).shape[0] == N
        assert "types of nodes become one kind" not in caplog.text
        return
    expected = quick(name).fit_transform(graph.view(unseen.Need()), labels_of(graph))
    assert np.array_equal(dense(embedding), dense(expected))
    folded = [message for message in caplog.messages if "simpler graph" in message]
    assert folded == [
        "the method works on a simpler graph: 4 relations between 2 types of nodes become one kind of edge, the "
        "features of 1 type are concatenated, edge directions are ignored, 1 edge with a negative weight is left out"
    ]
