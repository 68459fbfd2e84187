"""The graph value: relations with direction, sign and types, and the undirected single-type view of them."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen import Graph, Need, Relation

ROUNDS = settings(max_examples=60, deadline=None, derandomize=True, database=None)
PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])


def test_counts() -> None:
    for n in (0, 1):
        smallest = Graph(sp.csr_array((n, n)))
        assert (smallest.n_nodes, smallest.n_edges, smallest.isolated.tolist()) == (n, 0, [True] * n)
        assert Graph.from_edges([], [], nodes=["a"] * n).n_nodes == n
        assert smallest.subgraph([]).n_nodes == 0
    graph = Graph.from_edges(["a", "b", "a", "c"], ["b", "a", "a", "c"], nodes=["z", "a"])
    assert repr(graph) == "Graph(4 nodes, 3 edges, no features)"
    assert (graph.n_nodes, graph.n_edges, graph.n_self_loops) == (4, 3, 2)
    assert graph.node_ids.tolist() == ["z", "a", "b", "c"]
    assert graph.isolated.tolist() == [True, False, False, True]
    stored = sp.coo_array(([0.0, 0.5, 0.5, 1.0], ([0, 0, 0, 1], [0, 1, 1, 0])), shape=(2, 2))
    graph = Graph(stored.tocsr())  # stored zeros are no edges, and repeated entries add up
    assert (graph.n_edges, graph.n_self_loops, graph.adjacency.toarray().tolist()) == (1, 0, PAIR.tolist())
    assert Graph.from_edges([1, 2], ["2", "x"]).node_ids.tolist() == ["1", "2", "x"]


@pytest.mark.parametrize("symmetrize", ["max", "sum"])
@pytest.mark.parametrize("matrix", [[[0, -1], [k, 0]] for k in (0, 2, 1, -1)])
def test_a_negative_weight_is_never_swallowed(matrix: Any, symmetrize: Any) -> None:
    with pytest.raises(unseen.InputError, match=r"the weight is -1; .*drop_negative=True"):
        Graph.from_scipy(matrix, symmetrize=symmetrize)


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_drop_negative(form: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    own = form([[-3.0, -1.0], [2.0, 0.0]])
    assert Graph.from_scipy(own, drop_negative=True).adjacency.toarray().tolist() == [[0, 2], [2, 0]]
    assert "2 negative weights left out" in caplog.text
    assert own[0, 1] == -1
    with pytest.raises(unseen.InputError, match="must be finite"):
        Graph.from_scipy([[0, -np.inf], [0, 0]], drop_negative=True)
    edges = Graph.from_edges([1, 2], [2, 3], [-1.0, 2.0], drop_negative=True)
    assert edges.adjacency.toarray().tolist() == [[0, 0, 0], [0, 0, 2], [0, 2, 0]]


def test_a_sum_beyond_64_bit_floats_is_refused_without_a_warning() -> None:
    with pytest.raises(unseen.InputError, match=r"more than a 64-bit float holds; take symmetrize='max'"):
        Graph.from_scipy([[0, 1.7e308], [1.6e308, 0]], symmetrize="sum")
    with pytest.raises(unseen.InputError, match="add up to infinity"):
        Graph.from_edges([1, 2], [2, 1], [1.7e308, 1.6e308], symmetrize="sum")
    loop = Graph.from_scipy([[1.7e308, 1], [0, 0]], symmetrize="sum")  # a self-loop is counted once
    assert loop.adjacency.toarray().tolist() == [[1.7e308, 1], [1, 0]]


EDGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 9)), max_size=15)


@ROUNDS
@given(EDGES, st.sampled_from(["max", "sum"]), st.lists(st.integers(0, 7), unique=True, max_size=4))
def test_edges_against_a_plain_loop(
    edges: list[tuple[int, int, int]], symmetrize: Any, nodes: list[int]
) -> None:
    combine = max if symmetrize == "max" else lambda a, b: a + b
    wanted: dict[tuple[int, int], int] = {}
    order = list(nodes)
    for u, v, w in edges:
        order += [u, v]
        pair = (min(u, v), max(u, v))
        wanted[pair] = combine(wanted[pair], w) if pair in wanted else w
    src, dst, weight = ([edge[k] for edge in edges] for k in range(3))
    graph = Graph.from_edges(src, dst, weight, nodes=nodes, symmetrize=symmetrize)
    assert graph.node_ids.tolist() == list(dict.fromkeys(order))
    ids = graph.node_ids
    coo = graph.adjacency.tocoo()
    found = {(int(ids[i]), int(ids[j])): w for i, j, w in zip(coo.row, coo.col, coo.data, strict=True)}
    assert found == {pair: w for (u, v), w in wanted.items() for pair in ((u, v), (v, u))}


@ROUNDS
@given(EDGES, st.sampled_from(["max", "sum"]))
def test_directed_matrices_against_the_definition(edges: list[tuple[int, int, int]], symmetrize: Any) -> None:
    dense = np.zeros((6, 6))
    for u, v, w in edges:
        dense[u, v] = w
    graph = Graph.from_scipy(dense, symmetrize=symmetrize)
    total = dense + dense.T - np.diag(np.diag(dense))
    wanted = (
        dense if (dense == dense.T).all() else np.maximum(dense, dense.T) if symmetrize == "max" else total
    )
    assert graph.adjacency.toarray().tolist() == wanted.tolist()


def test_directed_policy_is_said_and_can_refuse(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    Graph.from_scipy(np.triu(PAIR))
    assert "directed edges made undirected: the larger of the two weights" in caplog.text
    with pytest.raises(unseen.InputError, match=r"the adjacency is not symmetric; pass symmetrize="):
        Graph.from_scipy(np.triu(PAIR), symmetrize="error")


TYPES = ["author", "author", "paper", "venue"]
IDS = ["ann", "bob", "p1", "v1"]


def matrix(*entries: tuple[int, int, float], n: int = 4) -> sp.csr_array:
    dense = np.zeros((n, n))
    for i, j, weight in entries:
        dense[i, j] = weight
    return sp.csr_array(dense)


WROTE = Relation("wrote", "author", "paper", matrix((0, 2, 1), (1, 2, -2)))
IN = Relation("in", "paper", "venue", matrix((2, 3, 3)), directed=True)


def example(**arguments: Any) -> Graph:
    features = {"paper": [[1.0, 0.5]], "author": sp.csr_array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])}
    given_features = {"features": features, "feature_names": {"paper": ["graph", "tree"]}}
    return Graph.from_relations([WROTE, IN], IDS, TYPES, **{**given_features, **arguments})


def test_what_it_says_of_itself() -> None:
    graph = example()
    assert (graph.is_directed, graph.is_signed, graph.is_heterogeneous) == (True, True, True)
    assert (
        repr(graph)
        == "Graph(4 nodes of 3 types, 2 relations, 3 edges, directed, signed, features of 2 types)"
    )
    assert graph.node_types.tolist() == TYPES
    assert [repr(r) for r in graph.relations] == [
        "Relation('wrote', author - paper, 2 edges)",
        "Relation('in', paper -> venue, 1 edge)",
    ]
    assert graph.features_of("venue") is None
    assert graph.features_of("paper").tolist() == [[1.0, 0.5]]


def test_views_by_hand_and_their_sentence_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = example()
    assert graph.view(Need(directed=True, signed=True, typed=True)) is graph
    assert not caplog.text
    plain = graph.view(Need())
    wrote, within = matrix((0, 2, 1)).toarray(), matrix((2, 3, 3)).toarray()
    assert plain.adjacency.toarray().tolist() == (wrote + wrote.T + within + within.T).tolist()
    features = [[0, 2, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0.5], [0, 0, 0, 0, 0]]
    assert plain.features.toarray().tolist() == features
    assert plain.feature_names == ("author:0", "author:1", "author:2", "paper:graph", "paper:tree")
    assert graph.adjacency is plain.adjacency
    assert graph.features is plain.features
    assert plain.node_ids.tolist() == IDS
    assert caplog.messages == [
        "the method works on a simpler graph: 2 relations between 3 types of nodes become one kind of edge, "
        "the features of 2 types are concatenated, edge directions are ignored, 1 edge with a negative weight is left "
        "out"
    ]
    signed, hates = graph.view(Need(signed=True)), matrix((1, 2, -2)).toarray()
    assert (signed.is_directed, signed.is_signed, signed.is_heterogeneous) == (False, True, False)
    both = wrote + within + hates
    assert signed.relations[0].matrix.toarray().tolist() == (both + both.T).tolist()
    directed = graph.view(Need(directed=True)).relations[0].matrix
    assert directed.toarray().tolist() == (wrote + wrote.T + within).tolist()
    typed = graph.view(Need(typed=True))
    assert (typed.is_directed, typed.is_signed, typed.is_heterogeneous) == (False, False, True)
    assert [r.n_edges for r in typed.relations] == [1, 1]
    assert typed.features_of("author").shape == (2, 3)
    assert len(caplog.messages) == 4


def test_a_plain_graph_is_its_own_view() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    assert graph.view(Need()) is graph.view(Need(True, True, True)) is graph.plain is graph
    assert graph.node_types is None
    (relation,) = graph.relations
    assert (relation.source_type, relation.directed, relation.n_edges) == (None, False, 2)
    assert relation.matrix is graph.adjacency


WEIGHTS = st.integers(-3, 3).filter(bool)
ENTRIES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), WEIGHTS), max_size=14)


@ROUNDS
@given(ENTRIES, st.booleans())
def test_entries_given_twice_against_a_plain_loop(
    entries: list[tuple[int, int, int]], directed: bool
) -> None:
    wanted: dict[tuple[int, int], int] = {}
    opposite = False
    for i, j, _ in entries:
        for pair in {(i, j)} if directed else {(i, j), (j, i)}:
            own = [v for a, b, v in entries if (a, b) == pair or (not directed and (b, a) == pair)]
            top = max(map(abs, own))
            opposite |= top in own and -top in own
            wanted[pair] = next(v for v in own if abs(v) == top)
    row, column, weight = (
        np.array([e[k] for e in entries], dtype=float if k == 2 else int) for k in range(3)
    )
    coo = sp.coo_array((weight, (row, column)), shape=(5, 5))
    if opposite:
        with pytest.raises(unseen.InputError, match=r"row \d, column \d has two weights, equal and opposite"):
            Relation("r", None, None, coo, directed)
        return
    csr = Relation("r", None, None, coo, directed).matrix.tocoo()
    entry = {(int(i), int(j)): w for i, j, w in zip(csr.row, csr.col, csr.data, strict=True)}
    assert entry == wanted


@ROUNDS
@given(ENTRIES, ENTRIES, st.booleans(), st.booleans())
def test_the_plain_view_against_the_definition(
    first: list[tuple[int, int, int]], second: list[tuple[int, int, int]], one: bool, two: bool
) -> None:
    dense = []
    for entries, directed in ((first, one), (second, two)):
        own = np.zeros((5, 5))
        for i, j, w in entries:
            own[i, j] = w
            if not directed:
                own[j, i] = w
        dense.append(own)
    relations = [Relation("a", None, None, dense[0], one), Relation("b", None, None, dense[1], two)]
    both = np.maximum(np.maximum(dense[0], dense[1]), 0)
    assert Graph.from_relations(relations).adjacency.toarray().tolist() == np.maximum(both, both.T).tolist()


def test_equal_and_opposite_weights_of_two_relations_cancel_in_a_view(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    trust = Relation("trust", None, None, matrix((0, 1, 2), (1, 0, -2), (1, 2, 1)), directed=True)
    graph = Graph.from_relations([trust])
    assert graph.view(Need(signed=True)).n_edges == 1
    assert "1 pair with equal and opposite weights is left out" in caplog.text
    assert graph.adjacency.nnz == 4  # the positive half of the pair stays


def test_an_undirected_relation_may_name_its_ends_in_either_order() -> None:
    wrote = Relation("wrote", "author", "paper", matrix((0, 2, 1), (2, 0, 3), (2, 1, 2)))
    graph = Graph.from_relations([wrote], IDS, TYPES)
    assert graph.relations[0].matrix.toarray().tolist() == matrix((0, 2, 3), (1, 2, 2)).toarray().tolist()


def test_subgraph() -> None:
    graph = example()
    assert graph.subgraph(np.arange(4)) is graph
    part = graph.subgraph(np.array([2, 1]))
    assert part.node_ids.tolist() == ["p1", "bob"]
    assert [r.name for r in part.relations] == ["wrote"]
    assert part.relations[0].matrix.toarray().tolist() == [[0, 0], [-2, 0]]
    assert part.features_of("author").toarray().tolist() == [[1, 0, 0]]
    assert graph.subgraph(np.array([3])).n_edges == 0
    assert graph.isolated.tolist() == [False] * 4


def test_one_type_needs_no_names() -> None:
    graph = Graph.from_relations(
        [Relation("r", "page", "page", matrix((0, 1, 1)))], None, None, np.eye(4), "wxyz"
    )
    assert graph.node_types is None
    assert graph.feature_names == ("w", "x", "y", "z")
    assert graph.features_of("page") is not None
    assert graph.is_heterogeneous is False
    assert graph.view(Need()) is graph
    named = Graph.from_relations([Relation("r", None, None, matrix((0, 1, 1)))], None, ["page"] * 4)
    assert (named.node_types, named.relations[0].source_type) == (None, "page")


def test_texts_stay_with_the_nodes() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"]).with_features(None, texts=["of a", None, "of c"])
    assert graph.texts.tolist() == ["of a", "", "of c"]
    assert graph.with_features(np.eye(3)).texts.tolist() == graph.texts.tolist()
    relations = [
        Relation("follows", None, None, matrix((0, 2, 1), n=3)),
        Relation("hates", None, None, matrix((1, 2, -1), n=3)),
    ]
    typed = Graph.from_relations(relations, ["a", "b", "c"], texts=["of a", "", "of c"])
    signed, two_types = (typed.view(Need(**{key: True})) for key in ("signed", "typed"))
    for view in (graph, typed, typed.plain, signed, two_types):
        assert view.texts.tolist() == ["of a", "", "of c"]
        assert view.subgraph([2, 0]).texts.tolist() == ["of c", "of a"]
