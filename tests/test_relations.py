"""Graphs of relations: checked, frozen, and folded in one place."""

from __future__ import annotations

import copy
import dataclasses
import logging
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen import Graph, Need, Relation

ROUNDS = settings(max_examples=60, deadline=None, derandomize=True, database=None)
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
    assert graph.node_types is not None
    assert graph.node_types.tolist() == TYPES
    assert [(r.name, r.source_type, r.target_type, r.directed) for r in graph.relations] == [
        ("wrote", "author", "paper", False),
        ("in", "paper", "venue", True),
    ]
    assert [repr(r) for r in graph.relations] == [
        "Relation('wrote', author - paper, 2 edges)",
        "Relation('in', paper -> venue, 1 edge)",
    ]
    assert graph.features_of("venue") is None
    assert graph.features_of("paper").tolist() == [[1.0, 0.5]]  # type: ignore[union-attr]


def test_the_plain_view_by_hand_and_its_sentence_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = example()
    assert not caplog.text
    plain = graph.view(Need())
    assert plain.adjacency.toarray().tolist() == [[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 3], [0, 0, 3, 0]]
    assert plain.features.toarray().tolist() == [  # type: ignore[union-attr]
        [0, 2, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [0, 0, 0, 1, 0.5],
        [0, 0, 0, 0, 0],
    ]
    assert plain.feature_names == ("author:0", "author:1", "author:2", "paper:graph", "paper:tree")
    assert graph.adjacency is plain.adjacency
    assert graph.features is plain.features
    assert plain.node_ids.tolist() == IDS
    assert type(plain) is Graph
    assert caplog.messages == [
        "the method works on a simpler graph: 2 relations between 3 types of nodes become one kind of edge, "
        "the features of 2 types are concatenated, edge directions are ignored, 1 edge with a negative weight is left "
        "out"
    ]


def test_other_views(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = example()
    assert graph.view(Need(directed=True, signed=True, typed=True)) is graph
    signed = graph.view(Need(signed=True))
    assert (signed.is_directed, signed.is_signed, signed.is_heterogeneous) == (False, True, False)
    assert signed.relations[0].matrix.toarray().tolist() == [
        [0, 0, 1, 0],
        [0, 0, -2, 0],
        [1, -2, 0, 3],
        [0, 0, 3, 0],
    ]
    directed = graph.view(Need(directed=True))
    assert directed.relations[0].matrix.toarray().tolist() == [
        [0, 0, 1, 0],
        [0, 0, 0, 0],
        [1, 0, 0, 3],
        [0, 0, 0, 0],
    ]
    typed = graph.view(Need(typed=True))
    assert (typed.is_directed, typed.is_signed, typed.is_heterogeneous) == (False, False, True)
    assert [r.n_edges for r in typed.relations] == [1, 1]
    assert typed.features_of("author").shape == (2, 3)  # type: ignore[union-attr]
    assert len(caplog.messages) == 3


def test_a_plain_graph_is_its_own_view() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    assert graph.view(Need()) is graph
    assert graph.view(Need(True, True, True)) is graph
    assert (graph.is_directed, graph.is_signed, graph.is_heterogeneous) == (False, False, False)
    assert graph.node_types is None
    (relation,) = graph.relations
    assert (relation.source_type, relation.directed, relation.n_edges) == (None, False, 2)
    with pytest.raises(unseen.InputError, match=r"the nodes have no types, .*'author'; take graph\.features"):
        graph.features_of("author")


WEIGHTS = st.integers(-3, 3).filter(bool)
ENTRIES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), WEIGHTS), max_size=14)


def test_a_weight_of_zero_is_refused() -> None:
    matrix = sp.coo_array(([1.0, 0.0], ([0, 1], [1, 2])), shape=(3, 3))
    with pytest.raises(
        unseen.InputError, match=r"relation 'r', row 1, column 2: the weight is 0; leave such"
    ):
        Relation("r", None, None, matrix)  # type: ignore[arg-type]


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
            Relation("r", None, None, coo, directed)  # type: ignore[arg-type]
        return
    csr = Relation("r", None, None, coo, directed).matrix.tocoo()  # type: ignore[arg-type]
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
    relations = [Relation("a", None, None, dense[0], one), Relation("b", None, None, dense[1], two)]  # type: ignore[arg-type]
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
    assert part.features_of("author").toarray().tolist() == [[1, 0, 0]]  # type: ignore[union-attr]
    assert graph.subgraph(np.array([3])).n_edges == 0
    assert graph.isolated.tolist() == [False] * 4


@pytest.mark.parametrize("way", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_frozen_also_in_copies(way: Any) -> None:
    graph = way(example())
    assert graph.node_ids.tolist() == IDS
    assert graph.node_types.tolist() == TYPES
    for array in (
        graph.relations[0].matrix.data,
        graph.node_types,
        graph.node_ids,
        graph.features_of("paper"),
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.node_ids = None
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.relations[0].directed = True
    assert hash(graph) != hash(example())
    assert graph != example()


def test_one_type_needs_no_names() -> None:
    graph = Graph.from_relations(
        [Relation("r", "page", "page", matrix((0, 1, 1)))], None, None, np.eye(4), "wxyz"
    )
    assert graph.node_types is None
    assert graph.feature_names == ("w", "x", "y", "z")
    assert graph.features_of("page") is not None
    assert graph.is_heterogeneous is False
    assert type(graph.view(Need())) is Graph
    named = Graph.from_relations([Relation("r", None, None, matrix((0, 1, 1)))], None, ["page"] * 4)
    assert (named.node_types, named.relations[0].source_type) == (None, "page")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"relations": []}, r"`relations` must be a list of unseen.Relation, at least one, got nothing"),
        ({"relations": [np.eye(4)]}, r"must be a list of unseen.Relation, at least one, got ndarray"),
        (
            {"relations": [WROTE, Relation("x", "author", "author", np.eye(3))]},  # type: ignore[arg-type]
            r"relation 'x' has 3 rows, that of 'wrote' has 4; every relation needs a row for every node",
        ),
        ({"relations": [WROTE, WROTE]}, r"'wrote' is given twice for the same types of nodes"),
        (
            {"relations": [Relation("x", "auhtor", "paper", matrix())]},
            r"unknown node type 'auhtor'; did you mean 'author'",
        ),
        (
            {"relations": [Relation("x", None, None, matrix())]},
            r"has no types, but the nodes have: author, paper, venue",
        ),
        (
            {"relations": [Relation("x", "author", "paper", matrix((0, 3, 1)))]},
            r"row 0, column 3: the relation 'x' leads from 'author' to 'paper', but here from 'author' to 'venue'",
        ),
        (
            {"relations": [Relation("x", "author", "paper", matrix((2, 0, 1)), directed=True)]},
            r"row 2, column 0: .* but here from 'paper' to 'author'; give these edges another type",
        ),
        ({"node_types": None}, r"the relations name the types 'author', 'paper', 'venue'; give `node_types`"),
        ({"node_types": ["author"]}, r"`node_types` has 1 entries but the graph has 4 nodes"),
        (
            {"node_types": ["author", "author", "paper", None]},
            r"`node_types` holds None for row 3; a type must be a text",
        ),
        ({"node_ids": ["a"]}, r"`node_ids` has 1 entries but the relations have 4 rows"),
        ({"features": {"auhtor": [[1.0]]}}, r"unknown node type 'auhtor'"),
        (
            {"features": {"author": [[1.0]]}},
            r"`features` has 1 rows but the graph has 2 nodes of type 'author'",
        ),
        ({"features": np.eye(4)}, r"`features` must be a mapping from types to values, as there are 3 types"),
        (
            {"feature_names": {"paper": ["x"]}},
            r"`feature_names` has 1 entries but there are 2 feature columns",
        ),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], match: str) -> None:
    given_arguments = {"relations": [WROTE, IN], "node_ids": IDS, "node_types": TYPES, **arguments}
    if "feature_names" in arguments:
        given_arguments["features"] = {"paper": [[1.0, 0.5]]}
    with pytest.raises(unseen.InputError, match=match):
        Graph.from_relations(**given_arguments)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("", None, None, np.eye(2)), r"the name of a relation must be a text, got ''"),
        (("x", "a", None, np.eye(2)), r"'x' leads from 'a' to None; give both types"),
        (
            ("x", None, None, np.ones((2, 3))),
            r"the matrix of relation 'x' must be square, got shape \(2, 3\)",
        ),
        (
            ("x", None, None, [[0, np.inf], [0, 0]]),
            r"relation 'x', row 0, column 1: the weight is inf; .* finite",
        ),
    ],
)
def test_relations_that_are_refused(arguments: Any, match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        Relation(*arguments)


def test_a_view_needs_a_need() -> None:
    with pytest.raises(unseen.InputError, match=r"`need` must be an unseen.Need, got bool"):
        example().view(True)  # type: ignore[arg-type]
    with pytest.raises(unseen.InputError, match="unknown node type 'term'"):
        example().features_of("term")
