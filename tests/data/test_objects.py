"""Round trips through networkx and Arrow: no id, weight or feature may end up at another node."""

from __future__ import annotations

import json
import logging
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import unseen
from unseen.data.objects import (
    answer_table,
    features_to_arrow,
    graph_from_networkx,
    to_arrow,
    to_networkx,
)

from .drawn import ROUNDS, assert_same, dense, graphs, label_sets, labelled_graphs


@pytest.mark.slow
@ROUNDS
@given(labelled_graphs())
def test_networkx_round_trip(drawn: tuple[unseen.Graph, unseen.Labels]) -> None:
    graph, labels = drawn
    theirs = to_networkx(graph, labels)
    has = graph.features is not None
    ours = unseen.Graph(
        graph.adjacency, np.array(dense(graph.features)) if has else None, graph.node_ids, graph.feature_names
    )
    assert_same(ours, graph_from_networkx(theirs, features="features" if has else None))
    back = unseen.Labels.from_values([theirs.nodes[node].get("label") for node in theirs], list(theirs))
    assert label_sets(back) == label_sets(labels)
    assert graph_from_networkx(to_networkx(graph, features=None)).features is None


@pytest.mark.slow
@ROUNDS
@given(labelled_graphs())
def test_arrow_round_trip(drawn: tuple[unseen.Graph, unseen.Labels]) -> None:
    graph, labels = drawn
    features = None if graph.features is None else features_to_arrow(graph)
    expected = unseen.Graph(graph.adjacency, dense(graph.features), graph.node_ids, None)
    for edges in (to_arrow(graph), to_arrow(graph).to_pandas(), pl.from_arrow(to_arrow(graph))):
        back = unseen.read_graph(edges, nodes=graph.node_ids, features=features, symmetrize="error")
        assert_same(expected, unseen.Graph(back.adjacency, dense(back.features), back.node_ids, None))
    for table in (
        answer_table(labels),
        answer_table(labels).to_pandas(),
        pl.from_arrow(answer_table(labels)),
    ):
        assert label_sets(unseen.read_labels(table, graph)) == label_sets(labels)


@pytest.mark.slow
@ROUNDS
@given(graphs())
def test_feature_names_survive_arrow(graph: unseen.Graph) -> None:
    if graph.features is None or graph.feature_names is None:
        return
    table = features_to_arrow(graph)
    if "node" in graph.feature_names:
        assert json.loads(table.schema.metadata[b"unseen.feature_names"]) == list(graph.feature_names)
    else:
        assert table.column_names == ["node", *graph.feature_names]


def test_networkx_kinds() -> None:
    directed = nx.DiGraph()
    directed.add_edge("a", "b", weight=2)
    directed.add_edge("b", "a", weight=5)
    directed.add_node("alone")
    graph = unseen.Graph.from_networkx(directed)
    assert graph.node_ids.tolist() == ["a", "b", "alone"]
    assert graph.adjacency[0, 1] == 5
    assert unseen.Graph.from_networkx(directed, symmetrize="sum").adjacency[0, 1] == 7
    assert unseen.Graph.from_networkx(directed, weight=None).adjacency[0, 1] == 1
    with pytest.raises(unseen.InputError, match=r"the pair a - b is"):
        unseen.Graph.from_networkx(directed, symmetrize="error")
    multi = nx.MultiGraph()
    multi.add_edge(3, 1, weight=2)
    multi.add_edge(3, 1)
    multi.add_edge(1, 1)
    graph = unseen.Graph.from_networkx(multi, symmetrize="sum")
    assert graph.node_ids.tolist() == [3, 1]
    assert graph.adjacency.toarray().tolist() == [[0, 3], [3, 1]]


def test_networkx_names_that_are_no_ids(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    graph = unseen.Graph.from_networkx(nx.grid_2d_graph(2, 1))
    assert graph.node_ids.tolist() == ["(0, 0)", "(1, 0)"]
    assert "node names became strings" in caplog.text
    mixed = nx.Graph([(1, "a")])
    assert unseen.Graph.from_networkx(mixed).node_ids.tolist() == ["1", "a"]
    with pytest.raises(unseen.InputError, match=r"as strings, two of these are both '1'"):
        unseen.Graph.from_networkx(nx.Graph([(1, "1")]))


def test_networkx_at_fault() -> None:
    with pytest.raises(unseen.InputError, match=r"expected a networkx graph, got list"):
        unseen.Graph.from_networkx([("a", "b")])
    heavy = nx.Graph()
    heavy.add_edge("a", "b", weight="heavy")
    with pytest.raises(
        unseen.InputError, match=r"the edge 'a' - 'b': the weight is 'heavy', which is not a number"
    ):
        unseen.Graph.from_networkx(heavy)
    negative = nx.Graph()
    negative.add_edge("a", "b", weight=-1)
    assert unseen.Graph.from_networkx(negative).is_signed
    part = nx.path_graph(3)
    part.nodes[0]["x"] = [1.0]
    with pytest.raises(unseen.InputError, match=r"2 of 3 nodes have no attribute 'x', the first is 1"):
        unseen.Graph.from_networkx(part, features="x")
    nx.set_node_attributes(part, {0: [1.0], 1: [1.0, 2.0], 2: [1.0]}, "x")
    with pytest.raises(
        unseen.InputError, match=r"the attribute 'x' of node 1 is no number or vector like those"
    ):
        unseen.Graph.from_networkx(part, features="x")


def test_networkx_features() -> None:
    path = nx.path_graph(["b", "a"])
    nx.set_node_attributes(path, {"a": 1, "b": 2}, "size")
    assert dense(unseen.Graph.from_networkx(path, features="size").features) == [[2], [1]]
    assert dense(unseen.Graph.from_networkx(path, features=np.eye(2)).features) == [[1, 0], [0, 1]]


def test_features_to_arrow_needs_features() -> None:
    with pytest.raises(unseen.InputError, match=r"the graph has no features to convert"):
        features_to_arrow(unseen.Graph.from_edges([0], [1]))
    assert isinstance(to_arrow(unseen.Graph.from_edges([], [], nodes=[1])), pa.Table)


@pytest.mark.parametrize("src", [[1, "a"], ["a", 1]])
def test_mixed_pandas_ids_get_a_sentence(src: list[Any]) -> None:
    frame = pd.DataFrame({"src": src, "dst": ["b", "c"]})
    with pytest.raises(
        unseen.InputError, match=r"the column 'src' of `edges` holds values of several types; .*str"
    ):
        unseen.read_graph(frame)
    assert unseen.read_graph(frame.astype(str)).n_edges == 2
