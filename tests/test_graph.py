"""The graph value: checked once at the door, frozen behind it."""

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
from unseen import Graph

ROUNDS = settings(max_examples=80, deadline=None, derandomize=True, database=None)
PAIR = np.array([[0.0, 1.0], [1.0, 0.0]])


def test_counts() -> None:
    graph = Graph.from_edges(["a", "b", "a", "c"], ["b", "a", "a", "c"], nodes=["z", "a"])
    assert repr(graph) == "Graph(4 nodes, 3 edges, no features)"
    assert (graph.n_nodes, graph.n_edges, graph.n_self_loops) == (4, 3, 2)
    assert graph.node_ids.tolist() == ["z", "a", "b", "c"]
    assert graph.isolated.tolist() == [True, False, False, True]


@pytest.mark.parametrize("n", [0, 1])
def test_smallest_graphs(n: int) -> None:
    graph = Graph(sp.csr_array((n, n)))
    assert (graph.n_nodes, graph.n_edges, graph.isolated.tolist()) == (n, 0, [True] * n)
    assert Graph.from_edges([], [], nodes=["a"] * n).n_nodes == n


def test_everything_is_frozen() -> None:
    graph = Graph(PAIR, np.eye(2), ["a", "b"], ("x", "y"))  # type: ignore[arg-type]
    sparse = Graph(PAIR, sp.csr_array(np.eye(2)))  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.features = None  # type: ignore[misc]
    assert sparse.features is not None
    for array in (
        graph.adjacency.data,
        graph.adjacency.indices,
        graph.adjacency.indptr,
        graph.features,
        graph.node_ids,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        sparse.features.data[0] = 9


@pytest.mark.parametrize("way", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
@pytest.mark.parametrize("features", [None, np.eye(2), sp.csr_array(np.eye(2))])
def test_copies_and_other_processes_get_the_same_read_only(way: Any, features: Any) -> None:
    graph = Graph(PAIR, features, ["007", "b"])  # type: ignore[arg-type]
    other = way(graph)
    assert other.adjacency.toarray().tolist() == PAIR.tolist()
    assert other.node_ids.tolist() == ["007", "b"]
    arrays = [other.adjacency.data, other.adjacency.indices, other.adjacency.indptr, other.node_ids]
    if sp.issparse(features):
        arrays += [other.features.data, other.features.indices, other.features.indptr]
    elif features is not None:
        arrays.append(other.features)
    assert not any(array.flags.writeable for array in arrays)


def test_input_is_neither_shared_nor_locked() -> None:
    adjacency, features = sp.csr_array(PAIR), sp.csr_array(np.eye(2, dtype=np.float32))
    dense = np.eye(2)
    graph, other = Graph(adjacency, features), Graph(adjacency, dense)
    adjacency.data[:] = 7
    features.data[:] = 7
    dense[:] = 7
    assert graph.adjacency.toarray().tolist() == PAIR.tolist()
    assert graph.features is not None
    assert graph.features.toarray().tolist() == np.eye(2).tolist()  # type: ignore[union-attr]
    assert np.asarray(other.features).tolist() == np.eye(2).tolist()


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int64, np.float64),
        (bool, np.float32),
        (np.int8, np.float32),
    ],
)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_feature_types(dtype: Any, kept: Any, make: Any) -> None:
    graph = Graph(PAIR, make(np.eye(2, dtype=dtype)))  # type: ignore[arg-type]
    assert graph.features is not None
    assert graph.features.dtype == kept
    assert sp.issparse(graph.features) == (make is sp.csr_array)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"adjacency": np.ones((2, 3))}, r"must be square, got shape \(2, 3\)"),
        ({"adjacency": np.ones(3)}, r"must be square, got shape \(3,\)"),
        ({"adjacency": "edges.csv"}, r"must be a matrix of real numbers, got str"),
        ({"adjacency": np.array([["a"]])}, r"must be a matrix of real numbers, got ndarray"),
        ({"adjacency": PAIR * 1j}, r"must hold real numbers, got dtype complex128"),
        (
            {"adjacency": np.array([[np.nan]])},
            r"row 0, column 0: the weight is nan; edge weights must be finite",
        ),
        ({"adjacency": -PAIR}, r"row 0, column 1: the weight is -1; negative weights .*--drop-negative"),
        ({"adjacency": np.triu(PAIR)}, r"must be symmetric; Graph\.from_scipy makes a directed one so"),
        ({"features": np.ones(2)}, r"`features` must have two dimensions, got shape \(2,\)"),
        ({"features": np.ones((3, 1))}, r"`features` has 3 rows but the graph has 2 nodes"),
        ({"features": [[1.0], [1.0, 2.0]]}, r"`features` must be a matrix, its rows have different lengths"),
        ({"features": np.array([[1.0], [np.inf]])}, r"`features` must be finite, found NaN or infinity"),
        ({"features": sp.csr_array([[1.0], [np.nan]])}, r"`features` must be finite"),
        ({"features": np.ones((2, 0))}, r"`features` has no columns; pass features=None"),
        ({"features": sp.csr_array((2, 0))}, r"`features` has no columns; pass features=None"),
        ({"features": np.array([["a"], ["b"]])}, r"`features` must hold real numbers, got dtype <U1"),
        ({"node_ids": ["a"]}, r"`node_ids` has 1 entries but the adjacency has 2 rows"),
        ({"node_ids": ["a", "a"]}, r"node ids must be unique, 'a' occurs more than once"),
        ({"features": np.eye(2), "feature_names": ["x"]}, r"`feature_names` has 1 entries but there are 2"),
        ({"feature_names": ["x"]}, r"`feature_names` has 1 entries but there are 0 feature columns"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        Graph(**{"adjacency": PAIR, **arguments})


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([1], [2, 3]), r"`src` has 1 entries and `dst` has 2; an edge needs both"),
        (([1], [2], ["x"]), r"edge weights must be numbers"),
        (([1], [2], [np.nan]), r"edge 1 \(1 - 2\): the weight is nan; edge weights must be finite"),
        (([1, 1], [2, 3], [1, -2]), r"edge 2 \(1 - 3\): the weight is -2; negative .*drop_negative=True"),
        (([1], [2], [[1.0]]), r"`weight` has shape \(1, 1\) but there is 1 edge"),
        ((["\ud800"], ["a"]), r"`src` holds '\\ud800', which is not valid Unicode text"),
        (([None], ["a"]), r"src must be all strings or all integers, found None"),
    ],
)
def test_edges_that_are_refused(arguments: tuple[Any, ...], match: str) -> None:
    with pytest.raises(unseen.InputError, match=match):
        Graph.from_edges(*arguments)


def test_drop_negative() -> None:
    graph = Graph.from_edges([1, 2], [2, 3], [-1.0, 2.0], drop_negative=True)
    assert graph.adjacency.toarray().tolist() == [[0, 0, 0], [0, 0, 2], [0, 2, 0]]


@pytest.mark.parametrize("symmetrize", ["max", "sum"])
@pytest.mark.parametrize(
    "matrix", [[[0, -1], [0, 0]], [[0, -1], [2, 0]], [[0, -1], [1, 0]], [[0, -1], [-1, 0]]]
)
def test_a_negative_weight_is_never_swallowed(matrix: Any, symmetrize: Any) -> None:
    sentence = r"the weight is -1; negative weights are kept by Graph.from_relations .*drop_negative=True"
    with pytest.raises(unseen.InputError, match=sentence):
        Graph.from_scipy(matrix, symmetrize=symmetrize)


def test_drop_negative_in_a_matrix(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    given_matrix = np.array([[-3.0, -1.0], [2.0, 0.0]])
    graph = Graph.from_scipy(given_matrix, drop_negative=True)
    assert graph.adjacency.toarray().tolist() == [[0, 2], [2, 0]]
    assert "2 negative weights left out" in caplog.text
    assert given_matrix[0, 1] == -1
    sparse = sp.csr_array(given_matrix)
    Graph.from_scipy(sparse, drop_negative=True)
    assert sparse.data.tolist() == [-3, -1, 2]
    with pytest.raises(unseen.InputError, match="must be finite"):
        Graph.from_scipy([[0, -np.inf], [0, 0]], drop_negative=True)


def test_a_directed_pytorch_geometric_graph_with_a_negative_weight_is_refused() -> None:
    torch = pytest.importorskip("torch")
    from torch_geometric.data import Data

    data = Data(edge_index=torch.tensor([[0], [1]]), edge_weight=torch.tensor([-1.0]), num_nodes=2)
    with pytest.raises(unseen.InputError, match="negative"):
        Graph.from_pyg(data, symmetrize="sum")


def test_a_sum_beyond_64_bit_floats_is_refused_without_a_warning() -> None:
    with pytest.raises(
        unseen.InputError, match=r"add up to more than a 64-bit float holds; take symmetrize='max'"
    ):
        Graph.from_scipy([[0, 1.7e308], [1.6e308, 0]], symmetrize="sum")
    with pytest.raises(unseen.InputError, match="add up to infinity"):
        Graph.from_edges([1, 2], [2, 1], [1.7e308, 1.6e308], symmetrize="sum")
    loop = Graph.from_scipy([[1.7e308, 1], [0, 0]], symmetrize="sum")  # a self-loop is counted once
    assert loop.adjacency.toarray().tolist() == [[1.7e308, 1], [1, 0]]


def test_edges_with_mixed_ids_meet_as_strings() -> None:
    assert Graph.from_edges([1, 2], ["2", "x"]).node_ids.tolist() == ["1", "2", "x"]


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
    with pytest.raises(unseen.InputError, match=r"`symmetrize` must be 'max', 'sum' or 'error', got 'mean'"):
        Graph.from_scipy(PAIR, symmetrize="mean")  # type: ignore[arg-type]
    with pytest.raises(unseen.InputError, match=r"`symmetrize` must be"):
        Graph.from_edges([1], [2], symmetrize="mean")  # type: ignore[arg-type]


def test_stored_zeros_and_duplicates_are_no_edges() -> None:
    stored = sp.coo_array(([0.0, 0.5, 0.5, 1.0], ([0, 0, 0, 1], [0, 1, 1, 0])), shape=(2, 2))
    graph = Graph(stored.tocsr())
    assert (graph.n_edges, graph.n_self_loops) == (1, 0)
    assert graph.adjacency.toarray().tolist() == PAIR.tolist()


def test_texts_stay_with_the_nodes() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    assert graph.texts is None
    own = graph.with_features(None, texts=["of a", None, "of c"])
    assert own.texts is not None
    assert own.texts.tolist() == ["of a", "", "of c"]
    assert own.with_features(np.eye(3)).texts.tolist() == own.texts.tolist()  # type: ignore[union-attr]
    assert own.subgraph(np.array([2, 0])).texts.tolist() == ["of c", "of a"]  # type: ignore[union-attr]
    assert pickle.loads(pickle.dumps(own)).texts.tolist() == own.texts.tolist()
    with pytest.raises(ValueError, match="read-only"):
        own.texts[0] = "x"
    for texts, complaint in (
        (["of a"], "1 entries but the graph has 3 nodes"),
        ([1, 2, 3], "1, which is not a text"),
    ):
        with pytest.raises(unseen.InputError, match=complaint):
            graph.with_features(None, texts=texts)


def test_texts_stay_with_graphs_of_relations() -> None:
    follows, likes = (sp.csr_array(([1.0], (ends, (2,))), shape=(3, 3)) for ends in ((0,), (1,)))
    relations = [
        unseen.Relation("follows", None, None, follows),
        unseen.Relation("likes", None, None, -likes),
    ]
    graph = Graph.from_relations(relations, ["a", "b", "c"], texts=["of a", "of b", "of c"])
    views = [
        graph,
        graph.plain,
        *(graph.view(unseen.Need(**{key: True})) for key in ("directed", "signed", "typed")),
    ]
    for view in views:
        assert view.texts.tolist() == ["of a", "of b", "of c"]  # type: ignore[union-attr]
        assert view.subgraph(np.array([1, 0])).texts.tolist() == ["of b", "of a"]  # type: ignore[union-attr]
